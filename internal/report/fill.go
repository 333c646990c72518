package report

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
)

// Fill is what Impute reports on: a filled recording.
type Fill struct {
	Name      string // of the recording's file
	Output    string // of the filled one's
	Samples   int    // per channel
	Rate      int
	Channels  int
	Gaps      []impute.Gap // rising
	Result    *impute.Result
	Input     impute.Source // the recording as it was given, gaps and all
	Reference impute.Source // nil: none is known
	Scores    *Table        // nil: no reference
	Density   *Densities    // nil: not asked for
	Settings  []Setting
}

func (f *Fill) summary() string {
	return fmt.Sprintf("%s filled (%d of %d samples, %s, %d Hz, %s) in %.1f s on %s. The filled recording is %s.",
		Counted(len(f.Gaps), "gap"), audio.Missing(f.Gaps), f.Samples, clock(f.Samples, f.Rate), f.Rate,
		Counted(f.Channels, "channel"), f.Result.Elapsed.Seconds(), f.Result.Device, f.Output)
}

// clock is the time of a sample, in minutes from one minute on.
func clock(sample, rate int) string {
	s := float64(sample) / float64(rate)
	if s < 60 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%d:%06.3f min", int(s)/60, math.Mod(s, 60))
}

// length is a gap's length.
func length(g impute.Gap, rate int) string {
	return fmt.Sprintf("%.4g ms", 1000*float64(g.Len())/float64(rate))
}
