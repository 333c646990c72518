package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/spectral"
)

// Pullback fills dst with the gradient by the features of a number whose
// gradient by the moments is bar:
//
//	∂/∂φ̄_nk = Σ_d y_nd barC_kd + 2 Σ_{j≠k} barG_kj φ̄_nj,   ∂/∂E[φ_nk²] = barG_kk
func (d *rows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	if err := d.data.CheckFeatures(f); err != nil {
		return fmt.Errorf("cpu: pullback: %w", err)
	}
	if err := bar.Check(f, d.data.D); err != nil {
		return fmt.Errorf("cpu: pullback: %w", err)
	}
	if err := dst.CheckRoom(f); err != nil {
		return fmt.Errorf("cpu: pullback: %w", err)
	}
	offset := f.Offsets()
	s := newSums(f)
	sweep(d.runs, func(r spectral.Run, w int) { d.pullbackRun(s, f, bar, r, offset, w) })
	s.features(dst, f)
	return nil
}

func (d *rows) pullbackRun(s *sums, f *spectral.Features, bar *spectral.Moments, r spectral.Run, offset []int, w int) {
	t := newTile(r, offset)
	t.mean = make([]float64, t.m*tileRows)
	t.bar = make([]float64, t.m*tileRows)
	for lo := r.Lo; lo < r.Hi; lo += tileRows {
		t.load(d, f, r, lo, min(r.Hi, lo+tileRows))
		blocks(t.m, w, func(lo, hi, _ int) {
			t.fill(f, r, lo, hi)
			t.means(f, lo, hi)
		})
		blocks(t.m, w, func(lo, hi, _ int) {
			g := make([]float64, (hi-lo)*t.m)
			adjointRows(g, bar.Gram, r, offset, t.lo, lo, hi)
			dots(t.bar[lo*tileRows:], tileRows, g, t.m, hi-lo, t.mean, t.m, t.n, t.m, false)
			for j := lo; j < hi; j++ {
				b := t.bar[j*tileRows:][:t.n]
				addOutputs(b, t.y, bar.C[(t.lo+j)*bar.D:][:bar.D])
				s.contract(t, f, r, j, b, diagonal(bar.Gram, f, t.lo+j))
			}
		})
	}
}

// adjointRows writes rows [lo, hi) of 2·(barG − diag barG), restricted to the
// m features over the run, into g [hi−lo, m].
func adjointRows(g []float64, bar *spectral.Gram, r spectral.Run, offset []int, first, lo, hi int) {
	m := offset[r.End] - offset[r.First]
	for v := r.First; v < r.End; v++ {
		vlo, vhi := max(lo, offset[v]-first), min(hi, offset[v+1]-first)
		for j := vlo; j < vhi; j++ {
			row := g[(j-lo)*m:][:m]
			at := first + j - offset[v] // row within the window's block
			for u := r.First; u < r.End; u++ {
				part := row[offset[u]-first : offset[u+1]-first]
				switch {
				case u == v:
					for i, b := range bar.Diag[v][at*bar.Size(v):][:bar.Size(v)] {
						part[i] = 2 * b
					}
					part[at] = 0
				case u < v:
					for i, b := range bar.Below[u][at*bar.Size(u):][:bar.Size(u)] {
						part[i] = 2 * b
					}
				default:
					ld := bar.Size(v)
					for i := range part {
						part[i] = 2 * bar.Below[v][i*ld+at]
					}
				}
			}
		}
	}
}

// addOutputs adds Σ_d y_nd·c_d to each b[n].
func addOutputs(b, y, c []float64) {
	d := len(c)
	for n := range b {
		s := 0.0
		for i, v := range y[n*d:][:d] {
			s += v * c[i]
		}
		b[n] += s
	}
}

// diagonal is entry (k, k) of g.
func diagonal(g *spectral.Gram, f *spectral.Features, k int) float64 {
	v := 0
	if f.Window != nil {
		v = f.Window[k]
	}
	return g.Diag[v][(k-g.Offset[v])*(g.Size(v)+1)]
}
