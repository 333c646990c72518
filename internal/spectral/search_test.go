package spectral

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// open opens rows on the CPU.
func open(t *testing.T, x, y []float64) (*Domain, *backend.Data, *variational.Rows) {
	t.Helper()
	data := &backend.Data{N: len(x), Q: 1, D: 1, X: x, Y: y}
	rows, err := variational.Open(t.Context(), *data, variational.Setting{Backend: cpu.New()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rows.Close() })
	return NewDomain(data), data, rows
}

// draw returns a draw from a Gaussian process with the covariance of a component.
func draw(x []float64, c Component, rng *rand.Rand) []float64 {
	n := len(x)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, c.covariance(x[i]-x[j]))
		}
		k.SetSym(i, i, k.At(i, i)+1e-8)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		panic("no factor")
	}
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	var l mat.TriDense
	chol.LTo(&l)
	var f mat.VecDense
	f.MulVec(&l, z)
	return f.RawVector().Data
}

// dense returns the log evidence of a model by the covariance matrix.
func dense(d *Domain, m Model, x, y []float64) float64 {
	n := len(x)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := d.Constant * d.Constant
			for _, c := range m.Components {
				v += c.covariance(x[i] - x[j])
			}
			if i == j {
				v += m.Noise * m.Noise
			}
			k.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		panic("no factor")
	}
	v := mat.NewVecDense(n, y)
	var s mat.VecDense
	if err := chol.SolveVecTo(&s, v); err != nil {
		panic(err)
	}
	return -0.5*mat.Dot(v, &s) - 0.5*chol.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
}

// TestEvidenceIsExact compares the log evidence of structures with the covariance matrix.
func TestEvidenceIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var x, y []float64
	for range 120 {
		x = append(x, 10*rng.Float64())
		y = append(y, rng.NormFloat64()+math.Sin(3*x[len(x)-1]))
	}
	for _, c := range [][]Component{
		nil,
		{made(Line, 0.7, 0.5, 0)},
		{made(Band, 1.2, 2, 0.8)},
		{made(RBF, 0.9, 0, 0.6)},
		{made(RBF, 0.9, 0, 30)},
		{made(M32, 1.1, 0, 2)},
		{made(Damped, 1.1, 0.7, 2)},
		{made(OU, 1.1, 0, 2), made(Line, 0.5, 1.1, 0)},
		{made(RBF, 0.5, 0, 2), made(Line, 1, 1.5, 0), made(Band, 0.3, 3, 20)},
	} {
		d, data, rows := open(t, x, y)
		s := New(t.Context(), data, rows, func(Candidate) {})
		m := Model{Components: c, Noise: 0.5}
		got, err := s.evaluate(m)
		testkit.OK(t, err)
		if want := dense(d, m, x, y); math.Abs(got.LogEvidence-want) > 1e-3 {
			t.Errorf("%v: log evidence %.6f, want %.6f", c, got.LogEvidence, want)
		}
	}
}

// TestSlopes compares the gradient of the objective with finite differences.
func TestSlopes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	var x, y []float64
	for i := range 80 {
		x = append(x, float64(i))
		y = append(y, rng.NormFloat64()+math.Sin(float64(i)/5))
	}
	_, data, rows := open(t, x, y)
	s := New(t.Context(), data, rows, func(Candidate) {})
	m := Model{Components: []Component{made(Line, 0.7, 0.1, 0), made(Band, 0.5, 0.2, 30), made(RBF, 0.9, 0, 9), made(M32, 0.4, 0, 20), made(OU, 0.3, 0, 10), made(Damped, 0.4, 0.15, 12)}, Noise: 0.8}
	checkSlopes(t, s, m)
}

// checkSlopes compares the gradient of the objective at a model with finite differences.
func checkSlopes(t *testing.T, s *Search, m Model) {
	t.Helper()
	o := s.newObjective(m)
	v := s.domain.read(m)
	slope := make([]float64, len(v))
	_, err := o.at(v, slope)
	testkit.OK(t, err)
	for i := range v {
		const step = 1e-5
		ignored := make([]float64, len(v))
		at := slices.Clone(v)
		at[i] += step
		up, err := o.at(at, ignored)
		testkit.OK(t, err)
		at[i] -= 2 * step
		down, err := o.at(at, ignored)
		testkit.OK(t, err)
		if want := (up - down) / (2 * step); math.Abs(slope[i]-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("coordinate %d: slope %g, want %g", i, slope[i], want)
		}
	}
}

