package variational_test

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// blockwise is how close the block-tridiagonal algebra must be to the dense one.
const blockwise = 1e-10

// wholeCPU is a CPU whose rows are whole.
type wholeCPU struct {
	backend.Backend
	f *backend.Features
}

func (b wholeCPU) Open(data backend.Data) (backend.Rows, error) {
	rows, err := b.Backend.Open(data)
	return whole{rows, b.f}, err
}

// whole are rows whose features seem to have one window, to which all of A is
// one dense block; their passes go by windows all the same.
type whole struct {
	backend.Rows
	f *backend.Features // with its windows
}

func (w whole) Moments(dst *backend.Moments, _ *backend.Features) error {
	byWindow := backend.NewMoments(w.f, dst.D)
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

func (w whole) Pullback(dst, _ *backend.Features, bar *backend.Moments) error {
	byWindow := &backend.Moments{C: bar.C, Gram: backend.NewGram(w.f.Offsets()), D: bar.D}
	eachStored(byWindow.Gram, func(i, j int, v *float64) { *v = bar.Gram.Diag[0][i*w.f.M+j] })
	return w.Rows.Pullback(dst, w.f, byWindow)
}

// eachStored visits the stored entries of g, those of Below once.
func eachStored(g *backend.Gram, visit func(i, j int, v *float64)) {
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
	c := kind{Name: "blocks", N: 8000, L: 125, K: 12, Q: 1, D: 2, Windows: 25, Tau: 50}
	if !slow.Tests {
		c.N, c.L = 800, 50
	}
	p, data := c.Make()
	for n := range data.X { // over all windows
		data.X[n] = 50 * float64(n) / float64(len(data.X))
	}
	for k := range p.M() {
		p.Location[k] = p.Windows.Center[p.ComponentWindow[k/p.K]] + p.Location[k] - 3
	}
	dense, f := p.Clone(), p.Features()
	dense.Windows, dense.ComponentWindow = backend.Windows{}, nil
	want := testkit.Must(openOn(t, wholeCPU{cpu.New(), f}, data).Exact(dense, true))(t)
	r := open(t, data)
	for _, r.Segments = range []int{0, 3, 8} {
		got := testkit.Must(r.Exact(p, true))(t)
		if d := math.Abs(got.Bound-want.Bound) / math.Abs(want.Bound); !(d <= blockwise) {
			t.Errorf("%d segments: bound %v by blocks, %v dense: %.1e apart", r.Segments, got.Bound, want.Bound, d)
		}
		modeltest.Near(t, "mean", got.Posterior.Mean, want.Posterior.Mean, blockwise)
		for i, tensor := range got.Gradient.Tensors()[:9] {
			modeltest.Near(t, tensor.Name, *tensor.Data, *want.Gradient.Tensors()[i].Data, blockwise)
		}
	}
	rows := testkit.Must(cpu.New().Open(*data))(t)
	defer rows.Close()
	mom := backend.NewMoments(f, data.D)
	testkit.OK(t, rows.Moments(mom, f))
	if r, err := blocktri.Factorize(mom.Gram, 1/c.Tau, 2); err != nil || r.R.Blocks() == 1 {
		t.Errorf("blocks are not what was compared: %v, %v", r, err)
	}
}

// TestSegmentsAgainstTruth: segments of windows give the true bound and
// gradients, in the cases that are hard for blocks.
func TestSegmentsAgainstTruth(t *testing.T) {
	for _, c := range []kind{
		{Name: "segments", N: 24, L: 6, K: 1, Q: 1, D: 2, Windows: 6},
		{Name: "segments and little noise", N: 24, L: 6, K: 2, Q: 1, D: 1, Windows: 5, Tau: 1e8},
		{Name: "segments with nearly the same feature twice", N: 24, L: 5, K: 2, Q: 1, D: 1, Windows: 5, Tau: 1e4, Twins: true},
		{Name: "segments of windows without components", N: 24, L: 4, K: 2, Q: 1, D: 1, Windows: 8, Skip: 2},
		{Name: "segments with silence", N: 24, L: 5, K: 2, Q: 1, D: 1, Windows: 5, Tau: 1e6, Silent: true},
	} {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p, data := c.Make()
			last := p.Windows.Center[c.Windows-1] + 1
			for n := range data.X { // over all windows
				data.X[n] = last * (float64(n) + 0.5) / float64(len(data.X))
			}
			for k := range p.M() {
				p.Location[k] += p.Windows.Center[p.ComponentWindow[k/p.K]] - 3
			}
			r := open(t, data)
			r.Segments = 3
			e := testkit.Must(r.Exact(p, true))(t)
			tr := newTruth(p, data)
			checkEvaluation(t, c, "exact", e, tr, tr.exact)
		})
	}
}
