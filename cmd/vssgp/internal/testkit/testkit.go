// Package testkit has what tests of several packages of the command need.
package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/table"
)

// Put writes a file in dir, which it makes, and returns its path.
func Put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Read returns the content of a file.
func Read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Table reads a table of numbers.
func Table(t *testing.T, path string) *table.Table {
	t.Helper()
	tab, err := table.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
