package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestRobust checks that outliers are detected and barely affect the forecast and the noise.
func TestRobust(t *testing.T) {
	slow.Race(t)
	clean := made(144, false)
	dirty := Series{X: clean.X, Y: [][]float64{slices.Clone(clean.Y[0])}}
	var at []int
	for n := 5; n < 140; n += 17 {
		at = append(at, n)
		dirty.Y[0][n] += 40 * math.Cos(float64(n))
	}
	want := fit(t, clean, Options{Draws: AtMode})
	spoilt := fit(t, dirty, Options{Draws: AtMode, Robust: RobustNever})
	if never := fit(t, clean, Options{Draws: AtMode, Robust: RobustNever}); never.Bound() != want.Bound() {
		t.Errorf("bound of data without outliers is %v, and %v with RobustNever", want.Bound(), never.Bound())
	}
	got := fit(t, dirty, Options{Draws: AtMode, Robust: RobustAlways})
	var missed []int
	for _, n := range at {
		if math.Abs(dirty.Y[0][n]-clean.Y[0][n]) > 3 && !slices.Contains(got.Outliers(0), n) {
			missed = append(missed, n)
		}
	}
	if len(missed) > 0 || len(got.Outliers(0)) > len(at)+3 {
		t.Errorf("outliers %v, want %v", got.Outliers(0), at)
	}
	p, q, r := predict(t, want, want.Next(12)), predict(t, got, got.Next(12)), predict(t, spoilt, spoilt.Next(12))
	for i := range p.X {
		if math.Abs(p.Mean[0][i]-q.Mean[0][i]) > 0.7*p.SD[0][i] || q.SD[0][i] > 1.5*p.SD[0][i] {
			t.Errorf("step %d: %v ± %v, without outliers %v ± %v, not robust %v ± %v",
				i+1, q.Mean[0][i], q.SD[0][i], p.Mean[0][i], p.SD[0][i], r.Mean[0][i], r.SD[0][i])
		}
	}
	if spoilt.NoiseSD(0) < 3*got.NoiseSD(0) || want.Outliers(0) != nil {
		t.Errorf("noise %v, and %v with RobustNever", got.NoiseSD(0), spoilt.NoiseSD(0))
	}
}

// TestRobustSymmetric checks that the robust forecast of −y is the negative of that of y, for an even number of observations.
func TestRobustSymmetric(t *testing.T) {
	slow.Race(t)
	s := made(100, false)
	s.Y[0][20], s.Y[0][31] = s.Y[0][20]+30, s.Y[0][31]-20
	minus := seriesOf(100, func(i float64) float64 { return -s.Y[0][int(i)] })
	minus.X = s.X
	o := Options{Parts: []Part{Constant{}, Slope{}, Season{Period: 1}}, Known: true, Robust: RobustAlways, Draws: AtMode, Log: LogNever}
	m, n := fit(t, s, o), fit(t, minus, o)
	p, q := predict(t, m, m.Next(3)), predict(t, n, n.Next(3))
	for i, sd := range p.SD[0] {
		testkit.Near(t, q.Mean[0][i], -p.Mean[0][i], 1e-9*sd, "mean forecast of −y")
		testkit.Near(t, q.Lower[0][i], -p.Upper[0][i], 1e-9*sd, "lower end for −y")
	}
}

// TestRobustVerdicts checks that a search with outliers is only repeated if they are probable before, and accepted if they are probable
// after it.
func TestRobustVerdicts(t *testing.T) {
	dirty := made(100, false)
	dirty.Y[0][20], dirty.Y[0][31] = dirty.Y[0][20]+30, dirty.Y[0][31]-20
	for _, c := range []struct {
		verdicts []bool
		accepted bool
	}{{[]bool{false}, false}, {[]bool{true, false}, false}, {[]bool{true, true}, true}} {
		s := searchOf(t, dirty, Options{Parts: []Part{Constant{}, Slope{}, Season{Period: 1}}, Known: true})
		first := testkit.Must(s.run())(t)
		asked := 0
		_, best, _, err := s.withOutliers(first, func(*search, *trial) (bool, error) {
			asked++
			return c.verdicts[asked-1], nil
		})
		testkit.OK(t, err)
		if asked != len(c.verdicts) || (best != nil) != c.accepted {
			t.Errorf("verdicts %v: asked %d times, accepted %v", c.verdicts, asked, best != nil)
		}
	}
}

