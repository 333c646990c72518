package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

func open(testing.TB) backend.Backend { return New() }

// eachSet calls f with every instruction set of the CPU.
func eachSet(t *testing.T, f func(t *testing.T)) {
	now, _ := simd.Chosen()
	defer func() {
		testkit.OK(t, simd.Use(now.String()))
	}()
	for _, s := range simd.Sets() {
		testkit.OK(t, simd.Use(s.String()))
		t.Run(s.String(), f)
	}
}

func TestBackend(t *testing.T) {
	slow.Race(t)
	eachSet(t, func(t *testing.T) { backendtest.Run(t, open) })
}

func FuzzBackend(f *testing.F) { backendtest.Fuzz(f, open) }

// TestUnknownSet checks that Open returns an error if the environment names an instruction set that
// does not exist.
func TestUnknownSet(t *testing.T) {
	if os.Getenv(simd.Variable) == "abacus" {
		d, _ := made(3, 2, 0)
		if _, err := New().Open(d); err == nil || !strings.Contains(err.Error(), simd.Variable) {
			t.Errorf("error %v, want one that names %s", err, simd.Variable)
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestUnknownSet$")
	child.Env = append(os.Environ(), simd.Variable+"=abacus")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAllocations checks that passes do not allocate per run.
func TestAllocations(t *testing.T) {
	p := passesOf(t, New(), 40000, 8, 512)
	for i, call := range p.calls {
		got := testing.AllocsPerRun(2, func() {
			testkit.OK(t, call())
		})
		if got > 40 {
			t.Errorf("pass %d allocates %v times, over 157 runs", i, got)
		}
	}
}

// passes calls all methods of one problem's rows.
type passes struct {
	moments *backend.Moments
	bar     *backend.Features
	sums    *backend.FactorizedSums
	batch   *backend.FactorizedSums
	predict *backend.Prediction
	calls   []func() error
}

// passesOf returns the passes of random rows and features.
func passesOf(t testing.TB, b *Backend, n, m int, window float64) *passes {
	t.Helper()
	d, f := made(n, m, window)
	rows := testkit.Must(b.Open(d))(t)
	return newPasses(rows, d, f)
}

func newPasses(rows backend.Rows, d backend.Data, f *backend.Features) *passes {
	w := backend.NewWeights(f.M, d.D)
	for k := range w.Mean {
		w.Mean[k], w.Var[k] = math.Cos(float64(k)), 0.1
	}
	var some []int
	for i := 0; i < d.N; i += 3 {
		some = append(some, i)
	}
	p := &passes{
		moments: backend.NewMoments(f, d.D), bar: backend.NewFeatures(f.M, 1), predict: backend.NewPrediction(d.N, d.D),
		sums: backend.NewFactorizedSums(f, d.D), batch: backend.NewFactorizedSums(f, d.D),
	}
	p.calls = []func() error{
		func() error { return rows.Moments(p.moments, f) },
		func() error { return rows.Pullback(p.bar, f, p.moments) },
		func() error { return rows.Factorized(p.sums, f, w, nil) },
		func() error { return rows.Factorized(p.batch, f, w, some) },
		func() error {
			return rows.Predict(p.predict, f, &backend.Posterior{Mean: w.Mean, Cov: p.moments.Gram, D: d.D})
		},
	}
	return p
}

// results runs all passes and returns their results.
func (p *passes) results(t *testing.T) [][]float64 {
	t.Helper()
	for _, call := range p.calls {
		testkit.OK(t, call())
	}
	all := append([][]float64{p.moments.C, p.predict.Mean, p.predict.Cov}, slices.Concat(p.moments.Gram.Diag, p.moments.Gram.Below)...)
	for _, s := range []*backend.FactorizedSums{p.sums, p.batch} {
		all = append(all, []float64{s.Value}, s.Weights.Mean, s.Weights.Var)
	}
	for _, f := range []*backend.Features{p.bar, p.sums.Features, p.batch.Features} {
		for _, field := range f.Fields() {
			all = append(all, field.Data)
		}
	}
	return all
}

// agree compares results within 1e-12 of each array's largest number, and returns the count of numbers that differ.
func agree(t *testing.T, got, want [][]float64) (differ int) {
	t.Helper()
	for i, a := range want {
		most := 0.0
		for _, v := range a {
			most = max(most, math.Abs(v))
		}
		for j, v := range a {
			if !(math.Abs(got[i][j]-v) <= 1e-12*most) {
				t.Fatalf("result %d[%d] is %v, want %v; the largest number is %v", i, j, got[i][j], v, most)
			}
			if got[i][j] != v {
				differ++
			}
		}
	}
	return differ
}

// made returns rows of noise and features of moderate uncertainty, m in every window.
func made(n, m int, window float64) (backend.Data, *backend.Features) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := backend.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		d.X[i], d.Y[i] = float64(i), rng.NormFloat64()
	}
	var windows []int
	if window > 0 {
		d.Windows.Length = window
		for at := 0.0; at < float64(n); at += window / 2 {
			d.Windows.Center = append(d.Windows.Center, at)
		}
		for v := range d.Windows.Center {
			for range m {
				windows = append(windows, v)
			}
		}
		m = len(windows)
	}
	f := backend.NewFeatures(m, 1)
	f.Window, f.Windows = windows, d.Windows
	for k := range m {
		f.Center[k] = float64(n) * rng.Float64()
		if window > 0 {
			f.Center[k] = d.Windows.Center[windows[k]]
		}
		f.Decay[k], f.Freq[k], f.Phase[k] = 1e-4*rng.Float64(), rng.Float64(), 2*math.Pi*rng.Float64()
		f.Amp[k], f.Power[k], f.Ripple[k] = 1.2, 1, 0.8
	}
	return d, f
}

// TestNilArguments checks that all passes return an error for arguments that are nil, zero or of other
// shapes.
func TestNilArguments(t *testing.T) {
	rows := testkit.Must(New().Open(backend.Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}))(t)
	defer rows.Close()
	f := backend.NewFeatures(2, 1)
	var calls []modeltest.Call
	add := func(name string, err func() error) {
		calls = append(calls, modeltest.Call{Name: name, Do: err, Want: backend.ErrShape})
	}
	for i, f := range []*backend.Features{nil, {}, {M: -1, Q: -1}, {M: 1 << 62, Q: 4}, f} {
		for j, m := range []*backend.Moments{nil, {}, {D: 1, Gram: &backend.Gram{}}, {D: -1, C: make([]float64, 2)}} {
			add(fmt.Sprint("Moments ", i, j), func() error { return rows.Moments(m, f) })
			add(fmt.Sprint("Pullback ", i, j), func() error { return rows.Pullback(f, f, m) })
		}
		for j, s := range []*backend.FactorizedSums{nil, {}, {Features: f}} {
			for k, w := range []*backend.Weights{nil, {}, backend.NewWeights(2, 1)} {
				add(fmt.Sprint("Factorized ", i, j, k), func() error { return rows.Factorized(s, f, w, nil) })
			}
		}
		for j, p := range []*backend.Posterior{nil, {}, {D: 1, Mean: make([]float64, 2)},
			{D: 1, Mean: make([]float64, 2), Cov: &backend.Gram{}}} {
			add(fmt.Sprint("Predict ", i, j), func() error { return rows.Predict(backend.NewPrediction(3, 1), f, p) })
			add(fmt.Sprint("Predict into nothing ", i, j), func() error { return rows.Predict(nil, f, p) })
		}
		add(fmt.Sprint("Solve ", i), func() error { return rows.Solve(nil, f, 1) })
	}
	add("Pullback into nothing", func() error { return rows.Pullback(nil, f, backend.NewMoments(f, 1)) })
	for name, d := range map[string]*backend.Data{"nil": nil, "zero": {}, "negative": {N: -1, Q: -1, D: -1},
		"overflow": {N: 1 << 62, Q: 4, D: 4}} {
		add("Data.Check "+name, d.Check)
	}
	modeltest.CheckCalls(t, calls)
}
