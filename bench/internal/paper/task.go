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
	curve bool   // store the predictions of models, for figures
	class string // class of the recording; if set, gaps are also scored separately
}

// task returns the task of a signal with the given gaps.
func (s *session) task(set string, g signal, gaps []audio.Gap, seed uint64) *task {
	g.Gaps = gaps
	return &task{signal: &g, key: Key{Set: set, Quick: s.Quick, Case: g.Name, Seed: seed}, log: s.log}
}

// line returns a fit that computes and scores a fill. run returns the fill and may add other results to the line.
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
		return nil
	}}
}

// scoreGaps scores a fill over all gaps and in each gap. It ignores samples outside the gaps, which most methods do not
// predict.
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
			if finite(nlpd) { // not finite if a standard deviation is 0
				s.NLPD = &nlpd
			}
		}
		l.PerGap = append(l.PerGap, s)
	}
}

// fill returns the fit of a filler. If VSSGP fills gaps separately, N is the number of rows in all excerpts.
func (t *task) fill(method, start string, fill filler) fit {
	return t.line(method, start, func(ctx context.Context, l *Line) (*filling, error) {
		f, err := fill(ctx, t.signal)
		if err != nil || f.SD == nil {
			return f, err
		}
		if f.Rows > 0 {
			l.M, l.Iterations, l.Bound = f.M, f.Iterations, &f.Bound
		}
		if f.Rows > 0 && t.class != "" {
			l.N = f.Rows
		}
		return f, nil
	})
}

// model returns the fit of a model of all samples outside the gaps. make receives the function to which the method
// reports its progress.
func (t *task) model(method, start string, make func(report func(vssgp.Progress)) baselines.Method) fit {
	return t.line(method, start, func(ctx context.Context, l *Line) (*filling, error) {
		steps := progressLog{log: t.log, key: l.Key}
		f, c, err := t.signal.fit(ctx, make(steps.report))
		if err != nil {
			return nil, err
		}
		l.take(f)
		if perStep, ok := steps.perStep(); ok {
			l.Scores = map[Score]float64{StepTime: perStep}
		}
		if t.curve {
			l.Curve = c
			c.Observed, c.Missing = t.traces()
		}
		return &filling{Mean: c.Mean, SD: c.SD}, nil
	})
}

// features returns the fit of package vssgp with the given options.
func (t *task) features(method, start string, o vssgp.Options) fit {
	o.Seed = t.key.Seed
	return t.model(method, start, func(report func(vssgp.Progress)) baselines.Method {
		o.Progress = report
		return baselines.Features{Options: o}
	})
}

// reportEvery is the minimum time between two log messages of a fit.
const reportEvery = 30 * time.Second

// A progressLog logs the progress of a fit and times its steps.
type progressLog struct {
	log         io.Writer
	key         Key
	shown       time.Duration
	first, last vssgp.Progress
}

func (c *progressLog) report(p vssgp.Progress) {
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

// perStep returns the mean time of the iterations between the first and the last report. ok is false if there are no
// such iterations.
func (c *progressLog) perStep() (seconds float64, ok bool) {
	steps := c.last.Iteration - c.first.Iteration
	if steps <= 0 {
		return 0, false
	}
	return (c.last.Elapsed - c.first.Elapsed).Seconds() / float64(steps), true
}
