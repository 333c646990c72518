package series

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPrediction compares predictions at the mode and the bound with a dense Gaussian process.
func TestPrediction(t *testing.T) {
	const ahead = 4
	uneven := made(100+ahead, true)
	uneven.Err = [][]float64{make([]float64, len(uneven.X))}
	for n := range uneven.X {
		uneven.Err[0][n] = 0.2 + 0.1*math.Sin(float64(n))
	}
	outputs := made(80+ahead, false)
	outputs.Y = append(outputs.Y, make([]float64, len(outputs.X)), slices.Clone(outputs.Y[0]))
	for n := range outputs.X {
		outputs.Y[1][n] = math.Sin(float64(n))
		if n > 20 && n < 30 || n < 4 { // the filter of this output begins later
			outputs.Y[2][n] = math.NaN()
		}
	}
	for name, s := range map[string]Series{"uneven, with errors": uneven, "outputs": outputs, "regressors": driven(70 + ahead)} {
		train, after := s.rows(0, len(s.X)-ahead), s.rows(len(s.X)-ahead, len(s.X))
		after.X[0] -= 0.04 // between two observations
		shifted := append(slices.Clone(everything), LevelShift{At: train.X[30]}, LevelShift{At: train.X[45]})
		m := fit(t, train, Options{Parts: shifted, Known: true, Draws: AtMode, Log: LogNever})
		p := testkit.Must(m.Predict(t.Context(), after.X, after.regressorValues()...))(t)
		lambda, _ := m.layout.variance(m.at.Mode)
		process, weighted := m.layout.stateSpaceAt(m.at.Mode), m.layout.weighted(m.at.Mode)
		var rows [][]float64 // features of the data, then of the predictions
		var u []float64
		for n, x := range s.X {
			var z []float64
			for j, r := range m.frame.Regressors {
				z = append(z, r.standard(s.Regressors[j].Values[n : n+1])[0])
			}
			u = append(u, m.frame.steps(x))
			rows = append(rows, weighted(u[n], z...))
		}
		kernel := func(i, j int) float64 { return dot(rows[i], rows[j]) + lambda*process.covariance(u[i], u[j]) }
		bound := 0.0
		for d, y := range m.frame.y {
			var seen []int
			var values []float64
			for n, v := range y {
				if !math.IsNaN(v) {
					seen, values = append(seen, n), append(values, v)
				}
			}
			exact := newGaussian(t, values, func(i, j int) float64 {
				k := kernel(seen[i], seen[j])
				if e := m.frame.error(d, seen[i]); i == j {
					k += lambda * e * e
				}
				return k
			})
			cross := func(i, j int) float64 { return kernel(len(train.X)+i, seen[j]) }
			own := func(i int) float64 { return kernel(len(train.X)+i, len(train.X)+i) + lambda*m.frame.defaultError(d) }
			checkDense(t, m, p, d, exact, cross, own, 1e-8)
			bound += exact.density
		}
		testkit.Near(t, m.Bound(), bound, 1e-8*math.Abs(bound), name, ": the bound")
		if parts := componentsOf(t, m, p, after.regressorValues()...); parts[0].Name != "trend" || parts[1].Name != "season 1" ||
			parts[2].Name != "season 0.3" || parts[3].Name != "short memory" {
			t.Errorf("%s: components %+v", name, parts)
		}
	}
}

// componentsOf returns the components at the query times of a prediction and checks that they add up to its means.
func componentsOf(t *testing.T, m *Model, p *Prediction, regressors ...[]float64) []Component {
	t.Helper()
	parts := testkit.Must(m.Components(context.Background(), p.X, regressors...))(t)
	for i, mean := range p.Mean[0] {
		sum := 0.0
		for _, c := range parts {
			sum += c.Mean[0][i]
		}
		testkit.Near(t, sum, mean, 1e-8*math.Abs(sum), "components add up to")
	}
	return parts
}

// TestDrawsHavePredictedMoments compares mean and standard deviation of draws with predictions without noise.
func TestDrawsHavePredictedMoments(t *testing.T) {
	s := made(60, false)
	m := fit(t, s, Options{Draws: AtMode})
	checkDraws(t, m, predict(t, m, append(s.X[10:12:12], m.Next(5)...)), 3000, 1, 0.1, 0.06)
}

