// Package testkit has what the tests of several packages share.
package testkit

import "testing"

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

// OK ends a test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
