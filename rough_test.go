package vssgp

import (
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/variational"
)

// TestRoughStart: where the fit is worse than lines another start is tried and
// kept, as good as they; not where the options say how to start.
func TestRoughStart(t *testing.T) {
	data := walk(400)
	m, r, err := Fit(t.Context(), data, Options{Iterations: 40})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Starts) != 2 || r.Kept != 1 || r.HeldOut.Worse() || m.Params.Windows.Count() < 2 {
		t.Errorf("%d starts, number %d kept, held out %+v: want the second, as good as lines", len(r.Starts), r.Kept, r.HeldOut)
	}
	_, r, err = Fit(t.Context(), data, Options{Iterations: 40, Components: 8})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Starts) != 1 || !r.HeldOut.Worse() {
		t.Errorf("eight components: %d starts, held out %+v; want one, and that it is worse", len(r.Starts), r.HeldOut)
	}
	if _, r, err = Fit(t.Context(), data, Options{Iterations: NoIterations}); err != nil {
		t.Fatal(err)
	}
	if len(r.Starts) != 1 || r.HeldOut.Rows != 0 {
		t.Errorf("starting values alone: %d starts, held out %+v; want one, and that nothing is", len(r.Starts), r.HeldOut)
	}
}

// TestLeavesRough: options that say anything of a start, or of what moves, leave
// none open.
func TestLeavesRough(t *testing.T) {
	leaves := func(o Options, data *Data) bool {
		return (&problem{o: o, data: data, init: o.init(initialize.GridOf(data.X, data.Q), data)}).leavesRough()
	}
	data := walk(50)
	if !leaves(Options{}, data) || !leaves(Options{Method: VSSGP, Inference: Exact, Iterations: 3, Seed: 2}, data) {
		t.Error("options that say nothing of the start leave none open")
	}
	if many := (&Data{N: initialize.RoughMost + 1, Q: 1, D: 1, X: []float64{0, 1}}); leaves(Options{}, many) {
		t.Error("there is one for any number of rows")
	}
	for _, o := range []Options{
		{From: &Model{}}, {Init: InitPaper}, {Method: SSGP}, {Method: SSGP, Init: InitSpectrum}, {Inference: Factorized}, {Inference: Stochastic},
		{Components: 3}, {Features: 4}, {Windows: WindowOptions{Length: WindowNone}}, {Windows: WindowOptions{Length: 5}}, {Windows: WindowOptions{Candidates: []float64{5}}}, {Windows: WindowOptions{Shared: true}}, {Fix: []string{}}, {Tie: []string{"kernel.variance"}},
	} {
		if leaves(o, data) {
			t.Errorf("%+v leaves a rough start open", o)
		}
	}
}

// TestRoughSettings: from the rough start nothing moves but two numbers, the size
// and the noise, for a few iterations.
func TestRoughSettings(t *testing.T) {
	shape := variational.Shape{Components: []int{4}, K: 2, Q: 1, D: 1}
	for asked, want := range map[int]int{0: roughIterations, 10: 10, 500: roughIterations} {
		set := (&Options{Iterations: asked}).optimize(initRough, 0)
		free := variational.Names(func(v variational.Tensor) bool {
			return v.Group != variational.Coefficients && !slices.Contains(set.Fix, v.Name)
		})
		if n := optimize.Count(shape, free, set.Ties); set.Iterations != want || n != 2 {
			t.Errorf("%d iterations, want %d; %d numbers of %v are free, want the size and the noise", set.Iterations, want, n, free)
		}
	}
}
