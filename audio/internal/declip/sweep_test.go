package declip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/testkit/slow"

	"github.com/vssgp/vssgp/internal/testkit"
)

const testRate = 2000.0 // tiles of 40 samples, grains of 2

// lags returns the autocorrelation of two damped tones and noise.
func lags(order int) []float64 {
	r := make([]float64, order+1)
	for l := range r {
		x := float64(l)
		r[l] = math.Exp(-x/30)*math.Cos(0.3*x) + 0.3*math.Exp(-x/20)*math.Cos(0.9*x)
	}
	r[0] += 0.01
	return r
}

// known returns a section of a process with these lags and the true models, and its samples.
func known(at []int, limit func(i int, x float64) site) (*section, []float64) {
	const order, n = 12, 160
	m := ar.YuleWalker(lags(order))
	rng := rand.New(rand.NewPCG(5, 5))
	x := make([]float64, 1000+n)
	for i := range x {
		x[i] = math.Sqrt(m.E) * rng.NormFloat64()
		for j := 1; j <= min(i, order); j++ {
			x[i] -= m.A[j] * x[i-j]
		}
	}
	x = x[1000:]
	var sites []site
	for _, u := range at {
		sites = append(sites, limit(u, x[u]))
	}
	s := newSection(slices.Clone(x), at, sites, order, testRate)
	for i := range s.tiles {
		t := &s.tiles[i]
		t.model = ar.YuleWalker(lags(t.order))
	}
	s.assemble(false)
	return s, x
}

func free(int, float64) site { return site{} }

// below returns limits at a share of the true samples.
func below(share float64) func(int, float64) site {
	return func(_ int, x float64) site { return site{side: math.Copysign(1, x), limit: share * math.Abs(x)} }
}

// TestWithoutLimits compares the posterior with the exact conditional distribution of the model over several tiles.
func TestWithoutLimits(t *testing.T) {
	gaps := [][2]int{{30, 36}, {39, 40}, {60, 100}, {155, 160}}
	at := slices.Concat(span(30, 36), span(39, 40), span(60, 100), span(155, 160))
	s, x := known(at, free)
	for _, u := range at {
		s.mean[u] = 1e3
	}
	want, ok := ar.YuleWalker(lags(12)).Conditional(x, gaps, nil)
	if !ok || !s.sweep(false) {
		t.Fatal("not positive definite")
	}
	for i, u := range at {
		testkit.Near(t, s.mean[u], want.Mean[i], 1e-9, "the mean of sample ", u)
		testkit.Near(t, s.sites[i].sd, math.Sqrt(want.Variance[i]), 1e-9, "the deviation of sample ", u)
	}
}

// TestFirstSamples checks a gap at the beginning of a section. The process is time-reversible, so the result is close to a gap at the
// end of the reversed samples.
func TestFirstSamples(t *testing.T) {
	at := span(0, 6)
	s, x := known(at, free)
	s.sweep(false)
	slices.Reverse(x)
	n := len(x)
	want, ok := ar.YuleWalker(lags(12)).Conditional(x, [][2]int{{n - 6, n}}, nil)
	if !ok {
		t.Fatal("not positive definite")
	}
	for i := range at {
		mean, sd := want.Mean[5-i], math.Sqrt(want.Variance[5-i])
		if math.Abs(s.mean[i]-mean) > 0.15*sd || math.Abs(s.sites[i].sd/sd-1) > 0.15 {
			t.Errorf("sample %d: %v ± %v, want %v ± %v", i, s.mean[i], s.sites[i].sd, mean, sd)
		}
	}
}

