package vssgp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// standardErrors is the maximum deviation of an estimate from a closed form, in standard errors.
const standardErrors = 5

var predictKinds = []kind{
	{Name: "predict, one input", N: 12, L: 2, K: 2, Q: 1, D: 1},
	{Name: "predict, two inputs, two outputs", N: 12, L: 1, K: 4, Q: 2, D: 2},
	{Name: "predict, windows", N: 20, L: 6, K: 1, Q: 1, D: 2, Windows: 3, Fixed: true},
}

// withOracle is a model with the oracle's posterior.
type withOracle struct {
	m    *Model
	post *oracle.Posterior
}

// posteriors returns a model with each kind of posterior, and the oracle's posteriors.
func posteriors(t *testing.T, p *Params, data *Data) map[string]withOracle {
	op := modeltest.ToOracle(p)
	return map[string]withOracle{
		"exact":      {conditioned(t, p, data), oracle.ExactPosterior(op, modeltest.Nest(data.X, data.N), modeltest.Nest(data.Y, data.N))},
		"factorized": {mustModel(t, p), oracle.FactorizedPosterior(op)},
	}
}

// withoutNoise subtracts τ⁻¹ from the diagonal of a joint covariance and flattens it.
func withoutNoise(cov [][]float64, tau float64) []float64 {
	for i := range cov {
		cov[i][i] -= 1 / tau
	}
	return slices.Concat(cov...)
}

// TestPredictJoint compares means and joint covariances with the oracle's formula, over more rows
// than a chunk, and Predict with the diagonal blocks.
func TestPredictJoint(t *testing.T) {
	for _, c := range predictKinds {
		t.Run(c.Name, func(t *testing.T) {
			p, data := made(c)
			rng := modeltest.NewRNG(5)
			n := variational.ChunkRows + 7
			x := testkit.Numbers(n*c.Q, func(i int) float64 { return -1 + 9*rng.Float64() })
			for name, v := range posteriors(t, p, data) {
				mean, cov, err := v.m.PredictJoint(t.Context(), x)
				testkit.OK(t, err)
				checkSingles(t, v.m, name, x, n, mean, cov)
				at := append(modeltest.Nest(x, n)[:6:6], modeltest.Nest(x, n)[n-6:]...) // across the chunks
				wantMean, wantCov := oracle.PredictJoint(modeltest.ToOracle(p), v.post, at)
				entry := func(i int) int {
					if row := i / c.D; row >= 6 {
						return i + (n-12)*c.D
					}
					return i
				}
				var gotMean, gotCov []float64
				for i := range 12 * c.D {
					gotMean = append(gotMean, mean[entry(i)])
					for j := range 12 * c.D {
						gotCov = append(gotCov, cov.At(entry(i), entry(j)))
					}
				}
				modeltest.Near(t, name+": mean", gotMean, slices.Concat(wantMean...), rounding)
				modeltest.Near(t, name+": covariance", gotCov, withoutNoise(wantCov, p.NoisePrecision[0]), rounding)
			}
		})
	}
}

