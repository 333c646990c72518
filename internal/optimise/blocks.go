package optimise

import (
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// perWindowGain is the rise of the bound for each number observed and each
// evaluation below which windows go on together.
const perWindowGain = 1000 * variational.BoundTolerance

// blocks are the windows' coordinates if each window is to step by itself, and
// else none.
func (r *Run) blocks(c *Coordinates) []lbfgs.Block {
	if n := r.Params.Windows.Count(); n < 2 || n < r.PerWindow {
		return nil
	}
	return c.blocks(r.Params)
}

// blocks are the coordinates by window, what windows share first. A
// window without free parameters has none.
func (c *Coordinates) blocks(p *variational.Params) []lbfgs.Block {
	shared, own := c.byWindow(p)
	blocks := []lbfgs.Block{{Own: c.ranges(shared), Shared: true}}
	for _, spans := range own {
		blocks = append(blocks, lbfgs.Block{Own: c.ranges(spans)})
	}
	return slices.DeleteFunc(blocks, func(b lbfgs.Block) bool { return len(b.Own) == 0 })
}

// byWindow are the spans that windows share and those of each window's
// components.
func (c *Coordinates) byWindow(p *variational.Params) (shared []span, own [][]span) {
	own = make([][]span, p.Windows.Count())
	tensors := p.Tensors()
	window := func(i int) int {
		if p.ComponentWindow == nil {
			return 0
		}
		return p.ComponentWindow[i]
	}
	for _, s := range c.spans {
		g := &c.groups[s.group]
		each := tensors[g.tensor].PerComponent(p.L)
		if each == 0 || g.across {
			shared = append(shared, s)
			continue
		}
		lo := 0
		for v := range own {
			hi := sort.Search(s.hi, func(j int) bool { return window(g.index[j]/each) > v })
			if lo < hi {
				own[v] = append(own[v], span{s.group, lo, hi, s.at + lo*g.width()})
			}
			lo = hi
		}
	}
	return shared, own
}

func (c *Coordinates) ranges(spans []span) (r lbfgs.Ranges) {
	for _, s := range spans {
		lo, hi := c.coordinates(s)
		r = append(r, lbfgs.Range{Lo: lo, Hi: hi})
	}
	return r
}
