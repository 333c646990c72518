package cpu

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// Factorised fills dst with the expected squared error over the rows and its
// gradient. A tile first sums its residuals r_n = y_n − φ̄_n m over the
// features, then its gradient, feature by feature:
//
//	∂F/∂φ̄_nk = −2 Σ_d r_nd m_kd − 2 φ̄_nk Σ_d m_kd²   ∂F/∂E[φ_nk²] = Σ_d m_kd² + s_kd
//	∂F/∂m_kd = −2 Σ_n r_nd φ̄_nk + 2 m_kd Σ_n (E[φ_nk²] − φ̄_nk²)   ∂F/∂s_kd = Σ_n E[φ_nk²]
func (d *rows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	if err := d.data.CheckFactorised(dst, f, w, rows); err != nil {
		return fmt.Errorf("cpu: factorised: %w", err)
	}
	if rows == nil {
		d.work.bank.set(f, d.Delta)
	} else {
		d = d.pick(rows)
		d.work.bank.pack(f)
	}
	p := &factorised{rows: d, bank: &d.work.bank, w: w}
	p.prepare()
	if f.Q == 1 && w.D == 1 {
		sums := d.sum(p.bank, []int{simd.FactorisedRows}, p.chunk)
		c := column{sums[1:], simd.FactorisedRows}
		dst.Value = sums[0]
		p.finish(dst, []column{c}, simd.FactorisedAlong, c, simd.FactorisedSquare, adjoint{c, simd.FactorisedRipple})
		return d.stopped("factorised")
	}
	widths := append(slices.Repeat([]int{1}, w.D), 2, simd.SumRows(f.Q))
	sums := d.sum(p.bank, widths, p.chunkOfMany)
	dst.Value = sums[0]
	along := make([]column, w.D)
	at, width := 1, p.bank.Count*simd.Lanes
	for i := range along {
		along[i] = column{sums[at:], 1}
		at += width
	}
	second, contract := column{sums[at:], 2}, column{sums[at+2*width:], simd.SumRows(f.Q)}
	p.finish(dst, along, 0, second, 1, adjoint{contract, simd.SumRipple})
	return d.stopped("factorised")
}

// factorised is one call's work.
type factorised struct {
	*rows
	bank *bank
	w    *spectral.Weights
	fit  [][]float64 // [Count,8] A1·m of each output
	out  [][]float64 // [Count,8] −2·m of each output
	self []float64   // [Count,8] −2·A1·Σ m²
}

// squares are Σ_d m_kd² and Σ_d s_kd.
func (p *factorised) squares(k int) (m2, s2 float64) {
	for i, m := range p.w.Mean[k*p.w.D:][:p.w.D] {
		m2 += m * m
		s2 += p.w.Var[k*p.w.D+i]
	}
	return m2, s2
}

// prepare packs what depends on features and coefficients alone.
func (p *factorised) prepare() {
	s, b, f, w := p.work, p.bank, p.bank.f, p.w
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
	s.lanes = b.lanes(s.lanes)
	for k, lane := range b.lane {
		m2, s2 := p.squares(k)
		l, i := &s.lanes[lane/simd.Lanes], lane%simd.Lanes
		l.Amp[i] = f.Amp[k]
		l.Ripple[i] = 4 * f.Ripple[k] * (m2 + s2)
		if w.D == 1 {
			l.Square[i] = -2 * f.Amp[k] * f.Amp[k] * m2
			l.Weight[i] = -2 * f.Amp[k] * w.Mean[k]
		}
	}
}

// rowsOf is how many rows a tile has for so many panels: cos and sin stay in a
// core's second cache, or are not written.
func (p *factorised) rowsOf(panels int) int {
	if panels <= 128 || p.Even != nil && simd.EvenFused() {
		return simd.EvenMost
	}
	return simd.EvenMost / 2
}

// over takes a tile for a chunk.
func (p *factorised) over(c chunk) (*tile, int) {
	r := p.Runs[c.run]
	lo, hi := p.bank.over(r)
	size := p.rowsOf(hi - lo)
	t := p.work.over(&p.prepared, r, size)
	t.copyLanes(p.work.lanes)
	t.res = simd.Resize(t.res, size*p.w.D)
	return t, size
}

// chunk adds a chunk's squared residuals and Factorised's sums: one input, one
// output.
func (p *factorised) chunk(i int, part []float64) {
	c := p.chunks[i]
	t, size := p.over(c)
	defer p.work.put(t)
	gated := p.data.Windows.Count() > 1
	lap := p.work.clock.begin()
	sums, width := part[1:], simd.FactorisedRows*simd.Lanes
	for lo := c.lo; lo < c.hi && p.data.Stopped() == nil; lo += size {
		t.load(lo, min(c.hi, lo+size))
		acc, res := t.acc[:t.n*simd.Lanes], t.res[:t.n]
		clear(acc)
		for j := range t.parts {
			v := &t.parts[j]
			if !gated {
				v.gate, v.inv = nil, nil
			}
			t.fitPart(j, acc, t.of(p.fit[0], simd.Lanes))
		}
		simd.SumLanes(res, acc)
		part[0] += residual(res, t.y)
		lap.end(factorisedFeatures)
		for j, v := range t.parts {
			t.factorised(j, sums[v.lo*width:v.hi*width], res)
		}
		lap.end(factorisedContraction)
	}
}

