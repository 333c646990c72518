package restore

import (
	"cmp"
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/parallel"
)

// defaultWindows are the windows' lengths to choose from, in seconds: from a few periods of a voice to a vowel.
var defaultWindows = []float64{0.032, 0.048, 0.064}

// fillExcerpts fits a VSSGP to each excerpt and fills it.
func (f *filler) fillExcerpts() error {
	all := f.res.Excerpts
	f.units = len(all)
	for _, g := range f.res.gaps {
		if g.Clipped {
			return fmt.Errorf("restore: gap %v is clipped, and method %s knows no limits; want method %s: %w", g, VSSGP, Mixture,
				vssgp.ErrOptions)
		}
	}
	errs := make([]error, len(all))
	parallel.For(len(all), f.o.workers(len(all)), func(i int) { errs[i] = f.fill(i) })
	if err := cmp.Or(errs...); err != nil { // the first says enough: an interruption stops them all
		return err
	}
	for _, e := range all {
		f.res.Bound += e.Result.Bound
		f.res.Iterations += e.Result.Iterations
		f.res.Device = e.Result.Device
	}
	return nil
}

// model returns the fit's options, with the defaults for audio.
func (o *Options) model() vssgp.Options {
	m := o.Model
	if m.Init == "" && m.From == nil {
		m.Init = vssgp.InitSpectrum
	}
	if m.Iterations == 0 && m.Init == vssgp.InitSpectrum && (m.Method == "" || m.Method == vssgp.VSSGP) && m.Inference != vssgp.Stochastic {
		m.Iterations = vssgp.NoIterations
	}
	if m.Posterior.Draws == 0 {
		m.Posterior.Draws = vssgp.NoPosterior // nobody reads an excerpt's frequencies
	}
	if m.Windows.Candidates == nil {
		m.Windows.Candidates = defaultWindows
	}
	return m
}

// fill fits excerpt i and fills it.
func (f *filler) fill(i int) error {
	if err := f.ctx.Err(); err != nil {
		return fmt.Errorf("restore: interrupted: %w", err)
	}
	e := &f.res.Excerpts[i]
	if err := e.open(f.src); err != nil {
		return err
	}
	o := f.o.model()
	o.MemoryLimit /= float64(f.o.workers(len(f.res.Excerpts)))
	o.Progress = func(p vssgp.Progress) { f.tell(func() { f.progress[i], f.noise = p, p.NoiseSD }) }
	m, r, err := vssgp.Fit(f.ctx, e.data(f.res.rate), o)
	if err != nil {
		return e.failed(err)
	}
	e.Model, e.Result = m, r
	e.Features, e.NoiseSD = m.Params.M(), m.NoiseSD()[0]
	e.Window = m.Params.Windows.Length * m.X.Scale[0]
	if err := f.predict(e); err != nil {
		return e.failed(err)
	}
	if f.o.Fitted != nil {
		f.o.Fitted(e)
	}
	if f.o.Forget {
		e.Model = nil
	}
	f.tell(func() { f.done++ })
	return nil
}

// predict fills the excerpt's gaps, and gives the fit and its standard deviation over all of it.
func (f *filler) predict(e *Excerpt) error {
	missing := e.missing()
	x := make([]float64, len(missing))
	var inGaps []float64
	var at []int // the samples that a channel misses
	for i, m := range missing {
		x[i] = e.seconds(i, f.res.rate)
		if m {
			at, inGaps = append(at, i), append(inGaps, x[i])
		}
	}
	p, err := e.Model.Predict(f.ctx, x)
	if err != nil {
		return err
	}
	for range f.o.Draws {
		e.Draws = append(e.Draws, whole(e.Filled).clone())
	}
	e.Fit, e.SD = unknown(e.Filled), unknown(e.Filled)
	for i, sd := range p.SD(true) {
		at, c := i/p.D, i%p.D
		e.Fit[c][at], e.SD[c][at] = p.Mean[i], sd
	}
	var draws [][]float64
	if f.o.Draws > 0 {
		if draws, err = e.Model.Draw(f.ctx, inGaps, f.o.Draws, f.o.Model.Seed+uint64(e.Start)); err != nil {
			return err
		}
	}
	for c := range e.Filled {
		own := audio.Mask(e.gapsInside(c), len(missing))
		for j, i := range at {
			if !own[i] {
				continue
			}
			e.Filled[c][i] = e.Fit[c][i]
			for k, d := range draws {
				e.Draws[k][c][i] = d[j*p.D+c]
			}
		}
	}
	return nil
}
