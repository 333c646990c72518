package vssgp

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// standardErrors is the distance of an estimate at which a closed form is
// refused.
const standardErrors = 5

var predictKinds = []kind{
	{Name: "predict, one input", N: 12, L: 2, K: 2, Q: 1, D: 1},
	{Name: "predict, two inputs, two outputs", N: 12, L: 1, K: 4, Q: 2, D: 2},
	{Name: "predict, windows", N: 20, L: 6, K: 1, Q: 1, D: 2, Windows: 3, Fixed: true},
}

// posteriors are a kind's model with each posterior, and the oracle's.
func posteriors(t *testing.T, p *Params, data *Data) map[string]struct {
	m    *Model
	post *oracle.Posterior
} {
	op := modeltest.ToOracle(p)
	return map[string]struct {
		m    *Model
		post *oracle.Posterior
	}{
		"exact":      {conditioned(t, p, data), oracle.ExactPosterior(op, modeltest.Nest(data.X, data.N), modeltest.Nest(data.Y, data.N))},
		"factorised": {mustModel(t, p), oracle.FactorizedPosterior(op)},
	}
}

// withoutNoise takes τ⁻¹ off a joint covariance's diagonal and flattens it.
func withoutNoise(cov [][]float64, tau float64) []float64 {
	for i := range cov {
		cov[i][i] -= 1 / tau
	}
	return flat(cov)
}

// TestPredictJoint holds means and joint covariances to the oracle's formula,
// over more rows than a chunk, and Predict to the joint's blocks.
func TestPredictJoint(t *testing.T) {
	for _, c := range predictKinds {
		t.Run(c.Name, func(t *testing.T) {
			p, data := made(c)
			rng := modeltest.NewRNG(5)
			n := variational.ChunkRows + 7
			x := make([]float64, n*c.Q)
			for i := range x {
				x[i] = -1 + 9*rng.Float64()
			}
			for name, v := range posteriors(t, p, data) {
				mean, cov, err := v.m.PredictJoint(t.Context(), x)
				if err != nil {
					t.Fatal(err)
				}
				checkSingles(t, v.m, name, x, n, mean, cov)
				at := append(modeltest.Nest(x, n)[:6:6], modeltest.Nest(x, n)[n-6:]...) // across the chunks
				wantMean, wantCov := oracle.PredictJoint(modeltest.ToOracle(p), v.post, at)
				place := func(i int) int {
					if row := i / c.D; row >= 6 {
						return i + (n-12)*c.D
					}
					return i
				}
				var gotMean, gotCov []float64
				for i := range 12 * c.D {
					gotMean = append(gotMean, mean[place(i)])
					for j := range 12 * c.D {
						gotCov = append(gotCov, cov.At(place(i), place(j)))
					}
				}
				modeltest.Near(t, name+": mean", gotMean, flat(wantMean), rounding)
				modeltest.Near(t, name+": covariance", gotCov, withoutNoise(wantCov, p.NoisePrecision[0]), rounding)
			}
		})
	}
}

// checkSingles compares Predict and SD with the joint's diagonal blocks.
func checkSingles(t *testing.T, m *Model, name string, x []float64, n int, mean []float64, cov *mat.SymDense) {
	t.Helper()
	single, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	d := single.D
	var blocks, sd []float64
	for i := range n {
		for a := range d {
			for b := range d {
				v := cov.At(i*d+a, i*d+b)
				if a == b {
					sd = append(sd, math.Sqrt(v))
					v += single.Noise[a]
				}
				blocks = append(blocks, v)
			}
		}
	}
	modeltest.Near(t, name+": mean of single rows", single.Mean, mean, 0)
	modeltest.Near(t, name+": covariance of single rows", single.Cov, blocks, rounding)
	modeltest.Near(t, name+": SD without noise", single.SD(false), sd, rounding)
	noisy := single.SD(true)
	for i := range noisy {
		noisy[i] = math.Sqrt(noisy[i]*noisy[i] - single.Noise[i%d])
	}
	modeltest.Near(t, name+": SD with noise", noisy, sd, rounding)
}

