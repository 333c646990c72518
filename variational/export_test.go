package variational

import (
	"math"

	"github.com/vssgp/vssgp/backend"
)

// What the tests in package variational_test need to see. They are not in this
// package because modeltest, which they draw their models from, imports it.

const (
	ConditionMargin = conditionMargin
	JitterTimes     = jitterTimes
)

// Workspace is what an evaluation leaves to the next one.
type Workspace = workspace

// SwapWorkspace gives r another workspace and returns the one that it had.
func (r *Rows) SwapWorkspace(w Workspace) (was Workspace) {
	was, r.workspace = r.workspace, w
	return was
}

// Difference is Σ y² − Σ C∘m at p, and the most that rounding may have changed
// of it.
func (r *Rows) Difference(p *Params) (difference, lost float64, err error) {
	f, s := p.Features(), backend.NewSolution(p.M(), r.D)
	if err := r.solve(s, f, 1/p.NoisePrecision[0]); err != nil {
		return 0, 0, err
	}
	product, size := dotExact(s.C, s.Mean)
	s.TraceGram = math.Inf(1)
	return r.square - product, r.lost(f, f.Offsets(), size, s, 1/p.NoisePrecision[0]), nil
}

// What the tests of phases see in package variational_test.
var (
	Sincs      = sincs
	SincSlopes = sincSlopes
)
