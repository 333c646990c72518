package vssgp

import (
	"math"
	"runtime"
	"testing"
)

// TestSegmentsOption: a fit in segments ends where the one from both ends does,
// by other sums and the same ones for any number of cores.
func TestSegmentsOption(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	_, data := made(kind{Name: "fit in segments", N: 400, L: 1, K: 1, Q: 1, D: 1})
	for n := range data.X {
		data.X[n] = float64(n)
		data.Y[n] = math.Sin(0.3*data.X[n]) + 0.1*data.Y[n]
	}
	fit := func(segments, cores int) *Result {
		t.Helper()
		runtime.GOMAXPROCS(cores)
		_, r, err := Fit(t.Context(), data, Options{Windows: WindowOptions{Length: 40, Segments: segments}, Components: 3, Iterations: 8, Optimizer: OptimizerGlobal})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ends, cut := fit(0, 2), fit(4, 1)
	if d := math.Abs(cut.Bound - ends.Bound); d == 0 || d > 1e-6*math.Abs(ends.Bound) {
		t.Errorf("bound %v in segments, %v from both ends; want nearly the same", cut.Bound, ends.Bound)
	}
	for _, cores := range []int{2, 4} {
		if r := fit(4, cores); r.Bound != cut.Bound {
			t.Errorf("bound %v on %d cores, %v on one", r.Bound, cores, cut.Bound)
		}
	}
	if r := fit(1000, 2); math.Abs(r.Bound-ends.Bound) > 1e-6*math.Abs(ends.Bound) {
		t.Errorf("bound %v in as many segments as there can be, %v from both ends", r.Bound, ends.Bound)
	}
}
