package initialize

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/initialize/periodogram"
	"github.com/vssgp/vssgp/internal/parallel"
)

// Constants of the spectrum initialization (DESIGN.md, section 11). W is the window length;
// some constants are in grid steps.
const (
	spectrumOrder = 0.5 // order of a window's autoregressive model, relative to the number of grid steps in W
	// spectrumLongest is the maximum order p. Above it the recursion, which takes p² operations,
	// is slow, and a periodogram has the same resolution.
	spectrumLongest = 4096
	spectrumSegment = 1.0  // half the length of the data used, in W
	spectrumBin     = 0.75 // width of a frequency bin, in 1/W
	spectrumMost    = 0.27 // maximum number of bins per window, relative to W
	spectrumFew     = 0.04 // the same if the parameters are optimized: each bin has three point estimates
	spectrumCap     = 200  // maximum number of bins per window
	spectrumFewest  = 8    // minimum number of bins per window
	spectrumSteps   = 8    // density evaluations per bin
	// spectrumShare is the maximum mass of the dropped bins, relative to the noise level.
	spectrumShare = 0.1
	// For uneven rows, whose spectrum leaks into all bins, a bin up to spectrumNoise times the
	// median mass counts as noise.
	spectrumNoise = 8
)

// bins returns the bins of each window's spectrum that become components, sorted by window and
// frequency. dropped is the mass of the others, averaged over the windows. Without centers
// there are no windows, and length is the length of the data.
func (s *Series) bins(ctx context.Context, centers []float64, length, level float64, set Settings) (kept []bin, dropped float64) {
	half := spectrumSegment * length
	if len(centers) == 0 {
		centers, half = []float64{s.x0 + float64(len(s.missing)-1)*s.step/2}, length
	}
	steps := length / s.step
	for _, r := range s.rankings(ctx, centers, half, steps, set.maxBins(steps), set.Shared) {
		keep, rest := set.split(r, spectrumShare*level)
		dropped += rest / float64(len(centers))
		at := len(kept)
		kept = append(kept, r.bins[:keep]...)
		top := kept[at:]
		sort.Slice(top, func(i, j int) bool { return top[i].freq < top[j].freq })
	}
	return kept, dropped
}

// rankings returns the heaviest bins of each window's spectrum, limited to most per window and
// estimated from the data within half of its center. If shared, every window uses the mean
// spectrum of the windows. After ctx has ended the masses are zero and are not cached.
func (s *Series) rankings(ctx context.Context, centers []float64, half, steps float64, most int, shared bool) []ranking {
	asked := spectra{len(centers), most, half, shared}
	if s.ranked != nil && s.spectra == asked {
		return s.ranked
	}
	all := make([]ranking, len(centers))
	count, order := s.binCount(steps), int(spectrumOrder*steps)
	transforms := sync.Pool{New: func() any { return autoregression.NewTransform(count*spectrumSteps, order) }}
	masses := make([][]float64, len(centers)) // stored if they are needed again
	known, windows := s.masses, spectra{windows: len(centers), half: half}
	if s.massesOf != windows {
		known = nil
	}
	parallel.For(len(centers), runtime.GOMAXPROCS(0), func(v int) {
		var own []float64
		switch {
		case ctx.Err() != nil:
			own = make([]float64, count)
		case known != nil:
			own = known[v]
		case s.times != nil:
			own = s.unevenMasses(ctx, centers[v], half, count)
		case order > spectrumLongest:
			own = s.periodogram(ctx, centers[v], half, count)
		default:
			t := transforms.Get().(*autoregression.Transform)
			defer transforms.Put(t)
			own = s.modelMasses(t, centers[v], half, order, count)
		}
		if shared || s.times != nil {
			masses[v] = own
		}
		if !shared {
			all[v] = s.rank(own, v, most)
		}
	})
	if shared {
		mean := meanOf(masses)
		for v := range all {
			all[v] = s.rank(mean, v, most)
		}
	}
	s.ranked, s.masses = nil, nil
	if ctx.Err() == nil {
		s.spectra, s.ranked = asked, all
		if s.times != nil {
			s.massesOf, s.masses = windows, masses
		}
	}
	return all
}

// rank sorts the bins of window v by mass and keeps the heaviest.
func (s *Series) rank(masses []float64, v, most int) (r ranking) {
	bins, width := make([]bin, len(masses)), s.band/float64(len(masses))
	for i, mass := range masses {
		bins[i] = bin{v, (float64(i) + 0.5) * width, mass}
	}
	slices.SortFunc(bins, func(a, b bin) int { return cmp.Or(cmp.Compare(b.mass, a.mass), cmp.Compare(a.freq, b.freq)) })
	keep := min(most, len(bins))
	r.lines = keep
	if s.times != nil {
		noise := spectrumNoise * bins[len(bins)/2].mass
		for r.lines > 0 && bins[r.lines-1].mass <= noise {
			r.lines--
		}
	}
	r.bins = slices.Clone(bins[:keep])
	for _, a := range bins[keep:] {
		r.rest += a.mass
	}
	return r
}

