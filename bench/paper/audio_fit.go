package paper

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/impute"
)

// A variant is a model and its start: what one line is made by, but for data
// and seed.
type variant struct {
	method, start string
	options       vssgp.Options
}

// A task is a signal with gaps for methods to fill.
type task struct {
	*signal
	gaps  []audio.Gap
	key   Key // but for method, start and K
	log   io.Writer
	curve bool // keep what the methods say, for figures
}

// task draws the gaps of a seed.
func (s *session) task(set string, g *signal, seed uint64, count, length int) (*task, error) {
	gaps, err := g.gaps(seed, count, length)
	return &task{signal: g, gaps: gaps, key: Key{Set: set, Quick: s.Quick, Seed: seed}, log: s.log}, err
}

// repeats is how many seeds to run where the set's own number is n.
func (s *session) repeats(n int) uint64 {
	switch {
	case s.Seeds > 0:
		return uint64(s.Seeds)
	case s.Quick:
		return uint64(min(n, 2))
	}
	return uint64(n)
}

// named is the key of one of the task's lines.
func (t *task) named(method, start string) Key {
	k := t.key
	k.Method, k.Start = method, start
	return k
}

// features is the fit of a variant; k is what goes into the key as K, 0 where
// it does not vary.
func (t *task) features(v variant, k int) fit {
	key := t.named(v.method, v.start)
	key.K = k
	o := v.options
	o.Seed = key.Seed
	return t.model(key, func(report func(vssgp.Progress)) baseline.Method {
		o.Progress = report
		return baseline.Features{Options: o}
	})
}

// model is the fit of a method; make gets the function to report to.
func (t *task) model(key Key, make func(report func(vssgp.Progress)) baseline.Method) fit {
	return fit{line: t.line(key, t.gaps), run: func(ctx context.Context, l *Line) error {
		data, err := t.observed(t.gaps)
		if err != nil {
			return err
		}
		c := clock{log: t.log, key: l.Key}
		f, err := make(c.report).Fit(ctx, data)
		if err != nil {
			return err
		}
		if err := l.fill(f, data, nil); err != nil {
			return err
		}
		p, err := f.Model.Predict(column(t.grid()))
		if err != nil {
			return err
		}
		t.keep(l, p.Mean, p.SD(true))
		l.M = size(f.Model)
		if perStep, ok := c.perStep(); ok {
			l.Scores[StepTime] = perStep
		}
		if len(l.Learnt.Variance) > mostLearnt {
			l.Learnt = &Learnt{NoiseSD: l.Learnt.NoiseSD}
		}
		return nil
	}}
}

// mostLearnt is up to how many components a line lists.
const mostLearnt = 8

// size is M.
func size(m baseline.Model) int {
	switch m := m.(type) {
	case *vssgp.Model:
		return m.Params.M()
	case *baseline.SparseModel:
		return len(m.Locations())
	}
	return 0
}

// keep scores a fit and, where figures want it, keeps it.
func (t *task) keep(l *Line, mean, sd []float64) {
	t.score(l, t.gaps, mean, sd)
	if !t.curve || sd == nil {
		return
	}
	l.Curve = &Curve{X: t.grid(), Mean: mean, SD: sd, Observed: &Trace{}, Missing: &Trace{}}
	for i, missing := range audio.Mask(t.gaps, len(t.y)) {
		to := l.Curve.Observed
		if missing {
			to = l.Curve.Missing
		}
		to.X, to.Y = append(to.X, float64(i)), append(to.Y, t.y[i])
	}
}

// fills are the references that need no model: silence, straight lines, and an
// autoregressive fill.
func (t *task) fills() []fit {
	masked := audio.FillSilence(t.y, t.gaps)
	return []fit{
		t.fill("silence", func() ([]float64, error) { return make([]float64, len(t.y)), nil }),
		t.fill("linear", func() ([]float64, error) { return audio.FillLinear(masked, t.gaps), nil }),
		t.fill("ar", func() ([]float64, error) { return audio.FillAR(masked, t.gaps, audio.DefaultAR(t.rate)) }),
	}
}

func (t *task) fill(method string, run func() ([]float64, error)) fit {
	return fit{line: t.line(t.named(method, ""), t.gaps), run: func(_ context.Context, l *Line) error {
		mean, err := run()
		if err != nil {
			return err
		}
		t.keep(l, mean, nil)
		return nil
	}}
}

// impute is package impute's fill, as it comes.
func (t *task) impute() fit {
	return fit{line: t.line(t.named("impute", keptStart), t.gaps), run: func(ctx context.Context, l *Line) error {
		began := time.Now()
		r, err := impute.Fill(ctx, [][]float64{audio.FillSilence(t.y, t.gaps)}, t.rate, t.gaps, impute.Options{Model: vssgp.Options{Seed: l.Seed}})
		if err != nil {
			return err
		}
		l.Seconds, l.Iterations = time.Since(began).Seconds(), r.Iterations
		for _, e := range r.Excerpts {
			l.M += e.Model.Params.M()
		}
		bound := r.Bound
		l.Bound = &bound
		t.keep(l, r.Fit[0], r.SD[0])
		return nil
	}}
}

// reportEvery is how often a long fit shows on the log.
const reportEvery = 30 * time.Second

// A clock follows one fit: it shows it on the log now and then and times its
// steps.
type clock struct {
	log         io.Writer
	key         Key
	shown       time.Duration
	first, last vssgp.Progress
}

func (c *clock) report(p vssgp.Progress) {
	if c.first.Iteration == 0 || p.Start != c.first.Start {
		c.first = p
	}
	c.last = p
	if p.Elapsed < c.shown+reportEvery {
		return
	}
	c.shown = p.Elapsed
	k := c.key
	fmt.Fprintf(c.log, "  %s %s %s %s seed %d K %d: iteration %d of %d, bound %.5g, %.0f s\n", k.Set, k.Case, k.Method, k.Start, k.Seed, k.K, p.Iteration, p.Iterations, p.Bound, p.Elapsed.Seconds())
}

// perStep is the time of an iteration between the first and the last report,
// so without what comes before and after, if there were two.
func (c *clock) perStep() (seconds float64, ok bool) {
	steps := c.last.Iteration - c.first.Iteration
	if steps <= 0 {
		return 0, false
	}
	return (c.last.Elapsed - c.first.Elapsed).Seconds() / float64(steps), true
}
