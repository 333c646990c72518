package restore

import (
	"cmp"
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
)

// excerpts returns the gaps with context on each side, joined where they touch.
func excerpts(gaps []Gap, n, context int) []Excerpt {
	var out []Excerpt
	for _, g := range gaps {
		lo, hi := max(0, g.Start-context), min(n, g.End+context)
		if k := len(out); k > 0 && lo <= out[k-1].End {
			out[k-1].End = max(out[k-1].End, hi)
			out[k-1].Gaps = append(out[k-1].Gaps, g)
			continue
		}
		out = append(out, Excerpt{Start: lo, End: hi, Gaps: []Gap{g}})
	}
	return out
}

// Excerpts returns the parts of a recording of n samples in each of so many channels that FillFrom models, without their models: the gaps
// with the options' context on each side, joined where they touch. Errors wrap ErrGaps if gaps do not fit the recording or leave too little
// of an excerpt to learn from, vssgp.ErrOptions if the context is negative, and vssgp.ErrData if there are no samples or no rate.
func Excerpts(channels, n, rate int, gaps []Gap, o Options) ([]Excerpt, error) {
	if channels < 1 || n <= 0 || rate <= 0 {
		return nil, fmt.Errorf("restore: %d samples in %d channels at %d Hz, want at least one: %w", n, channels, rate, vssgp.ErrData)
	}
	if o.Context < 0 {
		return nil, fmt.Errorf("restore: a context of %v, must be 0 or more: %w", o.Context, vssgp.ErrOptions)
	}
	if len(gaps) == 0 {
		return nil, fmt.Errorf("restore: no gap given: %w", ErrGaps)
	}
	sorted, err := audio.CheckGaps(gaps, n, channels)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	all := excerpts(sorted, n, o.context(n, rate))
	for _, e := range all {
		if left := e.End - e.Start - audio.Missing(e.Gaps); left < leastObserved {
			return nil, fmt.Errorf("restore: samples %d:%d leave only %d observed samples, must be at least %d: %w",
				e.Start, e.End, left, leastObserved, ErrGaps)
		}
	}
	return all, nil
}

// context returns the number of samples that are modeled on each side of a gap.
func (o *Options) context(n, rate int) int {
	if o.All {
		return n
	}
	return audio.SamplesIn(cmp.Or(o.Context, DefaultContext).Seconds(), rate)
}

// failed says at which samples of the recording.
func (e *Excerpt) failed(err error) error {
	return fmt.Errorf("restore: samples %d:%d: %w", e.Start, e.End, err)
}

// gapsInside returns a channel's gaps, or all for channel −1, counted from the excerpt's start.
func (e *Excerpt) gapsInside(channel int) (gaps []Gap) {
	for _, g := range e.Gaps {
		if channel < 0 || g.In(channel) {
			gaps = append(gaps, Gap{Start: g.Start - e.Start, End: g.End - e.Start})
		}
	}
	return gaps
}

// missing returns at which of the excerpt's samples a channel misses something.
func (e *Excerpt) missing() []bool { return audio.Mask(e.gapsInside(-1), e.End-e.Start) }

// data returns the excerpt's observed samples, of known [channel][sample], which has zeros in the gaps.
func (e *Excerpt) data(known [][]float64, rate int) *vssgp.Data {
	d := &vssgp.Data{Q: 1, D: len(known), XNames: []string{"seconds"}}
	for c := range known {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	for i, missing := range e.missing() {
		if !missing {
			d.N++
			d.X = append(d.X, float64(e.Start+i)/float64(rate))
			for _, c := range known {
				d.Y = append(d.Y, c[i])
			}
		}
	}
	return d
}
