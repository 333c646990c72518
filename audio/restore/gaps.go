package restore

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// gapFiller fills the gaps of a recording one by one, channel by channel.
type gapFiller struct {
	*filler
	method  Method
	rate    float64
	fillers sync.Pool // of *timewarp.Filler
	lanes   [][]int   // of each channel: the numbers of its gaps, which do not overlap
	ends    []int     // where the gaps up to each have all ended
	reach   int       // the most samples on either side of any gap that its fill looks at

	first   int           // the gap that guesses begin with
	guesses [][][]float64 // [gap][channel]: of gaps that others look at
}

// newGapFiller indexes the gaps.
func newGapFiller(f *filler, m Method) *gapFiller {
	g := &gapFiller{filler: f, method: m, rate: float64(f.res.rate), lanes: make([][]int, f.res.channels)}
	g.fillers.New = func() any { return timewarp.NewFiller(m.menu(), g.rate) }
	end := 0
	for i, gap := range f.res.Gaps {
		for c := range g.lanes {
			if gap.In(c) {
				g.lanes[c] = append(g.lanes[c], i)
			}
		}
		end = max(end, gap.End)
		g.ends = append(g.ends, end)
		g.reach = max(g.reach, reachOf(gap, f.res.rate))
	}
	return g
}

// guessFor makes guesses of the gaps that the fills of gaps lo … hi−1 look at. Those of the batch before serve again.
func (g *gapFiller) guessFor(lo, hi int) error {
	all := g.res.Gaps
	from := sort.SearchInts(g.ends, all[lo].Start-g.reach)
	to := sort.Search(len(all), func(i int) bool { return all[i].Start > g.ends[hi-1]+g.reach })
	guesses := make([][][]float64, to-from)
	if k := from - g.first; k >= 0 && k < len(g.guesses) {
		copy(guesses, g.guesses[k:])
	}
	g.guesses = nil // no guess looks at another
	if err := parallel.Try(len(guesses), g.o.workers(len(guesses)), func(i int) (err error) {
		if guesses[i] == nil {
			guesses[i], err = g.guess(from + i)
		}
		return err
	}); err != nil {
		return err
	}
	g.first, g.guesses = from, guesses
	return nil
}

// A view is what the fill of a gap looks at: the samples of all channels about it, and the gaps among them, counted from the first sample.
type view struct {
	z    [][]float64
	gaps [][][2]int // [channel]
	at   []int      // which of a channel's gaps is the one; −1 where the channel has others only
}

// view returns the samples of all channels about gap i, a reach to either side.
func (g *gapFiller) view(i, reach int) (v view, err error) {
	gap := g.res.Gaps[i]
	lo, hi := max(0, gap.Start-reach), min(g.res.samples, gap.End+reach)
	if v.z, err = g.src.Read(lo, hi); err != nil {
		return v, fmt.Errorf("restore: samples %d:%d: %w", lo, hi, err)
	}
	v.gaps, v.at = make([][][2]int, len(v.z)), make([]int, len(v.z))
	for c, z := range v.z {
		if n := slices.IndexFunc(z, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); n >= 0 {
			return v, fmt.Errorf("restore: sample %d of channel %d is %v, want a number: %w", lo+n, c+1, z[n], vssgp.ErrData)
		}
		v.at[c] = -1
		for _, k := range g.within(c, lo, hi) {
			other := g.res.Gaps[k]
			if k == i {
				v.at[c] = len(v.gaps[c])
			} else if other.Clipped {
				continue // its limits are a guess
			}
			start, end := max(lo, other.Start), min(hi, other.End)
			if guess := g.guessed(k, c); k != i && guess != nil {
				copy(z[start-lo:end-lo], guess[start-other.Start:])
			}
			v.gaps[c] = append(v.gaps[c], [2]int{start - lo, end - lo})
		}
	}
	return v, nil
}

// within returns the numbers of a channel's gaps that reach into [lo, hi).
func (g *gapFiller) within(channel, lo, hi int) []int {
	lane := g.lanes[channel]
	from := sort.Search(len(lane), func(k int) bool { return g.res.Gaps[lane[k]].End > lo })
	to := sort.Search(len(lane), func(k int) bool { return g.res.Gaps[lane[k]].Start >= hi })
	return lane[from:max(from, to)]
}

// guessed returns the guess of gap k in a channel, or nil.
func (g *gapFiller) guessed(k, channel int) []float64 {
	if k -= g.first; k < 0 || k >= len(g.guesses) || g.guesses[k] == nil {
		return nil
	}
	return g.guesses[k][channel]
}

// guess returns first fills of gap i in its channels if another gap is so near that its fill may look at it, and else nil.
func (g *gapFiller) guess(i int) (guesses [][]float64, err error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	all := g.res.Gaps
	near := i > 0 && all[i].Start-g.ends[i-1] < g.reach || i+1 < len(all) && all[i+1].Start-all[i].End < g.reach
	if !near || all[i].Clipped || all[i].Len() > longest(g.res.rate) {
		return nil, nil
	}
	v, err := g.view(i, g.context())
	if err != nil {
		return nil, err
	}
	f := g.fillers.Get().(*timewarp.Filler)
	defer g.fillers.Put(f)
	guesses = make([][]float64, len(v.z))
	for c := range v.z {
		if v.at[c] >= 0 {
			guesses[c] = f.InitialFill(g.ctx, v.z[c], v.gaps[c], v.at[c])
		}
	}
	return guesses, nil
}

func longest(rate int) int { return audio.SamplesIn(LongGap.Seconds(), rate) }

