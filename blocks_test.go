package vssgp

import (
	"math"
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
	got, err := h.exact(p, true)
	if err != nil {
		t.Fatal(err)
	}
	dense := p.Clone()
	dense.Windows, dense.ComponentWindow = spectral.Windows{}, nil
	all := *h
	all.room = room{}
	all.rows = whole{h.rows, p.Features()}
	want, err := all.exact(dense, true)
	if err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(got.Bound-want.Bound) / math.Abs(want.Bound); !(d <= blockwise) {
		t.Errorf("bound %v by blocks, %v dense: %.1e apart", got.Bound, want.Bound, d)
	}
	near(t, "mean", got.mean, want.mean, blockwise)
	for i, tensor := range got.Gradient.Tensors()[:9] {
		near(t, tensor.Name, *tensor.Data, *want.Gradient.Tensors()[i].Data, blockwise)
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
