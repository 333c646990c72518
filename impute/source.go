package impute

import (
	"fmt"
	"slices"
	"sort"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
)

// A Source is a recording of which parts can be had, such as an audio.File:
// the samples [lo, hi) as [channel][hi-lo], for the caller to keep. Several
// goroutines may ask at once.
type Source interface {
	// Read is the samples [lo, hi) as [channel][hi-lo]; an error ends the fill.
	Read(lo, hi int) ([][]float64, error)
}

// Around is the source with zeros in the gaps, which are as audio.CheckGaps
// gives them: what stands there is not even read.
func Around(s Source, gaps []Gap) Source { return &around{s, gaps} }

type around struct {
	src  Source
	gaps []Gap
}

// Read asks for what is between the gaps.
func (a *around) Read(lo, hi int) ([][]float64, error) {
	if a.src == nil {
		return nil, fmt.Errorf("impute: the recording is nil, want a Source: %w", vssgp.ErrData)
	}
	var out [][]float64
	put := func(from, to int) error {
		part, err := a.src.Read(from, to)
		if err != nil {
			return err
		}
		if out == nil {
			for range part {
				out = append(out, make([]float64, hi-lo))
			}
		}
		if len(part) != len(out) || len(part) == 0 || slices.ContainsFunc(part, func(c []float64) bool { return len(c) != to-from }) {
			return fmt.Errorf("impute: samples %d:%d come in %d channels, want as many of each in all: %w", from, to, len(part), vssgp.ErrData)
		}
		for c := range part {
			copy(out[c][from-lo:to-lo], part[c])
		}
		return nil
	}
	at := lo
	first := sort.Search(len(a.gaps), func(i int) bool { return a.gaps[i].End > lo })
	for _, g := range a.gaps[first:] {
		if g.Start >= hi {
			break
		}
		if g.Start > at {
			if err := put(at, g.Start); err != nil {
				return nil, err
			}
		}
		at = min(g.End, hi)
	}
	if at < hi || out == nil { // an empty read tells the channels
		if err := put(at, hi); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// whole is a recording in memory.
type whole [][]float64

// Read copies a stretch.
func (w whole) Read(lo, hi int) ([][]float64, error) {
	out := make([][]float64, len(w))
	for c, s := range w {
		out[c] = append([]float64(nil), s[lo:hi]...)
	}
	return out, nil
}

// length is how many samples each channel has.
func (w whole) length() (int, error) {
	if len(w) == 0 || len(w[0]) == 0 {
		return 0, fmt.Errorf("impute: %d channels, want at least one with samples: %w", len(w), vssgp.ErrData)
	}
	n := len(w[0])
	for c, s := range w {
		if len(s) != n {
			return 0, fmt.Errorf("impute: channel %d has %d samples, channel 0 has %d: %w", c, len(s), n, vssgp.ErrData)
		}
	}
	return n, nil
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

// Excerpts are the stretches of a recording of n samples that FillFrom models,
// without their models: the gaps with the options' context on each side, joined
// where they touch. Errors wrap ErrGaps, where gaps do not fit the recording or
// leave too little of an excerpt to learn from, or vssgp.ErrData: no samples, no
// rate.
func Excerpts(n, rate int, gaps []Gap, o Options) ([]Excerpt, error) {
	if n <= 0 || rate <= 0 {
		return nil, fmt.Errorf("impute: %d samples at %d Hz, want at least one: %w", n, rate, vssgp.ErrData)
	}
	if len(gaps) == 0 {
		return nil, fmt.Errorf("impute: no gap given: %w", ErrGaps)
	}
	sorted, err := audio.CheckGaps(gaps, n)
	if err != nil {
		return nil, fmt.Errorf("impute: %w", err)
	}
	all := excerpts(sorted, n, o.context(n, rate))
	for _, e := range all {
		if left := e.End - e.Start - audio.Missing(e.Gaps); left < leastObserved {
			return nil, fmt.Errorf("impute: samples %d:%d leave %d to learn from, want at least %d: give more context: %w", e.Start, e.End, left, leastObserved, ErrGaps)
		}
	}
	return all, nil
}
