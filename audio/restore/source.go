package restore

import (
	"slices"
	"sort"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Source is a recording that is read in parts, such as an audio.File. It must support concurrent reads. An error ends the fill.
type Source = audio.Source

// Around returns a Source with zeros in the gaps, which must be in the form that audio.CheckGaps returns. Samples that are missing in all
// channels are not read. Clipped samples are kept, because they are limits, and clicks, because they contain the sound.
func Around(s Source, gaps []Gap) Source {
	a := &around{s, map[int][]Gap{}}
	for _, g := range gaps {
		if !g.Clipped && !g.Click {
			a.gaps[g.Channel] = append(a.gaps[g.Channel], g)
		}
	}
	return a
}

// around implements Around, with the gaps by Channel.
type around struct {
	src  Source
	gaps map[int][]Gap
}

// overlapping returns the elements of all whose gaps overlap [lo, hi). The gaps must be sorted and disjoint.
func overlapping[T any](all []T, lo, hi int, gap func(T) Gap) []T {
	from := sort.Search(len(all), func(i int) bool { return gap(all[i]).End > lo })
	to := sort.Search(len(all), func(i int) bool { return gap(all[i]).Start >= hi })
	return all[from:max(from, to)]
}

// Read reads the samples between the gaps. If a gap begins at lo, it first reads an empty part to get the number of channels.
func (a *around) Read(lo, hi int) ([][]float64, error) {
	if a.src == nil {
		return nil, fault.Errorf(vssgp.ErrData, "the recording is nil")
	}
	var out [][]float64
	itself := func(g Gap) Gap { return g }
	at := lo
	for _, g := range slices.Concat(overlapping(a.gaps[0], lo, hi, itself), []Gap{{Start: hi}}) {
		end := max(at, g.Start)
		if at == end && out != nil {
			continue
		}
		part, err := a.src.Read(at, end)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = make([][]float64, len(part))
			for c := range out {
				out[c] = make([]float64, hi-lo)
			}
		}
		if len(part) != len(out) || len(part) == 0 || slices.ContainsFunc(part, func(c []float64) bool { return len(c) != end-at }) {
			return nil, fault.Errorf(vssgp.ErrData, "read of samples %d:%d returned %d channels or a wrong number of samples", at, end,
				len(part))
		}
		for c := range part {
			copy(out[c][at-lo:], part[c])
		}
		at = g.End
	}
	for c := range out {
		for _, g := range overlapping(a.gaps[c+1], lo, hi, itself) {
			clear(out[c][max(g.Start, lo)-lo : min(g.End, hi)-lo])
		}
	}
	return out, nil
}

// length returns the number of samples in each channel.
func length(samples [][]float64) (int, error) {
	if len(samples) == 0 || len(samples[0]) == 0 {
		return 0, fault.Errorf(vssgp.ErrData, "%d channels, must be at least one with samples", len(samples))
	}
	n := len(samples[0])
	if c := slices.IndexFunc(samples, func(s []float64) bool { return len(s) != n }); c >= 0 {
		return 0, fault.Errorf(vssgp.ErrData, "channel %d has %d samples, but channel 0 has %d", c, len(samples[c]), n)
	}
	return n, nil
}
