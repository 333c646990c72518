package impute

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/score"
	"github.com/vssgp/vssgp/internal/warp"
)

// gapFiller fills the gaps of a recording one by one, channel by channel.
type gapFiller struct {
	*filler
	method  Method
	rate    float64
	fillers sync.Pool     // of *warp.Filler
	guesses [][][]float64 // [gap][channel]: of gaps that others look at
	kept    *kept
}

// fillGaps fills all gaps. Each gap looks at the samples around it; where those have gaps, it looks at a guess of them, which are
// made first. So no fill depends on another, and the result not on the order of work.
func (f *filler) fillGaps(m Method) error {
	g := &gapFiller{filler: f, method: m, rate: float64(f.res.rate), guesses: make([][][]float64, len(f.res.gaps))}
	g.fillers.New = func() any { return warp.NewFiller(m.menu(), g.rate) }
	f.units = len(f.res.gaps)
	workers := f.o.workers(f.units)
	g.kept = newKept(&f.o, m)
	if err := g.kept.open(f.o.Model.Resume); err != nil {
		return err
	}
	defer g.kept.close()
	if err := parallel.Try(len(f.res.Excerpts), f.o.workers(len(f.res.Excerpts)), func(i int) error {
		e := &f.res.Excerpts[i]
		if err := e.open(f.src); err != nil {
			return err
		}
		e.Fit, e.SD = unknown(e.Filled), make([][]float64, len(e.Filled))
		for c, s := range e.Filled {
			copy(e.Fit[c], s)
			e.SD[c] = make([]float64, len(s))
		}
		for range f.o.Draws {
			e.Draws = append(e.Draws, whole(e.Filled).clone())
		}
		return nil
	}); err != nil {
		return err
	}
	guesses := slices.Clone(g.guesses)
	if err := parallel.Try(len(f.res.gaps), workers, func(i int) (err error) {
		guesses[i], err = g.guess(i)
		return err
	}); err != nil {
		return g.stopped(err)
	}
	g.guesses = guesses // only now: no guess looks at another
	doubts := make([][]Doubt, len(f.res.gaps))
	err := parallel.Try(len(f.res.gaps), workers, func(i int) (err error) {
		doubts[i], err = g.fill(i)
		return err
	})
	f.res.Doubts = slices.Concat(doubts...)
	return g.stopped(err)
}

// stopped saves what is finished, and says that the fill was interrupted if it was.
func (g *gapFiller) stopped(err error) error {
	if kept := g.kept.save(); err == nil && kept != nil {
		return kept
	}
	if err != nil && g.ctx.Err() != nil {
		return fmt.Errorf("impute: interrupted: %w", g.ctx.Err())
	}
	return err
}

// around returns the samples of all channels about gap i, a reach to either side, and the gaps among them, counted from the first
// sample; at is which of them is the gap.
func (g *gapFiller) around(i, reach int) (z [][]float64, gaps [][2]int, at int, err error) {
	gap := g.res.gaps[i]
	lo, hi := max(0, gap.Start-reach), min(g.res.samples, gap.End+reach)
	if z, err = g.src.Read(lo, hi); err != nil {
		return nil, nil, 0, fmt.Errorf("impute: samples %d:%d: %w", lo, hi, err)
	}
	for c := range z {
		if n := slices.IndexFunc(z[c], func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); n >= 0 {
			return nil, nil, 0, fmt.Errorf("impute: sample %d of channel %d is %v, want a number: %w", lo+n, c+1, z[c][n], vssgp.ErrData)
		}
	}
	all := g.res.gaps
	for k := sort.Search(len(all), func(k int) bool { return all[k].End > lo }); k < len(all) && all[k].Start < hi; k++ {
		if k == i {
			at = len(gaps)
		}
		start, end := max(lo, all[k].Start), min(hi, all[k].End)
		for c, guess := range g.guesses[k] {
			if k != i {
				copy(z[c][start-lo:end-lo], guess[start-all[k].Start:])
			}
		}
		gaps = append(gaps, [2]int{start - lo, end - lo})
	}
	return z, gaps, at, nil
}

// guess returns first fills of gap i in every channel if another gap is so near that its fill looks at it, and else nil.
func (g *gapFiller) guess(i int) (guesses [][]float64, err error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	all := g.res.gaps
	reach := func(k int) int { return reachOf(all[k], g.res.rate) }
	near := i > 0 && all[i].Start-all[i-1].End < reach(i-1) || i+1 < len(all) && all[i+1].Start-all[i].End < reach(i+1)
	if !near || all[i].Len() > longest(g.res.rate) {
		return nil, nil
	}
	z, gaps, at, err := g.around(i, audio.SamplesIn(guessReach, g.res.rate))
	if err != nil {
		return nil, err
	}
	f := g.fillers.Get().(*warp.Filler)
	defer g.fillers.Put(f)
	guesses = make([][]float64, len(z))
	for c := range z {
		guesses[c] = f.Guess(g.ctx, z[c], gaps, at)
	}
	return guesses, nil
}

const (
	guessReach = 0.05 // seconds around a gap that a guess looks at
	longestGap = 0.2  // seconds: longer ones are filled from either side alone, at a cost that grows with the length only
	edgeOfGap  = 1.0  // seconds of a longer gap, from either side, in which anything is known
)

func longest(rate int) int { return audio.SamplesIn(longestGap, rate) }

// known returns how many samples of a gap are filled from a side.
func known(gap Gap, rate int) int { return min(gap.Len(), audio.SamplesIn(edgeOfGap, rate)) }

