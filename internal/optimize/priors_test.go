package optimize

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// somePriors returns priors of all parameters that can have one, for q inputs.
func somePriors(q int) Priors {
	return Priors{
		Variance: bayes.Prior{Median: 0.7, SD: 2}, Noise: bayes.Prior{Median: 0.02, SD: 3},
		Lengthscale: []bayes.Prior{{Median: 5, SD: 1.5}, {Median: 0.3, SD: 0.5}}[:q],
	}
}

// normal returns the log density of log θ.
func normal(p bayes.Prior, theta float64) float64 {
	z := (math.Log(theta) - math.Log(p.Median)) / p.SD
	return -0.5*z*z - math.Log(p.SD*math.Sqrt(2*math.Pi))
}

// TestLogPrior compares the log prior with the sum over parameters, where each tied set counts once, and its gradient with finite
// differences.
func TestLogPrior(t *testing.T) {
	for _, c := range coordinateCases {
		p, _ := c.kind.Make()
		set := somePriors(p.Q)
		coords := coordinatesOf(p, c.free, c.ties, 3, c.level)
		coords.setPriors(p, set)
		v := make([]float64, coords.n)
		coords.read(v, p)
		want := normal(set.Noise, 1/p.NoisePrecision[0]-c.level.At(p))
		if c.ties.Shared { // see TestSharedPrior
			continue
		}
		lead := p.L // components whose entries have separate coordinates
		if c.ties.Tensors != nil {
			lead = 1
		}
		for i := range lead {
			want += normal(set.Variance, p.Variance[i])
			for q := range p.Q {
				want += normal(set.Lengthscale[q], p.Lengthscale[i*p.Q+q])
			}
		}
		slope := make([]float64, coords.n)
		got := coords.logPrior(coords.spans, v, slope, 2)
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: log prior %v, want %v", c.name, got, want)
		}
		for i := range v {
			at := v[i]
			v[i] = at + 1e-5
			up := coords.logPrior(coords.spans, v, nil, 1)
			v[i] = at - 1e-5
			down := coords.logPrior(coords.spans, v, nil, 1)
			v[i] = at
			if want := 2 * (up - down) / 2e-5; math.Abs(slope[i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s: slope %d is %v, want %v", c.name, i, slope[i], want)
			}
		}
	}
}

// TestSharedPrior checks that a prior of parameters that windows share counts once.
func TestSharedPrior(t *testing.T) {
	p, _ := modeltest.Kind{Name: "shared", N: 12, L: 6, K: 2, Q: 1, D: 1, Windows: 3}.Make()
	coords := NewCoordinates(p, hyperparameters, Ties{Shared: true}, 3)
	coords.setPriors(p, somePriors(1))
	count := 0
	for _, one := range coords.priors {
		if one.SD > 0 {
			count++
		}
	}
	if count != 2*2+1 {
		t.Errorf("%d priors, want the priors of two components and of the noise", count)
	}
}

// TestPriorsRule checks that with very narrow priors any inference ends at their medians, and that the reported bound excludes the prior.
func TestPriorsRule(t *testing.T) {
	for _, inference := range []variational.Inference{variational.Exact, variational.Factorized, variational.Stochastic} {
		m := made{60, 10, 0.7, 1, 0.1, 0.4}
		data, p := m.start(1, 10)
		sure := func(median float64) bayes.Prior { return bayes.Prior{Median: median, SD: 1e-3} }
		r := newRun(t, &data, p, Settings{Inference: inference, Iterations: 2000, Priors: Priors{sure(0.25), []bayes.Prior{sure(3)}, sure(0.04)}})
		testkit.OK(t, r.Begin(nil))
		testkit.Must(r.Optimize())(t)
		reported := r.Bound
		e := testkit.Must(r.Evaluate())(t)
		if inference != variational.Stochastic && math.Abs(reported-e.Bound) > 1e-9*math.Abs(e.Bound) {
			t.Errorf("%s: the reported bound is %v, but the bound is %v", inference, reported, e.Bound)
		}
		for _, v := range [][2]float64{{p.Variance[0], 0.25}, {p.Lengthscale[0], 3}, {1 / p.NoisePrecision[0], 0.04}} {
			if math.Abs(math.Log(v[0]/v[1])) > 0.05 {
				t.Errorf("%s: %v, want the median %v of a narrow prior", inference, v[0], v[1])
			}
		}
		want := normal(r.Priors.Variance, p.Variance[0]) + normal(r.Priors.Lengthscale[0], p.Lengthscale[0]) + normal(r.Priors.Noise, 1/p.NoisePrecision[0])
		if got := r.LogPrior(); math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s: log prior %v, want %v", inference, got, want)
		}
	}
}
