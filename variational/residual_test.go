package variational_test

import (
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/modeltest"
	"github.com/vssgp/vssgp/spectral"
	"github.com/vssgp/vssgp/variational"
)

// TestResidual: whichever way the squared errors are summed they are those of 192
// bits, and where the difference is taken its error is within what is allowed for
// it; the pass is taken where the difference has lost its digits, and only there.
func TestResidual(t *testing.T) {
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
			counts := &counting{Backend: cpu.New()}
			e := evaluated(t, openOn(t, counts, data), p, variational.Exact, nil, false)
			modeltest.CheckTerms(t, e.Terms)
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
	p, data := kind{Name: "r3", N: 12, L: 1, K: 20, Q: 2, D: 1, Tau: 1e6, Fixed: true, Variance: -1}.Make()
	rows := openOn(t, &counting{Backend: cpu.New(), value: &negative}, data)
	for _, gradient := range []bool{false, true} {
		if e, err := rows.Exact(p, gradient); !errors.Is(err, variational.ErrBound) {
			t.Errorf("evaluation %+v, error %v, want ErrBound", e, err)
		}
	}
}

// TestRoundingBound: what residual allows the difference's rounding is more than
// it is.
func TestRoundingBound(t *testing.T) {
	for _, k := range []kind{
		{Name: "r2", N: 12, L: 2, K: 10, Q: 1, D: 1, Tau: 1e7, Fixed: true, Variance: -1},
		{Name: "r4", N: 40, L: 8, K: 3, Q: 1, D: 1, Tau: 1e3, Windows: 4},
		{Name: "r5", N: 16, L: 8, K: 6, Q: 1, D: 1, Tau: 1e7, Windows: 4, Fixed: true, Variance: -1},
	} {
		p, data := k.Make()
		difference, lost, err := open(t, data).Difference(p)
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
		off := math.Abs(exactly(difference).minus(want).float())
		if !(off <= lost) {
			t.Errorf("%s: the difference is off by %g, which is said to be %g at most", k.Name, off, lost)
		} else {
			t.Logf("%s: off by %g, %g at most, of %g", k.Name, off, lost, want.float())
		}
	}
}
