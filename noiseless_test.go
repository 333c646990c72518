package vssgp

import (
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/modeltest"
	"github.com/vssgp/vssgp/spectral"
)

// TestNoiseless: where noise is small to nothing the bound's terms are numbers,
// fit is never above 0, the noise ends at its floor and no lower, and what is
// fitted is the data.
func TestNoiseless(t *testing.T) {
	for _, s := range modeltest.Noiseless() {
		t.Run(s.Name, func(t *testing.T) {
			o := Options{Raw: s.Raw}
			if s.Paper {
				o.Init = InitPaper
			}
			data := &Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}
			m, r := mustFit(t, data, o)
			checkTerms(t, r.Terms)
			if (r.NoiseFloor > 0) == s.Rich {
				t.Errorf("the noise's floor is said to be %g where the noise is %g", r.NoiseFloor, math.Sqrt(m.noise()[0]))
			}
			p, err := m.PredictRows(data.X, data.N)
			if err != nil {
				t.Fatal(err)
			}
			s.Check(t, p.Mean, p.SD(true))
			if data.N <= 51 { // 192 bits take their time
				checkAgainstTruth(t, m, data, r.Bound, p)
			}
		})
	}
}

func checkTerms(t *testing.T, terms []Term) {
	t.Helper()
	for _, term := range terms {
		if math.IsNaN(term.Value) || math.IsInf(term.Value, 0) || term.Name == fitTerm && term.Value > 0 {
			t.Errorf("term %s is %v", term.Name, term.Value)
		}
	}
}

// checkAgainstTruth holds a fit's bound and some predicted variances to 192 bits,
// to what conditionMargin promises of a noise at its floor: A's eigenvalues are
// as they should be but for a part in the margin.
func checkAgainstTruth(t *testing.T, m *Model, data *Data, bound float64, p *Prediction) {
	t.Helper()
	tr := newTruth(m.Params, &Data{N: data.N, Q: 1, D: 1, X: m.X.ToModel(data.X), Y: m.Y.ToModel(data.Y)})
	want := tr.exact().float()
	if most := 0.5 * float64(data.N+m.Params.M()) / conditionMargin; !(math.Abs(bound-want) <= most) {
		t.Errorf("bound %.10g, in 192 bits %.10g: want it within %.2g", bound, want, most)
	}
	variance := tr.variances()
	for _, n := range []int{0, data.N / 3, data.N - 1} {
		total := variance(n)*m.Y.Scale[0]*m.Y.Scale[0] + p.Noise[0]
		if d := math.Abs(p.Cov[n]-total) / total; !(d <= 1.0/conditionMargin) {
			t.Errorf("variance at row %d is %g, in 192 bits %g", n, p.Cov[n], total)
		}
	}
}

// variances are the predicted variances of the function at row n, in the model's
// units (eq. pred_uncertainty).
func (t *truth) variances() func(n int) float64 {
	tau := t.value["noise.precision"][0]
	c, a := t.moments(t.all())
	for k := range a {
		a[k][k] = a[k][k].plus(exactly(1).over(tau))
	}
	cholesky(a)
	solved := func(v []real) []real { // A⁻¹v
		x := whitened(a, v)
		for i := len(x) - 1; i >= 0; i-- {
			for j := i + 1; j < len(x); j++ {
				x[i] = x[i].minus(a[j][i].times(x[j]))
			}
			x[i] = x[i].over(a[i][i])
		}
		return x
	}
	mean := solved(c[0])
	self := make([]real, len(a)) // of A⁻¹'s diagonal
	for k := range a {
		one := reals(1, len(a))[0]
		one[k] = exactly(1)
		self[k] = solved(one)[k]
	}
	return func(n int) float64 {
		phi, v := make([]real, len(a)), exactly(0)
		for k := range phi {
			first, second := t.at(n, k)
			phi[k] = first
			left := second.minus(first.times(first))
			v = v.plus(left.times(self[k].over(tau).plus(mean[k].times(mean[k]))))
		}
		for k, x := range solved(phi) {
			v = v.plus(phi[k].times(x).over(tau))
		}
		return v.float()
	}
}

