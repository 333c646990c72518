package ar

import (
	"context"
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

// TestDensityIntegrates checks that the spectral density integrates to the variance and is even.
func TestDensityIntegrates(t *testing.T) {
	for _, c := range processes {
		x := process(c.model, 200_000, 4)
		variance := Autocorrelation(x, 0)[0]
		if got := covariance(c.model, 0)[0]; math.Abs(got-variance) > 0.05*variance {
			t.Errorf("%s: the density integrates to %v, the samples' variance is %v", c.name, got, variance)
		}
		if a, b := c.model.Density(0.13), c.model.Density(-0.13); math.Abs(a-b) > 1e-12*a {
			t.Errorf("%s: density %v at 0.13, %v at −0.13", c.name, a, b)
		}
	}
	if d := (Model{A: []float64{1, -0.9}, E: 1}).Density(0); math.Abs(d-100) > 1e-9 {
		t.Errorf("density of 1/|1 − 0.9|² at 0 is %v, want 100", d)
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

// TestModifiedCovariance checks that sinusoids are predicted exactly and that a model is approximately recovered from samples.
func TestModifiedCovariance(t *testing.T) {
	for _, c := range processes[1:] {
		testkit.Within(t, c.name, modifiedCovariance(process(c.model, 100_000, 5), len(c.model.A)-1), c.model.A, 0.02)
	}
	x := tones(200)
	for _, p := range []int{6, 20} { // three sinusoids need six
		a := modifiedCovariance(x, p)
		for n := p; n < len(x); n++ {
			e := 0.0
			for j, v := range a {
				e += v * x[n-j]
			}
			if math.Abs(e) > 1e-6 {
				t.Fatalf("order %d: error %g at sample %d of three sinusoids, want none", p, e, n)
			}
		}
	}
	if a := modifiedCovariance(make([]float64, 20), 4); !slices.Equal(a, []float64{1, 0, 0, 0, 0}) {
		t.Errorf("silence: %v", a)
	}
}

// TestModifiedCovarianceIsMinimum checks that the coefficients minimize the forward and backward error.
func TestModifiedCovarianceIsMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	z := testkit.Numbers(80, func(int) float64 { return r.NormFloat64() })
	cost := func(a []float64) (e float64) {
		for n := 5; n < len(z); n++ {
			var f, b float64
			for k, v := range a {
				f += v * z[n-k]
				b += v * z[n-5+k]
			}
			e += f*f + b*b
		}
		return e
	}
	a := modifiedCovariance(z, 5)
	least := cost(a)
	for k := 1; k <= 5; k++ {
		for _, step := range []float64{-1e-3, 1e-3} {
			a[k] += step
			if cost(a) <= least {
				t.Errorf("a_%d moved by %g costs less: not the minimum", k, step)
			}
			a[k] -= step
		}
	}
}

// tones returns the sum of three sinusoids.
func tones(n int) []float64 {
	return testkit.Numbers(n, func(i int) float64 {
		return math.Sin(0.2*float64(i)) + 0.6*math.Sin(0.53*float64(i)+1) + 0.3*math.Cos(1.1*float64(i))
	})
}

// indices returns the indices in [start, end) for each pair.
func indices(at ...int) (missing []int) {
	for i := 0; i < len(at); i += 2 {
		for j := at[i]; j < at[i+1]; j++ {
			missing = append(missing, j)
		}
	}
	return missing
}

// TestFill checks the error of fills of sinusoids, that known samples are unchanged, and that values in gaps are ignored.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		name    string
		order   int
		missing []int
		rounds  int
		within  float64 // share of the tones' rms
	}{
		{"one gap", 32, indices(500, 520), 8, 1e-10},
		{"several", 32, indices(100, 110, 300, 330, 700, 705), 8, 1e-3},
		{"single samples", 32, indices(100, 101, 103, 104, 500, 501), 8, 1e-3},
		{"at both ends", 32, indices(0, 5, 995, 1000), 8, 1e-2},
		{"higher order", 100, indices(500, 540), 8, 1e-3},
		{"one round", 32, indices(500, 520), 1, 1e-3},
	} {
		want := tones(1000)
		x, y := slices.Clone(want), slices.Clone(want)
		power, square := 0.0, 0.0
		for _, i := range c.missing {
			x[i], y[i] = 1e6, math.NaN()
		}
		if !fill(context.Background(), x, c.missing, c.order, c.rounds) || !fill(context.Background(), y, c.missing, c.order, c.rounds) {
			t.Errorf("%s: not filled", c.name)
		}
		if !slices.Equal(x, y) {
			t.Errorf("%s: the fill depends on the values in the gaps", c.name)
		}
		for i, v := range want {
			power += v * v / 1000
			if d := x[i] - v; slices.Contains(c.missing, i) {
				square += d * d
			} else if d != 0 {
				t.Fatalf("%s: known sample %d went from %v to %v", c.name, i, v, x[i])
			}
		}
		if share := math.Sqrt(square / float64(len(c.missing)) / power); !(share < c.within) {
			t.Errorf("%s: the fill is %.2g of the tones' rms off, want below %g", c.name, share, c.within)
		}
	}
}

