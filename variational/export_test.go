package variational

import (
	"math"

	"github.com/vssgp/vssgp/backend"
)

// Exports for package variational_test. Its tests cannot be in this package because
// modeltest, which creates their models, imports it.

const (
	ConditionMargin = conditionMargin
	JitterTimes     = jitterTimes
)

// Workspace contains the memory that evaluations reuse.
type Workspace = workspace

// SwapWorkspace replaces r's workspace and returns the previous one.
func (r *Rows) SwapWorkspace(w Workspace) (was Workspace) {
	was, r.workspace = r.workspace, w
	return was
}

// Difference returns Σ y² − Σ C∘m at p and the bound of its rounding error.
func (r *Rows) Difference(p *Params) (difference, lost float64, err error) {
	f, s := p.Features(), backend.NewSolution(p.M(), r.D)
	if err := r.solve(s, f, 1/p.NoisePrecision[0]); err != nil {
		return 0, 0, err
	}
	product, size := dotExact(s.C, s.Mean)
	s.TraceGram = math.Inf(1)
	return r.square - product, r.lost(f, f.Offsets(), size, s, 1/p.NoisePrecision[0]), nil
}

// Exports for the tests of phases.
var (
	Sincs      = sincs
	SincSlopes = sincSlopes
)
