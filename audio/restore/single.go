package restore

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/bayes"
)

// A single is the fill of one gap of one channel.
type single struct {
	mean, sd []float64
	draws    [][]float64
	trials   int     // that chose its recipe
	others   int     // channels that it looks at besides its own
	limits   limits  // that it keeps to
	level    float64 // rms of the samples known around it
}

// limits says whether a fill is of clipped samples, and whether it could keep to their limits.
type limits int

const (
	noLimits limits = iota
	limitsKept
	limitsDoubtful
)

// doubtful is the expected error of a fill, relative to the level of the sound around, from which on it is in doubt. On half of some
// recordings it told errors above 0.7 of that level best (docs/fills.md).
const doubtful = 0.65

// doubts returns the reasons not to trust a fill.
func (s *single) doubts(gap Gap, channel, longest int) (all []Doubt) {
	add := func(format string, args ...any) { all = append(all, Doubt{gap, channel, fmt.Sprintf(format, args...)}) }
	switch {
	case s.limits == limitsDoubtful:
		add("the limits of its clipped samples contradict the sound around, or its restoration did not settle")
		return all
	case s.limits == limitsKept || s.level == 0: // silence in silence
		return nil
	}
	switch expected := bayes.RMS(s.sd) / s.level; {
	case gap.Len() > longest && s.others == 0:
		add("the gap is too long: only its ends are known")
	case expected > doubtful:
		add("the error is expected to be %.0f %% of the level around", 100*expected)
	case s.trials == 0:
		add("there is no space around for trial gaps, which choose how to fill")
	}
	return all
}
