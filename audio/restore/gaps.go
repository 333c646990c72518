package restore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/timewarp"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A gapFiller fills each gap of each channel separately.
type gapFiller struct {
	*filler
	rate    float64
	fillers sync.Pool    // of *timewarp.Filler
	lanes   [][]int      // [channel] indices of its gaps, which do not overlap
	lonely  [][]bool     // [channel][gap] whether it is an isolated click above briefClick
	clicks  [][]*GapFill // [channel][gap] fills of the clicks that fillClicks restored
}

func newGapFiller(f *filler) *gapFiller {
	g := &gapFiller{filler: f, rate: float64(f.res.rate), lanes: make([][]int, f.res.channels)}
	f.res.guesses = f.o.guesses
	g.fillers.New = func() any { return timewarp.NewFiller(candidates[f.res.Method](), g.rate) }
	for range g.lanes {
		g.clicks = append(g.clicks, make([]*GapFill, len(f.res.Gaps)))
	}
	for i, gap := range f.res.Gaps {
		for c := range g.lanes {
			if gap.In(c) {
				g.lanes[c] = append(g.lanes[c], i)
			}
		}
		if f.o.guesses == nil {
			f.res.guesses = append(f.res.guesses, sync.OnceValues(func() ([][]float64, error) { return g.guess(i) }))
		}
	}
	return g
}

// A view contains the samples of all channels around a gap, and the gaps among them relative to the first sample.
type view struct {
	z    [][]float64
	gaps [][][2]int // [channel]
	at   []int      // [channel] index of the gap to fill; −1 if the channel is not affected
}

// view returns the samples of all channels around gap i, up to reach samples on each side. If guess is true, other gaps contain initial
// fills.
func (g *gapFiller) view(i, reach int, guess bool) (v view, err error) {
	gap := g.res.Gaps[i]
	lo, hi := max(0, gap.Start-reach), min(g.res.samples, gap.End+reach)
	if v.z, err = g.src.Read(lo, hi); err != nil {
		return v, fmt.Errorf("samples %d:%d: %w", lo, hi, err)
	}
	v.gaps, v.at = make([][][2]int, len(v.z)), make([]int, len(v.z))
	for c, z := range v.z {
		v.at[c] = -1
		for _, k := range g.within(c, lo, hi) {
			other := g.res.Gaps[k]
			start, end := max(lo, other.Start), min(hi, other.End)
			if other.Click {
				clear(z[start-lo : end-lo])
			}
			click := g.clicks[c][k]
			switch {
			case k == i:
				v.at[c] = len(v.gaps[c])
			case other.Clipped:
				continue // the limits serve as initial fill
			case click != nil:
				copy(z[start-lo:end-lo], click.Mean[start-other.Start:])
				continue
			case guess && other.Len() <= longest(g.res.rate):
				first, err := g.res.guesses[k]()
				if err != nil {
					return v, err
				}
				copy(z[start-lo:end-lo], first[c][start-other.Start:])
			}
			v.gaps[c] = append(v.gaps[c], [2]int{start - lo, end - lo})
		}
	}
	return v, finite(v.z, lo)
}

// finite returns an error if a sample is not finite. The first sample is sample lo of the recording.
func finite(all [][]float64, lo int) error {
	for c, z := range all {
		if n := slices.IndexFunc(z, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); n >= 0 {
			return fault.Errorf(vssgp.ErrData, "sample %d of channel %d is %v, must be finite", lo+n, c+1, z[n])
		}
	}
	return nil
}

// within returns the indices of a channel's gaps that overlap [lo, hi).
func (g *gapFiller) within(channel, lo, hi int) []int {
	return overlapping(g.lanes[channel], lo, hi, func(i int) Gap { return g.res.Gaps[i] })
}

