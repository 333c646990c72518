package cuda

import (
	"errors"
	"strings"
	"testing"
)

// wants checks an error's kind and that it names everything.
func wants(t *testing.T, err, kind error, names ...string) {
	t.Helper()
	if err == nil || kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %v, want one that wraps %v", err, kind)
		return
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("error %q does not name %q", err, name)
		}
	}
}
