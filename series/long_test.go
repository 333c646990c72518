package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// dense returns the covariance of o + w + noise at the observations of a track, computed from products of transitions.
func (m stateSpace) dense(t *track) [][]float64 {
	k, all := make([][]float64, len(t.u)), make([]square, len(t.u)) // all: prior state covariances
	for n := range t.u {
		k[n] = make([]float64, len(t.u))
	}
	for n, u := range t.u {
		g := t.size(n)
		if n == 0 {
			all[n] = m.prior(u)
			for i := range 2 {
				for j := range 2 {
					all[n][i][j] *= g * g
				}
			}
		} else {
			f, w := m.transition(u - t.u[n-1])
			all[n] = f.around(&all[n-1])
			for i := range states {
				for j := range states {
					all[n][i][j] += g * g * w[i][j]
				}
			}
		}
		k[n][n] = everyState.variance(&all[n]) + t.e[n]*t.e[n]
		for i := range n {
			f, _ := m.transition(u - t.u[i])
			for a := range states {
				for b := range states {
					k[n][i] += everyState[a] * f[a][b] * (all[i][b][0] + all[i][b][2])
				}
			}
			k[i][n] = k[n][i]
		}
	}
	return k
}

// TestStateSpace compares filter, smoother, K_o c and K_o⁻¹ c with the dense covariance at uneven and repeated times, with and without a
// volatility. Without a volatility, it also compares the dense covariance with the definition.
func TestStateSpace(t *testing.T) {
	u, e := []float64{0, 1, 2, 2, 3.5, 9, 10, 11}, []float64{1, 1, 1, 2, 0.5, 1, 1, 3}
	c := []float64{1, -1, 0.5, 2, 0, 1, -2, 1}
	for _, m := range []stateSpace{{Ratio: 2, Length: 3}, {Ratio: 0.7, Length: 2, Quality: 0.3}, {Ratio: 3, Length: 4, Quality: 0.5, Walk: 1, start: 4},
		{Ratio: 1, Length: 1, Quality: 2}, {Walk: 0.7, Length: 1, start: 3}, {Ratio: 1, Length: 2, Walk: 0.5, start: 3},
		{Length: 1, Rise: 2, Return: 4, span: 11}, {Ratio: 1, Length: 2, Walk: 0.5, start: 3, Rise: 1, Return: 0.7, span: 11}, {Length: 1, Rise: 2, Return: 1e4, span: 11}} {
		for _, g := range [][]float64{nil, {1, 2, 0.5, 0.5, 1, 3, 2, 1}} {
			tr := &track{u: u, e: e, g: g}
			dense := m.dense(tr)
			k := newGaussian(t, c, func(i, j int) float64 { return dense[i][j] })
			steps := m.steps(tr)
			applied, solved := m.covarianceOf(tr).times(c), solve(steps, c)
			logDet, variances := 0.0, smoothedVariances(steps, everyState)
			for i := range u {
				want := 0.0
				for j := range u {
					want += dense[i][j] * c[j]
					if defined := m.covariance(u[i], u[j]); g == nil && i != j {
						testkit.Near(t, dense[i][j], defined, 1e-12*(1+defined), m, " by its definition")
					}
				}
				testkit.Near(t, applied[i], want, 1e-12*(1+math.Abs(want)), m, " K c")
				cross := func(j int) float64 {
					if i == j {
						return dense[i][j] - e[i]*e[i]
					}
					return dense[i][j]
				}
				mean, less := k.given(t, cross)
				testkit.Near(t, solved[i], (c[i]-mean)/(e[i]*e[i]), 1e-9, m, " K⁻¹ c")
				testkit.Near(t, variances[i], dense[i][i]-e[i]*e[i]-less, 1e-9, m, " smoothed variance")
				logDet += steps[i].log
			}
			testkit.Near(t, logDet, k.factor.LogDet(), 1e-10, m, " log |K|")
		}
	}
}

