package features

import (
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/warp"
)

// Settings say how a candidate is laid out as features, and what of it is free.
type Settings struct {
	// Bounds weighs a recipe's candidates by their bounds; else they have the weights that package warp gives them.
	Bounds bool
	// Power multiplies the recipe's temper of a bound: a bound counts every row, where a recipe's evidence counts few.
	Power float64
	// Free is the standard deviation of the log-normal priors, about the start, of the amplitudes and of the noise that are then optimised.
	// 0: the start stays.
	Free float64
	// All optimises every parameter, under the library's weak priors.
	All        bool
	Iterations int // of an optimisation, at most

	Reach float64 // rows on either side of the gap, in orders of the candidate's spectrum
	Fine  float64 // cells for each cycle that fits into the rows and the gap
	Most  int     // cells to keep
	Hide  float64 // share of the power that the other cells may have
	Floor float64 // share of the power that is noise besides
}

// A part is a candidate as features, and what these say of the gap.
type part struct {
	*warp.Candidate
	weight         float64 // in the mixture
	model          *vssgp.Model
	rows           *vssgp.Data // levelled
	at, level      []float64   // of the gap's samples
	jacobian       float64     // −Σ βx_n
	bound          float64     // of the rows
	iterations     int
	mean, variance []float64 // of the gap's samples
}

// lay levels the rows about a gap and lays a candidate's spectrum out. missing are all samples that are not known.
func (set *Settings) lay(c *warp.Candidate, z []float64, gap [2]int, missing []bool) (*part, error) {
	p := &part{Candidate: c, weight: c.Weight}
	start, end := gap[0], gap[1]
	reach := int(math.Ceil(set.Reach * float64(len(c.Model.A)-1)))
	for reach > 0 && !c.Reaches(reach+(end-start+1)/2) {
		reach--
	}
	from, to := max(0, start-reach), min(len(z), end+reach)
	var x, y []float64
	for i := from; i < to; i++ {
		u, level := c.Row(i)
		switch {
		case start <= i && i < end:
			p.at, p.level = append(p.at, u), append(p.level, level)
		case !missing[i]:
			x, y = append(x, u), append(y, z[i]/level)
			p.jacobian -= math.Log(level)
		}
	}
	p.rows = &vssgp.Data{N: len(x), Q: 1, D: 1, X: x, Y: y}
	first, _ := c.Row(from)
	last, _ := c.Row(to - 1)
	cells, rest := spectrum(c.Model, set.Fine*(last-first), set.Most, set.Hide)
	if len(cells) == 0 || len(x) == 0 { // silence, or nothing known
		p.mean, p.variance = make([]float64, end-start), make([]float64, end-start)
		return p, nil
	}
	var err error
	p.model, err = model(cells, last-first, rest, set.Floor)
	return p, err
}

// say optimises what is free and predicts the gap.
func (set *Settings) say(ctx context.Context, p *part) (err error) {
	switch {
	case p.model == nil:
		return nil
	case set.All:
		var result *vssgp.Result
		p.model, result, err = vssgp.Fit(ctx, p.rows, vssgp.Options{From: p.model, Iterations: set.Iterations, Posterior: vssgp.NoPosterior})
		if err != nil {
			return fmt.Errorf("features: everything optimised: %w", err)
		}
		p.iterations = result.Iterations
	case set.Free > 0:
		if p.iterations, err = amplitudes(ctx, p.model, p.rows, set.Free, set.Iterations); err != nil {
			return fmt.Errorf("features: amplitudes optimised: %w", err)
		}
	}
	e, err := p.model.ConditionContext(ctx, p.rows)
	if err != nil {
		return err
	}
	p.bound = e.Bound
	q, err := p.model.PredictRows(p.at, len(p.at))
	if err != nil {
		return err
	}
	p.mean = q.Mean
	for i, sd := range q.SD(true) {
		p.mean[i] *= p.level[i]
		p.variance = append(p.variance, sd*sd*p.level[i]*p.level[i])
	}
	return nil
}