// TestResidual: whichever way the squared errors are summed they are those of 192
// bits, and where the difference is taken its error is within what is allowed for
// it; the pass is taken where the difference has lost its digits, and only there.
func TestResidual(t *testing.T) {
	for _, c := range []struct {
		kind kind
		pass bool
	}{
		{kind{name: "r1", n: 30, l: 2, k: 4, q: 1, d: 2, tau: 10}, false},
		{kind{name: "r2", n: 12, l: 2, k: 10, q: 1, d: 2, tau: 1e7, fixed: true, variance: 1e-8}, true},
		{kind{name: "r3", n: 12, l: 1, k: 20, q: 2, d: 1, tau: 1e6, fixed: true, variance: -1}, true},
		{kind{name: "r4", n: 40, l: 8, k: 3, q: 1, d: 1, tau: 10, windows: 4}, false},
		{kind{name: "r5", n: 16, l: 8, k: 6, q: 1, d: 1, tau: 1e7, windows: 4, fixed: true, variance: -1}, true},
	} {
		t.Run(c.kind.name, func(t *testing.T) {
			p, data := c.kind.make()
			counts := &counting{Backend: cpu.New()}
			m := mustModel(t, p)
			m.Backend = counts
			e, err := m.Evaluate(data, Exact, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			checkTerms(t, e.Terms)
			if (counts.factorised > 0) != c.pass {
				t.Errorf("%d passes for the squared errors, want some: %v", counts.factorised, c.pass)
			}
			tr := newTruth(p, data)
			want := tr.exact().float()
			if !(math.Abs(e.Bound-want) <= trueBound*math.Abs(want)) {
				t.Errorf("bound %.15g, want %.15g", e.Bound, want)
			}
		})
	}
}

// counting counts the factorised passes, or has them be as told.
type counting struct {
	spectral.Backend
	factorised int
	value      *float64
}

type countingRows struct {
	spectral.Rows
	of *counting
}

func (c *counting) Open(d spectral.Data) (spectral.Rows, error) {
	r, err := c.Backend.Open(d)
	return &countingRows{r, c}, err
}

func (r *countingRows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	r.of.factorised++
	err := r.Rows.Factorised(dst, f, w, rows)
	if r.of.value != nil {
		dst.Value = *r.of.value
	}
	return err
}

// TestNegativeSquares: squared errors that come out negative, as they may where a
// device errs, are an error and no bound.
func TestNegativeSquares(t *testing.T) {
	negative := -1e3
	p, data := kind{name: "r3", n: 12, l: 1, k: 20, q: 2, d: 1, tau: 1e6, fixed: true, variance: -1}.make()
	m := mustModel(t, p)
	m.Backend = &counting{Backend: cpu.New(), value: &negative}
	for _, gradient := range []bool{false, true} {
		if e, err := m.Evaluate(data, Exact, nil, gradient); !errors.Is(err, ErrBound) {
			t.Errorf("evaluation %+v, error %v, want ErrBound", e, err)
		}
	}
}

// TestRoundingBound: what residual allows the difference's rounding is more than
// it is.
func TestRoundingBound(t *testing.T) {
	for _, k := range []kind{
		{name: "r2", n: 12, l: 2, k: 10, q: 1, d: 1, tau: 1e7, fixed: true, variance: -1},
		{name: "r4", n: 40, l: 8, k: 3, q: 1, d: 1, tau: 1e3, windows: 4},
		{name: "r5", n: 16, l: 8, k: 6, q: 1, d: 1, tau: 1e7, windows: 4, fixed: true, variance: -1},
	} {
		p, data := k.make()
		m := mustModel(t, p)
		h, err := m.hold(data)
		if err != nil {
			t.Fatal(err)
		}
		defer h.close()
		f := p.Features()
		mom := spectral.NewMoments(f, 1)
		e, _, err := h.posterior(p, f, mom, h.factorise)
		if err != nil {
			t.Fatal(err)
		}
		tr := newTruth(p, data)
		c, a := tr.moments(tr.all())
		for k := range a {
			a[k][k] = a[k][k].plus(exactly(1).over(tr.value["noise.precision"][0]))
		}
		cholesky(a)
		want := tr.squares(tr.all())
		for _, v := range whitened(a, c[0]) {
			want = want.minus(v.times(v))
		}
		product, _ := dotExact(mom.C, e.mean)
		off := math.Abs(exactly(h.square - product).minus(want).float())
		if lost := h.lost(f, mom.C, e.mean, 1/p.NoisePrecision[0], math.Inf(1)); !(off <= lost) {
			t.Errorf("%s: the difference is off by %g, which is said to be %g at most", k.name, off, lost)
		} else {
			t.Logf("%s: off by %g, %g at most, of %g", k.name, off, lost, want.float())
		}
	}
}
