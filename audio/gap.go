package audio

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrGaps is wrapped by every error about gaps: bad syntax, reversed, empty, overlapping, outside the recording, or
// leaving nothing to learn from.
var ErrGaps = errors.New("bad gaps")

// Gap is a run of missing samples, [Start, End), counted in samples per channel from the start of the recording.
type Gap struct {
	Start, End int
	Channel    int  // that misses them, from 1; 0: all
	Clipped    bool // what was there lies at or beyond the samples that are there, on their side of zero
}

// Len returns the number of missing samples.
func (g Gap) Len() int { return g.End - g.Start }

// In reports whether a channel, from 0, misses the samples.
func (g Gap) In(channel int) bool { return g.Channel == 0 || g.Channel == channel+1 }

// String returns START:END in samples, and @CHANNEL if it is one channel's, as ParseGap reads it.
func (g Gap) String() string {
	if g.Channel == 0 {
		return fmt.Sprintf("%d:%d", g.Start, g.End)
	}
	return fmt.Sprintf("%d:%d@%d", g.Start, g.End, g.Channel)
}

// ParseGap reads START:END or, for a gap of one channel, START:END@CHANNEL; the end is exclusive. Each side is a whole number of samples
// ("1200") or a decimal time in seconds or milliseconds ("0.5s", "500ms"), which is rounded to the nearest sample at rate samples a second.
// The gap is non-empty and not negative; CheckGaps says whether it lies in a recording.
func ParseGap(s string, rate int) (Gap, error) {
	if rate <= 0 {
		return Gap{}, fmt.Errorf("gap %q at %d samples a second: %w: want a positive rate", s, rate, ErrArgument)
	}
	span, channel, owned := strings.Cut(s, "@")
	left, right, ok := strings.Cut(span, ":")
	if !ok {
		return Gap{}, fmt.Errorf("gap %q: %w: want START:END, such as 1200:1240 or 0.5s:0.52s, and @CHANNEL if it is one channel's", s,
			ErrGaps)
	}
	start, err := parsePosition(left, rate)
	if err != nil {
		return Gap{}, fmt.Errorf("gap %q: start: %w", s, err)
	}
	end, err := parsePosition(right, rate)
	if err != nil {
		return Gap{}, fmt.Errorf("gap %q: end: %w", s, err)
	}
	g := Gap{Start: start, End: end}
	if owned {
		if g.Channel, err = parseChannel(channel); err != nil {
			return Gap{}, fmt.Errorf("gap %q: %w", s, err)
		}
	}
	if err := g.check(); err != nil {
		return Gap{}, fmt.Errorf("gap %q: %w", s, err)
	}
	return g, nil
}

// parseChannel returns a channel's number.
func parseChannel(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %.40q is not a channel; they count from 1", ErrGaps, s)
	}
	return n, nil
}

// check refuses a gap without samples or with a negative start.
func (g Gap) check() error {
	switch {
	case g.Start < 0:
		return fmt.Errorf("%w: start %d is negative; samples count from 0", ErrGaps, g.Start)
	case g.End < g.Start:
		return fmt.Errorf("%w: end %d comes before start %d", ErrGaps, g.End, g.Start)
	case g.End == g.Start:
		return fmt.Errorf("%w: empty, sample %d to sample %d; the end is exclusive", ErrGaps, g.Start, g.End)
	}
	return nil
}

// SamplesIn returns the number of samples in a time in seconds, rounded, and at least one.
func SamplesIn(seconds float64, rate int) int { return max(1, int(math.Round(seconds*float64(rate)))) }

// maxPosition keeps positions exact as float64 and clear of overflow.
const maxPosition = 1 << 53

