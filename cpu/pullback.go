package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// pullbackRows is the number of rows of a tile. The matrix is read from memory once per tile.
const pullbackRows = 128

// Pullback sets dst to the gradient with respect to the features of a function whose gradient
// with respect to the moments is bar:
//
//	∂/∂φ̄_nk = Σ_d y_nd barC_kd + 2 Σ_{j≠k} barG_kj φ̄_nj,   ∂/∂E[φ_nk²] = barG_kk
func (d *rows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	if err := d.data.CheckPullback(dst, f, bar); err != nil {
		return fmt.Errorf("cpu: pullback: %w", err)
	}
	s := d.work
	b := &s.params
	b.set(f, d.Delta)
	c := s.outputs(b, d.data.D, func(k, i int) float64 { return bar.C[k*d.data.D+i] })
	s.lanes = b.lanes(s.lanes, func(k int) float64 { return *diagonal(bar.Gram, b, k) })
	s.packs.reset(&d.prepared, b, bar.Gram)
	sums := d.sum(b, []int{simd.SumRows(f.Q)}, func(ch chunk, part []float64) { d.pullbackChunk(part[1:], c, ch) })
	amp, rest := column{sums[1:], simd.SumRows(f.Q)}, column{sums[1+simd.SumRipple*simd.Lanes:], simd.SumRows(f.Q)}
	for k := range f.M {
		rest.write(dst, b, k, *diagonal(bar.Gram, b, k), d.power)
		dst.Amp[k] = amp.of(b.lane[k])[0]
	}
	return d.stopped("pullback")
}

// pullbackChunk adds a chunk's rows to sums.
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
	t.each(ch.lo, ch.hi, pullbackRows, func() {
		t.fillAll()
		lap.end(pullbackFeatures)
		simd.Product(t.bar, t.cos, matrix, 0, t.bar.Count)
		for i, w := range c {
			simd.AddOutput(t.bar, t.y[i:], len(c), t.of(w, simd.Lanes))
		}
		lap.end(pullbackProducts)
		t.contract(sums)
		lap.end(pullbackContraction)
	})
}

// sum returns the total over all chunks: one number, followed by the sums [Count,width,8] for each
// width. work adds to the sums of a chunk for the panels of its run.
func (d *rows) sum(b *featureParams, widths []int, work func(c chunk, part []float64)) []float64 {
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
	}, func(i int, part []float64) { work(d.chunks[i], part) }, func(i int, part []float64) {
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

// write computes the adjoint of feature k, except Amp. barSecond is ∂/∂E[φ_k²]. c has the rows of
// simd.Contract from SumRipple on:
//
//	z̄ = −ω·Σθ̄ − P·Σq̄d,  P̄ = ½Σq̄d²,  ω̄ = Σθ̄d,  c̄ = Σθ̄
func (c column) write(dst *backend.Features, b *featureParams, k int, barSecond float64, power []float64) {
	f, q, sums := b.f, b.f.Q, c.of(b.lane[k])
	get := func(row int) float64 { return sums[(row-simd.SumRipple)*simd.Lanes] }
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
