package forecasts

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/series"
)

// A Line is a method's scores on a series, over all its forecasts.
type Line struct {
	machine.Machine
	Time      string  `json:"time"`
	Bench     string  `json:"bench"` // series
	Set       string  `json:"set"`
	Series    string  `json:"series"`
	Method    string  `json:"method"`
	Version   string  `json:"version,omitempty"`
	Forecasts int     `json:"forecasts"` // origins, or draws of missing rows
	Rows      int     `json:"rows"`      // numbers forecast in all
	Seconds   float64 `json:"seconds"`   // a forecast, the fit included
	Scores
	Status string `json:"status"`
}

// Scores are means over the rows of a line.
type Scores struct {
	RMSE     float64 `json:"rmse"`
	MAE      float64 `json:"mae"`
	MASE     float64 `json:"mase"` // by the error of seasonal naive on the rows before the origin
	MSIS     float64 `json:"msis"` // of the 95 % intervals, by the same error
	SMAPE    float64 `json:"smape"`
	CRPS     float64 `json:"crps"`
	Coverage float64 `json:"coverage95"`
	NLPD     float64 `json:"nlpd"`
}

// pool returns the means of scores over problems of n rows each.
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

// score compares a forecast with the truth.
func (p *Problem) score(f *Forecast) (s Scores, err error) {
	if err := f.check(len(p.At)); err != nil {
		return s, err
	}
	scale := bayes.NaiveError(newGrid(p.Series).y, p.Season)
	if !(scale > 0) {
		return s, fmt.Errorf("seasonal naive's error before the origin is %g: MASE needs one above 0", scale)
	}
	medians := make([]float64, len(p.truth)) // which absolute errors are least for
	for i, y := range p.truth {
		m, n := f.at(i), float64(len(p.truth))
		medians[i] = m.Quantile(0.5)
		s.CRPS += m.CRPS(y) / n
		s.NLPD -= m.LogDensity(y) / n
		s.MSIS += intervalScore(m.Quantile(0.025), m.Quantile(0.975), y) / scale / n
		if m.Covers95(y) {
			s.Coverage += 1 / n
		}
	}
	s.RMSE, s.MAE, s.SMAPE = bayes.RMSE(f.Mean, p.truth), bayes.MAE(medians, p.truth), bayes.SMAPE(medians, p.truth)
	s.MASE = s.MAE / scale
	return s, nil
}

// intervalScore returns the score of a 95 % interval (Gneiting & Raftery 2007): its width, and 2/0.05 times how far y is outside.
func intervalScore(low, high, y float64) float64 {
	return high - low + 2/0.05*max(low-y, 0, y-high)
}

// A distribution is a forecast of one number.
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

// at is the distribution of number i.
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

// check reports anything but n finite means and positive standard deviations, and as many for each draw.
func (f *Forecast) check(n int) error {
	if len(f.Means) != len(f.SDs) {
		return fmt.Errorf("means of %d draws and deviations of %d", len(f.Means), len(f.SDs))
	}
	sds := slices.Concat([][]float64{f.SD}, f.SDs)
	for d, mean := range slices.Concat([][]float64{f.Mean}, f.Means) {
		sd := sds[d]
		if len(mean) != n || len(sd) != n {
			return fmt.Errorf("%d means and %d standard deviations, must be %d", len(mean), len(sd), n)
		}
		for i := range mean {
			if !(math.Abs(mean[i]) <= math.MaxFloat64) || !(sd[i] > 0) || math.IsInf(sd[i], 0) {
				return fmt.Errorf("number %d: mean %g, deviation %g", i+1, mean[i], sd[i])
			}
		}
	}
	return nil
}
