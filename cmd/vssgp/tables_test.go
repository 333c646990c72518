package main

import (
	"bytes"
	"testing"

	"github.com/vssgp/vssgp/internal/table"
)

// streamOf is a table that has been surveyed.
func streamOf(t *testing.T, text string) *table.Stream {
	t.Helper()
	s, err := table.OpenStream(t.Context(), table.In(bytes.NewReader([]byte(text)), int64(len(text)), "t.csv"))
	if err == nil {
		err = s.Survey(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}
