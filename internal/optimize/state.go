package optimize

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// ErrState is wrapped by every error about a State or checkpoint from which a run cannot resume.
var ErrState = fault.New("unusable checkpoint")

// State is the state of a run. A checkpoint stores its arrays as tensors (Arrays) and the rest
// as JSON.
type State struct {
	Stage      int                 `json:"stage"` // index of the stage
	Iterations int                 `json:"iterations"`
	Params     *variational.Params `json:"-"`
	Begun      *variational.Params `json:"-"` // at the beginning of the stage: the coordinates' origin

	Ascent  *lbfgs.State `json:"ascent,omitempty"`  // if a stage by L-BFGS has begun
	Descent *Descent     `json:"descent,omitempty"` // if a stage on mini-batches has begun
}

// Descent is the state of a stage on mini-batches.
type Descent struct {
	RMSProp
	X      []float64 `json:"-"` // coordinates
	Steps  int       `json:"steps"`
	Bound  float64   `json:"bound"`  // running mean of the estimates, valid after a step
	Stream []byte    `json:"stream"` // the state of the generator of mini-batches
}

// Arrays returns the optimizer's arrays by name. It allocates L-BFGS's pairs from their number,
// which is part of the JSON.
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
		return fmt.Errorf("the parameters differ in size from the parameters at the beginning of the stage: %w", ErrState)
	}
	return nil
}
