package optimize

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// Progress describes a run after an iteration.
type Progress struct {
	Stage                 string  // "all", …
	Iteration, Iterations int     // over all stages
	Bound                 float64 // so far, in nats
	Noise                 float64 // τ⁻¹
}

// A Keeper saves States.
type Keeper interface {
	Due() bool           // whether it is time to save a State
	Keep(s *State) error // s is valid until the run goes on
}

// Run is the optimization of the parameters from one initialization.
type Run struct {
	Settings
	Params *variational.Params // changed in place
	Rows   *variational.Rows
	Bound  float64 // so far
	Taken  int     // iterations
	Total  int     // maximum number of iterations of all stages; 0 before Begin
	Kept   bool    // whether the State of an interruption has been given to the Keeper

	Report func(Progress) // if not nil, called after iterations
	Keeper Keeper         // nil: States are not kept
	// Evaluated is called after every evaluation of L-BFGS, if not nil.
	Evaluated func(bound float64)

	ctx     context.Context
	data    backend.Data
	setting variational.Setting
	stages  []stage
	at      int                 // index of the current stage
	stage   stage               // current
	begun   *variational.Params // at the beginning of the stage: the coordinates' origin
	from    *State              // to resume from; nil after that
}

// New returns a run on data in the model's units, with p's windows. Close it after use.
func New(ctx context.Context, data backend.Data, p *variational.Params, setting variational.Setting, s Settings) (*Run, error) {
	s.Inference = cmp.Or(s.Inference, variational.Exact)
	s.PerWindow = cmp.Or(s.PerWindow, PerWindow)
	data.Windows = p.Windows
	rows, err := variational.Open(ctx, data, setting)
	if err != nil {
		return nil, err
	}
	return &Run{Settings: s, Params: p, Rows: rows, Bound: math.Inf(-1), ctx: ctx, data: data, setting: setting}, nil
}

// Close releases the memory of the rows.
func (r *Run) Close() error { return r.Rows.Close() }

func (r *Run) report(noise float64) {
	if r.Report != nil {
		r.Report(Progress{Stage: r.stage.name, Iteration: r.Taken, Iterations: r.Total, Bound: r.Bound, Noise: noise})
	}
}

// Interrupted returns an error that wraps ctx.Err() if ctx has ended, else err.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("fit interrupted: %w", ctx.Err())
	}
	return err
}

// reach returns the maximum distance over which a feature extends along the windows' input (or
// the first), in the model's units: half a window's length, or half the data's range.
func (r *Run) reach() float64 {
	p := r.Params
	if len(p.Windows.Center) > 1 {
		return p.Windows.Length / 2
	}
	lo, hi := r.data.Extent(0)
	if hi > lo {
		return (hi - lo) / 2
	}
	return 1
}

// keep passes a State of the current stage to the Keeper.
func (r *Run) keep(s *State) error {
	if r.Keeper == nil {
		return nil
	}
	r.Kept = r.ctx.Err() != nil
	s.Stage, s.Iterations, s.Params, s.Begun = r.at, r.Taken, r.Params, r.begun
	return r.Keeper.Keep(s)
}

// due reports whether it is time to save a State.
func (r *Run) due() bool { return r.Keeper != nil && r.Keeper.Due() }

// checkPoint returns an error if coordinates give invalid parameters.
func (r *Run) checkPoint(c *Coordinates, v []float64) error {
	at := r.Params.Clone()
	c.write(at, v)
	if err := at.Check(); err != nil {
		return fmt.Errorf("the optimizer's point in the checkpoint: %w: %w", err, ErrState)
	}
	return nil
}