// reachOf returns how many samples on either side of a gap its fill looks at.
func reachOf(gap Gap, rate int) int { return warp.Reach(known(gap, rate), float64(rate)) }

// fill fills gap i in every channel.
func (g *gapFiller) fill(i int) (doubts []Doubt, err error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	gap := g.res.gaps[i]
	z, gaps, at, err := g.around(i, reachOf(gap, g.res.rate))
	if err != nil {
		return nil, err
	}
	e := &g.res.Excerpts[sort.Search(len(g.res.Excerpts), func(k int) bool { return g.res.Excerpts[k].End > gap.Start })]
	for c := range z {
		s, err := g.single(z[c], gaps, at, gap, c)
		if err != nil {
			return nil, err
		}
		from := gap.Start - e.Start
		copy(e.Filled[c][from:], s.mean)
		copy(e.Fit[c][from:], s.mean)
		copy(e.SD[c][from:], s.sd)
		for k, d := range s.draws {
			copy(e.Draws[k][c][from:], d)
		}
		doubts = append(doubts, s.doubts(gap, c, longest(g.res.rate))...)
	}
	g.tell(func() { g.done++ })
	return doubts, g.kept.saveNow(false)
}

// single fills a gap of one channel, or takes the fill that an earlier run has kept.
func (g *gapFiller) single(z []float64, gaps [][2]int, at int, gap Gap, channel int) (*single, error) {
	key := g.kept.key(z, gaps, gap, channel, g.res.rate)
	if s := g.kept.find(key, gap.Len(), g.o.Draws); s != nil {
		return s, nil
	}
	f := g.fillers.Get().(*warp.Filler)
	defer g.fillers.Put(f)
	seed := g.o.Model.Seed + uint64(gap.Start)*0x9e3779b97f4a7c15 + uint64(channel)
	s := &single{level: level(z, gaps, at, audio.SamplesIn(levelReach, g.res.rate))}
	if gap.Len() > longest(g.res.rate) {
		if err := g.fromSides(f, s, z, gaps, at, known(gap, g.res.rate), seed); err != nil {
			return nil, err
		}
	} else {
		q, err := f.Fill(g.ctx, z, gaps, at, g.o.Draws, seed)
		if err != nil {
			return nil, err
		}
		s.mean, s.sd, s.draws, s.trials = q.Mean, roots(q.Variance), q.Draws, q.Trials
	}
	g.kept.keep(key, s)
	return s, nil
}

// fromSides fills a long gap: what the samples on either side say of it alone, joined by their precisions. Where neither says
// anything, the fill is 0 and as uncertain as the sound around is loud.
func (g *gapFiller) fromSides(f *warp.Filler, s *single, z []float64, gaps [][2]int, at, edge int, seed uint64) error {
	start, end := gaps[at][0], gaps[at][1]
	n := end - start
	prior := s.level * s.level
	s.mean, s.sd = make([]float64, n), slices.Repeat([]float64{s.level}, n)
	s.draws = make([][]float64, g.o.Draws)
	for k := range s.draws {
		s.draws[k] = make([]float64, n)
	}
	if prior == 0 {
		return nil
	}
	precision, weighted := slices.Repeat([]float64{1 / prior}, n), make([]float64, n)
	for _, forward := range []bool{true, false} {
		part, inPart := z[:start+edge], append(slices.Clone(gaps[:at]), [2]int{start, start + edge})
		from := 0
		if !forward {
			part, from = z[end-edge:], n-edge
			inPart = [][2]int{{0, edge}}
			for _, h := range gaps[at+1:] {
				inPart = append(inPart, [2]int{h[0] - (end - edge), h[1] - (end - edge)})
			}
		}
		if len(part) == edge {
			continue // the recording ends there
		}
		which := 0
		if forward {
			which = at
			seed++
		}
		q, err := f.Fill(g.ctx, part, inPart, which, g.o.Draws, seed)
		if err != nil {
			return err
		}
		s.trials += q.Trials
		for i, v := range q.Variance {
			v = min(max(v, 1e-12*prior), prior)
			precision[from+i] += 1/v - 1/prior
			weighted[from+i] += q.Mean[i] / v
		}
		for k, d := range q.Draws {
			for i, v := range d {
				w := math.Sqrt(crossfade(from+i, n, forward))
				s.draws[k][from+i] += w * (v - q.Mean[i])
			}
		}
	}
	for i, p := range precision {
		s.mean[i], s.sd[i] = weighted[i]/p, 1/math.Sqrt(p)
		for _, d := range s.draws {
			d[i] += s.mean[i]
		}
	}
	return nil
}

// crossfade is how much of sample i of n a side has in draws of a long gap; the two sides' add up to 1.
func crossfade(i, n int, forward bool) float64 {
	c := math.Cos(math.Pi / 2 * (float64(i) + 0.5) / float64(n))
	if forward {
		return c * c
	}
	return 1 - c*c
}

// levelReach is how many seconds on either side of a gap say how loud the sound is.
const levelReach = 0.06

// level returns the rms of what is known about a gap.
func level(z []float64, gaps [][2]int, at, reach int) float64 {
	var known []float64
	from := max(0, gaps[at][0]-reach)
	to := min(len(z), gaps[at][1]+reach)
	for _, g := range gaps {
		if g[1] > from && g[0] < to {
			known = append(known, z[from:max(from, g[0])]...)
			from = g[1]
		}
	}
	known = append(known, z[min(from, to):to]...)
	if len(known) == 0 {
		return 0
	}
	return score.RMS(known)
}

func roots(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Sqrt(x)
	}
	return out
}
