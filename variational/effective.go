package variational

import (
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// Features are the effective parameters of the model's features. The rows depend on
// nothing else (DESIGN.md, "Effective parameters"):
//
//	P = Σ/l²   ω = μ/l + 2πp   c = (α+β)/2   h = (β−α)/2
//	A1 = √(2σ²/K)·sinc h   A0 = σ²/K   A2 = (σ²/K)·sinc 2h
func (p *Params) Features() *spectral.Features {
	if p == nil {
		return nil
	}
	f := spectral.NewFeatures(p.M(), p.Q)
	p.effective(f)
	return f
}

// effective writes the effective features into f, which has their shape.
func (p *Params) effective(f *spectral.Features) {
	f.Windows = p.Windows
	if p.ComponentWindow == nil {
		f.Window = nil
	} else if len(f.Window) != f.M {
		f.Window = make([]int, f.M)
	}
	copy(f.Center, p.Location)
	for k := range f.M {
		i := k / p.K
		if f.Window != nil {
			f.Window[k] = p.ComponentWindow[i]
		}
		for q := range p.Q {
			l := p.Lengthscale[i*p.Q+q]
			f.Decay[k*p.Q+q] = p.FreqVar[k*p.Q+q] / (l * l)
			f.Freq[k*p.Q+q] = p.FreqMean[k*p.Q+q]/l + 2*math.Pi*p.Frequency[i*p.Q+q]
		}
		h := (p.PhaseUpper[k] - p.PhaseLower[k]) / 2
		share := p.Variance[i] / float64(p.K)
		f.Phase[k] = p.PhaseLower[k] + h
		f.Amp[k] = math.Sqrt(2*share) * sinc(h)
		f.Power[k] = share
		f.Ripple[k] = share * sinc(2*h)
	}
}

// pullFeatures takes a gradient by the effective parameters, bar, and adds the
// gradient by the parameters to dst.
func (p *Params) pullFeatures(dst *Params, bar *spectral.Features) {
	for k := range p.M() {
		i := k / p.K
		for q := range p.Q {
			at, of := k*p.Q+q, i*p.Q+q
			l := p.Lengthscale[of]
			dst.Location[at] += bar.Center[at]
			dst.FreqVar[at] += bar.Decay[at] / (l * l)
			dst.FreqMean[at] += bar.Freq[at] / l
			dst.Lengthscale[of] -= 2*bar.Decay[at]*p.FreqVar[at]/(l*l*l) + bar.Freq[at]*p.FreqMean[at]/(l*l)
			dst.Frequency[of] += 2 * math.Pi * bar.Freq[at]
		}
		h := (p.PhaseUpper[k] - p.PhaseLower[k]) / 2
		share := p.Variance[i] / float64(p.K)
		amp := math.Sqrt(2 * share)
		dst.Variance[i] += bar.Amp[k]*sinc(h)*amp/(2*p.Variance[i]) + (bar.Power[k]+bar.Ripple[k]*sinc(2*h))/float64(p.K)
		barH := bar.Amp[k]*amp*sincSlope(h) + 2*bar.Ripple[k]*share*sincSlope(2*h)
		dst.PhaseLower[k] += bar.Phase[k]/2 - barH/2
		dst.PhaseUpper[k] += bar.Phase[k]/2 + barH/2
	}
}

// sincSeries is the argument below which sinc and its slope are summed as
// series: at 0.02 the first omitted term is below 1e-17.
const sincSeries = 0.02

// sinc is sin(h)/h.
func sinc(h float64) float64 {
	if math.Abs(h) < sincSeries {
		h2 := h * h
		return 1 - h2/6*(1-h2/20*(1-h2/42*(1-h2/72)))
	}
	return math.Sin(h) / h
}

// sincSlope is the derivative of sinc, (h cos h − sin h)/h².
func sincSlope(h float64) float64 {
	if math.Abs(h) < sincSeries {
		h2 := h * h
		return -h / 3 * (1 - h2/10*(1-h2/28*(1-h2/54)))
	}
	return (h*math.Cos(h) - math.Sin(h)) / (h * h)
}
