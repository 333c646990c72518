package audio

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrGaps is wrapped by every error about gaps: bad syntax, reversed, empty, overlapping, outside the recording, or covering a whole
// channel.
var ErrGaps = fault.New("bad gaps")

// Gap is a run of missing samples [Start, End), in samples per channel from the start of the recording.
type Gap struct {
	Start, End int
	Channel    int  // affected channel, from 1; 0: all
	Clipped    bool // the samples are clipped: the true values have the same sign and at least the same magnitude
	Click      bool // the samples contain a click: they are the sum of the sound and a disturbance
}

// Len returns the number of missing samples.
func (g Gap) Len() int { return g.End - g.Start }

// In reports whether the gap affects a channel, counted from 0.
func (g Gap) In(channel int) bool { return g.Channel == 0 || g.Channel == channel+1 }

// String returns START:END in samples, followed by @CHANNEL for a gap in one channel. ParseGap reads this notation.
func (g Gap) String() string {
	if g.Channel == 0 {
		return fmt.Sprintf("%d:%d", g.Start, g.End)
	}
	return fmt.Sprintf("%d:%d@%d", g.Start, g.End, g.Channel)
}

// ParseGap parses START:END or START-END, followed by @CHANNEL for a gap in one channel. The end is exclusive. START and END are integers
// in samples ("1200"), decimal times in seconds or milliseconds ("0.5s", "500ms"), or, with the dash, times m:ss.mmm or h:mm:ss.mmm
// ("1:02.500-1:02.540"). Times are rounded to the nearest sample; rate is in Hz. The gap must be non-empty and must not start before 0.
// CheckGaps checks it against a recording.
func ParseGap(s string, rate int) (g Gap, err error) {
	if rate <= 0 {
		return g, fmt.Errorf("gap %q: sample rate %d must be positive: %w", s, rate, ErrArgument)
	}
	span, channel, oneChannel := strings.Cut(s, "@")
	at := strings.LastIndexByte(span, '-')
	if at <= 0 && strings.Count(span, ":") == 1 {
		at = strings.IndexByte(span, ':')
	}
	if at <= 0 {
		return g, fault.Errorf(ErrGaps, "gap %q: must be START:END, such as 1200:1240 or 0.5s:0.52s, or START-END, such as 1:02.500-1:02.540, "+
			"followed by @CHANNEL for a gap in one channel", s)
	}
	ends := []string{span[:at], span[at+1:]}
	if oneChannel {
		ends = append(ends, channel)
	}
	if g, err = gapOf(ends, rate); err != nil {
		return Gap{}, fmt.Errorf("gap %q: %w", s, err)
	}
	return g, nil
}

// gapOf parses a start, an end and an optional channel.
func gapOf(field []string, rate int) (g Gap, err error) {
	if g.Start, err = ParsePosition(field[0], rate); err != nil {
		return g, fmt.Errorf("start: %w", err)
	}
	if g.End, err = ParsePosition(field[1], rate); err != nil {
		return g, fmt.Errorf("end: %w", err)
	}
	if len(field) > 2 {
		if g.Channel, err = parseChannel(field[2]); err != nil {
			return g, err
		}
	}
	return g, g.check()
}

// parseChannel parses a channel number.
func parseChannel(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return 0, fault.Errorf(ErrGaps, "invalid channel %.40q, channels are counted from 1", s)
	}
	return n, nil
}

// check returns an error if the gap is empty, reversed or starts before 0.
func (g Gap) check() error {
	switch {
	case g.Start < 0:
		return fault.Errorf(ErrGaps, "start %d must not be negative", g.Start)
	case g.End < g.Start:
		return fault.Errorf(ErrGaps, "end %d is before start %d", g.End, g.Start)
	case g.End == g.Start:
		return fault.Errorf(ErrGaps, "%d:%d is empty, the end is exclusive", g.Start, g.End)
	}
	return nil
}

// SamplesIn returns the number of samples in a duration, rounded, but at least one.
func SamplesIn(seconds float64, rate int) int { return max(1, int(math.Round(seconds*float64(rate)))) }

// maxPosition is the limit of sample positions. Positions below it are exact as float64 and do not overflow.
const maxPosition = 1 << 53