// TestMonteCarloPredictions draws frequencies, phases, coefficients and noise.
func TestMonteCarloPredictions(t *testing.T) {
	draws := slow.Pick(100_000, 20_000)
	for i, c := range predictKinds {
		p, data := made(c)
		x := data.X[:2*c.Q]
		for name, v := range posteriors(t, p, data) {
			mean, second := oracle.SamplePredictive(modeltest.ToOracle(p), v.post, modeltest.Nest(x, 2), draws, modeltest.NewRNG(uint64(i)))
			got, err := v.m.Predict(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			_, joint, err := v.m.PredictJoint(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			size := 2 * c.D
			want := make([]float64, size*size)
			for a := range size {
				for b := range size {
					want[a*size+b] = joint.At(a, b) + got.Mean[a]*got.Mean[b]
					if a/c.D == b/c.D { // one row's block, with noise
						want[a*size+b] = got.Cov[a*c.D+b%c.D] + got.Mean[a]*got.Mean[b]
					}
				}
			}
			if w := mean.Worst(got.Mean, 1e-12); w > standardErrors {
				t.Errorf("%s, %s: mean is %.1f standard errors away", c.Name, name, w)
			}
			if w := second.Worst(want, 1e-12); w > standardErrors {
				t.Errorf("%s, %s: second moment is %.1f standard errors away", c.Name, name, w)
			}
		}
	}
}

// TestDraw: the draws' mean and covariance are PredictJoint's, in the data's
// units; the seed decides them.
func TestDraw(t *testing.T) {
	const draws = 20_000
	for _, c := range predictKinds {
		p, data := made(c)
		x := data.X[:3*c.Q]
		for name, v := range posteriors(t, p, data) {
			for d := range c.D {
				v.m.Y.Offset[d], v.m.Y.Scale[d] = 3, float64(2+d)
			}
			mean, cov, err := v.m.PredictJoint(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			checkSingles(t, v.m, name+", scaled", x, 3, mean, cov)
			all, err := v.m.Draw(t.Context(), x, draws, 7)
			if err != nil {
				t.Fatal(err)
			}
			checkMoments(t, c.Name+", "+name, all, mean, cov)
			again, err := v.m.Draw(t.Context(), x, 2, 7)
			if err != nil {
				t.Fatal(err)
			}
			other, err := v.m.Draw(t.Context(), x, 1, 8)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.Near(t, "same seed", again[1], all[1], 0)
			if slices.Equal(other[0], all[0]) || slices.Equal(all[0], all[1]) {
				t.Errorf("%s, %s: different draws are the same", c.Name, name)
			}
		}
	}
}

// checkMoments holds samples' first and second moments to a mean and covariance.
func checkMoments(t *testing.T, what string, all [][]float64, mean []float64, cov *mat.SymDense) {
	t.Helper()
	size, n := len(mean), float64(len(all))
	for a := range size {
		for b := range a + 1 {
			var s, s2, first float64
			for _, f := range all {
				u := (f[a] - mean[a]) * (f[b] - mean[b])
				s, s2 = s+u, s2+u*u
				first += f[a] - mean[a]
			}
			if a == b {
				if z := math.Abs(first/n) / math.Sqrt(cov.At(a, a)/n); z > standardErrors {
					t.Errorf("%s: mean of f[%d] is %.1f standard errors away", what, a, z)
				}
			}
			se := math.Sqrt((s2/n - s*s/n/n) / n)
			if z := math.Abs(s/n-cov.At(a, b)) / se; z > standardErrors {
				t.Errorf("%s: covariance of f[%d], f[%d] is %g, want %g: %.1f standard errors away", what, a, b, s/n, cov.At(a, b), z)
			}
		}
	}
}

// TestUnits: a model of scaled data predicts, in the data's units, what the
// same model written in those units does.
func TestUnits(t *testing.T) {
	p, data := made(kind{Name: "units", N: 20, L: 4, K: 2, Q: 2, D: 1, Windows: 2})
	ox, sx, oy, sy := []float64{100, -3}, []float64{0.001, 40}, 12.0, 7.0
	raw, rawData := p.Clone(), &Data{N: data.N, Q: 2, D: 1}
	for i, v := range data.X {
		rawData.X = append(rawData.X, ox[i%2]+sx[i%2]*v)
	}
	for _, v := range data.Y {
		rawData.Y = append(rawData.Y, oy+sy*v)
	}
	for i := range raw.Lengthscale {
		raw.Lengthscale[i] *= sx[i%2]
		raw.Frequency[i] /= sx[i%2]
	}
	for i := range raw.Location {
		raw.Location[i] = ox[i%2] + sx[i%2]*raw.Location[i]
	}
	for v := range raw.Windows.Center {
		raw.Windows.Center[v] = ox[0] + sx[0]*raw.Windows.Center[v]
	}
	raw.Windows.Length *= sx[0]
	for i := range raw.Variance {
		raw.Variance[i] *= sy * sy
	}
	raw.NoisePrecision[0] /= sy * sy
	scaled, plain := mustModel(t, p.Clone()), mustModel(t, raw)
	scaled.X, scaled.Y = Affine{ox, sx}, Affine{[]float64{oy}, []float64{sy}}
	plain.Y.Offset[0] = oy
	for _, inference := range []Inference{Factorized, Exact} { // Condition makes both exact
		a, err := scaled.Predict(t.Context(), rawData.X)
		if err != nil {
			t.Fatal(err)
		}
		b, err := plain.Predict(t.Context(), rawData.X)
		if err != nil {
			t.Fatal(err)
		}
		if inference == Factorized {
			checkExactUnits(t, scaled, plain, rawData, sy)
		}
		modeltest.Near(t, string(inference)+": mean", a.Mean, b.Mean, rounding)
		modeltest.Near(t, string(inference)+": covariance", a.Cov, b.Cov, rounding)
	}
	want, err := plain.Draw(t.Context(), rawData.X[:2], 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := scaled.Draw(t.Context(), rawData.X[:2], 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.Near(t, "draw", got[2], want[2], rounding)
}

// checkExactUnits conditions both models; their bounds differ by the density's
// change of units.
func checkExactUnits(t *testing.T, scaled, plain *Model, data *Data, sy float64) {
	t.Helper()
	a, err := scaled.Condition(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := plain.Condition(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.Near(t, "bound", []float64{a.Bound}, []float64{b.Bound + float64(data.N)*math.Log(sy)}, rounding)
}

// TestRowsAreIndependent: a prediction does not depend on its neighbors.
func TestRowsAreIndependent(t *testing.T) {
	p, data := made(kind{Name: "rows", N: 30, L: 8, K: 3, Q: 1, D: 2, Windows: 4})
	m := conditioned(t, p, data)
	rng := modeltest.NewRNG(3)
	x := make([]float64, 300)
	for i := range x {
		x[i] = -4 + 15*rng.Float64()
	}
	all, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 130, 299} {
		one, err := m.Predict(t.Context(), x[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Near(t, "mean", one.Mean, all.Mean[2*i:2*i+2], rounding)
		modeltest.Near(t, "covariance", one.Cov, all.Cov[4*i:4*i+4], rounding)
	}
}

func TestBadPredict(t *testing.T) {
	p, data := made(modeltest.FindKind(t, "two inputs, three outputs"))
	m := conditioned(t, p, data)
	for name, x := range map[string][]float64{
		"no rows": nil, "half a row": {1, 2, 3}, "not a number": {0, math.NaN()}, "infinite": {math.Inf(1), 0},
	} {
		_, err := m.Predict(t.Context(), x)
		_, _, err2 := m.PredictJoint(t.Context(), x)
		_, err3 := m.Draw(t.Context(), x, 1, 1)
		for i, err := range []error{err, err2, err3} {
			if !errors.Is(err, ErrData) {
				t.Errorf("%s: %s: error %v, want one that wraps ErrData", name, []string{"Predict", "PredictJoint", "Draw"}[i], err)
			}
		}
	}
}

// TestLogDensityOfNone: a row whose covariance is none has no density; the others
// keep theirs.
func TestLogDensityOfNone(t *testing.T) {
	p := &Prediction{N: 3, D: 1, Mean: []float64{0, 0, 0}, Cov: []float64{1, -1, 0}}
	got, err := p.LogDensity(t.Context(), []float64{0, 0, 0})
	if want := -0.5 * math.Log(2*math.Pi); err != nil || !(math.Abs(got[0]-want) <= 1e-15) || !math.IsNaN(got[1]) || !math.IsNaN(got[2]) {
		t.Errorf("%v, %v; want %v and NaN twice", got, err, want)
	}
}
