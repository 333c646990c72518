package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/spectral"
)

// Predict fills dst with the latent function's mean and covariance at every
// row, in the order given to Open: O(N·M·D²) and, for a shared covariance,
// 2·N·M² flops.
func (d *rows) Predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	if err := d.data.CheckFeatures(f); err != nil {
		return fmt.Errorf("cpu: predict: %w", err)
	}
	if err := p.Check(f); err != nil {
		return fmt.Errorf("cpu: predict: %w", err)
	}
	if err := dst.Check(d.data.N, p.D); err != nil {
		return fmt.Errorf("cpu: predict: %w", err)
	}
	offset := f.Offsets()
	sweep(d.runs, func(r spectral.Run, w int) { d.predictRun(dst, f, p, r, offset, w) })
	return nil
}

func (d *rows) predictRun(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior, r spectral.Run, offset []int, w int) {
	t := newTile(r, offset)
	t.mean = make([]float64, t.m*tileRows)
	nb := blockCount(t.m)
	width := p.D + p.D*p.D
	part := make([]float64, nb*tileRows*width)
	for lo := r.Lo; lo < r.Hi; lo += tileRows {
		t.load(d, f, r, lo, min(r.Hi, lo+tileRows))
		blocks(t.m, w, func(lo, hi, _ int) {
			t.fill(f, r, lo, hi)
			t.means(f, lo, hi)
		})
		blocks(t.m, w, func(lo, hi, b int) {
			out := part[b*tileRows*width:][:t.n*width]
			clear(out)
			if p.Cov != nil {
				t.quadratic(out, p, r, offset, lo, hi)
			}
			for j := lo; j < hi; j++ {
				t.predictFeature(out, f, p, r, j)
			}
		})
		for n := range t.n {
			collect(dst, part, d.order[lo+n], n, nb, p.D)
		}
	}
}

// collect adds the feature blocks' shares of row n in order and writes them at
// the row's given place.
func collect(dst *spectral.Prediction, part []float64, row, n, nb, dd int) {
	width := dd + dd*dd
	mean, cov := dst.Mean[row*dd:][:dd], dst.Cov[row*dd*dd:][:dd*dd]
	clear(mean)
	clear(cov)
	for b := range nb {
		out := part[(b*tileRows+n)*width:][:width]
		for i, v := range out[:dd] {
			mean[i] += v
		}
		for i, v := range out[dd:] {
			cov[i] += v
		}
	}
}

// quadratic adds Σ_{k in [lo,hi)} φ̄_nk (S̃ φ̄_n)_k to every output's variance,
// S̃ being S without its diagonal; predictFeature adds the diagonal's part.
func (t *tile) quadratic(out []float64, p *spectral.Posterior, r spectral.Run, offset []int, lo, hi int) {
	g := make([]float64, (hi-lo)*t.m)
	adjointRows(g, p.Cov, r, offset, t.lo, lo, hi) // 2·S̃
	sp := make([]float64, (hi-lo)*t.n)
	dots(sp, t.n, g, t.m, hi-lo, t.mean, t.m, t.n, t.m, false)
	dd, width := p.D, p.D+p.D*p.D
	for n := range t.n {
		s := 0.0
		for j := lo; j < hi; j++ {
			s += sp[(j-lo)*t.n+n] * t.mean[n*t.m+j]
		}
		for i := range dd {
			out[n*width+dd+i*dd+i] += 0.5 * s
		}
	}
}

// predictFeature adds the share of the tile's feature j to the means, the
// diagonal's part of tr(E[φᵀφ] S_d) and the spread m mᵀ (E[φ²] − φ̄²).
func (t *tile) predictFeature(out []float64, f *spectral.Features, p *spectral.Posterior, r spectral.Run, j int) {
	k, dd := t.lo+j, p.D
	width := dd + dd*dd
	g := t.gate[t.window(f, r, k)]
	cos, sin, e2 := t.cos[j*tileRows:][:t.n], t.sin[j*tileRows:][:t.n], t.e2[j*tileRows:][:t.n]
	mean := p.Mean[k*dd:][:dd]
	shared := 0.0
	if p.Cov != nil {
		shared = diagonal(p.Cov, f, k)
	}
	for n, c := range cos {
		phi := f.Amp[k] * c
		second := f.Power[k]*g[n]*g[n] + f.Ripple[k]*e2[n]*(c*c-sin[n]*sin[n])
		spread := second - phi*phi
		o := out[n*width:][:width]
		for i, m := range mean {
			o[i] += phi * m
			for l, m2 := range mean {
				o[dd+i*dd+l] += m * m2 * spread
			}
			s := shared
			if p.Cov == nil {
				s = p.Var[k*dd+i]
			}
			o[dd+i*dd+i] += s * second
		}
	}
}
