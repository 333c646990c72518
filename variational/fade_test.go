package variational

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// fadedModel returns two groups of two pairs of cosine and sine after a constant, conditioned on rows of [0, 1]², and
// how they fade.
func fadedModel(t *testing.T) (*Params, *Posterior, *Fade) {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 66))
	p := NewParams(5, 2, 2, 2)
	p.CoefMean, p.CoefVar = nil, nil
	for i := range p.L {
		p.Variance[i] = 1 + rng.Float64()
		for q := range 2 {
			p.Lengthscale[2*i+q] = 1
			if i > 0 {
				p.Frequency[2*i+q] = rng.Float64()
			}
		}
	}
	for k := range p.M() {
		phase := -float64(k%2) * math.Pi / 2
		p.PhaseLower[k], p.PhaseUpper[k] = phase, phase
	}
	p.NoisePrecision[0] = 10
	data := backend.Data{N: 40, Q: 2, D: 2}
	for range data.N {
		data.X = append(data.X, rng.Float64(), rng.Float64())
		data.Y = append(data.Y, rng.NormFloat64(), rng.NormFloat64())
	}
	rows, err := Open(t.Context(), data, Setting{Backend: cpu.New()})
	testkit.OK(t, err)
	defer rows.Close()
	e, err := rows.Exact(p, false)
	testkit.OK(t, err)
	return p, e.Posterior, &Fade{
		Low: []float64{0, 0}, High: []float64{1, 1}, First: []int{2, 6}, Half: [][]float64{{0.1, 0.2}, {1, math.Inf(1)}},
	}
}

// fadeGains returns the factors of both groups, written out.
func fadeGains(x [2]float64) (g [2]float64) {
	factor := func(u float64) float64 {
		switch {
		case u <= 0.5:
			return 1
		case u >= 1.5:
			return 0
		}
		return math.Pow(math.Cos(math.Pi*(u-0.5)/2), 2)
	}
	var distance [2]float64
	for q, v := range x {
		distance[q] = max(0, -v, v-1)
	}
	return [2]float64{factor(distance[0]/0.1) * factor(distance[1]/0.2), factor(distance[0])}
}

var fadePlaces = [][2]float64{
	{0.3, 0.7}, {0, 1}, {1.04, 0.5}, {1.05, 0.5}, {1.1, 0.5}, {0.5, -0.2}, {-0.09, 1.12}, {1.15, 0.5}, {1.3, 1}, {2, 0.5},
	{2.2, -0.1}, {2.5, 0}, {7, 9},
}

// TestFadeMoments compares means and covariances with sums over the coefficients of the posterior and of the prior.
func TestFadeMoments(t *testing.T) {
	p, exact, fade := fadedModel(t)
	own, err := NewPredictive(t.Context(), p, exact)
	testkit.OK(t, err)
	own.Fade = fade
	var x []float64
	for _, at := range fadePlaces {
		x = append(x, at[:]...)
	}
	got, err := own.At(t.Context(), cpu.New(), x)
	testkit.OK(t, err)
	joint, err := own.Joint(t.Context(), x)
	testkit.OK(t, err)
	m, f := p.M(), p.Features()
	phi := func(at [2]float64) (own, rest []float64) { // of the posterior and of the prior
		g := fadeGains(at)
		own, rest = make([]float64, m), make([]float64, m)
		for k := range m {
			gain := 1.0
			switch {
			case k >= 6:
				gain = g[1]
			case k >= 2:
				gain = g[0]
			}
			v := f.Mean(k, at[:])
			own[k], rest[k] = gain*v, math.Sqrt(1-gain*gain)*v
		}
		return own, rest
	}
	for a, x1 := range fadePlaces {
		own1, rest1 := phi(x1)
		for b, x2 := range fadePlaces {
			own2, rest2 := phi(x2)
			cov := 0.0
			for k := range m {
				cov += rest1[k] * rest2[k]
				for l := range m {
					cov += own1[k] * own2[l] * own.Coefficients.Cov.At(max(k, l), min(k, l))
				}
			}
			for d := range 2 {
				if v := joint.At(2*a+d, 2*b+d); math.Abs(v-cov) > 1e-12 {
					t.Errorf("covariance of %v and %v: %g, want %g", x1, x2, v, cov)
				}
				if v := joint.At(2*a+d, 2*b+1-d); math.Abs(v) > 1e-12 {
					t.Errorf("covariance of two outputs: %g", v)
				}
			}
			if v := got.Cov[4*a]; a == b && math.Abs(v-cov) > 1e-12 {
				t.Errorf("variance at %v: %g, want %g", x1, v, cov)
			}
		}
		alone, err := own.At(t.Context(), cpu.New(), x1[:])
		testkit.OK(t, err)
		same := slices.Equal(alone.Mean, got.Mean[2*a:2*a+2]) && slices.Equal(alone.Cov, got.Cov[4*a:4*a+4])
		if fade.reaches(x1[:]) && !same {
			t.Errorf("the prediction at %v depends on the other rows", x1)
		}
		for d := range 2 {
			want := 0.0
			for k := range m {
				want += own1[k] * exact.Mean[2*k+d]
			}
			if v := got.Mean[2*a+d]; math.Abs(v-want) > 1e-12 {
				t.Errorf("mean at %v: %g, want %g", x1, v, want)
			}
		}
	}
}

