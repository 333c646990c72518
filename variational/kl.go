package variational

import "math"

// klFrequencies is KL(q(w)‖p(w)) = ½ Σ_kq (Σ_kq + μ_kq² − 1 − log Σ_kq) and,
// where dst is not nil, adds scale times its gradient to dst. A point
// frequency (Σ_kq = 0) is a parameter, not a random variable: it adds nothing.
func (p *Params) klFrequencies(dst *Params, scale float64) float64 {
	s := 0.0
	for i, v := range p.FreqVar {
		if v == 0 {
			continue
		}
		mu := p.FreqMean[i]
		s += 0.5 * (v + mu*mu - 1 - math.Log(v))
		if dst != nil {
			dst.FreqMean[i] += scale * mu
			dst.FreqVar[i] += scale * 0.5 * (1 - 1/v)
		}
	}
	return s
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

// klCoefficients is KL(q(A)‖p(A)) = ½ Σ_kd (s_kd + m_kd² − 1 − log s_kd) of the
// factorised posterior and, where dst is not nil, adds scale times its gradient
// to dst.
func (p *Params) klCoefficients(dst *Params, scale float64) float64 {
	s := 0.0
	for i, v := range p.CoefVar {
		m := p.CoefMean[i]
		s += 0.5 * (v + m*m - 1 - math.Log(v))
		if dst != nil {
			dst.CoefMean[i] += scale * m
			dst.CoefVar[i] += scale * 0.5 * (1 - 1/v)
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
