package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// TestAutoSays: a fit says once why it does not compute on a GPU, if that was asked for.
func TestAutoSays(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(60))
	args := []string{"fit", data, "--x", "t", "-o", filepath.Join(dir, "m.safetensors"), "--iterations", "1"}
	loud := succeed(t, append(args, "--device", "auto")...)
	if n := strings.Count(loud.stderr, "computing on "); n != 1 {
		t.Errorf("stderr %q, want one line on what computes", loud.stderr)
	}
	if o := succeed(t, append(args, "--device", "cpu")...); strings.Contains(o.stderr, "computing on") {
		t.Errorf("--device cpu: stderr %q, want nothing on what was asked for", o.stderr)
	}
}