// gibbs estimates the moments of the truncated posterior by Gibbs sampling.
func gibbs(s *section, turns int) (mean, sd []float64) {
	n := len(s.at)
	q := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			q.SetSym(i, j, s.precision.At(i, j))
		}
	}
	u, sum, square := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, c := range s.sites {
		u[i] = c.side * c.limit
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for turn := range turns {
		for i, c := range s.sites {
			h := s.pull[i]
			for j := range u {
				if j != i {
					h -= q.At(i, j) * u[j]
				}
			}
			m, d := h/q.At(i, i), 1/math.Sqrt(q.At(i, i))
			tail := 1.0
			if c.side != 0 {
				tail = math.Erfc((c.limit-c.side*m)/d/math.Sqrt2) / 2
			}
			side := c.side
			if side == 0 {
				side = 1
			}
			u[i] = m + side*d*math.Sqrt2*math.Erfcinv(2*tail*(1-rng.Float64()))
			if turn >= turns/20 {
				sum[i] += u[i]
				square[i] += u[i] * u[i]
			}
		}
	}
	mean, sd = make([]float64, n), make([]float64, n)
	for i := range u {
		k := float64(turns - turns/20)
		mean[i] = sum[i] / k
		sd[i] = math.Sqrt(square[i]/k - mean[i]*mean[i])
	}
	return mean, sd
}

// span returns the indices [start, end).
func span(start, end int) (at []int) {
	for n := start; n < end; n++ {
		at = append(at, n)
	}
	return at
}

// TestAgainstGibbs compares means and standard deviations of sweeps and draws with Gibbs sampling from the truncated Gaussian. A
// single sample is exact. Means and draws satisfy the limits.
func TestAgainstGibbs(t *testing.T) {
	turns, draws := slow.Pick(400_000, 60_000), slow.Pick(20_000, 5_000)
	for _, c := range []struct {
		name   string
		at     []int
		limit  func(int, float64) site
		within float64 // standard deviations
	}{
		{"one", []int{80}, below(1.3), 0.02},
		{"one from below", []int{80}, below(0.5), 0.02},
		{"two", []int{80, 81}, below(1.1), 0.03},
		{"two, one free", []int{80, 81}, func(u int, x float64) site {
			if u == 80 {
				return site{}
			}
			return below(1.2)(u, x)
		}, 0.03},
		{"three apart", []int{70, 73, 79}, below(1.2), 0.03},
		{"a run", span(60, 67), below(0.8), 0.05},
		{"at the start", span(0, 4), below(0.9), 0.05},
		{"runs", slices.Concat(span(60, 64), span(67, 72), span(80, 83)), below(0.9), 0.05},
	} {
		s, _ := known(c.at, c.limit)
		mean, sd := gibbs(s, turns)
		for range 40 {
			if !s.sweep(false) {
				t.Fatalf("%s: not positive definite", c.name)
			}
		}
		s.sweep(true)
		rng := rand.New(rand.NewPCG(9, 9))
		x, sum, square := slices.Clone(s.mean), make([]float64, len(c.at)), make([]float64, len(c.at))
		for range draws {
			s.draw(rng, x)
			for i, u := range c.at {
				v := x[u]
				sum[i] += v
				square[i] += v * v
				if side := s.sites[i].side; side*v < s.sites[i].limit {
					t.Fatalf("%s: %v drawn for sample %d, limit %v", c.name, v, c.at[i], side*s.sites[i].limit)
				}
			}
		}
		for i, u := range c.at {
			if s.sites[i].moved > 1e-3 {
				t.Errorf("%s: sample %d still changes by %v", c.name, u, s.sites[i].moved)
			}
			drawn := sum[i] / float64(draws)
			spread := math.Sqrt(square[i]/float64(draws) - drawn*drawn)
			noise := 4 / math.Sqrt(float64(draws))
			if d := math.Abs(s.mean[u]-mean[i]) / sd[i]; !(d < c.within) || !(math.Abs(s.sites[i].sd/sd[i]-1) < c.within) {
				t.Errorf("%s: sample %d is %v ± %v, want %v ± %v", c.name, u, s.mean[u], s.sites[i].sd, mean[i], sd[i])
			}
			if d := math.Abs(drawn-mean[i]) / sd[i]; !(d < c.within+noise) || !(math.Abs(spread/sd[i]-1) < c.within+noise) {
				t.Errorf("%s: draws of sample %d are %v ± %v, want %v ± %v", c.name, u, drawn, spread, mean[i], sd[i])
			}
		}
	}
}

