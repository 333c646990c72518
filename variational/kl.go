package variational

import "math"

// A klTerm is a KL term of the bound. of adds scale times its gradient to dst, unless
// dst is noParams.
type klTerm struct {
	name string
	of   func(p, dst *Params, scale float64) float64
}

// featureKL are the KL terms of the exact bound, allKL those of the factorised one.
var (
	allKL = []klTerm{
		{"kl_coefficients", (*Params).klCoefficients},
		{"kl_frequencies", (*Params).klFrequencies},
		{"kl_phases", (*Params).klPhases},
	}
	featureKL = allKL[1:]
)

// klGaussian is KL(N(m, v)‖N(0, 1)) = ½ Σ_i (v_i + m_i² − 1 − log v_i) and, if
// dMean and dVar are not nil, adds scale times its gradient to them. An entry with
// v_i = 0 is a parameter, not a random variable: it adds nothing.
func klGaussian(mean, variance, dMean, dVar []float64, scale float64) float64 {
	s := 0.0
	for i, v := range variance {
		if v == 0 {
			continue
		}
		m := mean[i]
		s += 0.5 * (v + m*m - 1 - math.Log(v))
		if dMean != nil {
			dMean[i] += scale * m
			dVar[i] += scale * 0.5 * (1 - 1/v)
		}
	}
	return s
}

// klFrequencies is KL(q(w)‖p(w)) of random frequencies.
func (p *Params) klFrequencies(dst *Params, scale float64) float64 {
	return klGaussian(p.FreqMean, p.FreqVar, dst.FreqMean, dst.FreqVar, scale)
}

// klCoefficients is KL(q(A)‖p(A)) of the factorised posterior.
func (p *Params) klCoefficients(dst *Params, scale float64) float64 {
	return klGaussian(p.CoefMean, p.CoefVar, dst.CoefMean, dst.CoefVar, scale)
}

// klPhases is KL(q(b)‖p(b)) = Σ_k log(2π/(β_k − α_k)). A fixed phase adds nothing.
func (p *Params) klPhases(dst *Params, scale float64) float64 {
	s := 0.0
	for k, a := range p.PhaseLower {
		w := p.PhaseUpper[k] - a
		if w == 0 {
			continue
		}
		s += math.Log(2 * math.Pi / w)
		if dst.PhaseLower != nil {
			dst.PhaseLower[k] += scale / w
			dst.PhaseUpper[k] -= scale / w
		}
	}
	return s
}

// noParams is where no gradient is added.
var noParams = &Params{}

// kl appends the terms −KL, each window's part times its weight; nil: 1.
func (p *Params) kl(terms []Term, of []klTerm, weight []float64) []Term {
	for _, k := range of {
		terms = append(terms, Term{k.name, 0 - p.weighted(k, weight, noParams)})
	}
	return terms
}

// pullKL adds the gradient of these terms to dst.
func (p *Params) pullKL(dst *Params, of []klTerm, weight []float64) {
	for _, k := range of {
		p.weighted(k, weight, dst)
	}
}

// weighted is a KL term with each window's part times its weight. It subtracts the
// gradient from dst.
func (p *Params) weighted(k klTerm, weight []float64, dst *Params) (sum float64) {
	if weight == nil {
		return k.of(p, dst, -1)
	}
	p.EachWindow(func(v, lo, hi int) {
		if weight[v] == 0 {
			return
		}
		to := dst
		if dst != noParams {
			to = dst.Components(lo, hi)
		}
		sum += weight[v] * k.of(p.Components(lo, hi), to, -weight[v])
	})
	return sum
}
