package cpu

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// Factorized sets dst to the expected squared error over the rows and its gradient. A tile first
// computes its residuals r_n = y_n − φ̄_n m, then its gradient, feature by feature:
//
//	∂F/∂φ̄_nk = −2 Σ_d r_nd m_kd − 2 φ̄_nk Σ_d m_kd²   ∂F/∂E[φ_nk²] = Σ_d m_kd² + s_kd
//	∂F/∂m_kd = −2 Σ_n r_nd φ̄_nk + 2 m_kd Σ_n (E[φ_nk²] − φ̄_nk²)   ∂F/∂s_kd = Σ_n E[φ_nk²]
func (d *rows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	if err := d.data.CheckFactorized(dst, f, w, rows); err != nil {
		return fmt.Errorf("cpu: factorized: %w", err)
	}
	if rows != nil {
		d = d.pick(rows)
	}
	d.work.params.set(f, d.Delta)
	p := &factorized{rows: d, params: &d.work.params, w: w}
	p.prepare()
	if f.Q == 1 && w.D == 1 {
		sums := d.sum(p.params, []int{simd.FactorizedRows}, p.chunk)
		from := func(row int) column { return column{sums[1+row*simd.Lanes:], simd.FactorizedRows} }
		dst.Value = sums[0]
		p.finish(dst, []column{from(simd.FactorizedAlong)}, from(simd.FactorizedSquare), from(simd.FactorizedRipple))
		return d.stopped("factorized")
	}
	widths := append(slices.Repeat([]int{1}, w.D), 2, simd.SumRows(f.Q))
	sums := d.sum(p.params, widths, p.chunkOfMany)
	dst.Value = sums[0]
	along := make([]column, w.D)
	at, width := 1, p.params.Count*simd.Lanes
	for i := range along {
		along[i] = column{sums[at:], 1}
		at += width
	}
	p.finish(dst, along, column{sums[at+simd.Lanes:], 2}, column{sums[at+2*width+simd.SumRipple*simd.Lanes:], simd.SumRows(f.Q)})
	return d.stopped("factorized")
}

// factorized is the state of one call of Factorized.
type factorized struct {
	*rows
	params *featureParams
	w      *backend.Weights
	fit    [][]float64 // [Count,8] A1·m of each output
	out    [][]float64 // [Count,8] −2·m of each output
	self   []float64   // [Count,8] −2·A1·Σ m²
}

// squares returns Σ_d m_kd² and Σ_d s_kd.
func (p *factorized) squares(k int) (m2, s2 float64) {
	for i, m := range p.w.Mean[k*p.w.D:][:p.w.D] {
		m2 += m * m
		s2 += p.w.Var[k*p.w.D+i]
	}
	return m2, s2
}

// prepare packs the weights and lanes, which do not depend on the rows.
func (p *factorized) prepare() {
	s, b, f, w := p.work, p.params, p.params.f, p.w
	many := s.outputs(b, 2*w.D, func(k, i int) float64 {
		if i < w.D {
			return f.Amp[k] * w.Mean[k*w.D+i]
		}
		return -2 * w.Mean[k*w.D+i-w.D]
	})
	p.fit, p.out = many[:w.D], many[w.D:]
	s.square = b.spread(s.square, func(k int) float64 {
		m2, _ := p.squares(k)
		return -2 * f.Amp[k] * m2
	})
	p.self = s.square
	s.lanes = b.lanes(s.lanes, func(k int) float64 {
		m2, s2 := p.squares(k)
		return m2 + s2
	})
	if w.D != 1 {
		return
	}
	for k, lane := range b.lane {
		m2, _ := p.squares(k)
		l, i := &s.lanes[lane/simd.Lanes], lane%simd.Lanes
		l.Square[i] = -2 * f.Amp[k] * f.Amp[k] * m2
		l.Weight[i] = -2 * f.Amp[k] * w.Mean[k]
	}
}

// over returns a tile for a chunk. The number of rows is small enough for cos and sin to fit in the
// L2 cache, unless they are not written.
func (p *factorized) over(c chunk) (t *tile, size int) {
	r := p.Runs[c.run]
	lo, hi := p.params.over(r)
	size = simd.EvenMost
	if hi-lo > 128 && (p.Even == nil || !simd.EvenFused()) {
		size /= 2
	}
	t = p.work.over(&p.prepared, r, size)
	t.copyLanes(p.work.lanes)
	t.res = simd.Resize(t.res, size*p.w.D)
	return t, size
}