// fitPart adds part j's features times the weights [Count,8] to acc, for one
// input. Where all rows are even, features need not be written for factorised.
func (t *tile) fitPart(j int, acc, w []float64) {
	p := &t.parts[j]
	w = w[p.lo*simd.Lanes : p.hi*simd.Lanes]
	cos, sin, b := t.cos.Slice(p.lo, p.hi), t.sin.Slice(p.lo, p.hi), t.bank.Slice(t.lo+p.lo, t.lo+p.hi)
	if t.allEven() {
		simd.FitEven(&t.starts[j], cos, sin, acc, b, t.steps(p.lo, p.hi), t.x, p.gate, w)
		return
	}
	for _, s := range t.stretches {
		cos, sin, acc, x := cos.Rows(s.lo, s.hi), sin.Rows(s.lo, s.hi), acc[s.lo*simd.Lanes:s.hi*simd.Lanes], t.x[s.lo:s.hi]
		var gate []float64
		if p.gate != nil {
			gate = p.gate[s.lo:s.hi]
		}
		if s.even {
			simd.FeaturesFitEven(cos, sin, acc, b, t.steps(p.lo, p.hi), x, gate, w)
		} else {
			simd.FeaturesFit(cos, sin, acc, b, x, gate, w)
		}
	}
}

// factorised adds to the sums of part j after fitPart.
func (t *tile) factorised(j int, sums, res []float64) {
	p := &t.parts[j]
	cos, sin, lanes, b := t.cos.Slice(p.lo, p.hi), t.sin.Slice(p.lo, p.hi), t.lanes[p.lo:p.hi], t.bank.Slice(t.lo+p.lo, t.lo+p.hi)
	if t.allEven() {
		simd.FactorisedEven(sums, &t.starts[j], cos, sin, res, t.x, p.gate, p.inv, lanes, b, t.steps(p.lo, p.hi))
	} else {
		simd.Factorised(sums, cos, sin, res, t.x, p.inv, lanes, b)
	}
}

// chunkOfMany is chunk for any number of inputs and outputs: sums along each
// output's residuals, Second's and Contract's.
func (p *factorised) chunkOfMany(i int, part []float64) {
	c, dd := p.chunks[i], p.w.D
	t, size := p.over(c)
	defer p.work.put(t)
	t.reserveBar()
	lap, width := p.work.clock.begin(), t.cos.Count*simd.Lanes
	along, second, contract := part[1:], part[1+dd*width:], part[1+(dd+2)*width:]
	for lo := c.lo; lo < c.hi && p.data.Stopped() == nil; lo += size {
		t.load(lo, min(c.hi, lo+size))
		t.fillAll()
		res, sum := t.res[:t.n*dd], t.scratch[:t.n]
		for d, w := range p.fit {
			t.fit(sum, t.cos, t.of(w, simd.Lanes))
			for n, v := range sum {
				res[n*dd+d] = v
			}
		}
		part[0] += residual(res, t.y)
		lap.end(factorisedFeatures)
		self := t.of(p.self, simd.Lanes)
		for j := range t.bar.Count {
			clear(t.bar.Panel(j))
			simd.Fit(t.bar.Panel(j), t.cos.Slice(j, j+1), self[j*simd.Lanes:][:simd.Lanes])
		}
		for d, w := range p.out {
			simd.AddOutput(t.bar, res[d:], dd, t.of(w, simd.Lanes))
			simd.Along(along[d*width:][:width], t.cos, res[d:], dd)
		}
		for _, v := range t.parts {
			simd.Second(second[2*v.lo*simd.Lanes:2*v.hi*simd.Lanes], t.cos.Slice(v.lo, v.hi), t.sin.Slice(v.lo, v.hi), v.inv)
		}
		t.contract(contract[:simd.SumRows(t.bank.Q)*width])
		lap.end(factorisedContraction)
	}
}

// residual replaces fits by what is left of y and returns its square.
func residual(fit, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		fit[i] = v - fit[i]
		s += fit[i] * fit[i]
	}
	return s
}

// finish writes the gradient from the sums over all rows, and adds to the value
// what does not go through the residuals.
func (p *factorised) finish(dst *spectral.FactorisedSums, along []column, alongRow int, square column, squareRow int, a adjoint) {
	f, w, b := p.bank.f, p.w, p.bank
	for k := range f.M {
		m2, s2 := p.squares(k)
		lane, a1 := b.lane[k], f.Amp[k]
		cos2 := square.at(lane, squareRow)
		second := f.Power[k]*p.power[b.window(k)] + f.Ripple[k]*a.at(lane, a.base)
		dst.Value += (m2+s2)*second - m2*a1*a1*cos2
		a.write(dst.Features, b, k, m2+s2, p.power)
		amp := -2 * a1 * m2 * cos2
		for i, m := range w.Mean[k*w.D:][:w.D] {
			r := along[i].at(lane, alongRow)
			amp -= 2 * m * r
			dst.Weights.Mean[k*w.D+i] = -2*a1*r + 2*m*(second-a1*a1*cos2)
			dst.Weights.Var[k*w.D+i] = second
		}
		dst.Features.Amp[k] = amp
	}
}

// pick gathers the given rows, in layout order, into data of their own.
func (d *rows) pick(given []int) *rows {
	if d.picked == nil {
		d.picked = &rows{prepared: prepared{data: d.data, Prepared: &spectral.Prepared{}}, work: d.work}
	}
	sub := d.picked
	var runs []spectral.Run
	sub.at, runs = d.Pick(sub.at[:0], sub.Runs[:0], given)
	for i, place := range sub.at {
		sub.at[i] = d.Order[place]
	}
	sub.Gather(&d.data, sub.at, runs)
	sub.cut(len(given))
	return sub
}
