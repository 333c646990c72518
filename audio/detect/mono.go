package detect

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// Walls is the evidence that the two channels of a recording are the walls of the groove of a mono disc. The walls carry the same
// sound, so an FIR filter predicts each channel from the other, and the residual contains only the surface noise and the clicks of both.
// If the channels are stereo, the residual contains music.
type Walls struct {
	Used      bool    // whether clicks were searched in the residual, too
	Reduction float64 // level of the sound over the level of the residual, in the loudest quarter, in dB; 0 if there is no sound
	Music     float64 // how predictable the residual is, and how much its level changes between loud and quiet parts, in dB
}

// mono reports whether the channels are the walls of a mono disc. If they contain the same signal up to a filter, their difference has no
// information.
func (w Walls) mono() bool { return w.Reduction-w.Music >= minMono && w.Reduction <= maxMono }

// walls returns the median evidence of up to monoParts parts of a recording of two channels.
func (r recording) walls(ctx context.Context) (Walls, error) {
	size := min(r.n, int(monoSeconds*float64(r.rate)))
	parts := min(monoParts, r.n/size)
	all := make([]Walls, parts)
	err := parallel.Try(parts, runtime.GOMAXPROCS(0), func(i int) error {
		lo := 0
		if parts > 1 {
			lo = i * (r.n - size) / (parts - 1)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := r.Read(lo, lo+size)
		if err != nil {
			return err
		}
		if left, first := crosschannel.Residual(x[0], x[1], float64(r.rate)); left != nil {
			all[i] = wallsOf(x[0][first:first+len(left)], left, r.rate)
		}
		return nil
	})
	all = slices.DeleteFunc(all, func(w Walls) bool { return w == Walls{} })
	if err != nil || len(all) == 0 {
		return Walls{}, err
	}
	slices.SortFunc(all, func(a, b Walls) int { return cmp.Compare(a.Reduction-a.Music, b.Reduction-b.Music) })
	return all[len(all)/2], nil
}

// wallsOf compares the levels of a channel x and its residual r above the rumble.
func wallsOf(x, r []float64, rate int) Walls {
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
		return Walls{}
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
		return Walls{}
	}
	db := func(v, over float64) float64 { return 10 * math.Log10((v+1e-30)/(over+1e-30)) }
	r = r[part : len(x)/part*part]
	m := ar.Burg([]ar.Segment{{X: r}}, monoOrder)
	return Walls{
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
	hop, margin := d.clickDetector.size()
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
	var near []candidate
	own = d.clickDetector.choose(own)
	k := slices.IndexFunc(own, func(c candidate) bool { return c.near })
	if k >= 0 {
		own, near = own[:k:k], own[k:]
	}
	return withNear(joined(append(own, d.withEdges(walls)...)), near)
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
