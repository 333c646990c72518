package impute

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/parallel"
)

// defaultWindows are the windows' lengths to choose from, in seconds: from a few periods of a voice to a vowel.
var defaultWindows = []float64{0.032, 0.048, 0.064}

// Fill predicts the samples in gaps from the rest of the recording. samples is [channel][sample] at the given rate, of any
// scale; the samples in the gaps are not read. Excerpts are independent models, so the result depends on neither Workers
// nor GOMAXPROCS.
func Fill(ctx context.Context, samples [][]float64, rate int, gaps []Gap, o Options) (*Result, error) {
	n, err := whole(samples).length()
	if err != nil {
		return nil, err
	}
	r, err := FillFrom(ctx, whole(samples), n, rate, gaps, o)
	if err != nil {
		return nil, err
	}
	r.join(samples)
	return r, nil
}

// FillFrom is Fill for a recording of n samples in each channel. It reads only the excerpts, so that memory does not grow
// with the recording. The result's Filled, Fit, SD and Draws are nil: each excerpt has its own.
func FillFrom(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Result, error) {
	all, err := Excerpts(n, rate, gaps, o)
	if err != nil {
		return nil, err
	}
	method := o.Resolved()
	if err := o.checkMethod(); err != nil {
		return nil, err
	}
	f := &filler{
		ctx: cmp.Or(ctx, context.Background()), o: o, began: time.Now(), progress: make([]vssgp.Progress, len(all)),
		res: &Result{Excerpts: all, rate: rate, samples: n, context: o.context(n, rate), Method: method},
	}
	for _, e := range all {
		f.res.gaps = append(f.res.gaps, e.Gaps...)
	}
	f.src = Around(src, f.res.gaps)
	if method == VSSGP {
		err = f.fillExcerpts()
	} else {
		err = f.fillGaps(method)
	}
	if err != nil {
		return nil, err
	}
	f.res.Elapsed = time.Since(f.began)
	return f.res, nil
}

// fillExcerpts fits a VSSGP to each excerpt and fills it.
func (f *filler) fillExcerpts() error {
	all := f.res.Excerpts
	f.units = len(all)
	if err := f.o.checkCheckpoint(len(all)); err != nil {
		return err
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

// join makes whole recordings of the excerpts, which keep their parts of them.
func (r *Result) join(samples [][]float64) {
	into := func(to [][]float64, part func(e *Excerpt) [][]float64) [][]float64 {
		for i := range r.Excerpts {
			e := &r.Excerpts[i]
			for c, v := range part(e) {
				copy(to[c][e.Start:e.End], v)
				part(e)[c] = to[c][e.Start:e.End:e.End]
			}
		}
		return to
	}
	r.Filled = into(whole(samples).clone(), func(e *Excerpt) [][]float64 { return e.Filled })
	r.Fit = into(unknown(samples), func(e *Excerpt) [][]float64 { return e.Fit })
	r.SD = into(unknown(samples), func(e *Excerpt) [][]float64 { return e.SD })
	for k := range r.Excerpts[0].Draws {
		r.Draws = append(r.Draws, into(whole(samples).clone(), func(e *Excerpt) [][]float64 { return e.Draws[k] }))
	}
}

// filler fills the excerpts of a recording, several at a time.
type filler struct {
	ctx   context.Context
	o     Options
	src   Source // with zeros in the gaps
	began time.Time
	res   *Result
	units int // excerpts or gaps that are filled one by one

	mu       sync.Mutex // guards the rest, and calls of o.Progress
	done     int
	progress []vssgp.Progress // of each excerpt
	noise    float64          // reported last
}

// unknown returns NaN in a's shape.
func unknown(a [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = slices.Repeat([]float64{math.NaN()}, len(a[i]))
	}
	return out
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
	if m.Posterior == 0 {
		m.Posterior = vssgp.NoPosterior // nobody reads an excerpt's frequencies
	}
	if m.WindowCandidates == nil {
		m.WindowCandidates = defaultWindows
	}
	return m
}

// workers returns how many excerpts or gaps are filled at the same time.
func (o *Options) workers(excerpts int) int {
	if o.Workers > 0 {
		return min(o.Workers, excerpts)
	}
	return min(runtime.GOMAXPROCS(0), excerpts)
}

// checkCheckpoint refuses a checkpoint, which holds one fit, where there are several fits or none.
func (o *Options) checkCheckpoint(excerpts int) error {
	switch {
	case o.Model.Checkpoint == "":
	case excerpts > 1:
		return fmt.Errorf("impute: a checkpoint holds one fit, but %d excerpts are fitted one by one; want the whole recording as one excerpt (--context all): %w", excerpts, vssgp.ErrOptions)
	case o.model().Iterations == vssgp.NoIterations:
		return fmt.Errorf("impute: a checkpoint holds the state of an optimisation, and this fill does not optimise; want iterations, or no checkpoint: %w", vssgp.ErrOptions)
	}
	return nil
}

// fill fits excerpt i and fills it.
func (f *filler) fill(i int) error {
	if err := f.ctx.Err(); err != nil {
		return fmt.Errorf("impute: interrupted: %w", err)
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
	var at []int // the missing samples
	for i, m := range missing {
		x[i] = e.seconds(i, f.res.rate)
		if m {
			at, inGaps = append(at, i), append(inGaps, x[i])
		}
	}
	p, err := e.Model.PredictContext(f.ctx, mat.NewDense(len(x), 1, x))
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
		if missing[at] {
			e.Filled[c][at] = p.Mean[i]
		}
	}
	if f.o.Draws <= 0 {
		return nil
	}
	draws, err := e.Model.DrawContext(f.ctx, mat.NewDense(len(at), 1, inGaps), f.o.Draws, f.o.Model.Seed+uint64(e.Start))
	if err != nil {
		return err
	}
	for k, d := range draws {
		for c := range e.Filled {
			for j, i := range at {
				e.Draws[k][c][i] = d.At(j, c)
			}
		}
	}
	return nil
}

// tell makes a change of the progress and reports the sum over the excerpts.
func (f *filler) tell(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	if f.o.Progress == nil {
		return
	}
	n := f.units
	p := Progress{Excerpt: f.done, Excerpts: n, NoiseSD: f.noise, Elapsed: time.Since(f.began)}
	share := 0.0
	for _, q := range f.progress {
		p.Iteration += q.Iteration
		p.Iterations += q.Iterations
		p.Bound += q.Bound
		if q.Iterations > 0 {
			share += float64(q.Iteration) / float64(q.Iterations)
		}
	}
	if share = max(share, float64(f.done)); share > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (float64(n) - share) / share)
	}
	f.o.Progress(p)
}
