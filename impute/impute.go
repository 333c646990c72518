// Package impute fills gaps in recordings: it cuts an excerpt around each gap,
// fits a windowed VSSGP to what is left of it, and predicts what is missing.
package impute

import (
	"fmt"
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
	// and spoil the fill (DESIGN.md, "Starting values"). Excerpts at work at the
	// same time share the MemoryLimit. A checkpoint is for one excerpt that is
	// optimised (All, Iterations).
	Model vssgp.Options
	// Context is how much on each side of a gap is modelled; default 60 ms.
	Context time.Duration
	// All models the whole recording at once.
	All bool
	// Draws is how many further plausible fills to draw from the posterior.
	Draws int
	// Forget drops an excerpt's model once its gaps are filled: models of many
	// excerpts can take far more memory than the recording.
	Forget bool
	// Fitted is called with each excerpt once its gaps are filled, while it
	// still has its model; of several at work at a time from their goroutines.
	Fitted func(*Excerpt)
	// Workers is how many excerpts are fitted at once; 0: as many as cores.
	Workers int
	// Progress is called now and then, never from two goroutines at once.
	Progress func(Progress)
}

// Progress says where Fill stands.
type Progress struct {
	Excerpt, Excerpts int           // done, of how many
	Iteration         int           // of all excerpts together
	Iterations        int           // expected of all excerpts together
	Bound             float64       // so far, sum over the excerpts, in nats
	NoiseSD           float64       // of the excerpt that spoke last, first channel, in units of the samples
	Elapsed, Left     time.Duration // since Fill began; expected until it ends
}

// Result is a filled recording and what is known of the fill.
type Result struct {
	// Filled is the recording [channel][sample]: the given samples outside
	// the gaps, the predictive mean inside. It, Fit, SD and Draws are nil where
	// FillFrom has filled a recording that is not in memory: the excerpts have
	// their parts of them.
	Filled [][]float64
	// Fit is the predictive mean [channel][sample] over the excerpts and NaN
	// elsewhere, for errors on the observed samples.
	Fit [][]float64
	// SD is the predictive standard deviation [channel][sample] of a sample
	// (noise included) over the excerpts, NaN elsewhere.
	SD [][]float64
	// Draws are further plausible recordings [draw][channel][sample].
	Draws      [][][]float64
	Excerpts   []Excerpt     // in rising order; each gap lies in one
	Bound      float64       // sum over the excerpts
	Iterations int           // of all excerpts
	Device     string        // what computed: the backend's name
	Elapsed    time.Duration // of the whole fill

	gaps    []Gap // rising, as audio.CheckGaps gives them
	rate    int
	samples int // in each channel of the recording
}

// Excerpt is a stretch of the recording that was modelled on its own. Its
// Filled, Fit, SD and Draws are those of Result between Start and End, sample
// Start first.
type Excerpt struct {
	Start, End int   // samples
	Gaps       []Gap // of the recording, those that lie in it
	Filled     [][]float64
	Fit        [][]float64
	SD         [][]float64
	Draws      [][][]float64
	Features   int          // M
	Window     float64      // length of its windows in seconds; 0: none
	NoiseSD    float64      // of the first channel, in its units
	Model      *vssgp.Model // nil where Options.Forget is set
	Result     *vssgp.Result
}

// data are the excerpt's observed samples, x in seconds from the recording's
// beginning. Channels that are nil give data without y.
func (e *Excerpt) data(samples [][]float64, rate int, missing []bool) *vssgp.Data {
	d := &vssgp.Data{Q: 1, D: len(samples), XNames: []string{"seconds"}}
	for c := range samples {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	for i, absent := range missing {
		if absent {
			continue
		}
		d.N++
		d.X = append(d.X, float64(e.Start+i)/float64(rate))
		for _, c := range samples {
			if c != nil {
				d.Y = append(d.Y, c[i])
			}
		}
	}
	return d
}

// inGap says for each of the excerpt's samples whether it is missing.
func (e *Excerpt) inGap() []bool {
	mask := make([]bool, e.End-e.Start)
	for _, g := range e.Gaps {
		for i := g.Start; i < g.End; i++ {
			mask[i-e.Start] = true
		}
	}
	return mask
}
