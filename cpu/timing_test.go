package cpu

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
)

// TestTimings checks that every pass measures its own parts, that their sum is most of the processor
// time and not more, and that Timings resets the times.
func TestTimings(t *testing.T) {
	for window, rows := range map[float64]int{0: 500, 512: 6000} { // with more rows and no windows the CPU uses tables
		b := New(WithTimings())
		p := passesOf(t, b, rows, 96, window)
		for i, want := range [][]string{
			{"moments.features", "moments.products"},
			{"pullback.packing", "pullback.features", "pullback.products", "pullback.contraction"},
			{"factorized.features", "factorized.contraction"},
			{"factorized.features", "factorized.contraction"},
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
			// The allocations of a first call are not part of a kernel.
			if sum > room || i < 3 && sum < worked/10 {
				t.Errorf("window %v, pass %d: its parts take %v of %v, of which %v are processor time", window, i, sum, room, worked)
			}
			if left := b.Timings(); len(left) != 0 {
				t.Errorf("timings are %v after they were read", left)
			}
		}
	}
}

// TestTimingsOff checks that nothing is measured by default.
func TestTimingsOff(t *testing.T) {
	b := New()
	passesOf(t, b, 4000, 24, 512).results(t)
	if all := b.Timings(); all != nil {
		t.Errorf("timings %v", all)
	}
}
