package vssgp

import (
	"context"
	"errors"
	"math"
	"math/bits"
)

// What evidence chooses from, and on how much of the data: see DESIGN.md,
// "Which windows?".
const (
	// evidenceExcerpts stretches of evidenceWindows of the longest windows each
	// stand for data more than twice as long.
	evidenceExcerpts = 8
	evidenceWindows  = 4
	// evidenceIterations are taken before settings that will be optimised are
	// compared.
	evidenceIterations = 10
	// evidencePairs is K of the one setting that has more than a cosine and a
	// sine a component, of half the components.
	evidencePairs = 2 * spectrumFeatures
)

// A setting is what evidence chooses where the options leave it open.
type setting struct {
	length     float64 // of the windows in the model's units; 0: none
	components int     // of a window at most; 0: as many as the start lays
	features   int     // K; 0: the start's
}

// put is the options with the setting.
func (s setting) put(o Options) Options {
	o.most, o.Features = s.components, s.features
	return o
}

// trials compares settings on parts of the data.
type trials struct {
	ctx   context.Context
	model *Model
	o     Options
	parts []trialPart
	whole bool // the one part is all of the data

	best     setting
	laid     int // the components of one of its windows
	evidence float64
	begun    *Evaluation // of the best: the bound of its starting values on all data
}

// trialPart is a stretch of the data.
type trialPart struct {
	data *Data
	grid *grid
}

// choose is the setting of highest evidence, and the bound of its starting
// values if that was looked at on all data. First the windows' length at the
// default number of components, then, if they are to be optimised, twice or
// halves as many, then more features a component.
func (m *Model) choose(ctx context.Context, data *Data, g *grid, lengths []float64, o Options) (setting, *Evaluation, error) {
	t := &trials{ctx: ctx, model: m, o: o, evidence: math.Inf(-1)}
	t.parts, t.whole = m.excerpts(data, g, lengths)
	optimised := o.Iterations != NoIterations
	first := func(length float64) setting {
		return setting{length, o.mostCells(g.steps(length)), o.Features}
	}
	t.best = first(lengths[0])
	if len(lengths) == 1 && !optimised {
		return t.best, nil, nil
	}
	for _, length := range lengths {
		if _, err := t.try(first(length)); err != nil {
			return t.best, nil, err
		}
	}
	var err error
	if optimised && o.Components == 0 {
		err = t.chooseComponents(g)
	}
	if optimised && o.Features == 0 && err == nil {
		more := t.best
		more.features = evidencePairs
		if o.Components == 0 {
			more.components = max(1, t.laid*spectrumFeatures/evidencePairs)
		}
		_, err = t.try(more)
	}
	return t.best, t.begun, err
}

// chooseComponents tries twice as many, unless the spectrum has no more to lay,
// and else half as many for as long as that is better.
func (t *trials) chooseComponents(g *grid) error {
	s := t.best
	if twice := min(2*s.components, g.cellCount(g.steps(s.length))); t.laid == s.components && twice > s.components {
		s.components = twice
		if better, err := t.try(s); better || err != nil {
			return err
		}
	}
	for s.components = t.laid / 2; s.components > 0; s.components = t.laid / 2 {
		if better, err := t.try(s); !better || err != nil {
			return err
		}
	}
	return nil
}

// mostTried is how many settings choose tries of so many lengths, and how many
// components a window of steps has in one of them, at most.
func (g *grid) mostTried(o *Options, lengths int, steps float64) (settings, components int) {
	settings, components = lengths, min(o.mostCells(steps), g.cellCount(steps))
	if o.Iterations == NoIterations {
		if lengths == 1 {
			settings = 0
		}
		return settings, components
	}
	if o.Components == 0 {
		settings += bits.Len(uint(components)) // twice, or half again and again
		components = min(2*components, g.cellCount(steps))
	}
	if o.Features == 0 {
		settings++
	}
	return settings, components
}