// checkSingles compares Predict and SD with the joint's diagonal blocks.
func checkSingles(t *testing.T, m *Model, name string, x []float64, n int, mean []float64, cov *mat.SymDense) {
	t.Helper()
	single := testkit.Must(m.Predict(t.Context(), x))(t)
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

// TestMonteCarloPredictions compares predictions with samples of frequencies, phases, coefficients
// and noise.
func TestMonteCarloPredictions(t *testing.T) {
	draws := slow.Pick(100_000, 20_000)
	for i, c := range predictKinds {
		p, data := made(c)
		x := data.X[:2*c.Q]
		for name, v := range posteriors(t, p, data) {
			mean, second := oracle.SamplePredictive(modeltest.ToOracle(p), v.post, modeltest.Nest(x, 2), draws, modeltest.NewRNG(uint64(i)))
			got, err := v.m.Predict(t.Context(), x)
			testkit.OK(t, err)
			_, joint, err := v.m.PredictJoint(t.Context(), x)
			testkit.OK(t, err)
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

// TestDrawsHaveJointMoments compares the draws' mean and covariance with PredictJoint in the data's units, and checks
// that the seed determines the draws.
func TestDrawsHaveJointMoments(t *testing.T) {
	const draws = 20_000
	for _, c := range predictKinds {
		p, data := made(c)
		x := data.X[:3*c.Q]
		for name, v := range posteriors(t, p, data) {
			for d := range c.D {
				v.m.Y.Offset[d], v.m.Y.Scale[d] = 3, float64(2+d)
			}
			mean, cov, err := v.m.PredictJoint(t.Context(), x)
			testkit.OK(t, err)
			checkSingles(t, v.m, name+", scaled", x, 3, mean, cov)
			all := testkit.Must(v.m.Draw(t.Context(), x, draws, 7))(t)
			checkMoments(t, c.Name+", "+name, all, mean, cov)
			again := testkit.Must(v.m.Draw(t.Context(), x, 2, 7))(t)
			other := testkit.Must(v.m.Draw(t.Context(), x, 1, 8))(t)
			modeltest.Near(t, "same seed", again[1], all[1], 0)
			if slices.Equal(other[0], all[0]) || slices.Equal(all[0], all[1]) {
				t.Errorf("%s, %s: draws of different seeds are equal", c.Name, name)
			}
		}
	}
}

// checkMoments compares the first and second moments of samples with a mean and a covariance.
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

// TestUnitsDoNotChangePredictions checks that a model of scaled data and the same model in the data's units give the same
// predictions.
func TestUnitsDoNotChangePredictions(t *testing.T) {
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
		a := testkit.Must(scaled.Predict(t.Context(), rawData.X))(t)
		b := testkit.Must(plain.Predict(t.Context(), rawData.X))(t)
		if inference == Factorized {
			checkExactUnits(t, scaled, plain, rawData, sy)
		}
		modeltest.Near(t, string(inference)+": mean", a.Mean, b.Mean, rounding)
		modeltest.Near(t, string(inference)+": covariance", a.Cov, b.Cov, rounding)
	}
	want := testkit.Must(plain.Draw(t.Context(), rawData.X[:2], 3, 1))(t)
	got := testkit.Must(scaled.Draw(t.Context(), rawData.X[:2], 3, 1))(t)
	modeltest.Near(t, "draw", got[2], want[2], rounding)
}

// checkExactUnits conditions both models and checks that their bounds differ by the change of units
// of the density.
func checkExactUnits(t *testing.T, scaled, plain *Model, data *Data, sy float64) {
	t.Helper()
	a := testkit.Must(scaled.Condition(t.Context(), data))(t)
	b := testkit.Must(plain.Condition(t.Context(), data))(t)
	modeltest.Near(t, "bound", []float64{a.Bound}, []float64{b.Bound + float64(data.N)*math.Log(sy)}, rounding)
}

// TestRowsAreIndependent checks that the prediction of a row does not depend on other rows.
func TestRowsAreIndependent(t *testing.T) {
	p, data := made(kind{Name: "rows", N: 30, L: 8, K: 3, Q: 1, D: 2, Windows: 4})
	m := conditioned(t, p, data)
	rng := modeltest.NewRNG(3)
	x := testkit.Numbers(300, func(i int) float64 { return -4 + 15*rng.Float64() })
	all := testkit.Must(m.Predict(t.Context(), x))(t)
	for _, i := range []int{0, 1, 130, 299} {
		one := testkit.Must(m.Predict(t.Context(), x[i:i+1]))(t)
		modeltest.Near(t, "mean", one.Mean, all.Mean[2*i:2*i+2], rounding)
		modeltest.Near(t, "covariance", one.Cov, all.Cov[4*i:4*i+4], rounding)
	}
}

// TestBadPredict checks the errors of Predict, PredictJoint and Draw for incomplete and non-finite rows.
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
			testkit.Fails(t, err, ErrData, "", name, i)
		}
	}
}

