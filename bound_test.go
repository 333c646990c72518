package vssgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/oracle"
	"github.com/vssgp/vssgp/spectral"
)

// TestBoundsAndGradients holds both bounds, and their derivatives by every
// parameter, to central differences in 192 bits.
func TestBoundsAndGradients(t *testing.T) {
	for _, c := range kinds {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, data := c.make()
			m, tr := mustModel(t, p), newTruth(p, data)
			e, err := m.Evaluate(data, Exact, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			checkEvaluation(t, c, "exact", e, tr, tr.exact)
			if e, err = m.Evaluate(data, Factorised, nil, true); err != nil {
				t.Fatal(err)
			}
			checkEvaluation(t, c, "factorised", e, tr, func() real { return tr.factorised(nil) })
			rows := []int{c.n - 1, 0, c.n / 2, 0} // unsorted, one twice
			if e, err = m.Evaluate(data, Factorised, rows, true); err != nil {
				t.Fatal(err)
			}
			checkEvaluation(t, c, "mini-batch", e, tr, func() real { return tr.factorised(rows) })
		})
	}
}

func checkEvaluation(t *testing.T, c kind, what string, e *Evaluation, tr *truth, bound func() real) {
	t.Helper()
	if want := bound().float(); !(math.Abs(e.Bound-want) <= trueBound*math.Abs(want)) {
		t.Errorf("%s bound %.15g, want %.15g", what, e.Bound, want)
	}
	if e.Jitter != 0 {
		t.Errorf("%s: jitter %g, want none", what, e.Jitter)
	}
	sum := 0.0
	for _, term := range e.Terms {
		sum += term.Value
	}
	if sum != e.Bound {
		t.Errorf("%s: terms add up to %v, the bound is %v", what, sum, e.Bound)
	}
	tol := trueGradient
	if c.hard {
		tol = trueGradientHard
	}
	for _, tensor := range e.Gradient.Tensors() {
		if what == "exact" && (tensor.Name == "coefficient.mean" || tensor.Name == "coefficient.variance") {
			continue
		}
		scale, diff, at := 0.0, 0.0, ""
		for i, got := range *tensor.Data {
			if tr.p.Fixed(tensor.Name, i) || testing.Short() && i%3 != 0 {
				continue
			}
			want := tr.slope(tensor.Name, i, bound)
			scale = max(scale, math.Abs(want))
			if d := math.Abs(got - want); !(d <= diff) {
				diff, at = d, fmt.Sprintf("%s[%d] is %.12g, want %.12g", tensor.Name, i, got, want)
			}
		}
		if !(diff <= tol*scale) {
			t.Errorf("%s gradient: %s, off by %.2g of the array's largest entry", what, at, diff/scale)
		}
		t.Logf("%s ∂/∂%s: %.1e", what, tensor.Name, diff/max(scale, math.SmallestNonzeroFloat64))
	}
}

// TestAgainstOracle compares the bounds of larger models, cut into many tiles
// and blocks, with the oracle's.
func TestAgainstOracle(t *testing.T) {
	for _, c := range []kind{
		{name: "three inputs, many rows", n: 300, l: 3, k: 30, q: 3, d: 2},
		{name: "fixed, one input", n: 260, l: 1, k: 70, q: 1, d: 1, fixed: true},
		{name: "many windows", n: 400, l: 40, k: 2, q: 1, d: 2, windows: 8},
		{name: "many windows, half without components", n: 400, l: 20, k: 3, q: 2, d: 1, windows: 9, skip: 2},
		{name: "more features than rows, many", n: 20, l: 2, k: 60, q: 2, d: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, data := c.make()
			m, op := mustModel(t, p), toOracle(p)
			xs, ys := nest(data.X, data.N), nest(data.Y, data.N)
			rows := []int{3, 17, 4, 19, 11}
			for _, b := range []struct {
				name      string
				inference Inference
				rows      []int
				want      float64
			}{
				{"exact", Exact, nil, oracle.Exact(op, xs, ys)},
				{"factorised", Factorised, nil, oracle.Factorised(op, xs, ys, nil)},
				{"mini-batch", Factorised, rows, oracle.Factorised(op, xs, ys, rows)},
			} {
				e, err := m.Evaluate(data, b.inference, b.rows, false)
				if err != nil {
					t.Fatal(err)
				}
				if !(math.Abs(e.Bound-b.want) <= oracleBound*math.Abs(b.want)) {
					t.Errorf("%s bound %.15g, want %.15g", b.name, e.Bound, b.want)
				}
				if e.Gradient != nil {
					t.Errorf("%s: a gradient that was not asked for", b.name)
				}
			}
		})
	}
}

