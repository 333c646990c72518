package vssgp

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/cost"
)

// PredictionPlan is what a Predictor is going to compute and hold, told
// beforehand; counts and bytes are as in Plan.
type PredictionPlan struct {
	Rows, Inputs, Outputs         int // N, Q, D
	Part                          int // of the rows, at work at a time at most
	Windows, Components, Features int // of all windows

	// Flops are of the posterior's covariance and of all rows, which are taken to
	// lie evenly under the windows.
	Flops float64
	// RowBytes are the rows that are in work at a time with their predictions,
	// MatrixBytes the posterior's covariance, once; PeakBytes what the process has
	// in memory at its peak, the model with it, beyond the program itself.
	RowBytes, MatrixBytes, PeakBytes float64
}

// modelCopies is how many sets of parameters there are: the file's, the model's,
// the features and their panels.
const modelCopies = 4

// PredictionPlan is the plan of a Predictor's Each for n rows. Errors wrap
// ErrParams, ErrUnfitted or, of no rows, ErrData.
func (m *Model) PredictionPlan(n int) (*PredictionPlan, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: predict: fit the model, or condition it on data, first: %w", ErrUnfitted)
	}
	if n < 1 {
		return nil, fmt.Errorf("vssgp: plan for the prediction of %d rows, want at least one: %w", n, ErrData)
	}
	p := m.Params
	out := &PredictionPlan{Rows: n, Inputs: p.Q, Outputs: p.D, Windows: p.Windows.Count(), Components: p.L, Features: p.M()}
	offset, q, d := p.Features().Offsets(), float64(p.Q), float64(p.D)
	exact, matrices := m.Inference != Factorised, 0.0
	if exact {
		out.MatrixBytes, matrices = cost.MatrixBytes(offset), 2 // the factor, and a copy to be inverted
		if out.Windows == 1 {
			matrices++ // to invert it in
		}
		out.Flops = cost.Inverse(offset)
	}
	cells := max(1, len(offset)-2)
	for v := range cells {
		rows, features := float64(n)/float64(cells), float64(offset[min(v+2, len(offset)-1)]-offset[v])
		if exact {
			out.Flops += cost.Predict(rows, features, d)
		} else {
			out.Flops += 2 * rows * features * d
		}
	}
	out.Part = min(n, rowsOfPart(p.D)+lastRows)
	numbers := 3*q + d + d*d + 3 // as they came, in the model's units and in order; the predictions; order, place and window
	if out.Windows > 1 {
		numbers += 4 // gates
	}
	out.RowBytes = 8 * float64(out.Part) * numbers
	params := 0
	for _, t := range p.Tensors() {
		params += len(*t.Data)
	}
	held := out.RowBytes + matrices*out.MatrixBytes + 8*modelCopies*float64(params) + tileBytes(offset, out.Part, factorisedRows, exact)
	out.PeakBytes = max(cost.Collected*held, held+out.MatrixBytes)
	return out, nil
}
