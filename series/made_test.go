package series

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestMain uses one processor: the data are small, so that several take more time in all. TestSameBitsOnAnyProcessors uses four.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// seriesOf returns a series with values f(i) at times 0, 1, …, n−1.
func seriesOf(n int, f func(i float64) float64) Series {
	s := Series{Y: [][]float64{nil}}
	for i := range n {
		s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], f(float64(i)))
	}
	return s
}

// times returns a copy of a series with the times f(i).
func (s Series) times(f func(i float64) float64) Series {
	s.X = seriesOf(len(s.X), f).Y[0]
	return s
}

// made returns a synthetic series of n months with a trend, a yearly season and noise. If uneven, observations are dropped at random.
func made(n int, uneven bool) Series {
	random := rand.New(rand.NewPCG(3, uint64(n)))
	s := Series{Y: [][]float64{nil}}
	level := 0.0
	for i := range n {
		level += 0.1 * random.NormFloat64()
		if uneven && i > 0 && i < n-1 && random.Float64() < 0.3 {
			continue
		}
		t := float64(i)
		s.X = append(s.X, 1990+t/12)
		s.Y[0] = append(s.Y[0], 30+0.05*t+level+2*math.Sin(2*math.Pi*t/12)+0.7*math.Cos(2*math.Pi*t/6)+0.3*random.NormFloat64())
	}
	return s
}

// longSeries returns n hours with a daily season, an OU residual with correlation length 33 hours, and noise.
func longSeries(n int) Series {
	random, state := rand.New(rand.NewPCG(9, 9)), 0.0
	return seriesOf(n, func(i float64) float64 {
		state = 0.97*state + 0.25*random.NormFloat64()
		return 10 + 1.5*math.Sin(2*math.Pi*i/24) + state + 0.3*random.NormFloat64()
	})
}

// fit runs Fit and fails the test on an error.
func fit(t *testing.T, s Series, o Options) *Model {
	t.Helper()
	return testkit.Must(Fit(context.Background(), s, o))(t)
}

func predict(t *testing.T, m *Model, x []float64) *Prediction {
	t.Helper()
	return testkit.Must(m.Predict(context.Background(), x))(t)
}

// inside counts the values inside the 95 % intervals of a prediction.
func inside(p *Prediction, y []float64) (n int) {
	for i, v := range y {
		if v >= p.Lower[0][i] && v <= p.Upper[0][i] {
			n++
		}
	}
	return n
}

// frameOf returns the frame of a series.
func frameOf(t *testing.T, s Series, robust bool) *frame {
	t.Helper()
	return testkit.Must(newFrame(&s, robust))(t)
}

// searchOf returns the search for the model of a series.
func searchOf(t *testing.T, s Series, o Options) *search {
	t.Helper()
	return testkit.Must(newSearch(t.Context(), frameOf(t, s, o.Robust == RobustAlways), &o))(t)
}

// weighted returns a function that computes the features at time u with regressors z, each times its amplitude at hyper-parameters v.
func (l *layout) weighted(v []float64) func(u float64, z ...float64) []float64 {
	d := make([]float64, l.size())
	l.amplitudes(d, v, nil)
	return func(u float64, z ...float64) []float64 {
		row := make([]float64, 0, len(d))
		for _, w := range l.cosines() {
			if w.from != nil && u < *w.from {
				w.amp = 0
			}
			row = append(row, w.amp*math.Cos(w.freq*(u-w.center)+w.phase))
		}
		row = append(row, z...)
		for k := range row {
			row[k] *= d[k]
		}
		return row
	}
}

// covariance returns the covariance of o + w without a volatility, by definition.
func (m stateSpace) covariance(u, v float64) float64 {
	k := m.Ratio*m.Ratio*m.correlation(u-v) + m.Walk*m.Walk*(min(u, v)+m.start)
	if m.Rise > 0 {
		k += m.Rise * m.Rise * m.drifted(u+m.start, v+m.start) / m.drifted(m.span, m.span)
	}
	return k
}

// drifted returns the covariance of the integral of an Ornstein–Uhlenbeck process, up to a factor.
func (m stateSpace) drifted(u, v float64) float64 {
	e := func(t float64) float64 { return math.Expm1(-t / m.Return) }
	return 2*min(u, v)/m.Return + e(u) + e(v) - e(math.Abs(u-v))
}

