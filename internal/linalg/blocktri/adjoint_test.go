package blocktri

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestOuterAdjoint: by the formula, entry by entry, and symmetric to the last
// bit.
func TestOuterAdjoint(t *testing.T) {
	for _, c := range []struct {
		name    string
		offset  []int
		outputs int
	}{
		{"dense", []int{0, 37}, 1}, {"dense, outputs", []int{0, 37}, 3}, {"blocks", []int{0, 3, 3, 9, 16}, 1}, {"blocks, outputs", []int{0, 3, 8, 9}, 2},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		g := backend.NewGram(c.offset)
		backendtest.Symmetric(g, rng)
		const tau = 3.7
		mean := testkit.Numbers(g.M()*c.outputs, func(int) float64 { return rng.NormFloat64() })
		was := g.Clone()
		OuterAdjoint(g, mean, c.outputs, -0.5*float64(c.outputs), -0.5*tau)
		for i := range g.M() {
			for j := range g.M() {
				if was.At(i, j) == 0 && i != j {
					continue
				}
				mm := 0.0
				for o := range c.outputs {
					mm += mean[i*c.outputs+o] * mean[j*c.outputs+o]
				}
				want := -0.5*float64(c.outputs)*was.At(i, j) - 0.5*tau*mm
				if got := g.At(i, j); math.Abs(got-want) > 1e-14*(1+math.Abs(want)) || got != g.At(j, i) {
					t.Fatalf("%s: entry %d, %d is %v, want %v; its mirror image is %v", c.name, i, j, got, want, g.At(j, i))
				}
			}
		}
	}
}
