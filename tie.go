package vssgp

import (
	"fmt"
	"slices"
)

// ties say which entries of a tensor move together.
type ties struct {
	twins   bool     // SSGP's cosine and sine have one frequency
	shared  bool     // the windows' components are one set
	tensors []string // moving as one over all components
}

// tieable are the tensors that Options.Tie may name.
var tieable = []string{"kernel.variance", "kernel.lengthscale", "kernel.frequency"}

// of is the class of each entry of a tensor, of which one coordinate moves all
// entries, and whether it reaches over windows; nil where each moves alone.
func (t ties) of(tensor string, p *Params) (class func(i int) int, across bool) {
	switch {
	case t.twins && tensor == "frequency.mean":
		return func(i int) int { return i/p.Q/2*p.Q + i%p.Q }, false
	case slices.Contains(t.tensors, tensor):
		return func(i int) int { return i % p.Q }, true
	case t.shared && p.ComponentWindow != nil && slices.Contains(tieable, tensor):
		place := p.placeInWindow()
		return func(i int) int { return place[i/p.Q]*p.Q + i%p.Q }, true
	}
	return nil, false
}

// placeInWindow is each component's place among those of its window.
func (p *Params) placeInWindow() []int {
	place := make([]int, p.L)
	for i := 1; i < p.L; i++ {
		if p.ComponentWindow[i] == p.ComponentWindow[i-1] {
			place[i] = place[i-1] + 1
		}
	}
	return place
}

func (o *Options) ties() ties {
	return ties{twins: o.Method == SSGP, shared: o.Shared, tensors: o.Tie}
}

// checkTies reports tensors that cannot be tied.
func (o *Options) checkTies() error {
	for _, name := range o.Tie {
		if !slices.Contains(tieable, name) {
			return fmt.Errorf("vssgp: cannot tie %q, want %q, %q or %q: %w", name, tieable[0], tieable[1], tieable[2], ErrOptions)
		}
	}
	return nil
}
