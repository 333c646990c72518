package restore

import (
	"cmp"
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// excerpts returns the gaps with context on each side. Overlapping and adjacent excerpts are merged.
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

// Excerpts returns the excerpts that FillFrom would model in a recording of n samples per channel, without models: the
// gaps with the context of the options on each side, merged if they touch. Errors wrap audio.ErrGaps if gaps are
// invalid or leave too few observed samples, vssgp.ErrOptions if the context is negative, and vssgp.ErrData if n,
// channels or rate is not positive.
func Excerpts(channels, n, rate int, gaps []Gap, o Options) ([]Excerpt, error) {
	if channels < 1 || n <= 0 || rate <= 0 {
		return nil, fault.Errorf(vssgp.ErrData, "%d samples in %d channels at %d Hz, all must be positive", n, channels, rate)
	}
	if o.Context < 0 {
		return nil, fault.Errorf(vssgp.ErrOptions, "context is %v, must be at least 0", o.Context)
	}
	if len(gaps) == 0 {
		return nil, fault.Errorf(audio.ErrGaps, "no gap given")
	}
	sorted, err := audio.CheckGaps(gaps, n, channels)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	all := excerpts(sorted, n, o.context(n, rate))
	for _, e := range all {
		if left := e.End - e.Start - audio.Missing(e.Gaps); left < minObserved {
			return nil, fault.Errorf(audio.ErrGaps, "samples %d:%d contain only %d observed samples, must be at least %d",
				e.Start, e.End, left, minObserved)
		}
	}
	return all, nil
}

// context returns the number of samples to model on each side of a gap.
func (o *Options) context(n, rate int) int {
	if o.All {
		return n
	}
	return audio.SamplesIn(cmp.Or(o.Context, DefaultContext).Seconds(), rate)
}

// failed adds the sample range of the excerpt to an error.
func (e *Excerpt) failed(err error) error {
	return fmt.Errorf("samples %d:%d: %w", e.Start, e.End, err)
}

// gapsInside returns the gaps of a channel (−1: all gaps), relative to the start of the excerpt.
func (e *Excerpt) gapsInside(channel int) (gaps []Gap) {
	for _, g := range e.Gaps {
		if channel < 0 || g.In(channel) {
			gaps = append(gaps, Gap{Start: g.Start - e.Start, End: g.End - e.Start})
		}
	}
	return gaps
}

// missing returns a mask of the samples of the excerpt that are missing in any channel.
func (e *Excerpt) missing() []bool { return audio.Mask(e.gapsInside(-1), e.End-e.Start) }

// data returns the observed samples of the excerpt. known is [channel][sample], with zeros in the gaps.
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
