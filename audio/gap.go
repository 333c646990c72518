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

// Gap is a run of missing samples, [Start, End), counted in samples per channel from the start of the recording. A gap
// is missing in all channels.
type Gap struct{ Start, End int }

// Len returns the number of missing samples.
func (g Gap) Len() int { return g.End - g.Start }

// String returns START:END in samples, as ParseGap reads it.
func (g Gap) String() string { return fmt.Sprintf("%d:%d", g.Start, g.End) }

// ParseGap reads START:END, the end exclusive. Each side is a whole number of samples ("1200") or a decimal time in
// seconds or milliseconds ("0.5s", "500ms"), which is rounded to the nearest sample at rate samples a second. The gap
// is non-empty and not negative; CheckGaps says whether it lies in a recording.
func ParseGap(s string, rate int) (Gap, error) {
	if rate <= 0 {
		return Gap{}, fmt.Errorf("gap %q at %d samples a second: %w: want a positive rate", s, rate, ErrArgument)
	}
	left, right, ok := strings.Cut(s, ":")
	if !ok {
		return Gap{}, fmt.Errorf("gap %q: %w: want START:END, such as 1200:1240 or 0.5s:0.52s", s, ErrGaps)
	}
	start, err := parsePosition(left, rate)
	if err != nil {
		return Gap{}, fmt.Errorf("gap %q: start: %w", s, err)
	}
	end, err := parsePosition(right, rate)
	if err != nil {
		return Gap{}, fmt.Errorf("gap %q: end: %w", s, err)
	}
	g := Gap{start, end}
	if err := g.check(); err != nil {
		return Gap{}, fmt.Errorf("gap %q: %w", s, err)
	}
	return g, nil
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

// CheckGaps returns the gaps in rising order. Touching gaps ([10, 20) and [20, 30)) become one, because any fill treats them
// as one. It refuses empty, reversed, overlapping or repeated gaps, gaps that reach outside the n samples, an empty list,
// and gaps that leave no sample to learn from. The argument is not changed.
func CheckGaps(gaps []Gap, n int) ([]Gap, error) {
	if len(gaps) == 0 {
		return nil, fmt.Errorf("%w: there are none; give at least one", ErrGaps)
	}
	sorted := slices.Clone(gaps)
	slices.SortFunc(sorted, func(a, b Gap) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var merged []Gap
	for _, g := range sorted {
		if err := g.check(); err != nil {
			return nil, fmt.Errorf("gap %v: %w", g, err)
		}
		if g.End > n {
			return nil, fmt.Errorf("gap %v: %w: the recording ends at sample %d", g, ErrGaps, n)
		}
		last := len(merged) - 1
		switch {
		case last >= 0 && g.Start < merged[last].End:
			return nil, fmt.Errorf("gap %v: %w: it overlaps the one before, which ends at sample %d", g, ErrGaps, merged[last].End)
		case last >= 0 && g.Start == merged[last].End:
			merged[last].End = g.End
		default:
			merged = append(merged, g)
		}
	}
	if Missing(merged) == n {
		return nil, fmt.Errorf("%w: they cover all %d samples; nothing is left to learn from", ErrGaps, n)
	}
	return merged, nil
}

// Missing returns the number of samples in all gaps together.
func Missing(gaps []Gap) int {
	n := 0
	for _, g := range gaps {
		n += g.Len()
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
