package oracle

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// Maximum errors relative to the golden files. Both implementations use float64 and differ by
// rounding (features, predictions), which the conditioning of A amplifies (bounds).
const (
	goldenValue   = 1e-10
	goldenFeature = 1e-12
)

func forEachGolden(t *testing.T, check func(t *testing.T, g *Golden)) {
	paths, err := filepath.Glob("../../../testdata/golden/*.json")
	if err != nil || len(paths) != 7 {
		t.Fatalf("golden files: %d found, want 7 (%v)", len(paths), err)
	}
	for _, path := range paths {
		g := testkit.Must(LoadGolden(path))(t)
		t.Run(g.Name, func(t *testing.T) { check(t, g) })
	}
}

// distance returns the largest |got − want| relative to the largest |want|.
func distance(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var worst, scale float64
	for i := range got {
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst, scale = max(worst, d), max(scale, math.Abs(want[i]))
	}
	if worst == 0 {
		return 0
	}
	return worst / scale
}

func near(t *testing.T, what string, got, want []float64, bound float64) {
	t.Helper()
	if d := distance(got, want); !(d <= bound) {
		t.Errorf("%s: error %.2g relative to the largest entry, want at most %.1g\n got %v\nwant %v", what, d, bound, got, want)
	}
}

func TestGoldenFeatures(t *testing.T) {
	forEachGolden(t, func(t *testing.T, g *Golden) {
		var mean, second []float64
		for k := range g.FirstMean {
			mean = append(mean, Mean(g.Params, g.X[0], k))
			second = append(second, Second(g.Params, g.X[0], k))
		}
		near(t, "E[φ] of row 0", mean, g.FirstMean, goldenFeature)
		near(t, "E[φ²] of row 0", second, g.FirstSecond, goldenFeature)
		var trace, sum float64
		for j, row := range Gram(g.Params, g.X) {
			trace += row[j]
			for _, v := range row {
				sum += v
			}
		}
		near(t, "Gram's trace", []float64{trace}, []float64{g.GramTrace}, goldenFeature)
		near(t, "Gram's sum", []float64{sum}, []float64{g.GramSum}, goldenFeature)
		near(t, "KL", []float64{KL(g.Params)}, []float64{g.KL}, goldenFeature)
	})
}

func TestGoldenBounds(t *testing.T) {
	forEachGolden(t, func(t *testing.T, g *Golden) {
		near(t, "exact bound", []float64{Exact(g.Params, g.X, g.Y)}, []float64{g.Exact.Bound}, goldenValue)
		near(t, "factorized bound", []float64{Factorized(g.Params, g.X, g.Y, nil)}, []float64{g.Factorized.Bound}, goldenValue)
		if b := g.Minibatch; b != nil {
			near(t, "mini-batch bound", []float64{Factorized(g.Params, g.X, g.Y, b.Rows)}, []float64{b.Bound}, goldenValue)
		}
	})
}

func TestGoldenPredictions(t *testing.T) {
	forEachGolden(t, func(t *testing.T, g *Golden) {
		exact := ExactPosterior(g.Params, g.X, g.Y)
		near(t, "coefficient mean", flatten(exact.Mean), flatten(g.CoefMean), goldenValue)
		var diagonal []float64
		for k := range g.CoefVar {
			diagonal = append(diagonal, exact.Cov[0][k][k])
		}
		near(t, "coefficient variance", diagonal, g.CoefVar, goldenValue)
		for n, x := range g.Predict.X {
			mean, cov := Predict(g.Params, exact, x)
			near(t, "exact mean", mean, g.Predict.ExactMean[n], goldenValue)
			near(t, "exact covariance", flatten(cov), flatten(g.Predict.ExactCov[n]), goldenValue)
			mean, cov = Predict(g.Params, FactorizedPosterior(g.Params), x)
			near(t, "factorized mean", mean, g.Predict.FactorizedMean[n], goldenValue)
			near(t, "factorized covariance", flatten(cov), flatten(g.Predict.FactorizedCov[n]), goldenValue)
		}
	})
}

func TestLoadGoldenErrors(t *testing.T) {
	if _, err := LoadGolden("no-such-file.json"); err == nil {
		t.Error("a missing file was loaded")
	}
	if _, err := LoadGolden("golden.go"); err == nil {
		t.Error("a file that is not JSON was loaded")
	}
}
