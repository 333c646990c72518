package vssgp

import (
	"cmp"
	"context"
	"time"

	"github.com/vssgp/vssgp/internal/checkpoint"
	"github.com/vssgp/vssgp/internal/optimise"
)

// fit is a fit's starts and the best of them so far.
type fit struct {
	*frame
	ctx    context.Context
	began  time.Time
	starts int
	rough  int // which of them is the rough one, 0: none
	best   *attempt
	failed error // of the last start without a bound
	res    *Result
	writer *checkpoint.Writer // nil: none
}

// place is where a fit begins or goes on: at a start, or within it where a
// checkpoint stands.
type place struct {
	start int
	model *Model          // of the start, where state is given
	state *optimise.State // nil: at its beginning
}

// attempt is what has become of one start.
type attempt struct {
	model      *Model
	final      *Evaluation // at the end, of the model's own inference
	bad        string      // why it is a bad optimum, or nothing
	iterations int
	points     int     // point estimates
	level      float64 // the noise variance that float64 tells from none
}

// extraStarts is how many further starts a fit may add when all collapsed.
const extraStarts = 2

// attempt optimises a start's model and leaves it with its posterior. begun is
// the bound at its parameters, if it is known.
func (f *fit) attempt(m *Model, run *optimise.Run, from *optimise.State, begun *Evaluation) (a *attempt, ended string, err error) {
	a = &attempt{model: m, bad: "the bound could not be evaluated"}
	if err := run.Begin(from); err != nil {
		return a, "", err
	}
	if ended, err = run.Optimise(); run.Steps() > 0 || run.Inference != Exact || begun == nil {
		final, e := run.Evaluate()
		begun, err = final, cmp.Or(err, e)
	}
	if begun == nil {
		return a, ended, err
	}
	a.final, run.Bound = begun, begun.Bound
	a.bad, a.iterations, a.points = run.Collapsed(f.gridStep().Even()), run.Taken, run.PointEstimates()
	a.level = run.Rows.NoiseLevel(m.Params, run.Inference == Exact).At(m.Params)
	m.Inference = Factorised
	if run.Inference == Exact {
		m.adopt(begun)
	}
	if run.Steps() == 0 && err == nil {
		run.Report(optimise.Progress{Bound: run.Bound, Noise: 1 / m.Params.NoisePrecision[0]})
	}
	return a, ended, err
}

// betterThan prefers a start that did not collapse, then the higher bound.
func (a *attempt) betterThan(b *attempt) bool {
	if (a.bad == "") != (b.bad == "") {
		return a.bad == ""
	}
	return a.final.Bound > b.final.Bound
}
