package cpu

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
)

// TestTimings: every pass charges its own parts, no more than its goroutines
// had time for, and most of that; asking forgets.
func TestTimings(t *testing.T) {
	for window, rows := range map[float64]int{0: 500, 512: 6000} { // more rows without windows are summed by tables
		b := New(WithTimings())
		p := passesOf(t, b, rows, 96, window)
		for i, want := range [][]string{
			{"moments.features", "moments.products"},
			{"pullback.packing", "pullback.features", "pullback.products", "pullback.contraction"},
			{"factorised.features", "factorised.contraction"},
			{"factorised.features", "factorised.contraction"},
			{"predict.packing", "predict.features", "predict.products", "predict.covariance"},
		} {
			began, worked := time.Now(), cputime.Now()
			testkit.OK(t, p.calls[i]())
			room := time.Since(began) * time.Duration(runtime.GOMAXPROCS(0))
			worked = cputime.Now() - worked
			var names []string
			var sum time.Duration
			for _, k := range b.Timings() {
				names, sum = append(names, k.Kernel), sum+k.Time
				if k.Calls < 1 || k.Time < 0 {
					t.Errorf("%s: %d calls, %v", k.Kernel, k.Calls, k.Time)
				}
			}
			if !slices.Equal(names, want) {
				t.Errorf("window %v, pass %d times %v, want %v", window, i, names, want)
			}
			// No part covers a first call's allocations.
			if sum > room || i < 3 && sum < worked/10 {
				t.Errorf("window %v, pass %d: its parts take %v of %v, of which %v are processor time", window, i, sum, room, worked)
			}
			if left := b.Timings(); len(left) != 0 {
				t.Errorf("%v are left after they were asked for", left)
			}
		}
	}
}

// TestTimingsOff: nothing is timed that nobody asked for.
func TestTimingsOff(t *testing.T) {
	b := New()
	passesOf(t, b, 4000, 24, 512).results(t)
	if all := b.Timings(); all != nil {
		t.Errorf("timings %v", all)
	}
}