// chunk adds a chunk's squared residuals and sums for one input and one output. If all rows of a tile
// are even, its features are not written to memory.
func (p *factorized) chunk(c chunk, part []float64) {
	t, size := p.over(c)
	defer p.work.put(t)
	lap, sums := p.work.clock.begin(), part[1:]
	t.each(c.lo, c.hi, size, func() {
		acc, res := t.acc[:t.n*simd.Lanes], t.res[:t.n]
		clear(acc)
		for j := range t.parts {
			v := &t.parts[j]
			if p.data.Windows.Count() == 1 {
				v.Gate, v.Inv = nil, nil
			}
			v.Acc, v.W = acc, v.of(t.of(p.fit[0], simd.Lanes), simd.Lanes)
			if len(t.intervals) == 1 && t.intervals[0].even {
				v.Starts = &t.starts[j]
			}
			t.fill(&v.Tile)
		}
		simd.SumLanes(res, acc)
		part[0] += residual(res, t.y)
		lap.end(factorizedFeatures)
		for j := range t.parts {
			v := &t.parts[j]
			v.Factorized(v.of(sums, simd.FactorizedRows*simd.Lanes), res, t.lanes[v.lo:v.hi])
		}
		lap.end(factorizedContraction)
	})
}

// chunkOfMany implements chunk for any number of inputs and outputs. It adds the sums of
// simd.Along for each output's residuals, then the sums of Second and Contract.
func (p *factorized) chunkOfMany(c chunk, part []float64) {
	dd := p.w.D
	t, size := p.over(c)
	defer p.work.put(t)
	t.reserveBar()
	lap, width := p.work.clock.begin(), t.cos.Count*simd.Lanes
	along, second, contract := part[1:], part[1+dd*width:], part[1+(dd+2)*width:]
	t.each(c.lo, c.hi, size, func() {
		t.fillAll()
		res, sum := t.res[:t.n*dd], t.scratch[:t.n]
		for d, w := range p.fit {
			t.fit(sum, t.cos, t.of(w, simd.Lanes))
			for n, v := range sum {
				res[n*dd+d] = v
			}
		}
		part[0] += residual(res, t.y)
		lap.end(factorizedFeatures)
		self := t.of(p.self, simd.Lanes)
		for j := range t.bar.Count {
			clear(t.bar.Panel(j))
			simd.Fit(t.bar.Panel(j), t.cos.Slice(j, j+1), self[j*simd.Lanes:][:simd.Lanes])
		}
		for d, w := range p.out {
			simd.AddOutput(t.bar, res[d:], dd, t.of(w, simd.Lanes))
			simd.Along(along[d*width:][:width], t.cos, res[d:], dd)
		}
		for i := range t.parts {
			t.parts[i].Second(t.parts[i].of(second, 2*simd.Lanes))
		}
		t.contract(contract[:simd.SumRows(t.params.Q)*width])
		lap.end(factorizedContraction)
	})
}

// residual replaces fitted values by residuals of y and returns the sum of their squares.
func residual(fit, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		fit[i] = v - fit[i]
		s += fit[i] * fit[i]
	}
	return s
}

// finish computes the gradient from the sums over all rows, and adds the terms of the value that do
// not depend on the residuals.
func (p *factorized) finish(dst *backend.FactorizedSums, along []column, square, rest column) {
	f, w, b := p.params.f, p.w, p.params
	for k := range f.M {
		m2, s2 := p.squares(k)
		lane, a1 := b.lane[k], f.Amp[k]
		cos2 := square.of(lane)[0]
		second := f.Power[k]*p.power[b.window(k)] + f.Ripple[k]*rest.of(lane)[0]
		dst.Value += (m2+s2)*second - m2*a1*a1*cos2
		rest.write(dst.Features, b, k, m2+s2, p.power)
		amp := -2 * a1 * m2 * cos2
		for i, m := range w.Mean[k*w.D:][:w.D] {
			r := along[i].of(lane)[0]
			amp -= 2 * m * r
			dst.Weights.Mean[k*w.D+i] = -2*a1*r + 2*m*(second-a1*a1*cos2)
			dst.Weights.Var[k*w.D+i] = second
		}
		dst.Features.Amp[k] = amp
	}
}

// pick copies the given rows, in layout order, to a mini-batch.
func (d *rows) pick(given []int) *rows {
	if d.picked == nil {
		d.picked = &rows{prepared: prepared{data: d.data, Prepared: &backend.Prepared{}}, work: d.work}
	}
	sub := d.picked
	var runs []backend.Run
	sub.at, runs = d.Pick(sub.at[:0], sub.Runs[:0], given)
	for i, position := range sub.at {
		sub.at[i] = d.Order[position]
	}
	sub.Gather(&d.data, sub.at, runs)
	sub.cut(len(given))
	return sub
}
