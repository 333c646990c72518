package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Scores contains forecast scores, averaged over all forecast observations. CRPS and MAE are in units of the output. MASE is the MAE
// divided by the in-sample MAE of the seasonal naive forecast. Coverage95 is the fraction of values inside the central 95 % intervals.
// Interval95 is their mean interval score: the width plus 40 times the distance of a value outside (Gneiting & Raftery 2007).
type Scores struct {
	RMSE       float64 `json:"rmse"` // root mean squared error
	MAE        float64 `json:"mae"`
	MASE       float64 `json:"mase"`
	CRPS       float64 `json:"crps"`
	Coverage95 float64 `json:"coverage95"`
	Interval95 float64 `json:"interval_score95"`
	NLPD       float64 `json:"nlpd"` // mean negative log predictive density
}

// MeanScores returns the means over several outputs.
func MeanScores(all []Scores) (mean Scores) {
	to := reflect.ValueOf(&mean).Elem()
	for _, s := range all {
		for i, from := 0, reflect.ValueOf(s); i < to.NumField(); i++ {
			to.Field(i).SetFloat(to.Field(i).Float() + from.Field(i).Float()/float64(len(all)))
		}
	}
	return mean
}

// Backtested contains the scores [D] of forecasts over Horizon observations from each of Origins origins. Model scores the model, Naive a
// forecast that repeats the last value, Seasonal a forecast that repeats the value one season earlier. The naive intervals are Gaussian
// with the standard deviation of the in-sample naive errors. The season is the shortest one in Options.Parts and Options.Try, such as the
// calendar's, because the comparison must not depend on the model. If there is none, or the data before an origin are shorter, the
// season is the model's shortest one.
type Backtested struct {
	Horizon, Origins       int
	Season                 []int // [D] season of the seasonal naive forecast, in steps; 1: no season
	Model, Naive, Seasonal []Scores
}

// Backtest evaluates forecasts by rolling-origin backtesting. The origins are horizon observations apart, in the order of x, and the last
// horizon ends with the data. At each origin, Backtest fits a model to the observations before it. It returns the errors of Fit, and an
// error that wraps ErrOptions if fewer than MinTrainingRows observations precede the first origin.
func Backtest(ctx context.Context, s Series, horizon, origins int, o Options) (*Backtested, error) {
	if err := cmp.Or(s.check(), o.check()); err != nil {
		return nil, err
	}
	s = s.sorted()
	n := len(s.X)
	unit := s.scaleUp(&o)
	switch {
	case horizon < 1:
		return nil, fault.Errorf(ErrOptions, "horizon %d; must be at least 1", horizon)
	case origins < 1:
		return nil, fault.Errorf(ErrOptions, "%d origins; must be at least 1", origins)
	case horizon > n || origins > n || n-horizon*origins < MinTrainingRows:
		return nil, fault.Errorf(ErrOptions, "%d origins with horizon %d leave fewer than %d of %d rows before the first origin",
			origins, horizon, MinTrainingRows, n)
	}
	b := &Backtested{Horizon: horizon, Origins: origins}
	var sums [3][]tally
	for i := range sums {
		sums[i] = make([]tally, len(s.Y))
	}
	progress := o.Progress
	for k := origins; k >= 1; k-- {
		if progress != nil {
			o.Progress = func(done float64) { progress((float64(origins-k) + done) / float64(origins)) }
		}
		end := n - k*horizon
		before, after := s.rows(0, end), s.rows(end, end+horizon)
		m, err := Fit(ctx, before, o)
		if err != nil {
			return nil, fmt.Errorf("origin after row %d: %w", end, err)
		}
		p, err := m.Predict(ctx, after.X, after.regressorValues()...)
		if err != nil {
			return nil, err
		}
		at := m.frame.newGrid(before.X)
		ahead := at.of(after.X)
		season := cmp.Or(at.contained(o.shortest()/m.frame.Step), m.season())
		for d, y := range after.Y {
			if k == 1 {
				b.Season = append(b.Season, season)
			}
			known := at.values(before.Y[d])
			scale := bayes.NaiveError(known, season)
			if math.IsNaN(scale) { // there is only one season
				scale = bayes.NaiveError(known, 1)
			}
			for j, v := range y {
				sums[0][d].add(v, p.mixtures[d][j], scale)
			}
			for i, lag := range []int{1, season} {
				for j, mix := range naive(known, lag, ahead) {
					sums[i+1][d].add(y[j], mix, scale)
				}
			}
		}
	}
	for d := range s.Y {
		b.Model = append(b.Model, sums[0][d].scores(unit))
		b.Naive, b.Seasonal = append(b.Naive, sums[1][d].scores(unit)), append(b.Seasonal, sums[2][d].scores(unit))
	}
	return b, nil
}

// MinTrainingRows is the minimum number of observations before the first origin of Backtest.
const MinTrainingRows = 10

// season returns the shortest season in steps, or 1 if no season is shorter than the data range.
func (m *Model) season() int {
	season := m.frame.Range
	for _, period := range m.Periods() {
		season = min(season, math.Round(period/m.frame.Step))
	}
	if season >= m.frame.Range {
		return 1
	}
	return max(1, int(season))
}

// shortest returns the shortest period of the seasons in Parts and Try, +Inf if there is none.
func (o *Options) shortest() float64 {
	shortest := math.Inf(1)
	for _, season := range ofKind[Season](o.all()) {
		shortest = min(shortest, season.Period)
	}
	return shortest
}