// TestUsualNoise checks that the relative noise variance of normal values follows from their median residual, which outliers do not change.
func TestUsualNoise(t *testing.T) {
	var l leaveOut
	for i := range 999 {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/999-1)
		l.residual, l.latent, l.noise = append(l.residual, 0.5*z), append(l.latent, 0), append(l.noise, 1)
	}
	l.residual[0], l.residual[998] = -1e6, 1e6
	testkit.Near(t, l.usual(), 0.25, 0.002, "noise variance")
}

// TestRobustAlone checks that an isolated value at the end is not detected as an outlier if a random walk can explain it.
func TestRobustAlone(t *testing.T) {
	slow.Race(t)
	random, level := rand.New(rand.NewPCG(6, 6)), 0.0
	s := seriesOf(60, func(float64) float64 {
		level += random.NormFloat64()
		return level + 0.1*random.NormFloat64()
	})
	s.X, s.Y[0] = append(s.X, 90), append(s.Y[0], level+10)
	search := searchOf(t, s, Options{Parts: []Part{Constant{}, RandomWalk{}}, Known: true, Robust: RobustAlways})
	best := testkit.Must(search.run())(t)
	p, _, _ := testkit.Must(search.leftOut(best, search.whole, 0))(t).outliers()
	if !(p[60] < 0.1) {
		t.Errorf("the value is an outlier with probability %v", p[60])
	}
}

// TestFillChangesOnlyMissingValues checks that Fill predicts missing values of each output and changes no other value.
func TestFillChangesOnlyMissingValues(t *testing.T) {
	s := made(120, false)
	s.Y = append(s.Y, slices.Clone(s.Y[0]))
	truth := Series{X: s.X, Y: [][]float64{slices.Clone(s.Y[0]), slices.Clone(s.Y[1])}}
	for n := 40; n < 50; n++ {
		s.Y[0][n] = math.NaN()
		s.Y[1][2*n] = math.NaN()
	}
	o := Options{Parts: []Part{Constant{}, Slope{}, ShortMemory{}, Season{Period: 1}}, Known: true}
	_, f, err := Fill(context.Background(), s, o)
	testkit.OK(t, err)
	for d := range s.Y {
		if len(f.Rows[d]) != 10 || len(f.Bands[d].Mean) != 10 {
			t.Fatalf("output %d: %d rows filled, want 10", d, len(f.Rows[d]))
		}
		for i, n := range f.Rows[d] {
			if b := f.Bands[d]; math.Abs(truth.Y[d][n]-b.Mean[i]) > 4*b.SD[i] || b.SD[i] > 2 || f.Y[d][n] != b.Mean[i] || !(b.Lower[i] < b.Mean[i] && b.Mean[i] < b.Upper[i]) {
				t.Errorf("output %d, row %d: %v ± %v, truth %v", d, n, b.Mean[i], b.SD[i], truth.Y[d][n])
			}
		}
		for n, y := range s.Y[d] {
			if !math.IsNaN(y) && f.Y[d][n] != y {
				t.Errorf("output %d, row %d was %v and became %v", d, n, y, f.Y[d][n])
			}
		}
	}
	if _, f, err := Fill(context.Background(), truth, o); err != nil || len(f.Rows[0]) != 0 || !slices.Equal(f.Y[0], truth.Y[0]) {
		t.Errorf("nothing to fill: %v, %v", f.Rows, err)
	}
}

// TestSameBitsOnAnyProcessors checks that results do not depend on the number of processors.
func TestSameBitsOnAnyProcessors(t *testing.T) {
	s := made(100, true)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := fit(t, s, Options{})
	a := predict(t, one, one.Next(5))
	runtime.GOMAXPROCS(4)
	four := fit(t, s, Options{})
	if b := predict(t, four, four.Next(5)); !reflect.DeepEqual(a, b) {
		t.Error("forecasts differ between four processors and one")
	}
}

