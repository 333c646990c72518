package forecasts

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/series"
)

// A Line contains the scores of a method on a series over all its forecasts.
type Line struct {
	machine.Machine
	Time      string  `json:"time"`
	Bench     string  `json:"bench"` // series
	Set       string  `json:"set"`
	Series    string  `json:"series"`
	Method    string  `json:"method"`
	Version   string  `json:"version,omitempty"`
	Forecasts int     `json:"forecasts"` // number of origins, or of draws of missing rows
	Rows      int     `json:"rows"`      // total number of forecast values
	Seconds   float64 `json:"seconds"`   // mean time of a forecast, including the fit
	Scores
	Status string `json:"status"`
}

// Scores contains scores averaged over the rows of a line.
type Scores struct {
	RMSE     float64 `json:"rmse"`
	MAE      float64 `json:"mae"`
	MASE     float64 `json:"mase"` // MAE relative to the error of the seasonal naive forecast on the rows before the origin
	MSIS     float64 `json:"msis"` // mean score of the 95 % intervals relative to the same error
	SMAPE    float64 `json:"smape"`
	CRPS     float64 `json:"crps"`
	Coverage float64 `json:"coverage95"`
	NLPD     float64 `json:"nlpd"`
}

// pool returns the means of scores over problems, weighted by their numbers of rows n, and the total number of rows.
func pool(all []Scores, n []int) (p Scores, rows int) {
	for _, k := range n {
		rows += k
	}
	for i, s := range all {
		share := float64(n[i]) / float64(rows)
		p.RMSE += share * s.RMSE * s.RMSE
		p.MAE += share * s.MAE
		p.MASE += share * s.MASE
		p.MSIS += share * s.MSIS
		p.SMAPE += share * s.SMAPE
		p.CRPS += share * s.CRPS
		p.Coverage += share * s.Coverage
		p.NLPD += share * s.NLPD
	}
	p.RMSE = math.Sqrt(p.RMSE)
	return p, rows
}

// score scores a forecast against the true values.
func (p *Problem) score(f *Forecast) (s Scores, err error) {
	if err := f.check(len(p.At)); err != nil {
		return s, err
	}
	scale := bayes.NaiveError(newGrid(p.Series).y, p.Season)
	if !(scale > 0) {
		return s, fmt.Errorf("error of the seasonal naive forecast before the origin is %g: must be positive for MASE", scale)
	}
	medians := make([]float64, len(p.truth)) // they minimize the expected absolute error
	for i, y := range p.truth {
		m, n := f.at(i), float64(len(p.truth))
		medians[i] = m.Quantile(0.5)
		s.CRPS += m.CRPS(y) / n
		s.NLPD -= m.LogDensity(y) / n
		s.MSIS += IntervalScore(m.Quantile(0.025), m.Quantile(0.975), y) / scale / n
		if m.Covers95(y) {
			s.Coverage += 1 / n
		}
	}
	s.RMSE, s.MAE, s.SMAPE = bayes.RMSE(f.Mean, p.truth), bayes.MAE(medians, p.truth), bayes.SMAPE(medians, p.truth)
	s.MASE = s.MAE / scale
	return s, nil
}

// IntervalScore returns the score of a 95 % interval (Gneiting & Raftery 2007): its width, plus 2/0.05 times the
// distance of y outside.
func IntervalScore(low, high, y float64) float64 {
	return high - low + 2/0.05*max(low-y, 0, y-high)
}

// A distribution is the forecast of one value.
type distribution interface {
	CRPS(y float64) float64
	LogDensity(y float64) float64
	Covers95(y float64) bool
	Quantile(p float64) float64
}

// predicted is row i of a prediction by package series.
type predicted struct {
	*series.Prediction
	i int
}

func (p predicted) CRPS(y float64) float64       { return p.Prediction.CRPS(0, p.i, y) }
func (p predicted) LogDensity(y float64) float64 { return p.Prediction.LogDensity(0, p.i, y) }
func (p predicted) Covers95(y float64) bool      { return y >= p.Lower[0][p.i] && y <= p.Upper[0][p.i] }
func (p predicted) Quantile(q float64) float64   { return p.Prediction.Quantile(0, p.i, q) }

// at returns the distribution of value i.
func (f *Forecast) at(i int) distribution {
	if f.own != nil {
		return predicted{f.own, i}
	}
	if len(f.Means) == 0 {
		return bayes.Mixture{Means: f.Mean[i : i+1], SDs: f.SD[i : i+1]}
	}
	var m bayes.Mixture
	for d := range f.Means {
		m.Means, m.SDs = append(m.Means, f.Means[d][i]), append(m.SDs, f.SDs[d][i])
	}
	return m
}

// Quantiles returns the quantiles of all n values at some levels [levels][n].
func (f *Forecast) Quantiles(n int, levels []float64) ([][]float64, error) {
	if err := f.check(n); err != nil {
		return nil, err
	}
	out := make([][]float64, len(levels))
	for k, level := range levels {
		for i := range n {
			out[k] = append(out[k], f.at(i).Quantile(level))
		}
	}
	return out, nil
}

// check returns an error unless the forecast and each of its draws have n finite means and n positive finite standard
// deviations.
func (f *Forecast) check(n int) error {
	if len(f.Means) != len(f.SDs) {
		return fmt.Errorf("means of %d draws and standard deviations of %d draws: must be equal", len(f.Means), len(f.SDs))
	}
	sds := slices.Concat([][]float64{f.SD}, f.SDs)
	for d, mean := range slices.Concat([][]float64{f.Mean}, f.Means) {
		sd := sds[d]
		if len(mean) != n || len(sd) != n {
			return fmt.Errorf("%d means and %d standard deviations: must be %d", len(mean), len(sd), n)
		}
		for i := range mean {
			if !(math.Abs(mean[i]) <= math.MaxFloat64) || !(sd[i] > 0) || math.IsInf(sd[i], 0) {
				return fmt.Errorf("value %d: mean %g and standard deviation %g: must be finite, the latter positive", i+1, mean[i], sd[i])
			}
		}
	}
	return nil
}
