package series

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/internal/bayes"
)

const (
	// betterNaive is the maximum ratio of errors at which the seasonal naive forecast is clearly better than the model's. One season has too
	// few values to distinguish larger ratios from chance.
	betterNaive     = 0.7
	negligibleError = 1e-3 // of the model, relative to the standard deviation of the values
)

// A Naive is a seasonal naive forecast, which repeats the values one Period earlier plus Drift, compared with the
// model on the last period of the data. Drift is the mean change from one period to the next before the last period,
// or 0. MAE and ModelMAE are the mean absolute errors of both.
type Naive struct{ Period, Drift, MAE, ModelMAE float64 }

// Better returns the seasonal naive forecast of output d that is clearly better than the model on the last period of
// the data, nil if there is none: the model then lacks a season. The model's forecast is conditioned on the data before
// the last period, at the mode of the hyper-parameters for them. Of the model's periods and the calendar seasons in
// steps, the one with the smallest naive error is tried, in the last period or in all data, whichever is larger. The
// data must be on a grid and contain it twice, and must not be counts.
func (m *Model) Better(ctx context.Context, d int) (*Naive, error) {
	if m.frame == nil {
		return nil, errEmpty
	}
	lags := m.lags()
	if len(lags) == 0 || m.frame.Counts != nil {
		return nil, nil
	}
	g := slices.IndexFunc(m.tracks, func(t *track) bool { return slices.Contains(t.outputs, d) })
	i := slices.Index(m.tracks[g].outputs, d)
	y := m.onGrid(m.tracks[g], i)
	best, period := Naive{MAE: math.Inf(1)}, 0
	for _, lag := range lags {
		for _, drift := range []float64{0, driftOf(y[:len(y)-lag], lag)} {
			z := level(y, lag, drift)
			if e := max(bayes.NaiveError(z[len(z)-2*lag:], lag), bayes.NaiveError(z, lag)); e < best.MAE {
				best, period = Naive{Drift: drift, MAE: e}, lag
			}
		}
	}
	if period == 0 {
		return nil, nil
	}
	_, spread := bayes.MeanSD(picked(y, present(y)), 0, 1)
	from, _ := slices.BinarySearch(m.tracks[g].u, m.frame.Range-float64(period)+0.5)
	own, err := m.lastError(ctx, g, i, from, m.at.Mode)
	if err == nil && best.MAE < own { // the mode also fits the last period
		own, err = m.refittedError(ctx, g, i, from)
	}
	if errors.Is(err, errUnresolved) { // the rows before the last period do not determine the model
		return nil, nil
	}
	if err != nil || spread == 0 || own < negligibleError*spread || best.MAE > betterNaive*own {
		return nil, err
	}
	best.Period, best.ModelMAE = float64(period)*m.frame.Step, own
	return &best, nil
}

// driftOf returns the mean change of y from one period of lag steps to the next; 0 if there is less than one period of
// changes. Missing values are NaN.
func driftOf(y []float64, lag int) float64 {
	var changes []float64
	for i := lag; i < len(y); i++ {
		if c := y[i] - y[i-lag]; !math.IsNaN(c) {
			changes = append(changes, c)
		}
	}
	if len(changes) < lag {
		return 0
	}
	return stat.Mean(changes, nil)
}

// level returns y without a line that rises by drift in lag steps.
func level(y []float64, lag int, drift float64) []float64 {
	all := slices.Clone(y)
	for i := range all {
		all[i] -= drift * float64(i) / float64(lag)
	}
	return all
}

// lags returns the model's periods and the calendar seasons, in steps, that the data contain at least twice; none
// without a grid. Multiples of a period of the model are left out.
func (m *Model) lags() []int {
	if !m.frame.Even || m.frame.Range > sparse*float64(m.frame.Rows) {
		return nil
	}
	var own []int
	for _, p := range m.Periods() {
		own = append(own, max(1, int(math.Round(p/m.frame.Step))))
	}
	all := slices.Concat(own, calendarSeasons)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(lag int) bool {
		multiple := slices.ContainsFunc(own, func(p int) bool { return lag > p && lag%p == 0 })
		return lag < 2 || float64(2*lag) > m.frame.Range+1 || multiple
	})
}

// onGrid returns the values of output i of a track by grid index, with NaN where there is no observation.
func (m *Model) onGrid(t *track, i int) []float64 {
	all := slices.Repeat([]float64{math.NaN()}, int(math.Round(m.frame.Range))+1)
	for n, u := range t.u {
		all[int(math.Round(u))] = m.frame.value(t.outputs[i], t.y[i][n])
	}
	return all
}

// lastError returns the model's mean absolute error for output i of group g in its rows from row from on, given the
// rows before them and hyper-parameters.
func (m *Model) lastError(ctx context.Context, g, i, from int, mode []float64) (float64, error) {
	t := m.tracks[g]
	before := &Model{frame: m.frame, layout: m.layout, tracks: []*track{t.rows(0, from)}}
	at, err := before.conditional(ctx, mode)
	if err != nil {
		return 0, m.failed(err)
	}
	sum, last := 0.0, t.rows(from, len(t.u))
	err = before.latent(ctx, last, at, "", func(d, n int, mean, _, _ float64) {
		if d == t.outputs[i] {
			sum += math.Abs(m.frame.value(d, last.y[i][n])-m.frame.value(d, mean)) / float64(len(last.u))
		}
	})
	return sum, err
}

// refittedError returns lastError at the mode for the rows before row from.
func (m *Model) refittedError(ctx context.Context, g, i, from int) (float64, error) {
	t := &trial{o: newObjective(ctx, m.layout, []*track{m.tracks[g].rows(0, from)})}
	mode, _, err := bayes.Climb(ctx, t.objective(), m.at.Mode, stepGain(from), maxEvaluations)
	if err != nil {
		return 0, m.failed(err)
	}
	return m.lastError(ctx, g, i, from, mode)
}