// TestErrors checks kind and text of the errors for invalid data, options and arguments.
func TestErrors(t *testing.T) {
	good := made(40, false)
	ctx := context.Background()
	withErrors := func(e func(n int) float64) Series {
		s := Series{X: good.X, Y: good.Y, Err: [][]float64{nil}}
		for n := range good.X {
			s.Err[0] = append(s.Err[0], e(n))
		}
		return s
	}
	bare := Options{Parts: []Part{Constant{}, Slope{}, Noise{}}, Known: true}
	for name, c := range map[string]struct {
		s    Series
		o    Options
		kind error
		word string
	}{
		"no output":       {Series{X: good.X}, Options{}, ErrData, "no output"},
		"memory":          {good, Options{MemoryLimit: 4e4}, ErrData, "a fit of 40 rows needs about 0.0574 MiB of memory"},
		"lengths":         {Series{X: good.X, Y: [][]float64{{1}}}, Options{}, ErrData, "1 values for 40 times"},
		"x":               {Series{X: []float64{1, math.NaN()}, Y: [][]float64{{1, 2}}}, Options{}, ErrData, "x[1]"},
		"y":               {Series{X: []float64{1, 2, 3, 4}, Y: [][]float64{{1, 2, math.Inf(1), 3}}}, Options{}, ErrData, "y[0][2]"},
		"denormal":        {Series{X: good.X[:4], Y: [][]float64{{1e-309, 2e-309, 3e-309, 1e-309}}}, Options{}, ErrData, "output 0 is 3e-309"},
		"few":             {Series{X: []float64{1, 2, 3}, Y: [][]float64{{1, 2, 3}}}, Options{}, ErrData, "3 values"},
		"equal times":     {Series{X: []float64{1, 1, 1, 1}, Y: [][]float64{{1, 2, 3, 4}}}, Options{}, ErrData, "different times"},
		"error":           {Series{X: good.X, Y: good.Y, Err: [][]float64{make([]float64, 40)}}, Options{}, ErrData, "standard deviation of y[0][0]"},
		"twice":           {good, Options{Parts: []Part{Slope{}, Slope{}}}, ErrOptions, `part "slope" is given twice`},
		"nil part":        {good, Options{Parts: []Part{nil}}, ErrOptions, "nil"},
		"pointer":         {good, Options{Try: [][]Part{{&Season{Period: 12}}}}, ErrOptions, "must be a Season value"},
		"prior":           {good, Options{Parts: []Part{Slope{SD: Prior{Median: -1, SD: 1}}}}, ErrOptions, "slope"},
		"period":          {good, Options{Parts: []Part{Season{Period: -1}}}, ErrOptions, "period"},
		"too short":       {good, Options{Parts: []Part{Season{Period: 0.1}}}, ErrOptions, "two steps"},
		"near":            {good, Options{Parts: []Part{Season{Period: 12}, Season{Period: 12.0000001}}}, ErrOptions, "periods 12 and 12.0000001"},
		"shift":           {good, Options{Parts: []Part{Constant{}, LevelShift{At: math.NaN()}}}, ErrOptions, "level shift is NaN"},
		"draws":           {good, Options{Draws: AtMode - 1}, ErrOptions, "draws is -2"},
		"many draws":      {good, Options{Draws: 1 << 40}, ErrOptions, "draws is 1099511627776"},
		"log":             {good, Options{Log: LogAlways + 1}, ErrOptions, "Log is 3"},
		"robust":          {good, Options{Robust: -1}, ErrOptions, "Robust is -1"},
		"product":         {good, Options{Parts: []Part{Constant{}, Product{Long: Season{Period: 2}}}}, ErrOptions, "period 0"},
		"huge time":       {seriesOf(9, func(i float64) float64 { return i }).times(func(i float64) float64 { return 2e307 * i }), Options{}, ErrData, "x[1] is 2e+307"},
		"extreme prior":   {good, Options{Parts: []Part{Constant{}, Slope{SD: Prior{1e300, 1e300}}}, Known: true}, ErrData, "numerical precision"},
		"errors, small":   {withErrors(func(int) float64 { return 1e-200 }), bare, ErrData, "1e-200 to 1e-200"},
		"errors, unequal": {withErrors(func(n int) float64 { return math.Pow(10, float64(n%20)-10) }), bare, ErrData, "1e-10 to 1e+09"},
		"errors, large":   {withErrors(func(int) float64 { return 1e200 }), bare, ErrData, "below 1e+150"},
	} {
		testkit.Fails(t, testkit.Error(Fit(ctx, c.s, c.o)), c.kind, c.word, name)
	}
	m := fit(t, good, Options{})
	first, last, end := m.Extent()
	for x, ok := range map[float64]bool{end: true, end + 1e-3*(last-first): false, first - 0.7*(last-first): true, first - 0.8*(last-first): false} {
		if _, err := m.Predict(ctx, []float64{x}); errors.Is(err, ErrReach) == ok {
			t.Errorf("data from %v to %v, predict at %v: %v", first, last, x, err)
		}
	}
	testkit.Fails(t, testkit.Error(m.Forecast(ctx, -1)), ErrOptions, "steps is -1", "negative horizon")
	for n, kind := range map[int]error{391: ErrReach, 1e9: ErrOptions, math.MaxInt: ErrOptions} {
		testkit.Fails(t, testkit.Error(m.Forecast(ctx, n)), kind, fmt.Sprintf("steps is %d", n), "a horizon beyond the maximum")
	}
	if x := m.Next(math.MaxInt); len(x) != 390 || x[389] > end+1e-9 || m.Next(-1) == nil || len(m.Next(-1)) > 0 {
		t.Errorf("Next returns %d inputs, want 10 times the data range", len(x))
	}
	testkit.Fails(t, testkit.Error(m.Draw(ctx, nil, -1, 0)), ErrOptions, "draws is -1", "negative number of draws")
	testkit.Fails(t, testkit.Error(m.Draw(ctx, nil, math.MaxInt, 0)), ErrOptions, "at 0 times", "a huge number of draws")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	testkit.Fails(t, testkit.Error(Fit(ended, good, Options{})), context.Canceled, "", "a canceled context")
}