// TestFillDegenerateData checks that Fill leaves the series unchanged and returns false if there are too few samples, and fills
// silence with silence.
func TestFillDegenerateData(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       []float64
		missing []int
		order   int
		want    []float64
		ok      bool
	}{
		{"nothing known", []float64{1, 2, 3}, indices(0, 3), 1, []float64{1, 2, 3}, false},
		{"too short", []float64{1, 5, 3}, indices(1, 3), 4, []float64{1, 5, 3}, false},
		{"no order", []float64{1, 5, 3}, indices(1, 2), 0, []float64{1, 5, 3}, false},
		{"empty", nil, nil, 3, nil, false},
		{"nothing missing", []float64{1, 5, 3}, nil, 1, []float64{1, 5, 3}, true},
		{"silence", []float64{0, 0, 7, 0, 0}, indices(2, 3), 2, []float64{0, 0, 0, 0, 0}, true},
	} {
		if ok := fill(context.Background(), c.x, c.missing, c.order, 3); ok != c.ok || !slices.Equal(c.x, c.want) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, ok, c.x, c.ok, c.want)
		}
	}
}

// TestSolveMissing checks that the fill minimizes the forward and backward error.
func TestSolveMissing(t *testing.T) {
	m := processes[3].model
	for _, u := range [][]int{{20, 21, 22, 25, 40}, {0, 1, 30, 58, 59}} {
		x := process(m, 60, 9)
		if !solveMissing(x, u, m.A) {
			t.Fatalf("%v: not solved", u)
		}
		cost := func() float64 {
			s, p := 0.0, len(m.A)-1
			for n := 0; n+p < len(x); n++ {
				var e, f float64
				for j, a := range m.A {
					e += a * x[n+p-j]
					f += a * x[n+j]
				}
				s += e*e + f*f
			}
			return s
		}
		least := cost()
		for _, i := range u {
			for _, step := range []float64{1e-3, -1e-3} {
				x[i] += step
				if c := cost(); c <= least {
					t.Errorf("%v: sample %d moved by %g: the sum is %v, at the fill %v", u, i, step, c, least)
				}
				x[i] -= step
			}
		}
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

// TestPeriodogram compares Periodogram with its definition and checks that it adds to its argument.
func TestPeriodogram(t *testing.T) {
	x := process(processes[1].model, 23, 12)
	n := PeriodogramSize(len(x))
	power := make([]float64, n/2+1)
	Periodogram(power, x)
	Periodogram(power, x)
	want := testkit.Numbers(len(power), func(k int) float64 {
		re, im := 0.0, 0.0
		for i, v := range x {
			s, c := math.Sincos(2 * math.Pi * float64(k*i) / float64(n))
			re, im = re+v*c, im+v*s
		}
		return 2 * (re*re + im*im)
	})
	testkit.Within(t, "powers", power, want, 1e-10*(1+slices.Min(want)))
}

// Density returns the two-sided power spectral density of the model at a frequency in cycles per sample. Its integral over [−½, ½] is
// the variance.
func (m Model) Density(f float64) float64 {
	var re, im float64
	s1, c1 := math.Sincos(-2 * math.Pi * f)
	c, s := 1.0, 0.0
	for _, a := range m.A {
		re += a * c
		im += a * s
		c, s = c*c1-s*s1, c*s1+s*c1
	}
	return m.E / (re*re + im*im)
}
