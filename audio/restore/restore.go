// Package restore fills gaps in recordings, with the uncertainty of every sample: by a mixture of processes that even the pitch and
// the level of the sound around each gap, by autoregressive models, or by a windowed VSSGP fitted to the samples around.
package restore

import (
	"iter"
	"slices"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
)

// Gap is a run of missing samples [Start, End).
type Gap = audio.Gap

// ErrGaps is wrapped by errors about gaps that cannot be filled: outside the recording, overlapping, or with too little left around them.
var ErrGaps = audio.ErrGaps

// A Method is how gaps are filled.
type Method string

const (
	// Auto is Mixture, or VSSGP where an option is set that only VSSGP has.
	Auto Method = ""
	// Mixture is a mixture of processes that are stationary once pitch and level are evened, with recipes weighed by trial gaps
	// (DESIGN.md, "Filling gaps"). It has no bound.
	Mixture Method = "mixture"
	// AR is the best simple fill: an autoregressive model of a length chosen by trial gaps.
	AR Method = "ar"
	// VSSGP is a windowed VSSGP of the samples around each gap.
	VSSGP Method = "vssgp"
)

// Options of Fill; the zero value is the recommended setting.
type Options struct {
	// Method is how gaps are filled. Mixture and AR take from Model only Seed, MemoryLimit, Progress and Backend, and refuse other fields.
	Method Method
	// Model are the fit's options; lengths and periods are in seconds. Zero fields are chosen for audio: the spectrum start,
	// windows of 32 to 64 ms by the bound, and no iterations from there, which would raise the bound and spoil the fill
	// (DESIGN.md, "Starting values"). Excerpts at work at the same time share the MemoryLimit. A checkpoint is refused.
	Model vssgp.Options
	// Context is the time on each side of a gap that is modeled; 0: DefaultContext.
	Context time.Duration
	// All models the whole recording at once.
	All bool
	// Draws is the number of further plausible fills to draw from the posterior.
	Draws int
	// Forget drops an excerpt's model once its gaps are filled: models of many excerpts can take far more memory than the recording.
	Forget bool
	// Filled is called with the fills [channel that misses it] of each gap as soon as they are made, in any order of gaps. Calls do not overlap.
	Filled func(fills []GapFill)
	// Progress is called now and then; calls do not overlap.
	Progress func(Progress)

	guesses []func() ([][]float64, error) // of an earlier fill of the same gaps; nil: none
}

// Progress reports how far Fill is.
type Progress struct {
	Excerpt, Excerpts int           // done, of how many: VSSGP's excerpts, or gaps
	Iteration         int           // of all excerpts together
	Iterations        int           // expected of all excerpts together
	Bound             float64       // so far, sum over the excerpts, in nats
	NoiseSD           float64       // of the excerpt that reported last, first channel, in units of the samples
	Elapsed, Left     time.Duration // since Fill began; expected until it ends
}

// Result is the fill of a recording's gaps, and how it was made.
type Result struct {
	Gaps       []Gap         // in increasing order, as audio.CheckGaps returns them
	Fills      [][]GapFill   // [gap][channel that misses it]
	Excerpts   []Excerpt     // in increasing order; each gap lies in one
	Method     Method        // never Auto
	Bound      float64       // VSSGP's, sum over the excerpts
	Iterations int           // VSSGP's, of all excerpts
	Device     string        // VSSGP's backend
	Elapsed    time.Duration // of the whole fill

	rate     int
	samples  int // in each channel of the recording
	channels int
	guesses  []func() ([][]float64, error) // [gap]: first fills [channel], made once for all fills that need them; nil for VSSGP
}

// A GapFill is the posterior of the missing samples of a gap in one channel.
type GapFill struct {
	Gap      Gap         // that is filled
	Channel  int         // from 0
	Mean, SD []float64   // of each missing sample; SD includes the noise
	Draws    [][]float64 // [draw][sample], joint
	Level    float64     // rms of the known samples around, in their units
	Joint    bool        // it uses what other channels recorded at the same time
	Warning  string      // why the fill should not be trusted; empty if nothing is known against it
}

// An Excerpt is a part of the recording that has its own model.
type Excerpt struct {
	Start, End int           // samples
	Gaps       []Gap         // of the recording, those that lie in it
	Fit, SD    [][]float64   // of VSSGP, [channel][sample]: predictive mean and standard deviation (noise included)
	Features   int           // M of VSSGP, as the following
	Window     float64       // length of its windows in seconds; 0: none
	NoiseSD    float64       // of the first channel, in its units
	Model      *vssgp.Model  // nil if Options.Forget is set, and with other methods than VSSGP
	Result     *vssgp.Result // of the fit
}

// Apply returns a copy of samples [channel][sample] with the fills in their gaps. Draw −1 is the mean, others are Options.Draws.
func (r *Result) Apply(samples [][]float64, draw int) [][]float64 {
	out, _ := audio.Samples(samples).Read(0, r.samples) // memory does not fail
	for f := range r.All() {
		copy(out[f.Channel][f.Gap.Start:f.Gap.End], f.values(draw))
	}
	return out
}

// Changes returns the fills as changes of the recording's file, for its Patch. Draw is that of Apply.
func (r *Result) Changes(draw int) []audio.Change {
	all := make([]audio.Change, len(r.Gaps))
	for i, g := range r.Gaps {
		all[i] = audio.Change{Start: g.Start, Values: make([][]float64, r.channels)}
		for _, f := range r.Fills[i] {
			all[i].Values[f.Channel] = f.values(draw)
		}
	}
	return all
}

func (f *GapFill) values(draw int) []float64 {
	if draw < 0 {
		return f.Mean
	}
	return f.Draws[draw]
}

// All iterates over the fills in increasing order of their gaps and, within a gap, of channels.
func (r *Result) All() iter.Seq[*GapFill] {
	return func(yield func(*GapFill) bool) {
		for i := range r.Fills {
			for k := range r.Fills[i] {
				if !yield(&r.Fills[i][k]) {
					return
				}
			}
		}
	}
}

// Warnings returns the fills that should not be trusted.
func (r *Result) Warnings() (all []*GapFill) {
	for f := range r.All() {
		if f.Warning != "" {
			all = append(all, f)
		}
	}
	return all
}

// Joint returns the number of gaps whose fill in some channel uses other channels.
func (r *Result) Joint() (n int) {
	for _, fills := range r.Fills {
		if slices.ContainsFunc(fills, func(f GapFill) bool { return f.Joint }) {
			n++
		}
	}
	return n
}
