package cpu

import (
	"fmt"
	"sort"

	"github.com/vssgp/vssgp/spectral"
)

// Factorised fills dst with the expected squared error over the rows and its
// gradient. A tile first sums its residuals r_n = y_n − φ̄_n m over the
// features, then its gradient, feature by feature:
//
//	∂F/∂φ̄_nk = −2 Σ_d r_nd m_kd − 2 φ̄_nk Σ_d m_kd²   ∂F/∂E[φ_nk²] = Σ_d m_kd² + s_kd
//	∂F/∂m_kd = −2 Σ_n r_nd φ̄_nk + 2 m_kd Σ_n (E[φ_nk²] − φ̄_nk²)   ∂F/∂s_kd = Σ_n E[φ_nk²]
func (d *rows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	if err := d.data.CheckFeatures(f); err != nil {
		return fmt.Errorf("cpu: factorised: %w", err)
	}
	if err := w.Check(f, d.data.D); err != nil {
		return fmt.Errorf("cpu: factorised: %w", err)
	}
	if err := d.data.CheckRows(rows); err != nil {
		return fmt.Errorf("cpu: factorised: %w", err)
	}
	if err := dst.Check(f, d.data.D); err != nil {
		return fmt.Errorf("cpu: factorised: %w", err)
	}
	if rows != nil {
		d = d.pick(rows)
	}
	offset := f.Offsets()
	s := newSums(f)
	clear(dst.Weights.Mean)
	clear(dst.Weights.Var)
	value := make([]float64, len(d.runs))
	index := make(map[int]int, len(d.runs))
	for i, r := range d.runs {
		index[r.Lo] = i
	}
	sweep(d.runs, func(r spectral.Run, wk int) {
		value[index[r.Lo]] = d.factorisedRun(dst.Weights, s, f, w, r, offset, wk)
	})
	dst.Value = 0
	for _, v := range value {
		dst.Value += v
	}
	s.features(dst.Features, f)
	return nil
}

// pick gathers the given rows, in layout order, into data of their own.
func (d *rows) pick(given []int) *rows {
	at := make([]int, len(given))
	for i, n := range given {
		at[i] = d.place[n]
	}
	sort.Ints(at)
	q, dd := d.data.Q, d.data.D
	sub := &rows{data: d.data, x: make([]float64, 0, len(at)*q), y: make([]float64, 0, len(at)*dd)}
	run := 0
	for i, p := range at {
		for p >= d.runs[run].Hi {
			run++
		}
		if k := len(sub.runs); k == 0 || sub.runs[k-1].Cell != d.runs[run].Cell {
			r := d.runs[run]
			r.Lo = i
			sub.runs = append(sub.runs, r)
		}
		sub.runs[len(sub.runs)-1].Hi = i + 1
		sub.x = append(sub.x, d.x[p*q:(p+1)*q]...)
		sub.y = append(sub.y, d.y[p*dd:(p+1)*dd]...)
	}
	return sub
}

// factorisedRun adds one run's share of the gradient and returns its share of
// the value.
func (d *rows) factorisedRun(dst *spectral.Weights, s *sums, f *spectral.Features, w *spectral.Weights, r spectral.Run, offset []int, wk int) float64 {
	t := newTile(r, offset)
	dd := d.data.D
	nb := blockCount(t.m)
	part := make([]float64, nb*tileRows*dd)
	res := make([]float64, tileRows*dd)
	extra := make([]float64, nb)
	t.bar = make([]float64, t.m*tileRows)
	value := 0.0
	for lo := r.Lo; lo < r.Hi; lo += tileRows {
		t.load(d, f, r, lo, min(r.Hi, lo+tileRows))
		blocks(t.m, wk, func(lo, hi, b int) {
			t.fill(f, r, lo, hi)
			t.fitBlock(part[b*tileRows*dd:][:t.n*dd], f, w, lo, hi)
		})
		value += t.residual(res[:t.n*dd], part, nb, dd)
		blocks(t.m, wk, func(lo, hi, b int) {
			extra[b] = 0
			for j := lo; j < hi; j++ {
				extra[b] += t.factorisedFeature(dst, s, f, w, r, j, res[:t.n*dd])
			}
		})
		for _, e := range extra {
			value += e
		}
	}
	return value
}

// fitBlock writes Σ_k φ̄_nk m_kd over the features [lo, hi) into fit [n,D].
func (t *tile) fitBlock(fit []float64, f *spectral.Features, w *spectral.Weights, lo, hi int) {
	clear(fit)
	for j := lo; j < hi; j++ {
		k := t.lo + j
		cos := t.cos[j*tileRows:][:t.n]
		for i, m := range w.Mean[k*w.D:][:w.D] {
			a := f.Amp[k] * m
			for n, c := range cos {
				fit[n*w.D+i] += a * c
			}
		}
	}
}

// residual writes y less the blocks' fits into res and returns ‖res‖².
func (t *tile) residual(res, part []float64, nb, dd int) float64 {
	s := 0.0
	for i, y := range t.y {
		fit := 0.0
		for b := range nb {
			fit += part[b*tileRows*dd+i]
		}
		res[i] = y - fit
		s += res[i] * res[i]
	}
	return s
}

// factorisedFeature adds the gradient's share of the tile's feature j and
// returns Σ_d [(m² + s) Σ_n E[φ²] − m² Σ_n φ̄²].
func (t *tile) factorisedFeature(dst *spectral.Weights, s *sums, f *spectral.Features, w *spectral.Weights, r spectral.Run, j int, res []float64) float64 {
	k, dd := t.lo+j, w.D
	mean, vr := w.Mean[k*dd:][:dd], w.Var[k*dd:][:dd]
	var m2, s2 float64
	for i, m := range mean {
		m2 += m * m
		s2 += vr[i]
	}
	a1 := f.Amp[k]
	cos := t.cos[j*tileRows:][:t.n]
	square := 0.0
	for _, c := range cos {
		square += a1 * c * a1 * c
	}
	second := f.Power[k]*t.gate2[t.window(f, r, k)] + f.Ripple[k]*t.ripple(j)
	bar := t.bar[j*tileRows:][:t.n]
	for n, c := range cos {
		bar[n] = -2 * m2 * a1 * c
	}
	for i, m := range mean {
		along := 0.0
		for n, c := range cos {
			rn := res[n*dd+i]
			along += rn * c
			bar[n] -= 2 * rn * m
		}
		dst.Mean[k*dd+i] += -2*a1*along + 2*m*(second-square)
		dst.Var[k*dd+i] += second
	}
	s.contract(t, f, r, j, bar, m2+s2)
	return (m2+s2)*second - m2*square
}