// TestEmptyModel checks that the methods of a zero model that return an error do so.
func TestEmptyModel(t *testing.T) {
	ctx, s, m := t.Context(), made(40, false), &Model{}
	for name, err := range map[string]error{
		"Forecast": testkit.Error(m.Forecast(ctx, 1)), "Predict": testkit.Error(m.Predict(ctx, s.X)), "Draw": testkit.Error(m.Draw(ctx, s.X, 1, 0)),
		"Components": testkit.Error(m.Components(ctx, s.X)), "Effects": testkit.Error(m.Effects(ctx)), "Evaluate": testkit.Error(m.Evaluate(ctx, s)),
		"Fill": testkit.Error(m.Fill(ctx, s)), "Write": m.Write(io.Discard),
	} {
		testkit.Fails(t, err, ErrOptions, "the model is empty", name)
	}
	if _, _, _, err := m.Score(ctx, s); !errors.Is(err, ErrOptions) {
		t.Errorf("Score: %v", err)
	}
}

// TestDegenerateData checks forecasts of constants, lines, few observations, huge and tiny values, and unsorted times.
func TestDegenerateData(t *testing.T) {
	slow.Race(t)
	for name, c := range map[string]struct {
		s    Series
		next float64
		near float64
	}{
		"constant":  {seriesOf(50, func(float64) float64 { return 7 }), 7, 1e-6},
		"line":      {seriesOf(60, func(i float64) float64 { return 2*i + 1 }), 121, 1},
		"huge":      {seriesOf(60, func(i float64) float64 { return 1e140 * i }), 60e140, 2e140},
		"tiny":      {seriesOf(60, func(i float64) float64 { return 1e-140 * i }), 60e-140, 2e-140},
		"far away":  {seriesOf(60, func(i float64) float64 { return 1e9 + i }), 1e9 + 60, 2},
		"huge gap":  {Series{X: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 1e12}, Y: [][]float64{{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}}}, 0.5, 3},
		"four rows": {seriesOf(4, func(i float64) float64 { return i }), 4, 3},
		"sine":      {seriesOf(120, func(i float64) float64 { return math.Sin(2 * math.Pi * i / 12) }), 0, 0.1},
	} {
		m := fit(t, c.s, Options{})
		p := predict(t, m, m.Next(1))
		if math.Abs(p.Mean[0][0]-c.next) > c.near || !(p.SD[0][0] > 0) {
			t.Errorf("%s: %v ± %v, want %v", name, p.Mean[0][0], p.SD[0][0], c.next)
		}
	}
	s := made(60, false)
	r := Series{X: slices.Clone(s.X), Y: [][]float64{slices.Clone(s.Y[0])}}
	slices.Reverse(r.X)
	slices.Reverse(r.Y[0])
	a, b := fit(t, s, Options{}), fit(t, r, Options{})
	if p, q := predict(t, a, a.Next(3)), predict(t, b, b.Next(3)); math.Abs(p.Mean[0][2]-q.Mean[0][2]) > 1e-3*p.SD[0][2] {
		t.Errorf("observations in reverse order: %v, want %v", q.Mean[0], p.Mean[0])
	}
}

