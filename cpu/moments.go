package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/spectral"
)

// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ].
func (d *rows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	if err := d.data.CheckFeatures(f); err != nil {
		return fmt.Errorf("cpu: moments: %w", err)
	}
	if err := dst.Check(f, d.data.D); err != nil {
		return fmt.Errorf("cpu: moments: %w", err)
	}
	clear(dst.C)
	dst.Gram.Zero()
	offset := f.Offsets()
	sweep(d.runs, func(r spectral.Run, w int) { d.momentsRun(dst, f, r, offset, w) })
	mirror(dst.Gram)
	return nil
}

// momentsRun adds one run's share, tile by tile: features first, then C, the
// second moments and the products of every two blocks of features.
func (d *rows) momentsRun(dst *spectral.Moments, f *spectral.Features, r spectral.Run, offset []int, w int) {
	t := newTile(r, offset)
	t.local = make([]float64, t.m*tileRows) // E[φ], [m,tileRows]
	nb := blockCount(t.m)
	for lo := r.Lo; lo < r.Hi; lo += tileRows {
		t.load(d, f, r, lo, min(r.Hi, lo+tileRows))
		blocks(t.m, w, func(lo, hi, _ int) {
			t.fill(f, r, lo, hi)
			t.momentsFeatures(dst, f, r, lo, hi)
		})
		parallel(nb*(nb+1)/2, w, func(job int) {
			i, j := triangle(job)
			t.gramBlock(dst.Gram, r, offset, i, j)
		})
	}
}

// momentsFeatures adds C and the diagonal of G for the tile's features
// [lo, hi), and leaves E[φ] for gramBlock.
func (t *tile) momentsFeatures(dst *spectral.Moments, f *spectral.Features, r spectral.Run, lo, hi int) {
	dd := dst.D
	for j := lo; j < hi; j++ {
		k := t.lo + j
		phi := t.local[j*tileRows:][:t.n]
		for n, c := range t.cos[j*tileRows:][:t.n] {
			phi[n] = f.Amp[k] * c
		}
		ck := dst.C[k*dd:][:dd]
		for i := range ck {
			s := 0.0
			for n, p := range phi {
				s += p * t.y[n*dd+i]
			}
			ck[i] += s
		}
		second := f.Power[k]*t.gate2[t.window(f, r, k)] + f.Ripple[k]*t.ripple(j)
		v := 0
		if f.Window != nil {
			v = f.Window[k]
		}
		at := k - dst.Gram.Offset[v]
		dst.Gram.Diag[v][at*(dst.Gram.Size(v)+1)] += second
	}
}

// gramBlock adds the products of the tile's feature blocks i ≥ j to the lower
// triangle of G, leaving out the diagonal, which holds second moments.
func (t *tile) gramBlock(g *spectral.Gram, r spectral.Run, offset []int, i, j int) {
	for vi := r.First; vi < r.End; vi++ {
		ilo, ihi := clip(i, offset[vi]-t.lo, offset[vi+1]-t.lo)
		for vj := r.First; vj <= vi; vj++ {
			jlo, jhi := clip(j, offset[vj]-t.lo, offset[vj+1]-t.lo)
			if ilo >= ihi || jlo >= jhi {
				continue
			}
			a, b := t.local[ilo*tileRows:], t.local[jlo*tileRows:]
			row, col, ld := t.lo+ilo-offset[vi], t.lo+jlo-offset[vj], g.Size(vj)
			if vi != vj {
				dots(g.Below[vj][row*ld+col:], ld, a, tileRows, ihi-ilo, b, tileRows, jhi-jlo, t.n, true)
				continue
			}
			if i != j {
				dots(g.Diag[vi][row*ld+col:], ld, a, tileRows, ihi-ilo, b, tileRows, jhi-jlo, t.n, true)
				continue
			}
			var s [featureBlock * featureBlock]float64
			dots(s[:], featureBlock, a, tileRows, ihi-ilo, b, tileRows, jhi-jlo, t.n, false)
			for p := range ihi - ilo {
				for q := range p {
					g.Diag[vi][(row+p)*ld+col+q] += s[p*featureBlock+q]
				}
			}
		}
	}
}

// clip cuts block b's features [b·featureBlock, (b+1)·featureBlock) to [lo, hi).
func clip(b, lo, hi int) (int, int) {
	return max(b*featureBlock, lo), min((b+1)*featureBlock, hi)
}

// triangle is the job'th pair (i, j), i ≥ j, counted row by row.
func triangle(job int) (i, j int) {
	for (i+1)*(i+2)/2 <= job {
		i++
	}
	return i, job - i*(i+1)/2
}

// mirror copies each diagonal block's lower triangle to its upper one.
func mirror(g *spectral.Gram) {
	for v, b := range g.Diag {
		m := g.Size(v)
		for i := range m {
			for j := range i {
				b[j*m+i] = b[i*m+j]
			}
		}
	}
}
