package modeltest

import (
	"errors"
	"strings"
	"testing"
)

// A Call calls an exported function or method with invalid arguments. Want is the sentinel that
// its error wraps, or nil if there is no error.
type Call = struct {
	Name string
	Do   func() error
	Want error
}

// CheckCalls checks that no call panics, and that each error wraps its sentinel and adds details
// to it.
func CheckCalls(t *testing.T, calls []Call) {
	t.Helper()
	for _, c := range calls {
		t.Run(c.Name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panic: %v", r)
				}
			}()
			err := c.Do()
			if !errors.Is(err, c.Want) {
				t.Errorf("error %v, want one that wraps %v", err, c.Want)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || c.Want != nil && err.Error() == c.Want.Error()) {
				t.Errorf("error %q, want one line with more details than its sentinel", err)
			}
		})
	}
}

// Does returns f as a call without an error.
func Does(f func()) func() error { return func() error { f(); return nil } }
