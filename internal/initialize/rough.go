package initialize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// The rough start assumes what straight lines between neighbors assume: that the
// data are a Brownian motion and noise. Its covariance has two free numbers, the
// variances of both. It is for series that a few lines of a spectrum cannot
// describe: see DESIGN.md, "Is the fit better than a line?".
const (
	// Windows are roughWindow (mean) steps long, or roughGaps times the distance
	// between rows that a twentieth exceed, if that is more. Each covers the whole
	// band, for which short windows need the fewest features per row.
	roughWindow, roughGaps = 48, 8
	// roughBand is the highest frequency at most, in cycles per (mean) step.
	roughBand = 1.0
	// roughLength is the length-scale in W: with a shorter one, and so a wider q(w),
	// a high level looks like noise.
	roughLength = 3000
	// roughLevel is the frequency, in 1/W, of the component for the level of a
	// window: its cosine is the same as the gate's, whose squares add up to 1.
	roughLevel = 0.5
	// roughNoise is the starting share of noise in the squared differences of
	// neighbors.
	roughNoise = 0.25

	// RoughMost is the most rows for which it is tried: it takes about 4 kB a row.
	RoughMost = 100_000
)

// Rough lays the spectrum of a Brownian motion over the whole band in every
// window, beside a component for its level. Errors come from the judge or wrap
// ctx.Err().
func (s *Series) Rough(ctx context.Context, set Settings, judge Judge) (*variational.Params, error) {
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
	if err := judge.Fits(layout.shape); err != nil {
		return nil, err
	}
	p := layout.params()
	for i := range p.Lengthscale {
		p.Lengthscale[i] = roughLength * length
	}
	return p, ctx.Err()
}

// brownian lists the bins of a window of so many steps for a Brownian motion whose
// differences over a step have the given mean square.
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

// neighbors returns the mean square of the differences of neighboring rows (each
// divided by the number of steps between them if that is more than one) and the
// distance that a twentieth of the neighbors exceed.
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
