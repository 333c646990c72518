package detect

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

func init() { detectors[Dropouts] = dropouts }

// widest is how many steps of the quantizer the samples of a dropout lie from its middle at most: dither of ±2.
const widest = 2

// dropouts finds runs of samples that stay within a few steps of one value: zeros or a held sample, with dither or without.
func dropouts(ctx context.Context, r recording, o *Options) ([]Found, error) {
	s, err := newStops(r, o)
	if err != nil {
		return nil, err
	}
	s.widths = widest
	return s.find(ctx, Dropouts)
}

// stops looks for sound that stops for a moment.
type stops struct {
	recording
	*Options
	least, most, reach int     // samples of a stop, and of the sound looked at on either side of it
	fade               int     // samples of the shortest fade
	step               float64 // of the quantizer
	widths             int     // the most steps that a stop's samples lie from its middle
	zeros              bool    // only exact zeros count
}

const (
	leastStop = 1e-3  // seconds: less is for a waveform to pass a crest, or for a click
	mostStop  = 0.25  // seconds: longer ones are pauses, or cannot be filled
	leastFade = 2e-3  // seconds: sound does not end faster
	reachStop = 0.020 // seconds: for so long speech keeps its spectrum
)

// alone is how many nats speak for damage where other channels go on: silence is most often all channels'.
const alone = 2

// tileSamples is how many samples of a channel are looked at in one go.
var tileSamples = 1 << 17

func newStops(r recording, o *Options) (*stops, error) {
	seconds := func(t float64, least int) int { return max(least, int(math.Round(t*float64(r.rate)))) }
	step, err := r.step(o.Step)
	return &stops{recording: r, Options: o, step: step,
		least: seconds(leastStop, 8), most: seconds(mostStop, 64), reach: seconds(reachStop, 64), fade: seconds(leastFade, 16)}, err
}

// step returns the quantizer's step: the least difference of neighboring samples at some places, or the given one if that is larger.
func (r recording) step(given float64) (float64, error) {
	const places, samples = 16, 4096
	least := math.Inf(1)
	for i := range places {
		lo := i * max(0, r.n-samples) / places
		x, err := r.Read(lo, min(r.n, lo+samples))
		if err != nil {
			return 0, err
		}
		for _, x := range x {
			for n := 1; n < len(x); n++ {
				if d := math.Abs(x[n] - x[n-1]); d > 0 {
					least = min(least, d)
				}
			}
		}
	}
	if math.IsInf(least, 1) {
		least = 0
	}
	return max(least, given), nil
}

// A stop is what may be one: samples [lo, hi) that lie within so many steps of one value.
type stop struct{ lo, hi, width int }

// find goes through the recording tile by tile. What it says of a sample depends on the samples around it alone, and on no tile.
func (s *stops) find(ctx context.Context, kind Kind) (out []Found, err error) {
	lanes := make([][]stop, s.channels)
	for lo := 0; lo < s.n; lo += tileSamples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(s.n, lo+tileSamples)
		if err := s.tile(lanes, lo, hi); err != nil {
			return nil, err
		}
		if s.Progress != nil {
			s.Progress(float64(hi) / float64(s.n))
		}
	}
	for c, l := range lanes {
		for _, f := range foremost(l) {
			out = append(out, Found{Gap: audio.Gap{Start: f.lo, End: f.hi, Channel: c + 1}, Kind: kind})
		}
	}
	return out, nil
}

// tile adds to the channels' stops those that end in [lo, hi).
func (s *stops) tile(lanes [][]stop, lo, hi int) error {
	margin := s.most + s.reach + 1
	from := max(0, lo-margin)
	x, err := s.Read(from, min(s.n, hi+margin))
	if err != nil {
		return err
	}
	for c, own := range x {
		for width := 0; width <= s.widths; width++ {
			for _, run := range flat(own[:min(hi-from+1, len(own))], 2*float64(width)*s.step, s.least, s.most) {
				if run[1]+from <= lo || run[1]+from > hi {
					continue
				}
				threshold := DefaultSensitivity + 1 - s.Sensitivity
				if s.goesOn(x, c, run) {
					threshold -= alone
				}
				if at, ok := s.judge(own, run[0], run[1], width, threshold); ok {
					lanes[c] = append(lanes[c], stop{at + from, run[1] + from, width})
				}
			}
		}
	}
	return nil
}

// goesOn reports whether another channel than c has sound during a run.
func (s *stops) goesOn(x [][]float64, c int, run [2]int) bool {
	for o, x := range x {
		if x = x[run[0]:run[1]]; o != c && slices.Max(x)-slices.Min(x) > 8*widest*s.step {
			return true
		}
	}
	return false
}