// contained returns a season in whole steps, or 0 if the grid is shorter.
func (g *grid) contained(season float64) int {
	if g.void || !(math.Round(season) <= float64(g.at[len(g.at)-1]+1)) {
		return 0
	}
	return max(1, int(math.Round(season)))
}

// A grid maps times to grid indices or, if the grid would be nearly empty, to observation indices.
type grid struct {
	frame *frame
	at    []int
	void  bool
}

// newGrid returns the grid of sorted times x.
func (f *frame) newGrid(x []float64) *grid {
	g := &grid{frame: f, void: f.Range > sparse*float64(len(x))}
	g.at = g.of(x)
	return g
}

// of returns the grid indices of times x. On an empty grid, they follow the indices already in use.
func (g *grid) of(x []float64) (at []int) {
	for n, v := range x {
		if g.void {
			at = append(at, len(g.at)+n)
		} else {
			at = append(at, int(math.Round(min(g.frame.steps(v), math.MaxInt32))))
		}
	}
	return at
}

// values returns y by grid index, with NaN at indices without an observation.
func (g *grid) values(y []float64) []float64 {
	all := slices.Repeat([]float64{math.NaN()}, g.at[len(g.at)-1]+1)
	for n, p := range g.at {
		all[p] = y[n]
	}
	return all
}

// naive returns seasonal naive forecasts at grid indices ahead. Each repeats the last value a whole number of seasons earlier. The
// standard deviation is the in-sample root mean squared error one season ahead or, of a single season, one step ahead.
func naive(y []float64, season int, ahead []int) []bayes.Mixture {
	square := meanSquare(y, season)
	if math.IsNaN(square) {
		square = meanSquare(y, 1)
	}
	sd, last := math.SmallestNonzeroFloat64, math.NaN()
	if square > 0 {
		sd = math.Sqrt(square)
	}
	for _, v := range y {
		if !math.IsNaN(v) {
			last = v
		}
	}
	all := make([]bayes.Mixture, len(ahead))
	for j, p := range ahead {
		mean := last // fallback if no earlier season has a value
		for i := p - (p-len(y)+season)/season*season; i >= 0; i -= season {
			if !math.IsNaN(y[i]) {
				mean = y[i]
				break
			}
		}
		all[j] = bayes.Mixture{Means: []float64{mean}, SDs: []float64{sd}}
	}
	return all
}

// meanSquare returns the mean squared difference between values a lag apart, or NaN if there are none.
func meanSquare(y []float64, lag int) float64 {
	sum, n := 0.0, 0
	for i := lag; i < len(y); i++ {
		if d := y[i] - y[i-lag]; !math.IsNaN(d) {
			sum, n = sum+d*d, n+1
		}
	}
	return sum / float64(n)
}

// sorted returns a copy in the order of x.
func (s Series) sorted() Series {
	order := (&track{u: s.X}).order()
	return s.each(func(a []float64) []float64 { return picked(a, order) })
}

func (s Series) rows(lo, hi int) Series {
	return s.each(func(a []float64) []float64 { return a[lo:hi] })
}

func (s Series) each(of func(a []float64) []float64) Series {
	c := Series{X: of(s.X)}
	for _, y := range s.Y {
		c.Y = append(c.Y, of(y))
	}
	for _, e := range s.Err {
		c.Err = append(c.Err, of(e))
	}
	for _, r := range s.Regressors {
		r.Values = of(r.Values)
		c.Regressors = append(c.Regressors, r)
	}
	return c
}

// scaleUp divides values whose squares would underflow by a unit and returns the unit. It returns 1 and changes nothing for larger
// values, or if a prior is given in the values' units.
func (s *Series) scaleUp(o *Options) (unit float64) {
	size := 0.0
	for _, y := range s.Y {
		size = max(size, magnitude(y))
	}
	if size == 0 || size > 1e-100 || o.informed() {
		return 1
	}
	_, exponent := math.Frexp(size)
	unit = math.Ldexp(1, exponent)
	for _, a := range slices.Concat(s.Y, s.Err) {
		for n := range a {
			a[n] /= unit
		}
	}
	return unit
}

type tally struct {
	n, square, abs, scaled, crps, inside, interval, density float64
}

// add scores one value. Missing values are skipped.
func (t *tally) add(y float64, m bayes.Mixture, scale float64) {
	if math.IsNaN(y) {
		return
	}
	mean, _, low, high, _ := m.Summary()
	t.n++
	t.square += (y - mean) * (y - mean)
	t.abs += math.Abs(y - mean)
	t.scaled += math.Abs(y-mean) / scale
	t.crps += m.CRPS(y)
	t.interval += high - low + 40*max(0, low-y, y-high)
	t.density += m.LogDensity(y)
	if m.Covers95(y) {
		t.inside++
	}
}

// scores returns the mean scores, converted from the given unit.
func (t *tally) scores(unit float64) Scores {
	return Scores{
		RMSE: unit * math.Sqrt(t.square/t.n), MAE: unit * t.abs / t.n, MASE: t.scaled / t.n, CRPS: unit * t.crps / t.n,
		Coverage95: t.inside / t.n, Interval95: unit * t.interval / t.n, NLPD: math.Log(unit) - t.density/t.n,
	}
}
