package oracle

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rounding bounds what should agree but for the order of operations.
const rounding = 1e-12

// TestSureFeatures: without uncertainty q is a point, and E[ΦᵀΦ] = ΦᵀΦ.
func TestSureFeatures(t *testing.T) {
	p, xs, _ := random(shape{l: 2, k: 3, q: 2, d: 1, n: 6}, newRNG(1))
	uncertain := Gram(p, xs)
	sure(p)
	_, _, m, _ := p.Dims()
	phi, gram := array(len(xs), m), array(m, m)
	for n, x := range xs {
		for k := range m {
			phi[n][k] = Feature(p, x, p.FreqMean[k], p.PhaseLower[k], k)
		}
		for j := range m {
			for k := range m {
				gram[j][k] += phi[n][j] * phi[n][k]
			}
		}
	}
	near(t, "E[Φ]", flatten(MeanMatrix(p, xs)), flatten(phi), rounding)
	near(t, "E[ΦᵀΦ]", flatten(Gram(p, xs)), flatten(gram), rounding)
	if distance(flatten(uncertain), flatten(gram)) < 1e-3 {
		t.Error("E[ΦᵀΦ] equals ΦᵀΦ with uncertain frequencies too: the test is blunt")
	}
}

// TestPhaseIntegral: the attenuation sinc(h) is the integral over the phase.
func TestPhaseIntegral(t *testing.T) {
	p, xs, _ := random(shape{l: 1, k: 4, q: 1, d: 1, n: 1}, newRNG(2))
	for k := range p.FreqVar {
		p.FreqVar[k][0] = 0
		const steps = 2000
		var mean, second float64
		for s := range steps { // midpoint rule
			b := p.PhaseLower[k] + (p.PhaseUpper[k]-p.PhaseLower[k])*(float64(s)+0.5)/steps
			v := Feature(p, xs[0], p.FreqMean[k], b, k)
			mean += v / steps
			second += v * v / steps
		}
		near(t, "E[φ]", []float64{Mean(p, xs[0], k)}, []float64{mean}, 1e-5)
		near(t, "E[φ²]", []float64{Second(p, xs[0], k)}, []float64{second}, 1e-5)
	}
}

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

// TestFarAway: where no feature reaches, the factorised predictive covariance
// is τ⁻¹I + Ψ′ with Ψ′_de = Σ_k (σ²_i/K) (m_kd m_ke + 1[d=e] s_kd).
func TestFarAway(t *testing.T) {
	p, _, _ := random(shape{l: 2, k: 3, q: 1, d: 2, n: 1}, newRNG(3))
	mean, cov := Predict(p, FactorizedPosterior(p), []float64{1e4})
	want := array(2, 2)
	for d := range 2 {
		want[d][d] = 1 / p.NoisePrecision
		for e := range 2 {
			for k := range p.CoefMean {
				want[d][e] += p.Variance[k/3] / 3 * p.CoefMean[k][d] * p.CoefMean[k][e]
				if d == e {
					want[d][d] += p.Variance[k/3] / 3 * p.CoefVar[k][d]
				}
			}
		}
	}
	near(t, "covariance", flatten(cov), flatten(want), rounding)
	if mean[0] != 0 || mean[1] != 0 {
		t.Errorf("mean is %v, want 0", mean)
	}
}

// optimalDiagonal sets p's coefficients to the factorised bound's optimum:
// m = A⁻¹C and s_k = τ⁻¹/A_kk.
func optimalDiagonal(p *Params, xs, ys [][]float64) {
	p.CoefMean = ExactPosterior(p, xs, ys).Mean
	g := Gram(p, xs)
	for k := range g {
		for d := range p.CoefVar[k] {
			p.CoefVar[k][d] = 1 / (p.NoisePrecision*g[k][k] + 1)
		}
	}
}

// TestFactorizedBelowExact: a diagonal q(A) cannot beat the optimal one, and
// is the optimal one where there is a single feature.
func TestFactorizedBelowExact(t *testing.T) {
	p, xs, ys := random(shape{l: 2, k: 4, q: 1, d: 2, n: 12}, newRNG(4))
	optimalDiagonal(p, xs, ys)
	exact, best := Exact(p, xs, ys), Factorized(p, xs, ys, nil)
	if best >= exact {
		t.Errorf("factorised %g, exact %g: want less", best, exact)
	}
	p.CoefMean[0][0] += 0.01
	if worse := Factorized(p, xs, ys, nil); worse >= best {
		t.Errorf("off the optimum the factorised bound is %g, at it %g", worse, best)
	}
	p, xs, ys = random(shape{l: 1, k: 1, q: 2, d: 2, n: 12}, newRNG(5))
	optimalDiagonal(p, xs, ys)
	near(t, "one feature: factorised bound", []float64{Factorized(p, xs, ys, nil)}, []float64{Exact(p, xs, ys)}, rounding)
}

