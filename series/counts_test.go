package series

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
)

// madeCounts returns n negative binomial counts with a mean of f(i), the given dispersion and a probability of further zeros.
func madeCounts(n int, dispersion, zero float64, f func(i float64) float64) Series {
	source := rand.NewPCG(7, uint64(n))
	random := rand.New(source)
	return seriesOf(n, func(i float64) float64 {
		mean := distuv.Gamma{Alpha: dispersion, Beta: dispersion / f(i), Src: source}.Rand()
		y := distuv.Poisson{Lambda: mean, Src: source}.Rand()
		if random.Float64() < zero {
			return 0
		}
		return y
	})
}

// TestCounts checks forecasts of counts: the mean, the probability of 0, integer intervals that cover, and the kind of distribution.
func TestCounts(t *testing.T) {
	const ahead = 24
	yearly := func(i float64) float64 { return 4 * math.Exp(math.Sin(2*math.Pi*i/12)) }
	for name, c := range map[string]struct {
		n                int
		dispersion, zero float64
		mean             func(i float64) float64
		named            string
		tolerance        float64 // of the mean, relative
	}{
		"rare":     {200, 1000, 0, func(float64) float64 { return 0.08 }, "counts (", 0.5},
		"bursts":   {200, 0.5, 0, func(float64) float64 { return 2 }, "counts (negative binomial", 0.3},
		"inflated": {200, 1000, 0.4, func(float64) float64 { return 6 }, "further zeros 0.3", 0.15},
		"season":   {144, 5, 0, yearly, "season 12", 0.3},
	} {
		all := madeCounts(c.n+ahead, c.dispersion, c.zero, c.mean)
		m := fit(t, all.rows(0, c.n), Options{Draws: 8})
		parts := strings.Join(m.PartNames(), ", ")
		if !strings.Contains(parts, "counts (") || !strings.Contains(parts, c.named) {
			t.Errorf("%s: the parts are %s, want %q", name, parts, c.named)
			continue
		}
		p := predict(t, m, m.Next(ahead))
		zeros, wantZeros, off := 0.0, 0.0, 0.0
		for i := range ahead {
			want := c.mean(float64(c.n + i))
			off += math.Abs(math.Log(p.Mean[0][i]/want/(1-c.zero))) / ahead
			zeros += p.mixtures[0][i].CDF(0) / ahead
			wantZeros += (c.zero + (1-c.zero)*math.Pow(c.dispersion/(c.dispersion+want), c.dispersion)) / ahead
			low, high := p.Lower[0][i], p.Upper[0][i]
			if low != math.Trunc(low) || high != math.Trunc(high) || low < 0 {
				t.Errorf("%s: the interval is %v to %v", name, low, high)
			}
		}
		testkit.Near(t, off, 0, c.tolerance, name, ": mean error of the log mean")
		testkit.Near(t, zeros, wantZeros, 0.08, name, ": probability of 0")
		if in := inside(p, all.Y[0][c.n:]); in < ahead-2 {
			t.Errorf("%s: %d of %d values are in their intervals", name, in, ahead)
		}
	}
}

// TestCountsChosen checks which series are modeled as counts.
func TestCountsChosen(t *testing.T) {
	few := madeCounts(60, 1.5, 0, func(float64) float64 { return 1 })
	each := func(f func(v float64) float64) Series {
		return Series{X: few.X, Y: [][]float64{testkit.Numbers(60, func(i int) float64 { return f(few.Y[0][i]) })}}
	}
	gaps := each(func(v float64) float64 { return map[bool]float64{true: math.NaN(), false: v}[v == 2] })
	level := Options{Parts: []Part{Constant{}}, Known: true}
	with := func(change func(o *Options)) Options {
		o := level
		change(&o)
		return o
	}
	smooth := seriesOf(60, func(i float64) float64 { return 10 + math.Round(3*math.Sin(i/9)) })
	errors := Series{X: few.X, Y: few.Y, Err: [][]float64{slices.Repeat([]float64{1}, 60)}}
	for name, c := range map[string]struct {
		s    Series
		o    Options
		want bool
	}{
		"counts":           {few, level, true},
		"positive":         {few, with(func(o *Options) { o.Positive = true }), true},
		"missing":          {gaps, level, true},
		"fractions":        {each(func(v float64) float64 { return v / 2 }), level, false},
		"negative":         {each(func(v float64) float64 { return v - 1 }), level, false},
		"large":            {each(func(v float64) float64 { return v + 30 }), level, false},
		"all zero":         {each(func(v float64) float64 { return 0 }), level, false},
		"smooth":           {smooth, Options{Draws: 4}, false},
		"never logarithms": {few, with(func(o *Options) { o.Log = LogNever }), false},
		"outliers":         {few, with(func(o *Options) { o.Robust = RobustAlways }), false},
		"known errors":     {errors, level, false},
		"prior":            {few, with(func(o *Options) { o.Parts = []Part{Constant{}, Noise{Prior{1, 1}}} }), false},
	} {
		if m := fit(t, c.s, c.o); m.frame.Counts != nil != c.want {
			t.Errorf("%s: the distributions of counts are %v", name, m.frame.Counts)
		}
	}
}

