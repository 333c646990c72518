package restore

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
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
	if g.res.Method != Mixture {
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
