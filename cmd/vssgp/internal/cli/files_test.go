package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestClashSince: a name that has come to be an input's since the outputs were checked is seen when they are written.
func TestClashSince(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "in", "read")
	env := &Env{Context: t.Context()}
	env.Files.Add(NamedFile{Name: "IN", Path: "in"}, false)
	testkit.OK(t, env.CheckOutputs("out"))
	testkit.OK(t, os.Symlink("in", "out"))
	err := env.Write(fileio.File{Path: "out", Write: func(w io.Writer) error { _, err := io.WriteString(w, "written"); return err }})
	if err == nil || !strings.Contains(err.Error(), "IN in") || string(testkit.Read(t, "in")) != "read" {
		t.Errorf("%v; the input is %q", err, testkit.Read(t, "in"))
	}
}

// TestCloseOfStdout: what is only said when stdout is closed is an error, where something was written.
func TestCloseOfStdout(t *testing.T) {
	f := testkit.Must(os.Create(filepath.Join(t.TempDir(), "out")))(t)
	f.Close() // so that closing it fails
	for _, any := range []bool{false, true} {
		if err := (&stream{ctx: t.Context(), to: f, any: any}).finish(); (err != nil) != any || any &&
			!strings.HasPrefix(err.Error(), "write to stdout: ") {
			t.Errorf("something was written %v: %v", any, err)
		}
	}
}

// TestWriteInterrupted: an interruption ends the copying of an input too, and nothing is left.
func TestWriteInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	env := &Env{Context: ctx}
	err := env.Write(fileio.File{Path: filepath.Join(dir, "out"), Write: func(w io.Writer) error {
		cancel()
		io.WriteString(w, "a part")
		return ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "interrupted: ") {
		t.Errorf("error %v, want it interrupted", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