// TestExpectations compares autocorrelation and weights with their definitions.
func TestExpectations(t *testing.T) {
	s, _ := known(slices.Concat(span(20, 26), span(40, 55), span(70, 73)), below(0.9))
	s.sweep(false)
	cov := func(a, b int) float64 {
		i, j := slices.Index(s.at, a), slices.Index(s.at, b)
		if i < 0 || j < 0 || max(a, b)-min(a, b) > s.order {
			return 0
		}
		return s.covariance.At(i, j)
	}
	for k := range s.tiles {
		tl := &s.tiles[k]
		from := min(max(0, (tl.lo+tl.hi-s.wide)/2), len(s.mean)-s.wide)
		w := func(n int) float64 {
			v := math.Sin(math.Pi * (float64(n-from) + 0.5) / float64(s.wide))
			return v * v
		}
		for l, got := range s.autocorrelation(tl) {
			want, weights := 0.0, 0.0
			for n := from; n < from+s.wide; n++ {
				weights += w(n) * w(n)
				if n+l < from+s.wide {
					want += w(n) * w(n+l) * (s.mean[n]*s.mean[n+l] + cov(n, n+l))
				}
			}
			testkit.Near(t, got, want/weights, 1e-12, "tile ", k, ": r_", l)
		}
	}
	s.assemble(true)
	for k := range s.tiles {
		tl := &s.tiles[k]
		for g, got := range tl.weight {
			count, square := 0.0, 0.0
			for n := tl.lo + g*s.grain; n < min(tl.hi, tl.lo+(g+1)*s.grain); n++ {
				count++
				for i, a := range tl.model.A {
					for j, b := range tl.model.A {
						square += a * b * (s.mean[n-i]*s.mean[n-j] + cov(n-i, n-j)) / tl.model.E
					}
				}
			}
			want := (prior + count) / (prior + square)
			testkit.Near(t, got, want, 1e-9*want, "tile ", k, ": weight ", g)
		}
	}
	// With weights, the gradient of the weighted errors vanishes at the posterior mean.
	for i := range s.sites {
		s.sites[i] = site{}
	}
	s.sweep(false)
	for _, u := range s.at {
		gradient := 0.0
		for k := range s.tiles {
			tl := &s.tiles[k]
			for n, e := range tl.errors(s.mean) {
				if d := tl.lo + n - u; d >= 0 && d <= tl.order {
					gradient += tl.weight[n/s.grain] * e * tl.model.A[d] / tl.model.E
				}
			}
		}
		testkit.Near(t, gradient, 0, 1e-6, "the gradient of sample ", u)
	}
}

// TestTruncatedMomentsMatchSums compares mean and variance of a truncated normal variable with sums over its density.
func TestTruncatedMomentsMatchSums(t *testing.T) {
	for _, a := range []float64{-30, -6, -2, -0.5, 0, 1, 2.9, 2.9999999, 3, 3.0000001, 3.1, 5, 10, 40, 300, 1e6} {
		excess, variance := above(a)
		step := 1e-3 / max(1, a)
		from := max(0, -a-12) // the density is negligible below
		var mass, first, second float64
		for i := range 40_000 {
			x := from + (float64(i)+0.5)*step
			d := math.Exp(-x * (x/2 + a))
			if a < 0 {
				d = math.Exp(-(x + a) * (x + a) / 2)
			}
			mass, first, second = mass+d, first+x*d, second+x*x*d
		}
		mean := first / mass
		want := second/mass - mean*mean
		if a < -20 {
			mean, want = -a, 1
		}
		if math.Abs(excess-mean) > 2e-6*mean || math.Abs(variance-want) > 3e-6*want {
			t.Errorf("beyond %v: mean %v further, variance %v, want %v and %v", a, excess, variance, mean, want)
		}
	}
	// Both formulas agree at hazardTail.
	e1, v1 := above(math.Nextafter(hazardTail, 0))
	e2, v2 := above(hazardTail)
	if math.Abs(e1-e2) > 1e-12 || math.Abs(v1-v2) > 1e-12 {
		t.Errorf("at %v: %v, %v by erfc; %v, %v by the fraction", hazardTail, e1, v1, e2, v2)
	}
	if e, v := above(math.Inf(1)); !(e > 0 && v > 0) {
		t.Errorf("beyond ∞: %v, %v", e, v)
	}
}
