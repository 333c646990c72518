package clicks

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// A Piece is a part of a channel in which a Search looks for noise of a record's groove.
type Piece struct {
	Frames []float64 // noise floor of each frame, in quantization steps
	Ticks  []Candidate
	At     []int       // [tick] its frame
	All    []Candidate // before the rate of clicks is known
}

// Piece searches the samples [lo, hi) of a channel, as Find does. Ticks are the candidates with log-odds above leastTick that
// the weights for other recordings do not exclude.
func (s *Search) Piece(x []float64, from, lo, hi int) (p Piece) {
	if lo >= hi {
		return p
	}
	f := s.floor(x[lo-from : hi-from])
	p.Frames, p.All = f.frames, s.Find(x, from, lo, hi)
	slices.SortStableFunc(p.All, func(a, b Candidate) int { return cmp.Compare(a.Lo+a.Hi, b.Lo+b.Hi) })
	for _, c := range p.All {
		if c.LogOdds > leastTick && fitted.LogOdds(&c.Features) > leastPlain && c.Lo >= lo && c.Hi <= hi {
			p.Ticks, p.At = append(p.Ticks, c), append(p.At, f.frame(c.Lo-lo, c.Hi-lo))
		}
	}
	return p
}

// A floor is the noise floor of a part of a channel, in quantization steps.
type floor struct {
	size   int       // samples of a frame
	frames []float64 // median absolute value above the cutoff in each frame, after a median filter
}

// floor returns the noise floor of samples. At least one frame of samples is required.
func (s *Search) floor(x []float64) floor {
	f := floor{size: s.seconds(frameSeconds, 1)}
	abs := highPass(x, min(noiseCutoff/float64(s.Rate), 0.25))
	for i, v := range abs {
		abs[i] = math.Abs(v) / s.Step
	}
	medians := make([]float64, max(1, len(x)/f.size))
	for i := range medians {
		medians[i] = quantile(abs[i*f.size:min(len(abs), (i+1)*f.size)], 0.5)
	}
	for i := range medians {
		near := slices.Clone(medians[max(0, i-floorReach):min(len(medians), i+floorReach+1)])
		f.frames = append(f.frames, quantile(near, 0.5))
	}
	return f
}

// Floor returns the noise floor of the quietest third of samples in quantization steps, or 0 for digital silence.
func (s *Search) Floor(x []float64) float64 {
	f := quantile(s.floor(x).frames, quietShare/100.0)
	if f <= silentFloor {
		return 0
	}
	return f
}

// frame returns the frame in the middle of samples [lo, hi).
func (f *floor) frame(lo, hi int) int { return min((lo+hi)/2/f.size, len(f.frames)-1) }

// highPass returns x minus its windowed-sinc low-pass. The cutoff is relative to the sample rate.
func highPass(x []float64, cutoff float64) []float64 {
	h := make([]float64, 2*highPassReach+1)
	for i := range h {
		t := float64(i - highPassReach)
		h[i] = -2 * cutoff
		if t != 0 {
			h[i] = -math.Sin(2*math.Pi*cutoff*t) / (math.Pi * t)
		}
		h[i] *= 0.54 + 0.46*math.Cos(math.Pi*t/highPassReach)
	}
	floats.Scale(-1/floats.Sum(h), h)
	h[highPassReach]++
	padded := make([]float64, len(x)+2*highPassReach)
	copy(padded[highPassReach:], x)
	return ar.Errors(h, padded)
}

// A Groove is the evidence that a recording comes from a record: the clicks come from the disc, not from the sound, so
// they also occur in the quietest third of pieces, independently of each other, and the noise floor there is steady.
type Groove struct {
	Spread     float64 // .33 quantile over the .05 quantile of the noise floor in decibels, without digital silence
	Quiet      float64 // clicks per second in the quietest third
	Dispersion float64 // variance over mean of their counts in countSeconds of it; 1 for independent clicks
	Rate       float64 // clicks per second of the pieces

	ticks float64 // number in the quietest third
	limit float64 // largest noise floor of the quietest third
	size  float64 // mean logarithm of the sizes of these ticks
	sizes float64 // standard deviation of the logarithms; 0: unknown
}

