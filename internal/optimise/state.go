package optimise

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// ErrState is wrapped by every error about a State, or the checkpoint that it
// comes from, that a run cannot go on from.
var ErrState = errors.New("unusable checkpoint")

// State is where a run stands. Its arrays have names of their own in a
// checkpoint (EachArray); the rest goes there as JSON.
type State struct {
	Stage      int                 `json:"stage"`      // the place among the stages
	Iterations int                 `json:"iterations"` // taken
	Params     *variational.Params `json:"-"`
	Begun      *variational.Params `json:"-"` // at the beginning of the stage: the coordinates' origin

	Ascent  *lbfgs.State `json:"ascent,omitempty"`  // of a stage by L-BFGS that has begun
	Descent *Descent     `json:"descent,omitempty"` // of a stage on mini-batches that has begun
}

// Descent is where a stage on mini-batches stands.
type Descent struct {
	RMSProp
	X      []float64 `json:"-"`      // coordinates
	Steps  int       `json:"steps"`  // taken
	Bound  float64   `json:"bound"`  // the running mean of its estimates, after a step
	Stream []byte    `json:"stream"` // the state of the generator of mini-batches
}

// EachArray calls do with the optimiser's arrays and their names, and makes
// room for the pairs that L-BFGS has; an error of do ends it.
func (s *State) EachArray(do func(name string, a *[]float64) error) error {
	type array struct {
		name string
		data *[]float64
	}
	var all []array
	if st := s.Ascent; st != nil {
		if err := st.MakePairs(); err != nil {
			return fmt.Errorf("%w: %w", err, ErrState)
		}
		all = append(all, array{"ascent.x", &st.X}, array{"ascent.gradient", &st.G})
		for i := range st.S {
			all = append(all, array{fmt.Sprintf("ascent.step.%02d", i), &st.S[i]}, array{fmt.Sprintf("ascent.difference.%02d", i), &st.Y[i]})
		}
		if a := st.PerBlock; a != nil && !a.Over {
			all = append(all, array{"apart.x", &a.X}, array{"apart.gradient", &a.G}, array{"apart.radius", &a.Radius}, array{"apart.recent", &a.Recent})
		}
	}
	if d := s.Descent; d != nil {
		all = append(all, array{"descent.x", &d.X}, array{"descent.square", &d.Square}, array{"descent.rate", &d.Rate}, array{"descent.last", &d.Last})
	}
	for _, a := range all {
		if err := do(a.name, a.data); err != nil {
			return err
		}
	}
	return nil
}

// Check reports a State that no run has left.
func (s *State) Check() error {
	switch {
	case s.Stage < 0 || s.Iterations < 0:
		return fmt.Errorf("stage %d, iteration %d: neither may be negative: %w", s.Stage, s.Iterations, ErrState)
	case s.Begun != nil && !s.Begun.Alike(s.Params):
		return fmt.Errorf("its parameters do not have the sizes of those that the stage began with: %w", ErrState)
	}
	return nil
}