// TestStateSpaceFit checks that the credible intervals of the OU residual and the noise contain the true values, that forecasts are
// calibrated, and that a loaded model makes identical predictions.
func TestStateSpaceFit(t *testing.T) {
	n := slow.Pick(4000, 1500)
	s := longSeries(n + 48)
	m := fit(t, s.rows(0, n), Options{})
	want := map[string]float64{"short_memory.sd": 1.03, "short_memory.length": 33, "noise.sd": 0.3}
	for _, v := range m.Hyper() {
		if w, ok := want[v.Name]; ok && !(v.Lower < w && w < v.Upper && v.Upper < 3*v.Lower) {
			t.Errorf("%s is %v (%v to %v); true value %v", v.Name, v.Mode, v.Lower, v.Upper, w)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("no hyper-parameters %v", want)
	}
	x := slices.Concat(s.X[n:], s.X[100:102])
	if n := inside(predict(t, m, x), s.Y[0][n:]); n < 40 {
		t.Errorf("%d of 48 inside 95 %% intervals", n)
	}
	reloaded(t, m, x)
}

// TestModelsWithoutFeatures checks models with no features, or only a constant.
func TestModelsWithoutFeatures(t *testing.T) {
	for _, parts := range [][]Part{{Constant{}, ShortMemory{}}, {ShortMemory{}}} {
		m := fit(t, longSeries(300), Options{Parts: parts, Known: true})
		reloaded(t, m, m.Next(3))
		if p := predict(t, m, m.Next(3)); !(p.SD[0][0] > 0) {
			t.Errorf("forecasts %v ± %v", p.Mean, p.SD)
		}
	}
	for _, parts := range [][]Part{{Noise{}}, {}} {
		testkit.Fails(t, testkit.Error(Fit(t.Context(), longSeries(300), Options{Parts: parts, Known: true})), ErrOptions, "", parts)
	}
}

// TestVolatilityFar checks the scale g long after the observations, E e^(h/2) with the stationary variance of h, less the variance that the
// noise already includes, and that g is 1 without a volatility.
func TestVolatilityFar(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	u, z := make([]float64, 400), make([]float64, 400)
	for i := range u {
		u[i], z[i] = float64(i), random.NormFloat64()*math.Exp(math.Sin(float64(i)/40))
	}
	v := newVolatility(u, [][]float64{z})
	if v == nil {
		t.Fatal("no volatility")
	}
	want := math.Exp(0.25 * v.unit * v.unit * (v.Ratio*v.Ratio - v.known))
	testkit.Near(t, v.at([]float64{1e6})[0], want, 1e-9, "g far from the observations")
	if !(want > 1.01) || !(v.known > 0) {
		t.Errorf("g is %v, known variance %v", want, v.known)
	}
	testkit.Equal(t, (*volatility)(nil).at(u)[3], 1, "g without a volatility")
}

// TestVolatilityStart checks that the innovations without the short memory, which fits a part of the noise, give a
// volatility with more evidence.
func TestVolatilityStart(t *testing.T) {
	random := rand.New(rand.NewPCG(0, 1))
	s := seriesOf(120, func(i float64) float64 {
		y := 1.5 + 0.1*i + 0.5*random.NormFloat64()
		if int(i)%24 == 22 {
			y += 7
		}
		if random.Float64() < 0.2 && i > 0 {
			return math.NaN()
		}
		return math.Log(y)
	})
	find := searchOf(t, s, Options{Draws: AtMode, Known: true, Log: LogNever})
	plain := testkit.Must(find.run())(t)
	own, _, err := find.refit(plain, plain, plain)
	testkit.OK(t, err)
	if best, _, err := find.volatile(plain, find.whole); err != nil || best.fit() < own.fit()+3 {
		t.Errorf("fit %v, with the innovations of the fit itself %v: %v", best.fit(), own.fit(), err)
	}
}

// TestVolatility checks that a fivefold increase of the noise is detected, that forecasts use the recent noise level, that a loaded
// model makes identical predictions, and that constant noise has no volatility.
func TestVolatility(t *testing.T) {
	slow.Race(t)
	random := rand.New(rand.NewPCG(7, 7))
	s := seriesOf(400, func(i float64) float64 {
		size := 0.2
		if i >= 250 {
			size = 1
		}
		return math.Sin(2*math.Pi*i/12) + size*random.NormFloat64()
	})
	m := fit(t, s, Options{})
	if m.tracks[0].volatility == nil || !slices.Contains(m.PartNames(), "volatility") {
		t.Fatalf("no volatility: %v", m.PartNames())
	}
	x := slices.Concat(m.Next(2), s.X[100:101])
	p := predict(t, m, x)
	if p.SD[0][0] < 0.75 || p.SD[0][0] > 1.4 || p.SD[0][2] > 0.45 {
		t.Errorf("forecast ± %v, early observation ± %v; true value 1 and 0.2", p.SD[0][0], p.SD[0][2])
	}
	reloaded(t, m, x)
	own := testkit.Must(m.Evaluate(t.Context(), s))(t)
	testkit.Near(t, own, m.Bound(), 1e-6*math.Abs(own), "the bound of the training data")
	if m := fit(t, longSeries(400), Options{}); m.tracks[0].volatility != nil {
		t.Error("constant noise has a volatility")
	}
}

// TestVolatilityOfAllRows checks that a search in the last rows estimates the volatility of all rows, as a model file needs it.
func TestVolatilityOfAllRows(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	s := seriesOf(500, func(i float64) float64 {
		return math.Exp(2*math.Sin(i/40)) * random.NormFloat64()
	})
	search := searchOf(t, s, Options{Known: true, Log: LogNever})
	search.from, search.tracks = 200, since(search.whole, 200)
	best := testkit.Must(search.run())(t)
	_, whole, err := search.volatile(best, search.whole)
	testkit.OK(t, err)
	v := whole[0].volatility
	testkit.Equal(t, v.rows.u, search.whole[0].u, "times of the volatility")
	for _, rows := range [][2]int{{63, 188}, {314, 188}, {314, 440}} { // with the largest and the smallest noise
		if g := whole[0].g; !(g[rows[0]] > 3*g[rows[1]]) {
			t.Errorf("size %v at row %d, %v at row %d", g[rows[0]], rows[0], g[rows[1]], rows[1])
		}
	}
}