// split returns the number of bins to keep and the mass of the rest. It drops the lightest
// bins, with a total mass below hidden or, for uneven rows, indistinguishable from noise. It
// keeps at least Components or, if Components is 0, spectrumFewest bins.
func (s *Settings) split(r ranking, hidden float64) (keep int, rest float64) {
	fewest := cmp.Or(s.Components, min(spectrumFewest, len(r.bins)))
	keep, rest = len(r.bins), r.rest
	for keep > fewest && (keep > r.lines || rest+r.bins[keep-1].mass < hidden) {
		keep--
		rest += r.bins[keep].mass
	}
	return keep, rest
}

// binCount returns the number of bins for a window of the given length in steps.
func (s *Series) binCount(steps float64) int {
	return max(1, int(math.Ceil(s.band*steps/spectrumBin)))
}

// maxBins returns the maximum number of bins that a window keeps.
func (s *Settings) maxBins(steps float64) int {
	if n := cmp.Or(s.Components, s.most); n != 0 {
		return n
	}
	share := spectrumFew
	if !s.Optimized {
		share = spectrumMost
	}
	return max(spectrumFewest, min(spectrumCap, int(share*steps)))
}

// unevenMasses returns the masses of count bins, averaged over the outputs, by a periodogram of
// the uneven rows within half of center. They are zero after ctx has ended.
func (s *Series) unevenMasses(ctx context.Context, center, half float64, count int) []float64 {
	masses := make([]float64, count)
	from, to := s.within(center-half, center+half)
	if to-from < 2 {
		return masses
	}
	times, weights := s.times[from:to], make([]float64, to-from)
	for i, x := range times {
		w := math.Cos(math.Pi / 2 * (x - center) / half)
		weights[i] = max(w*w, 1e-6)
	}
	for _, y := range s.y {
		m, err := periodogram.Masses(ctx, times, y[from:to], weights, s.band/s.step, count, spectrumSteps)
		if err != nil {
			return masses
		}
		for i, a := range m {
			masses[i] += a / float64(len(s.y))
		}
	}
	return masses
}

// modelMasses returns the masses of count bins over [0, ½] cycles per step, averaged over the
// outputs: the variance in each bin and its mirror image of autoregressive models of the
// samples within half of center, tapered by a cosine, by the midpoint rule.
func (s *Series) modelMasses(t *autoregression.Transform, center, half float64, order, count int) []float64 {
	tapered, weight := s.tapered(center, half)
	masses, width := make([]float64, count), 0.5/float64(count)
	for _, y := range tapered {
		r := autoregression.Autocorrelation(y, max(1, min(order, len(y)/3)))
		for j := range r {
			r[j] *= float64(len(y)) / weight
		}
		for i, d := range t.Densities(autoregression.YuleWalker(r)) {
			masses[i/spectrumSteps] += d
		}
	}
	for i := range masses {
		masses[i] *= 2 * width / float64(spectrumSteps*len(s.y))
	}
	return masses
}

// periodogram returns the masses of count bins, averaged over the outputs, by the periodogram
// of the samples within half of center, tapered by a cosine. The power at a frequency of the
// transform is distributed evenly over the frequencies nearest to it.
func (s *Series) periodogram(ctx context.Context, center, half float64, count int) []float64 {
	tapered, weight := s.tapered(center, half)
	n := autoregression.PeriodogramSize(len(tapered[0]))
	power, masses := make([]float64, n/2+1), make([]float64, count)
	for _, y := range tapered {
		if ctx.Err() == nil {
			autoregression.Periodogram(power, y)
		}
	}
	width := 2 * float64(count) / float64(n) // the step of the transform, in bins
	for k, v := range power {
		v *= 2 / (weight * float64(n*len(s.y))) // including the mirror image
		from, to := (float64(k)-0.5)*width, (float64(k)+0.5)*width
		for i := max(0, int(from)); i <= min(count-1, int(to)); i++ {
			masses[i] += v * (min(to, float64(i+1)) - max(from, float64(i))) / width
		}
	}
	return masses
}

// tapered returns the samples of each output within half of center, multiplied by a cosine.
// weight is the sum of squares of the cosine.
func (s *Series) tapered(center, half float64) (out [][]float64, weight float64) {
	lo := max(0, int(math.Ceil((center-half-s.x0)/s.step)))
	hi := min(len(s.missing)-1, int(math.Floor((center+half-s.x0)/s.step))) + 1
	for _, y := range s.y {
		out = append(out, slices.Clone(y[lo:hi]))
	}
	for i := range hi - lo {
		t := math.Cos(math.Pi / 2 * (s.x0 + float64(lo+i)*s.step - center) / half)
		for _, y := range out {
			y[i] *= t
		}
		weight += t * t
	}
	return out, weight
}

func meanOf(all [][]float64) []float64 {
	mean := make([]float64, len(all[0]))
	for _, a := range all {
		for i, x := range a {
			mean[i] += x / float64(len(all))
		}
	}
	return mean
}
