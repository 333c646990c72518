package series

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestLogarithmForProportionalSeasons checks that series with proportional seasons are modeled by their logarithm, unless a value is not positive or a prior is
// given. It checks that intervals are positive and calibrated, that fills, draws and files use the data's units, and the gain in log
// density.
func TestLogarithmForProportionalSeasons(t *testing.T) {
	slow.Race(t)
	const n, ahead = 96, 24
	random := rand.New(rand.NewPCG(4, 4))
	whole := seriesOf(n+ahead, func(i float64) float64 {
		return math.Exp(3 + 0.02*i + 0.4*math.Sin(2*math.Pi*i/12) + 0.1*random.NormFloat64())
	})
	s := whole.rows(0, n)
	hidden := s.Y[0][50]
	s.Y[0][50] = math.NaN()
	o := Options{Parts: []Part{Constant{}, Slope{}, ShortMemory{}}, Average: true} // a trend that may flatten has a skewed forecast
	m, f, err := Fill(context.Background(), s, o)
	testkit.OK(t, err)
	if !m.Log() || math.Abs(m.NoiseSD(0)/0.1-1) > 0.3 {
		t.Fatalf("logarithms: %v, noise %v, true value 0.1", m.Log(), m.NoiseSD(0))
	}
	testkit.Near(t, f.Y[0][50]/hidden, 1, 0.4, "a filled value, as a share of the true one")
	p := predict(t, m, whole.X[n:])
	for i := range p.X {
		if !(p.Lower[0][i] > 0 && p.Mean[0][i] > p.Quantile(0, i, 0.5)) {
			t.Errorf("step %d: from %v, mean %v, median %v", i, p.Lower[0][i], p.Mean[0][i], p.Quantile(0, i, 0.5))
		}
	}
	if n := inside(p, whole.Y[0][n:]); n < ahead-4 {
		t.Errorf("%d of %d inside their intervals", n, ahead)
	}
	draws := testkit.Must(m.Draw(context.Background(), whole.X[n:], 200, 1))(t)
	below := 0
	for _, d := range draws {
		if d[0][3] < p.Quantile(0, 3, 0.5) {
			below++
		}
	}
	if below < 70 || below > 130 {
		t.Errorf("%d of 200 draws below the median", below)
	}
	bound := testkit.Must(reloaded(t, m, whole.X[n:]).Evaluate(t.Context(), s))(t)
	testkit.Near(t, bound, m.Bound(), 1e-6*math.Abs(bound), "the loaded model's bound")

	o.Log = LogNever
	linear := fit(t, s, o)
	if gain := m.Bound() + m.frame.jacobian(0) - linear.Bound() - linear.frame.jacobian(0); linear.Log() || gain < 5 {
		t.Errorf("logarithms gain %v nats", gain)
	}
	if fit(t, s, Options{Parts: []Part{Constant{}, Season{Period: 12, Amplitude: Prior{Median: 5, SD: 1}}}, Known: true}).Log() {
		t.Error("a model of logarithms although there is a prior in the data's units")
	}
	if !fit(t, made(60, false).rows(0, 60).shifted(100), Options{Log: LogAlways}).Log() {
		t.Error("no logarithms")
	}
	if fit(t, made(60, false).shifted(100), Options{}).Log() {
		t.Error("logarithms of an additive series")
	}
	bad := s.shifted(-20)
	testkit.Fails(t, testkit.Error(Fit(context.Background(), bad, Options{Log: LogAlways})), ErrData, "", "negative values")
	testkit.Fails(t, testkit.Error(m.Evaluate(context.Background(), bad)), ErrData, "", "negative values")
	if fit(t, bad, Options{}).Log() {
		t.Error("logarithms of negative values")
	}
}

// exponentialWalk returns the exponential of a random walk.
func exponentialWalk(n int, step float64, seed, stream uint64) Series {
	random, sum := rand.New(rand.NewPCG(seed, stream)), 0.0
	return seriesOf(n, func(float64) float64 {
		sum += step * random.NormFloat64()
		return math.Exp(sum)
	})
}

// TestForecastWidens checks the average width and the coverage of 95 % intervals for exponential random walks.
func TestForecastWidens(t *testing.T) {
	slow.Race(t)
	seeds := slow.Pick(60, 3)
	ahead := []int{1, 25, 100}
	width, inside := make([]float64, len(ahead)), 0.0
	for seed := range uint64(seeds) {
		s := exponentialWalk(220, 1, seed, 11)
		m := fit(t, s.rows(0, 120), Options{})
		p := predict(t, m, m.Next(100))
		for i, h := range ahead {
			low, high, y := p.Lower[0][h-1], p.Upper[0][h-1], s.Y[0][119+h]
			width[i] += math.Log(math.Log(high/low)/(2*1.96*math.Sqrt(float64(h)))) / float64(seeds)
			if y >= low && y <= high {
				inside += 1 / float64(seeds*len(ahead))
			}
		}
	}
	for i, w := range width {
		if w = math.Exp(w); w < 0.75 || w > 1.5 {
			t.Errorf("%d steps ahead intervals are %.2f times as wide as for the exact model", ahead[i], w)
		}
	}
	if inside < 0.85 {
		t.Errorf("intervals contain %.2f of the values", inside)
	}
}

