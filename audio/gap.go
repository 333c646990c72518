package audio

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
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

// ParseGap reads START:END or START-END, or, for a gap of one channel, either with @CHANNEL; the end is exclusive. Each side is a whole
// number of samples ("1200"), a decimal time in seconds or milliseconds ("0.5s", "500ms"), or, with the dash, m:ss.mmm or h:mm:ss.mmm
// ("1:02.500-1:02.540"). Times are rounded to the nearest sample at rate samples a second. The gap is non-empty and not negative;
// CheckGaps says whether it lies in a recording.
func ParseGap(s string, rate int) (g Gap, err error) {
	if rate <= 0 {
		return g, fmt.Errorf("gap %q at %d samples a second: %w: want a positive rate", s, rate, ErrArgument)
	}
	span, channel, owned := strings.Cut(s, "@")
	at := strings.LastIndexByte(span, '-')
	if at <= 0 && strings.Count(span, ":") == 1 {
		at = strings.IndexByte(span, ':')
	}
	if at <= 0 {
		return g, fmt.Errorf("gap %q: %w: want START:END, such as 1200:1240 or 0.5s:0.52s, or with colons in the times START-END, such as "+
			"1:02.500-1:02.540, and @CHANNEL if it is one channel's", s, ErrGaps)
	}
	ends := []string{span[:at], span[at+1:]}
	if owned {
		ends = append(ends, channel)
	}
	if g, err = gapOf(ends, rate); err != nil {
		return Gap{}, fmt.Errorf("gap %q: %w", s, err)
	}
	return g, nil
}

// gapOf returns the gap of a start, an end and, if there is one, a channel.
func gapOf(field []string, rate int) (g Gap, err error) {
	if g.Start, err = parsePosition(field[0], rate); err != nil {
		return g, fmt.Errorf("start: %w", err)
	}
	if g.End, err = parsePosition(field[1], rate); err != nil {
		return g, fmt.Errorf("end: %w", err)
	}
	if len(field) > 2 {
		if g.Channel, err = parseChannel(field[2]); err != nil {
			return g, err
		}
	}
	return g, g.check()
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

// timePattern matches a time: hours and minutes before colons, seconds, and a unit.
var timePattern = regexp.MustCompile(`^(?:(?:(\d+):)?(\d+):)?(\d*\.?\d*)(ms|s)?$`)

// parsePosition returns the number of a sample, given as such or as a time.
func parsePosition(s string, rate int) (int, error) {
	s = strings.TrimSpace(s)
	n, err := strconv.ParseInt(s, 10, 64)
	position, time := float64(n), timePattern.FindStringSubmatch(s)
	if err != nil && time != nil && (time[2] == "") != (time[4] == "") {
		var t, hours, minutes float64
		perSecond := 1.0
		t, err = strconv.ParseFloat(time[3], 64)
		hours, _ = strconv.ParseFloat(cmp.Or(time[1], "0"), 64)
		minutes, _ = strconv.ParseFloat(cmp.Or(time[2], "0"), 64)
		if time[4] == "ms" {
			perSecond = 1000
		}
		if time[2] != "" && t >= 60 || time[1] != "" && minutes >= 60 {
			err = ErrGaps
		}
		position = math.Round((3600*hours + 60*minutes + t) * float64(rate) / perSecond)
	}
	switch {
	case err != nil || strings.HasPrefix(s, "+"):
		return 0, fmt.Errorf("%w: %q is neither a whole number of samples nor a time such as 0.5s, 500ms, 1:02.500 or 1:00:02.500", ErrGaps, s)
	case position >= maxPosition:
		return 0, fmt.Errorf("%w: %s is past any recording", ErrGaps, s)
	}
	return int(position), nil
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
	before, missing := make([]Gap, channels), make([]int, channels)
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
			if g.Start < before[c].End {
				return nil, fmt.Errorf("gap %v: %w: it overlaps gap %v", g, ErrGaps, before[c])
			}
			before[c] = g
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

// compare orders gaps in time; gaps of all channels come first.
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
