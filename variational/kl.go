package variational

import "math"

// A klTerm is a KL term of the bound. It is a sum over components.
type klTerm struct {
	name string
	// of returns the sum over components [lo, hi).
	of func(p *Params, lo, hi int) float64
	// pull subtracts weight times the gradient from dst.
	pull func(p, dst *Params, lo, hi int, weight float64)
}

// featureKL are the KL terms of the exact bound, allKL the KL terms of the factorized bound.
var (
	allKL = []klTerm{
		{"kl_coefficients", (*Params).klCoefficients, (*Params).pullCoefficients},
		{"kl_frequencies", (*Params).klFrequencies, (*Params).pullFrequencies},
		{"kl_phases", (*Params).klPhases, (*Params).pullPhases},
	}
	featureKL = allKL[1:]
)

// klGaussian returns KL(N(m, v)‖N(0, 1)) = ½ Σ_i (v_i + m_i² − 1 − log v_i). It omits
// entries with v_i = 0, which are parameters and not random variables.
func klGaussian(mean, variance []float64) float64 {
	s, logs := 0.0, newLogarithms()
	for i, v := range variance {
		if v == 0 {
			continue
		}
		m := mean[i]
		s += v + m*m - 1
		logs.add(v)
	}
	return 0.5 * (s - logs.sum())
}

// pullGaussian subtracts weight times the gradient of klGaussian from dMean and dVar.
func pullGaussian(mean, variance, dMean, dVar []float64, weight float64) {
	for i, v := range variance {
		if v == 0 {
			continue
		}
		dMean[i] -= weight * mean[i]
		dVar[i] -= weight * 0.5 * (1 - 1/v)
	}
}

// klFrequencies returns KL(q(w)‖p(w)) of random frequencies.
func (p *Params) klFrequencies(lo, hi int) float64 {
	lo, hi = lo*p.K*p.Q, hi*p.K*p.Q
	return klGaussian(p.FreqMean[lo:hi], p.FreqVar[lo:hi])
}

func (p *Params) pullFrequencies(dst *Params, lo, hi int, weight float64) {
	lo, hi = lo*p.K*p.Q, hi*p.K*p.Q
	pullGaussian(p.FreqMean[lo:hi], p.FreqVar[lo:hi], dst.FreqMean[lo:hi], dst.FreqVar[lo:hi], weight)
}

// klCoefficients returns KL(q(A)‖p(A)) of the factorized posterior.
func (p *Params) klCoefficients(lo, hi int) float64 {
	lo, hi = lo*p.K*p.D, hi*p.K*p.D
	return klGaussian(p.CoefMean[lo:hi], p.CoefVar[lo:hi])
}

func (p *Params) pullCoefficients(dst *Params, lo, hi int, weight float64) {
	lo, hi = lo*p.K*p.D, hi*p.K*p.D
	pullGaussian(p.CoefMean[lo:hi], p.CoefVar[lo:hi], dst.CoefMean[lo:hi], dst.CoefVar[lo:hi], weight)
}

// klPhases returns KL(q(b)‖p(b)) = Σ_k log(2π/(β_k − α_k)). It omits fixed phases.
func (p *Params) klPhases(lo, hi int) float64 {
	logs := newLogarithms()
	for k := lo * p.K; k < hi*p.K; k++ {
		if w := p.PhaseUpper[k] - p.PhaseLower[k]; w != 0 {
			logs.add(2 * math.Pi / w)
		}
	}
	return logs.sum()
}

func (p *Params) pullPhases(dst *Params, lo, hi int, weight float64) {
	for k := lo * p.K; k < hi*p.K; k++ {
		if w := p.PhaseUpper[k] - p.PhaseLower[k]; w != 0 {
			dst.PhaseLower[k] -= weight / w
			dst.PhaseUpper[k] += weight / w
		}
	}
}

// kl appends the terms −KL. Each window's part is multiplied by its weight; nil means 1.
func (p *Params) kl(terms []Term, of []klTerm, weight []float64) []Term {
	size := p.blockComponents()
	parts := make([]float64, (p.L+size-1)/size*len(of))
	p.eachBlock(func(block, lo, hi int) {
		for t, k := range of {
			p.weighted(lo, hi, weight, func(lo, hi int, w float64) { parts[block*len(of)+t] += w * k.of(p, lo, hi) })
		}
	})
	for t, k := range of {
		sum := 0.0
		for at := t; at < len(parts); at += len(of) {
			sum += parts[at]
		}
		terms = append(terms, Term{k.name, 0 - sum})
	}
	return terms
}

// weighted calls do with the components [lo, hi) of each window whose weight is not 0, or
// with all components at once if there are no weights.
func (p *Params) weighted(lo, hi int, weight []float64, do func(lo, hi int, w float64)) {
	if weight == nil {
		do(lo, hi, 1)
		return
	}
	p.eachWindow(lo, hi, func(v, lo, hi int) {
		if weight[v] != 0 {
			do(lo, hi, weight[v])
		}
	})
}
