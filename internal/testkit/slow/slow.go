// Package slow selects the size of tests. By default they use few cases and little data, so that
// go test ./... takes two minutes. With the build tag slow they run in full, and files with this
// tag are included.
package slow

// Tests reports whether the tests run in full.
var Tests bool

// Pick returns full if the tests run in full, and otherwise quick.
func Pick[T any](full, quick T) T {
	if Tests {
		return full
	}
	return quick
}
