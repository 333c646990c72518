package impute

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
)

// ErrGaps is wrapped by errors about gaps that cannot be filled: outside the
// recording, overlapping, or with too little left around them.
var ErrGaps = audio.ErrGaps

// Defaults of Options for audio.
const (
	defaultContext = 60 * time.Millisecond
	// leastObserved is how many samples an excerpt must have left.
	leastObserved = 32
)

// defaultWindows are the windows' lengths to choose from, in seconds: from a
// few periods of a voice to a vowel.
var defaultWindows = []float64{0.032, 0.048, 0.064}

// Fill predicts the samples in gaps from the rest of the recording. samples is
// [channel][sample] at the given rate, of any scale; what stands in the gaps is
// not looked at. Excerpts are independent models, so the result depends on
// neither Workers nor GOMAXPROCS.
func Fill(ctx context.Context, samples [][]float64, rate int, gaps []Gap, o Options) (*Result, error) {
	if len(samples) == 0 || len(samples[0]) == 0 || rate <= 0 {
		return nil, fmt.Errorf("impute: %d channels at %d Hz, want at least one with samples: %w", len(samples), rate, ErrGaps)
	}
	n := len(samples[0])
	for c, s := range samples {
		if len(s) != n {
			return nil, fmt.Errorf("impute: channel %d has %d samples, channel 0 has %d: %w", c, len(s), n, ErrGaps)
		}
	}
	if len(gaps) == 0 {
		return nil, fmt.Errorf("impute: no gap given: %w", ErrGaps)
	}
	sorted, err := audio.CheckGaps(gaps, n)
	if err != nil {
		return nil, fmt.Errorf("impute: %w", err)
	}
	f := &filler{ctx: ctx, o: o, rate: rate, samples: samples, began: time.Now(), res: newResult(samples, o.Draws)}
	f.missing = audio.Mask(sorted, n)
	f.res.Excerpts = excerpts(sorted, n, f.context(n))
	if err := f.checkObserved(); err != nil {
		return nil, err
	}
	if err := f.all(); err != nil {
		return nil, err
	}
	for _, e := range f.res.Excerpts {
		f.res.Bound += e.Result.Bound
		f.res.Iterations += e.Result.Iterations
		f.res.Device = e.Result.Device
	}
	f.res.Elapsed = time.Since(f.began)
	return f.res, nil
}

// excerpts are the gaps with context on each side, joined where they touch.
func excerpts(gaps []Gap, n, context int) []Excerpt {
	var out []Excerpt
	for _, g := range gaps {
		lo, hi := max(0, g.Start-context), min(n, g.End+context)
		if k := len(out); k > 0 && lo <= out[k-1].End {
			out[k-1].End = hi
			out[k-1].Gaps = append(out[k-1].Gaps, g)
			continue
		}
		out = append(out, Excerpt{Start: lo, End: hi, Gaps: []Gap{g}})
	}
	return out
}

type filler struct {
	ctx     context.Context
	o       Options
	rate    int
	samples [][]float64
	missing []bool
	began   time.Time
	res     *Result

	mu       sync.Mutex // guards the rest, and calls of o.Progress
	done     int
	progress []vssgp.Progress // of each excerpt
	noise    float64          // the last that one told
}

func newResult(samples [][]float64, draws int) *Result {
	r := &Result{Filled: clone(samples), Fit: clone(samples), SD: clone(samples)}
	for c := range samples {
		for i := range samples[c] {
			r.Fit[c][i], r.SD[c][i] = math.NaN(), math.NaN()
		}
	}
	for range draws {
		r.Draws = append(r.Draws, clone(samples))
	}
	return r
}

func clone(a [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = append([]float64(nil), a[i]...)
	}
	return out
}

// context is the samples modelled on each side of a gap.
func (f *filler) context(n int) int {
	if f.o.All {
		return n
	}
	c := f.o.Context
	if c == 0 {
		c = defaultContext
	}
	return max(1, int(math.Round(c.Seconds()*float64(f.rate))))
}

func (f *filler) checkObserved() error {
	for _, e := range f.res.Excerpts {
		left := 0
		for i := e.Start; i < e.End; i++ {
			if !f.missing[i] {
				left++
			}
		}
		if left < leastObserved {
			return fmt.Errorf("impute: samples %d:%d leave %d to learn from, want at least %d: give more context: %w", e.Start, e.End, left, leastObserved, ErrGaps)
		}
	}
	return nil
}