// TestLogDensity compares the joint log density of a row's outputs with the formula. A row whose covariance is not positive definite has
// NaN and does not affect other rows.
func TestLogDensity(t *testing.T) {
	y := []float64{2, 2, 2, 3}
	p := &Prediction{N: 2, D: 2, Mean: []float64{1, 2, 0, 0}, Cov: []float64{2, 0.5, 0.5, 1, 4, 0, 0, 9}}
	got := testkit.Must(p.LogDensity(t.Context(), y))(t)
	first := -math.Log(2*math.Pi) - 0.5*math.Log(1.75) - 0.5*1/1.75 // (1,0) Cov⁻¹ (1,0)ᵀ = 1/det
	second := -math.Log(2*math.Pi) - 0.5*math.Log(36) - 0.5*(4./4+9./9)
	modeltest.Near(t, "log densities", got, []float64{first, second}, 1e-14)
	p.Cov[0] = -1
	if got, err := p.LogDensity(t.Context(), y); err != nil || !math.IsNaN(got[0]) || math.IsNaN(got[1]) {
		t.Errorf("%v, %v; want NaN and a number", got, err)
	}
	p = &Prediction{N: 3, D: 1, Mean: []float64{0, 0, 0}, Cov: []float64{1, -1, 0}}
	got, err := p.LogDensity(t.Context(), []float64{0, 0, 0})
	if want := -0.5 * math.Log(2*math.Pi); err != nil || !(math.Abs(got[0]-want) <= 1e-15) || !math.IsNaN(got[1]) || !math.IsNaN(got[2]) {
		t.Errorf("%v, %v; want %v and NaN twice", got, err, want)
	}
}

// times returns the times of n samples, one per row.
func times(n int, step float64) []float64 {
	return testkit.Numbers(n, func(i int) float64 { return step * float64(i) })
}

// inSlices yields x in slices of the given number of rows.
func inSlices(x []float64, rows int) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		for lo := 0; lo < len(x); lo += rows {
			if !yield(x[lo:min(len(x), lo+rows)], nil) {
				return
			}
		}
	}
}

// TestSlicesPredictTheSameBits checks that predictions are bit-identical however the rows are sliced, and on a grid,
// with and without windows, to one pass over all rows. The last window does not begin at a
// multiple of a tile's rows, so parts of a fixed length would divide it into other tiles than
// one pass does, with other last bits.
func TestSlicesPredictTheSameBits(t *testing.T) {
	ctx := context.Background()
	for name, o := range map[string]Options{
		"no windows": {Iterations: NoIterations, Components: 2, Features: 4},
		"windows":    {Iterations: NoIterations, Components: 1, Features: 4, Windows: WindowOptions{Length: 47.37}},
	} {
		m, _, err := Fit(ctx, wave(500, 0.3), o)
		testkit.OK(t, err)
		p := testkit.Must(m.Predictor(ctx))(t)
		x := times(3*partRows+777, m.X.Scale[0]*0x1p-8) // a grid in the model's units, too; the end is beyond the windows
		for i := range x {
			x[i] += m.X.Offset[0]
		}
		want := testkit.Must(p.part(ctx, m.X.ToModel(x)))(t)
		for _, rows := range []int{999, partRows, len(x)} {
			next := 0
			for part, err := range p.Each(ctx, inSlices(x, rows)) {
				testkit.OK(t, err)
				end := part.First + part.N
				if part.First != next || !slices.Equal(part.X, x[next:end]) {
					t.Fatalf("%s: a part of rows %d to %d after row %d", name, part.First, end, next)
				}
				if !slices.Equal(part.Mean, want.Mean[next:end]) || !slices.Equal(part.Cov, want.Cov[next:end]) {
					t.Errorf("%s, %d rows at a time: rows %d to %d differ from one pass", name, rows, next, end)
				}
				if last := end == len(x); !last && part.N > partRows || last && (part.N < lastRows || part.N > partRows+lastRows) {
					t.Errorf("%s: a part of rows %d to %d", name, next, end)
				}
				next = end
			}
			if next != len(x) {
				t.Errorf("%s: got %d rows, want %d", name, next, len(x))
			}
		}
	}
}

