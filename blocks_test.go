package vssgp

import (
	"math"
	"runtime"
	"testing"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// blockwise is how close the block-tridiagonal algebra must be to the dense one.
const blockwise = 1e-10

// whole are rows whose features seem to have one window, to which all of A is
// one dense block; their passes go by windows all the same.
type whole struct {
	spectral.Rows
	f *spectral.Features // with its windows
}

func (w whole) Moments(dst *spectral.Moments, _ *spectral.Features) error {
	byWindow := spectral.NewMoments(w.f, dst.D)
	if err := w.Rows.Moments(byWindow, w.f); err != nil {
		return err
	}
	copy(dst.C, byWindow.C)
	dst.Gram.Zero()
	eachStored(byWindow.Gram, func(i, j int, v *float64) {
		dst.Gram.Diag[0][i*w.f.M+j], dst.Gram.Diag[0][j*w.f.M+i] = *v, *v
	})
	return nil
}

func (w whole) Pullback(dst, _ *spectral.Features, bar *spectral.Moments) error {
	byWindow := &spectral.Moments{C: bar.C, Gram: spectral.NewGram(w.f.Offsets()), D: bar.D}
	eachStored(byWindow.Gram, func(i, j int, v *float64) { *v = bar.Gram.Diag[0][i*w.f.M+j] })
	return w.Rows.Pullback(dst, w.f, byWindow)
}

// eachStored visits the stored entries of g, those of Below once.
func eachStored(g *spectral.Gram, visit func(i, j int, v *float64)) {
	for v, b := range g.Diag {
		n, at := g.Size(v), g.Offset[v]
		for i := range b {
			visit(at+i/n, at+i%n, &b[i])
		}
		if v < len(g.Below) {
			for i := range g.Below[v] {
				visit(g.Offset[v+1]+i/n, at+i%n, &g.Below[v][i])
			}
		}
	}
}

// TestBlocksAgainstDense: the bound, every gradient and the posterior's mean by
// block-tridiagonal algebra are those by dense algebra.
func TestBlocksAgainstDense(t *testing.T) {
	c := kind{name: "blocks", n: 8000, l: 125, k: 12, q: 1, d: 2, windows: 25, tau: 50}
	if testing.Short() {
		c.n, c.l = 800, 50
	}
	p, data := c.make()
	for n := range data.X { // over all windows
		data.X[n] = 50 * float64(n) / float64(len(data.X))
	}
	for k := range p.M() {
		p.Location[k] = p.Windows.Center[p.ComponentWindow[k/p.K]] + p.Location[k] - 3
	}
	h, err := mustModel(t, p).hold(data)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	dense := p.Clone()
	dense.Windows, dense.ComponentWindow = spectral.Windows{}, nil
	all := *h
	all.room = room{}
	all.rows = whole{h.rows, p.Features()}
	want, err := all.exact(dense, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, h.segments = range []int{0, 3, 8} {
		got, err := h.exact(p, true)
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(got.Bound-want.Bound) / math.Abs(want.Bound); !(d <= blockwise) {
			t.Errorf("%d segments: bound %v by blocks, %v dense: %.1e apart", h.segments, got.Bound, want.Bound, d)
		}
		near(t, "mean", got.mean, want.mean, blockwise)
		for i, tensor := range got.Gradient.Tensors()[:9] {
			near(t, tensor.Name, *tensor.Data, *want.Gradient.Tensors()[i].Data, blockwise)
		}
	}
	f := p.Features()
	mom := spectral.NewMoments(f, h.d)
	if err := h.rows.Moments(mom, f); err != nil {
		t.Fatal(err)
	}
	if r, err := blocktri.Factorise(mom.Gram, 1/c.tau); err != nil || r.Middle == 0 {
		t.Errorf("blocks are not what was compared: %v, %v", r, err)
	}
}

// TestSegmentsAgainstTruth: segments of windows give the true bound and
// gradients, in the cases that are hard for blocks.
func TestSegmentsAgainstTruth(t *testing.T) {
	for _, c := range []kind{
		{name: "segments", n: 24, l: 6, k: 1, q: 1, d: 2, windows: 6},
		{name: "segments and little noise", n: 24, l: 6, k: 2, q: 1, d: 1, windows: 5, tau: 1e8},
		{name: "segments with nearly the same feature twice", n: 24, l: 5, k: 2, q: 1, d: 1, windows: 5, tau: 1e4, twins: true},
		{name: "segments of windows without components", n: 24, l: 4, k: 2, q: 1, d: 1, windows: 8, skip: 2},
		{name: "segments with silence", n: 24, l: 5, k: 2, q: 1, d: 1, windows: 5, tau: 1e6, silent: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, data := c.make()
			last := p.Windows.Center[c.windows-1] + 1
			for n := range data.X { // over all windows
				data.X[n] = last * (float64(n) + 0.5) / float64(len(data.X))
			}
			for k := range p.M() {
				p.Location[k] += p.Windows.Center[p.ComponentWindow[k/p.K]] - 3
			}
			h, err := mustModel(t, p).hold(data)
			if err != nil {
				t.Fatal(err)
			}
			defer h.close()
			h.segments = 3
			e, err := h.exact(p, true)
			if err != nil {
				t.Fatal(err)
			}
			tr := newTruth(p, data)
			checkEvaluation(t, c, "exact", e, tr, tr.exact)
		})
	}
}

// TestSegmentsOption: a fit in segments ends where the one from both ends does,
// by other sums and the same ones for any number of cores.
func TestSegmentsOption(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	_, data := kind{name: "fit in segments", n: 400, l: 1, k: 1, q: 1, d: 1}.make()
	for n := range data.X {
		data.X[n] = float64(n)
		data.Y[n] = math.Sin(0.3*data.X[n]) + 0.1*data.Y[n]
	}
	fit := func(segments, cores int) *Result {
		t.Helper()
		runtime.GOMAXPROCS(cores)
		_, r, err := Fit(t.Context(), data, Options{Window: 40, Components: 3, Iterations: 8, Optimiser: OptimiserGlobal, Segments: segments})
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
