package restore

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// fill fills gap i in its channels.
func (g *gapFiller) fill(i int) (doubts []Doubt, err error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	gap := g.res.gaps[i]
	if gap.Clipped {
		return nil, nil // with others like it
	}
	v, err := g.view(i, reachOf(gap, g.res.rate))
	if err != nil {
		return nil, err
	}
	joint := false
	for c := range v.z {
		if v.at[c] < 0 {
			continue
		}
		s, err := g.single(v, gap, c)
		if err != nil {
			return nil, err
		}
		g.fills[i] = append(g.fills[i], s)
		joint = joint || s.others > 0
		doubts = append(doubts, s.doubts(gap, c, longest(g.res.rate))...)
	}
	g.tell(func() {
		g.done++
		if joint {
			g.joined++
		}
	})
	return doubts, nil
}

// single fills a gap of one channel.
func (g *gapFiller) single(v view, gap Gap, channel int) (*single, error) {
	f := g.fillers.Get().(*timewarp.Filler)
	defer g.fillers.Put(f)
	z, gaps, which := v.z[channel], v.gaps[channel], v.at[channel]
	seed := g.o.Model.Seed + uint64(gap.Start)*0x9e3779b97f4a7c15 + uint64(channel)
	with, err := g.beside(f, v, channel, g.others(gap, channel, len(v.z)))
	if err != nil {
		return nil, err
	}
	if with == nil {
		return g.alone(f, z, gaps, which, seed)
	}
	s, err := g.joint(f, z, with, seed)
	if err == nil {
		s.level = level(z, gaps, which, audio.SamplesIn(levelReach, g.res.rate))
	}
	return s, err
}

// jointGain is how much the logarithm of the mean squared error in trial gaps must fall for other channels to be used.
const jointGain = 0.05

// others returns the channels that hold what they recorded in a gap of a channel and around it. Clipped samples are not what was there.
func (g *gapFiller) others(gap Gap, channel, channels int) (from []int) {
	if g.method != Mixture { // simple fills know their channel only
		return nil
	}
	reach := crosschannel.Reach(g.rate)
	for c := range channels {
		lane := g.lanes[c]
		k, _ := slices.BinarySearchFunc(lane, gap.Start-reach+1, func(k, at int) int { return g.res.gaps[k].End - at })
		if c != channel && (k == len(lane) || g.res.gaps[lane[k]].Start >= gap.End+reach) {
			from = append(from, c)
		}
	}
	return from
}

// beside returns what other channels say of one about a gap if its fill is expected to be better with it, and else nil.
func (g *gapFiller) beside(f *timewarp.Filler, v view, channel int, from []int) (*crosschannel.Prediction, error) {
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

// joint fills what other channels leave of a channel in a gap, and adds what they say.
func (g *gapFiller) joint(f *timewarp.Filler, z []float64, p *crosschannel.Prediction, seed uint64) (*single, error) {
	s, err := g.alone(f, p.Left, p.Gaps, p.Which, seed)
	if err != nil {
		return nil, err
	}
	mean := p.Mean[p.Gaps[p.Which][0]:p.Gaps[p.Which][1]]
	floats.Add(s.mean, mean)
	for _, d := range s.draws {
		floats.Add(d, mean)
	}
	least := quantum(z, p.Gaps) / math.Sqrt(12)
	for i, sd := range s.sd {
		s.sd[i] = max(sd, least)
	}
	s.others = len(p.Channels)
	return s, nil
}

// quantum returns the least difference of known samples that differ.
func quantum(z []float64, gaps [][2]int) float64 {
	var known []float64
	from := 0
	for _, g := range gaps {
		known = append(known, z[from:max(from, g[0])]...)
		from = g[1]
	}
	known = append(known, z[from:]...)
	slices.Sort(known)
	least := math.Inf(1)
	for i := 1; i < len(known); i++ {
		if d := known[i] - known[i-1]; d > 0 {
			least = min(least, d)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}