// TestFindsTheStructure checks the kinds that a search finds in data with known components.
func TestFindsTheStructure(t *testing.T) {
	slow.Race(t)
	for _, test := range []struct {
		name  string
		made  []Component
		noise float64
		want  string
	}{
		{"noise", nil, 1, ""},
		{"line", []Component{made(Line, 0.7, 0.11, 0)}, 0.3, "line"},
		{"lines", []Component{made(Line, 0.7, 0.11, 0), made(Line, 0.5, 0.37, 0)}, 0.3, "line line"},
		{"rbf", []Component{made(RBF, 1, 0, 6)}, 0.1, "rbf"},
		{"band", []Component{made(Band, 1, 0.2, 15)}, 0.1, "band"},
		{"damped", []Component{made(Damped, 1, 0.1, 12)}, 0.2, "damped"},
		{"line and rbf", []Component{made(RBF, 1, 0, 12), made(Line, 0.7, 0.31, 0)}, 0.2, "line rbf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 1))
			var x []float64
			for i := range 300 {
				if i < 120 || i > 140 {
					x = append(x, float64(i))
				}
			}
			y := make([]float64, len(x))
			for _, c := range test.made {
				for i, f := range draw(x, c, rng) {
					y[i] += f
				}
			}
			for i := range y {
				y[i] += test.noise * rng.NormFloat64()
			}
			_, data, rows := open(t, x, y)
			found, err := New(t.Context(), data, rows, func(Candidate) {}).Run()
			testkit.OK(t, err)
			if got := found[0].structure(); got != test.want {
				t.Errorf("found %v, want %q", found[0].Components, test.want)
			}
			if math.Abs(math.Log(found[0].Noise/test.noise)) > 0.2 {
				t.Errorf("noise %g, want %g", found[0].Noise, test.noise)
			}
		})
	}
}

// TestReplay checks that a search that was interrupted after any result continues with the same bits.
func TestReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var x, y []float64
	for i := range 150 {
		x = append(x, float64(i))
		y = append(y, math.Sin(float64(i)/4)+0.5*math.Sin(float64(i)*float64(i)/900)+0.2*rng.NormFloat64())
	}
	_, data, rows := open(t, x, y)
	full := New(t.Context(), data, rows, func(Candidate) {})
	want, err := full.Run()
	testkit.OK(t, err)
	for _, steps := range []int{0, 1, len(full.Log) / 2, len(full.Log) - 1} {
		s := New(t.Context(), data, rows, func(Candidate) {})
		stop := errors.New("stop")
		s.Keep = func() error {
			if len(s.Log) > steps {
				return stop
			}
			return nil
		}
		if _, err := s.Run(); !errors.Is(err, stop) {
			t.Fatalf("after %d results: %v", steps, err)
		}
		text := testkit.Must(json.Marshal(s.Log))(t)
		next := New(t.Context(), data, rows, func(Candidate) {})
		testkit.OK(t, json.Unmarshal(text, &next.Log))
		got, err := next.Run()
		testkit.OK(t, err)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %d results: %v, want %v", steps, got, want)
		}
	}
}

// TestDomain checks the number and the spacing of distinct times.
func TestDomain(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for name, test := range map[string]struct {
		at       func(i int) float64
		distinct int
		spacing  float64
	}{
		"even":      {func(i int) float64 { return 0.5 * float64(i) }, 100, 0.5},
		"repeated":  {func(i int) float64 { return float64(i / 5) }, 20, 1},
		"nearly":    {func(i int) float64 { return float64(i/5) + 1e-3*rng.Float64() }, 20, 1},
		"same time": {func(i int) float64 { return float64(i / 50) }, 2, 1},
	} {
		x := testkit.Numbers(100, test.at)
		y := testkit.Numbers(100, func(i int) float64 { return 7 + 2*float64(i%2) })
		d := NewDomain(&backend.Data{N: 100, Q: 1, D: 1, X: x, Y: y})
		if d.Distinct != test.distinct || math.Abs(d.Spacing-test.spacing) > 0.01*test.spacing {
			t.Errorf("%s: %d distinct times, spacing %g", name, d.Distinct, d.Spacing)
		}
		if math.Abs(d.Unit-1) > 1e-12 || math.Abs(d.Constant-math.Sqrt(65)) > 1e-12 {
			t.Errorf("%s: unit %g, constant %g", name, d.Unit, d.Constant)
		}
	}
}
