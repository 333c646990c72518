package blocktri

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/testkit"
)

func denseOf(g *backend.Gram) *mat.SymDense {
	d := mat.NewSymDense(g.M(), nil)
	for i := range g.M() {
		for j := range i + 1 {
			d.SetSym(i, j, g.At(i, j))
		}
	}
	return d
}

// againstDense compares the factor of one order of elimination with gonum.
func againstDense(t *testing.T, sizes []int, factorize func(*backend.Gram, float64) (*Factor, error)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(sizes))))
	g := dominant(sizes)
	d := denseOf(g)
	const lambda = 0.25
	for i := range g.M() {
		d.SetSym(i, i, d.At(i, i)+lambda)
	}
	f, err := factorize(g.Clone(), lambda)
	if err != nil {
		t.Fatal(sizes, err)
	}
	var c mat.Cholesky
	if !c.Factorize(d) {
		t.Fatal(sizes, "the dense matrix is not positive definite")
	}
	if got, want := f.LogDet(), c.LogDet(); math.Abs(got-want) > 1e-12*math.Abs(want) {
		t.Errorf("%v: log-determinant %v, dense %v", sizes, got, want)
	}
	for _, n := range []int{1, 3} {
		b := testkit.Numbers(g.M()*n, func(int) float64 { return rng.NormFloat64() })
		var want mat.Dense
		testkit.OK(t, c.SolveTo(&want, mat.NewDense(g.M(), n, append([]float64(nil), b...))))
		product := 0.0 // bᵀA⁻¹b
		for i := range b {
			product += b[i] * want.At(i/n, i%n)
		}
		f.SolveLower(b, n)
		if got := mat.Dot(mat.NewVecDense(len(b), b), mat.NewVecDense(len(b), b)); math.Abs(got-product) > 1e-12*product {
			t.Errorf("%v: |R⁻¹b|² = %v, want bᵀA⁻¹b = %v", sizes, got, product)
		}
		f.SolveUpper(b, n)
		testkit.Within(t, fmt.Sprint(sizes, ": solution"), b, want.RawMatrix().Data, 1e-13)
	}
	var inv mat.SymDense
	testkit.OK(t, c.InverseTo(&inv))
	checkInverse(t, sizes, f.Inverse(), &inv)
}

// checkInverse compares the stored blocks of z with the dense inverse.
func checkInverse(t *testing.T, sizes []int, z *backend.Gram, inv mat.Symmetric) {
	t.Helper()
	for v, d := range z.Diag {
		for i := range z.Size(v) {
			for j := range i {
				if up, low := d[j*z.Size(v)+i], d[i*z.Size(v)+j]; up != low {
					t.Fatalf("%v: block %d of the inverse is not symmetric at (%d, %d): %v and %v", sizes, v, i, j, low, up)
				}
			}
		}
	}
	for v := range z.Blocks() {
		for i := z.Offset[v]; i < z.Offset[v+1]; i++ {
			lo := 0
			if v > 0 {
				lo = z.Offset[v-1]
			}
			for j := lo; j < z.Offset[v+1]; j++ {
				if math.Abs(z.At(i, j)-inv.At(i, j)) > 1e-14 {
					t.Fatalf("%v: inverse[%d,%d] = %v, dense %v", sizes, i, j, z.At(i, j), inv.At(i, j))
				}
			}
		}
	}
}

// offsets returns the first index of each block of the given sizes, and the end.
func offsets(sizes []int) []int {
	offset := []int{0}
	for v, m := range sizes {
		offset = append(offset, offset[v]+m)
	}
	return offset
}

// dominant returns a diagonally dominant positive definite matrix.
func dominant(sizes []int) *backend.Gram {
	rng := rand.New(rand.NewPCG(7, uint64(len(sizes))))
	g := backend.NewGram(offsets(sizes))
	backendtest.Symmetric(g, rng)
	for v, d := range g.Diag {
		for i := range g.Size(v) {
			d[i*(g.Size(v)+1)] = 40 + rng.Float64() + 4*float64(g.Size(v))
		}
	}
	return g
}

// TestErrorNamesBlockAndPivot checks that the error names the block and the pivot, whose index is over all blocks.
func TestErrorNamesBlockAndPivot(t *testing.T) {
	g := dominant([]int{3, 5, 4})
	g.Diag[1][2*5+2] = -1e4
	if _, err := Factorize(g, 0, 2); err == nil || !strings.Contains(err.Error(), "block 1 of 3, pivot 5:") {
		t.Errorf("error %v, want one about block 1 of 3 and pivot 5", err)
	}
}

// TestSizesMatchCountsByHand compares Size and Flops with counts by hand for blocks of 2, 3 and 1 features.
func TestSizesMatchCountsByHand(t *testing.T) {
	offset := []int{0, 2, 5, 6}
	if got := Size(offset); got != 4+6+9+3+1 {
		t.Errorf("%v numbers", got)
	}
	factor, inverse := (8+27+1)/3.+(4*3+2*9)+(9*1+3*1), 2*(8+27+1)/3.+2*(2*9+4*3)+2*(3*1+9*1)
	if got := Flops(offset); got != factor+inverse {
		t.Errorf("%v operations, want %v", got, factor+inverse)
	}
}

// TestOuterAdjoint compares each entry with the formula and checks that the result is symmetric to the
// last bit.
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
