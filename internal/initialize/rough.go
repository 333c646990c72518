package initialize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// The rough initialization makes the assumption of linear interpolation: the data are a Brownian
// motion plus noise. The two variances are the only free parameters of its covariance. It is for
// series that a few spectral lines cannot represent (docs/algorithms.md, "The rough
// initialization").
const (
	// The window length is roughWindow (mean) steps, or roughGaps times the 95 % quantile of the
	// distance between rows if that is longer. Every window covers the whole band, which needs the
	// fewest features per row if windows are short.
	roughWindow, roughGaps = 48, 8
	// roughBand is the maximum frequency, in cycles per (mean) step.
	roughBand = 1.0
	// roughLength is the length-scale in W. With a shorter one, and thus a wider q(w), a large
	// level would be modeled as noise.
	roughLength = 3000
	// roughLevel is the frequency, in 1/W, of the component for the level of a window. Its cosine
	// equals the window function, and the squares of the window functions add up to 1.
	roughLevel = 0.5
	// roughNoise is the initial noise variance, relative to the squared differences of adjacent
	// rows.
	roughNoise = 0.25

	// RoughMost is the maximum number of rows, because the model needs about 4 kB per row.
	RoughMost = 100_000
)

// Rough distributes the spectrum of a Brownian motion over the whole band in every window, with an
// additional component for the level. Errors are errors of the evaluator or wrap ctx.Err().
func (s *Series) Rough(ctx context.Context, set Settings, evaluator Evaluator) (*variational.Params, error) {
	difference, wide := s.neighbors()
	w, length := s.windows(max(roughWindow*s.step, roughGaps*wide), 0.5)
	unit := s.unit
	own := s.brownian(length/s.step, difference*(1-roughNoise))
	own = append([]bin{{0, roughLevel * s.step / length, unit}}, own...)
	var bins []bin
	for v := range w.Count() {
		for _, b := range own {
			bins = append(bins, bin{v, b.freq, b.mass})
		}
	}
	noise := difference*roughNoise/2 + spectrumLeast*unit
	layout := s.layout(w, bins, length, noise, set, rand.New(rand.NewPCG(set.Seed, spectrumSalt)))
	if err := evaluator.Fits(layout.shape); err != nil {
		return nil, err
	}
	p := layout.params()
	for i := range p.Lengthscale {
		p.Lengthscale[i] = roughLength * length
	}
	return p, ctx.Err()
}

// brownian returns the bins of a window of the given number of steps for a Brownian motion whose
// differences over one step have the given mean square.
func (s *Series) brownian(steps, difference float64) []bin {
	band := min(s.band, roughBand)
	count := max(1, int(math.Ceil(band*steps/spectrumBin)))
	bins, sum := make([]bin, count), 0.0
	for i := range bins {
		f := (float64(i) + 0.5) * band / float64(count)
		chord := 2 * math.Sin(math.Pi/2*f/band)
		bins[i] = bin{0, f, 1 / (chord * chord)}
		sum += 2 * bins[i].mass * (1 - math.Cos(2*math.Pi*f))
	}
	for i := range bins {
		bins[i].mass *= difference / sum
	}
	return bins
}

// neighbors returns the mean square of the differences between adjacent rows, each divided by the
// number of steps between them if that exceeds one, and the 95 % quantile of their distance.
func (s *Series) neighbors() (difference, wide float64) {
	x, y, d := s.data.X, s.data.Y, s.data.D
	n := len(x)
	order := inOrder(x)
	var steps []float64
	for i := range n - 1 {
		a, b := order[i], order[i+1]
		apart := x[b] - x[a]
		steps = append(steps, apart)
		for j := range d {
			v := y[b*d+j] - y[a*d+j]
			difference += v * v / (max(1, apart/s.step) * float64((n-1)*d))
		}
	}
	slices.Sort(steps)
	return max(difference, spectrumLeast*s.unit), steps[len(steps)*19/20]
}