// all fits the excerpts, several at a time.
func (f *filler) all() error {
	n := len(f.res.Excerpts)
	w := f.o.Workers
	if w <= 0 {
		w = runtime.GOMAXPROCS(0)
	}
	f.progress = make([]vssgp.Progress, n)
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(w, n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				errs[i] = f.one(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err // one says enough: interruption stops them all
		}
	}
	return nil
}

// one fits excerpt i and writes its share of the result; excerpts do not
// overlap, so no two write to the same place.
func (f *filler) one(i int) error {
	if err := f.ctx.Err(); err != nil {
		return fmt.Errorf("impute: interrupted: %w", err)
	}
	e := &f.res.Excerpts[i]
	data := f.data(e)
	o := f.o.Model
	if o.Init == "" && o.From == nil {
		o.Init = vssgp.InitSpectrum
	}
	if o.Iterations == 0 && o.Init == vssgp.InitSpectrum && (o.Method == "" || o.Method == vssgp.VSSGP) && o.Inference != vssgp.Stochastic {
		o.Iterations = vssgp.NoIterations
	}
	if o.Window == 0 {
		o.Window = vssgp.WindowAuto
	}
	if o.WindowCandidates == nil {
		o.WindowCandidates = defaultWindows
	}
	o.Progress = func(p vssgp.Progress) { f.report(i, p) }
	m, r, err := vssgp.Fit(f.ctx, data, o)
	if err != nil {
		return fmt.Errorf("impute: samples %d:%d: %w", e.Start, e.End, err)
	}
	e.Model, e.Result = m, r
	if err := f.predict(e); err != nil {
		return fmt.Errorf("impute: samples %d:%d: %w", e.Start, e.End, err)
	}
	f.finished()
	return nil
}

// data are an excerpt's observed samples, x in seconds from the recording's
// beginning.
func (f *filler) data(e *Excerpt) *vssgp.Data {
	d := &vssgp.Data{Q: 1, D: len(f.samples), XNames: []string{"seconds"}}
	for c := range f.samples {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	for i := e.Start; i < e.End; i++ {
		if f.missing[i] {
			continue
		}
		d.N++
		d.X = append(d.X, float64(i)/float64(f.rate))
		for _, c := range f.samples {
			d.Y = append(d.Y, c[i])
		}
	}
	return d
}

// predict fills the excerpt's gaps, and the fit and its standard deviation
// over all of it.
func (f *filler) predict(e *Excerpt) error {
	n := e.End - e.Start
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(e.Start+i) / float64(f.rate)
	}
	p, err := e.Model.PredictRows(x, n)
	if err != nil {
		return err
	}
	sd := p.SD(true)
	for c := range f.samples {
		for i := range n {
			f.res.Fit[c][e.Start+i] = p.Mean[i*p.D+c]
			f.res.SD[c][e.Start+i] = sd[i*p.D+c]
			if f.missing[e.Start+i] {
				f.res.Filled[c][e.Start+i] = p.Mean[i*p.D+c]
			}
		}
	}
	return f.draw(e)
}

// draw samples the excerpt's gaps jointly.
func (f *filler) draw(e *Excerpt) error {
	if len(f.res.Draws) == 0 {
		return nil
	}
	var at []int
	var x []float64
	for _, g := range e.Gaps {
		for i := g.Start; i < g.End; i++ {
			at = append(at, i)
			x = append(x, float64(i)/float64(f.rate))
		}
	}
	draws, err := e.Model.Draw(mat.NewDense(len(x), 1, x), len(f.res.Draws), f.o.Model.Seed+uint64(e.Start))
	if err != nil {
		return err
	}
	for k, d := range draws {
		for c := range f.samples {
			for j, i := range at {
				f.res.Draws[k][c][i] = d.At(j, c)
			}
		}
	}
	return nil
}

func (f *filler) finished() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done++
	f.tell()
}

func (f *filler) report(i int, p vssgp.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress[i], f.noise = p, p.NoiseSD
	f.tell()
}

// tell sums the excerpts' progress up. It is called with mu held.
func (f *filler) tell() {
	if f.o.Progress == nil {
		return
	}
	n := len(f.res.Excerpts)
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
	share = max(share, float64(f.done))
	if share > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (float64(n) - share) / share)
	}
	f.o.Progress(p)
}
