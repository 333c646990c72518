package fit

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestHint: a failure says how to go on where there is a checkpoint to go on
// from, and a mistake does not.
func TestHint(t *testing.T) {
	dir := t.TempDir()
	failure := errors.New("the card is lost")
	there := &checkpointFlags{file: testkit.Put(t, dir, "part", "x")}
	for _, c := range []struct {
		flags *checkpointFlags
		err   error
		hint  bool
	}{
		{there, failure, true},
		{there, vssgp.ErrCheckpoint, false},
		{&checkpointFlags{file: filepath.Join(dir, "none")}, failure, false},
		{&checkpointFlags{}, failure, false},
	} {
		if err := c.flags.hint(c.err); !errors.Is(err, c.err) || strings.Contains(err.Error(), "--resume") != c.hint {
			t.Errorf("%q, %v: %v; want a hint: %v", c.flags.file, c.err, err, c.hint)
		}
	}
}

// TestGoOn: what is said after an interruption is what can be done.
func TestGoOn(t *testing.T) {
	dir := t.TempDir()
	there, none := &checkpointFlags{file: testkit.Put(t, dir, "part", "x")}, &checkpointFlags{file: filepath.Join(dir, "none")}
	for _, c := range []struct {
		flags   *checkpointFlags
		model   string
		unsaved error
		want    string
	}{
		{there, "m", nil, "with --resume, which resumes from " + there.file},
		{there, "m", errors.New("disk full"), "as it was earlier (disk full)"},
		{none, "m", errors.New("disk full"), "--init m"},
		{&checkpointFlags{}, "m", nil, "--init m"},
		{none, "", nil, "run the same command again"},
	} {
		if text := c.flags.goOn(c.model, c.unsaved); !strings.Contains(text, c.want) {
			t.Errorf("%q, which should contain %q", text, c.want)
		}
	}
}
