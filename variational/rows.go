package variational

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// Rows are data that a backend holds, with the sums over them that the bounds need
// and the workspace of their evaluations. They must not be used from several
// goroutines at once.
type Rows struct {
	N, D     int // rows and outputs
	Segments int // into which the exact bound's matrix is cut (WindowOptions.Segments of package vssgp)

	rows      backend.Rows
	ctx       context.Context // checked between passes
	square    float64         // Σ y²
	deep      int             // the most rows that one window meets: the terms of its sums
	origin    []float64       // Setting.Origin
	workspace workspace
}

// Setting says how rows are opened.
type Setting struct {
	Backend backend.Backend // holds the rows and computes the passes over them
	// Origin [D] has been subtracted from the outputs, in the outputs' units here.
	// It decides how large the outputs' last digits are. nil: nothing.
	Origin []float64
	// Leave allows Open to leave its work unfinished if the context ends, as it may
	// if the backend holds its rows in memory alone.
	Leave bool
	// Segments is Rows.Segments.
	Segments int
}

// openFlops is roughly how many operations it takes to prepare a row.
const openFlops = 5e3

// Open brings data in the model's units to a backend, for evaluations that stop if
// ctx ends. Errors are the backend's, or wrap ctx.Err().
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
		return nil, fmt.Errorf("vssgp: interrupted before the data were in order: %w", stopped)
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

// Finish lets all further evaluations run to their end even if the context that the
// rows were opened with ends.
func (r *Rows) Finish() { r.ctx = context.WithoutCancel(r.ctx) }

// MeanSquare is the mean of y².
func (r *Rows) MeanSquare() float64 { return r.square / float64(r.N*r.D) }
