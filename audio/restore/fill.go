package restore

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Fill predicts the samples in the gaps of a recording. samples is [channel][sample] at the given rate in Hz, at any
// scale. Samples in gaps are ignored. The result does not depend on GOMAXPROCS. Errors wrap audio.ErrGaps,
// vssgp.ErrOptions, vssgp.ErrData, vssgp.ErrMemory or the error of ctx.
func Fill(ctx context.Context, samples [][]float64, rate int, gaps []Gap, o Options) (*Result, error) {
	n, err := length(samples)
	if err != nil {
		return nil, err
	}
	return FillFrom(ctx, audio.Samples(samples), n, rate, gaps, o)
}

// FillFrom is like Fill for a Source with n samples per channel. It reads only the samples around the gaps, so its memory does not grow
// with the length of the recording.
func FillFrom(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Result, error) {
	none, err := Around(src, nil).Read(0, 0)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	all, err := Excerpts(len(none), n, rate, gaps, o)
	if err = cmp.Or(err, o.checkMethod()); err != nil {
		return nil, err
	}
	method := o.resolved()
	f := &filler{
		ctx: cmp.Or(ctx, context.Background()), o: o, began: time.Now(), progress: make([]vssgp.Progress, len(all)),
		res: &Result{Excerpts: all, rate: rate, samples: n, channels: len(none), Method: method},
	}
	for _, e := range all {
		f.res.Gaps = append(f.res.Gaps, e.Gaps...)
	}
	f.res.Fills = make([][]GapFill, len(f.res.Gaps))
	f.src = Around(src, f.res.Gaps)
	if method == VSSGP {
		err = f.fillExcerpts()
	} else if err = f.fits(); err == nil {
		err = f.fillGaps()
	}
	switch {
	case err != nil && f.ctx.Err() != nil:
		return nil, fmt.Errorf("interrupted: %w", f.ctx.Err())
	case err != nil:
		return nil, err
	}
	f.res.Elapsed = time.Since(f.began)
	return f.res, nil
}

// A filler fills the gaps of a recording in parallel.
type filler struct {
	ctx   context.Context
	o     Options
	src   Source // with zeros in the gaps
	began time.Time
	res   *Result
	units int // number of excerpts or gaps

	mu       sync.Mutex // guards the fields below, and calls of o.Progress and o.Filled
	done     int
	progress []vssgp.Progress // of each excerpt
	noise    float64          // last reported value
}

// filled stores the fills of gap i and calls o.Filled.
func (f *filler) filled(i int, fills []GapFill) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.res.Fills[i] = fills
	if f.o.Filled != nil {
		f.o.Filled(fills)
	}
}

// report applies change to the progress and reports the totals over all excerpts.
func (f *filler) report(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	if f.o.Progress == nil {
		return
	}
	p := Progress{Excerpt: f.done, Excerpts: f.units, NoiseSD: f.noise, Elapsed: time.Since(f.began)}
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
		p.Left = time.Duration(float64(p.Elapsed) * (float64(f.units) - share) / share)
	}
	f.o.Progress(p)
}

func (f *filler) context() int { return audio.SamplesIn(DefaultContext.Seconds(), f.res.rate) }

// level returns the rms of the known samples within DefaultContext of [start, end), or 0 if there are none.
func (f *filler) level(z []float64, gaps [][2]int, start, end int) float64 {
	around := known(z, gaps, max(0, start-f.context()), min(len(z), end+f.context()))
	if len(around) == 0 {
		return 0
	}
	return bayes.RMS(around)
}

// known returns the samples of [from, to) outside the gaps.
func known(z []float64, gaps [][2]int, from, to int) (all []float64) {
	for _, g := range gaps {
		if g[1] > from && g[0] < to {
			all = append(all, z[from:max(from, g[0])]...)
			from = g[1]
		}
	}
	return append(all, z[min(from, to):to]...)
}
