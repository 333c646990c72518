package series

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestEvaluate: of its own data a model has its own bound, of data with jumps a worse one; errors have to be known
// as they were.
func TestEvaluate(t *testing.T) {
	var s, moved, known Series
	y, far, e := []float64{}, []float64{}, []float64{}
	for n := range 40 {
		v := math.Sin(float64(n)/5) + 0.1*math.Sin(float64(n*n))
		if n == 7 {
			v = math.NaN()
		}
		s.X, y, far, e = append(s.X, 3+0.5*float64(n)), append(y, v), append(far, v+float64(n%2*3)), append(e, 0.1+0.01*float64(n))
	}
	s.Y = [][]float64{y}
	moved.X, moved.Y = s.X, [][]float64{far}
	known.X, known.Y, known.Err = s.X, s.Y, [][]float64{e}
	for _, fitted := range []Series{s, known} {
		m, err := Fit(context.Background(), fitted, Options{Known: true})
		if err != nil {
			t.Fatal(err)
		}
		own, err := m.Evaluate(context.Background(), fitted)
		if err != nil || math.Abs(own-m.Bound()) > 1e-9*math.Abs(own) {
			t.Errorf("the bound of its own data is %v, %v; the fit's is %v", own, err, m.Bound())
		}
		if fitted.Err == nil {
			if other, err := m.Evaluate(context.Background(), moved); err != nil || other > own-10 {
				t.Errorf("the bound of other data is %v, %v; of its own %v", other, err, own)
			}
		}
		before := fitted // a place before the model's first row counts like any other
		before.X, before.Y = append([]float64{2}, s.X[1:]...), [][]float64{append([]float64{50}, y[1:]...)}
		if other, err := m.Evaluate(context.Background(), before); err != nil || other > own-100 {
			t.Errorf("the bound with an outlier before the first row is %v, %v; without %v", other, err, own)
		}
		wrong := known
		if fitted.Err != nil {
			wrong = s
		}
		if _, err := m.Evaluate(context.Background(), wrong); !errors.Is(err, ErrData) {
			t.Errorf("errors that are not known as they were: %v", err)
		}
		wrong = fitted
		wrong.X = append([]float64{1e6}, s.X[1:]...)
		if _, err := m.Evaluate(context.Background(), wrong); !errors.Is(err, ErrReach) {
			t.Errorf("a place beyond the reach: %v", err)
		}
	}
}

// TestSeasonTwice: a season that is tried or known is not found again as another one beside it.
func TestSeasonTwice(t *testing.T) {
	s := Series{Y: [][]float64{nil}}
	for n := range 200 {
		s.X, s.Y[0] = append(s.X, float64(n)), append(s.Y[0], math.Cos(2*math.Pi*float64(n)/19.9)+0.1*math.Sin(float64(n*n)))
	}
	f, err := newFrame(&s, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Options
		want int
	}{
		{Options{}, 1}, {Options{Try: [][]Part{{Season{Period: 20}}}}, 1}, {Options{Parts: []Part{Constant{}, Season{Period: 20}}}, 0}, {Options{Parts: []Part{Constant{}, Season{Period: 10}}}, 1},
	} {
		c.o.Backend = cpu.New()
		found, err := newSearch(context.Background(), f, &c.o)
		if err != nil || len(found.try) != c.want {
			t.Errorf("%+v: %v are tried, %v; want %d", c.o, found.try, err, c.want)
		}
	}
}

// TestScore: the scores are those of the predictions, over the rows that have values; a row's density is that of all its values.
func TestScore(t *testing.T) {
	nan := math.NaN()
	s := Series{X: []float64{0, 1, 2, 3, 4, 5}, Y: [][]float64{{1, 2, nan, 2, 1, 2}, {5, nan, nan, 4, 6, 5}}}
	m := testkit.Must(Fit(t.Context(), s, Options{Known: true}))(t)
	p := testkit.Must(m.Predict(t.Context(), s.X))(t)
	var square, density float64
	for d := range s.Y {
		for n, y := range s.Y[d] {
			if !math.IsNaN(y) {
				square += (y - p.Mean[d][n]) * (y - p.Mean[d][n]) / 9
				density += p.LogDensity(d, n, y) / 5
			}
		}
	}
	rmse, got, rows, err := m.Score(t.Context(), s)
	if err != nil || rows != 5 || math.Abs(rmse-math.Sqrt(square)) > 1e-12 || math.Abs(got-density) > 1e-12 {
		t.Errorf("RMSE %v, density %v of %d rows, %v; want %v, %v of 5", rmse, got, rows, err, math.Sqrt(square), density)
	}
}
