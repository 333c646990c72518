package series

import (
	"context"
	"math"
)

// A Filling is a series whose missing values are predicted.
type Filling struct {
	Y    [][]float64 // [D][N] the series without missing values
	Rows [][]int     // [D] the rows that were missing
	// Bands are of the missing rows, in their order: [D].
	Bands []Band
}

// A Band contains predictions of one output: Mean, standard deviation SD, and Lower and Upper, the ends of the central 95 % interval of an
// observation.
type Band struct{ Mean, SD, Lower, Upper []float64 }

// Fill fits the series and predicts its missing values. Errors are those of Fit.
func Fill(ctx context.Context, s Series, o Options) (*Model, *Filling, error) {
	m, err := Fit(ctx, s, o)
	if err != nil {
		return nil, nil, err
	}
	f, err := m.Fill(ctx, s)
	return m, f, err
}

// Fill predicts the missing values of the series that the model was fitted to. Errors are those of Evaluate and Predict.
func (m *Model) Fill(ctx context.Context, s Series) (*Filling, error) {
	if err := m.accepts(&s); err != nil {
		return nil, err
	}
	f := &Filling{}
	at := map[int]int{} // the place in x of a row that lacks any output
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
