package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// eachSet runs f once for each set of the processor.
func eachSet(t *testing.T, f func(t *testing.T)) {
	was := use
	defer func() { use = was }()
	for _, s := range Sets() {
		t.Run(s.String(), func(t *testing.T) {
			testkit.OK(t, Use(s.String()))
			f(t)
		})
	}
}

// random fills panels with numbers in [−1, 1).
func random(r *rand.Rand, count, n int) Panels {
	p := NewPanels(count, n)
	for i := range p.Data {
		p.Data[i] = 2*r.Float64() - 1
	}
	return p
}

// randomParams returns random features over inputs in [0, n).
func randomParams(r *rand.Rand, count, q, n int) FeatureParams {
	b := newParams(count, q)
	for k := range count * Lanes {
		z, p, w := make([]float64, q), make([]float64, q), make([]float64, q)
		for i := range q {
			z[i], p[i], w[i] = float64(n)*r.Float64(), 4/float64(n)/float64(n)*r.Float64(), 3*r.Float64()
		}
		b.Set(k, z, p, w, 6*r.Float64())
	}
	return b
}

// kernels returns calls of all kernels on count panels of n rows.
func kernels(t *testing.T, count, n int) map[string]func() {
	s := newScene(t, 1, count, n, 1)
	m := count * Lanes
	c, acc, res := make([]float64, m*m), Aligned(n*Lanes), make([]float64, n)
	g := random(rand.New(rand.NewPCG(1, 1)), count, m)
	sums := make([]float64, count*max(FactorizedRows, SumRows(1))*Lanes)
	d := NewDense(1)
	params := randomParams(rand.New(rand.NewPCG(1, 2)), count, 1, n)
	x, steps, starts := make([]float64, n), Stepped{Delta: 1, Data: Aligned(SteppedRoom(count))}, Starts{}
	for i := range x {
		x[i] = float64(i)
	}
	params.Step(steps)
	tile := func(change func(*Tile)) Tile {
		t := Tile{Cos: s.cos, Sin: s.sin, Params: s.params, X: s.x, Gate: s.gate, Inv: s.inv}
		change(&t)
		return t
	}
	plain := tile(func(*Tile) {})
	fit := tile(func(t *Tile) { t.Acc, t.W = acc, s.w })
	even := tile(func(t *Tile) { t.Params, t.Steps, t.X = params, steps, x })
	evenFit := tile(func(t *Tile) { t.Params, t.Steps, t.X, t.Acc, t.W, t.Starts = params, steps, x, acc, s.w, &starts })
	f, b, w, table := Aligned(n), Aligned(n), Aligned(n), make([]complex128, 2*n+32)
	waves, jobs := make([]float64, count*WaveSums*Lanes), make([]float64, count*WaveRows*Lanes)
	positions, points := make([]int64, m), make([]int64, count)
	for i := range positions {
		positions[i], points[i/Lanes] = int64(n), int64(min(n, 16))
	}
	evenFit.Features() // allocates
	return map[string]func(){
		"Features":       func() { plain.Features() },
		"FeaturesFit":    func() { fit.Features() },
		"Step":           func() { params.Step(steps) },
		"FeaturesEven":   func() { even.Features() },
		"FitEven":        func() { evenFit.Features() },
		"FactorizedEven": func() { evenFit.Factorized(sums, res, s.lanes) },
		"Factorized":     func() { plain.Factorized(sums, res, s.lanes) },
		"Contract":       func() { plain.Contract(sums[:count*SumRows(1)*Lanes], s.bar, acc, s.lanes) },
		"Second":         func() { plain.Second(sums[:count*2*Lanes]) },
		"Along":          func() { Along(sums[:count*Lanes], s.cos, s.y, s.d) },
		"AddOutput":      func() { AddOutput(s.bar, s.y, s.d, s.w) },
		"SumWaves":       func() { SumWaves(waves, jobs, table, positions, points) },
		"Lattice":        func() { Lattice(f, b, w, 2, 3, 1e-9) },
		"Gram":           func() { Gram(c, m, s.cos, 0, count) },
		"Product":        func() { Product(s.bar, s.cos, g, 0, count) },
		"Dense": func() {
			clear(c)
			for i := range m {
				c[i*m+i] = 2
			}
			d.Cholesky(c, m, m)
			d.Inverse(c, m, m)
		},
	}
}

// TestAllocations checks that neither the kernels nor a Dense with workspace allocate memory.
func TestAllocations(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for name, run := range kernels(t, 3, 20) {
			most := 0.0
			if name == "Dense" { // the closures passed to parallel, a few words each
				most = 5
			}
			if n := testing.AllocsPerRun(10, run); n > most {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}
