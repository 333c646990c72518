package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/impute"
)

// Gaps at the ends, of one sample, and longer than a line has points.
func TestGapPlot(t *testing.T) {
	const n = 20000
	a, sd := make([]float64, n), make([]float64, n)
	for i := range a {
		a[i], sd[i] = float64(i%50)/50, 0.1
	}
	for _, gap := range []impute.Gap{{Start: 0, End: 40}, {Start: n - 1, End: n}, {Start: 100, End: 101}, {Start: 10, End: n - 10}} {
		for _, reference := range [][]float64{nil, a} {
			text, err := (&gapCurves{a, a, sd, reference, gap, 16000, 0}).svg()
			if err != nil {
				t.Fatalf("gap %v: %v", gap, err)
			}
			if !strings.HasPrefix(text, "<svg") || len(text) > 400_000 || strings.Contains(text, "NaN") {
				t.Errorf("gap %v: %d bytes that begin %.20q", gap, len(text), text)
			}
			d := xml.NewDecoder(strings.NewReader(text))
			for err == nil {
				_, err = d.Token()
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("gap %v: no whole XML: %v", gap, err)
			}
		}
	}
}
