package impute

import (
	"context"
	"errors"
	"testing"

	"github.com/vssgp/vssgp"
)

// Channels of different lengths: an error, not a panic.
func TestRobustRagged(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v, want ErrData", r)
		}
	}()
	x := [][]float64{tones(1000, 1, 0.01)[0], make([]float64, 500)}
	if _, err := Fill(context.Background(), x, rate, []Gap{{Start: 700, End: 710}}, quick()); !errors.Is(err, vssgp.ErrData) {
		t.Errorf("error %v, want ErrData", err)
	}
}

// Several interrupted excerpts: one line.
func TestRobustOneLine(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Fill(ctx, tones(2000, 1, 0.01), rate, fiveGaps, quick())
	if err == nil || countLines(err.Error()) != 1 {
		t.Errorf("error %q, want one line", err)
	}
}

func countLines(s string) int {
	n := 1
	for _, r := range s {
		if r == '\n' {
			n++
		}
	}
	return n
}