// fromSide returns how many samples of a gap are filled from a side.
func fromSide(gap Gap, rate int) int { return min(gap.Len(), audio.SamplesIn(edgeOfGap, rate)) }

// reachOf returns how many samples on either side of a gap its fill looks at.
func reachOf(gap Gap, rate int) int { return timewarp.Reach(fromSide(gap, rate), float64(rate)) }

// fillGaps fills all gaps. Each gap looks at the samples around it; where those have gaps, it looks at a guess of them, which are
// made first. So no fill depends on another, and the result not on the order of work.
func (f *filler) fillGaps(m Method) error {
	g := newGapFiller(f, m)
	f.units = len(f.res.Gaps)
	for lo := 0; lo < f.units; lo += batch {
		hi := min(lo+batch, f.units)
		if err := g.guessFor(lo, hi); err != nil {
			return err
		}
		if err := parallel.Try(hi-lo, f.o.workers(hi-lo), func(i int) error { return g.fill(lo + i) }); err != nil {
			return err
		}
	}
	return g.fillClipped()
}

// fill fills gap i in its channels. Clipped gaps are filled together, by fillClipped.
func (g *gapFiller) fill(i int) error {
	gap := g.res.Gaps[i]
	if err := g.ctx.Err(); err != nil || gap.Clipped {
		return err
	}
	v, err := g.view(i, reachOf(gap, g.res.rate))
	if err != nil {
		return err
	}
	var fills []GapFill
	for c := range v.z {
		if v.at[c] < 0 {
			continue
		}
		s := GapFill{Gap: gap, Channel: c}
		trials, err := g.channel(v, &s)
		if err != nil {
			return err
		}
		s.Warning = warningOf(&s, trials, longest(g.res.rate))
		fills = append(fills, s)
	}
	g.filled(i, fills)
	g.tell(func() { g.done++ })
	return nil
}

// warningOf returns why a fill should not be trusted, if it should not.
func warningOf(f *GapFill, trials, longest int) string {
	if f.Level == 0 { // silence in silence
		return ""
	}
	switch expected := bayes.RMS(f.SD) / f.Level; {
	case f.Gap.Len() > longest && !f.Joint:
		return "the gap is too long: only its ends are known"
	case expected > doubtful:
		return fmt.Sprintf("the error is expected to be %.0f %% of the level around", 100*expected)
	case trials == 0:
		return "there is too little audio around the gap to select a model"
	}
	return ""
}

// alone fills a gap of a channel from that channel, and returns the number of trials that chose its model.
func (g *gapFiller) alone(f *timewarp.Filler, s *GapFill, z []float64, gaps [][2]int, which int) (trials int, err error) {
	start, end, seed := gaps[which][0], gaps[which][1], g.seed(s.Gap.Start, s.Channel)
	s.Level = g.level(z, gaps, start, end)
	if n := end - start; n > longest(g.res.rate) {
		return g.fromSides(f, s, z, gaps, which, fromSide(Gap{End: n}, g.res.rate), seed)
	}
	q, err := f.Fill(g.ctx, z, gaps, which, g.o.Draws, seed)
	if err != nil {
		return 0, err
	}
	s.Mean, s.SD, s.Draws = q.Mean, roots(q.Variance), q.Draws
	return q.Trials, nil
}

// fromSides fills a long gap: what the samples on either side say of it alone, joined by their precisions. Where neither says
// anything, the fill is 0 and as uncertain as the sound around is loud.
func (g *gapFiller) fromSides(
	f *timewarp.Filler, s *GapFill, z []float64, gaps [][2]int, at, edge int, seed uint64,
) (trials int, err error) {
	start, end := gaps[at][0], gaps[at][1]
	n := end - start
	prior := s.Level * s.Level
	s.Mean, s.SD = make([]float64, n), slices.Repeat([]float64{s.Level}, n)
	s.Draws = make([][]float64, g.o.Draws)
	for k := range s.Draws {
		s.Draws[k] = make([]float64, n)
	}
	if prior == 0 {
		return 0, nil
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
		which, own := 0, seed // the draws of the sides are independent
		if forward {
			which, own = at, seed+1
		}
		q, err := f.Fill(g.ctx, part, inPart, which, g.o.Draws, own)
		if err != nil {
			return 0, err
		}
		trials += q.Trials
		for i, v := range q.Variance {
			v = min(max(v, 1e-12*prior), prior)
			precision[from+i] += 1/v - 1/prior
			weighted[from+i] += q.Mean[i] / v
		}
		for k, d := range q.Draws {
			for i, v := range d {
				w := math.Sqrt(crossfade(from+i, n, forward))
				s.Draws[k][from+i] += w * (v - q.Mean[i])
			}
		}
	}
	for i, p := range precision {
		s.Mean[i], s.SD[i] = weighted[i]/p, 1/math.Sqrt(p)
		for _, d := range s.Draws {
			d[i] += s.Mean[i]
		}
	}
	return trials, nil
}

// crossfade is how much of sample i of n a side has in draws of a long gap; the two sides' add up to 1.
func crossfade(i, n int, forward bool) float64 {
	c := math.Cos(math.Pi / 2 * (float64(i) + 0.5) / float64(n))
	if forward {
		return c * c
	}
	return 1 - c*c
}

// seed returns the seed of the draws from a sample of a channel on.
func (f *filler) seed(start, channel int) uint64 {
	return f.o.Model.Seed + uint64(start)*0x9e3779b97f4a7c15 + uint64(channel)
}

func roots(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Sqrt(x)
	}
	return out
}
