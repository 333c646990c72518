package gift

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/bench/internal/forecasts"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Scores contains the scores of a method over all problems.
type Scores struct {
	MASE     float64 `json:"mase,omitempty"`       // of the median; mean over problems, as MSIS and SMAPE
	CRPS     float64 `json:"crps,omitempty"`       // mean quantile loss of 0.1 to 0.9, divided by the mean of |y|
	MSIS     float64 `json:"msis,omitempty"`       // of the 95 % interval, scaled as MASE
	Coverage float64 `json:"coverage95,omitempty"` // of the 95 % interval
	SMAPE    float64 `json:"smape,omitempty"`      // 0 to 200
	MSEMean  float64 `json:"mse_mean,omitempty"`   // of the mean
	MSE      float64 `json:"mse,omitempty"`        // of the median, as MAE and MAPE
	MAE      float64 `json:"mae,omitempty"`
	MAPE     float64 `json:"mape,omitempty"`     // a fraction; without values of 0
	Absolute float64 `json:"absolute,omitempty"` // mean of |y|
}

// A score contains the scores of one forecast. Scores are means over its rows, except CRPS, which is not divided by the
// mean of |y|.
type score struct {
	Scores
	rows, nonzero int
}

// scoreOf scores a forecast of a problem. Rows with a missing true value are skipped.
func scoreOf(t *Task, p *Problem, f *Forecast) (s score, err error) {
	if f.Err != nil {
		return s, f.Err
	}
	scale := bayes.NaiveError(p.Past, t.season)
	if !(scale > 0) {
		return s, fmt.Errorf("the error of the seasonal naive forecast in the past is %g: must be positive", scale)
	}
	var truth, medians []float64
	for i, y := range p.Future {
		if math.IsNaN(y) {
			continue
		}
		for _, q := range f.Quantiles {
			if math.IsNaN(q[i]) || math.IsInf(q[i], 0) {
				return s, fmt.Errorf("row %d of the forecast has a quantile of %g", i+1, q[i])
			}
		}
		truth, medians = append(truth, y), append(medians, f.Quantiles[median][i])
		s.add(f, i, y)
	}
	if s.rows == 0 {
		return s, fmt.Errorf("there are no true values")
	}
	s.scale(1/float64(s.rows), scale)
	s.MAE = bayes.MAE(medians, truth)
	s.MASE, s.SMAPE = s.MAE/scale, bayes.SMAPE(medians, truth)
	return s, nil
}

// add adds the scores of row i.
func (s *score) add(f *Forecast, i int, y float64) {
	for k, level := range levels[:crpsLevels] {
		d := y - f.Quantiles[k][i]
		s.CRPS += 2 * max(level*d, (level-1)*d) / crpsLevels
	}
	low, up := f.Quantiles[lower][i], f.Quantiles[high][i]
	s.MSIS += forecasts.IntervalScore(low, up, y)
	if y >= low && y <= up {
		s.Coverage++
	}
	e := y - f.Quantiles[median][i]
	s.MSE += e * e
	s.MSEMean += (y - f.Mean[i]) * (y - f.Mean[i])
	s.Absolute += math.Abs(y)
	if y != 0 {
		s.MAPE, s.nonzero = s.MAPE+math.Abs(e/y), s.nonzero+1
	}
	s.rows++
}

// scale divides sums by the number of rows, and MSIS by the naive error.
func (s *score) scale(share, naive float64) {
	for _, v := range []*float64{&s.CRPS, &s.MSIS, &s.Coverage, &s.MSE, &s.MSEMean, &s.Absolute} {
		*v *= share
	}
	s.MSIS /= naive
	s.MAPE /= max(1, float64(s.nonzero))
}

// pool returns the scores over all problems.
func pool(all []score) (p Scores, rows int) {
	nonzero := 0
	for _, s := range all {
		rows, nonzero = rows+s.rows, nonzero+s.nonzero
	}
	for _, s := range all {
		problem, row := 1/float64(len(all)), float64(s.rows)/float64(rows)
		p.MASE += problem * s.MASE
		p.MSIS += problem * s.MSIS
		p.SMAPE += problem * s.SMAPE
		p.Coverage += row * s.Coverage
		p.CRPS += row * s.CRPS
		p.MSE += row * s.MSE
		p.MSEMean += row * s.MSEMean
		p.MAE += row * s.MAE
		p.Absolute += row * s.Absolute
		p.MAPE += s.MAPE * float64(s.nonzero) / max(1, float64(nonzero))
	}
	p.CRPS /= p.Absolute
	return p, rows
}

// ratios compares the scores of the same problems.
func ratios(all, base []score) *Ratios {
	var r Ratios
	r.MASE, r.MASESE = ratio(all, base, func(s *Scores) float64 { return s.MASE })
	r.CRPS, r.CRPSSE = ratio(all, base, func(s *Scores) float64 { return s.CRPS })
	return &r
}

// ratio returns the mean over problems of the logarithm of the ratio of two scores, and its standard error. Problems
// with a score of 0 are skipped.
func ratio(all, base []score, of func(*Scores) float64) (mean, se float64) {
	var logs []float64
	for i := range all {
		if a, b := of(&all[i].Scores), of(&base[i].Scores); a > 0 && b > 0 {
			logs = append(logs, math.Log(a/b))
		}
	}
	if len(logs) < 2 {
		return 0, 0
	}
	mean, sd := bayes.MeanSD(logs, 0, 1)
	return mean, sd / math.Sqrt(float64(len(logs)-1)) // sd is of the sample, not of the population
}
