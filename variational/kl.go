package variational

import "math"

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

// klFrequencies is KL(q(w)‖p(w)), of random frequencies, and, if dst is not nil,
// adds scale times its gradient to dst.
func (p *Params) klFrequencies(dst *Params, scale float64) float64 {
	if dst == nil {
		dst = &Params{}
	}
	return klGaussian(p.FreqMean, p.FreqVar, dst.FreqMean, dst.FreqVar, scale)
}

// klCoefficients is KL(q(A)‖p(A)) of the factorised posterior and, if dst is not
// nil, adds scale times its gradient to dst.
func (p *Params) klCoefficients(dst *Params, scale float64) float64 {
	if dst == nil {
		dst = &Params{}
	}
	return klGaussian(p.CoefMean, p.CoefVar, dst.CoefMean, dst.CoefVar, scale)
}

// klPhases is KL(q(b)‖p(b)) = Σ_k log(2π/(β_k − α_k)) and, where dst is not
// nil, adds scale times its gradient to dst. A fixed phase adds nothing.
func (p *Params) klPhases(dst *Params, scale float64) float64 {
	s := 0.0
	for k, a := range p.PhaseLower {
		w := p.PhaseUpper[k] - a
		if w == 0 {
			continue
		}
		s += math.Log(2 * math.Pi / w)
		if dst != nil {
			dst.PhaseLower[k] += scale / w
			dst.PhaseUpper[k] -= scale / w
		}
	}
	return s
}

// weighted is a KL term, (*Params).klFrequencies or another, with each
// window's part times its weight; nil: the term itself.
func (p *Params) weighted(term func(p, dst *Params, scale float64) float64, weight []float64, dst *Params, scale float64) float64 {
	if weight == nil {
		return term(p, dst, scale)
	}
	s := 0.0
	p.EachWindow(func(v, lo, hi int) {
		if weight[v] == 0 {
			return
		}
		var to *Params
		if dst != nil {
			to = dst.Components(lo, hi)
		}
		s += weight[v] * term(p.Components(lo, hi), to, weight[v]*scale)
	})
	return s
}