// guess returns initial fills of gap i in its channels. They do not depend on other initial fills.
func (g *gapFiller) guess(i int) (guesses [][]float64, err error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	v, err := g.view(i, g.context(), false)
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

// fromSide returns the number of samples of a gap that are predicted from each side.
func fromSide(gap Gap, rate int) int { return min(gap.Len(), audio.SamplesIn(edgeOfGap, rate)) }

// reachOf returns the number of samples on each side of a gap that its fill uses.
func reachOf(gap Gap, rate int) int { return timewarp.Reach(fromSide(gap, rate), float64(rate)) }

// fillGaps fills all gaps in parallel: first the clicks, then the other gaps. A fill uses the samples around its gap, the restored clicks
// there, and initial fills of the other gaps. It depends on no other fill, so the order of execution does not change the result.
func (f *filler) fillGaps() error {
	g := newGapFiller(f)
	f.units = len(f.res.Gaps)
	if err := g.fillClicks(); err != nil {
		return err
	}
	if err := parallel.Try(f.units, workers(f.units), g.fill); err != nil {
		return err
	}
	return g.fillClipped()
}

// fill fills gap i in its channels. It skips clipped gaps, which fillClipped restores, and channels in which fillClicks restored it.
func (g *gapFiller) fill(i int) error {
	gap := g.res.Gaps[i]
	if err := g.ctx.Err(); err != nil || gap.Clipped {
		return err
	}
	var fills []GapFill
	left := 0 // number of channels to fill
	for c := range g.lanes {
		if click := g.clicks[c][i]; click != nil {
			fills = append(fills, *click)
		} else if gap.In(c) {
			left++
		}
	}
	if left == 0 {
		g.finish(i, fills)
		return nil
	}
	v, err := g.view(i, reachOf(gap, g.res.rate), true)
	if err != nil {
		return err
	}
	for c := range v.z {
		if v.at[c] < 0 || g.clicks[c][i] != nil {
			continue
		}
		s := GapFill{Gap: gap, Channel: c}
		trials, err := g.channel(v, &s)
		if err != nil {
			return err
		}
		own := v.gaps[c][v.at[c]]
		g.natural(&s, v.z[c], own[0], own[1])
		s.Warning = warningOf(&s, trials, longest(g.res.rate))
		fills = append(fills, s)
	}
	slices.SortFunc(fills, func(a, b GapFill) int { return cmp.Compare(a.Channel, b.Channel) })
	g.finish(i, fills)
	return nil
}

// finish stores the fills of gap i in all its channels and reports the progress.
func (g *gapFiller) finish(i int, fills []GapFill) {
	g.filled(i, fills)
	g.report(func() { g.done++ })
}

// warningOf returns the reason why a fill is unreliable, or "".
func warningOf(f *GapFill, trials, longest int) string {
	if f.Level == 0 { // silence
		return ""
	}
	switch expected := bayes.RMS(f.SD) / f.Level; {
	case f.Gap.Len() > longest && !f.Joint:
		return "the gap is too long: only its ends can be predicted"
	case expected > unreliable:
		return fmt.Sprintf("the expected error is %.0f %% of the surrounding level", 100*expected)
	case trials == 0:
		return "there is too little audio around the gap to select a model"
	}
	return ""
}

// alone fills a gap from its own channel, and returns the number of trial gaps used to weight the models.
func (g *gapFiller) alone(f *timewarp.Filler, s *GapFill, z []float64, gaps [][2]int, which int) (trials int, err error) {
	start, end, seed := gaps[which][0], gaps[which][1], g.seed(s.Gap.Start, s.Channel)
	s.Level = g.level(z, gaps, start, end)
	if n := end - start; n > longest(g.res.rate) {
		return g.fromSides(f, s, z, gaps, which, fromSide(Gap{End: n}, g.res.rate), seed)
	}
	q, err := f.Fill(g.ctx, z, gaps, which, g.draws(), seed)
	if err != nil {
		return 0, err
	}
	s.Mean, s.SD, s.Draws = q.Mean, q.Variance, q.Draws
	for i, v := range s.SD {
		s.SD[i] = math.Sqrt(v)
	}
	return q.Trials, nil
}

// fromSides fills a long gap. It predicts edge samples from each side separately and combines the predictions by their precisions. In the
// middle, the fill is 0 with a standard deviation equal to the surrounding level.
func (g *gapFiller) fromSides(
	f *timewarp.Filler, s *GapFill, z []float64, gaps [][2]int, at, edge int, seed uint64,
) (trials int, err error) {
	start, end := gaps[at][0], gaps[at][1]
	n := end - start
	prior := s.Level * s.Level
	s.Mean, s.SD = make([]float64, n), slices.Repeat([]float64{s.Level}, n)
	s.Draws = make([][]float64, g.draws())
	for k := range s.Draws {
		s.Draws[k] = make([]float64, n)
	}
	if prior == 0 {
		return 0, nil
	}
	precision, weighted := slices.Repeat([]float64{1 / prior}, n), make([]float64, n)
	for _, forward := range []bool{true, false} { // with independent draws
		lo, hi, which, from, own := 0, start+edge, at, 0, seed+1
		if !forward {
			lo, hi, which, from, own = end-edge, len(z), 0, n-edge, seed
		}
		if hi-lo == edge {
			continue // the gap is at the end of the recording
		}
		q, err := f.Fill(g.ctx, z[lo:hi], autoregression.GapsIn(gaps, lo, hi), which, g.draws(), own)
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

// crossfade returns the weight of one side at sample i of n in draws of a long gap. The weights of both sides add up to 1.
func crossfade(i, n int, forward bool) float64 {
	c := math.Cos(math.Pi / 2 * (float64(i) + 0.5) / float64(n))
	if forward {
		return c * c
	}
	return 1 - c*c
}

// seed returns the seed for draws of a gap that begins at a sample of a channel.
func (f *filler) seed(start, channel int) uint64 {
	return f.o.Model.Seed + uint64(start)*0x9e3779b97f4a7c15 + uint64(channel)
}
