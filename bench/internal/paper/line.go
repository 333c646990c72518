package paper

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A Line is one fit of one method and how well it did.
type Line struct {
	machine.Machine
	Time string `json:"time"` // start, UTC, RFC 3339

	Key
	Source

	Class      string   `json:"class,omitempty"` // of a recording: speech, music, …
	Rate       int      `json:"rate,omitempty"`  // of a recording, samples a second
	N          int      `json:"N"`               // rows fitted to
	M          int      `json:"M,omitempty"`     // features or inducing inputs
	Iterations int      `json:"iterations,omitempty"`
	Bound      *float64 `json:"bound,omitempty"`
	Seconds    float64  `json:"seconds"`                     // of the fit, of all its starts, wall time
	Processor  float64  `json:"processor_seconds,omitempty"` // where gaps are scored one by one: of one core, as far as the system knows it
	Ended      string   `json:"ended,omitempty"`             // why

	Scores  map[Score]float64 `json:"scores,omitempty"`
	PerGap  []GapScore        `json:"per_gap,omitempty"` // in the order of their places
	Learned *Learned          `json:"learnt,omitempty"`
	Curve   *Curve            `json:"curve,omitempty"`
	Status  string            `json:"status"` // ok, or why there are no scores
}

// A Source is a data file.
type Source struct {
	Data   string `json:"data"` // its name
	SHA256 string `json:"sha256"`
}

// Key tells one line of a set from the others.
type Key struct {
	Set    string `json:"set"`
	Quick  bool   `json:"quick,omitempty"` // a small version, whose figures mean nothing
	Case   string `json:"case,omitempty"`  // of several data or cuts, which
	Gap    int    `json:"gap,omitempty"`   // length of the gaps in samples, where it varies
	K      int    `json:"K,omitempty"`     // features per component, where they vary
	Method string `json:"method"`
	Start  string `json:"start,omitempty"` // of the parameters (paper, spectrum, …), or a method's setting, or the part that it omits
	Seed   uint64 `json:"seed"`
}

func keyOf(l Line) Key { return l.Key }

// String is the key for people, without the set.
func (k Key) String() string {
	s := ""
	if k.Case != "" {
		s = k.Case + ", "
	}
	if k.Gap > 0 {
		s += fmt.Sprintf("gap %d, ", k.Gap)
	}
	if k.K > 0 {
		s += fmt.Sprintf("K %d, ", k.K)
	}
	s += k.Method
	if k.Start != "" {
		s += " (" + k.Start + ")"
	}
	return s + fmt.Sprintf(", seed %d", k.Seed)
}

// A Score names a figure of merit.
type Score string

// The scores, over the rows fitted to (train) or those left out: of solar in standard deviations of the data, of co2 in ppm, of
// recordings scaled to an rms of 0.1.
const (
	TrainRMSE Score = "train_rmse"
	TestRMSE  Score = "test_rmse"
	TrainSTFT Score = "train_stft_rmse"
	TestSTFT  Score = "test_stft_rmse"
	ZeroTrain Score = "silence_train_stft_rmse" // of predicting 0
	ZeroTest  Score = "silence_test_stft_rmse"
	ZeroRMSE  Score = "silence_test_rmse"
	SNR       Score = "snr"        // dB, over the gaps
	Coverage  Score = "coverage95" // share of the left-out rows inside the 95 % interval
	NLPD      Score = "nlpd"       // mean negative log predictive density of a left-out row
	StepTime  Score = "seconds_per_step"
)

// Learned are the covariance's parameters at the end, in the data's units.
type Learned struct {
	Lengthscale []float64   `json:"lengthscale,omitempty"`
	Period      []float64   `json:"period,omitempty"` // 0: none
	Variance    []float64   `json:"variance,omitempty"`
	NoiseSD     float64     `json:"noise_sd,omitempty"`
	Confident   []Confident `json:"confident,omitempty"` // the frequencies that the model is surest of
}

// Confident is a frequency of a component and its standard deviation, both in cycles per unit of x.
type Confident struct {
	Component int     `json:"component"`
	Frequency float64 `json:"frequency"`
	SD        float64 `json:"sd"`
}

// A GapScore is how well one gap of several was filled.
type GapScore struct {
	Start    int      `json:"start"` // place of its first sample
	RMSE     float64  `json:"rmse"`
	Coverage *float64 `json:"coverage95,omitempty"` // as the scores of these names, where there are intervals
	NLPD     *float64 `json:"nlpd,omitempty"`
}

// A Curve is a fit over one input, for figures: mean and standard deviation of the function with noise.
type Curve struct {
	X        []float64 `json:"x"`
	Mean     []float64 `json:"mean"`
	SD       []float64 `json:"sd"`
	Observed *Trace    `json:"observed,omitempty"` // the rows fitted to
	Missing  *Trace    `json:"missing,omitempty"`  // those left out
}

// A Trace is some rows of data.
type Trace struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

func (t *Trace) add(x, y float64) { t.X, t.Y = append(t.X, x), append(t.Y, y) }

// tidy rounds a line's numbers to six digits, which is all that a result is worth, and leaves out scores that are none (of an empty
// set, of a fill without intervals).
func (l *Line) tidy() {
	for name, v := range l.Scores {
		if l.Scores[name] = rounded(v); !finite(v) {
			delete(l.Scores, name)
		}
	}
	if l.Bound != nil && !finite(*l.Bound) {
		l.Bound = nil
	}
	for _, v := range []any{&l.Seconds, &l.Processor, l.PerGap, l.Learned, l.Curve} {
		roundAll(reflect.ValueOf(v))
	}
}

// roundAll rounds all numbers in v, at any depth.
func roundAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(rounded(v.Float()))
	case reflect.Pointer:
		if !v.IsNil() {
			roundAll(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			roundAll(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			roundAll(v.Index(i))
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// rounded keeps six digits; more are not significant.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // reads any formatted number, also NaN and Inf
	return r
}
