package variational

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// Features returns the effective parameters of the model's features. The sums over rows
// depend only on them (DESIGN.md, "Effective parameters"):
//
//	P = Σ/l²   ω = μ/l + 2πp   c = (α+β)/2   h = (β−α)/2
//	A1 = √(2σ²/K)·sinc h   A0 = σ²/K   A2 = (σ²/K)·sinc 2h
func (p *Params) Features() *backend.Features {
	if p == nil {
		return nil
	}
	f := backend.NewFeatures(p.M(), p.Q)
	p.effective(f)
	return f
}

// blockFeatures is the number of features that a core processes at a time. Their parameters,
// effective parameters and gradients fit in its cache.
const blockFeatures = 1024

// eachBlock calls do on all cores for blocks of components [lo, hi) with about
// blockFeatures features. The blocks do not depend on the number of cores.
func (p *Params) eachBlock(do func(block, lo, hi int)) {
	parallel.Blocks(p.L, p.blockComponents(), do)
}

func (p *Params) blockComponents() int { return max(1, blockFeatures/max(1, p.K)) }

// effective writes the effective features into f, which must have their shape.
func (p *Params) effective(f *backend.Features) {
	f.Windows = p.Windows
	if p.ComponentWindow == nil {
		f.Window = nil
	} else if len(f.Window) != f.M {
		f.Window = make([]int, f.M)
	}
	p.eachBlock(func(_, lo, hi int) {
		each := p.K * p.Q
		copy(f.Center[lo*each:hi*each], p.Location[lo*each:hi*each])
		for i := lo; i < hi; i++ {
			p.effectiveOf(f, i)
		}
	})
}

// effectiveOf writes the effective features of component i, except the centers.
func (p *Params) effectiveOf(f *backend.Features, i int) {
	share := p.Variance[i] / float64(p.K)
	amp := math.Sqrt(2 * share)
	for k := i * p.K; k < (i+1)*p.K; k++ {
		if f.Window != nil {
			f.Window[k] = p.ComponentWindow[i]
		}
		for q := range p.Q {
			at, l := k*p.Q+q, p.Lengthscale[i*p.Q+q]
			f.Decay[at] = p.FreqVar[at] / (l * l)
			f.Freq[at] = p.FreqMean[at]/l + 2*math.Pi*p.Frequency[i*p.Q+q]
		}
		h := (p.PhaseUpper[k] - p.PhaseLower[k]) / 2
		one, two := sincs(h)
		f.Phase[k] = p.PhaseLower[k] + h
		f.Amp[k] = amp * one
		f.Power[k] = share
		f.Ripple[k] = share * two
	}
}

// pullFeatures sets dst to the gradient with respect to the parameters of component i, given the
// gradient bar with respect to the effective parameters, times scale.
func (p *Params) pullFeatures(dst *Params, bar *backend.Features, scale float64, i int) {
	first, end := i*p.K, (i+1)*p.K
	for q := range p.Q {
		of := i*p.Q + q
		l := p.Lengthscale[of]
		over, over2 := 1/l, 1/(l*l)
		var barLength, barFreq float64
		for at := first*p.Q + q; at < end*p.Q; at += p.Q {
			decay, freq := scale*bar.Decay[at], scale*bar.Freq[at]
			dst.Location[at] = scale * bar.Center[at]
			dst.FreqVar[at] = decay * over2
			dst.FreqMean[at] = freq * over
			barLength -= (2*decay*p.FreqVar[at]*over + freq*p.FreqMean[at]) * over2
			barFreq += freq
		}
		dst.Lengthscale[of], dst.Frequency[of] = barLength, 2*math.Pi*barFreq
	}
	share := p.Variance[i] / float64(p.K)
	amp := math.Sqrt(2 * share)
	var barAmp, barShare float64
	for k := first; k < end; k++ {
		h := (p.PhaseUpper[k] - p.PhaseLower[k]) / 2
		one, two, slope, slope2 := sincSlopes(h)
		phase, a, ripple := scale*bar.Phase[k], scale*bar.Amp[k], scale*bar.Ripple[k]
		barAmp += a * one
		barShare += scale*bar.Power[k] + ripple*two
		barH := a*amp*slope + 2*ripple*share*slope2
		dst.PhaseLower[k] = (phase - barH) / 2
		dst.PhaseUpper[k] = (phase + barH) / 2
	}
	dst.Variance[i] = barAmp*amp/(2*p.Variance[i]) + barShare/float64(p.K)
}

// sincSeries is the argument h below which sinc and its slope at h and 2h are computed as
// series: at 0.04 the first omitted term is below 1e-17.
const sincSeries = 0.02

// sincs returns sinc h and sinc 2h, with sinc h = sin(h)/h and sin 2h = 2 sin h cos h.
func sincs(h float64) (one, two float64) {
	if math.Abs(h) < sincSeries {
		return sincNear(h), sincNear(2 * h)
	}
	sin, cos := math.Sincos(h)
	one = sin / h
	return one, one * cos
}

// sincSlopes returns sinc and its derivative (cos h − sinc h)/h at h and at 2h.
func sincSlopes(h float64) (one, two, slope, slope2 float64) {
	if math.Abs(h) < sincSeries {
		return sincNear(h), sincNear(2 * h), sincSlopeNear(h), sincSlopeNear(2 * h)
	}
	sin, cos := math.Sincos(h)
	over := 1 / h
	one = sin * over
	two = one * cos
	return one, two, (cos - one) * over, (1 - 2*sin*sin - two) * (0.5 * over)
}

// sincNear returns sinc h for small h.
func sincNear(h float64) float64 {
	h2 := h * h
	return 1 - h2/6*(1-h2/20*(1-h2/42*(1-h2/72)))
}

// sincSlopeNear returns the derivative of sinc at small h.
func sincSlopeNear(h float64) float64 {
	h2 := h * h
	return -h / 3 * (1 - h2/10*(1-h2/28*(1-h2/54)))
}
