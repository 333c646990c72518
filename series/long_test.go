package series

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit/slow"

	"github.com/vssgp/vssgp/internal/testkit"
)

// longModel is a model of a short series whose memory is taken out of the rows, at hyper-parameters of no mode.
func longModel(t *testing.T, s Series) *Model {
	t.Helper()
	f := frameOf(t, s, false)
	l := newLayout(f, []Part{Constant{}, Slope{}, RandomWalk{}, Season{Period: 1, Harmonics: 2}}, 1.5*f.Range, 0, walkSines, 0, func(float64) float64 { return 0.5 })
	m := &Model{frame: f, layout: l, long: &long{memory: memory{SD: 0.6, Length: 5, Noise: 0.3}}}
	for _, g := range f.groups() {
		track := f.track(g)
		m.long.tracks = append(m.long.tracks, track)
		m.sums = append(m.sums, l.whiten(track, m.long.memory, g.outputs))
	}
	m.draws = [][]float64{l.medians()}
	return m
}

// covariance is the covariance of two places: the features', the memory's, and noise where rows are the same.
func (m *Model) covariance(u, w float64) float64 {
	row := m.layout.weighted(m.draws[0])
	return m.long.memory.SD*m.long.memory.SD*math.Exp(-math.Abs(u-w)/m.long.memory.Length) + dot(row(u), row(w))
}

// TestLong: of rows with holes, errors and several outputs, value, predictions between and beyond the rows, components and draws are those of
// the N×N covariance.
func TestLong(t *testing.T) {
	s := made(330, true) // some tiles
	s.Y = append(s.Y, slices.Clone(s.Y[0]))
	s.Y[0][20], s.Y[0][21] = math.NaN(), math.NaN()
	s.Err = [][]float64{make([]float64, len(s.X)), make([]float64, len(s.X))}
	for n := range s.X {
		s.Err[0][n], s.Err[1][n] = 0.5+0.3*math.Sin(float64(n)), 1
		s.Y[1][n] = math.Cos(0.3 * float64(n))
	}
	m := longModel(t, s)
	at := []float64{s.X[20], s.X[21], s.X[40] + 0.03, s.X[0], s.X[len(s.X)-1] + 0.5, s.X[len(s.X)-1] + 2}
	p := predict(t, m, at)
	value := 0.0
	for g, tr := range m.long.tracks {
		out := m.sums[g].outputs[0]
		exact := newGaussian(t, tr.y[0], func(i, j int) float64 {
			k := m.covariance(tr.u[i], tr.u[j])
			if i == j {
				k += math.Pow(m.long.memory.Noise*tr.e[i], 2)
			}
			return k
		})
		value += exact.density
		checkDense(t, m, p, out, exact, tr.u, m.covariance, m.noise(out, 1), 1e-7)
	}
	var e bayes.Evaluation
	testkit.OK(t, newObjective(m.layout, m.sums).evaluate(&e, m.draws[0]))
	testkit.Near(t, e.Value, value, 1e-8*math.Abs(value), "value")
	checkDraws(t, m, p, 3000, 1, 0.08, 0.06)
}

// TestLongFit: of a made series of more rows than longRows the memory and the noise are found, forecasts hold, components add up, and a file
// gives the same numbers.
func TestLongFit(t *testing.T) {
	n := slow.Pick(4000, 2000)
	s := longSeries(n + 48)
	m := fit(t, s.rows(0, n), Options{})
	if m.long == nil {
		t.Fatal("the memory has frequencies")
	}
	if l := m.long.memory; math.Abs(l.Length/33-1) > 0.4 || math.Abs(m.frame.Scale[0]*l.SD/1.03-1) > 0.25 || math.Abs(m.NoiseSD(0)/0.3-1) > 0.1 {
		t.Errorf("memory %v of length %v, noise %v; made with 1.03, 33, 0.3", m.frame.Scale[0]*l.SD, l.Length, m.NoiseSD(0))
	}
	x := slices.Concat(s.X[n:], s.X[100:102])
	if n := inside(predict(t, m, x), s.Y[0][n:]); n < 40 {
		t.Errorf("%d of 48 inside 95 %% intervals", n)
	}
	m.draws = [][]float64{m.at.Mode}
	componentsOf(t, m, predict(t, m, x))
	reloaded(t, m, x)
}

// TestLongBare: a long series of a level, whose features have no hyper-parameter, forecasts and keeps what it forecasts in its file. One of
// nothing but memory and noise has no features and is refused.
func TestLongBare(t *testing.T) {
	s := longSeries(longRows + 1)
	m := fit(t, s, Options{Parts: []Part{Constant{}, ShortMemory{}}, Known: true})
	reloaded(t, m, m.Next(3))
	if p := predict(t, m, m.Next(3)); !(p.SD[0][0] > 0) {
		t.Errorf("forecasts %v ± %v", p.Mean, p.SD)
	}
	for _, parts := range [][]Part{{ShortMemory{}}, {Noise{}}, {}} {
		testkit.Fails(t, testkit.Error(Fit(t.Context(), s, Options{Parts: parts, Known: true})), ErrOptions, "", parts)
	}
}

// TestLongErrors checks the likelihood of a memory, on a grid where the filter has settled, against the dense covariance: the known errors
// change there.
func TestLongErrors(t *testing.T) {
	const n = 60
	m, tr := memory{SD: 0.8, Length: 1, Noise: 0.3}, &track{}
	r := make([]float64, n)
	for i := range n {
		tr.u, tr.e = append(tr.u, float64(i)), append(tr.e, 1)
		if i >= n/2 {
			tr.e[i] = 1 + float64(i%7)
		}
		r[i] = math.Sin(float64(i * i))
	}
	want := newGaussian(t, r, func(i, j int) float64 {
		k := m.SD * m.SD * math.Exp(-float64(i-j)/m.Length)
		if i == j {
			k += math.Pow(m.Noise*tr.e[i], 2)
		}
		return k
	}).density
	if got := m.likelihood(tr, r); math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("likelihood %v, want %v", got, want)
	}
}

// TestLongNoise checks that the noise of a long series is the same function of its hyper-parameter as the noise of a short one, down to the
// least that both keep.
func TestLongNoise(t *testing.T) {
	o := objectiveOf(t, made(40, false), 10)
	v := make([]float64, len(o.layout.names))
	for _, log := range []float64{-40, -6, 0} {
		v[o.layout.noise] = log
		want, _ := o.variance(v)
		testkit.Near(t, math.Pow(of([]float64{0, 0, log}).Noise, 2)/want, 1, 1e-12, "noise e^", log)
	}
}