// foremost returns, of stops that overlap, the one of least width, and of these the longest; all in rising order.
func foremost(all []stop) (out []stop) {
	slices.SortFunc(all, func(a, b stop) int {
		return cmp.Or(cmp.Compare(a.width, b.width), cmp.Compare(b.hi-b.lo, a.hi-a.lo), cmp.Compare(a.lo, b.lo))
	})
	for _, f := range all {
		at, _ := slices.BinarySearchFunc(out, f, func(a, b stop) int { return cmp.Compare(a.lo, b.lo) })
		if (at == len(out) || out[at].lo >= f.hi) && (at == 0 || out[at-1].hi <= f.lo) {
			out = slices.Insert(out, at, f)
		}
	}
	return out
}

// flat returns the runs [lo, hi) of x of least to most samples whose values differ by up to width and that cannot be extended on
// either side. A run that reaches either end of x is none: it may go on.
func flat(x []float64, width float64, least, most int) (runs [][2]int) {
	var high, low []int // where the largest and the smallest of the run's rest are, for each place in it: the first is the run's own
	lo := 0
	for n, v := range x {
		if n-lo >= least && n-lo <= most && lo > 0 && !(max(v, x[high[0]])-min(v, x[low[0]]) <= width) {
			runs = append(runs, [2]int{lo, n})
		}
		for len(high) > 0 && x[high[len(high)-1]] <= v {
			high = high[:len(high)-1]
		}
		for len(low) > 0 && x[low[len(low)-1]] >= v {
			low = low[:len(low)-1]
		}
		high, low = append(high, n), append(low, n)
		for !(x[high[0]]-x[low[0]] <= width) && lo < n || n-lo > most {
			lo++
			if high[0] < lo {
				high = high[1:]
			}
			if low[0] < lo {
				low = low[1:]
			}
		}
	}
	return runs
}

// judge reports whether the run x[lo:hi] is damage, and where it begins: a held sample is itself none.
//
// The sound has to be such that it would not stay there of itself: with innovations of standard deviation σ a sample is within h
// of any value with probability erf(h/σ√2) at most, so L samples have −L·log erf(h/σ√2) nats against them. As every sample may
// begin a run, and one in a minute is expected to, log(60·rate) of them are used up. And on both sides it has to stop short, by so
// many nats as the threshold.
func (s *stops) judge(x []float64, lo, hi, width int, threshold float64) (start int, ok bool) {
	least, most := slices.Min(x[lo:hi]), slices.Max(x[lo:hi])
	middle, silent := (least+most)/2, least <= 0 && most >= 0
	if silent {
		middle = 0
	}
	if s.zeros && (least != 0 || most != 0) {
		return 0, false
	}
	if !silent {
		lo++
	}
	left, right := s.side(x[max(0, lo-s.reach):lo], middle, false), s.side(x[hi:min(len(x), hi+s.reach)], middle, true)
	half := (float64(width) + 0.5) * s.step
	quiet := 4 * max(half, s.step) // there nobody could tell
	if !loud(left, quiet, s.least) || !loud(right, quiet, s.least) || !silent && extreme(left, right, middle, half) {
		return 0, false
	}
	step := max(s.step, finest(left, right, middle))
	half = (float64(width) + 0.5) * step
	l, r := newEdge(left, s.fade, step, half, !silent), newEdge(right, s.fade, step, half, !silent)
	if l == nil || r == nil {
		return 0, false
	}
	stays := -float64(hi-lo) * math.Log(math.Erf(half/(min(l.sd, r.sd)*math.Sqrt2)))
	if !(stays > threshold+math.Log(60*float64(s.rate))) {
		return 0, false
	}
	return lo, l.abrupt() > threshold && r.abrupt() > threshold
}

// side returns the samples less the middle, in reverse where they follow a run, so that time goes towards it.
func (s *stops) side(x []float64, middle float64, reverse bool) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v - middle
	}
	if reverse {
		slices.Reverse(y)
	}
	return y
}

// finest returns the least difference of the values on both sides that are on middle's side of zero and at least half as far from it:
// the quantizer's step there, where steps are not all alike.
func finest(left, right []float64, middle float64) float64 {
	var values []float64
	for _, y := range [][]float64{left, right} {
		for _, v := range y {
			if v*middle >= -middle*middle/2 {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	least := math.Inf(1)
	for i := 1; i < len(values); i++ {
		if d := values[i] - values[i-1]; d > 0 {
			least = min(least, d)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// loud reports whether any of the last n samples is beyond a limit.
func loud(y []float64, limit float64, n int) bool {
	for _, v := range y[max(0, len(y)-2*n):] {
		if math.Abs(v) > limit {
			return true
		}
	}
	return false
}

// extreme reports whether no sample on either side is further from zero than the middle: it is a limit that the sound was clipped at.
func extreme(left, right []float64, middle, half float64) bool {
	for _, y := range [][]float64{left, right} {
		for _, v := range y {
			if v*math.Copysign(1, middle) > 2*half {
				return false
			}
		}
	}
	return true
}
