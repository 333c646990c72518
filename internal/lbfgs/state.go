package lbfgs

import (
	"errors"
	"fmt"
	"math"
)

// Func is the function to maximise: its value at x, and its gradient written
// to g. An error means that there is no value there; the line search then
// steps back. Wrap ErrStop to end the maximisation at once instead.
type Func func(x, g []float64) (float64, error)

// ErrStop, wrapped by a Func's error, ends Maximise.
var ErrStop = errors.New("stop")

// State is where a maximisation stands; it can be saved and gone on from. Its
// arrays are saved apart from the JSON of the rest.
type State struct {
	X          []float64   `json:"-"`                   // the best point
	G          []float64   `json:"-"`                   // the gradient there
	F          float64     `json:"value"`               // the value there
	S          [][]float64 `json:"-"`                   // steps, oldest first
	Y          [][]float64 `json:"-"`                   // gradient differences
	Pairs      int         `json:"pairs"`               // of S and Y; for MakePairs
	Steps      int         `json:"steps"`               // taken
	Iterations int         `json:"iterations"`          // of the outer loop, those without a step too
	Stalled    int         `json:"stalled"`             // iterations since the last that gained enough
	PerBlock   *PerBlock   `json:"per_block,omitempty"` // of Settings.Blocks, nil before the first step
}

// MakePairs allocates S and Y for the Pairs of a saved State, unless they are
// there, and reports counts that are not possible.
func (s *State) MakePairs() error {
	if s.Pairs < 0 || s.Pairs > Memory || s.Steps < 0 || s.Iterations < 0 || s.Stalled < 0 {
		return fmt.Errorf("%d pairs of at most %d, %d steps in %d iterations, %d of them stalled: want no negative count and no more pairs than that", s.Pairs, Memory, s.Steps, s.Iterations, s.Stalled)
	}
	if len(s.S) != s.Pairs {
		s.S, s.Y = make([][]float64, s.Pairs), make([][]float64, s.Pairs)
	}
	return nil
}

// Memory is how many pairs of steps and gradient differences are kept.
const Memory = 20

// tooFlat is the relative curvature below which a pair is not kept.
const tooFlat = 1e-16

// PerBlock is the state while each block takes its own steps: by L-BFGS on its own
// coordinates, within its own radius, all blocks in the same evaluation. It can be
// saved with its State.
type PerBlock struct {
	// X is where the blocks step from, and G the gradient there. A block's part is
	// from the last point evaluated if its step was good, else from an earlier one.
	// State.X is the best point evaluated.
	X, G   []float64 `json:"-"`
	Radius []float64 `json:"-"`      // most that a coordinate of each block may move
	Failed int       `json:"failed"` // evaluations since the last that was the best
	Recent []float64 `json:"-"`      // best values of the last evaluations, oldest first
	Over   bool      `json:"over"`   // the blocks gained too little on their own and now step together
}

// push keeps a pair in place of the oldest.
func (s *State) push(step, y []float64) {
	if len(s.S) == Memory {
		s.S, s.Y = s.S[1:], s.Y[1:]
	}
	s.S, s.Y = append(s.S, step), append(s.Y, y)
	s.Pairs = len(s.S)
}

func usable(v float64, g []float64) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	for _, x := range g {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// A Block is some coordinates with a curvature of their own, most of which
// lies within the block: a window's parameters.
type Block struct {
	Own Ranges
	// Shared marks coordinates that affect all blocks (a noise precision). Pairs
	// restricted to them carry no information, so they take their part of the
	// direction of all coordinates together.
	Shared bool
}

// Ranges are coordinates, rising, none twice.
type Ranges []Range

// Range is coordinates [Lo, Hi).
type Range struct{ Lo, Hi int }

// Settings of a maximisation.
type Settings struct {
	Iterations int // at most so many iterations of the outer loop since Start
	// Gain ends the maximisation once the value has risen by less than Gain
	// in each of the last five steps.
	Gain float64
	// Blocks, two or more that own every coordinate once, each take their own
	// steps (PerBlock) for as long as the value rises by PerBlockGain an
	// evaluation; from then on they step together.
	Blocks       []Block
	PerBlockGain float64 // default: Gain
	// Each is called after every step; an error ends the maximisation.
	Each func(s *State) error
}
