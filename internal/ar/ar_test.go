package ar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// process runs n samples of an autoregressive model after its transient.
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

// covariance is r_j of a model, j = 0 … order, by integrating its density over
// frequencies.
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

// TestYuleWalker: from its own covariances a model comes back, from samples
// nearly; a higher order adds zeros.
func TestYuleWalker(t *testing.T) {
	for _, c := range processes {
		p := len(c.model.A) - 1
		exact := YuleWalker(covariance(c.model, p+3))
		sampled := YuleWalker(Autocorrelation(process(c.model, 200_000, 3), p))
		if math.Abs(exact.E-c.model.E) > 1e-6*c.model.E || math.Abs(sampled.E-c.model.E) > 0.02*c.model.E {
			t.Errorf("%s: E = %v from covariances, %v from samples, want %v", c.name, exact.E, sampled.E, c.model.E)
		}
		for j := range exact.A {
			want := 0.0
			if j <= p {
				want = c.model.A[j]
				if math.Abs(sampled.A[j]-want) > 0.02 {
					t.Errorf("%s: a_%d = %v from samples, want %v", c.name, j, sampled.A[j], want)
				}
			}
			if math.Abs(exact.A[j]-want) > 1e-6 {
				t.Errorf("%s: a_%d = %v from covariances, want %v", c.name, j, exact.A[j], want)
			}
		}
	}
}

// TestDensityIntegrates to the variance of the series, and is even.
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
	got := Autocorrelation([]float64{1, 2, 3}, 4)
	for j, want := range []float64{14.0 / 3, 8.0 / 3, 1, 0, 0} {
		if math.Abs(got[j]-want) > 1e-15 {
			t.Errorf("r_%d = %v, want %v", j, got[j], want)
		}
	}
}

// TestDegenerate: silence and a pure tone have models with numbers in them.
func TestDegenerate(t *testing.T) {
	if m := YuleWalker(make([]float64, 5)); m.E != 0 || m.A[0] != 1 || slices.Max(m.A[1:]) != 0 {
		t.Errorf("silence: %+v", m)
	}
	r := make([]float64, 40)
	for j := range r {
		r[j] = math.Cos(0.3 * float64(j))
	}
	m := YuleWalker(r)
	if m.E < 0 || math.IsNaN(m.E) || slices.ContainsFunc(m.A, math.IsNaN) {
		t.Errorf("pure tone: %+v", m)
	}
	peak, off := m.Density(0.3/(2*math.Pi)), m.Density(0.2)
	if !(peak > 1e6*off) {
		t.Errorf("pure tone: density %g on it, %g off it", peak, off)
	}
}

// gapped marks samples [start, end) of n as missing for each pair.
func gapped(n int, at ...int) []bool {
	m := make([]bool, n)
	for i := 0; i < len(at); i += 2 {
		for j := at[i]; j < at[i+1]; j++ {
			m[j] = true
		}
	}
	return m
}

// TestFill: gaps in sinusoids come back to a small part of their power, known
// samples untouched; what stood in the gaps does not matter.
func TestFill(t *testing.T) {
	tones := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(0.2*float64(i)) + 0.6*math.Sin(0.53*float64(i)+1) + 0.3*math.Cos(1.1*float64(i))
		}
		return x
	}
	for _, c := range []struct {
		name    string
		order   int
		missing []bool
		within  float64 // share of the tones' rms
	}{
		{"one gap", 32, gapped(1000, 500, 520), 0.1},
		{"several", 32, gapped(1000, 100, 110, 300, 330, 700, 705), 0.1},
		{"single samples", 32, gapped(1000, 100, 101, 103, 104, 500, 501), 0.05},
		{"at both ends", 32, gapped(1000, 0, 5, 995, 1000), 0.7}, // extrapolated, from the tapering estimate of Yule and Walker
		{"higher order", 100, gapped(1000, 500, 540), 0.1},
	} {
		want := tones(1000)
		x, y := slices.Clone(want), slices.Clone(want)
		var power, square, n float64
		for i, m := range c.missing {
			if m {
				x[i], y[i] = 1e6, math.NaN()
			}
		}
		Fill(x, c.missing, c.order)
		Fill(y, c.missing, c.order)
		if !slices.Equal(x, y) {
			t.Errorf("%s: what stood in the gaps changes the fill", c.name)
		}
		for i, m := range c.missing {
			power += want[i] * want[i] / 1000
			if !m && x[i] != want[i] {
				t.Fatalf("%s: known sample %d went from %v to %v", c.name, i, want[i], x[i])
			}
			if m {
				square += (x[i] - want[i]) * (x[i] - want[i])
				n++
			}
		}
		if share := math.Sqrt(square / n / power); !(share < c.within) {
			t.Errorf("%s: the fill is %.2g of the tones' rms off, want below %g", c.name, share, c.within)
		}
	}
}

// TestFillOddCases: nothing missing, nothing known, no order, silence.
func TestFillOddCases(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       []float64
		missing []bool
		order   int
		want    []float64
	}{
		{"nothing missing", []float64{1, 2, 3}, gapped(3), 1, []float64{1, 2, 3}},
		{"nothing known", []float64{1, 2, 3}, gapped(3, 0, 3), 1, []float64{0, 0, 0}},
		{"no order", []float64{1, 2, 3}, gapped(3, 1, 2), 0, []float64{1, 0, 3}},
		{"silence", []float64{0, 7, 0}, gapped(3, 1, 2), 2, []float64{0, 0, 0}},
		{"empty", nil, nil, 3, nil},
		{"order above the length", []float64{1, 0, 1}, gapped(3, 1, 2), 9, nil},
	} {
		Fill(c.x, c.missing, c.order)
		if c.want != nil && !slices.Equal(c.x, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.x, c.want)
		}
		if slices.ContainsFunc(c.x, math.IsNaN) {
			t.Errorf("%s: %v", c.name, c.x)
		}
	}
}

// TestSolveMinimises: the fill is the least-squares one: a step from it raises
// the sum of squared innovations.
func TestSolveMinimises(t *testing.T) {
	m := processes[3].model
	x := process(m, 60, 9)
	at := []int{20, 21, 22, 25, 40}
	m.solve(x, at)
	cost := func() float64 {
		s := 0.0
		for n := len(m.A) - 1; n < len(x); n++ {
			e := 0.0
			for j, a := range m.A {
				e += a * x[n-j]
			}
			s += e * e
		}
		return s
	}
	least := cost()
	for _, i := range at {
		for _, step := range []float64{1e-3, -1e-3} {
			x[i] += step
			if c := cost(); c <= least {
				t.Errorf("sample %d moved by %g: Σ e² = %v, at the fill %v", i, step, c, least)
			}
			x[i] -= step
		}
	}
}
