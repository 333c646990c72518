package variational

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// Rows are data that a backend holds, with what the bounds need to know of them
// besides, and the workspace of their evaluations. They are not to be used from
// several goroutines at once.
type Rows struct {
	N, D     int // rows and outputs
	Segments int // into which the exact bound's matrix is cut (Options.Segments of package vssgp)

	rows      spectral.Rows
	ctx       context.Context // looked at between passes
	square    float64         // Σ y²
	deep      int             // the most rows that one window meets: the terms of its sums
	origin    []float64       // [D] what has been subtracted from y, in its units here
	workspace workspace
}

// Setting says how rows are opened.
type Setting struct {
	Backend spectral.Backend // holds the rows and computes the passes over them
	// Origin [D] is what has been subtracted from the outputs, in their units
	// here; it tells how far the outputs' last digits reach. nil: nothing.
	Origin []float64
	// Leave says that the backend holds its rows in memory alone, so that opening
	// them may be left unfinished where the context ends.
	Leave bool
	// Segments is Rows.Segments.
	Segments int
}

// openFlops is about what bringing a row in order takes, as a number of
// operations.
const openFlops = 5e3

// Open brings data in the model's units to a backend, for evaluations that end
// with ctx. Errors are the backend's, or wrap ctx.Err().
func Open(ctx context.Context, data spectral.Data, s Setting) (*Rows, error) {
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

// Close gives back what the backend holds.
func (r *Rows) Close() error {
	r.workspace.release()
	return r.rows.Close()
}

// Finish lets the evaluations from here on run to their end whatever becomes of
// the context that the rows were opened with.
func (r *Rows) Finish() { r.ctx = context.WithoutCancel(r.ctx) }

// MeanSquare is the mean of y².
func (r *Rows) MeanSquare() float64 { return r.square / float64(r.N*r.D) }
