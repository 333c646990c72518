package vssgp

import (
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/lbfgs"
)

// Optimiser is how L-BFGS treats a model with windows.
type Optimiser string

const (
	// OptimiserGlobal steps all parameters together.
	OptimiserGlobal Optimiser = "global"
	// OptimiserWindows first steps every window by a curvature and a step
	// length of its own, all in the same evaluation of the bound, and goes on
	// as OptimiserGlobal once that gains little.
	OptimiserWindows Optimiser = "windows"
)

const (
	// apartWindows is the least number of windows for which OptimiserWindows is
	// the default: see BenchmarkOptimiser.
	apartWindows = 32
	// apartGain is the rise of the bound for each number observed and each
	// evaluation below which windows go on together.
	apartGain = 1000 * gainPerRow
)

// apart are the blocks to step each for itself, or none.
func (f *fitting) apart(c *chart) []lbfgs.Block {
	p := f.model.Params
	if n := p.Windows.Count(); n < 2 || f.o.Optimiser == OptimiserGlobal || f.o.Optimiser == "" && n < apartWindows {
		return nil
	}
	return c.blocks(p)
}

// blocks are the chart's coordinates by window, what windows share first. A
// window without free parameters has none.
func (c *chart) blocks(p *Params) []lbfgs.Block {
	shared, own := c.byWindow(p)
	blocks := []lbfgs.Block{{Own: c.ranges(shared), Shared: true}}
	for _, spans := range own {
		blocks = append(blocks, lbfgs.Block{Own: c.ranges(spans)})
	}
	return slices.DeleteFunc(blocks, func(b lbfgs.Block) bool { return len(b.Own) == 0 })
}

// byWindow are the spans that windows share and those of each window's
// components.
func (c *chart) byWindow(p *Params) (shared []span, own [][]span) {
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
		each := entries(tensors[g.tensor], p.L)
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

// coordinates is the range of a span's.
func (c *chart) coordinates(s span) (lo, hi int) {
	return s.at, s.at + (s.hi-s.lo)*c.groups[s.group].width()
}

func (c *chart) ranges(spans []span) (r lbfgs.Ranges) {
	for _, s := range spans {
		lo, hi := c.coordinates(s)
		r = append(r, lbfgs.Range{Lo: lo, Hi: hi})
	}
	return r
}