// NewGroove returns the evidence of pieces of a channel.
func (s *Search) NewGroove(pieces []Piece) (g Groove) {
	var frames, sizes []float64
	var all []Candidate
	seconds := 0.0
	for _, p := range pieces {
		seconds += float64(len(p.Frames)) * frameSeconds
		all = append(all, p.All...)
		for _, f := range p.Frames {
			if f > silentFloor {
				frames = append(frames, f)
			}
		}
	}
	if len(frames) == 0 {
		return g
	}
	slices.Sort(frames)
	g.limit = frames[len(frames)*quietShare/100]
	g.Spread = 20 * math.Log10(g.limit/frames[len(frames)/20])
	g.Rate = Rate(all, seconds)

	counts, left := []float64{0}, countSeconds // in the quietest third
	for _, p := range pieces {
		k := 0
		for i, f := range p.Frames {
			quiet, first := f > silentFloor && f <= g.limit, k
			for ; k < len(p.At) && p.At[k] <= i; k++ {
				if quiet {
					sizes = append(sizes, math.Log(p.Ticks[k].Size))
				}
			}
			if !quiet {
				continue
			}
			if k > first { // candidates of one tick are in one frame
				counts[len(counts)-1]++
			}
			if left -= frameSeconds; left <= 0 {
				counts, left = append(counts, 0), countSeconds
			}
		}
	}
	g.ticks = floats.Sum(counts)
	g.Quiet = g.ticks / (float64(len(counts))*countSeconds - left)
	mean := g.ticks / float64(len(counts))
	for _, c := range counts {
		g.Dispersion += (c - mean) * (c - mean) / max(g.ticks, 1)
	}
	if len(sizes) >= minTicks {
		g.size, g.sizes = stat.MeanStdDev(sizes, nil)
	}
	return g
}

// Doubt returns why the evidence does not support the weights for records, or "" if it does.
func (g Groove) Doubt() string {
	switch {
	case g.ticks < minTicks || g.Quiet < minQuiet:
		return "they are too few"
	case g.Spread > maxSpread:
		return "the noise there is not steady"
	case g.Dispersion > maxDispersion:
		return "they come in groups"
	}
	return ""
}

// MeanGroove returns the mean of the evidence of channels, without silent channels.
func MeanGroove(all []Groove) (mean Groove) {
	n := 0.0
	for _, g := range all {
		if g.limit == 0 {
			continue
		}
		n++
		mean.Spread, mean.Quiet = mean.Spread+g.Spread, mean.Quiet+g.Quiet
		mean.Dispersion, mean.Rate = mean.Dispersion+g.Dispersion, mean.Rate+g.Rate
		mean.ticks += g.ticks
	}
	n = max(n, 1)
	return Groove{mean.Spread / n, mean.Quiet / n, mean.Dispersion / n, mean.Rate / n, mean.ticks / n, 0, 0, 0}
}

// Attacks lowers the log-odds of the candidates of a block that are larger than the ticks in quiet sound, if they are in
// loud sound, because they may be attacks. The logarithms of the sizes have a Student distribution with sizeFreedom
// degrees of freedom, and a candidate loses the logarithm of its density relative to the maximum. x begins at sample
// from.
func (g Groove) Attacks(s *Search, x []float64, from int, all []Candidate) {
	if g.sizes == 0 || len(all) == 0 {
		return
	}
	f := s.floor(x)
	for i, c := range all {
		if f.frames[f.frame(c.Lo-from, c.Hi-from)] > loudFloor*g.limit {
			z := max(0, math.Log(c.Size)-g.size) / g.sizes
			all[i].LogOdds -= (sizeFreedom + 1) / 2.0 * math.Log1p(z*z/sizeFreedom)
		}
	}
}
