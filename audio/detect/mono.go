package detect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
	"github.com/vssgp/vssgp/internal/simd"
)

// MonoEvidence is the evidence that the two channels of a recording are the walls of the groove of a mono disc. The walls carry the same
// sound, so an FIR filter predicts each channel from the other, and the residual contains only the surface noise and the clicks of both.
// If the channels are stereo, the residual contains music.
type MonoEvidence struct {
	Reduction float64 // level of the sound over the level of the residual, in the loudest quarter, in dB; 0 if there is no sound
	Music     float64 // how predictable the residual is, and how much its level changes between loud and quiet parts, in dB
}

// Mono reports whether the channels are the walls of a mono disc.
func (e MonoEvidence) Mono() bool { return e.Reduction-e.Music >= minMono && !e.Identical() }

// Identical reports whether the channels contain the same signal up to a filter, so that their difference has no information.
func (e MonoEvidence) Identical() bool { return e.Reduction > maxMono }

// MeasureMono returns the median evidence of up to 32 parts of a recording of two channels with n samples. For any other number of
// channels it returns no evidence. Errors wrap ErrArgument or the errors of ctx or the source.
func MeasureMono(ctx context.Context, src audio.Source, n, rate int) (MonoEvidence, error) {
	if src == nil || n <= 0 || rate <= 0 {
		return MonoEvidence{}, fmt.Errorf("%d samples at %d Hz of %v, must be a recording: %w", n, rate, src, ErrArgument)
	}
	size := min(n, int(monoSeconds*float64(rate)))
	parts := min(monoParts, n/size)
	var all []MonoEvidence
	for i := range parts {
		lo := 0
		if parts > 1 {
			lo = i * (n - size) / (parts - 1)
		}
		if err := ctx.Err(); err != nil {
			return MonoEvidence{}, fmt.Errorf("%w", err)
		}
		x, err := src.Read(lo, lo+size)
		switch {
		case err != nil:
			return MonoEvidence{}, fmt.Errorf("%w", err)
		case len(x) != 2:
			return MonoEvidence{}, nil
		}
		if r, first := crosschannel.Residual(x[0], x[1], float64(rate)); r != nil {
			all = append(all, monoEvidence(x[0][first:first+len(r)], r, rate))
		}
	}
	if len(all) == 0 {
		return MonoEvidence{}, nil
	}
	slices.SortFunc(all, func(a, b MonoEvidence) int { return cmp.Compare(a.Reduction-a.Music, b.Reduction-b.Music) })
	return all[len(all)/2], nil
}