// TestFadeLeavesOtherRows checks that predictions where nothing fades have the same bits as without a Fade.
func TestFadeLeavesOtherRows(t *testing.T) {
	p, exact, fade := fadedModel(t)
	x := []float64{0.2, 0.4, 1, 1, 1.05, 0.5, 3, 0.5}
	var all [2]*backend.Prediction
	for i, f := range []*Fade{nil, fade} {
		own, err := NewPredictive(t.Context(), p, exact)
		testkit.OK(t, err)
		own.Fade = f
		all[i], err = own.At(t.Context(), cpu.New(), x)
		testkit.OK(t, err)
	}
	for n := range 4 {
		same := all[0].Mean[2*n] == all[1].Mean[2*n] && all[0].Cov[4*n] == all[1].Cov[4*n]
		if same != (n < 3) {
			t.Errorf("row %d: the same bits: %v", n, same)
		}
	}
}

// TestFadeDraws compares the moments of drawn functions with the joint covariance.
func TestFadeDraws(t *testing.T) {
	p, exact, fade := fadedModel(t)
	own, err := NewPredictive(t.Context(), p, exact)
	testkit.OK(t, err)
	own.Fade = fade
	x := []float64{0.3, 0.7, 1.1, 0.5, 1.12, 0.5, 2.2, -0.1, 7, 9}
	n := len(x)
	joint, err := own.Joint(t.Context(), x)
	testkit.OK(t, err)
	at, err := own.At(t.Context(), cpu.New(), x)
	testkit.OK(t, err)
	const draws = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	sum, square := make([]float64, n), make([]float64, n*n)
	for range draws {
		f := p.Draw(exact, rng)
		f.Fade(fade, rng)
		y, err := f.At(t.Context(), x)
		testkit.OK(t, err)
		for i, v := range y {
			sum[i] += v / draws
			for j, w := range y {
				square[i*n+j] += (v - at.Mean[i]) * (w - at.Mean[j]) / draws
			}
		}
	}
	for i := range n {
		if limit := 5 * math.Sqrt(joint.At(i, i)/draws); math.Abs(sum[i]-at.Mean[i]) > limit {
			t.Errorf("mean %d of draws is %g, want %g", i, sum[i], at.Mean[i])
		}
		for j := range n {
			limit := 5 * math.Sqrt((joint.At(i, i)*joint.At(j, j)+joint.At(i, j)*joint.At(i, j))/draws)
			if math.Abs(square[i*n+j]-joint.At(i, j)) > limit {
				t.Errorf("covariance %d, %d of draws is %g, want %g", i, j, square[i*n+j], joint.At(i, j))
			}
		}
	}
}
