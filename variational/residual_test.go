package variational_test

import (
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// TestResidual compares the squared errors with 192-bit values. It checks that the error of the
// difference is within its bound, and that the pass over the rows is used only if the difference
// has lost too many digits.
func TestResidual(t *testing.T) {
	slow.Race(t)
	for _, c := range []struct {
		kind kind
		pass bool
	}{
		{kind{Name: "r1", N: 30, L: 2, K: 4, Q: 1, D: 2, Tau: 10}, false},
		{kind{Name: "r2", N: 12, L: 2, K: 10, Q: 1, D: 2, Tau: 1e7, Fixed: true, Variance: 1e-8}, true},
		{kind{Name: "r3", N: 12, L: 1, K: 20, Q: 2, D: 1, Tau: 1e6, Fixed: true, Variance: -1}, true},
		{kind{Name: "r4", N: 40, L: 8, K: 3, Q: 1, D: 1, Tau: 10, Windows: 4}, false},
		{kind{Name: "r5", N: 16, L: 8, K: 6, Q: 1, D: 1, Tau: 1e7, Windows: 4, Fixed: true, Variance: -1}, true},
	} {
		t.Run(c.kind.Name, func(t *testing.T) {
			p, data := c.kind.Make()
			passes := 0
			rows := openOn(t, counting(cpu.New(), &passes), data)
			e := evaluated(t, rows, p, variational.Exact, nil, false)
			modeltest.CheckTerms(t, e.Terms)
			if (passes > 0) != c.pass {
				t.Errorf("%d passes for the squared errors, want some: %v", passes, c.pass)
			}
			tr := newTruth(p, data)
			want := tr.exact().Float()
			if !(math.Abs(e.Bound-want) <= trueBound*math.Abs(want)) {
				t.Errorf("bound %.15g, want %.15g", e.Bound, want)
			}
			difference, lost, err := rows.Difference(p)
			testkit.OK(t, err)
			if off := math.Abs(precise.Of(difference).Minus(tr.residual()).Float()); !(off <= lost) {
				t.Errorf("the difference is off by %g, more than its bound %g", off, lost)
			}
		})
	}
}

// residual returns Σ y² − Σ_d C_dᵀA⁻¹C_d.
func (t *truth) residual() precise.Real {
	c, a := t.moments(t.all())
	for k := range a {
		a[k][k] = a[k][k].Plus(precise.Of(1).Over(t.value["noise.precision"][0]))
	}
	precise.Cholesky(a)
	r := t.squares(t.all())
	for _, cd := range c {
		for _, v := range precise.Whitened(a, cd) {
			r = r.Minus(v.Times(v))
		}
	}
	return r
}

// counting returns a backend that counts its factorized passes.
func counting(b backend.Backend, passes *int) *backendtest.Spy {
	return &backendtest.Spy{Backend: b, Factorized: func(*backend.FactorizedSums) { *passes++ }}
}

// byRows is the CPU backend without sums from tables.
type byRows struct{ backend.Backend }

func (b byRows) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.Backend.Open(d)
	if t, ok := r.(*rowspectrum.Rows); ok {
		r = t.Rows
	}
	return r, err
}

