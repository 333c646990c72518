package lbfgs

import (
	"errors"
	"fmt"
)

// Func is the function to maximize. It returns the value at x and writes the gradient to g. An
// error means that the function has no value at x, and the step is shortened. An error that wraps
// ErrStop ends the maximization.
type Func func(x, g []float64) (float64, error)

// ErrStop ends Maximize if a Func's error wraps it.
var ErrStop = errors.New("stop")

// State is the state of a maximization, which can be saved and resumed. Its arrays are saved
// separately from the JSON.
type State struct {
	X          []float64   `json:"-"`     // the best point
	G          []float64   `json:"-"`     // the gradient there
	F          float64     `json:"value"` // the value there
	S          [][]float64 `json:"-"`     // steps, oldest first
	Y          [][]float64 `json:"-"`     // gradient differences
	Pairs      int         `json:"pairs"` // number of pairs in S and Y, for MakePairs
	Steps      int         `json:"steps"`
	Iterations int         `json:"iterations"`          // of the outer loop, with or without a step
	Stalled    int         `json:"stalled"`             // iterations since the last one with sufficient gain
	PerBlock   *PerBlock   `json:"per_block,omitempty"` // for Settings.Blocks; nil before the first step

	ids   []int       // of the pairs
	next  int         // next id
	gram  gram        // inner products of the pairs
	each  []known     // products of the pairs per block
	spare [][]float64 // unused vectors of X's length
}

// vector returns a vector of X's length with arbitrary values.
func (s *State) vector() []float64 {
	if n := len(s.spare); n > 0 {
		v := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return v
	}
	return make([]float64, len(s.X))
}

// release makes vectors available for reuse.
func (s *State) release(v ...[]float64) { s.spare = append(s.spare, v...) }

// MakePairs allocates S and Y of a saved State if they are missing. It returns an error for
// impossible counts.
func (s *State) MakePairs() error {
	if s.Pairs < 0 || s.Pairs > Memory || s.Steps < 0 || s.Iterations < 0 || s.Stalled < 0 {
		return fmt.Errorf("%d pairs of at most %d, %d steps in %d iterations, %d of them stalled: counts must not be negative, and pairs not exceed their maximum", s.Pairs, Memory, s.Steps, s.Iterations, s.Stalled)
	}
	if len(s.S) != s.Pairs {
		s.S, s.Y = make([][]float64, s.Pairs), make([][]float64, s.Pairs)
	}
	return nil
}

// PerBlock is the state while each block takes separate steps: by L-BFGS on its coordinates,
// within its radius, all blocks in the same evaluation. It is saved with its State.
type PerBlock struct {
	// X is the point from which the blocks step, and G its gradient. The part of a block comes
	// from the last evaluation if its step was good, else from an earlier one. State.X is the best
	// point evaluated.
	X, G   []float64 `json:"-"`
	Radius []float64 `json:"-"`      // maximum change of a coordinate, per block
	Failed int       `json:"failed"` // evaluations since the best one
	Recent []float64 `json:"-"`      // best values of the last evaluations, oldest first
	Over   bool      `json:"over"`   // the blocks gained too little separately and now step together
}

// push stores a pair and drops the oldest if there are more than Memory.
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

// pairs returns S and Y with ids, which a State that was read does not have yet.
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

// Settings specify a maximization.
type Settings struct {
	Iterations int // maximum number since Start
	// Gain ends the maximization once each of the last five steps has gained less.
	Gain float64
	// Rise ends a line search that has failed so far and predicts a smaller rise, where differences
	// of values are rounding errors.
	Rise float64
	// Blocks are at least two blocks that contain every coordinate once. They take separate steps
	// (PerBlock) while the gain per evaluation is at least PerBlockGain, and step together
	// afterwards.
	Blocks       []Block
	PerBlockGain float64 // default: Gain
	// Each is called after every step; an error ends the maximization.
	Each func(s *State) error
}
