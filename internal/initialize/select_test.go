package initialize

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/variational"
)

// A tableEvaluator returns a score for each K and kind of frequencies.
type tableEvaluator struct {
	scorer
	bound func(k int, points bool) (float64, error)
	ratio func(k int, points bool) float64 // squared error relative to the variance; nil: 1
	least int                              // number of rows that it was asked to condition on
}

func (j *tableEvaluator) Optimized(_ context.Context, d backend.Data, p *variational.Params, _ int) (float64, error) {
	j.tried = append(j.tried, variational.ShapeOf(p))
	p.Lengthscale[0] = 77
	v, err := j.bound(p.K, p.FreqVar[0] == 0)
	return v * float64(len(d.Y)), err
}

func (j *tableEvaluator) Predicted(_ context.Context, known, asked backend.Data, p *variational.Params) (square, variance float64, err error) {
	j.least = known.N
	n := float64(len(asked.Y))
	if j.ratio != nil {
		return j.ratio(p.K, p.FreqVar[0] == 0) * n, n, nil
	}
	return n, n, nil
}

func tableOf(n int) *backend.Data {
	d := &backend.Data{N: n, Q: 2, D: 1}
	for i := range n {
		d.X = append(d.X, float64(i), math.Sin(float64(i)))
		d.Y = append(d.Y, math.Cos(float64(i)))
	}
	return d
}

// TestSelectsFeaturesAndFrequencies checks the selected K and frequencies, and the settings that are tried.
func TestSelectsFeaturesAndFrequencies(t *testing.T) {
	large := errors.New("too large")
	rises := func(k int, _ bool) (float64, error) { return math.Log(float64(k)), nil }
	for name, c := range map[string]struct {
		rows   int
		method variational.Method
		bound  func(k int, points bool) (float64, error)
		ratio  func(k int, points bool) float64
		refuse func(variational.Shape) error
		k      int
		points bool
		tried  []int
	}{
		"drawn, fewer where the bound falls": {100, "", func(k int, points bool) (float64, error) {
			return -float64(k) - map[bool]float64{false: 900}[points], nil
		}, nil, nil, 100, true, []int{100, 400, 50}},
		"more where it falls by the scatter of draws": {100, "", func(k int, points bool) (float64, error) {
			return map[int]float64{100: 1, 400: 0.85}[k] - map[bool]float64{false: 9}[points], nil
		}, nil, nil, 400, true, []int{100, 400, 50}},
		"two falls end it": {5000, "", func(int, bool) (float64, error) { return 0, nil }, func(k int, points bool) float64 {
			return 1 + float64(k)/1000 + map[bool]float64{false: 1}[points]
		}, nil, 50, true, []int{50, 100, 200, 50, 100, 200}},
		"a rise too small is kept, and ends it": {100, variational.VSSGP, func(k int, _ bool) (float64, error) { return 1e-5 * float64(k), nil },
			nil, nil, 100, false, []int{50, 100}},
		"learned where that is better": {100, "", func(k int, points bool) (float64, error) {
			return -math.Abs(float64(k-100)) + map[bool]float64{false: 500}[points], nil
		}, nil, nil, 100, false, []int{100, 400, 50, 100, 200}},
		"the method asked for alone": {100, variational.VSSGP, rises, nil, nil, 400, false, []int{50, 100, 200, 400}},
		"a setting without a bound": {100, "", func(k int, points bool) (float64, error) {
			if points {
				return 0, variational.ErrBound
			}
			return rises(k, points)
		}, nil, nil, 400, false, []int{100, 400, 50, 100, 200, 400}},
		"sure of what it does not know": {100, "", rises, func(_ int, points bool) float64 { return map[bool]float64{true: 5, false: 1}[points] },
			nil, 400, false, []int{100, 400, 50, 100, 200, 400}},
		"all of them": {100, "", rises, func(int, bool) float64 { return 5 }, nil, 50, false, []int{100, 400, 50}},
		"memory": {100, variational.VSSGP, rises, nil, func(s variational.Shape) error {
			if s.K > 100 {
				return large
			}
			return nil
		}, 100, false, []int{50, 100}},
		"held-out rows of many": {5000, "", func(int, bool) (float64, error) { return 0, nil },
			func(k int, points bool) float64 { return math.Abs(float64(k)-800)/1000 + 1 }, nil, 800, true, []int{50, 100, 200, 400, 800, 50, 100, 200, 400}},
	} {
		t.Run(name, func(t *testing.T) {
			evaluator := &tableEvaluator{scorer: scorer{refuse: c.refuse, t: t}, bound: c.bound, ratio: c.ratio}
			scales := [][]float64{{1, 1}}
			p := testkit.Must(Select(t.Context(), tableOf(c.rows), Settings{
				Method: c.method, Lengthscales: scales, Frequencies: [][]float64{{0, 0}},
			}, evaluator))(t)
			var tried []int
			for _, s := range evaluator.tried {
				tried = append(tried, s.K)
			}
			if p.K != c.k || (p.FreqVar[0] == 0) != c.points || !slices.Equal(tried, c.tried) {
				t.Errorf("K = %d, points %v, tried %v; want %d, %v, %v", p.K, p.FreqVar[0] == 0, tried, c.k, c.points, c.tried)
			}
			if (p.Lengthscale[0] == 77) != c.points {
				t.Errorf("length-scale %v: only drawn frequencies keep the parameters of the trial", p.Lengthscale[0])
			}
			if want := min(c.rows-c.rows/10, selectRows); evaluator.least != want {
				t.Errorf("conditioned on %d rows, want %d", evaluator.least, want)
			}
		})
	}
	evaluator := &tableEvaluator{scorer: scorer{refuse: func(variational.Shape) error { return large }, t: t}}
	if _, err := Select(t.Context(), tableOf(50), Settings{Lengthscales: [][]float64{{1, 1}}, Frequencies: [][]float64{{0, 0}}}, evaluator); !errors.Is(err, large) {
		t.Errorf("error %v, want the error of the evaluator", err)
	}
}
