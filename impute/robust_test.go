package impute

import (
	"context"
	"errors"
	"testing"
)

// Channels of different lengths: an error, not a panic.
func TestRobustRagged(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v, want ErrGaps", r)
		}
	}()
	x := [][]float64{tones(1000, 1, 0.01)[0], make([]float64, 500)}
	if _, err := Fill(context.Background(), x, rate, []Gap{{Start: 700, End: 710}}, quick()); !errors.Is(err, ErrGaps) {
		t.Errorf("error %v, want ErrGaps", err)
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
