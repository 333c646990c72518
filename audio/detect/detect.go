// Package detect finds what is to be repaired in a recording: clicks, dropouts, runs of zeros that are no silence, and
// clipped samples. What it finds are gaps of package audio, each with its channel.
package detect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/audio"
)

// ErrArgument is wrapped by errors about an argument: a kind that there is not, a sensitivity out of range, a nil source.
var ErrArgument = audio.ErrArgument

// A Kind is a kind of damage.
type Kind string

// The kinds of damage.
const (
	Clicks   Kind = "clicks"   // bursts of a few samples that the sound on either side does not explain
	Dropouts Kind = "dropouts" // sound that stops for a moment: zeros, with dither or without, or a sample that is held
	Zeros    Kind = "zeros"    // runs of exact zeros with sound around them
	Clipped  Kind = "clipped"  // samples at the largest values that the recording holds
)

// Kinds lists them all.
var Kinds = []Kind{Clicks, Dropouts, Zeros, Clipped}

// A Source is a recording that is read in parts, such as an audio.File. Several goroutines may read at once.
type Source interface {
	// Read returns the samples [lo, hi) as [channel][hi-lo], for the caller to keep.
	Read(lo, hi int) ([][]float64, error)
}

// Options say what to look for; of the zero value, only Kinds has to be set.
type Options struct {
	Kinds       []Kind
	Sensitivity float64            // above 0 to 10: the larger, the more is found; 0: DefaultSensitivity
	Step        float64            // the difference of neighboring sample values, such as 1/32768; 0: not known
	Progress    func(done float64) // share of the work, never from two goroutines at once
}

// DefaultSensitivity is where recall and precision balance on recordings.
const DefaultSensitivity = 5

// Found is damage of a Kind in one channel, or with Gap.Channel 0 in all at the same samples.
type Found struct {
	audio.Gap
	Kind     Kind
	Strength float64 // its excess over what is expected there, in decibels; 0: not known
}

// A detector finds one kind of damage, rising within each channel, in a recording of n samples in each of some channels.
type detector func(ctx context.Context, r recording, o *Options) ([]Found, error)

var detectors = map[Kind]detector{}

// recording is what detectors read.
type recording struct {
	Source
	n, rate, channels int
}

// Find finds damage in a recording of n samples in each channel, in rising order. Kinds that overlap in a channel become one, of the kind
// that comes first in Options.Kinds. It reads the recording in parts, so memory grows only with what is found. Errors wrap
// ErrArgument, the source's error, or ctx's.
func Find(ctx context.Context, src Source, n, rate int, o Options) ([]Found, error) {
	o.Sensitivity = cmp.Or(o.Sensitivity, DefaultSensitivity)
	switch {
	case src == nil || n <= 0 || rate <= 0:
		return nil, fmt.Errorf("detect: %d samples at %d Hz of %v; want a recording: %w", n, rate, src, ErrArgument)
	case !(o.Sensitivity > 0 && o.Sensitivity <= 10):
		return nil, fmt.Errorf("detect: sensitivity %v; want one above 0, at most 10: %w", o.Sensitivity, ErrArgument)
	}
	none, err := src.Read(0, 0)
	if err != nil {
		return nil, fmt.Errorf("detect: %w", err)
	}
	r := recording{src, n, rate, len(none)}
	lanes := make([][]Found, r.channels)
	for _, k := range o.Kinds {
		detect := detectors[k]
		if detect == nil {
			return nil, fmt.Errorf("detect: no kind %q; want one of %q: %w", k, Kinds, ErrArgument)
		}
		more, err := detect(ctx, r, &o)
		if err != nil {
			return nil, fmt.Errorf("detect: find %s: %w", k, err)
		}
		for c := range lanes {
			for _, f := range more {
				if f.In(c) {
					f.Channel = c + 1
					lanes[c] = append(lanes[c], f)
				}
			}
		}
	}
	for c, l := range lanes {
		lanes[c] = apart(l, o.Kinds)
	}
	return together(lanes), nil
}

// apart returns a channel's finds in rising order. A click that meets sound that stops is its edge. Others that overlap become one, of the
// kind that comes first.
func apart(all []Found, kinds []Kind) (out []Found) {
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(a.Start, b.Start) })
	all = withoutEdges(all)
	for _, f := range all {
		k := len(out) - 1
		if k < 0 || f.Start >= out[k].End {
			out = append(out, f)
			continue
		}
		if slices.Index(kinds, f.Kind) < slices.Index(kinds, out[k].Kind) {
			out[k].Kind, out[k].Strength = f.Kind, f.Strength
		}
		out[k].End = max(out[k].End, f.End)
		out[k].Clipped = out[k].Clipped && f.Clipped
	}
	return out
}

// withoutEdges leaves out clicks that meet dropouts and zeros, all in rising order.
func withoutEdges(all []Found) (out []Found) {
	var others []Found
	var ends []int // the last end of all up to each
	last := 0
	for _, f := range all {
		if f.Kind == Dropouts || f.Kind == Zeros {
			last = max(last, f.End)
			others, ends = append(others, f), append(ends, last)
		}
	}
	for _, f := range all {
		k := sort.Search(len(others), func(k int) bool { return others[k].Start > f.End })
		if f.Kind != Clicks || k == 0 || ends[k-1] < f.Start {
			out = append(out, f)
		}
	}
	return out
}

// together merges the channels' finds in rising order; what all channels have at the same samples becomes one, of channel 0.
func together(lanes [][]Found) []Found {
	var all []Found
	for _, l := range lanes {
		all = append(all, l...)
	}
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Channel, b.Channel))
	})
	out := all[:0]
	for i := 0; i < len(all); {
		same := 1
		for i+same < len(all) && all[i+same].Start == all[i].Start && all[i+same].End == all[i].End && all[i+same].Kind == all[i].Kind {
			same++
		}
		if same == len(lanes) {
			f := all[i]
			f.Channel = 0
			for _, g := range all[i : i+same] {
				f.Strength = max(f.Strength, g.Strength)
			}
			out = append(out, f)
		} else {
			out = append(out, all[i:i+same]...)
		}
		i += same
	}
	return out
}
