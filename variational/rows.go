package variational

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// Rows are data that are open on a backend, with the workspace of the evaluations. They must
// not be used by several goroutines at once.
type Rows struct {
	N, D     int // rows and outputs
	Segments int // segments of the exact bound's matrix (WindowOptions.Segments of package vssgp)

	rows      backend.Rows
	ctx       context.Context // checked between passes
	square    float64         // Σ y²
	deep      int             // maximum number of rows in a window, which is the number of terms of its sums
	origin    []float64       // Setting.Origin
	workspace workspace
}

// Setting contains the options of Open.
type Setting struct {
	Backend backend.Backend // stores the rows and computes the passes over them
	// Origin [D] is the offset that has been subtracted from the outputs, in the same units.
	// It determines the size of the outputs' rounding errors. nil means 0.
	Origin []float64
	// Leave allows Open to return before the backend has finished if the context ends. It must
	// only be set if the backend stores its rows only in memory.
	Leave bool
	// Segments is Rows.Segments.
	Segments int
}

// openFlops is the approximate number of operations to prepare a row.
const openFlops = 5e3

// Open opens data in the model's units on a backend. Evaluations stop if ctx ends. Errors
// come from the backend or wrap ctx.Err().
func Open(ctx context.Context, data backend.Data, s Setting) (*Rows, error) {
	r := &Rows{N: data.N, D: data.D, Segments: s.Segments, ctx: cmp.Or(ctx, context.Background()), origin: s.Origin}
	data.Stop = func() error { return r.ctx.Err() }
	var err error
	open := func() {
		r.square, _ = dotExact(data.Y, data.Y)
		r.deep = deepest(&data.Windows, data.X, data.Q)
		r.rows, err = s.Backend.Open(data)
	}
	if !s.Leave {
		open()
	} else if stopped := parallel.Await(r.ctx, openFlops*float64(data.N), open); stopped != nil {
		return nil, fmt.Errorf("interrupted while the data were prepared: %w", stopped)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Close frees the rows on the backend.
func (r *Rows) Close() error {
	r.workspace.release()
	return r.rows.Close()
}

// Finish makes all further evaluations ignore the end of the context that was passed to Open.
func (r *Rows) Finish() { r.ctx = context.WithoutCancel(r.ctx) }

// MeanSquare returns the mean of y².
func (r *Rows) MeanSquare() float64 { return r.square / float64(r.N*r.D) }