// TestEachErrors checks that an error from the rows and incomplete rows end the predictions.
func TestEachErrors(t *testing.T) {
	m, _ := mustFit(t, wave(60, 0.3), Options{Iterations: NoIterations})
	p := testkit.Must(m.Predictor(context.Background()))(t)
	broken := errors.New("broken")
	var last error
	for part, err := range p.Each(context.Background(), func(yield func([]float64, error) bool) {
		_ = yield([]float64{1}, nil) &&
			yield(nil, broken)
	}) {
		if last = err; part != nil {
			t.Error("a part before the error")
		}
	}
	if !errors.Is(last, broken) {
		t.Errorf("%v", last)
	}
	wide := &Data{N: 20, Q: 2, D: 1, X: times(40, 0.1), Y: times(20, 0.3)}
	m, _ = mustFit(t, wide, Options{Iterations: NoIterations, Features: 4})
	p = testkit.Must(m.Predictor(context.Background()))(t)
	last = nil
	for _, last = range p.Each(context.Background(), inSlices(times(9, 0.1), 3)) {
	}
	if !errors.Is(last, ErrData) {
		t.Errorf("three numbers for rows of two inputs: %v", last)
	}
}

// TestPredictJoins compares a prediction in parts with a single pass, including the covariances
// between outputs and the covariances in the model's units.
func TestPredictJoins(t *testing.T) {
	one := wave(60, 0.3)
	for _, unit := range []float64{1, 1e-300} {
		data := &Data{N: one.N, Q: 1, D: 2, X: one.X}
		for i, v := range one.Y {
			data.Y = append(data.Y, v*unit, (v+float64(i)/30)*unit)
		}
		m, _ := mustFit(t, data, Options{Iterations: NoIterations, Components: 2})
		p := testkit.Must(m.Predictor(t.Context()))(t)
		x := times(partRows+lastRows+5, 1e-4)
		want := testkit.Must(p.part(t.Context(), m.X.ToModel(x)))(t)
		got := testkit.Must(p.Predict(t.Context(), x))(t)
		modeltest.Near(t, "mean", scaled(got.Mean, 1/unit), scaled(want.Mean, 1/unit), 1e-12)
		modeltest.Near(t, "standard deviation", scaled(got.SD(true), 1/unit), scaled(want.SD(true), 1/unit), 1e-12)
		modeltest.Near(t, "covariance", got.Cov, want.Cov, 1e-12)
		if (got.own != nil) != (unit != 1) || (want.own != nil) != (unit != 1) || got.N != len(x) {
			t.Fatalf("in a unit of %v: %d rows, covariances in the model's units %v and %v", unit, got.N, got.own != nil, want.own != nil)
		}
		if got.own != nil {
			modeltest.Near(t, "covariance in the model's units", got.own.cov, want.own.cov, 1e-12)
		}
	}
}

// TestPartRows checks that a part has fewer rows if there are many outputs, but at least one step.
func TestPartRows(t *testing.T) {
	for d, want := range map[int]int{1: 65536, 8: 65536, 40: 2560, 1000: 256} {
		if got := maxPartRows(d); got != want {
			t.Errorf("%d outputs: %d rows, want %d", d, got, want)
		}
	}
}

// deaf is a backend that ignores the cancellation of a context.
type deaf struct {
	backend.Backend
	told func(stop func() error)
}

func (b deaf) Open(d backend.Data) (backend.Rows, error) {
	b.told(d.Stop)
	d.Stop = nil
	return b.Backend.Open(d)
}

