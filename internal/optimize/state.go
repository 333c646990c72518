package optimize

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// ErrState is wrapped by every error about a State, or its checkpoint, from which a run cannot
// resume.
var ErrState = errors.New("unusable checkpoint")

// State is the state of a run. A checkpoint stores its arrays as tensors (Arrays) and the rest
// as JSON.
type State struct {
	Stage      int                 `json:"stage"`      // the place among the stages
	Iterations int                 `json:"iterations"` // taken
	Params     *variational.Params `json:"-"`
	Begun      *variational.Params `json:"-"` // at the beginning of the stage: the coordinates' origin

	Ascent  *lbfgs.State `json:"ascent,omitempty"`  // of a stage by L-BFGS that has begun
	Descent *Descent     `json:"descent,omitempty"` // of a stage on mini-batches that has begun
}

// Descent is the state of a stage on mini-batches.
type Descent struct {
	RMSProp
	X      []float64 `json:"-"`      // coordinates
	Steps  int       `json:"steps"`  // taken
	Bound  float64   `json:"bound"`  // the running mean of its estimates, after a step
	Stream []byte    `json:"stream"` // the state of the generator of mini-batches
}

// Arrays returns the optimizer's arrays by their names. It allocates the list of
// L-BFGS's pairs, whose number JSON has.
func (s *State) Arrays() (map[string]*[]float64, error) {
	all := map[string]*[]float64{}
	if st := s.Ascent; st != nil {
		if err := st.MakePairs(); err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrState)
		}
		all["ascent.x"], all["ascent.gradient"] = &st.X, &st.G
		for i := range st.S {
			all[fmt.Sprintf("ascent.step.%02d", i)], all[fmt.Sprintf("ascent.difference.%02d", i)] = &st.S[i], &st.Y[i]
		}
		if a := st.PerBlock; a != nil && !a.Over {
			all["apart.x"], all["apart.gradient"], all["apart.radius"], all["apart.recent"] = &a.X, &a.G, &a.Radius, &a.Recent
		}
	}
	if d := s.Descent; d != nil {
		all["descent.x"], all["descent.square"], all["descent.rate"], all["descent.last"] = &d.X, &d.Square, &d.Rate, &d.Last
	}
	return all, nil
}

// Check returns an error if no run can have this State.
func (s *State) Check() error {
	switch {
	case s.Stage < 0 || s.Iterations < 0:
		return fmt.Errorf("stage %d, iteration %d: neither may be negative: %w", s.Stage, s.Iterations, ErrState)
	case s.Begun != nil && !s.Begun.Alike(s.Params):
		return fmt.Errorf("its parameters do not have the sizes of those that the stage began with: %w", ErrState)
	}
	return nil
}