// monoEvidence compares the levels of a channel x and its residual r above the rumble.
func monoEvidence(x, r []float64, rate int) MonoEvidence {
	x, r = withoutRumble(x, rate), withoutRumble(r, rate)
	part := max(64, rate/40)
	var parts [][2]float64 // mean square of x, and the same of r from the median
	for lo := part; lo+part <= len(x); lo += part {
		s := scale(slices.Clone(r[lo : lo+part]))
		for i := lo; i < lo+part; i++ { // clicks would be as predictable as music
			r[i] = max(-monoOutlier*s, min(r[i], monoOutlier*s))
		}
		parts = append(parts, [2]float64{simd.Dot(x[lo:lo+part], x[lo:lo+part]) / float64(part), s * s})
	}
	if len(parts) < 4 {
		return MonoEvidence{}
	}
	slices.SortFunc(parts, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	quarter := len(parts) / 4
	median := func(of [][2]float64) float64 {
		var v []float64
		for _, p := range of {
			v = append(v, p[1])
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	loud, sum := parts[len(parts)-quarter:], 0.0
	for _, p := range loud {
		sum += p[0] / float64(quarter)
	}
	if !(sum > 0) {
		return MonoEvidence{}
	}
	db := func(v, over float64) float64 { return 10 * math.Log10((v+1e-30)/(over+1e-30)) }
	r = r[part : len(x)/part*part]
	m := ar.Burg([]ar.Segment{{X: r}}, monoOrder)
	return MonoEvidence{
		Reduction: db(sum, median(loud)),
		Music:     db(simd.Dot(r, r)/float64(len(r)), m.E) + max(0, db(median(loud), median(parts[:quarter]))),
	}
}

// withoutRumble returns x after a high-pass filter of second order.
func withoutRumble(x []float64, rate int) []float64 {
	y := slices.Clone(x)
	k := math.Exp(-2 * math.Pi * rumbleHertz / float64(rate))
	for range 2 {
		before, out := 0.0, 0.0
		for i, v := range y {
			out = v - before + k*out
			before, y[i] = v, out
		}
	}
	return y
}

// inResidual is the width of candidates in the residual of a channel's prediction from the other one.
const inResidual = 1

// A wallDetector finds clicks of the channels of a mono disc, also in the residual of each channel's prediction from the other.
type wallDetector struct {
	*clickDetector
	difference *clicks.Search // of the residual
}

func (d *wallDetector) size() (block, margin int) {
	hop, margin := d.Size()
	hops := max(1, int(monoSeconds*float64(d.rate))/hop)
	return hops * hop, margin + crosschannel.Reach(float64(d.rate))
}

func (d *wallDetector) find(b block) []candidate {
	out := d.clickDetector.find(b)
	own, other := b.x[b.channel], b.x[1-b.channel]
	r, first := crosschannel.Residual(own, other, float64(d.rate))
	if r == nil {
		return out
	}
	for _, c := range d.difference.Find(r, b.from+first, b.lo, b.hi) {
		if lo := c.Lo - b.from; inOwn(own, other, r[lo-first:c.Hi-b.from-first], lo, d.rate) {
			out = append(out, candidate{lo: c.Lo, hi: c.Hi, logOdds: c.LogOdds, width: inResidual})
		}
	}
	return out
}

// choose chooses the clicks of the channel as for other recordings, and adds the clicks of the residual, most of which are in both.
func (d *wallDetector) choose(all []candidate) []candidate {
	var own, walls []candidate
	for _, c := range all {
		if c.width == inResidual {
			walls = append(walls, c)
		} else {
			own = append(own, c)
		}
	}
	return joined(append(d.clickDetector.choose(own), d.withEdges(walls)...))
}

// inOwn reports whether a click of the residual, with changes d of the samples from lo on, is in the channel rather than in the other one. The
// walls of a disc differ by less than a sample, so the changes are similar in either channel. They are compared with the prediction errors
// of the models of both channels around the click.
func inOwn(own, other, d []float64, lo, rate int) bool {
	reach := max(4*monoOrder, int(monoNear*float64(rate)))
	hi := lo + len(d)
	from, to := max(0, lo-reach), min(len(own), hi+reach)
	explained := func(x []float64) float64 {
		m := ar.Burg([]ar.Segment{{X: x[:lo-from]}, {X: x[hi-from:]}}, monoOrder)
		return explained(x, m.A, d, lo-from)
	}
	return explained(own[from:to]) >= explained(other[from:to])
}

// explained returns by how much the changes d of the samples of x from lo on, scaled to fit best, reduce the sum of squares of the
// prediction errors e with coefficients a, relative to their variance: (Σ e_n f_n)²/(σ² Σ f_n²), f = a∗d. The variance is from the median
// of |e| outside.
func explained(x, a, d []float64, lo int) float64 {
	p := len(a) - 1
	e := ar.Errors(a, x) // of samples p, p+1, …
	padded := make([]float64, len(d)+2*p)
	copy(padded[p:], d)
	f := ar.Errors(a, padded) // of samples lo, …, lo+len(d)+p−1

	first, last := max(p, lo), min(len(x), lo+len(f))
	if first >= last {
		return 0
	}
	e, f = slices.Clone(e), f[first-lo:last-lo]
	product, square := simd.Dot(e[first-p:last-p], f), simd.Dot(f, f)
	s := scale(slices.Delete(e, first-p, last-p))
	return product * product / (square*s*s + 1e-300)
}

// scale returns the standard deviation of normal errors with the median of |e|, or 0 if there are none. It changes e.
func scale(e []float64) float64 {
	if len(e) == 0 {
		return 0
	}
	for i, v := range e {
		e[i] = math.Abs(v)
	}
	slices.Sort(e)
	return e[len(e)/2] / 0.6745
}
