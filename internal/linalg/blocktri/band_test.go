package blocktri

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestBandMatchesDenseAlgebra compares factor, solutions, determinant and inverse with gonum's dense algebra, for narrow and wide bands and for positions with
// and without gaps.
func TestBandMatchesDenseAlgebra(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ n, reach, sparse int }{{0, 1, 1}, {1, 3, 1}, {5, 0, 1}, {5, 1, 1}, {40, 6, 3}, {40, 3, 9}, {60, 100, 2}, {90, 40, 1}} {
		at, what := make([]int, c.n), fmt.Sprint(c)
		for i := 1; i < c.n; i++ {
			at[i] = at[i-1] + 1 + rng.IntN(c.sparse)
		}
		b, want := NewBand(at, c.reach), mat.NewDense(max(1, c.n), max(1, c.n), nil)
		extra := testkit.Numbers(c.n, func(int) float64 { return rng.Float64() })
		for i := range at {
			for _, run := range b.Row(i) {
				for k := range run.Values {
					j := run.First + k
					if at[i]-at[j] > c.reach {
						continue
					}
					run.Values[k] = rng.NormFloat64()
					if i == j {
						run.Values[k] = float64(3 * c.n)
					}
					want.Set(i, j, run.Values[k])
					want.Set(j, i, run.Values[k])
				}
			}
			want.Set(i, i, b.Diagonal(i)+extra[i])
		}
		testkit.Must(b.Factorize(nil))(t)
		f := testkit.Must(b.Factorize(extra))(t)
		if c.n == 0 {
			continue
		}
		det, _ := mat.LogDet(want)
		testkit.Near(t, f.LogDet(), det, 1e-10, what, ": log determinant")
		var inverse mat.Dense
		var product mat.VecDense
		testkit.OK(t, inverse.Inverse(want))
		y := slices.Clone(extra)
		f.Solve(y, 1)
		product.MulVec(want, mat.NewVecDense(c.n, y))
		testkit.Within(t, what+": solution", product.RawVector().Data, extra, 1e-9)
		z := b.Like(f.Inverse())
		for i := range at {
			for _, run := range z.Row(i) {
				for k, v := range run.Values {
					testkit.Near(t, v, inverse.At(i, run.First+k), 1e-12, what, ": inverse")
				}
			}
		}
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, b := range []*Band{NewDense(1), NewBand([]int{0, 5, 10}, 1)} {
			b.Row(0)[1].Values[0] = v
			testkit.Fails(t, testkit.Error(b.Factorize([]float64{0, 1, 1}[:b.M()])), backend.ErrNotPositive, "", v)
		}
	}
}
