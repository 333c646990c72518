package declick

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A posterior is the distribution of the sound s in a click. Given the samples around it, s is N(f, C). The observed samples are x = s + u.
// The disturbance u is 0 except in an extent [lo, hi), where its samples are independent with variance v. The posterior is a mixture over
// extents, each with the v of the moments of x, and over x = s.
type posterior struct {
	x, d      []float64 // observed samples, and d = x − f
	precision matrix    // R = C⁻¹
	variance  float64   // mean of the diagonal of C
	parts     []part
}

// A part is a mixture component: s = x outside [lo, hi), and N(mean, B⁻¹) inside.
type part struct {
	lo, hi int
	mean   []float64
	b      factor  // of the precision B
	weight float64 // log evidence, then the probability
}

// newPosterior returns the posterior for observed samples x. It returns nil if numbers are too large or the
// covariance is not positive definite.
func newPosterior(x, f []float64, covariance matrix, scale float64) *posterior {
	p := &posterior{x: x, d: slices.Clone(x)}
	floats.Sub(p.d, f)
	floats.Scale(scale, covariance.a)
	root, ok := covariance.factorize(0)
	if !ok {
		return nil
	}
	p.precision = root.inverse()
	n := len(x)
	for i := range n {
		p.variance += covariance.row(i)[i] / float64(n)
	}
	p.parts = []part{{lo: 0, hi: 0}} // no disturbance
	step := max(1, n/extents)
	for lo := 0; lo < (n+1)/2; lo += step {
		for hi := n; hi > n/2; hi -= step {
			if q, ok := p.part(lo, hi); ok {
				p.parts = append(p.parts, q)
			}
		}
	}
	if len(p.parts) == 1 { // the samples are too large
		return nil
	}
	p.normalize()
	return p
}

// part returns the component for an extent of m samples. Given the samples outside, those inside are N(μ, Q⁻¹), where Q is the part of R.
// With δ = x − μ, the variance of the disturbance is v = (δᵀδ − tr Q⁻¹)/m, but at least tr Q⁻¹/4m. With B = Q + I/v, the log evidence
// relative to x = s is
//
//	½δᵀQδ − ½(δᵀδ − δᵀB⁻¹δ/v)/v − ½ log det B − ½m log v
//
// If the disturbance is large, it need not be noise, and the observed samples inside are ignored: B = Q.
func (p *posterior) part(lo, hi int) (q part, ok bool) {
	m := hi - lo
	inside := p.precision.part(lo, hi)
	right := make([]float64, m) // Q(μ − f)
	for i := range right {
		row := p.precision.row(lo + i)
		right[i] = -floats.Dot(row[:lo], p.d[:lo]) - floats.Dot(row[hi:], p.d[hi:])
	}
	alone, ok := inside.factorize(0)
	if !ok {
		return q, false
	}
	delta := alone.solve(right)
	floats.SubTo(delta, p.d[lo:hi], delta)
	trace := floats.Sum(alone.variances())
	power := floats.Dot(delta, delta)
	v := max(power-trace, trace/4) / float64(m)
	b, ok := inside.factorize(1 / v)
	if !ok {
		return q, false
	}
	shrunk := b.solve(delta)
	q = part{lo: lo, hi: hi, b: b}
	q.weight = (inside.form(delta)-(power-floats.Dot(delta, shrunk)/v)/v)/2 - b.halfLogDet() - float64(m)/2*math.Log(v)
	if v*float64(m) > loud*trace {
		q.b, shrunk = alone, make([]float64, m)
	} else {
		floats.Scale(1/v, shrunk) // B⁻¹δ/v is the part of δ that remains
	}
	q.mean = make([]float64, m)
	for i := range q.mean {
		q.mean[i] = p.x[lo+i] - delta[i] + shrunk[i]
	}
	return q, !math.IsNaN(q.weight)
}

// normalize converts log evidences to probabilities, and drops improbable components.
func (p *posterior) normalize() {
	most, total := math.Inf(-1), 0.0
	for _, q := range p.parts {
		most = max(most, q.weight)
	}
	p.parts = slices.DeleteFunc(p.parts, func(q part) bool { return temper*(q.weight-most) < math.Log(minWeight) })
	for i := range p.parts {
		p.parts[i].weight = math.Exp(temper * (p.parts[i].weight - most))
		total += p.parts[i].weight
	}
	for i := range p.parts {
		p.parts[i].weight /= total
	}
}

// values returns the samples, with the samples of a component inside its extent.
func (p *posterior) values(q *part) []float64 {
	s := slices.Clone(p.x)
	copy(s[q.lo:q.hi], q.mean)
	return s
}

// fill returns the moments of the mixture, and draws.
func (p *posterior) fill(draws int, seed uint64) Fill {
	n := len(p.x)
	f := Fill{Mean: make([]float64, n), SD: make([]float64, n), Draws: make([][]float64, draws), Variance: p.variance}
	for i := range p.parts {
		floats.AddScaled(f.Mean, p.parts[i].weight, p.values(&p.parts[i]))
	}
	for i := range p.parts {
		q := &p.parts[i]
		for k, v := range p.values(q) {
			f.SD[k] += q.weight * (v - f.Mean[k]) * (v - f.Mean[k])
		}
		floats.AddScaled(f.SD[q.lo:q.hi], q.weight, q.b.variances())
	}
	for k, v := range f.SD {
		f.SD[k] = math.Sqrt(v)
	}
	for k := range f.Draws {
		f.Draws[k] = p.draw(rand.New(rand.NewPCG(seed, uint64(k))))
	}
	return f
}

// draw returns a sample of the mixture.
func (p *posterior) draw(rng *rand.Rand) []float64 {
	k, u := 0, rng.Float64()
	for u -= p.parts[k].weight; u >= 0 && k+1 < len(p.parts); u -= p.parts[k].weight {
		k++
	}
	q := &p.parts[k]
	s, z := p.values(q), make([]float64, q.hi-q.lo)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	q.b.back(z)
	floats.Add(s[q.lo:q.hi], z)
	return s
}
