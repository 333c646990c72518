package impute

import (
	"fmt"
	"slices"
	"sort"

	"github.com/vssgp/vssgp"
)

// A Source is a recording that is read in parts, such as an audio.File. Several
// goroutines may read at once.
type Source interface {
	// Read is the samples [lo, hi) as [channel][hi-lo], for the caller to keep; an
	// error ends the fill.
	Read(lo, hi int) ([][]float64, error)
}

// Around is the source with zeros in the gaps, which are as audio.CheckGaps
// gives them: the samples there are not even read.
func Around(s Source, gaps []Gap) Source { return &around{s, gaps} }

type around struct {
	src  Source
	gaps []Gap
}

// Read reads between the gaps.
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
			return fmt.Errorf("impute: samples %d:%d come in %d channels, want as many of each in all: %w",
				from, to, len(part), vssgp.ErrData)
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
	if at < hi || out == nil { // an empty read gives the number of channels
		if err := put(at, hi); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// whole is a recording in memory.
type whole [][]float64

// Read copies the samples.
func (w whole) Read(lo, hi int) ([][]float64, error) {
	out := make([][]float64, len(w))
	for c, s := range w {
		out[c] = slices.Clone(s[lo:hi])
	}
	return out, nil
}

func (w whole) clone() [][]float64 {
	out, _ := w.Read(0, len(w[0])) // reading from memory does not fail
	return out
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
