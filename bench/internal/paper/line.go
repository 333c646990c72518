package paper

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A Line contains the results of one fit.
type Line struct {
	machine.Machine
	Time string `json:"time"` // start of the fit, UTC, RFC 3339

	Key
	Source

	Class      string   `json:"class,omitempty"` // class of the recording: speech, music, …
	Rate       int      `json:"rate,omitempty"`  // sample rate of the recording
	N          int      `json:"N"`               // number of training rows
	M          int      `json:"M,omitempty"`     // number of features or inducing inputs
	Iterations int      `json:"iterations,omitempty"`
	Bound      *float64 `json:"bound,omitempty"`
	Seconds    float64  `json:"seconds"`                     // elapsed time of the fit with all its restarts
	Processor  float64  `json:"processor_seconds,omitempty"` // CPU time, if gaps are scored separately and the system reports it
	Ended      string   `json:"ended,omitempty"`             // reason why the fit ended

	Scores  map[Score]float64 `json:"scores,omitempty"`
	PerGap  []GapScore        `json:"per_gap,omitempty"` // in ascending order of their positions
	Learned *Learned          `json:"learnt,omitempty"`
	Curve   *Curve            `json:"curve,omitempty"`
	Status  string            `json:"status"` // ok, or the reason why there are no scores
}

// A Source identifies a data file.
type Source struct {
	Data   string `json:"data"` // file name
	SHA256 string `json:"sha256"`
}

// Key identifies a line of a set.
type Key struct {
	Set    string `json:"set"`
	Quick  bool   `json:"quick,omitempty"` // quick run, whose results are meaningless
	Case   string `json:"case,omitempty"`  // data set or split, if there are several
	Gap    int    `json:"gap,omitempty"`   // length of the gaps in samples, if it varies
	K      int    `json:"K,omitempty"`     // features per component, if they vary
	Method string `json:"method"`
	Start  string `json:"start,omitempty"` // initialization (paper, spectrum, …), setting of the method, or the omitted part
	Seed   uint64 `json:"seed"`
}

func keyOf(l Line) Key { return l.Key }

// String formats the key without the set.
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

// A Score is the name of a score.
type Score string

// The scores on the training or the test rows. Their units are standard deviations of the data for solar, and ppm for
// co2. Recordings are scaled to an rms of 0.1.
const (
	TrainRMSE Score = "train_rmse"
	TestRMSE  Score = "test_rmse"
	TrainSTFT Score = "train_stft_rmse"
	TestSTFT  Score = "test_stft_rmse"
	ZeroTrain Score = "silence_train_stft_rmse" // the silence scores are for predicting 0
	ZeroTest  Score = "silence_test_stft_rmse"
	ZeroRMSE  Score = "silence_test_rmse"
	SNR       Score = "snr"        // decibels, in the gaps
	Coverage  Score = "coverage95" // fraction of the test rows inside the 95 % intervals
	NLPD      Score = "nlpd"       // mean negative log predictive density of the test rows
	StepTime  Score = "seconds_per_step"
)

// Learned contains the learned hyper-parameters in the data's units.
type Learned struct {
	Lengthscale []float64   `json:"lengthscale,omitempty"`
	Period      []float64   `json:"period,omitempty"` // 0: not periodic
	Variance    []float64   `json:"variance,omitempty"`
	NoiseSD     float64     `json:"noise_sd,omitempty"`
	Confident   []Confident `json:"confident,omitempty"` // the frequencies with the smallest standard deviations
}

// Confident is a frequency of a component and its standard deviation, both in cycles per unit of x.
type Confident struct {
	Component int     `json:"component"`
	Frequency float64 `json:"frequency"`
	SD        float64 `json:"sd"`
}

// A GapScore contains the scores of one gap.
type GapScore struct {
	Start    int      `json:"start"` // index of its first sample
	RMSE     float64  `json:"rmse"`
	Coverage *float64 `json:"coverage95,omitempty"` // as the Scores of these names; nil if there are no intervals
	NLPD     *float64 `json:"nlpd,omitempty"`
}

// A Curve contains the predictive mean and standard deviation, including noise, over one input. It is for figures.
type Curve struct {
	X        []float64 `json:"x"`
	Mean     []float64 `json:"mean"`
	SD       []float64 `json:"sd"`
	Observed *Trace    `json:"observed,omitempty"` // training rows
	Missing  *Trace    `json:"missing,omitempty"`  // test rows
}

// A Trace contains rows of data.
type Trace struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

func (t *Trace) add(x, y float64) { t.X, t.Y = append(t.X, x), append(t.Y, y) }

// tidy rounds the numbers of a line to six digits, and deletes scores that are not finite, such as scores over no rows.
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

// rounded rounds to six significant digits.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // accepts any formatted number, also NaN and Inf
	return r
}