// TestKnownErrorsExtreme checks forecasts with known errors that are far too small or too large.
func TestKnownErrorsExtreme(t *testing.T) {
	slow.Race(t)
	const n = 120
	random := rand.New(rand.NewPCG(3, 3))
	for name, e := range map[string]func() float64{
		"tiny":    func() float64 { return 1e-8 },
		"huge":    func() float64 { return 1e8 },
		"both":    func() float64 { return math.Pow(10, -8+16*random.Float64()) },
		"precise": func() float64 { return 1e-5 },
	} {
		s := seriesOf(n, func(i float64) float64 { return math.Sin(i/5) + 0.01*random.NormFloat64() })
		s.Err = seriesOf(n, func(float64) float64 { return e() }).Y
		m := fit(t, s, Options{Draws: AtMode})
		p := predict(t, m, m.Next(1))
		if math.Abs(p.Mean[0][0]-math.Sin(n/5.)) > 1 || !(p.SD[0][0] > 0) || math.IsInf(p.SD[0][0], 0) {
			t.Errorf("%s: %v ± %v, want about %v", name, p.Mean[0][0], p.SD[0][0], math.Sin(n/5.))
		}
	}
}

// TestConcurrentUse checks, under the race detector, that several goroutines can use one model.
func TestConcurrentUse(t *testing.T) {
	s := made(60, false)
	m := fit(t, s, Options{Parts: []Part{Constant{}, ShortMemory{}, Season{Period: 1}}, Known: true, Draws: 4})
	x, want := m.Next(5), predict(t, m, m.Next(5))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			p, err := m.Predict(t.Context(), x)
			if err != nil || !reflect.DeepEqual(p, want) {
				t.Errorf("Predict: error %v, or different predictions", err)
			}
			_, drawn := m.Draw(t.Context(), x, 2, 1)
			_, parts := m.Components(t.Context(), x)
			_, bound := m.Evaluate(t.Context(), s)
			_, filled := m.Fill(t.Context(), s)
			for name, err := range map[string]error{"Draw": drawn, "Components": parts, "Evaluate": bound, "Fill": filled, "Write": m.Write(io.Discard)} {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			m.Hyper()
			p.Quantile(0, 0, 0.9)
		})
	}
	all.Wait()
}

// TestQuantileProbability checks that Quantile panics for a probability outside (0, 1), such as a percentage.
func TestQuantileProbability(t *testing.T) {
	m := fit(t, made(30, false), Options{Parts: []Part{Constant{}}, Known: true, Draws: AtMode})
	p := predict(t, m, m.Next(1))
	for _, probability := range []float64{95, 0, 1, -0.1, math.NaN()} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, fmt.Sprintf("probability is %v", probability)) {
					t.Errorf("%v: panic %q", probability, text)
				}
			}()
			t.Errorf("%v: %v", probability, p.Quantile(0, 0, probability))
		}()
	}
}

