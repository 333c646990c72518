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
	// the default: measured in DESIGN.md, "Windows each for itself".
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
	shared := lbfgs.Block{Shared: true}
	of := make([]lbfgs.Block, p.Windows.Count())
	at := 0
	for t, tensor := range p.Tensors() {
		i := slices.IndexFunc(c.groups, func(g chartGroup) bool { return g.tensor == t })
		if i < 0 {
			continue
		}
		g := &c.groups[i]
		n, width := len(g.index), g.width()
		if isNoise(tensor.Name) {
			shared.Own = append(shared.Own, lbfgs.Range{Lo: at, Hi: at + n*width})
			at += n * width
			continue
		}
		each := len(*tensor.Data) / p.L // entries of a component
		lo := 0
		for v := range of {
			hi := sort.Search(n, func(j int) bool { return p.ComponentWindow[g.index[j]/each] > v })
			if lo < hi {
				of[v].Own = append(of[v].Own, lbfgs.Range{Lo: at + lo*width, Hi: at + hi*width})
			}
			lo = hi
		}
		at += n * width
	}
	return slices.DeleteFunc(append([]lbfgs.Block{shared}, of...), func(b lbfgs.Block) bool { return len(b.Own) == 0 })
}