// parsePosition returns the number of a sample, given as such or as a time.
func parsePosition(s string, rate int) (int, error) {
	s = strings.TrimSpace(s)
	for _, unit := range []struct {
		suffix string
		perSec float64
	}{{"ms", 1e3}, {"s", 1}} {
		num, ok := strings.CutSuffix(s, unit.suffix)
		if !ok {
			continue
		}
		t, err := strconv.ParseFloat(num, 64)
		if err != nil || strings.Trim(num, "0123456789.") != "" {
			return 0, fmt.Errorf("%w: %q is not a time; write 0.5s or 500ms", ErrGaps, s)
		}
		n := math.Round(t * float64(rate) / unit.perSec)
		if n > maxPosition {
			return 0, fmt.Errorf("%w: %s is past any recording", ErrGaps, s)
		}
		return int(n), nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strings.HasPrefix(s, "+") {
		return 0, fmt.Errorf("%w: %q is not a whole number of samples; a time ends in s or ms", ErrGaps, s)
	}
	if n > maxPosition {
		return 0, fmt.Errorf("%w: sample %d is past any recording", ErrGaps, n)
	}
	return int(n), nil
}

// CheckGaps returns the gaps of a recording of n samples in each of so many channels in rising order. Touching gaps of the same
// channel ([10, 20) and [20, 30)) become one, because any fill treats them as one. It refuses empty, reversed or repeated gaps, gaps
// that overlap in a channel or reach outside the recording, an empty list, and gaps that leave a channel no sample to learn from.
// The argument is not changed.
func CheckGaps(gaps []Gap, n, channels int) ([]Gap, error) {
	if len(gaps) == 0 {
		return nil, fmt.Errorf("%w: there are none; give at least one", ErrGaps)
	}
	if channels < 1 {
		return nil, fmt.Errorf("%w: the recording has no channels", ErrGaps)
	}
	sorted := slices.Clone(gaps)
	slices.SortFunc(sorted, Gap.compare)
	var merged []Gap
	ends, missing := make([]int, channels), make([]int, channels)
	last := make([]int, channels+1) // in merged, and one more, of each channel's own gaps and of those that all miss
	for _, g := range sorted {
		if err := g.fits(n, channels); err != nil {
			return nil, fmt.Errorf("gap %v: %w", g, err)
		}
		from, to := max(0, g.Channel-1), g.Channel
		if g.Channel == 0 {
			to = channels
		}
		for c := from; c < to; c++ {
			if g.Start < ends[c] {
				return nil, fmt.Errorf("gap %v: %w: it overlaps the one before, which ends at sample %d", g, ErrGaps, ends[c])
			}
			ends[c] = g.End
			if missing[c] += g.Len(); missing[c] == n {
				return nil, fmt.Errorf("%w: they cover all %d samples; nothing is left to learn from", ErrGaps, n)
			}
		}
		if k := last[g.Channel] - 1; k >= 0 && merged[k].End == g.Start && merged[k].Clipped == g.Clipped {
			merged[k].End = g.End
			continue
		}
		merged = append(merged, g)
		last[g.Channel] = len(merged)
	}
	return merged, nil
}

// compare orders gaps in time, and those of all channels first.
func (g Gap) compare(h Gap) int {
	return cmp.Or(cmp.Compare(g.Start, h.Start), cmp.Compare(g.End, h.End), cmp.Compare(g.Channel, h.Channel))
}

// fits refuses a gap that no recording has, or that this one has not.
func (g Gap) fits(n, channels int) error {
	switch err := g.check(); {
	case err != nil:
		return err
	case g.End > n:
		return fmt.Errorf("%w: the recording ends at sample %d", ErrGaps, n)
	case g.Channel < 0 || g.Channel > channels:
		return fmt.Errorf("%w: the recording has %d channels", ErrGaps, channels)
	}
	return nil
}

// Missing returns at how many samples a channel misses something. The gaps rise.
func Missing(gaps []Gap) int {
	n, end := 0, 0
	for _, g := range gaps {
		n += max(0, g.End-max(g.Start, end))
		end = max(end, g.End)
	}
	return n
}

// Mask returns which of n samples are missing. Parts of gaps outside [0, n) are ignored.
func Mask(gaps []Gap, n int) []bool {
	mask := make([]bool, max(0, n))
	for _, g := range gaps {
		for i := max(0, g.Start); i < min(g.End, n); i++ {
			mask[i] = true
		}
	}
	return mask
}
