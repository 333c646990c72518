package restore

import (
	"cmp"
	"context"
	"time"

	"github.com/vssgp/vssgp"
)

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
	return r, r.join(samples, o.Draws)
}

// FillFrom is Fill for a recording of n samples in each channel. It reads only the excerpts, so that memory grows
// with the missing samples and not with the recording. The result's Filled, Fit, SD and Draws are nil: Filling returns each gap's.
func FillFrom(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Result, error) {
	channels, err := channelsOf(src)
	if err != nil {
		return nil, err
	}
	all, err := Excerpts(channels, n, rate, gaps, o)
	if err != nil {
		return nil, err
	}
	method := o.Resolved()
	if err := o.checkMethod(); err != nil {
		return nil, err
	}
	f := &filler{
		ctx: cmp.Or(ctx, context.Background()), o: o, began: time.Now(), progress: make([]vssgp.Progress, len(all)),
		res: &Result{Excerpts: all, rate: rate, samples: n, channels: channels, Method: method},
	}
	for _, e := range all {
		f.res.gaps = append(f.res.gaps, e.Gaps...)
	}
	f.src = Around(src, f.res.gaps)
	if method == VSSGP {
		err = f.fillExcerpts()
	} else if err = f.fits(method); err == nil {
		err = f.fillGaps(method)
	}
	if err != nil {
		return nil, err
	}
	f.res.Elapsed = time.Since(f.began)
	return f.res, nil
}
