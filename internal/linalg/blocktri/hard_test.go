package blocktri

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/precise"
)

// truth returns (G + λI)⁻¹ and log|G + λI| from high-precision arithmetic.
func truth(g *backend.Gram, lambda float64) (inverse [][]float64, logDet float64) {
	n := g.M()
	a := precise.Matrix(n, n)
	for i := range a {
		for j := range i + 1 {
			a[i][j] = precise.Of(g.At(i, j))
		}
		a[i][i] = a[i][i].Plus(precise.Of(lambda))
	}
	precise.Cholesky(a)
	for i, unit := range precise.Matrix(n, n) {
		unit[i] = precise.Of(1)
		var column []float64
		for _, v := range precise.Solved(a, unit) {
			column = append(column, v.Float())
		}
		inverse = append(inverse, column)
		logDet += 2 * math.Log(a[i][i].Float())
	}
	return inverse, logDet
}

// hardGram returns Σ φφᵀ over the given number of random rows per cell. With fewer rows than features
// it has low rank. With twins every second feature equals the previous one up to noise of 1e-7. The
// features of silent windows are 0.
func hardGram(sizes []int, rows int, twins bool, silent ...int) *backend.Gram {
	rng := rand.New(rand.NewPCG(11, uint64(rows)))
	g := backend.NewGram(offsets(sizes))
	quiet := map[int]bool{}
	for _, v := range silent {
		quiet[v] = true
	}
	for v := range len(sizes) - 1 {
		for range rows {
			row := make([]float64, sizes[v]+sizes[v+1])
			for k := range row {
				window, i := v, k
				if k >= sizes[v] {
					window, i = v+1, k-sizes[v]
				}
				switch {
				case quiet[window]:
				case twins && i%2 == 1:
					row[k] = row[k-1] + 1e-7*rng.NormFloat64()
				default:
					row[k] = rng.NormFloat64()
				}
			}
			outer(g, v, row)
		}
	}
	return g
}

// outer adds the products of a row to blocks v and v + 1.
func outer(g *backend.Gram, v int, row []float64) {
	left, right := row[:g.Size(v)], row[g.Size(v):]
	for _, b := range []struct{ to, rows, cols []float64 }{
		{g.Diag[v], left, left}, {g.Diag[v+1], right, right}, {g.Below[v], right, left},
	} {
		for i, x := range b.rows {
			for j, y := range b.cols {
				b.to[i*len(b.cols)+j] += x * y
			}
		}
	}
}

// TestIllConditionedSystemsAreAccurate compares both orders of elimination with the truth for large condition numbers of A, as for
// τ = 10⁸. Let κ be the condition number of A scaled to a diagonal of ones. The errors, scaled in the
// same way, must be at most M·κ·ε, the effect of rounding A, and the errors with segments at most four
// times the errors with two ends.
func TestIllConditionedSystemsAreAccurate(t *testing.T) {
	const epsilon = 0x1p-53
	sizes := chain(15, 6, 4, 8)
	for _, c := range []struct {
		name   string
		lambda float64
		rows   int
		twins  bool
		silent []int
	}{
		{"plain", 0.1, 20, false, nil},
		{"little noise, low rank", 1e-8, 3, false, nil},
		{"twins", 1e-4, 20, true, nil},
		{"twins, little noise, low rank", 1e-8, 4, true, nil},
		{"silence in an end, an inner segment and a separator", 1e-6, 20, false, []int{1, 6, 7}},
		{"silence except in two windows", 1e-8, 20, false, []int{0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14}},
		{"silence, twins, little noise", 1e-8, 6, true, []int{4, 5, 9}},
	} {
		g := hardGram(sizes, c.rows, c.twins, c.silent...)
		inverse, logDet := truth(g, c.lambda)
		scale := func(i, j int) float64 { return math.Sqrt((g.At(i, i) + c.lambda) * (g.At(j, j) + c.lambda)) }
		norm, most := 0.0, 0.0 // of A and of A⁻¹, scaled
		for i := range inverse {
			a, z := c.lambda/scale(i, i), 0.0
			for j := range inverse {
				a += math.Abs(g.At(i, j)) / scale(i, j)
				z += math.Abs(inverse[i][j]) * scale(i, j)
			}
			norm, most = max(norm, a), max(most, z)
		}
		rounded := float64(g.M()) * norm * most * epsilon
		var ends float64
		for segments := 2; segments <= 8; segments++ {
			f, err := Factorize(g.Clone(), c.lambda, segments)
			if err != nil {
				t.Errorf("%s, %d segments: %v", c.name, segments, err)
				continue
			}
			if d := math.Abs(f.LogDet() - logDet); !(d <= rounded+epsilon*math.Abs(logDet)) {
				t.Errorf("%s, %d segments: log-determinant off by %.1e, want at most %.1e", c.name, segments, d, rounded)
			}
			worst := 0.0
			eachStored(f.Inverse(), func(i, j int, z float64) {
				worst = max(worst, math.Abs(z-inverse[i][j])*scale(i, j)/most)
			})
			if segments == 2 {
				ends = worst
			}
			if !(worst <= rounded) || !(worst <= 4*ends) {
				t.Errorf("%s, %d segments: inverse off by %.1e of ‖A⁻¹‖, want at most %.1e; from two ends %.1e", c.name, segments, worst, rounded, ends)
			}
			t.Logf("%s, %d segments: inverse off by %.1e, rounding %.1e", c.name, segments, worst, rounded)
		}
	}
}

// eachStored visits the stored entries of z.
func eachStored(z *backend.Gram, visit func(i, j int, z float64)) {
	for v, d := range z.Diag {
		m := z.Size(v)
		for k, x := range d {
			visit(z.Offset[v]+k/m, z.Offset[v]+k%m, x)
		}
		if v < len(z.Below) {
			for k, x := range z.Below[v] {
				visit(z.Offset[v+1]+k/m, z.Offset[v]+k%m, x)
			}
		}
	}
}