// timePattern matches hours and minutes, each followed by a colon, then seconds, then a unit.
var timePattern = regexp.MustCompile(`^(?:(?:(\d+):)?(\d+):)?(\d*\.?\d*)(ms|s)?$`)

// ParsePosition parses a sample index or a time in the notation of ParseGap, and returns the sample index. rate is
// in Hz.
func ParsePosition(s string, rate int) (int, error) {
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
	case rate <= 0:
		return 0, fmt.Errorf("position %q: sample rate %d must be positive: %w", s, rate, ErrArgument)
	case err != nil || strings.HasPrefix(s, "+"):
		return 0, fault.Errorf(ErrGaps, "%q must be an integer number of samples or a time such as 0.5s, 500ms, 1:02.500 or 1:00:02.500", s)
	case position >= maxPosition:
		return 0, fault.Errorf(ErrGaps, "position %s exceeds the maximum of 2^53 samples", s)
	}
	return int(position), nil
}

// CheckGaps returns the gaps in increasing order, for a recording of n samples per channel. Adjacent gaps in the same channel, such as
// [10, 20) and [20, 30), are merged. The error wraps ErrGaps if the list is empty, if a gap is empty, reversed or outside the recording,
// if gaps overlap in a channel, or if they cover a whole channel. CheckGaps does not modify its argument.
func CheckGaps(gaps []Gap, n, channels int) ([]Gap, error) {
	if len(gaps) == 0 {
		return nil, fault.Errorf(ErrGaps, "the list is empty, at least one gap is required")
	}
	if channels < 1 {
		return nil, fault.Errorf(ErrGaps, "the recording has no channels")
	}
	sorted := slices.Clone(gaps)
	slices.SortFunc(sorted, Gap.compare)
	var merged []Gap
	before, missing := make([]Gap, channels), make([]int, channels)
	last := make([]int, channels+1) // by Gap.Channel: 1 + index in merged of the last gap, 0 if none
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
				return nil, fault.Errorf(ErrGaps, "gap %v: it overlaps gap %v", g, before[c])
			}
			before[c] = g
			if missing[c] += g.Len(); missing[c] == n {
				return nil, fault.Errorf(ErrGaps, "the gaps cover all %d samples of a channel", n)
			}
		}
		if k := last[g.Channel] - 1; k >= 0 && merged[k].continues(g) {
			merged[k].End = g.End
			continue
		}
		merged = append(merged, g)
		last[g.Channel] = len(merged)
	}
	return merged, nil
}

// continues reports whether h begins at the end of g and has the same kind of damage.
func (g Gap) continues(h Gap) bool {
	return g.End == h.Start && g.Clipped == h.Clipped && g.Click == h.Click
}

// compare orders gaps by start, end and channel.
func (g Gap) compare(h Gap) int {
	return cmp.Or(cmp.Compare(g.Start, h.Start), cmp.Compare(g.End, h.End), cmp.Compare(g.Channel, h.Channel))
}

// fits returns an error if the gap is invalid or outside a recording of n samples per channel.
func (g Gap) fits(n, channels int) error {
	switch err := g.check(); {
	case err != nil:
		return err
	case g.End > n:
		return fault.Errorf(ErrGaps, "the recording ends at sample %d", n)
	case g.Channel < 0 || g.Channel > channels:
		return fault.Errorf(ErrGaps, "channel %d, must be 1 to %d", g.Channel, channels)
	}
	return nil
}

// Missing returns the number of sample positions at which at least one channel has a gap. The gaps must be in increasing order.
func Missing(gaps []Gap) int {
	n, end := 0, 0
	for _, g := range gaps {
		n += max(0, g.End-max(g.Start, end))
		end = max(end, g.End)
	}
	return n
}

// Mask returns a mask [n] that is true at the missing samples. Parts of gaps outside [0, n) are ignored.
func Mask(gaps []Gap, n int) []bool {
	mask := make([]bool, max(0, n))
	for _, g := range gaps {
		for i := max(0, g.Start); i < min(g.End, n); i++ {
			mask[i] = true
		}
	}
	return mask
}
