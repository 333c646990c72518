package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// rounding is the tolerance for results that differ only in the order of operations.
const rounding = 1e-12

func TestGatesSumToOne(t *testing.T) {
	center := []float64{1, 3, 5, 7}
	for x := -2.0; x < 12; x += 0.037 {
		var sum float64
		for v := range center {
			g := gate(center, 4, v, x)
			if g < 0 || (math.Abs(x-center[v]) >= 2 && v > 0 && v < 3 && g != 0) {
				t.Fatalf("gate %d at %g is %g", v, x, g)
			}
			sum += g * g
		}
		if math.Abs(sum-1) > rounding {
			t.Fatalf("Σ g² = %g at %g, want 1", sum, x)
		}
	}
}

// TestAngleLosesNoAccuracy checks that removing whole turns loses no accuracy.
func TestAngleLosesNoAccuracy(t *testing.T) {
	testkit.Near(t, math.Sin(Angle([]float64{1}, []float64{1e6}, []float64{0}, 0)), math.Sin(1e6), 1e-15, "sine of the reduced angle 10⁶")
}

// shape is the size of a random model.
type shape struct {
	l, k, q, d, n int
	windows       bool
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5651)) }

// random draws a model with windows if requested, and rows on [0, 6)^Q.
func random(s shape, rng *rand.Rand) (p *Params, xs, ys [][]float64) {
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	fill := func(rows, cols int, draw func() float64) [][]float64 {
		a := array(rows, cols)
		for i := range a {
			for j := range a[i] {
				a[i][j] = draw()
			}
		}
		return a
	}
	m := s.l * s.k
	p = &Params{
		Lengthscale:    fill(s.l, s.q, func() float64 { return uniform(1, 3) }),
		Frequency:      fill(s.l, s.q, func() float64 { return uniform(0, 0.5) }),
		Location:       fill(m, s.q, func() float64 { return uniform(0, 6) }),
		FreqMean:       fill(m, s.q, rng.NormFloat64),
		FreqVar:        fill(m, s.q, func() float64 { return uniform(0.05, 0.8) }),
		CoefMean:       fill(m, s.d, rng.NormFloat64),
		CoefVar:        fill(m, s.d, func() float64 { return uniform(0.1, 0.9) }),
		NoisePrecision: uniform(1, 20),
	}
	for range s.l {
		p.Variance = append(p.Variance, uniform(0.5, 2))
	}
	for range m {
		lower := uniform(0, 4)
		p.PhaseLower = append(p.PhaseLower, lower)
		p.PhaseUpper = append(p.PhaseUpper, uniform(lower+0.2, 2*math.Pi))
	}
	if s.windows {
		p.WindowCenter, p.WindowLength = []float64{1, 3, 5}, 4
		for i := range s.l {
			p.ComponentWindow = append(p.ComponentWindow, i*3/s.l)
		}
	}
	xs = fill(s.n, s.q, func() float64 { return uniform(0, 6) })
	ys = fill(s.n, s.d, rng.NormFloat64)
	return p, xs, ys
}

// tiny returns a model small enough for quadrature, with full phases.
func tiny(seed uint64, k, n int) (p *Params, xs, ys [][]float64, y []float64) {
	p, xs, ys = random(shape{l: 1, k: k, q: 1, d: 1, n: n}, newRNG(seed))
	p.NoisePrecision = 1 + float64(seed%4)
	for j := range p.PhaseLower {
		p.PhaseLower[j], p.PhaseUpper[j] = 0, 2*math.Pi
	}
	return p, xs, ys, flatten(ys)
}

func evidence(p *Params, xs [][]float64, y []float64, k int) float64 {
	if k == 1 {
		return LogEvidence(p, xs, y, 97, 48)
	}
	return LogEvidence(p, xs, y, 25, 24)
}

func TestEvidenceConverges(t *testing.T) {
	for _, c := range []struct{ k, n int }{{1, 2}, {1, 3}, {2, 2}} {
		p, xs, _, y := tiny(11, c.k, c.n)
		coarse := evidence(p, xs, y, c.k)
		fine := LogEvidence(p, xs, y, 37, 32)
		if c.k == 1 {
			fine = LogEvidence(p, xs, y, 301, 150)
		}
		if math.Abs(coarse-fine) > 1e-4 {
			t.Errorf("K=%d N=%d: %g on the coarse grid, %g on the fine grid", c.k, c.n, coarse, fine)
		}
	}
}

// TestBoundBelowEvidence checks that the bounds are below log p(Y|X) for random q, and that the KL
// term is needed: without it the bound exceeds the evidence for some q far from the prior.
func TestBoundBelowEvidence(t *testing.T) {
	exceeds := false
	for seed := range uint64(8) {
		k, n := 1+int(seed)%2, 2+int(seed/2)%2
		p, xs, ys, y := tiny(seed, k, n)
		truth := evidence(p, xs, y, k)
		rng := newRNG(100 + seed)
		for range 40 {
			for j := range p.FreqMean {
				p.FreqMean[j][0] = 1.5 * rng.NormFloat64()
				p.FreqVar[j][0] = math.Exp(rng.NormFloat64() - 1)
				p.PhaseLower[j] = 3 * rng.Float64()
				p.PhaseUpper[j] = 3.2 + 3*rng.Float64()
			}
			exact := Exact(p, xs, ys)
			if exact > truth {
				t.Fatalf("seed %d: exact bound %g above the evidence %g", seed, exact, truth)
			}
			if factorized := Factorized(p, xs, ys, nil); factorized > exact {
				t.Fatalf("seed %d: factorized bound %g above the exact bound %g", seed, factorized, exact)
			}
			exceeds = exceeds || exact+KL(p) > truth
		}
	}
	if !exceeds {
		t.Error("the bound without its KL term never exceeds the evidence: the test is not sensitive")
	}
}

// TestBoundTight checks that if the data have little information (τ → 0), so that the prior is the
// posterior, the distance between the bound and the evidence is proportional to τ².
func TestBoundTight(t *testing.T) {
	p, xs, ys, y := tiny(3, 1, 3)
	p.FreqMean[0][0], p.FreqVar[0][0] = 0, 1
	gap := func(tau float64) float64 {
		p.NoisePrecision = tau
		return evidence(p, xs, y, 1) - Exact(p, xs, ys)
	}
	wide, narrow := gap(1e-2), gap(1e-3)
	if narrow < 0 || wide < 0 || narrow > 1e-5 || wide/narrow < 80 || wide/narrow > 120 {
		t.Errorf("the evidence is above the bound by %g at τ=0.01, %g at τ=0.001, want a ratio of about 100", wide, narrow)
	}
}
