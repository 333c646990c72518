package restore

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

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

// TestTimeLeft checks that the time left is in proportion to the gaps left.
func TestTimeLeft(t *testing.T) {
	var p Progress
	f := &filler{o: Options{Progress: func(q Progress) { p = q }}, units: 4, began: time.Now().Add(-time.Hour)}
	for done, want := range []float64{0, 3, 1, 1. / 3, 0} {
		if f.tell(func() { f.done = done }); math.Abs(p.Left.Seconds()/p.Elapsed.Seconds()-want) > 1e-6 || p.Excerpt != done {
			t.Errorf("%d of 4 in %v: %v left, want %.2f times as long", p.Excerpt, p.Elapsed, p.Left, want)
		}
	}
}