// TestBatchesAverage: the mini-batch bounds of a partition into equal parts
// average to the whole bound.
func TestBatchesAverage(t *testing.T) {
	p, xs, ys := random(shape{l: 1, k: 3, q: 2, d: 2, n: 6}, newRNG(6))
	parts := Factorized(p, xs, ys, []int{0, 3}) + Factorized(p, xs, ys, []int{1, 4}) + Factorized(p, xs, ys, []int{5, 2})
	near(t, "average of the batches", []float64{parts / 3}, []float64{Factorized(p, xs, ys, nil)}, rounding)
}

// TestFarFromOrigin: shifting everything by 3·10⁶ changes angles by rounding
// alone, and the plain angle errs by no more than its own size in ulps.
func TestFarFromOrigin(t *testing.T) {
	p, xs, _ := random(shape{l: 2, k: 3, q: 1, d: 1, n: 4}, newRNG(8))
	const shift = 3 << 20 // a whole number: x + shift loses bits, not the difference
	for _, x := range xs {
		x[0] = math.Round(x[0]*1024)/1024 + shift
	}
	for _, z := range p.Location {
		z[0] = math.Round(z[0]*1024)/1024 + shift
	}
	f := Effective(p)
	for _, x := range xs {
		for k := range p.Location {
			d := x[0] - p.Location[k][0]
			plain := f.Freq[k][0]*d + f.Phase[k]
			if diff := math.Cos(plain) - math.Cos(PreciseAngle(p, x, k)); math.Abs(diff) > 1e-14 {
				t.Errorf("feature %d at %g: cosines differ by %g", k, x[0], diff)
			}
		}
	}
	for _, x := range xs { // now features centerd at 0, millions of radians away
		for k := range p.Location {
			p.Location[k][0] = 0
			precise := PreciseAngle(p, x, k)
			plain := Effective(p).Freq[k][0]*x[0] + f.Phase[k]
			if diff := math.Abs(math.Cos(plain) - math.Cos(precise)); diff > 4e-16*math.Abs(plain) {
				t.Errorf("feature %d at %g: cosines differ by %g", k, x[0], diff)
			}
		}
	}
	if got := Angle([]float64{1}, []float64{1e6}, []float64{0}, 0); math.Abs(math.Sin(got)-math.Sin(1e6)) > 1e-15 {
		t.Errorf("sine of the reduced angle 10⁶ is %g, want %g", math.Sin(got), math.Sin(1e6))
	}
}

// shape is the size of a random model.
type shape struct {
	l, k, q, d, n int
	windows       bool
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5651)) }

// random draws a model with every part in play and N rows on [0, 6)^Q.
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

// sure makes every frequency and phase certain.
func sure(p *Params) {
	for k := range p.FreqVar {
		for q := range p.FreqVar[k] {
			p.FreqVar[k][q] = 0
		}
		p.PhaseUpper[k] = p.PhaseLower[k]
	}
}

// tiny is a model small enough for quadrature; full phases.
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
			t.Errorf("K=%d N=%d: %g on the coarse grid, %g on the fine", c.k, c.n, coarse, fine)
		}
	}
}

// TestBoundBelowEvidence: over random q the bounds stay below log p(Y|X), and
// the terms that keep them there are needed: without the KL of the
// frequencies a q far from the prior overtakes it.
func TestBoundBelowEvidence(t *testing.T) {
	overtakes := false
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
			if factorised := Factorized(p, xs, ys, nil); factorised > exact {
				t.Fatalf("seed %d: factorised bound %g above the exact %g", seed, factorised, exact)
			}
			overtakes = overtakes || exact+KL(p) > truth
		}
	}
	if !overtakes {
		t.Error("the bound without its KL never overtakes the evidence: the test is blunt")
	}
}

// TestBoundTight: where the data say next to nothing (τ → 0) the prior is the
// posterior and the bound meets the evidence: their distance falls as τ².
func TestBoundTight(t *testing.T) {
	p, xs, ys, y := tiny(3, 1, 3)
	p.FreqMean[0][0], p.FreqVar[0][0] = 0, 1
	gap := func(tau float64) float64 {
		p.NoisePrecision = tau
		return evidence(p, xs, y, 1) - Exact(p, xs, ys)
	}
	wide, narrow := gap(1e-2), gap(1e-3)
	if narrow < 0 || wide < 0 || narrow > 1e-5 || wide/narrow < 80 || wide/narrow > 120 {
		t.Errorf("the evidence is above the bound by %g at τ=0.01, %g at τ=0.001, want a hundredth", wide, narrow)
	}
}
