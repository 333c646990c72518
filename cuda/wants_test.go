package cuda

import (
	"errors"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// wants checks an error's kind and that its text contains all names.
func wants(t *testing.T, err, kind error, names ...string) {
	t.Helper()
	if err == nil || kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %v, want one that wraps %v", err, kind)
		return
	}
	testkit.Contains(t, err.Error(), names...)
}

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }
