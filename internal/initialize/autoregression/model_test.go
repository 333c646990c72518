package autoregression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// process simulates n samples of an autoregressive model after a transient.
func process(m Model, n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	const settle = 2000
	x := make([]float64, settle+n)
	for i := range x {
		x[i] = math.Sqrt(m.E) * rng.NormFloat64()
		for j := 1; j < len(m.A) && j <= i; j++ {
			x[i] -= m.A[j] * x[i-j]
		}
	}
	return x[settle:]
}

var processes = []struct {
	name  string
	model Model
}{
	{"white", Model{A: []float64{1}, E: 4}},
	{"low-pass", Model{A: []float64{1, -0.9}, E: 1}},
	{"resonance", Model{A: []float64{1, -1.6, 0.81}, E: 0.5}},
	{"two resonances", Model{A: []float64{1, -0.4, 0.45, -0.2, 0.5}, E: 2}},
}

// covariance returns r_j of a model, j = 0, …, order, by integration of its spectral density.
func covariance(m Model, order int) []float64 {
	const steps = 20_000
	r := make([]float64, order+1)
	for i := range steps {
		f := (float64(i)+0.5)/steps - 0.5
		d := m.Density(f) / steps
		for j := range r {
			r[j] += d * math.Cos(2*math.Pi*f*float64(j))
		}
	}
	return r
}

// TestYuleWalker checks that a model is recovered from its covariances and approximately from samples, and that a higher order adds
// zeros.
func TestYuleWalker(t *testing.T) {
	for _, c := range processes {
		p := len(c.model.A) - 1
		exact := YuleWalker(covariance(c.model, p+3))
		sampled := YuleWalker(Autocorrelation(process(c.model, 200_000, 3), p))
		if math.Abs(exact.E-c.model.E) > 1e-6*c.model.E || math.Abs(sampled.E-c.model.E) > 0.02*c.model.E {
			t.Errorf("%s: E = %v from covariances, %v from samples, want %v", c.name, exact.E, sampled.E, c.model.E)
		}
		testkit.Within(t, c.name+", from samples", sampled.A, c.model.A, 0.02)
		testkit.Within(t, c.name+", from covariances", exact.A, append(slices.Clone(c.model.A), 0, 0, 0), 1e-6)
	}
}

func TestAutocorrelation(t *testing.T) {
	testkit.Within(t, "r", Autocorrelation([]float64{1, 2, 3}, 4), []float64{14.0 / 3, 8.0 / 3, 1, 0, 0}, 1e-15)
}

// TestDegenerate checks that silence and a pure tone have finite models.
func TestDegenerate(t *testing.T) {
	if m := YuleWalker(make([]float64, 5)); m.E != 0 || m.A[0] != 1 || slices.Max(m.A[1:]) != 0 {
		t.Errorf("silence: %+v", m)
	}
	r := testkit.Numbers(40, func(j int) float64 { return math.Cos(0.3 * float64(j)) })
	m := YuleWalker(r)
	if m.E < 0 || math.IsNaN(m.E) || slices.ContainsFunc(m.A, math.IsNaN) {
		t.Errorf("pure tone: %+v", m)
	}
	peak, off := m.Density(0.3/(2*math.Pi)), m.Density(0.2)
	if !(peak > 1e6*off) {
		t.Errorf("pure tone: density %g on it, %g off it", peak, off)
	}
}

// TestAutocorrelationTransformed compares the transform with direct sums, including lags beyond the series, and checks that it is
// used for long series.
func TestAutocorrelationTransformed(t *testing.T) {
	x := process(processes[3].model, 3000, 11)
	for _, c := range []struct{ n, order int }{{1, 0}, {2, 5}, {3, 2}, {100, 30}, {997, 996}, {3000, 1000}} {
		want, got := Autocorrelation(x[:c.n], c.order), transformed(x[:c.n], c.order)
		testkit.Within(t, fmt.Sprintf("%d samples, order %d", c.n, c.order), got, want, 1e-13*want[0])
	}
	if n := directProducts / 8; !slices.Equal(Autocorrelation(make([]float64, n), 8), make([]float64, 9)) || !byTransform(n, 8) || byTransform(2048, 1024) {
		t.Error("windows must use direct sums, long series the transform")
	}
}