// TestPredictBackend checks that negative variances from rounding become zero, that a backend
// receives the context, and that a canceled prediction returns an error even if the backend
// ignores the context.
func TestPredictBackend(t *testing.T) {
	m, _ := mustFit(t, wave(60, 0.3), Options{Iterations: NoIterations})
	m.Backend = &backendtest.Spy{Backend: cpu.New(), Predict: func(p *backend.Prediction) { p.Cov[1] = -1e-9 }}
	p := testkit.Must(m.Predict(t.Context(), []float64{1, 2}))(t)
	if p.Cov[1] != p.Noise[0] || !(p.Cov[0] > p.Noise[0]) {
		t.Errorf("variances %v with a noise variance of %v", p.Cov, p.Noise[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := false
	m.Backend = deaf{cpu.New(), func(stop func() error) {
		told = stop != nil && stop() == nil
		cancel()
		told = told && errors.Is(stop(), context.Canceled)
	}}
	q := testkit.Must(m.Predictor(ctx))(t)
	if p, err := q.Predict(ctx, []float64{1, 2}); !told || !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("told %v: prediction %v, error %v", told, p, err)
	}
}

// TestDrawsDoNotDependOnOrder checks that a function does not depend on the order of evaluation, and that rows can be
// evaluated together or separately.
func TestDrawsDoNotDependOnOrder(t *testing.T) {
	m, _ := mustFit(t, wave(60, 0.3), Options{Iterations: NoIterations, Components: 2})
	x := times(2*variational.ChunkRows+40, 0.01)
	at := func(d *Draws, i int, x []float64) []float64 {
		return testkit.Must(d.At(t.Context(), i, x))(t)
	}
	draws := func() *Draws {
		return testkit.Must(m.Draws(3))(t)
	}
	d := draws()
	first, second, third := at(d, 0, x), at(d, 1, x), at(d, 2, x)
	if slices.Equal(first, second) || slices.Equal(second, third) {
		t.Error("two functions are equal")
	}
	if d := draws(); !slices.Equal(at(d, 2, x), third) || !slices.Equal(at(d, 0, x), first) || !slices.Equal(at(d, 1, x), second) {
		t.Error("the functions depend on the order of evaluation")
	}
	for _, n := range []int{0, variational.ChunkRows, len(x) - 40, len(x) - 1} {
		if !slices.Equal(at(d, 1, x[n:n+1]), second[n:n+1]) {
			t.Errorf("row %d differs if it is evaluated separately", n)
		}
	}
}

// TestContexts checks that long computations end soon after their context.
func TestContexts(t *testing.T) {
	const n = 40000
	data := wave(n, 0.3)
	m, _ := mustFit(t, wave(400, 0.3), Options{Init: InitPaper, Features: 500, Iterations: NoIterations})
	x := data.X
	for name, work := range map[string]func(ctx context.Context) error{
		"Predict": func(ctx context.Context) error { _, err := m.Predict(ctx, x); return err },
		"PredictJoint": func(ctx context.Context) error {
			_, _, err := m.PredictJoint(ctx, data.X[:4000])
			return err
		},
		"Draw":      func(ctx context.Context) error { _, err := m.Draw(ctx, x, 50, 1); return err },
		"Evaluate":  func(ctx context.Context) error { _, err := m.Evaluate(ctx, data, Exact, nil, true); return err },
		"Condition": func(ctx context.Context) error { _, err := m.Condition(ctx, data); return err },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Duration
		time.AfterFunc(20*time.Millisecond, func() { at = cputime.Now(); cancel() })
		err := work(ctx)
		ended := cputime.Now()
		<-ctx.Done()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want it canceled", name, err)
		}
		if late := ended - at; late > 5*time.Second {
			t.Errorf("%s: it ran for %v after it was canceled", name, late)
		}
	}
	if e, err := m.Condition(t.Context(), wave(400, 0.3)); err != nil || e == nil || !m.Fitted() {
		t.Errorf("after the canceled calls: %v", err)
	}
}

// TestConcurrentUse uses one model, one predictor and one Data in several goroutines and compares the results with one goroutine. It is
// meant to be run with the race detector.
func TestConcurrentUse(t *testing.T) {
	data := wave(80, 0.1)
	m, _ := mustFit(t, data, Options{Features: 6, Iterations: 5, Windows: WindowOptions{Length: 5}, Posterior: PosteriorOptions{Draws: 2}})
	one := testkit.Must(m.Predictor(t.Context()))(t)
	x := []float64{1, 2, 30}
	want := testkit.Must(m.Predict(t.Context(), x))(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			p, err := m.Predict(t.Context(), x)
			if err != nil || !slices.Equal(p.Mean, want.Mean) || !slices.Equal(p.Cov, want.Cov) {
				t.Errorf("Predict: error %v, or different numbers", err)
			}
			_, rows := one.Predict(t.Context(), x)
			_, _, joint := m.PredictJoint(t.Context(), x)
			_, drawn := m.Draw(t.Context(), x, 2, 1)
			_, bound := m.Evaluate(t.Context(), data, Exact, nil, true)
			_, _, again := Fit(t.Context(), data, Options{From: m, Iterations: 2, Posterior: PosteriorOptions{Draws: NoPosterior}})
			_, density := want.LogDensity(t.Context(), []float64{0, 0, 0})
			for name, err := range map[string]error{"Predictor": rows, "PredictJoint": joint, "Draw": drawn, "Evaluate": bound,
				"Fit": again, "LogDensity": density, "Write": m.Write(io.Discard)} {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			m.Components()
			m.Frequencies()
			want.Quantile(0.9, true)
		})
	}
	all.Wait()
}

