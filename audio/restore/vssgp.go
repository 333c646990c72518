package restore

import (
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/parallel"
)

// fillExcerpts fits a VSSGP to each excerpt and fills its gaps.
func (f *filler) fillExcerpts() error {
	all := f.res.Excerpts
	f.units = len(all)
	if i := slices.IndexFunc(f.res.Gaps, func(g Gap) bool { return g.Clipped }); i >= 0 {
		return fault.Errorf(vssgp.ErrOptions, "gap %v is clipped, but method %s does not support clipping; use method %s", f.res.Gaps[i],
			VSSGP, Mixture)
	}
	if err := parallel.Try(len(all), workers(len(all)), f.fill); err != nil {
		return err
	}
	for _, e := range all {
		f.res.Bound += e.Result.Bound
		f.res.Iterations += e.Result.Iterations
		f.res.Device = e.Result.Device
	}
	return nil
}

// model returns the options of the fit with defaults for audio.
func (o *Options) model() vssgp.Options {
	m := o.Model
	if m.Init == "" && m.From == nil {
		m.Init = vssgp.InitSpectrum
	}
	if m.Iterations == 0 && m.Init == vssgp.InitSpectrum && (m.Method == "" || m.Method == vssgp.VSSGP) && m.Inference != vssgp.Stochastic {
		m.Iterations = vssgp.NoIterations
	}
	if m.Posterior.Draws == 0 {
		m.Posterior.Draws = vssgp.NoPosterior // not needed for fills
	}
	if m.Windows.Candidates == nil && m.Windows.Length == vssgp.WindowAuto && m.Init != vssgp.InitPaper && m.From == nil {
		m.Windows.Candidates = []float64{0.032, 0.048, 0.064} // seconds
	}
	return m
}

// fill fits a model to excerpt i and fills its gaps.
func (f *filler) fill(i int) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	e := &f.res.Excerpts[i]
	known, err := f.src.Read(e.Start, e.End)
	if err != nil {
		return e.failed(err)
	}
	o := f.o.model()
	o.MemoryLimit /= float64(workers(len(f.res.Excerpts)))
	o.Progress = func(p vssgp.Progress) { f.report(func() { f.progress[i], f.noise = p, p.NoiseSD }) }
	m, r, err := vssgp.Fit(f.ctx, e.data(known, f.res.rate), o)
	if err != nil {
		return e.failed(err)
	}
	e.Model, e.Result = m, r
	e.Features, e.NoiseSD = m.Params.M(), m.NoiseSD()[0]
	e.Window = m.Params.Windows.Length * m.X.Scale[0]
	if err := f.predict(e, known); err != nil {
		return e.failed(err)
	}
	if f.o.Forget {
		e.Model = nil
	}
	f.report(func() { f.done++ })
	return nil
}

// predict fills the gaps of the excerpt, and sets its Fit and SD.
func (f *filler) predict(e *Excerpt, known [][]float64) error {
	missing := e.missing()
	x := make([]float64, len(missing))
	var inGaps []float64
	at := make([]int, len(missing)) // index in inGaps of each missing sample
	for i, m := range missing {
		x[i], at[i] = float64(e.Start+i)/float64(f.res.rate), len(inGaps)
		if m {
			inGaps = append(inGaps, x[i])
		}
	}
	p, err := e.Model.Predict(f.ctx, x)
	if err != nil {
		return err
	}
	e.Fit, e.SD = make([][]float64, p.D), make([][]float64, p.D)
	for i, sd := range p.SD(true) {
		c := i % p.D
		e.Fit[c], e.SD[c] = append(e.Fit[c], p.Mean[i]), append(e.SD[c], sd)
	}
	var draws [][]float64
	if f.o.Draws > 0 {
		if draws, err = e.Model.Draw(f.ctx, inGaps, f.o.Draws, f.o.Model.Seed+uint64(e.Start)); err != nil {
			return err
		}
	}
	first := f.res.before(e.Start)
	for k, g := range e.Gaps {
		var fills []GapFill
		for c := range p.D {
			if !g.In(c) {
				continue
			}
			lo, hi := g.Start-e.Start, g.End-e.Start
			var gaps [][2]int
			for _, h := range e.gapsInside(c) {
				gaps = append(gaps, [2]int{h.Start, h.End})
			}
			s := GapFill{Gap: g, Channel: c, Mean: e.Fit[c][lo:hi:hi], SD: e.SD[c][lo:hi:hi], Level: f.level(known[c], gaps, lo, hi)}
			for _, d := range draws {
				v := make([]float64, g.Len())
				for i := range v {
					v[i] = d[(at[lo]+i)*p.D+c]
				}
				s.Draws = append(s.Draws, v)
			}
			fills = append(fills, s)
		}
		f.filled(first+k, fills)
	}
	return nil
}