// TestEvaluate checks that the bound of the training data is Bound, that other data have a lower bound, and that errors must be known
// in both or neither.
func TestEvaluate(t *testing.T) {
	s := seriesOf(40, func(i float64) float64 { return math.Sin(i/5) + 0.1*math.Sin(i*i) })
	s.Y[0][7] = math.NaN()
	known, moved := s, seriesOf(40, func(i float64) float64 { return s.Y[0][int(i)] + 3*float64(int(i)%2) })
	known.Err = seriesOf(40, func(i float64) float64 { return 0.1 + 0.01*i }).Y
	for _, c := range []struct{ fitted, wrong Series }{{s, known}, {known, s}} {
		m := fit(t, c.fitted, Options{Known: true})
		own := testkit.Must(m.Evaluate(t.Context(), c.fitted))(t)
		testkit.Near(t, own, m.Bound(), 1e-9*math.Abs(own), "the bound of the training data")
		moved.Err = c.fitted.Err
		before := c.fitted // with an observation before the training data
		before.X, before.Y = append([]float64{-2}, s.X[1:]...), [][]float64{append([]float64{50}, s.Y[0][1:]...)}
		for loss, other := range map[float64]Series{10: moved, 100: before} {
			if bound := testkit.Must(m.Evaluate(t.Context(), other))(t); bound > own-loss {
				t.Errorf("the bound of other data is %v, of the training data %v; want a difference of at least %v", bound, own, loss)
			}
		}
		testkit.Fails(t, testkit.Error(m.Evaluate(t.Context(), c.wrong)), ErrData, "", "known errors in only one of training data and data")
		far := c.fitted
		far.X = append([]float64{1e6}, s.X[1:]...)
		testkit.Fails(t, testkit.Error(m.Evaluate(t.Context(), far)), ErrReach, "", "a time out of range")
	}
}

// TestEvaluateBeyond compares the bound of data with another observation, inside or beyond the range of the features, with the bound of the
// data plus the log density of the observation's prediction.
func TestEvaluateBeyond(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	s := seriesOf(60, func(i float64) float64 { return 3*math.Sin(i/15) + 0.1*random.NormFloat64() })
	m := fit(t, s, Options{Parts: []Part{Constant{}, Slope{}, SmoothTrend{}}, Known: true, Draws: AtMode, Log: LogNever})
	own := testkit.Must(m.Evaluate(t.Context(), s))(t)
	for _, steps := range []int{10, 40, 80} { // the features reach to 30
		x := m.Next(steps)[steps-1:]
		p := predict(t, m, x)
		y := p.Mean[0][0] + p.SD[0][0]
		more := Series{X: slices.Concat(s.X, x), Y: [][]float64{append(slices.Clone(s.Y[0]), y)}}
		want := own + p.LogDensity(0, 0, y) + math.Log(m.frame.Scale[0])
		testkit.Near(t, testkit.Must(m.Evaluate(t.Context(), more))(t), want, 0.5, fmt.Sprint("bound with an observation after ", steps, " steps"))
	}
}

// TestScoreIsMeanOverRows compares Score with the predictions, averaged over the rows with at least one value.
func TestScoreIsMeanOverRows(t *testing.T) {
	nan := math.NaN()
	s := Series{X: []float64{0, 1, 2, 3, 4, 5}, Y: [][]float64{{1, 2, nan, 2, 1, 2}, {5, nan, nan, 4, 6, 5}}}
	m := testkit.Must(Fit(t.Context(), s, Options{Known: true}))(t)
	p := testkit.Must(m.Predict(t.Context(), s.X))(t)
	var square, density float64
	for d := range s.Y {
		for n, y := range s.Y[d] {
			if !math.IsNaN(y) {
				square += (y - p.Mean[d][n]) * (y - p.Mean[d][n]) / 9
				density += p.LogDensity(d, n, y) / 5
			}
		}
	}
	rmse, got, rows, err := m.Score(t.Context(), s)
	if err != nil || rows != 5 || math.Abs(rmse-math.Sqrt(square)) > 1e-12 || math.Abs(got-density) > 1e-12 {
		t.Errorf("RMSE %v, density %v of %d rows, %v; want %v, %v of 5", rmse, got, rows, err, math.Sqrt(square), density)
	}
}
