package optimise

import (
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// Ties say which entries of a tensor move together.
type Ties struct {
	Twins   bool     // SSGP's cosine and sine have one frequency
	Shared  bool     // the windows' components are one set
	Tensors []string // moving as one over all components
}

// of is the class of each entry of a tensor, of which one coordinate moves all
// entries, and whether it reaches over windows; nil where each moves alone.
func (t Ties) of(tensor variational.Tensor, p *variational.Params) (class func(i int) int, across bool) {
	each := max(1, tensor.PerComponent(p.L))
	switch {
	case t.Twins && tensor.Name == variational.FrequencyMean:
		return func(i int) int { return i/p.Q/2*p.Q + i%p.Q }, false
	case slices.Contains(t.Tensors, tensor.Name):
		return func(i int) int { return i % each }, true
	case t.Shared && p.ComponentWindow != nil && tensor.Tieable:
		place := make([]int, p.L) // of each component among those of its window
		p.EachWindow(func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				place[i] = i - lo
			}
		})
		return func(i int) int { return place[i/each]*each + i%each }, true
	}
	return nil, false
}
