package paper

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/baselines"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A task is a signal whose gaps methods fill.
type task struct {
	*signal
	key   Key // without method and start
	log   io.Writer
	curve bool   // store predictions, for figures
	class string // of recordings whose gaps are scored one by one
}

// task is a signal with these gaps.
func (s *session) task(set string, g signal, gaps []audio.Gap, seed uint64) *task {
	g.Gaps = gaps
	return &task{signal: &g, key: Key{Set: set, Quick: s.Quick, Case: g.Name, Seed: seed}, log: s.log}
}

// line is the line of a fill. run may take more into the line than the fill that it returns.
func (t *task) line(method, start string, run func(context.Context, *Line) (*filling, error)) fit {
	line := Line{Key: t.key, Source: t.Source, N: len(t.Y) - audio.Missing(t.Gaps)}
	line.Method, line.Start = method, start
	if t.class != "" {
		line.Class, line.Rate = t.class, t.Rate
	}
	return fit{line, func(ctx context.Context, l *Line) error {
		began, busy := time.Now(), machine.CPUTime()
		f, err := run(ctx, l)
		if err != nil {
			return err
		}
		l.Seconds = cmp.Or(l.Seconds, time.Since(began).Seconds())
		if t.class == "" {
			t.score(l, f)
		} else {
			l.Processor = (machine.CPUTime() - busy).Seconds()
			t.scoreGaps(l, f)
		}
		if t.curve && f.SD != nil {
			l.Curve = &Curve{X: t.grid(), Mean: f.Mean, SD: f.SD}
			l.Curve.Observed, l.Curve.Missing = t.traces()
		}
		return nil
	}}
}

// scoreGaps scores a fill over the gaps together and one by one. It ignores samples outside them, which most methods do not predict.
func (t *task) scoreGaps(l *Line, f *filling) {
	l.Scores = map[Score]float64{TestRMSE: t.rmse(f)}
	if coverage, nlpd, ok := t.intervals(f); ok {
		l.Scores[Coverage], l.Scores[NLPD] = coverage, nlpd
	}
	for _, g := range t.Gaps {
		one := &signal{Y: t.Y, Gaps: []audio.Gap{g}}
		s := GapScore{Start: g.Start, RMSE: one.rmse(f)}
		if coverage, nlpd, ok := one.intervals(f); ok {
			s.Coverage = &coverage
			if finite(nlpd) { // not where a fill claims to be certain
				s.NLPD = &nlpd
			}
		}
		l.PerGap = append(l.PerGap, s)
	}
}

// fill is the line of a method of the harness. Where gaps are scored one by one, its excerpts' rows are those fitted to.
func (t *task) fill(method, start string, fill filler) fit {
	return t.line(method, start, func(ctx context.Context, l *Line) (*filling, error) {
		f, err := fill(ctx, t.signal)
		if err != nil || f.SD == nil {
			return f, err
		}
		l.M, l.Iterations, l.Bound = f.M, f.Iterations, &f.Bound
		if t.class != "" {
			l.N = f.Rows
		}
		return f, nil
	})
}

// model is the line of a model of all samples outside the gaps; make gets the function to report to.
func (t *task) model(method, start string, make func(report func(vssgp.Progress)) baselines.Method) fit {
	return t.line(method, start, func(ctx context.Context, l *Line) (*filling, error) {
		steps := clock{log: t.log, key: l.Key}
		f, c, err := t.signal.fit(ctx, make(steps.report))
		if err != nil {
			return nil, err
		}
		l.take(f)
		if perStep, ok := steps.perStep(); ok {
			l.Scores = map[Score]float64{StepTime: perStep}
		}
		return &filling{Mean: c.Mean, SD: c.SD}, nil
	})
}

// features is the line of package vssgp by some options.
func (t *task) features(method, start string, o vssgp.Options) fit {
	o.Seed = t.key.Seed
	return t.model(method, start, func(report func(vssgp.Progress)) baselines.Method {
		o.Progress = report
		return baselines.Features{Options: o}
	})
}

// reportEvery is how often a long fit shows on the log.
const reportEvery = 30 * time.Second

// A clock follows one fit: it shows it on the log now and then and times its steps.
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
	fmt.Fprintf(c.log, "  %s %s: iteration %d of %d, bound %.5g, %.0f s\n",
		c.key.Set, c.key, p.Iteration, p.Iterations, p.Bound, p.Elapsed.Seconds())
}

// perStep is the time of an iteration between the first and the last report, excluding the time before and after, if there were two.
func (c *clock) perStep() (seconds float64, ok bool) {
	steps := c.last.Iteration - c.first.Iteration
	if steps <= 0 {
		return 0, false
	}
	return (c.last.Elapsed - c.first.Elapsed).Seconds() / float64(steps), true
}
