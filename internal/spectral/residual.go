package spectral

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/initialize/periodogram"
	"github.com/vssgp/vssgp/internal/markov"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/variational"
)

// A spectrum is a periodogram of the rows' times.
type spectrum struct {
	*periodogram.Plan
	step  float64
	count int
}

// frequency returns the frequency of entry k.
func (s *spectrum) frequency(k int) float64 { return (float64(k) + 0.5) * s.step }

// perLine is the number of frequencies of the periodogram per 1/range of x.
const perLine = 3

// A peak is a local maximum of a periodogram: the frequency of a line, its standard deviation, and the gain in nats.
type peak struct{ frequency, sd, gain float64 }

// A residual describes what a model leaves: the highest peaks of the periodogram, and whether the spectrum differs from the model's.
type residual struct {
	peaks  []peak
	uneven bool
}

// Under the model, a periodogram's values in nats are exponentially distributed with mean 1. bandGain is the largest gain in nats, by octaves
// of frequency, up to which the values are considered to be such (Whittle's likelihood).
const bandGain = 4

// uneven reports whether values of mean a in some octave differ from mean 1: n values gain n·(a − 1 − log a). Each is the mean of several
// outputs.
func uneven(gain []float64, outputs int) bool {
	const lowest = 2 * perLine
	for hi := len(gain); hi > lowest; hi /= 2 {
		lo := hi / 2
		if lo <= lowest {
			lo = minCycles * perLine // a constant has lower frequencies
		}
		a := floats.Sum(gain[lo:hi]) / float64(hi-lo)
		if n := float64((hi-lo)*outputs) / perLine; n*(a-1-math.Log(a)) > bandGain {
			return true
		}
	}
	return false
}

// residual returns what a model leaves, with at most the given number of peaks: the highest local maxima of the gain from another line at
// each frequency, in decreasing order.
//
// With K the covariance of the model and its noise, c and s the columns of a cosine and a sine, the gain of a free line is ½uᵀW⁻¹u for u =
// (cᵀK⁻¹y, sᵀK⁻¹y) and W the matrix of c, s under K⁻¹. K⁻¹y is the residual over the noise variance λ. W is approximated by its value for
// noise alone, which includes the rough components' density, times 1 − share·½N·V/(λ + ½N·V) for nodes of variance V that explain a share
// of the line (shares).
func (s *Search) residual(e *expansion, most int) (r residual, err error) {
	lambda := e.noise()
	n := float64(len(s.data.X))
	rest, err := s.residuals(e)
	if err != nil {
		return r, err
	}
	gain, sd := make([]float64, s.spectrum.count), make([]float64, s.spectrum.count)
	for _, own := range rest {
		for k, power := range s.spectrum.Power(own) {
			gain[k] += power / float64(len(rest))
		}
	}
	share, variance := s.shares(e)
	for k := range gain {
		signal, noise := 0.5*n*variance[k], lambda
		for _, c := range e.model.Components {
			noise += 0.5 * n * c.Density(s.spectrum.frequency(k)) / s.domain.span()
		}
		ratio := noise / lambda / (1 - share[k]*signal/(noise+signal))
		sd[k] = math.Sqrt(gain[k]) * ratio
		gain[k] *= 0.5 * n / lambda * ratio
	}
	r.uneven = uneven(gain, len(rest))
	all := r.peaks
	for k, g := range gain {
		f := s.spectrum.frequency(k)
		if f*s.domain.span() < minCycles || k > 0 && gain[k-1] >= g || k+1 < len(gain) && gain[k+1] > g {
			continue
		}
		all = append(all, peak{f, sd[k], g * float64(len(rest))})
	}
	slices.SortStableFunc(all, func(a, b peak) int { return cmp.Compare(b.gain, a.gain) })
	r.peaks = all[:min(most, len(all))]
	return r, nil
}

// residuals returns y minus the posterior mean, for each output.
func (s *Search) residuals(e *expansion) ([][]float64, error) {
	out := make([][]float64, s.data.D)
	for d := range out {
		out[d] = make([]float64, s.data.N)
		for i := range out[d] {
			out[d][i] = s.data.Y[i*s.data.D+d]
		}
	}
	p := e.params()
	if terms := e.model.terms(); terms != nil {
		return out, s.subtractMixed(out, p, terms, math.Sqrt(e.noise()))
	}
	f := p.Features()
	_, mean, err := s.rows.SolveMean(p)
	if err != nil {
		return nil, err
	}
	parallel.Blocks(s.data.N, variational.ChunkRows, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k := range f.M {
				phi := f.Mean(k, s.data.X[i:i+1])
				for d := range out {
					out[d][i] -= phi * mean[k*s.data.D+d]
				}
			}
		}
	})
	return out, nil
}

// subtractMixed subtracts the posterior mean of a model with rough components.
func (s *Search) subtractMixed(out [][]float64, p *variational.Params, terms []markov.Term, noise float64) error {
	e, err := s.series.condition(p, terms, noise, false)
	if err != nil {
		return err
	}
	at, err := (&Conditional{e}).At(s.ctx, nil, s.data.X)
	if err != nil {
		return err
	}
	for i, mean := range at.Mean {
		out[i%len(out)][i/len(out)] -= mean
	}
	return nil
}

// shares returns for each frequency f of the periodogram the share of a line there that the model's nodes explain, and their mean variance.
// A node at f_j explains the share sinc²((f − f_j)·range).
func (s *Search) shares(e *expansion) (share, variance []float64) {
	const reach = 8 // of sinc², in 1/range
	share, variance = make([]float64, s.spectrum.count), make([]float64, s.spectrum.count)
	span, p := s.domain.span(), e.params()
	for i := range p.L {
		f := math.Abs(p.Frequency[i])
		at := int(math.Round(f * span * perLine))
		for k := max(0, at-reach*perLine); k < min(len(share), at+reach*perLine+1); k++ {
			t := math.Pi * (s.spectrum.frequency(k) - f) * span
			own := 1.0
			if t != 0 {
				own = math.Pow(math.Sin(t)/t, 2)
			}
			share[k] += own
			variance[k] += own * p.Variance[i]
		}
	}
	for k := range share {
		variance[k] /= max(share[k], math.SmallestNonzeroFloat64)
		share[k] = min(share[k], 1)
	}
	return share, variance
}

// newSpectrum prepares the periodogram of the rows.
func newSpectrum(d *Domain, x []float64) *spectrum {
	step := 1 / (perLine * d.span())
	n := max(1, int(math.Ceil(d.top()/step)))
	return &spectrum{periodogram.New(x, slices.Repeat([]float64{1}, len(x)), step, n), step, n}
}