// interpolated returns point frequencies of q inputs that explain y up to noise of the model's standard deviation. With
// two inputs they are in pairs of cosine and sine.
func interpolated(n, m, q int, even bool, sd float64) (*variational.Params, *backend.Data) {
	rng := modeltest.NewRNG(uint64(n))
	p := variational.NewParams(1, m, q, 1)
	p.Variance[0], p.NoisePrecision[0] = 1, 1/(sd*sd)
	amplitude := math.Sqrt(2 / float64(m))
	coefficient := make([]float64, m)
	side := math.Pow(float64(n), 1/float64(q))
	for i := range q {
		p.Lengthscale[i] = 1
	}
	for k := range m {
		for at := k * q; at < (k+1)*q; at++ {
			p.Location[at], p.FreqMean[at] = side*rng.Float64(), 0.9*math.Pi*rng.Float64()
			if q == 2 && k%2 == 1 {
				p.Location[at], p.FreqMean[at] = p.Location[at-q], p.FreqMean[at-q]
			}
		}
		p.PhaseLower[k] = 2 * math.Pi * rng.Float64()
		p.PhaseUpper[k] = p.PhaseLower[k]
		coefficient[k] = amplitude * rng.NormFloat64()
	}
	d := &backend.Data{N: n, Q: q, D: 1, X: make([]float64, n*q), Y: make([]float64, n)}
	for i := range n {
		for j := range q {
			d.X[i*q+j] = side * rng.Float64()
			if even {
				d.X[i*q+j] = math.Mod(math.Floor(float64(i)/math.Pow(math.Floor(side), float64(j))), math.Floor(side))
			}
		}
		d.Y[i] = sd * rng.NormFloat64()
		for k, a := range coefficient {
			angle := p.PhaseLower[k]
			for j := range q {
				angle += p.FreqMean[k*q+j] * (d.X[i*q+j] - p.Location[k*q+j])
			}
			d.Y[i] += a * math.Cos(angle)
		}
	}
	return p, d
}

// TestResidualByTables checks that with sums from tables the bound and the gradient match passes over the rows, and that a pass for
// the squared errors is needed only near zero noise.
func TestResidualByTables(t *testing.T) {
	slow.Race(t)
	for _, c := range []struct {
		sd              float64
		pass            bool
		bound, gradient float64 // tolerances in nats and relative to the largest entry; sums of size τ cancel in the gradient
	}{
		{0.3, false, 1e-10, 1e-7}, {0.01, false, 5e-8, 1e-7}, {1e-3, true, 5e-7, 5e-6}, {1e-4, true, 2e-5, 5e-4}, {1e-5, true, 3e-3, 5e-2},
	} {
		for i, even := range []bool{true, false, true, false} {
			q := 1 + i/2
			p, d := interpolated(2000*q, 100, q, even, c.sd)
			tables, direct := 0, 0 // passes
			rows := openOn(t, counting(cpu.New(), &tables), d)
			got := evaluated(t, rows, p, variational.Exact, nil, true)
			want := evaluated(t, openOn(t, counting(byRows{cpu.New()}, &direct), d), p, variational.Exact, nil, true)
			if (tables > 0) != c.pass || direct == 0 && c.pass {
				t.Errorf("noise sd %g, %d inputs, even %v: %d passes for the squared errors, want some: %v", c.sd, q, even, tables, c.pass)
			}
			if off := math.Abs(got.Bound - want.Bound); !(off <= c.bound) {
				t.Errorf("noise sd %g, %d inputs, even %v: the bound is off by %g nats", c.sd, q, even, off)
			}
			wantGradient := want.Gradient.Tensors()
			for i, g := range got.Gradient.Tensors() {
				modeltest.Near(t, g.Name, *g.Data, *wantGradient[i].Data, c.gradient)
			}
			difference, lost, err := rows.Difference(p)
			testkit.OK(t, err)
			for _, term := range want.Terms {
				squares := -2 * term.Value / p.NoisePrecision[0]
				if off := math.Abs(difference - squares); term.Name == "fit" && !(off <= lost) {
					t.Errorf("noise sd %g, %d inputs, even %v: the difference is off by %g, more than its bound %g", c.sd, q, even, off, lost)
				}
			}
		}
	}
}

// TestNegativeSquares checks that negative squared errors, which a faulty device can return, give
// an error.
func TestNegativeSquares(t *testing.T) {
	p, data := kind{Name: "r3", N: 12, L: 1, K: 20, Q: 2, D: 1, Tau: 1e6, Fixed: true, Variance: -1}.Make()
	negative := func(s *backend.FactorizedSums) { s.Value = -1e3 }
	rows := openOn(t, &backendtest.Spy{Backend: cpu.New(), Factorized: negative}, data)
	for _, gradient := range []bool{false, true} {
		if e, err := rows.Exact(p, gradient); !errors.Is(err, variational.ErrBound) {
			t.Errorf("evaluation %+v, error %v, want ErrBound", e, err)
		}
	}
}
