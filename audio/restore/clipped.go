package restore

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/declip"
	"github.com/vssgp/vssgp/internal/parallel"
)

// fillClipped restores the clipped gaps of every channel, tile by tile: they are so dense that they are solved for together.
func (g *gapFiller) fillClipped() error {
	tile := audio.SamplesIn(declip.Tile, g.res.rate)
	for c, lane := range g.lanes {
		var tiles [][]int // the numbers of the gaps that begin in each
		last := -1
		for _, i := range lane {
			gap := g.res.Gaps[i]
			if !gap.Clipped {
				continue
			}
			if gap.Start/tile != last {
				last, tiles = gap.Start/tile, append(tiles, nil)
			}
			tiles[len(tiles)-1] = append(tiles[len(tiles)-1], i)
		}
		fill := func(k int) error { return g.fillTile(c, tiles[k], tile) }
		if err := parallel.Try(len(tiles), workers(len(tiles)), fill); err != nil {
			return err
		}
	}
	return nil
}

// fillTile restores a channel's clipped gaps with the given numbers, which begin in one tile of so many samples.
func (g *gapFiller) fillTile(c int, own []int, tile int) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	all, margin := g.res.Gaps, declip.Margin(g.rate)
	from := all[own[0]].Start / tile * tile
	lo, hi := max(0, from-margin), min(g.res.samples, max(from+tile, all[own[len(own)-1]].End)+margin)
	z, err := g.src.Read(lo, hi)
	if err != nil {
		return fmt.Errorf("restore: samples %d:%d: %w", lo, hi, err)
	}
	var clipped, missing [][2]int
	first := 0 // of the tile's own gaps, among the clipped ones
	for _, k := range g.within(c, lo, hi) {
		start, end := max(all[k].Start, lo)-lo, min(all[k].End, hi)-lo
		if !all[k].Clipped {
			missing = append(missing, ends(start, end, g.context())...)
			continue
		}
		if k == own[0] {
			first = len(clipped)
		}
		clipped = append(clipped, [2]int{start, end})
	}
	r, err := declip.Fill(g.ctx, z[c], clipped, missing, g.rate, g.o.Draws, g.seed(from, c))
	if err != nil {
		return fmt.Errorf("restore: samples %d:%d of channel %d: %w", lo, hi, c+1, err)
	}
	for j, i := range own {
		start, end := all[i].Start-lo, all[i].End-lo
		part := func(v []float64) []float64 { return slices.Clone(v[start:end]) } // the tile's arrays are freed
		s := GapFill{Gap: all[i], Channel: c, Mean: part(r.Mean), SD: part(r.SD), Level: g.level(z[c], clipped, start, end)}
		if r.Doubt[first+j] {
			s.Warning = "the limits of its clipped samples contradict the sound around, or its restoration did not settle"
		}
		for _, d := range r.Draws {
			s.Draws = append(s.Draws, part(d))
		}
		fills := append(g.res.Fills[i], s)
		if all[i].Channel == 0 && len(fills) < g.res.channels {
			g.res.Fills[i] = fills // other channels follow
			continue
		}
		g.filled(i, fills)
		g.tell(func() { g.done++ })
	}
	return nil
}

// ends returns a run, or where it is long its two ends.
func ends(start, end, most int) [][2]int {
	if end-start <= 2*most {
		return [][2]int{{start, end}}
	}
	return [][2]int{{start, start + most}, {end - most, end}}
}