// TestQuantileProbability checks that a probability outside of (0, 1), such as a percentage, panics.
func TestQuantileProbability(t *testing.T) {
	p := &Prediction{N: 1, D: 1, Mean: []float64{0}, Cov: []float64{1}, Noise: []float64{0}}
	for _, probability := range []float64{95, 0, 1, -0.1, math.NaN()} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, fmt.Sprintf("probability %v", probability)) {
					t.Errorf("%v: panic %q", probability, text)
				}
			}()
			t.Errorf("%v: %v", probability, p.Quantile(probability, true))
		}()
	}
	if q := p.Quantile(0.975, true); math.Abs(q[0]-1.959964) > 1e-6 {
		t.Errorf("quantile %v", q)
	}
}

// TestOpenInterrupted checks that cancellation does not wait for the backend to prepare the rows.
func TestOpenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := testkit.Must(New(t.Context(), wave(100, 0.1), Options{Init: InitPaper}))(t)
	if _, err := m.open(ctx, wave(200_001, 0.1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestFarFromFeatures checks that far from all features the mean is 0 and the covariance is
// τ⁻¹I + Ψ′ with Ψ′_de = Σ_k (σ²_i/K)(m_kd m_ke + 1[d=e] s_kd), for both posteriors (see the
// paper's appendix).
func TestFarFromFeatures(t *testing.T) {
	for _, c := range []kind{
		{Name: "uniform phases", N: 20, L: 2, K: 3, Q: 1, D: 2},
		{Name: "fixed phases, two inputs", N: 20, L: 2, K: 3, Q: 2, D: 2, Fixed: true},
	} {
		p, data := made(c)
		for name, m := range map[string]*Model{"exact": conditioned(t, p, data), "factorized": mustModel(t, p)} {
			mean, vr, err := m.Coefficients()
			testkit.OK(t, err)
			want := make([]float64, 4)
			for d := range 2 {
				want[3*d] = 1 / p.NoisePrecision[0]
				for e := range 2 {
					for k := range p.M() {
						share := p.Variance[k/p.K] / float64(p.K)
						want[2*d+e] += share * mean[2*k+d] * mean[2*k+e]
						if d == e {
							want[2*d+e] += share * vr[2*k+d]
						}
					}
				}
			}
			far := testkit.Numbers(c.Q, func(q int) float64 { return -1e4 })
			got := testkit.Must(m.Predict(t.Context(), far))(t)
			modeltest.Near(t, c.Name+", "+name+": covariance", got.Cov, want, rounding)
			modeltest.Near(t, c.Name+", "+name+": mean", got.Mean, []float64{0, 0}, 0)
		}
	}
}

// TestOneWindow checks that predictions with a single window equal predictions without windows.
func TestOneWindow(t *testing.T) {
	p, data := made(modeltest.FindKind(t, "one window"))
	plain := p.Clone()
	plain.Windows.Center, plain.Windows.Length, plain.ComponentWindow = nil, 0, nil
	x := []float64{-3, 1, 2, 50}
	a := testkit.Must(conditioned(t, p, data).Predict(t.Context(), x))(t)
	b := testkit.Must(conditioned(t, plain, data).Predict(t.Context(), x))(t)
	modeltest.Near(t, "covariance", a.Cov, b.Cov, 0)
}

// TestLimitsOfFiles checks that sizes that a small file can declare but that exceed the memory give errors.
func TestLimitsOfFiles(t *testing.T) {
	p := unfittedParams(variational.MaxExact + 1)
	data := wave(4, 0.1)
	testkit.Fails(t, testkit.Error(mustModel(t, p).Condition(t.Context(), data)), ErrParams, "", p.K, " features")
	const d = 1 << 16
	one := unfittedParams(1)
	one.D, one.CoefMean, one.CoefVar = d, make([]float64, d), slices.Repeat([]float64{1}, d)
	wide := mustModel(t, one)
	testkit.Fails(t, testkit.Error(wide.Predict(t.Context(), make([]float64, 1))), ErrData, "", d, " outputs")
}
