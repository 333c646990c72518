package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// pullbackRows is how many rows a tile has: the matrix comes from memory once
// for so many.
const pullbackRows = 128

// Pullback fills dst with the gradient by the features of a number whose
// gradient by the moments is bar:
//
//	∂/∂φ̄_nk = Σ_d y_nd barC_kd + 2 Σ_{j≠k} barG_kj φ̄_nj,   ∂/∂E[φ_nk²] = barG_kk
func (d *rows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	if err := d.data.CheckPullback(dst, f, bar); err != nil {
		return fmt.Errorf("cpu: pullback: %w", err)
	}
	s := d.work
	b := &s.bank
	b.set(f, d.Delta)
	c := s.outputs(b, d.data.D, func(k, i int) float64 { return bar.C[k*d.data.D+i] })
	s.lanes = b.lanes(s.lanes)
	for k, lane := range b.lane {
		l := &s.lanes[lane/simd.Lanes]
		l.Amp[lane%simd.Lanes] = f.Amp[k]
		l.Ripple[lane%simd.Lanes] = 4 * f.Ripple[k] * diagonal(bar.Gram, b, k)
	}
	s.packs.reset(&d.prepared, b, bar.Gram)
	sums := d.sum(b, []int{simd.SumRows(f.Q)}, func(i int, part []float64) { d.pullbackChunk(part[1:], c, d.chunks[i]) })
	a := adjoint{column{sums[1:], simd.SumRows(f.Q)}, simd.SumRipple}
	for k := range f.M {
		a.write(dst, b, k, diagonal(bar.Gram, b, k), d.power)
		dst.Amp[k] = a.at(b.lane[k], simd.SumAmp)
	}
	return d.stopped("pullback")
}

// pullbackChunk adds what a chunk gives to sums.
func (d *rows) pullbackChunk(sums []float64, c [][]float64, ch chunk) {
	r := d.Runs[ch.run]
	lap := d.work.clock.begin()
	t := d.work.over(&d.prepared, r, pullbackRows)
	defer d.work.put(t)
	t.reserveBar()
	t.copyLanes(d.work.lanes)
	matrix := d.work.packs.get(ch.run, r)
	defer d.work.packs.done(ch.run)
	lap.end(pullbackPacking)
	for lo := ch.lo; lo < ch.hi && d.data.Stopped() == nil; lo += pullbackRows {
		t.load(lo, min(ch.hi, lo+pullbackRows))
		t.fillAll()
		lap.end(pullbackFeatures)
		simd.Product(t.bar, t.cos, matrix, 0, t.bar.Count)
		for i, w := range c {
			simd.AddOutput(t.bar, t.y[i:], len(c), t.of(w, simd.Lanes))
		}
		lap.end(pullbackProducts)
		t.contract(sums)
		lap.end(pullbackContraction)
	}
}

// contract adds the tile's rows to Contract's sums of its panels.
func (t *tile) contract(sums []float64) {
	width := simd.SumRows(t.bank.Q) * simd.Lanes
	for i := range t.parts {
		p := &t.parts[i]
		cos, sin, bar := t.cos.Slice(p.lo, p.hi), t.sin.Slice(p.lo, p.hi), t.bar.Slice(p.lo, p.hi)
		lanes, bank := t.lanes[p.lo:p.hi], t.bank.Slice(t.lo+p.lo, t.lo+p.hi)
		simd.Contract(sums[p.lo*width:p.hi*width], cos, sin, bar, t.scratch, t.x, p.inv, lanes, bank)
	}
}

// sum is the total over all chunks: first one number, then for each width the
// sums [Count,width,8]. work adds a chunk's, whose panels are those over its
// run.
func (d *rows) sum(b *bank, widths []int, work func(i int, part []float64)) []float64 {
	all := 0
	for _, w := range widths {
		all += w * simd.Lanes
	}
	total := simd.Resize(d.work.total, 1+all*b.Count)
	d.work.total = total
	clear(total)
	over := func(i int) (lo, hi int) { return b.over(d.Runs[d.chunks[i].run]) }
	d.work.ring.inOrder(len(d.chunks), func(i int) int {
		lo, hi := over(i)
		return 1 + all*(hi-lo)
	}, work, func(i int, part []float64) {
		lo, hi := over(i)
		total[0] += part[0]
		from, to := part[1:], total[1:]
		for _, w := range widths {
			w *= simd.Lanes
			sums := to[lo*w : hi*w]
			for j, v := range from[:len(sums)] {
				sums[j] += v
			}
			from, to = from[len(sums):], to[b.Count*w:]
		}
	})
	return total
}

// An adjoint reads sums that have the rows of Contract's from SumRipple on at
// base.
type adjoint struct {
	column
	base int
}

// write writes the adjoint of feature k but for Amp, barSecond being
// ∂/∂E[φ_k²]:
//
//	z̄ = −ω·Σθ̄ − P·Σq̄d,  P̄ = ½Σq̄d²,  ω̄ = Σθ̄d,  c̄ = Σθ̄
func (a adjoint) write(dst *spectral.Features, b *bank, k int, barSecond float64, power []float64) {
	f, q, lane := b.f, b.f.Q, b.lane[k]
	get := func(row int) float64 { return a.at(lane, a.base+row-simd.SumRipple) }
	theta := get(simd.SumTheta)
	dst.Phase[k] = theta
	dst.Power[k] = barSecond * power[b.window(k)]
	dst.Ripple[k] = barSecond * get(simd.SumRipple)
	for i := range q {
		at := k*q + i
		dst.Center[at] = -f.Freq[at]*theta - f.Decay[at]*get(simd.SumQuadD+3*i)
		dst.Decay[at] = 0.5 * get(simd.SumQuadD2+3*i)
		dst.Freq[at] = get(simd.SumThetaD + 3*i)
	}
}
