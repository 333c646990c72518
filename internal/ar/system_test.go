package ar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"gonum.org/v1/gonum/mat"
)

// TestDensities: the transform gives what the sum gives, for models longer
// than it too.
func TestDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	long := Model{A: []float64{1}, E: 3}
	for range 40 {
		long.A = append(long.A, 0.1*rng.NormFloat64())
	}
	models := []Model{long}
	for _, p := range processes {
		models = append(models, p.model)
	}
	transforms := map[int]*Transform{} // used again and again
	for i, m := range models {
		for _, n := range []int{1, 2, 7, 64, 97} {
			if transforms[n] == nil {
				transforms[n] = NewTransform(n, 3)
			}
			for j, got := range transforms[n].Densities(m) {
				if want := m.Density((float64(j) + 0.5) / float64(2*n)); math.Abs(got-want) > 1e-12*want {
					t.Fatalf("model %d, %d frequencies: density %d is %v, want %v", i, n, j, got, want)
				}
			}
		}
	}
}

// TestSystems: dense and banded matrices solve as gonum's dense one does, and
// refuse what is not positive definite without touching the right-hand side.
func TestSystems(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, c := range []struct{ n, band int }{{1, 0}, {2, 1}, {7, 3}, {8, 7}, {9, 1}, {40, 39}, {65, 5}, {65, 20}, {130, 3}} {
		for _, made := range []struct {
			name string
			s    system
		}{{"dense", newDense(c.n)}, {"banded", newBanded(c.n, c.band)}, {"chosen", newSystem(c.n, c.band)}} {
			name := fmt.Sprintf("%s, %d rows, band %d", made.name, c.n, c.band)
			want := mat.NewSymDense(c.n, nil)
			for i := range c.n {
				for j := max(0, i-c.band); j <= i; j++ {
					v := rng.NormFloat64()
					if i == j {
						v = 3 * float64(c.band+1)
					}
					made.s.data[i*made.s.row+j*made.s.col] = v
					want.SetSym(i, j, v)
				}
			}
			const ridge = 0.25
			x, b := mat.NewVecDense(c.n, nil), make([]float64, c.n)
			for i := range b {
				b[i] = rng.NormFloat64()
				want.SetSym(i, i, want.At(i, i)+ridge)
			}
			if err := x.SolveVec(want, mat.NewVecDense(c.n, append([]float64(nil), b...))); err != nil {
				t.Fatal(name, err)
			}
			before := append([]float64(nil), b...)
			if made.s.solve(b, -1e9) || !slices.Equal(b, before) {
				t.Errorf("%s: solved with a negative diagonal", name)
			}
			if !made.s.solve(b, ridge) {
				t.Fatalf("%s: not solved", name)
			}
			testkit.Within(t, name, b, x.RawVector().Data, 1e-13)
		}
	}
}
