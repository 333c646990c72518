package restore

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
	"github.com/vssgp/vssgp/audio/internal/declick"
	"github.com/vssgp/vssgp/audio/internal/timewarp"
)

// channel fills a gap of one channel, using other channels if that reduces the expected error. It returns the number of trials.
func (g *gapFiller) channel(v view, s *GapFill) (trials int, err error) {
	f := g.fillers.Get().(*timewarp.Filler)
	defer g.fillers.Put(f)
	c := s.Channel
	p, err := g.prediction(f, v, c, g.others(s.Gap, c, len(v.z)))
	switch {
	case err != nil:
		return 0, err
	case p == nil:
		return g.alone(f, s, v.z[c], v.gaps[c], v.at[c])
	}
	if trials, err = g.joint(f, s, v.z[c], p); err == nil {
		own := v.gaps[c][v.at[c]]
		s.Level = g.level(v.z[c], v.gaps[c], own[0], own[1])
	}
	return trials, err
}

// others returns the channels that have no gap, clipped or not, at and around a gap of the given channel.
func (g *gapFiller) others(gap Gap, channel, channels int) (from []int) {
	if g.res.Method == AR {
		return nil
	}
	reach := crosschannel.Reach(g.rate)
	for c := range channels {
		if c != channel && len(g.within(c, gap.Start-reach, gap.End+reach)) == 0 {
			from = append(from, c)
		}
	}
	return from
}

// prediction returns the prediction of a channel from others around a gap, or nil if it does not reduce the expected error.
func (g *gapFiller) prediction(f *timewarp.Filler, v view, channel int, from []int) (*crosschannel.Prediction, error) {
	p := crosschannel.Predict(v.z, v.gaps, channel, v.at[channel], from, g.rate)
	if p == nil {
		return nil, nil
	}
	gain, trials, err := f.Compare(g.ctx, v.z[channel], p.Left, p.Gaps, p.Which)
	if err != nil || trials > 0 && gain < jointGain {
		return nil, err
	}
	return p, nil
}

// joint fills the residual of the prediction from other channels and adds the prediction.
func (g *gapFiller) joint(f *timewarp.Filler, s *GapFill, z []float64, p *crosschannel.Prediction) (trials int, err error) {
	if trials, err = g.alone(f, s, p.Left, p.Gaps, p.Which); err != nil {
		return 0, err
	}
	mean := p.Mean[p.Gaps[p.Which][0]:p.Gaps[p.Which][1]]
	floats.Add(s.Mean, mean)
	for _, d := range s.Draws {
		floats.Add(d, mean)
	}
	least := audio.MinStep(known(z, p.Gaps, 0, len(z))) / math.Sqrt(12)
	for i, sd := range s.SD {
		s.SD[i] = max(sd, least)
	}
	s.Joint = true
	return trials, nil
}

// predict returns the prediction of channel c from all others around the samples z from lo on, estimated around a gap. It returns nil if
// the evidence does not support a prediction.
func (g *gapFiller) predict(c int, z [][]float64, lo int, around Gap) *crosschannel.Prediction {
	gaps, which := make([][][2]int, len(z)), 0
	var from []int
	for other := range z {
		if other != c {
			from = append(from, other)
		}
		for _, k := range g.within(other, lo, lo+len(z[other])) {
			gap := g.res.Gaps[k]
			if gap.Clipped && other == c {
				continue // the limits serve as initial fill
			}
			if other == c && gap == around {
				which = len(gaps[c])
			}
			gaps[other] = append(gaps[other], [2]int{max(gap.Start, lo) - lo, min(gap.End, lo+len(z[other])) - lo})
		}
	}
	if from == nil {
		return nil
	}
	return crosschannel.Predict(z, gaps, c, which, from, g.rate)
}

// joined returns the fills of the clicks of a section at which the other channels are intact, by index. The residual of prediction p is
// restored, and the prediction is added.
func (g *gapFiller) joined(c int, s clickSection, z []float64, lo int, p *crosschannel.Prediction) map[int]declicked {
	if p == nil {
		return nil
	}
	start, end := s.lo-lo, s.hi-lo
	for _, gap := range p.Gaps { // a gap at an end of the section is cut off
		if gap[0] <= start && gap[1] > start {
			start = gap[1]
		}
		if gap[0] < end && gap[1] >= end {
			end = gap[0]
		}
	}
	var gaps [][2]int
	for _, gap := range p.Gaps {
		if gap[0] < start || gap[1] > end {
			continue
		}
		if gap[1]-gap[0] > declick.Longest(g.rate)+crosschannel.Reach(g.rate) { // a long gap in another channel
			return nil
		}
		gaps = append(gaps, [2]int{gap[0] - start, gap[1] - start})
	}
	s.lo, s.hi = start+lo, end+lo
	if start >= end {
		return nil
	}
	left := slices.Clone(z[start:end])
	floats.Sub(left, p.Mean[start:end])
	least := audio.MinStep(known(z, p.Gaps, start, end)) / math.Sqrt(12)
	fills := g.declicked(c, s, left, gaps)
	for k, f := range fills {
		at := g.res.Gaps[k].Start - lo
		mean := p.Mean[at : at+len(f.Mean)]
		floats.Add(f.Mean, mean)
		for _, d := range f.Draws {
			floats.Add(d, mean)
		}
		for i, sd := range f.SD {
			f.SD[i] = max(sd, least)
		}
		fills[k] = declicked{f.Fill, true}
	}
	return fills
}