// TestPriorUnits checks that priors are in units of the data: a narrow prior fixes its hyper-parameter at the median.
func TestPriorUnits(t *testing.T) {
	s := made(60, false)
	for n := range s.Y[0] {
		s.Y[0][n] *= 1000
	}
	narrow := func(median float64) Prior { return Prior{Median: median, SD: 0.001} }
	parts := []Part{
		Constant{}, RandomWalk{SD: narrow(700)}, Season{Period: 1, Harmonics: 1, Length: narrow(9), Amplitude: narrow(2000)}, Noise{SD: narrow(300)},
		ShortMemory{SD: narrow(400), Length: narrow(0.3)}, DampedTrend{SD: narrow(600), Length: narrow(2)},
	}
	m := fit(t, s, Options{Parts: parts, Known: true, Draws: AtMode})
	want := map[string]float64{
		"random_walk.sd": 700, "season 1.length": 9, "season 1.amplitude[1]": 2000, "noise.sd": 300, "short_memory.sd": 400, "short_memory.length": 0.3,
		"damped_trend.sd": 600, "damped_trend.length": 2,
	}
	for _, v := range m.Hyper() {
		if w, ok := want[v.Name]; !ok || math.Abs(v.Mode/w-1) > 0.01 {
			t.Errorf("%s is %v, want about %v", v.Name, v.Mode, w)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("no hyper-parameters for the priors %v", want)
	}
}

// TestDampedTrend checks that the slope of a forecast decays by e^−τ/L, that a long L gives the posterior of a line, and that the trend is
// the component of that name.
func TestDampedTrend(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	s := seriesOf(40, func(i float64) float64 { return 5 + 0.7*i + 0.5*random.NormFloat64() })
	narrow := func(median float64) Prior { return Prior{Median: median, SD: 1e-4} }
	for _, length := range []float64{4, 30, 1e10} {
		parts := []Part{Constant{}, DampedTrend{SD: narrow(9), Length: narrow(length)}, Noise{SD: narrow(0.5)}}
		m := fit(t, s, Options{Parts: parts, Known: true, Draws: AtMode, Log: LogNever})
		p := predict(t, m, m.Next(60))
		mean := p.Mean[0]
		for _, h := range []int{2, 10, 58} {
			l := m.frame.Step * math.Exp(m.at.Mode[m.layout.index.back]) // almost exactly the median
			want := (mean[1] - mean[0]) * math.Exp(-float64(h)/l)
			testkit.Near(t, mean[h+1]-mean[h], want, 1e-8, "with the length ", length, ", the change ", h, " steps later")
		}
		testkit.Equal(t, len(componentsOf(t, m, p)), 1, "components")
		if length < 1e10 {
			continue
		}
		rise := math.Exp(m.at.Mode[m.layout.index.rise]) / m.frame.Range
		lambda, _ := m.layout.variance(m.at.Mode)
		level := m.layout.blocks[0].amp.factor
		start := m.layout.stateSpaceAt(m.at.Mode).start
		line := func(u, v float64) float64 { return level*level + rise*rise*(u+start)*(v+start) }
		exact := newGaussian(t, m.frame.y[0], func(i, j int) float64 {
			if i == j {
				return line(s.X[i], s.X[i]) + lambda
			}
			return line(s.X[i], s.X[j])
		})
		checkDense(t, m, p, 0, exact, func(i, j int) float64 { return line(p.X[i], s.X[j]) },
			func(i int) float64 { return line(p.X[i], p.X[i]) + lambda }, 1e-4)
	}
}

// TestPredictionsOfOtherTimes checks that a prediction does not depend on the other times, also before the first observation, where it
// widens.
func TestPredictionsOfOtherTimes(t *testing.T) {
	s := made(60, false)
	for _, part := range []Part{DampedTrend{}, RandomWalk{}, ShortMemory{}} {
		m := fit(t, s, Options{Parts: []Part{Constant{}, part}, Known: true, Draws: AtMode, Log: LogNever})
		x := []float64{s.X[0] - 2, s.X[0], s.X[5], s.X[59], s.X[59] + 2}
		all := predict(t, m, x)
		for n := range x {
			one := predict(t, m, x[n:n+1])
			testkit.Near(t, one.Mean[0][0], all.Mean[0][n], 1e-7, part.name(), ": mean at ", x[n])
			testkit.Near(t, one.SD[0][0], all.SD[0][n], 1e-7, part.name(), ": sd at ", x[n])
		}
		if before, at := all.SD[0][0], all.SD[0][1]; before < 1.1*at {
			t.Errorf("%s: the sd two years before the data is %v, at their start %v", part.name(), before, at)
		}
	}
}

// TestMedianError checks that the noise of a prediction corresponds to the median error, ignoring missing values.
func TestMedianError(t *testing.T) {
	s := Series{X: []float64{0, 1, 2, 3, 4, 5}, Y: [][]float64{{10, 30, math.NaN(), 20, 50, 40}}, Err: [][]float64{{1, 9, 100, 3, 2, 20}}}
	f := frameOf(t, s, false)
	testkit.Near(t, f.Scale[0]*math.Sqrt(f.defaultError(0)), 3, 1e-12, "the error of a value to predict")
}

// TestCovariances compares the covariance of the features with the covariance of the process they approximate. A smooth trend is
// compared relative to its first value.
func TestCovariances(t *testing.T) {
	const reach, sd = 150.0, 0.8
	f := frameOf(t, longSeries(101), false)
	for name, c := range map[string]struct {
		part      Part
		hyper     []float64
		from      bool // compare relative to the first value
		want      func(u, v float64) float64
		tolerance float64
	}{
		"smooth trend": {part: SmoothTrend{}, hyper: []float64{sd}, from: true, tolerance: 1e-3,
			want: func(u, v float64) float64 {
				u, v = min(u, v), max(u, v)
				return 3 * sd * sd * u * u * (3*v - u) / 6 / math.Pow(f.Range, 3)
			}},
		"season": {part: Season{Period: 8, Harmonics: 1}, hyper: []float64{30, sd}, tolerance: 0.01,
			want: func(u, v float64) float64 {
				z := math.Sqrt(3) * math.Abs(u-v) / 30
				return sd * sd * (1 + z) * math.Exp(-z) * math.Cos(2*math.Pi*(u-v)/8)
			}},
	} {
		l := newLayout(f, []Part{c.part}, reach, nil, 0, func(float64) float64 { return 1 })
		v := make([]float64, len(c.hyper))
		for i, h := range c.hyper {
			v[i] = math.Log(h)
		}
		weighted := l.weighted(v)
		row := func(u float64) []float64 {
			at := weighted(u)
			if zero := weighted(0); c.from {
				for k := range at {
					at[k] -= zero[k]
				}
			}
			return at
		}
		for _, pair := range [][2]float64{{0, 0}, {3, 3}, {40, 41}, {40, 43.5}, {20, 60}, {10, 95}, {90, 149}} {
			got, want := dot(row(pair[0]), row(pair[1])), c.want(pair[0], pair[1])
			testkit.Near(t, got, want, c.tolerance*sd*sd, name, " at ", pair)
		}
	}
}

// TestPositiveMean checks that the mean forecast of values with 30 % zeros is their mean, within 3 %, and their share of zeros.
func TestPositiveMean(t *testing.T) {
	random, mean := rand.New(rand.NewPCG(1, 2)), 0.0
	s := seriesOf(200, func(float64) float64 {
		y := max(0, 1+1.9*random.NormFloat64())
		mean += y / 200
		return y
	})
	m := fit(t, s, Options{Parts: []Part{Constant{}}, Known: true, Positive: true, Draws: AtMode})
	p := predict(t, m, m.Next(1))
	testkit.Near(t, p.Mean[0][0], mean, 0.03*mean, "mean forecast")
	testkit.Near(t, p.mixtures[0][0].CDF(0), 0.3, 0.05, "probability of 0")
}