// TestCountBound compares the bound for a constant mean with the log marginal likelihood, integrated numerically. The bound is lower by
// the divergence of q from the posterior.
func TestCountBound(t *testing.T) {
	s := madeCounts(30, 2, 0, func(float64) float64 { return 1.5 })
	m := fit(t, s, Options{Parts: []Part{Constant{}}, Known: true})
	of, sd := m.frame.Counts[0], countScale*constantSD*math.Pow(1.5, 1.5)
	prior := bayes.Mixture{Means: []float64{m.frame.Offset[0]}, SDs: []float64{sd}}
	const step = 1e-3
	sum := 0.0
	for f := -3.0; f < 3; f += step {
		log := prior.LogDensity(f)
		for _, y := range s.Y[0] {
			log += of.LogMass(y, f)
		}
		sum += step * math.Exp(log)
	}
	if gap := math.Log(sum) - m.Bound(); gap < 0 || gap > 0.02 {
		t.Errorf("the bound is %v, the log marginal likelihood %v", m.Bound(), math.Log(sum))
	}
	mode := m.at.Mode[m.layout.noise]
	testkit.Near(t, mode, 0, 1e-3, "log factor of the known errors")
}

// TestCountModel checks the methods of a model of counts with two outputs, a regressor and missing values: a file with the same
// predictions, the bound, draws with the mean of the predictions, components that add up, effects, and errors.
func TestCountModel(t *testing.T) {
	s := madeCounts(120, 3, 0, func(i float64) float64 { return 2 + 4*float64(int(i)%2) })
	s.Y = append(s.Y, slices.Clone(s.Y[0]))
	slices.Reverse(s.Y[1])
	s.Y[1][0], s.Y[1][50] = math.NaN(), math.NaN()
	values := testkit.Numbers(120, func(i int) float64 { return float64(i % 2) })
	s.Regressors = []Regressor{{Name: "odd", Values: values}}
	m := fit(t, s, Options{Parts: []Part{Constant{}, Slope{}}, Known: true, Draws: 10})
	var b bytes.Buffer
	testkit.OK(t, m.Write(&b))
	l := testkit.Must(Read(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	x, odd := m.Next(4), []float64{0, 1, 0, 1}
	p := testkit.Must(m.Predict(t.Context(), x, odd))(t)
	testkit.Equal(t, testkit.Must(l.Predict(t.Context(), x, odd))(t), p, "predictions of the loaded model")
	testkit.Equal(t, l.PartNames(), m.PartNames(), "names of the parts")
	for _, own := range []*Model{m, l} {
		testkit.Equal(t, testkit.Must(own.Evaluate(t.Context(), s))(t), m.Bound(), "evaluation of the training data")
	}
	noise := m.NoiseSD(0)
	testkit.Must(m.Evaluate(t.Context(), s.rows(0, 60)))(t)
	testkit.Equal(t, m.NoiseSD(0), noise, "noise after the evaluation of other data")
	draws := testkit.Must(m.Draw(t.Context(), x, 4000, 1, odd))(t)
	parts := testkit.Must(m.Components(t.Context(), x, odd))(t)
	for d := range s.Y {
		for n := range x {
			mean, sum := 0.0, 0.0
			for _, f := range draws {
				mean += f[d][n] / float64(len(draws))
			}
			for _, c := range parts {
				sum += c.Mean[d][n]
			}
			testkit.Near(t, mean, p.Mean[d][n], 0.03*mean, "mean of the draws")
			testkit.Near(t, math.Exp(sum), p.Mean[d][n], 0.1*mean, "exponential of the components")
		}
	}
	e := testkit.Must(m.Effects(t.Context()))(t)[0]
	testkit.Within(t, "effects", e.Mean, []float64{math.Log(3), -math.Log(3)}, 0.3)
	if naive := testkit.Must(m.Better(t.Context(), 0))(t); naive != nil {
		t.Errorf("a naive forecast of counts: %+v", naive)
	}
	s.Y[0][3] = 0.5
	testkit.Fails(t, testkit.Error(m.Evaluate(t.Context(), s)), ErrData, "non-negative integer", "a fraction")
	for _, wrong := range []string{`\"dispersion\":-1,\"zero\":`, `\"dispersion\":1,\"zero\":1,\"n\":`} {
		broken := bytes.Replace(b.Bytes(), []byte(`\"dispersion\":`), []byte(wrong), 1)
		testkit.Fails(t, testkit.Error(Read(bytes.NewReader(broken), int64(len(broken)))), ErrFile, "", wrong)
	}
}

// TestCountsInterrupted checks that the error of the context ends a fit of counts.
func TestCountsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := counts(ctx, &Series{X: []float64{0, 1, 2, 3, 4}, Y: [][]float64{{0, 1, 0, 2, 1}}}, &Options{})
	testkit.Fails(t, err, context.Canceled, "", "a canceled fit")
}
