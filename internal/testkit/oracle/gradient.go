package oracle

import "math"

// Derivative is f'(0) by central differences, extrapolated to step 0 from
// steps h, h/2, h/4, … (Richardson, in Ridders' tableau), and the tableau's
// own estimate of the error. h is a length over which f is smooth; it is
// rounded down to a power of two, so that adding it is exact.
func Derivative(f func(step float64) float64, h float64) (value, err float64) {
	const levels = 6
	h = math.Exp2(math.Floor(math.Log2(h)))
	var last, row [levels]float64
	err = math.Inf(1)
	for i := range levels {
		row[0] = (f(h) - f(-h)) / (2 * h)
		weight := 1.0
		for j := 1; j <= i; j++ {
			weight *= 4 // the error is a series in h²
			row[j] = row[j-1] + (row[j-1]-last[j-1])/(weight-1)
			worst := max(math.Abs(row[j]-row[j-1]), math.Abs(row[j]-last[j-1]))
			if worst < err {
				value, err = row[j], worst
			}
		}
		last = row
		h /= 2
	}
	return value, err
}

// GradExact is the gradient of [Exact]; the coefficients, which it does not
// depend on, are nil.
func GradExact(p *Params, xs, ys [][]float64) *Params {
	q := p.Clone()
	q.CoefMean, q.CoefVar = nil, nil
	return gradient(q, xs, func() float64 { return Exact(q, xs, ys) })
}

// GradFactorized is the gradient of [Factorized].
func GradFactorized(p *Params, xs, ys [][]float64, rows []int) *Params {
	q := p.Clone()
	return gradient(q, xs, func() float64 { return Factorized(q, xs, ys, rows) })
}

// gradient differentiates f, which reads p, by every entry of p. The entries
// of a fixed phase (α = β) and of a point frequency (Σ = 0), which are not
// parameters of a distribution, are NaN. p comes back as it was.
func gradient(p *Params, xs [][]float64, f func() float64) *Params {
	g, steps := p.Clone(), scales(p, xs)
	at, to, step := p.Tensors(), g.Tensors(), steps.Tensors()
	for i := range at {
		for j, entry := range at[i].Entries {
			h := *step[i].Entries[j]
			if h == 0 {
				*to[i].Entries[j] = math.NaN()
				continue
			}
			value := *entry
			d, _ := Derivative(func(s float64) float64 {
				*entry = value + s
				return f()
			}, h)
			*entry = value
			*to[i].Entries[j] = d
		}
	}
	g.WindowCenter, g.WindowLength, g.ComponentWindow = nil, 0, nil
	return g
}

// scales are the first steps for each entry of p: a quarter of the length
// over which the bound changes by a factor or the cosine by a radian, and
// never past the end of the entry's range. 0: not to be differentiated.
func scales(p *Params, xs [][]float64) *Params {
	s := p.Clone()
	_, perComponent, _, _ := p.Dims()
	for i := range s.Variance {
		s.Variance[i] = p.Variance[i] / 4
		for q := range s.Lengthscale[i] {
			s.Lengthscale[i][q], s.Frequency[i][q] = math.Inf(1), math.Inf(1)
		}
	}
	for k := range p.Location {
		i := k / perComponent
		for q := range p.Location[k] {
			far := farthest(xs, p.Location[k][q], q)
			l, variance := p.Lengthscale[i][q], p.FreqVar[k][q]
			bar := far / l
			turn := math.Abs(p.FreqMean[k][q])/l + 2*math.Pi*math.Abs(p.Frequency[i][q])
			s.Lengthscale[i][q] = min(s.Lengthscale[i][q], l/(1+math.Abs(p.FreqMean[k][q])*bar)/4)
			s.Frequency[i][q] = min(s.Frequency[i][q], 1/(2*math.Pi*far)/4)
			s.Location[k][q] = 1 / (turn + math.Sqrt(variance)/l) / 4
			s.FreqMean[k][q] = 1 / (1 + bar) / 4
			s.FreqVar[k][q] = min(variance, 1/(bar*bar)) / 4
		}
		width := (p.PhaseUpper[k] - p.PhaseLower[k]) / 4
		s.PhaseLower[k], s.PhaseUpper[k] = min(1, width), min(1, width)
	}
	s.NoisePrecision = p.NoisePrecision / 4
	for k := range p.CoefMean {
		for d := range p.CoefMean[k] {
			s.CoefMean[k][d] = 1 // the bound is quadratic in m
			s.CoefVar[k][d] = p.CoefVar[k][d] / 4
		}
	}
	return s
}

// farthest is the largest |x_nq − z|, and no less than 1e-3 to divide by.
func farthest(xs [][]float64, z float64, q int) float64 {
	far := 1e-3
	for _, x := range xs {
		far = max(far, math.Abs(x[q]-z))
	}
	return far
}