// TestGradientAgainstOracle: every derivative of a middling model, rows in
// several tiles, against the oracle's Richardson differences.
func TestGradientAgainstOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the oracle differentiates a bound of 150 rows hundreds of times")
	}
	for _, c := range []kind{
		{name: "two inputs, in tiles", n: 150, l: 2, k: 5, q: 2, d: 2},
		{name: "windows, in tiles", n: 150, l: 8, k: 2, q: 1, d: 1, windows: 4, fixed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, data := c.make()
			e, err := mustModel(t, p).Evaluate(data, Exact, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			want := oracle.GradExact(toOracle(p), nest(data.X, data.N), nest(data.Y, data.N)).Tensors()
			for i, tensor := range e.Gradient.Tensors() {
				got, w := *tensor.Data, want[i].Values()
				if len(w) == 0 || p.Fixed(tensor.Name, 0) {
					continue
				}
				near(t, "∂/∂"+tensor.Name, got, w, oracleGradient)
			}
		})
	}
}

// TestWindowsAlongAnotherInput: windows along the second input are windows
// along the first with the inputs exchanged.
func TestWindowsAlongAnotherInput(t *testing.T) {
	p, data := kind{name: "swapped", n: 40, l: 6, k: 2, q: 2, d: 1, windows: 3}.make()
	first, err := mustModel(t, p).Evaluate(data, Exact, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	swap := func(a []float64) []float64 {
		b := make([]float64, len(a))
		for i := 0; i < len(a); i += 2 {
			b[i], b[i+1] = a[i+1], a[i]
		}
		return b
	}
	s := p.Clone()
	s.Windows.Dim = 1
	for _, a := range []*[]float64{&s.Lengthscale, &s.Frequency, &s.Location, &s.FreqMean, &s.FreqVar} {
		*a = swap(*a)
	}
	turned := &Data{N: data.N, Q: 2, D: 1, X: swap(data.X), Y: data.Y}
	second, err := mustModel(t, s).Evaluate(turned, Exact, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "bound", []float64{second.Bound}, []float64{first.Bound}, rounding)
	near(t, "∂/∂z", second.Gradient.Location, swap(first.Gradient.Location), rounding)
	near(t, "∂/∂σ²", second.Gradient.Variance, first.Gradient.Variance, rounding)
	if _, err := mustModel(t, s).Evaluate(data, Exact, nil, false); err != nil {
		t.Fatal(err)
	}
}

// TestJitter: it is added where there is no Cholesky factor, and only there; a
// matrix that it cannot help is an error.
func TestJitter(t *testing.T) {
	gram := func(diagonal float64) *spectral.Gram { // ones, singular but for λ
		g := spectral.NewGram([]int{0, 3})
		for i := range g.Diag[0] {
			g.Diag[0][i] = 1
		}
		g.Diag[0][8] = diagonal
		return g
	}
	for _, c := range []struct {
		name             string
		diagonal, lambda float64
		jitter           float64 // times its first size; 0: none, negative: refused
	}{
		{"well conditioned", 1, 0.1, 0},
		{"singular", 1, 0, 1},
		{"negative by a little", 1 - 1e-8, 0, 100},
		{"negative by as much as jitter mends", 1 - 1e-5, 0, 1e5},
		{"negative by more", 1 - 1e-4, 0, -1},
		{"negative", -1, 0.1, -1},
		{"not a number", math.NaN(), 0.1, -1},
	} {
		h := &held{ctx: context.Background(), rows: given{gram: gram(c.diagonal)}, d: 1}
		f := spectral.NewFeatures(3, 1)
		mom := spectral.NewMoments(f, 1)
		mom.Gram.CopyFrom(gram(c.diagonal))
		_, jitter, err := h.factor(f, mom, c.lambda, blocktri.Factorise)
		if c.jitter < 0 {
			if !errors.Is(err, ErrBound) {
				t.Errorf("%s: error %v, want one that wraps ErrBound", c.name, err)
			}
			continue
		}
		if want := c.jitter * jitterFirst * ((2+c.diagonal)/3 + c.lambda); err != nil || math.Abs(jitter-want) > 1e-9*want {
			t.Errorf("%s: jitter %g, want %g (error %v)", c.name, jitter, want, err)
		}
	}
}

// given are rows whose moments are known.
type given struct {
	spectral.Rows
	gram *spectral.Gram
}

func (g given) Moments(dst *spectral.Moments, _ *spectral.Features) error {
	dst.Gram.CopyFrom(g.gram)
	return nil
}