// TestForecastFarLogarithm checks that predictions of an exponential random walk are finite and inside their intervals, up to the
// maximum horizon.
func TestForecastFarLogarithm(t *testing.T) {
	for _, seed := range []uint64{0, 1, 4}[:slow.Pick(3, 1)] {
		m := fit(t, exponentialWalk(120, 1, seed, 9), Options{})
		x := m.Next(1190)
		ahead := []int{1, 2, 25, 100, 400, 600, 1000, 1190}
		var at []float64
		for _, h := range ahead {
			at = append(at, x[h-1])
		}
		p := predict(t, m, at)
		for i, h := range ahead {
			low, high := p.Lower[0][i], p.Upper[0][i]
			if !m.Log() || !(low > 0 && p.Mean[0][i] > low && p.Mean[0][i] < high && p.SD[0][i] < high-low) || math.IsInf(high, 0) {
				t.Fatalf("seed %d, step %d: %v ± %v, from %v to %v", seed, h, p.Mean[0][i], p.SD[0][i], low, high)
			}
		}
		if slices.Contains(p.Median[0], false) {
			t.Errorf("seed %d: Median is %v, want true for all", seed, p.Median[0])
		}
	}
}

// shifted returns a copy with by added to all values.
func (s Series) shifted(by float64) Series {
	y := make([]float64, len(s.X))
	for n, v := range s.Y[0] {
		y[n] = v + by
	}
	return Series{X: s.X, Y: [][]float64{y}}
}

// TestLogErrors checks the propagation of known errors to logarithms.
func TestLogErrors(t *testing.T) {
	s := Series{X: []float64{0, 1, 2}, Y: [][]float64{{0.5, 2, 40}}, Err: [][]float64{{0.001, 0.01, 0.1}}}
	l, ok := s.logarithm()
	if !ok {
		t.Fatal("positive values have no logarithm")
	}
	for n, y := range s.Y[0] {
		e := s.Err[0][n]
		if want := math.Log((y+e)/(y-e)) / 2; math.Abs(l.Err[0][n]/want-1) > 1e-4 {
			t.Errorf("%v ± %v: the logarithm's error is %v, want %v", y, e, l.Err[0][n], want)
		}
	}
}

// TestLogFarSD checks that mean and SD of a wide log-normal forecast are its median and half of its central 68 % interval.
func TestLogFarSD(t *testing.T) {
	slow.Race(t)
	m := fit(t, exponentialWalk(60, 4, 2, 2), Options{Parts: []Part{Constant{}, RandomWalk{}}, Known: true, Log: LogAlways})
	p := predict(t, m, []float64{80})
	if low, high := p.Quantile(0, 0, 0.158655), p.Quantile(0, 0, 0.841345); p.Mean[0][0] != p.Quantile(0, 0, 0.5) || math.Abs(p.SD[0][0]/(high-low)*2-1) > 1e-2 {
		t.Errorf("%v ± %v, want the median %v ± half of %v to %v", p.Mean[0][0], p.SD[0][0], p.Quantile(0, 0, 0.5), low, high)
	}
}

// TestScales checks that few values are modeled on both scales in proportion to their evidence, that the prediction is the
// mixture of both, and that clear evidence selects one scale.
func TestScales(t *testing.T) {
	mixed := 0
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 3))
		s := seriesOf(30, func(float64) float64 { return math.Exp(1 + 0.45*random.NormFloat64()) })
		o := Options{Parts: []Part{Constant{}}, Known: true, Average: true}
		all := testkit.Must(fits(t.Context(), &s, &o))(t)
		m := testkit.Must(Fit(t.Context(), s, o))(t)
		if len(all) == 1 {
			if m.other != nil || math.Abs(all[0].share-1) > 0 {
				t.Errorf("seed %d: one scale with the share %v", seed, all[0].share)
			}
			continue
		}
		mixed++
		gain := 0.5 * (all[0].evidence() - all[1].evidence()) // 30 values are tempered by half
		testkit.Near(t, all[0].share/all[1].share, math.Exp(gain), 1e-9, "ratio of the shares")
		draws := []int{len(m.draws), len(m.other.draws)}
		logs := float64(draws[map[bool]int{true: 0, false: 1}[m.Log()]]) / float64(draws[0]+draws[1])
		testkit.Near(t, m.LogProbability(), logs, 1e-15, "probability of the logarithm")
		testkit.Near(t, float64(draws[0])/defaultDraws, all[0].share, 0.5/defaultDraws+1e-9, "share of the draws")
		p := predict(t, m, []float64{31})
		own, other := testkit.Must(m.mixturesAt(t.Context(), p.X, nil))(t), testkit.Must(m.other.mixturesAt(t.Context(), p.X, nil))(t)
		share := float64(draws[0]) / float64(draws[0]+draws[1])
		y := p.Quantile(0, 0, 0.7)
		testkit.Near(t, share*own[0][0].CDF(y)+(1-share)*other[0][0].CDF(y), 0.7, 1e-6, "probability below the 0.7 quantile")
		m.other.frame.Offset[0] += 50 // so that its draws are recognized
		far := 0.0
		for _, f := range testkit.Must(m.Draw(t.Context(), p.X, 4, 1))(t) {
			if f[0][0] > 30 {
				far++
			}
		}
		testkit.Near(t, far/4, 1-share, 0.125, "share of the other scale in four functions")
	}
	if mixed < 4 {
		t.Errorf("%d of 12 series have both scales", mixed)
	}
}
