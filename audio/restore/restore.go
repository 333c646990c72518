// Package restore fills gaps in recordings and reports the uncertainty of each sample. It uses a mixture of autoregressive processes
// after time and level warping, plain autoregressive models, or a windowed VSSGP fitted to the surrounding samples.
//
//	                context         gap         context
//	samples    ~-~~-~~-~~-~~-~~|???????????|~~-~~-~~-~~-~~-~
//	mean                       |~~-~--.--~-|                    close to 0 if nothing predicts the sound
//	sd                         |/'''''''''\|                    largest in the middle
//	draws                      |~-~~-~~-~~~|                    possible sounds
//
// Fill a gap of a recording and write it:
//
//	rec, err := audio.Open("in.wav")
//	gaps := []restore.Gap{{Start: 1200, End: 1240}}
//	r, err := restore.Fill(ctx, rec.Samples, rec.Rate, gaps, restore.Options{})
//	patch, clipped, err := rec.Patch(r.Changes(-1))
//	err = patch.Write(w, rec.Container())
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

// A Method selects how gaps are filled.
type Method string

const (
	// Auto selects VSSGP if an option is set that only VSSGP supports, else Mixture.
	Auto Method = ""
	// Mixture averages processes that are stationary after time and level warping. Candidate models are weighted by their error on
	// artificial gaps (DESIGN.md, "Gap filling"). It has no bound.
	Mixture Method = "mixture"
	// Natural is Mixture with the level of the surrounding sound: at frequencies that the mean does not predict and at which it is
	// softer than the sound around the gap, a part of a draw is added (docs/fills.md, "Natural fills"). Its squared error is larger.
	Natural Method = "natural"
	// AR is the best simple fill: an autoregressive model whose context is selected by artificial gaps.
	AR Method = "ar"
	// VSSGP fits a windowed VSSGP to the samples around each gap.
	VSSGP Method = "vssgp"
)

// Options configures Fill. The zero value is the recommended setting.
type Options struct {
	// Method selects how gaps are filled. With Mixture, Natural and AR, only Seed, MemoryLimit, Progress and Backend of Model may be set.
	Method Method
	// Model configures the fit; lengths and periods are in seconds. Zero fields have defaults for audio: the spectrum initialization,
	// windows of 32 to 64 ms selected by the bound, and no iterations, because they raise the bound but degrade the fill (DESIGN.md,
	// "Initialization"). Excerpts that are filled in parallel share MemoryLimit. Checkpoints are not supported.
	Model vssgp.Options
	// Context is the duration to model on each side of a gap; 0: DefaultContext.
	Context time.Duration
	// All models the whole recording at once.
	All bool
	// Draws is the number of fills to draw from the posterior, in addition to the mean.
	Draws int
	// Forget discards the model of an excerpt after its gaps are filled. The models of many excerpts can need much more memory than the
	// recording.
	Forget bool
	// Filled, if not nil, is called with the fills [affected channel] of each gap when they are complete, in any order of gaps. Calls do
	// not overlap.
	Filled func(fills []GapFill)
	// Progress, if not nil, is called repeatedly. Calls do not overlap.
	Progress func(Progress)

	guesses []func() ([][]float64, error) // initial fills from an earlier fill of the same gaps; nil: none
}

// Progress reports the progress of Fill.
type Progress struct {
	Excerpt, Excerpts int           // number done and total: excerpts with VSSGP, gaps with other methods
	Iteration         int           // sum over the excerpts
	Iterations        int           // expected total over the excerpts
	Bound             float64       // current sum over the excerpts, in nats
	NoiseSD           float64       // first channel of the excerpt that reported last, in units of the samples
	Elapsed, Left     time.Duration // elapsed and estimated remaining time
}

// Result contains the fills of the gaps of a recording and information about the method.
type Result struct {
	Gaps       []Gap         // in increasing order, as audio.CheckGaps returns them
	Fills      [][]GapFill   // [gap][affected channel]
	Excerpts   []Excerpt     // in increasing order; each gap is in one excerpt
	Method     Method        // never Auto
	Bound      float64       // VSSGP only: sum over the excerpts
	Iterations int           // VSSGP only: sum over the excerpts
	Device     string        // VSSGP only: backend
	Elapsed    time.Duration // total time

	rate     int
	samples  int // in each channel of the recording
	channels int
	guesses  []func() ([][]float64, error) // [gap] initial fills [channel], computed on first use; nil for VSSGP
}

// A GapFill is the posterior of the missing samples of a gap in one channel.
type GapFill struct {
	Gap      Gap         // the filled gap
	Channel  int         // from 0
	Mean, SD []float64   // posterior mean and standard deviation of each missing sample; SD includes the noise
	Natural  []float64   // the fill by method Natural, which depends on the seed; nil if the fill is the mean
	Draws    [][]float64 // [draw][sample] from the joint posterior
	Level    float64     // rms of the surrounding known samples, in their units
	Joint    bool        // whether other channels were used
	Warning  string      // why the fill is unreliable; empty if there is no indication
}

// An Excerpt is a part of the recording with a separate model.
type Excerpt struct {
	Start, End int           // samples
	Gaps       []Gap         // gaps in the excerpt, in samples of the recording
	Fit, SD    [][]float64   // [channel][sample] predictive mean and standard deviation, including noise; VSSGP only, like the fields below
	Features   int           // number M of features
	Window     float64       // window length in seconds; 0: no windows
	NoiseSD    float64       // of the first channel, in its units
	Model      *vssgp.Model  // nil if Options.Forget is set
	Result     *vssgp.Result // of the fit
}

// Apply returns a copy of samples [channel][sample] with filled gaps. draw is the index of a draw, or −1 for the fill.
func (r *Result) Apply(samples [][]float64, draw int) [][]float64 {
	out, _ := audio.Samples(samples).Read(0, r.samples) // never fails
	for f := range r.All() {
		copy(out[f.Channel][f.Gap.Start:f.Gap.End], f.Values(draw))
	}
	return out
}

// Changes returns the fills as changes for the Patch method of the recording's file. draw is as for Apply.
func (r *Result) Changes(draw int) []audio.Change {
	all := make([]audio.Change, len(r.Gaps))
	for i, g := range r.Gaps {
		all[i] = audio.Change{Start: g.Start, Values: make([][]float64, r.channels)}
		for _, f := range r.Fills[i] {
			all[i].Values[f.Channel] = f.Values(draw)
		}
	}
	return all
}

// Values returns the draw with an index, or the fill if draw is −1: Natural if it is not nil, else Mean.
func (f *GapFill) Values(draw int) []float64 {
	switch {
	case draw >= 0:
		return f.Draws[draw]
	case f.Natural != nil:
		return f.Natural
	}
	return f.Mean
}

// All returns an iterator over the fills, ordered by gap and channel.
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

// Warnings returns the fills with a warning.
func (r *Result) Warnings() (all []*GapFill) {
	for f := range r.All() {
		if f.Warning != "" {
			all = append(all, f)
		}
	}
	return all
}

// Joint returns the number of gaps whose fill uses other channels, in at least one channel.
func (r *Result) Joint() (n int) {
	for _, fills := range r.Fills {
		if slices.ContainsFunc(fills, func(f GapFill) bool { return f.Joint }) {
			n++
		}
	}
	return n
}
