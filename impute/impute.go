// Package impute fills gaps in recordings: it cuts an excerpt around each gap,
// fits a windowed VSSGP to what is left of it, and predicts what is missing.
package impute

import (
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
)

// Gap is a stretch of missing samples [Start, End).
type Gap = audio.Gap

// Options of Fill; the zero value is the recommended setting.
type Options struct {
	// Model are the fit's options; lengths and periods are in seconds. Zero
	// fields are chosen for audio: the spectrum start, windows of 32 to 64 ms
	// by the bound, and no iterations from there, which would raise the bound
	// and spoil the fill (DESIGN.md, "Starting values").
	Model vssgp.Options
	// Context is how much on each side of a gap is modelled; default 60 ms.
	Context time.Duration
	// All models the whole recording at once.
	All bool
	// Draws is how many further plausible fills to draw from the posterior.
	Draws int
	// Workers is how many excerpts are fitted at once; 0: as many as cores.
	Workers int
	// Progress is called now and then, never from two goroutines at once.
	Progress func(Progress)
}

// Progress says where Fill stands.
type Progress struct {
	Excerpt, Excerpts int // done, of how many
	Iteration         int // of all excerpts together
	Iterations        int // expected of all excerpts together
	Bound             float64
	NoiseSD           float64
	Elapsed, Left     time.Duration
}

// Result is a filled recording and what is known of the fill.
type Result struct {
	// Filled is the recording [channel][sample]: the given samples outside
	// the gaps, the predictive mean inside.
	Filled [][]float64
	// Fit is the predictive mean [channel][sample] over the excerpts and NaN
	// elsewhere, for errors on the observed samples.
	Fit [][]float64
	// SD is the predictive standard deviation [channel][sample] of a sample
	// (noise included) over the excerpts, NaN elsewhere.
	SD [][]float64
	// Draws are further plausible recordings [draw][channel][sample].
	Draws      [][][]float64
	Excerpts   []Excerpt
	Bound      float64 // sum over the excerpts
	Iterations int     // of all excerpts
	Device     string
	Elapsed    time.Duration
}

// Excerpt is a stretch of the recording that was modelled on its own.
type Excerpt struct {
	Start, End int // samples
	Gaps       []Gap
	Model      *vssgp.Model
	Result     *vssgp.Result
}
