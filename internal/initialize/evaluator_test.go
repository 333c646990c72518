package initialize

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// A scorer is an Evaluator that calls functions of the parameters. It accepts every shape and
// records its calls.
type scorer struct {
	score   func(p *variational.Params) (float64, error) // the bound and the criterion; nil: must not be called
	predict func(p *variational.Params) (square, variance float64)
	refuse  func(shape variational.Shape) error

	t      *testing.T
	bounds []*variational.Evaluation // returned
	tried  []variational.Shape       // scored
	asked  []backend.Data            // predicted
	shapes []variational.Shape       // checked
	bytes  float64                   // checked by FitsInitialization
	room   float64                   // maximum of bytes; 0: none
}

var _ Evaluator = &scorer{}

func (s *scorer) scored(p *variational.Params) (float64, error) {
	if s.score == nil {
		s.t.Error("the bound is evaluated although there is no choice")
		return 0, nil
	}
	s.tried = append(s.tried, variational.ShapeOf(p))
	return s.score(p)
}

func (s *scorer) Bound(_ context.Context, _ backend.Data, p *variational.Params) (*variational.Evaluation, error) {
	v, err := s.scored(p)
	if err != nil {
		return nil, err
	}
	e := &variational.Evaluation{Bound: v}
	s.bounds = append(s.bounds, e)
	return e, nil
}

func (s *scorer) Optimized(_ context.Context, _ backend.Data, p *variational.Params, iterations int) (float64, error) {
	if iterations != choiceIterations {
		s.t.Errorf("the criterion is computed after %d iterations, want %d", iterations, choiceIterations)
	}
	return s.scored(p)
}

func (s *scorer) Predicted(_ context.Context, known, asked backend.Data, p *variational.Params) (square, variance float64, err error) {
	if s.predict == nil {
		s.t.Error("a noise level is tried although it is given")
		return 0, 0, nil
	}
	s.asked = append(s.asked, asked)
	square, variance = s.predict(p)
	return square, variance, nil
}

func (s *scorer) Fits(shape variational.Shape) error {
	s.shapes = append(s.shapes, shape)
	if s.refuse != nil {
		return s.refuse(shape)
	}
	return nil
}

func (s *scorer) FitsInitialization(bytes float64) error {
	s.bytes = bytes
	if s.room > 0 && bytes > s.room {
		return errTooLarge
	}
	return nil
}

var errTooLarge = errors.New("too large")

// begin returns the spectral initialization of rows.
func begin(t *testing.T, d *backend.Data, set Settings, evaluator Evaluator) (*variational.Params, *variational.Evaluation) {
	t.Helper()
	p, begun, err := seriesOf(d).Spectrum(t.Context(), set, evaluator)
	testkit.OK(t, err)
	testkit.OK(t, p.Check())
	return p, begun
}

// seriesOf returns rows as a Series on their grid.
func seriesOf(d *backend.Data) *Series { return NewSeries(*d, GridOf(d.X, d.Q)) }

// series returns rows of d outputs with a step of 1, which are even if band is 0.
func series(x, y []float64, d int, band float64) *Series {
	return NewSeries(backend.Data{N: len(x), Q: 1, D: d, X: x, Y: y}, Grid{Step: 1, Band: band})
}

// gappy returns rows of which some intervals are missing.
func gappy(n int) *backend.Data {
	all, d := modeltest.Tones(n, 0), &backend.Data{Q: 1, D: 1}
	for i := range n {
		if i%100 < 92 {
			d.Add(all, i)
		}
	}
	return d
}

// uneven returns rows with varying steps.
func uneven(n int) *backend.Data {
	d := modeltest.Tones(n, 0)
	for i := range d.X {
		d.X[i] += 0.4 * math.Sin(float64(i*i))
	}
	return d
}
