package initialize

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// Constants of the parameters of bins.
const (
	spectrumLength = 6           // length-scale of a component, in W
	spectrumSpread = 0.85        // the same if a component has several pairs of features
	spectrumPhase  = math.Pi / 4 // width of a uniform phase
	// spectrumLeast is the minimum mass of a bin, relative to the variance of the data.
	spectrumLeast = 1e-12
	// spectrumSalt distinguishes this random stream from the others.
	spectrumSalt = 0x5bec
)

// spectrumFeatures is the default of K: a cosine and a sine.
const spectrumFeatures = 2

// windows returns windows of the given length (0 for none), and the length of the data under
// each.
func (s *Series) windows(length, share float64) (backend.Windows, float64) {
	w := newWindows(s.x0, s.end(), length, share, 0)
	if len(w.Center) == 0 {
		length = s.end() - s.x0 + s.step
	}
	return w, length
}

// A layout consists of the bins that become components, and the shape of the model.
type layout struct {
	of     *Series
	set    Settings
	shape  variational.Shape
	bins   []bin
	length float64 // of a window, or of the data if there are none
	noise  float64 // variance
	rng    *rand.Rand
}

// propose returns the layout for windows of set, with a noise variance of at least level times
// the variance of the data.
func (s *Series) propose(ctx context.Context, level float64, set Settings) layout {
	rng := rand.New(rand.NewPCG(set.Seed, spectrumSalt))
	share := 0.5
	if set.Seed != 0 { // restarts shift the windows
		share = rng.Float64()
	}
	w, length := s.windows(set.Window, share)
	level *= s.unit
	bins, dropped := s.bins(ctx, w.Center, length, level, set)
	return s.layout(w, bins, length, dropped+level, set, rng)
}

// layout returns the layout of bins under windows w, with the given noise variance.
func (s *Series) layout(w backend.Windows, bins []bin, length, noise float64, set Settings, rng *rand.Rand) layout {
	components := make([]int, w.Count())
	for _, b := range bins {
		components[b.window]++
	}
	shape := set.shape(w, components, cmp.Or(set.Features, spectrumFeatures), &s.data)
	return layout{of: s, set: set, shape: shape, bins: bins, length: length, noise: noise, rng: rng}
}

// params returns a component for each bin. A single pair of features has the frequency of the
// bin, with q(w) = p(w); several pairs draw their frequencies from a p(w) as wide as the bin,
// with a narrower q(w).
func (l *layout) params() *variational.Params {
	s, p := l.of, l.shape.Params()
	middle := s.x0 + float64(len(s.missing)-1)*s.step/2
	length, sigma := spectrumLength*l.length, 1.0
	if p.K > 2 {
		length = spectrumSpread * l.length
		sigma = math.Pow(spectrumSpread/spectrumLength, 2) // so that features have the same extent
	}
	if l.set.points() {
		sigma = 0
	}
	half := 0.0
	if l.set.UniformPhases {
		half = spectrumPhase / 2
	}
	least := spectrumLeast * s.unit // which uses all rows
	for i, b := range l.bins {
		center := middle
		if p.ComponentWindow != nil {
			center = p.Windows.Center[b.window]
		}
		p.Variance[i] = max(b.mass, least)
		p.Lengthscale[i] = length
		p.Frequency[i] = b.freq / s.step
		for j := range p.K {
			k := i*p.K + j
			p.Location[k] = center
			p.FreqVar[k] = sigma
			switch {
			case p.K > 2 && j%2 == 0:
				p.FreqMean[k] = l.rng.NormFloat64()
			case p.K > 2:
				p.FreqMean[k] = p.FreqMean[k-1]
			}
			phase := -float64(j%2) * math.Pi / 2
			p.PhaseLower[k], p.PhaseUpper[k] = phase-half, phase+half
		}
	}
	p.NoisePrecision[0] = cmp.Or(l.set.Noise, 1/l.noise)
	return p
}
