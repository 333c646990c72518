package series

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// accepts returns an error if the outputs or regressors of a series differ from the model's.
func (m *Model) accepts(s *Series) error {
	if m.frame == nil {
		return errEmpty
	}
	if err := s.check(); err != nil {
		return err
	}
	if len(s.Y) != m.Outputs() {
		return fault.Errorf(ErrData, "the series has %d outputs, but the model has %d", len(s.Y), m.Outputs())
	}
	var names []string
	for _, r := range s.Regressors {
		names = append(names, r.Name)
	}
	if want := m.Regressors(); !slices.Equal(names, want) {
		return fault.Errorf(ErrData, "regressors are %q, must be %q in this order", names, want)
	}
	return nil
}

// extended returns a layout of the same model whose features are valid on [0, end]. Sidebands are closer, so there are more of them.
func (l *layout) extended(end float64) *layout {
	sides := maps.Clone(l.sides)
	for name, n := range sides {
		sides[name] = int(math.Ceil(float64(n) * end / l.reach))
	}
	longer := newLayout(l.frame, l.parts, end, sides, 0, func(float64) float64 { return 1 })
	for i := range longer.blocks { // the prior of the constant does not change
		longer.blocks[i].amp.factor = l.blocks[i].amp.factor
	}
	return longer
}

// Evaluate returns the log marginal likelihood of a series at the mode of the hyper-parameters, in nats, with the outputs in the model's
// units, on the more probable scale. For the training data it equals Bound, unless the fit was robust: Evaluate treats no value as an
// outlier. It returns an error that wraps ErrData if the outputs or regressors, or the presence of known errors, differ from the training
// data.
func (m *Model) Evaluate(ctx context.Context, s Series) (float64, error) {
	if err := m.accepts(&s); err != nil {
		return 0, err
	}
	if hasErrors := m.frame.Error != nil && m.frame.Counts == nil; (s.Err != nil) != hasErrors {
		known := map[bool]string{true: "with known errors", false: "without known errors"}
		return 0, fault.Errorf(ErrData, "the outputs are %s, but the model was fitted to outputs %s", known[s.Err != nil],
			known[hasErrors])
	}
	if m.frame.Counts != nil {
		if !s.areCounts() {
			return 0, errNotCounts
		}
	} else if m.frame.Log {
		logs, ok := s.logarithm()
		if !ok {
			return 0, errNotPositive
		}
		s = logs
	}
	if _, err := m.open(s.X, s.regressorValues()); err != nil { // for its checks
		return 0, err
	}
	f, l := *m.frame, *m.layout
	f.u, f.y, f.known, f.outlierFactor, f.z = make([]float64, len(s.X)), nil, nil, nil, nil
	end := l.reach
	for n, x := range s.X {
		f.u[n] = f.steps(x)
		end = max(end, f.u[n])
	}
	if end > l.reach {
		l = *m.layout.extended(end)
	}
	l.frame = &f
	for d := range s.Y {
		f.y = append(f.y, standardized(s.Y[d], f.Offset[d], f.Scale[d]))
		if s.Err != nil {
			f.known = append(f.known, f.standardErrors(d, s.Err[d]))
		}
		if f.Counts != nil { // of the working values
			f.known = append(f.known, make([]float64, len(s.X)))
		}
	}
	for j, r := range m.frame.Regressors {
		f.z = append(f.z, r.standard(s.Regressors[j].Values))
	}
	if f.Counts != nil {
		f.Error = slices.Clone(f.Error)
		bound, err := countBound(ctx, &l, s.Y, m.at.Mode)
		if err != nil || m.loaded && math.IsNaN(bound) {
			return 0, m.failed(err)
		}
		return bound, nil
	}
	var e bayes.Evaluation
	if err := newObjective(ctx, &l, m.changed(f.tracks())).evaluate(&e, m.at.Mode); err != nil || m.loaded && math.IsNaN(e.Value) {
		return 0, m.failed(err)
	}
	return e.Value, nil
}

// changed applies the model's volatilities to tracks of other observations.
func (m *Model) changed(tracks []*track) []*track {
	for i, t := range tracks {
		for _, own := range m.tracks {
			if slices.Contains(own.outputs, t.outputs[0]) {
				tracks[i] = t.change(own.volatility)
			}
		}
	}
	return tracks
}

// Score predicts the rows of a series. It returns the RMSE over all values, the mean log predictive density per row in nats, and the
// number of rows with at least one value. It returns the errors of Evaluate and Predict.
func (m *Model) Score(ctx context.Context, s Series) (rmse, density float64, rows int, err error) {
	if err := m.accepts(&s); err != nil {
		return 0, 0, 0, err
	}
	const atOnce = 1 << 16 // rows per batch; bounds the memory for one Gaussian per row and draw
	values := 0
	for lo := 0; lo < len(s.X); lo += atOnce {
		part := s.rows(lo, min(lo+atOnce, len(s.X)))
		p, err := m.Predict(ctx, part.X, part.regressorValues()...)
		if err != nil {
			return 0, 0, 0, err
		}
		for n := range part.X {
			before := values
			for d := range s.Y {
				if y := s.Y[d][lo+n]; !math.IsNaN(y) {
					rmse += (y - p.Mean[d][n]) * (y - p.Mean[d][n])
					density += p.LogDensity(d, n, y)
					values++
				}
			}
			if values > before {
				rows++
			}
		}
	}
	return math.Sqrt(rmse / float64(values)), density / float64(rows), rows, nil
}
