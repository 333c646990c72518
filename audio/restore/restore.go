// Package restore fills gaps in recordings, with the uncertainty of every sample: by a mixture of processes that even the pitch and
// the level of the sound around each gap, by autoregressive models, or by a windowed VSSGP fitted to the samples around.
package restore

import (
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
)

// Gap is a run of missing samples [Start, End).
type Gap = audio.Gap

// ErrGaps is wrapped by errors about gaps that cannot be filled: outside the recording, overlapping, or with too little left
// around them.
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
	// Forget drops an excerpt's model once its gaps are filled: models of many excerpts can take far more memory than the
	// recording.
	Forget bool
	// Fitted is called with each excerpt once its gaps are filled, while it still has its model. Excerpts at work at the
	// same time call it from their own goroutines.
	Fitted func(*Excerpt)
	// Workers is the number of excerpts that are fitted at once; 0: as many as cores.
	Workers int
	// Progress is called now and then, never from two goroutines at once.
	Progress func(Progress)
}

// Progress says where Fill stands.
type Progress struct {
	Excerpt, Excerpts int           // done, of how many: VSSGP's excerpts, or gaps
	Iteration         int           // of all excerpts together
	Iterations        int           // expected of all excerpts together
	Bound             float64       // so far, sum over the excerpts, in nats
	NoiseSD           float64       // of the excerpt that spoke last, first channel, in units of the samples
	Elapsed, Left     time.Duration // since Fill began; expected until it ends
}

// Result is a filled recording, with the models' uncertainty and how they were fitted.
type Result struct {
	// Filled is the recording [channel][sample]: the given samples outside the gaps, the predictive mean inside. Filled, Fit,
	// SD and Draws are nil in a result of FillFrom; each excerpt has its own.
	Filled [][]float64
	// Fit is the predictive mean [channel][sample] over the excerpts and NaN elsewhere, for errors on the observed samples.
	Fit [][]float64
	// SD is the predictive standard deviation [channel][sample] of a sample (noise included) over the excerpts, NaN elsewhere.
	SD [][]float64
	// Draws are further plausible recordings [draw][channel][sample].
	Draws      [][][]float64
	Excerpts   []Excerpt     // in rising order; each gap lies in one
	Method     Method        // that filled
	Doubts     []Doubt       // fills that should not be trusted, in rising order
	Joint      int           // gaps whose fill in some channel uses what other channels hold at the same time
	Bound      float64       // VSSGP's, sum over the excerpts
	Iterations int           // VSSGP's, of all excerpts
	Device     string        // VSSGP's backend
	Elapsed    time.Duration // of the whole fill

	gaps     []Gap // rising, as audio.CheckGaps gives them
	rate     int
	samples  int // in each channel of the recording
	channels int
	fills    [][]*single // [gap][channel that misses it]; nil if the excerpts contain the fills
}

// A Filling is the fill of a gap in one channel.
type Filling struct {
	Mean, SD []float64   // of each missing sample: what was likely there, and its standard deviation (noise included)
	Draws    [][]float64 // [draw][sample]
	Level    float64     // rms of what is known around: errors are large or small beside it
}

// A Doubt is a reason not to trust the fill of a gap.
type Doubt struct {
	Gap     Gap    // of the recording
	Channel int    // from 0
	Reason  string // in a sentence's words
}

// Excerpt is a part of the recording that was modeled on its own. Its Filled, Fit, SD and Draws are the Result's from sample
// Start to End.
type Excerpt struct {
	Start, End int   // samples
	Gaps       []Gap // of the recording, those that lie in it
	Filled     [][]float64
	Fit        [][]float64
	SD         [][]float64
	Draws      [][][]float64
	Features   int          // M of VSSGP, as the following
	Window     float64      // length of its windows in seconds; 0: none
	NoiseSD    float64      // of the first channel, in its units
	Model      *vssgp.Model // nil where Options.Forget is set, and with other methods than VSSGP
	Result     *vssgp.Result
}
