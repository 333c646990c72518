package restore

import (
	"fmt"

	"github.com/vssgp/vssgp/audio/internal/declick"
	"github.com/vssgp/vssgp/internal/parallel"
)

// fillClicks restores the short clicks of all channels with method Mixture. Clicks that it leaves to the mixture are longer or at the ends
// of the recording, or the sound around them is silent.
func (g *gapFiller) fillClicks() error {
	if g.res.Method != Mixture {
		return nil
	}
	for c, lane := range g.lanes {
		groups := g.groups(lane)
		restore := func(k int) error { return g.restoreClicks(c, groups[k]) }
		if err := parallel.Try(len(groups), workers(len(groups)), restore); err != nil {
			return err
		}
	}
	return nil
}

// short reports whether a gap is short enough for package declick.
func (g *gapFiller) short(gap Gap) bool { return gap.Len() <= declick.Longest(g.rate) }

// A group is the part [from, to) of a lane: clicks that are restored together, and other short gaps between them.
type group struct{ from, to int }

// groups returns the groups of the short clicks of a lane. No long gap is inside a group.
func (g *gapFiller) groups(lane []int) (all []group) {
	var last *group
	for k, i := range lane {
		gap := g.res.Gaps[i]
		switch {
		case gap.Clipped:
			continue
		case !g.short(gap):
			last = nil
		case !gap.Click:
		case last != nil && gap.Start-g.res.Gaps[lane[last.from]].Start <= declick.Group(g.rate):
			last.to = k + 1
		default:
			all = append(all, group{k, k + 1})
			last = &all[len(all)-1]
		}
	}
	return all
}

// around returns the range of samples from which the clicks of a group are restored, between the nearest long gaps.
func (g *gapFiller) around(lane []int, of group) (lo, hi int) {
	first, last := g.res.Gaps[lane[of.from]], g.res.Gaps[lane[of.to-1]]
	lo, hi = max(0, first.Start-declick.Reach(g.rate)), min(g.res.samples, last.End+declick.Reach(g.rate))
	for k := of.from - 1; k >= 0 && g.res.Gaps[lane[k]].End > lo; k-- {
		if gap := g.res.Gaps[lane[k]]; !gap.Clipped && (!g.short(gap) || gap.Start < lo) {
			lo = gap.End
		}
	}
	for k := of.to; k < len(lane) && g.res.Gaps[lane[k]].Start < hi; k++ {
		if gap := g.res.Gaps[lane[k]]; !gap.Clipped && (!g.short(gap) || gap.End > hi) {
			hi = gap.Start
		}
	}
	return lo, hi
}

// restoreClicks restores the clicks of a group in channel c.
func (g *gapFiller) restoreClicks(c int, of group) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	lane := g.lanes[c]
	lo, hi := g.around(lane, of)
	first, last := g.res.Gaps[lane[of.from]], g.res.Gaps[lane[of.to-1]]
	if lo >= first.Start || hi <= last.End {
		return nil
	}
	z, err := g.src.Read(lo, hi)
	if err != nil {
		return fmt.Errorf("samples %d:%d: %w", lo, hi, err)
	}
	if finite(z, lo) != nil { // in a click, or the mixture reports it
		return nil
	}
	var gaps [][2]int
	from, to := 0, 0
	for _, k := range g.within(c, lo, hi) {
		gap := g.res.Gaps[k]
		if gap.Clipped {
			continue
		}
		if k == lane[of.from] {
			from = len(gaps)
		}
		gaps = append(gaps, [2]int{gap.Start - lo, gap.End - lo})
		if k == lane[of.to-1] {
			to = len(gaps)
		}
	}
	fills, ok := declick.Restore(z[c], gaps, from, to, g.rate, g.o.Draws, g.seed(first.Start, c))
	if !ok {
		return nil
	}
	for j, k := 0, of.from; k < of.to; k++ {
		gap := g.res.Gaps[lane[k]]
		if gap.Clipped {
			continue
		}
		if gap.Click {
			s := &GapFill{Gap: gap, Channel: c, Mean: fills[j].Mean, SD: fills[j].SD, Draws: fills[j].Draws}
			s.Level = g.level(z[c], gaps, gap.Start-lo, gap.End-lo)
			s.Warning = warningOf(s, -1, longest(g.res.rate))
			g.clicks[c][lane[k]] = s
		}
		j++
	}
	return nil
}