// correlation returns the autocorrelation of the short memory, by definition.
func (m stateSpace) correlation(lag float64) float64 {
	if m.Quality == 0 {
		return math.Exp(-math.Abs(lag) / m.Length)
	}
	first := complex(1/(m.Length*m.Quality), 0)
	decay := first / complex(2*m.Quality, 0)
	swing := first * cmplx.Sqrt(complex(1-1/(4*m.Quality*m.Quality), 0))
	at := complex(math.Abs(lag), 0)
	if swing == 0 { // critical
		return real((1 + decay*at) * cmplx.Exp(-decay*at))
	}
	return real(cmplx.Exp(-decay*at) * (cmplx.Cos(swing*at) + decay/swing*cmplx.Sin(swing*at)))
}

// A gaussian contains values y with distribution N(0, K).
type gaussian struct {
	k       *mat.SymDense
	factor  mat.Cholesky
	y       *mat.VecDense
	density float64 // log density of y
}

// newGaussian factorizes K with entries k(i, j) for j ≤ i.
func newGaussian(t *testing.T, y []float64, k func(i, j int) float64) *gaussian {
	t.Helper()
	n := len(y)
	g := &gaussian{k: mat.NewSymDense(n, nil), y: mat.NewVecDense(n, y)}
	for i := range n {
		for j := range i + 1 {
			g.k.SetSym(i, j, k(i, j))
		}
	}
	var a mat.VecDense
	if !g.factor.Factorize(g.k) || g.factor.SolveVecTo(&a, g.y) != nil {
		t.Fatal("K has no factor")
	}
	g.density = -0.5 * (float64(n)*math.Log(2*math.Pi) + g.factor.LogDet() + mat.Dot(&a, g.y))
	return g
}

// given returns the conditional mean of another value with covariances cross, and the reduction of its variance.
func (g *gaussian) given(t *testing.T, cross func(j int) float64) (mean, less float64) {
	t.Helper()
	c := mat.NewVecDense(g.y.Len(), nil)
	for j := range g.y.Len() {
		c.SetVec(j, cross(j))
	}
	var w mat.VecDense
	testkit.OK(t, g.factor.SolveVecTo(&w, c))
	return mat.Dot(&w, g.y), mat.Dot(&w, c)
}

// checkDense compares predictions of an output with the exact conditional distribution of standardized values g. cross is the
// covariance of prediction i and value j, own the variance of prediction i, including noise. Means, standard deviations and quantiles
// must agree to a share of the standard deviation.
func checkDense(t *testing.T, m *Model, p *Prediction, out int, g *gaussian, cross func(i, j int) float64, own func(i int) float64, share float64) {
	t.Helper()
	for i, x := range p.X {
		mean, less := g.given(t, func(j int) float64 { return cross(i, j) })
		mean = m.frame.Offset[out] + m.frame.Scale[out]*mean
		sd := m.frame.Scale[out] * math.Sqrt(own(i)-less)
		if math.Abs(p.Mean[out][i]-mean) > share*sd || math.Abs(p.SD[out][i]/sd-1) > share {
			t.Errorf("output %d at %v: %v ± %v, want %v ± %v", out, x, p.Mean[out][i], p.SD[out][i], mean, sd)
		}
		for _, z := range []float64{-bayes.SD95, 0, 1} {
			got, want := p.Quantile(out, i, 0.5*math.Erfc(-z/math.Sqrt2)), mean+z*sd
			if math.Abs(got-want) > 3*share*sd {
				t.Errorf("output %d at %v: the quantile of %v sds is %v, want %v", out, x, z, got, want)
			}
		}
	}
}

// checkDraws compares mean and standard deviation of n draws with a prediction without noise, with relative tolerances ofMean and ofSD.
func checkDraws(t *testing.T, m *Model, p *Prediction, n int, seed uint64, ofMean, ofSD float64) {
	t.Helper()
	draws := testkit.Must(m.Draw(t.Context(), p.X, n, seed))(t)
	noise := m.NoiseSD(0)
	for i, x := range p.X {
		mean, square := 0.0, 0.0
		for _, d := range draws {
			mean += d[0][i] / float64(n)
		}
		for _, d := range draws {
			square += (d[0][i] - mean) * (d[0][i] - mean) / float64(n)
		}
		sd := math.Sqrt(p.SD[0][i]*p.SD[0][i] - noise*noise)
		if math.Abs(mean-p.Mean[0][i]) > ofMean*sd || math.Abs(math.Sqrt(square)/sd-1) > ofSD {
			t.Errorf("at %v: draws have %v ± %v, want %v ± %v", x, mean, math.Sqrt(square), p.Mean[0][i], sd)
		}
	}
}
