// Package modeltest contains models and data for the tests of several packages.
package modeltest

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/variational"
)

// A Series is data with one input and one output.
type Series struct {
	Name  string
	X, Y  []float64
	Raw   bool // fitted in its original units
	Paper bool // fitted with the paper initialization
	Rich  bool // needs more features than the default for an exact fit
}

// Noiseless returns series with little or no noise, which a model may fit to the precision of
// float64.
func Noiseless() []Series {
	line := func(x float64) float64 { return 2*x + 1 }
	sum := func(x float64) float64 { return 2*x + math.Sin(x) }
	far := func(x float64) float64 { return 1e7 + math.Sin(3*x) }
	return []Series{
		Series{Name: "line"}.at(200, 0, 10, line),
		Series{Name: "line of 51"}.at(51, 0, 50, func(x float64) float64 { return 3 * x }),
		Series{Name: "line of 5"}.at(5, 0, 4, line),
		Series{Name: "line from the paper's start", Paper: true}.at(200, 0, 10, line),
		Series{Name: "line with noise of 1e-3", Rich: true}.at(200, 0, 10,
			func(x float64) float64 { return line(x) + 1e-3*math.Sin(1e5*x*x) }),
		Series{Name: "constant"}.at(100, 0, 10, func(float64) float64 { return 4 }),
		Series{Name: "square"}.at(200, -3, 3, func(x float64) float64 { return x * x }),
		Series{Name: "cubic"}.at(150, -3, 3, func(x float64) float64 { return x*x*x - 4*x }),
		Series{Name: "exponential"}.at(200, 0, 10, func(x float64) float64 { return math.Exp(-x) }),
		Series{Name: "sine on a line"}.at(200, 0, 10, func(x float64) float64 { return math.Sin(3*x) + x }),
		Series{Name: "two sines"}.at(300, 0, 20, func(x float64) float64 { return math.Sin(3*x) + math.Cos(7.3*x) }),
		Series{Name: "steps", Rich: true}.at(200, 0, 10, func(x float64) float64 { return math.Floor(x / 2) }),
		Series{Name: "square wave", Rich: true}.at(240, 0, 12,
			func(x float64) float64 { return math.Copysign(1, math.Sin(2*math.Pi*(x+0.01)/4)) }),
		Series{Name: "chirp", Rich: true}.at(400, 0, 10, func(x float64) float64 { return math.Sin(x * x) }),
		Series{Name: "y times 1e6"}.at(200, 0, 10, func(x float64) float64 { return 1e6 * sum(x) }),
		Series{Name: "y times 1e-6"}.at(200, 0, 10, func(x float64) float64 { return 1e-6 * sum(x) }),
		Series{Name: "x times 1e6"}.at(200, 0, 1e7, func(x float64) float64 { return sum(1e-6 * x) }),
		Series{Name: "offset of 1e7"}.at(200, 0, 10, far),
		Series{Name: "offset of 1e7 in its own units", Raw: true}.at(200, 0, 10, far),
	}
}

// at returns the series with n values of f at evenly spaced x from lo to hi.
func (s Series) at(n int, lo, hi float64, f func(x float64) float64) Series {
	for i := range n {
		x := lo + (hi-lo)*float64(i)/float64(n-1)
		s.X, s.Y = append(s.X, x), append(s.Y, f(x))
	}
	return s
}

// CheckTerms checks that a bound's terms are finite and that no squared error is negative.
func CheckTerms(t testing.TB, terms []variational.Term) {
	t.Helper()
	for _, term := range terms {
		if math.IsNaN(term.Value) || math.IsInf(term.Value, 0) || term.Name == "fit" && term.Value > 0 {
			t.Errorf("term %s is %v", term.Name, term.Value)
		}
	}
}

// Check checks a prediction at the series' rows with the standard deviations of observations. The
// error must be at most a fifth of the data's standard deviation, and the density must be finite.
func (s Series) Check(t *testing.T, mean, sd []float64) {
	t.Helper()
	middle, variance, size := 0.0, 0.0, 0.0
	n := float64(len(s.Y))
	for _, y := range s.Y {
		middle += y / n
		size = max(size, math.Abs(y))
	}
	for _, y := range s.Y {
		variance += (y - middle) * (y - middle) / n
	}
	rmse, spread, density := bayes.RMSE(mean, s.Y), math.Sqrt(variance), -bayes.NLPD(mean, sd, s.Y)
	t.Logf("RMSE %.2g times the data's sd, mean log density %.4g", rmse/max(spread, math.SmallestNonzeroFloat64), density)
	if !(rmse <= max(spread/5, 1e-9*size)) {
		t.Errorf("RMSE %g of data with sd %g", rmse, spread)
	}
	if math.IsNaN(density) || math.IsInf(density, 0) {
		t.Errorf("mean log density %v", density)
	}
}
