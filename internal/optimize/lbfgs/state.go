package lbfgs

import (
	"errors"
	"fmt"
)

// Func is the function to maximize: it returns the value at x and writes the
// gradient to g. An error means that the function has no value there, and the
// search steps back. An error that wraps ErrStop ends the maximization at once.
type Func func(x, g []float64) (float64, error)

// ErrStop, wrapped by a Func's error, ends Maximize.
var ErrStop = errors.New("stop")

// State is the state of a maximization; one that is saved can be resumed. Its
// arrays are saved apart from the JSON of the rest.
type State struct {
	X          []float64   `json:"-"`                   // the best point
	G          []float64   `json:"-"`                   // the gradient there
	F          float64     `json:"value"`               // the value there
	S          [][]float64 `json:"-"`                   // steps, oldest first
	Y          [][]float64 `json:"-"`                   // gradient differences
	Pairs      int         `json:"pairs"`               // of S and Y; for MakePairs
	Steps      int         `json:"steps"`               // taken
	Iterations int         `json:"iterations"`          // of the outer loop, with or without a step
	Stalled    int         `json:"stalled"`             // iterations since the last one that gained enough
	PerBlock   *PerBlock   `json:"per_block,omitempty"` // of Settings.Blocks, nil before the first step

	ids   []int       // of the pairs
	next  int         // id
	gram  gram        // of the pairs
	each  []known     // of each block's
	spare [][]float64 // vectors as long as X that nothing refers to any more
}

// vector is as long as X; its values are arbitrary.
func (s *State) vector() []float64 {
	if n := len(s.spare); n > 0 {
		v := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return v
	}
	return make([]float64, len(s.X))
}

// release leaves vectors to the next steps.
func (s *State) release(v ...[]float64) { s.spare = append(s.spare, v...) }

// MakePairs allocates S and Y for the Pairs of a saved State, unless they are
// there, and reports impossible counts.
func (s *State) MakePairs() error {
	if s.Pairs < 0 || s.Pairs > Memory || s.Steps < 0 || s.Iterations < 0 || s.Stalled < 0 {
		return fmt.Errorf("%d pairs of at most %d, %d steps in %d iterations, %d of them stalled: counts must not be negative, and pairs not exceed their maximum", s.Pairs, Memory, s.Steps, s.Iterations, s.Stalled)
	}
	if len(s.S) != s.Pairs {
		s.S, s.Y = make([][]float64, s.Pairs), make([][]float64, s.Pairs)
	}
	return nil
}

// PerBlock is the state while each block takes its own steps: by L-BFGS on its own
// coordinates, within its own radius, all blocks in the same evaluation. It is
// saved with its State.
type PerBlock struct {
	// X is where the blocks step from, and G the gradient there. A block's part is
	// from the last point evaluated if its step was good, else from an earlier one.
	// State.X is the best point evaluated.
	X, G   []float64 `json:"-"`
	Radius []float64 `json:"-"`      // the most that a coordinate of each block may move
	Failed int       `json:"failed"` // evaluations since the best one
	Recent []float64 `json:"-"`      // best values of the last evaluations, oldest first
	Over   bool      `json:"over"`   // the blocks gained too little on their own and now step together
}

// push keeps a pair in place of the oldest.
func (s *State) push(step, y []float64) {
	if len(s.S) == Memory {
		s.release(s.S[0], s.Y[0])
		s.S, s.Y = s.S[1:], s.Y[1:]
	}
	s.S, s.Y = append(s.S, step), append(s.Y, y)
	s.Pairs = len(s.S)
	s.ids = append(s.ids, s.next)
	s.ids = s.ids[max(0, len(s.ids)-s.Pairs):]
	s.next++
}

// pairs returns S and Y, and allocates them in a State that was read.
func (s *State) pairs() pairs {
	if len(s.ids) != len(s.S) {
		s.ids = nil
		for range s.S {
			s.ids = append(s.ids, s.next)
			s.next++
		}
	}
	return pairs{s.S, s.Y, s.ids}
}

// Settings of a maximization.
type Settings struct {
	Iterations int // at most so many iterations of the outer loop since Start
	// Gain ends the maximization once the value has risen by less than Gain
	// in each of the last five steps.
	Gain float64
	// Blocks, two or more that own every coordinate once, each take their own
	// steps (PerBlock) for as long as the value rises by PerBlockGain an
	// evaluation; from then on they step together.
	Blocks       []Block
	PerBlockGain float64 // default: Gain
	// Each is called after every step; an error ends the maximization.
	Each func(s *State) error
}
