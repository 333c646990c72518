// Package slow selects the size of tests. By default they use few cases and little data, so that
// go test ./... takes two minutes. With the build tag slow they run in full, and files with this
// tag are included.
package slow

import "testing"

// Tests reports whether the tests run in full.
var Tests bool

// Pick returns full if the tests run in full, and otherwise quick.
func Pick[T any](full, quick T) T {
	if Tests {
		return full
	}
	return quick
}

// race reports whether the race detector is on.
var race bool

// Race skips a test under the race detector. It is for tests that take long there and run no code concurrently that
// other tests do not run.
func Race(t testing.TB) {
	t.Helper()
	if race {
		t.Skip("it takes long with the race detector, and other tests run the same code")
	}
}
