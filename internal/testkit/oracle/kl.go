package oracle

import "math"

// gaussianKL is KL(N(μ, s) ‖ N(0, 1)) = ½(s + μ² − 1 − log s). A point
// (s = 0) is a parameter, not a distribution: it contributes 0.
func gaussianKL(mean, variance float64) float64 {
	if variance == 0 {
		return 0
	}
	return (variance + mean*mean - 1 - math.Log(variance)) / 2
}

// KLFrequency is Σ_kq KL(N(μ_kq, Σ_kq) ‖ N(0, 1)).
func KLFrequency(p *Params) (sum float64) {
	for k := range p.FreqMean {
		for q := range p.FreqMean[k] {
			sum += gaussianKL(p.FreqMean[k][q], p.FreqVar[k][q])
		}
	}
	return sum
}

// KLPhase is Σ_k KL(U(α_k, β_k) ‖ U(0, 2π)) = Σ_k log(2π/(β_k − α_k)); a
// fixed phase contributes 0.
func KLPhase(p *Params) (sum float64) {
	for k := range p.PhaseLower {
		if width := p.PhaseUpper[k] - p.PhaseLower[k]; width != 0 {
			sum += math.Log(2 * math.Pi / width)
		}
	}
	return sum
}

// KL is KL(q(ω) ‖ p(ω)) of frequencies and phases.
func KL(p *Params) float64 { return KLFrequency(p) + KLPhase(p) }

// KLCoefficient is Σ_kd KL(N(m_kd, s_kd) ‖ N(0, 1)).
func KLCoefficient(p *Params) (sum float64) {
	for k := range p.CoefMean {
		for d := range p.CoefMean[k] {
			sum += gaussianKL(p.CoefMean[k][d], p.CoefVar[k][d])
		}
	}
	return sum
}
