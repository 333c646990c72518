package series

import (
	"context"
	"math"
)

// A Filling is a series with its missing values replaced by predictions.
type Filling struct {
	Y    [][]float64 // [D][N] the series without missing values
	Rows [][]int     // [D] indices of the missing values
	// Bands [D] contains the predictions of the missing values, in the order of Rows.
	Bands []Band
}

// A Band contains predictions of one output: Mean, standard deviation SD, and Lower and Upper, the ends of the 95 % prediction interval.
type Band struct{ Mean, SD, Lower, Upper []float64 }

// Fill fits the series and predicts its missing values. It returns the errors of Fit.
func Fill(ctx context.Context, s Series, o Options) (*Model, *Filling, error) {
	m, err := Fit(ctx, s, o)
	if err != nil {
		return nil, nil, err
	}
	f, err := m.Fill(ctx, s)
	return m, f, err
}

// Fill predicts the missing values of the series that the model was fitted to. It returns the errors of Evaluate and Predict.
func (m *Model) Fill(ctx context.Context, s Series) (*Filling, error) {
	if err := m.accepts(&s); err != nil {
		return nil, err
	}
	f := &Filling{}
	at := map[int]int{} // index in x of each time with a missing value
	var x []float64
	regressors := make([][]float64, len(s.Regressors))
	for d, y := range s.Y {
		f.Y, f.Rows = append(f.Y, append([]float64(nil), y...)), append(f.Rows, nil)
		for n, v := range y {
			if !math.IsNaN(v) {
				continue
			}
			f.Rows[d] = append(f.Rows[d], n)
			if _, ok := at[n]; !ok {
				at[n] = len(x)
				x = append(x, s.X[n])
				for j, r := range s.Regressors {
					regressors[j] = append(regressors[j], r.Values[n])
				}
			}
		}
	}
	f.Bands = make([]Band, len(s.Y))
	if len(x) == 0 {
		return f, nil
	}
	p, err := m.Predict(ctx, x, regressors...)
	if err != nil {
		return nil, err
	}
	for d, rows := range f.Rows {
		b := &f.Bands[d]
		for _, n := range rows {
			i := at[n]
			f.Y[d][n] = p.Mean[d][i]
			b.Mean, b.SD = append(b.Mean, p.Mean[d][i]), append(b.SD, p.SD[d][i])
			b.Lower, b.Upper = append(b.Lower, p.Lower[d][i]), append(b.Upper, p.Upper[d][i])
		}
	}
	return f, nil
}
