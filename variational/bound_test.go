package variational_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// kind is a model of modeltest.
type kind = modeltest.Kind

// open opens data on the CPU.
func open(t testing.TB, data *backend.Data) *variational.Rows {
	t.Helper()
	return openOn(t, cpu.New(), data)
}

// openOn opens data on a backend.
func openOn(t testing.TB, device backend.Backend, data *backend.Data) *variational.Rows {
	t.Helper()
	rows := testkit.Must(variational.Open(context.Background(), *data, variational.Setting{Backend: device}))(t)
	t.Cleanup(func() {
		testkit.OK(t, rows.Close())
	})
	return rows
}

// evaluated returns the result of Rows.Evaluate and fails the test on an error.
func evaluated(t testing.TB, r *variational.Rows, p *variational.Params, inference variational.Inference, rows []int, gradient bool) *variational.Evaluation {
	t.Helper()
	return testkit.Must(r.Evaluate(p, inference, rows, gradient))(t)
}

// TestBoundsAndGradients compares both bounds and their derivatives with respect to every
// parameter with 192-bit values and central differences.
func TestBoundsAndGradients(t *testing.T) {
	for _, c := range modeltest.Kinds {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p, data := c.Make()
			r, tr := open(t, data), newTruth(p, data)
			e := evaluated(t, r, p, variational.Exact, nil, true)
			checkEvaluation(t, c, "exact", e, tr, tr.exact)
			e = evaluated(t, r, p, variational.Factorized, nil, true)
			checkEvaluation(t, c, "factorized", e, tr, func() precise.Real { return tr.factorized(nil) })
			rows := []int{c.N - 1, 0, c.N / 2, 0} // unsorted, one twice
			e = evaluated(t, r, p, variational.Factorized, rows, true)
			checkEvaluation(t, c, "mini-batch", e, tr, func() precise.Real { return tr.factorized(rows) })
		})
	}
}

func checkEvaluation(t *testing.T, c kind, what string, e *variational.Evaluation, tr *truth, bound func() precise.Real) {
	t.Helper()
	if want := bound().Float(); !(math.Abs(e.Bound-want) <= trueBound*math.Abs(want)) {
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
	if c.Hard {
		tol = trueGradientHard
	}
	tensors := tr.p.Tensors()
	for j, tensor := range e.Gradient.Tensors() {
		if what == "exact" && (tensor.Name == "coefficient.mean" || tensor.Name == "coefficient.variance") {
			continue
		}
		scale, diff, at := 0.0, 0.0, ""
		for i, got := range *tensor.Data {
			if tensors[j].Constant(i) {
				continue
			}
			scale = max(scale, math.Abs(got))
			if i%slow.Pick(1, 6) != 0 {
				continue
			}
			want := tr.slope(tensor.Name, i, bound)
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

// TestAgainstOracle compares the bounds of larger models, which need many tiles and blocks,
// with the oracle's bounds.
func TestAgainstOracle(t *testing.T) {
	for _, c := range []kind{
		{Name: "three inputs, many rows", N: 300, L: 3, K: 30, Q: 3, D: 2},
		{Name: "fixed, one input", N: 260, L: 1, K: 70, Q: 1, D: 1, Fixed: true},
		{Name: "many windows", N: 400, L: 40, K: 2, Q: 1, D: 2, Windows: 8},
		{Name: "many windows, half without components", N: 400, L: 20, K: 3, Q: 2, D: 1, Windows: 9, Skip: 2},
		{Name: "more features than rows, many", N: 20, L: 2, K: 60, Q: 2, D: 2},
	} {
		t.Run(c.Name, func(t *testing.T) {
			p, data := c.Make()
			r, op := open(t, data), modeltest.ToOracle(p)
			xs, ys := modeltest.Nest(data.X, data.N), modeltest.Nest(data.Y, data.N)
			rows := []int{3, 17, 4, 19, 11}
			for _, b := range []struct {
				name      string
				inference variational.Inference
				rows      []int
				want      float64
			}{
				{"exact", variational.Exact, nil, oracle.Exact(op, xs, ys)},
				{"factorized", variational.Factorized, nil, oracle.Factorized(op, xs, ys, nil)},
				{"mini-batch", variational.Factorized, rows, oracle.Factorized(op, xs, ys, rows)},
			} {
				e := evaluated(t, r, p, b.inference, b.rows, false)
				if !(math.Abs(e.Bound-b.want) <= oracleBound*math.Abs(b.want)) {
					t.Errorf("%s bound %.15g, want %.15g", b.name, e.Bound, b.want)
				}
				if e.Gradient != nil {
					t.Errorf("%s: a gradient that was not requested", b.name)
				}
			}
		})
	}
}

// TestWindowsAlongAnotherInput checks that windows along the second input are equivalent to
// windows along the first with the inputs exchanged.
func TestWindowsAlongAnotherInput(t *testing.T) {
	p, data := kind{Name: "swapped", N: 40, L: 6, K: 2, Q: 2, D: 1, Windows: 3}.Make()
	first := evaluated(t, open(t, data), p, variational.Exact, nil, true)
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
	turned := &backend.Data{N: data.N, Q: 2, D: 1, X: swap(data.X), Y: data.Y, Windows: s.Windows}
	second := evaluated(t, open(t, turned), s, variational.Exact, nil, true)
	modeltest.Near(t, "bound", []float64{second.Bound}, []float64{first.Bound}, rounding)
	modeltest.Near(t, "∂/∂z", second.Gradient.Location, swap(first.Gradient.Location), rounding)
	modeltest.Near(t, "∂/∂σ²", second.Gradient.Variance, first.Gradient.Variance, rounding)
	data.Windows = s.Windows
	evaluated(t, open(t, data), s, variational.Exact, nil, false)
}

// Tolerances of this package's tests and the reason for each.
const (
	// trueBound and trueGradient: compared with 192-bit values, on models of about ten
	// features and rows. trueGradientHard: for ill-conditioned cases (Σ near 1e-8, x near
	// 3e6, τ = 1e8 with G of low rank).
	trueBound        = 1e-9
	trueGradient     = 1e-7
	trueGradientHard = 1e-5
	// oracleBound: the oracle's float64 sums.
	oracleBound = 1e-10
	rounding    = modeltest.Rounding
)
