package oracle

import (
	"math"
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
