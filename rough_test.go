package vssgp

import (
	"context"
	"errors"
	"math"
	"testing"
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
	data := walk(50)
	if !(&Options{}).leavesRough(data) || !(&Options{Method: VSSGP, Inference: Exact, Iterations: 3, Seed: 2}).leavesRough(data) {
		t.Error("options that say nothing of the start leave none open")
	}
	if many := (&Data{N: roughMost + 1, Q: 1, D: 1, X: []float64{0, 1}}); (&Options{}).leavesRough(many) {
		t.Error("there is one for any number of rows")
	}
	for _, o := range []Options{
		{From: &Model{}}, {Init: InitPaper}, {Method: SSGP}, {Method: SSGP, Init: InitSpectrum}, {Inference: Factorised}, {Inference: Stochastic}, {Components: 3}, {Features: 4},
		{Window: WindowNone}, {Window: 5}, {WindowCandidates: []float64{5}}, {Shared: true}, {Fix: []string{}}, {Tie: []string{"kernel.variance"}},
	} {
		if o.leavesRough(data) {
			t.Errorf("%+v leaves a rough start open", o)
		}
	}
}

// TestRoughParts: the covariance of a Brownian motion, by hand: its differences
// over a step are those that neighbouring rows have, its spectrum falls as one of
// steps does, and its numbers but two are fixed.
func TestRoughParts(t *testing.T) {
	// Steps of 1, 2, 0.5 and 1, the rows in no order; differences of 1, 4, 3 and 2.
	g := newGrid([]float64{3, 0, 1, 4.5, 3.5}, []float64{5, 0, 1, 10, 8}, 1, 1, 0.5)
	d, wide := g.neighbours([]float64{3, 0, 1, 4.5, 3.5}, []float64{5, 0, 1, 10, 8})
	if want := (1 + 16./2 + 9 + 4) / 4; !(math.Abs(d-want) <= 1e-12) || wide != 2 {
		t.Errorf("differences of %v, want %v; the widest step is %v, want 2", d, want, wide)
	}
	for _, band := range []float64{0.5, 4} { // of rows, and as much of it as is looked at
		own := (&grid{band: band}).brownian(48, 0.3)
		top := min(band, 1)
		sum := 0.0
		for i, c := range own {
			sum += 2 * c.mass * (1 - math.Cos(2*math.Pi*c.freq))
			ratio := math.Pow(math.Sin(math.Pi/2*own[0].freq/top)/math.Sin(math.Pi/2*c.freq/top), 2)
			if !(math.Abs(c.mass/own[0].mass/ratio-1) <= 1e-12) || !(math.Abs(c.freq-(float64(i)+0.5)*top/float64(len(own))) <= 1e-12) {
				t.Errorf("band %v: cell %d is %+v, the first %+v", band, i, c, own[0])
			}
		}
		if !(math.Abs(sum-0.3) <= 1e-12) || len(own) != int(48*top/0.75) {
			t.Errorf("band %v: %d cells whose differences are %v, want 0.3", band, len(own), sum)
		}
	}
	for asked, want := range map[int]int{0: roughIterations, 10: 10, 500: roughIterations} {
		o := Options{Iterations: asked}.roughly()
		f := &fitting{o: o, model: &Model{Params: NewParams(4, 2, 1, 1)}}
		if o.Iterations != want || newChart(f.model.Params, f.unfixed(f.freeTensors()), o.ties(), 1).n != 2 {
			t.Errorf("%d iterations, want %d; the size and the noise are to be free, %v are fixed and %v tied", o.Iterations, want, o.Fix, o.Tie)
		}
	}
}

// TestRoughModel: over a walk with wide gaps the windows hold their rows, and level
// and noise have the sizes that neighbouring rows tell.
func TestRoughModel(t *testing.T) {
	data := walk(400)
	for i := range data.X {
		data.X[i] += 20 * math.Floor(float64(i)/10) // a step of ten is of 21
	}
	for _, c := range []struct {
		data   *Data
		length float64
	}{{walk(400), 48}, {data, 8 * 21}} {
		m, err := New(c.data, Options{Raw: true, rough: true})
		if err != nil {
			t.Fatal(err)
		}
		p := m.Params
		if p.Windows.Length != c.length || p.L%p.Windows.Count() != 0 {
			t.Errorf("%d components in %d windows of %v, want %v", p.L, p.Windows.Count(), p.Windows.Length, c.length)
		}
		g := newGrid(c.data.X, c.data.Y, 1, 1, 0)
		difference, _ := g.neighbours(c.data.X, c.data.Y)
		if p.Variance[0] != g.unit() || !(math.Abs(p.Frequency[0]*c.length-0.5) <= 1e-12) {
			t.Errorf("the level has a variance of %v at frequency %v, want %v at half a cycle a window", p.Variance[0], p.Frequency[0], g.unit())
		}
		if p.Lengthscale[0] != roughLength*c.length || roughLength < 1000 { // over fewer windows an unsure frequency makes a high level look like noise
			t.Errorf("a length-scale of %v for windows of %v", p.Lengthscale[0], c.length)
		}
		if noise := 1 / p.NoisePrecision[0]; !(math.Abs(noise/(difference/8)-1) <= 1e-6) { // a quarter, in each of two rows
			t.Errorf("a noise of %v, of differences of %v", noise, difference)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := (&Model{X: identity(1), Y: identity(1)}).startRough(ended, data, Options{Raw: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("once the context has ended: %v", err)
	}
}
