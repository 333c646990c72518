// Package testkit contains helpers for the tests of several packages.
package testkit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
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

// OK ends the test if there is an error, and prints it after what.
func OK(t testing.TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(what, err)...)
	}
}

// Put writes a file in dir, which it creates, and returns its path.
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

// Fails fails the test unless an error wraps want and is one line that contains text.
func Fails(t testing.TB, err, want error, text string, what ...any) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: error %v, want one line that wraps %v with %q", fmt.Sprint(what...), err, want, text)
	}
}

// Error returns the error of a call that has another result.
func Error[T any](_ T, err error) error { return err }

// Equal fails the test unless got is deeply equal to want.
func Equal[T any](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", fmt.Sprint(what...), got, want)
	}
}

// Near fails the test unless got is within tolerance of want.
func Near(t testing.TB, got, want, tolerance float64, what ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v ± %v", fmt.Sprint(what...), got, want, tolerance)
	}
}

// Contains fails the test for each word that is missing in a text.
func Contains(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%.2000q does not contain %q", text, w)
		}
	}
}
