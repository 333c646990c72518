package restore

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/declip"
	"github.com/vssgp/vssgp/internal/parallel"
)

// fillClipped restores the clipped gaps of all channels. The gaps of a tile are dense, so they are restored together.
func (g *gapFiller) fillClipped() error {
	tile := audio.SamplesIn(declip.Tile, g.res.rate)
	for c, lane := range g.lanes {
		var tiles [][]int // indices of the gaps that begin in each tile
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

// fillTile restores the clipped gaps of a channel with indices own. They begin in the same tile of the given length in samples.
func (g *gapFiller) fillTile(c int, own []int, tile int) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	all, margin := g.res.Gaps, declip.Margin(g.rate)
	from := all[own[0]].Start / tile * tile
	lo, hi := max(0, from-margin), min(g.res.samples, max(from+tile, all[own[len(own)-1]].End)+margin)
	z, err := g.src.Read(lo, hi)
	if err != nil {
		return fmt.Errorf("samples %d:%d: %w", lo, hi, err)
	}
	var clipped, missing [][2]int
	first := 0 // index of own[0] in clipped
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
		return fmt.Errorf("samples %d:%d of channel %d: %w", lo, hi, c+1, err)
	}
	for j, i := range own {
		start, end := all[i].Start-lo, all[i].End-lo
		part := func(v []float64) []float64 { return slices.Clone(v[start:end]) } // the tile's arrays are freed
		s := GapFill{Gap: all[i], Channel: c, Mean: part(r.Mean), SD: part(r.SD), Level: g.level(z[c], clipped, start, end)}
		if r.Unreliable[first+j] {
			s.Warning = "the clipping limits contradict the surrounding audio, or the restoration did not converge"
		}
		for _, d := range r.Draws {
			s.Draws = append(s.Draws, part(d))
		}
		fills := append(g.res.Fills[i], s)
		if all[i].Channel == 0 && len(fills) < g.res.channels {
			g.res.Fills[i] = fills // wait for the other channels
			continue
		}
		g.finish(i, fills)
	}
	return nil
}

// ends returns the run [start, end), or its first and last most samples if it is longer than both together.
func ends(start, end, most int) [][2]int {
	if end-start <= 2*most {
		return [][2]int{{start, end}}
	}
	return [][2]int{{start, start + most}, {end - most, end}}
}
