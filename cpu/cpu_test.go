package cpu_test

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/simd"
)

func open(testing.TB) backend.Backend { return cpu.New() }

// eachSet calls f with every instruction set that the processor has.
func eachSet(t *testing.T, f func(t *testing.T)) {
	now, _ := simd.Chosen()
	defer func() {
		if err := simd.Use(now.String()); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range simd.Sets() {
		if err := simd.Use(s.String()); err != nil {
			t.Fatal(err)
		}
		t.Run(s.String(), f)
	}
}

func TestBackend(t *testing.T) {
	eachSet(t, func(t *testing.T) { backendtest.Run(t, open) })
}

func FuzzBackend(f *testing.F) { backendtest.Fuzz(f, open) }

// TestUnknownSet: rows are not opened where the environment asks for an
// instruction set that is not there.
func TestUnknownSet(t *testing.T) {
	if os.Getenv(simd.Variable) == "abacus" {
		d, _ := made(3, 2, 0)
		if _, err := cpu.New().Open(d); err == nil || !strings.Contains(err.Error(), simd.Variable) {
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

// TestSets: the instruction sets agree to 1e-12 of each result's largest
// number.
func TestSets(t *testing.T) {
	for _, window := range []float64{0, 512} {
		var first [][]float64
		eachSet(t, func(t *testing.T) {
			p := newPasses(t, 1500, 75, window)
			for _, call := range p.calls {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}
			got := p.results()
			if first == nil {
				first = got
			}
			for i, a := range got {
				most := 0.0
				for _, v := range first[i] {
					most = max(most, math.Abs(v))
				}
				for j, v := range a {
					if !(math.Abs(v-first[i][j]) <= 1e-12*most) {
						t.Fatalf("result %d[%d] is %v, %v in plain Go, of %v at most", i, j, v, first[i][j], most)
					}
				}
			}
		})
	}
}

// TestAllocations: with many runs no pass allocates for each of them.
func TestAllocations(t *testing.T) {
	p := newPasses(t, 40000, 8, 512)
	for i, call := range p.calls {
		got := testing.AllocsPerRun(2, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		})
		if got > 40 {
			t.Errorf("pass %d allocates %v times, over 157 runs", i, got)
		}
	}
}

// passes are all methods of one problem's rows.
type passes struct {
	moments *backend.Moments
	bar     *backend.Features
	sums    *backend.FactorizedSums
	batch   *backend.FactorizedSums
	predict *backend.Prediction
	calls   []func() error
}

func newPasses(t testing.TB, n, m int, window float64) *passes {
	return passesOf(t, cpu.New(), n, m, window)
}

func passesOf(t testing.TB, b *cpu.Backend, n, m int, window float64) *passes {
	d, f := made(n, m, window)
	rows, err := b.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	w := backend.NewWeights(f.M, 1)
	for k := range w.Mean {
		w.Mean[k], w.Var[k] = math.Cos(float64(k)), 0.1
	}
	some := make([]int, 0, n/3)
	for i := 0; i < n; i += 3 {
		some = append(some, i)
	}
	p := &passes{
		moments: backend.NewMoments(f, 1), bar: backend.NewFeatures(f.M, 1), predict: backend.NewPrediction(n, 1),
		sums: backend.NewFactorizedSums(f, 1), batch: backend.NewFactorizedSums(f, 1),
	}
	p.calls = []func() error{
		func() error { return rows.Moments(p.moments, f) },
		func() error { return rows.Pullback(p.bar, f, p.moments) },
		func() error { return rows.Factorized(p.sums, f, w, nil) },
		func() error { return rows.Factorized(p.batch, f, w, some) },
		func() error {
			return rows.Predict(p.predict, f, &backend.Posterior{Mean: w.Mean, Cov: p.moments.Gram, D: 1})
		},
	}
	return p
}

func (p *passes) results() [][]float64 {
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
