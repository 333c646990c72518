package optimize

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestBlocksOwnTheirWindows: every coordinate belongs to one block; moving a
// window's moves the parameters of that window's components and no others.
func TestBlocksOwnTheirWindows(t *testing.T) {
	for _, c := range []struct {
		kind modeltest.Kind
		free []string
		ties Ties
	}{
		{modeltest.Kind{Name: "b1", N: 9, L: 7, K: 2, Q: 1, D: 2, Windows: 3}, everything, Ties{}},
		{modeltest.Kind{Name: "b2", N: 9, L: 7, K: 4, Q: 2, D: 1, Windows: 4, Fixed: true, Variance: -1}, everything, Ties{Twins: true}},
		{modeltest.Kind{Name: "b3", N: 9, L: 5, K: 3, Q: 1, D: 1, Windows: 6, Skip: 2}, FeatureTensors, Ties{}},
		{modeltest.Kind{Name: "b4", N: 9, L: 5, K: 3, Q: 1, D: 1, Windows: 6}, []string{"noise.precision"}, Ties{}},
		{modeltest.Kind{Name: "b5", N: 9, L: 9, K: 2, Q: 1, D: 1, Windows: 3}, everything, Ties{Shared: true}},
		{modeltest.Kind{Name: "b6", N: 9, L: 9, K: 2, Q: 1, D: 1, Windows: 3}, hyperparameters, Ties{Tensors: tieable}},
	} {
		p, _ := c.kind.Make()
		if c.ties.Twins {
			paired(p)
		}
		coords := NewCoordinates(p, c.free, c.ties, 2)
		v := make([]float64, coords.n)
		coords.read(v, p)
		owned := make([]int, coords.n)
		for _, b := range coords.blocks(p, 0) {
			moved := slices.Clone(v)
			for _, r := range b.Own {
				for i := r.Lo; i < r.Hi; i++ {
					owned[i]++
					moved[i] += 0.1
				}
			}
			to := p.Clone()
			coords.write(to, moved)
			w := windowsMoved(p, to)
			one := len(w) == 1 && w[0] >= 0
			if tied := c.ties.Shared || c.ties.Tensors != nil; one == b.Shared || (!tied && len(w) != 1) {
				t.Errorf("%s: a block (shared: %v) moves windows %v, want one alone", c.kind.Name, b.Shared, w)
			}
		}
		for i, n := range owned {
			if n != 1 {
				t.Errorf("%s: coordinate %d is in %d blocks, want one", c.kind.Name, i, n)
			}
		}
	}
}

// windowsMoved are the windows whose parameters differ by more than rounding;
// −1 stands for what no window owns.
func windowsMoved(a, b *variational.Params) []int {
	var moved []int
	other := b.Tensors()
	for t, tensor := range a.Tensors() {
		for i, x := range *tensor.Data {
			if math.Abs((*other[t].Data)[i]-x) <= 1e-12*math.Abs(x) {
				continue
			}
			w := -1
			if tensor.Name != "noise.precision" {
				w = a.ComponentWindow[i*a.L/len(*tensor.Data)]
			}
			if !slices.Contains(moved, w) {
				moved = append(moved, w)
			}
		}
	}
	return moved
}
