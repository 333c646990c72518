package restore

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
	"github.com/vssgp/vssgp/audio/internal/declick"
	"github.com/vssgp/vssgp/internal/parallel"
)

// fillClicks restores the short clicks of all channels unless the method is AR. Clicks that it leaves to the mixture are
// longer, isolated and loud, at the ends of the recording, or in silence.
func (g *gapFiller) fillClicks() error {
	if g.res.Method == AR {
		return nil
	}
	for c, lane := range g.lanes {
		g.lonely = append(g.lonely, g.lonelyOf(lane))
		tiles := g.tiles(lane)
		restore := func(k int) error { return g.restoreTile(c, tiles[k]) }
		if err := parallel.Try(len(tiles), workers(len(tiles)), restore); err != nil {
			return err
		}
	}
	return nil
}

// lonelyOf reports for each gap whether it is a click of a lane above briefClick without many others near it. If such a
// click is loud, the mixture has smaller errors than package declick. If clicks are dense, it has larger ones, and takes
// very long.
func (g *gapFiller) lonelyOf(lane []int) []bool {
	lonely := make([]bool, len(g.res.Gaps))
	reach, brief := audio.SamplesIn(denseSeconds, g.res.rate), audio.SamplesIn(briefClick, g.res.rate)
	var starts []int
	for _, k := range lane {
		if gap := g.res.Gaps[k]; gap.Click {
			starts = append(starts, gap.Start)
		}
	}
	for _, k := range lane {
		gap := g.res.Gaps[k]
		lo, hi := max(0, gap.Start-reach), min(g.res.samples, gap.Start+reach)
		first, _ := slices.BinarySearch(starts, lo)
		last, _ := slices.BinarySearch(starts, hi)
		lonely[k] = gap.Click && gap.Len() > brief && float64(last-first)*g.rate < denseClicks*float64(hi-lo)
	}
	return lonely
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

// tiles returns the groups of a lane, divided by the tiles in which they begin. The groups of a tile use the same prediction from other
// channels.
func (g *gapFiller) tiles(lane []int) (tiles [][]group) {
	tile, last := audio.SamplesIn(clickTile, g.res.rate), -1
	for _, of := range g.groups(lane) {
		if at := g.res.Gaps[lane[of.from]].Start / tile; at != last {
			last, tiles = at, append(tiles, nil)
		}
		tiles[len(tiles)-1] = append(tiles[len(tiles)-1], of)
	}
	return tiles
}

// A clickSection contains the samples of channel c around a group of clicks.
type clickSection struct {
	lo, hi int      // samples of the recording
	own    []int    // indices of the clicks
	gaps   [][2]int // relative to lo
}

// restoreTile restores the clicks of the groups in a tile of channel c.
func (g *gapFiller) restoreTile(c int, tile []group) error {
	lane := g.lanes[c]
	first, last := g.res.Gaps[lane[tile[0].from]], g.res.Gaps[lane[tile[len(tile)-1].to-1]]
	reach := declick.Reach(g.rate)
	if len(g.lanes) > 1 {
		reach = crosschannel.Context(g.rate)
	}
	lo, hi := max(0, first.Start-reach), min(g.res.samples, last.End+reach)
	z, err := g.src.Read(lo, hi)
	if err != nil {
		return fmt.Errorf("samples %d:%d: %w", lo, hi, err)
	}
	if finite(z, lo) != nil { // in a click, or the mixture reports it
		return nil
	}
	middle := g.res.Gaps[lane[tile[len(tile)/2].from]]
	p := g.predict(c, z, lo, middle)
	for _, of := range tile {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		s, ok := g.section(c, of)
		if !ok {
			continue
		}
		g.restoreClicks(c, s, z[c], lo, p)
	}
	return nil
}

// section returns the samples around a group, between the nearest long gaps. ok is false if there are none before or after the group.
func (g *gapFiller) section(c int, of group) (s clickSection, ok bool) {
	lane := g.lanes[c]
	first, last := g.res.Gaps[lane[of.from]], g.res.Gaps[lane[of.to-1]]
	s.lo, s.hi = max(0, first.Start-declick.Reach(g.rate)), min(g.res.samples, last.End+declick.Reach(g.rate))
	for _, k := range g.within(c, s.lo, s.hi) {
		switch gap := g.res.Gaps[k]; {
		case gap.Clipped:
		case gap.End <= first.Start && (!g.short(gap) || gap.Start < s.lo):
			s.lo = gap.End
		case gap.Start >= last.End && (!g.short(gap) || gap.End > s.hi):
			s.hi = min(s.hi, gap.Start)
		}
	}
	for _, k := range g.within(c, s.lo, s.hi) {
		gap := g.res.Gaps[k]
		if gap.Clipped {
			continue
		}
		s.gaps = append(s.gaps, [2]int{gap.Start - s.lo, gap.End - s.lo})
		if gap.Click && gap.Start >= first.Start && gap.End <= last.End {
			s.own = append(s.own, k)
		}
	}
	return s, s.lo < first.Start && s.hi > last.End
}

// restoreClicks restores the clicks of a section of channel c. z contains the samples of the channel from lo on, and p its prediction from
// other channels, if not nil.
func (g *gapFiller) restoreClicks(c int, s clickSection, z []float64, lo int, p *crosschannel.Prediction) {
	own := z[s.lo-lo : s.hi-lo]
	alone := g.declicked(c, s, own, s.gaps)
	for k, f := range g.joined(c, s, z, lo, p) {
		if a, ok := alone[k]; ok && math.Log(a.Variance/f.Variance) < jointGain {
			continue
		}
		alone[k] = f
	}
	for k, f := range alone {
		gap := g.res.Gaps[k]
		change := floats.Distance(f.Mean, own[gap.Start-s.lo:gap.End-s.lo], 2) / math.Sqrt(float64(gap.Len()))
		if g.lonely[c][k] && change > loudClick*math.Sqrt(f.Variance) {
			continue
		}
		fill := &GapFill{Gap: gap, Channel: c, Mean: f.Mean, SD: f.SD, Draws: f.Draws, Joint: f.joint}
		fill.Level = g.level(own, s.gaps, gap.Start-s.lo, gap.End-s.lo)
		fill.Warning = warningOf(fill, -1, longest(g.res.rate))
		g.clicks[c][k] = fill
	}
}

// A declicked is the fill of a click.
type declicked struct {
	declick.Fill
	joint bool // it uses other channels
}

// declicked returns the fills of the clicks of a section by index. z contains its samples, and gaps all of its gaps.
func (g *gapFiller) declicked(c int, s clickSection, z []float64, gaps [][2]int) map[int]declicked {
	out := map[int]declicked{}
	at := map[[2]int]int{} // index of each click of the section
	for _, k := range s.own {
		at[[2]int{g.res.Gaps[k].Start - s.lo, g.res.Gaps[k].End - s.lo}] = k
	}
	var which []int
	for i, gap := range gaps {
		if _, ok := at[gap]; ok {
			which = append(which, i)
		}
	}
	if which == nil {
		return out
	}
	fills, _ := declick.Restore(z, gaps, which, g.rate, g.o.Draws, g.seed(s.lo+gaps[which[0]][0], c))
	for i, f := range fills {
		out[at[gaps[which[i]]]] = declicked{Fill: f}
	}
	return out
}
