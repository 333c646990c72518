// Package testkit has what the tests of several packages share.
package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Must returns the value of a call that must not fail in a test:
//
//	model := testkit.Must(vssgp.New(ctx, data, o))(t)
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// OK ends a test if there is an error, and prints before it what failed.
func OK(t testing.TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(what, err)...)
	}
}

// Put writes a file in dir, which it makes, and returns its path.
func Put(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	OK(t, os.MkdirAll(dir, 0o777))
	OK(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

// Read returns the content of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	return Must(os.ReadFile(path))(t)
}
