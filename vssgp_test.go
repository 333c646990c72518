package vssgp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// kind is modeltest's.
type kind = modeltest.Kind

// made draws a kind's model and its data.
func made(c kind) (*Params, *Data) {
	p, d := c.Make()
	return p, &Data{N: d.N, Q: d.Q, D: d.D, X: d.X, Y: d.Y}
}

// mustModel is NewModel where the parameters are known to be good.
func mustModel(t testing.TB, p *Params) *Model {
	t.Helper()
	m, err := NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// conditioned is an exact model with its posterior given data.
func conditioned(t testing.TB, p *Params, data *Data) *Model {
	t.Helper()
	m := mustModel(t, p.Clone())
	if _, err := m.Condition(context.Background(), data); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBadData(t *testing.T) {
	two := []float64{0, 0}
	for name, f := range map[string]func() error{
		"rows differ": func() error { _, err := NewData(2, two, []float64{1, 2, 3}); return err },
		"not a number": func() error {
			_, err := NewData(1, []float64{math.NaN()}, two)
			return err
		},
		"infinite output":     func() error { _, err := NewData(2, two, []float64{0, math.Inf(-1)}); return err },
		"no rows":             (&Data{Q: 1, D: 1}).Check,
		"no inputs":           (&Data{N: 1, D: 1, Y: []float64{1}}).Check,
		"no outputs":          (&Data{N: 1, Q: 1, X: []float64{1}}).Check,
		"ragged":              (&Data{N: 2, Q: 1, D: 1, X: []float64{1, 2}, Y: []float64{1}}).Check,
		"another model's":     badEvaluate(t, 2, 1, Exact, nil),
		"another D":           badEvaluate(t, 1, 2, Exact, nil),
		"exact on mini-batch": badEvaluate(t, 1, 1, Exact, []int{0}),
	} {
		if err := f(); !errors.Is(err, ErrData) {
			t.Errorf("%s: error %v, want one that wraps ErrData", name, err)
		}
	}
	if err := badEvaluate(t, 1, 1, Factorized, []int{0, 5})(); !errors.Is(err, backend.ErrValue) {
		t.Errorf("row 5 of 5: error %v, want one that wraps ErrValue", err)
	}
}

// badEvaluate evaluates a model of one input and output on 5 rows of other
// sizes.
func badEvaluate(t *testing.T, q, d int, inference Inference, rows []int) func() error {
	p, _ := made(modeltest.FindKind(t, "one feature"))
	return func() error {
		data := &Data{N: 5, Q: q, D: d, X: make([]float64, 5*q), Y: make([]float64, 5*d)}
		_, err := mustModel(t, p).Evaluate(t.Context(), data, inference, rows, false)
		return err
	}
}

func TestUnfitted(t *testing.T) {
	p, data := made(modeltest.FindKind(t, "two components"))
	p.CoefMean, p.CoefVar = nil, nil
	m := mustModel(t, p)
	x := make([]float64, 1)
	for name, f := range map[string]func() error{
		"Predict":      func() error { _, err := m.Predict(t.Context(), x); return err },
		"PredictJoint": func() error { _, _, err := m.PredictJoint(t.Context(), x); return err },
		"Draw":         func() error { _, err := m.Draw(t.Context(), x, 1, 1); return err },
		"Coefficients": func() error { _, _, err := m.Coefficients(); return err },
		"Evaluate":     func() error { _, err := m.Evaluate(t.Context(), data, Factorized, nil, false); return err },
	} {
		if err := f(); !errors.Is(err, ErrUnfitted) {
			t.Errorf("%s: error %v, want one that wraps ErrUnfitted", name, err)
		}
	}
}