// try takes a setting's evidence and keeps it if it is the best. A setting
// that has no bound is none.
func (t *trials) try(s setting) (better bool, err error) {
	sum, laid, begun := 0.0, 0, (*Evaluation)(nil)
	for _, part := range t.parts {
		if err := t.ctx.Err(); err != nil {
			return false, interrupted(t.ctx, err)
		}
		p := t.start(part, s)
		e, v, err := t.on(part, s, p)
		if errors.Is(err, ErrBound) && t.ctx.Err() == nil {
			return false, nil
		}
		if err != nil {
			return false, interrupted(t.ctx, err)
		}
		sum += v
		begun = e
		windows := p.Windows.Count()
		laid = max(laid, (p.L+windows-1)/windows)
	}
	if !(sum > t.evidence) {
		return false, nil
	}
	t.best, t.laid, t.evidence, t.begun = s, laid, sum, nil
	if t.whole {
		t.begun = begun
	}
	return true, nil
}

// start is a setting's starting values for a part of the data.
func (t *trials) start(part trialPart, s setting) *Params {
	return part.grid.start(t.ctx, t.model, s.length, spectrumFloors[0], s.put(t.o))
}

// on is a setting's evidence on a part of the data: the bound of its starting
// values p, or where they will be optimised the bound after some iterations less
// one for each number that is estimated by a point, about what it gains on the
// data that it was chosen for beyond what it gains on others (Akaike 1974): the
// bound integrates over frequencies and coefficients alone.
func (t *trials) on(part trialPart, s setting, p *Params) (*Evaluation, float64, error) {
	o := s.put(t.o)
	try := *t.model
	try.Params = p
	if o.Iterations == NoIterations {
		h, err := try.hold(part.data)
		if err != nil {
			return nil, 0, err
		}
		defer h.close()
		h.ctx = t.ctx
		e, err := h.exact(try.Params, false)
		if err != nil {
			return nil, 0, err
		}
		return e, e.Bound, nil
	}
	o.Iterations, o.Inference, o.Progress, o.Keep = evidenceIterations, Exact, nil, nil
	f, err := newFitting(t.ctx, &try, part.data, o)
	if err != nil {
		return nil, 0, err
	}
	defer f.close()
	if _, err := f.run(); err != nil {
		return nil, 0, err
	}
	return nil, f.bound - float64(f.pointEstimates()), nil
}

// pointEstimates is how many numbers of the covariance the fit estimates by a
// point.
func (f *fitting) pointEstimates() int {
	free := f.unfixed(hyper)
	if f.model.Params.FreqVar[0] == 0 && f.o.Method == SSGP {
		free = append(free, "frequency.mean")
	}
	return newChart(f.model.Params, free, f.o.ties(), f.reach()).n
}

// excerpts are stretches of the data, evenly spread, or all of them if they
// are not much longer.
func (m *Model) excerpts(data *Data, g *grid, lengths []float64) (parts []trialPart, whole bool) {
	places, length := len(g.missing), g.excerpt(lengths)
	if length == places {
		return []trialPart{{data, g}}, true
	}
	at := make([]int, evidenceExcerpts)
	for i := range at {
		at[i] = (2*i + 1) * (places - length) / (2 * evidenceExcerpts)
		parts = append(parts, trialPart{&Data{Q: data.Q, D: data.D}, g.cut(at[i], at[i]+length)})
	}
	stride := (places - length) / evidenceExcerpts
	for n, x := range m.X.ToModel(data.X) {
		place := g.place(x)
		i := min(max(0, (place-at[0])/stride), evidenceExcerpts-1)
		if place < at[i] || place >= at[i]+length {
			continue
		}
		d := parts[i].data
		d.N++
		d.X = append(d.X, data.X[n])
		d.Y = append(d.Y, data.Y[n*data.D:(n+1)*data.D]...)
	}
	some := parts[:0]
	for _, p := range parts {
		if p.data.N > 0 {
			some = append(some, p)
		}
	}
	return some, false
}

// excerpt is how many places each of the excerpts has on which these lengths
// are tried, rising; all, if the data are not much longer than the excerpts.
func (g *grid) excerpt(lengths []float64) int {
	longest := lengths[len(lengths)-1]
	n := evidenceWindows * int(math.Ceil(g.steps(longest)))
	if longest == 0 || len(g.missing) <= 2*evidenceExcerpts*n {
		return len(g.missing)
	}
	return n
}
