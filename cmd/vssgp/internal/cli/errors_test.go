package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/vssgp/vssgp"
)

func TestOneLine(t *testing.T) {
	for _, c := range []struct{ err, want string }{
		{"plain", "vssgp: plain"},
		{"vssgp: once", "vssgp: once"},
		{"vssgp: vssgp: twice", "vssgp: twice"},
		{"a.csv: vssgp: inside", "vssgp: a.csv: inside"},
		{"one\ntwo\r\n\tthree\n", "vssgp: one two three"},
		{"bell \a and \x1b[31mred", "vssgp: bell   and  [31mred"},
		{"restore: samples 0:9: audio: detect: no signal", "vssgp: samples 0:9: no signal"},
		{"a.wav: bad gap", "vssgp: a.wav: bad gap"},
	} {
		if got := OneLine(errors.New(c.err)); got != c.want {
			t.Errorf("oneLine(%q) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("anything"), 1}, {Mistake("usage"), 2}, {fmt.Errorf("x: %w", vssgp.ErrData), 2},
		{fmt.Errorf("x: %w", fs.ErrNotExist), 2}, {fmt.Errorf("x: %w", vssgp.ErrBound), 1}, {context.DeadlineExceeded, 1},
		{fmt.Errorf("x: %w", context.Canceled), 130}, {fmt.Errorf("%w: %w", vssgp.ErrData, context.Canceled), 130},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("exit code of %v is %d, want %d", c.err, got, c.want)
		}
	}
}
