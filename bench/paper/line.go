package paper

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A Line is one fit of one method and how well it did.
type Line struct {
	machine.Machine
	Time string `json:"time"` // start, UTC, RFC 3339

	Key
	Data   string `json:"data"` // file name
	SHA256 string `json:"sha256"`

	Rate       int      `json:"rate,omitempty"` // of a recording, samples a second
	N          int      `json:"N"`              // rows fitted to
	M          int      `json:"M,omitempty"`    // features or inducing inputs
	Iterations int      `json:"iterations,omitempty"`
	Bound      *float64 `json:"bound,omitempty"`
	Seconds    float64  `json:"seconds"` // of the fit, wall time
	Ended      string   `json:"ended,omitempty"`

	Scores map[Score]float64 `json:"scores,omitempty"`
	PerGap []GapScore        `json:"per_gap,omitempty"` // in the order of their places
	Learnt *Learnt           `json:"learnt,omitempty"`
	Curve  *Curve            `json:"curve,omitempty"`
	Status string            `json:"status"` // ok, or why there are no scores
}

// Key tells one line of a set from the others.
type Key struct {
	Set    string `json:"set"`
	Quick  bool   `json:"quick,omitempty"` // a small version, whose figures mean nothing
	Case   string `json:"case,omitempty"`  // of several data or cuts, which
	Gap    int    `json:"gap,omitempty"`   // length of the gaps in samples, where it varies
	K      int    `json:"K,omitempty"`     // features per component, where they vary
	Method string `json:"method"`
	Start  string `json:"start,omitempty"` // of the parameters: paper, spectrum, …
	Seed   uint64 `json:"seed"`
}

// String is the key for people, without the set.
func (k Key) String() string {
	var parts []string
	if k.Case != "" {
		parts = append(parts, k.Case)
	}
	if k.Gap > 0 {
		parts = append(parts, fmt.Sprintf("gap %d", k.Gap))
	}
	if k.K > 0 {
		parts = append(parts, fmt.Sprintf("K %d", k.K))
	}
	name := k.Method
	if k.Start != "" {
		name += " (" + k.Start + ")"
	}
	return strings.Join(append(parts, name, fmt.Sprintf("seed %d", k.Seed)), ", ")
}

// A Score names a figure of merit.
type Score string

// The scores, over the rows fitted to (train) or those left out.
const (
	TrainRMSE Score = "train_rmse"
	TestRMSE  Score = "test_rmse"
	TrainSTFT Score = "train_stft_rmse"
	TestSTFT  Score = "test_stft_rmse"
	ZeroTrain Score = "silence_train_stft_rmse" // of predicting 0
	ZeroTest  Score = "silence_test_stft_rmse"
	ZeroRMSE  Score = "silence_test_rmse"
	SNR       Score = "snr"        // dB, over the gaps
	LSD       Score = "lsd"        // log-spectral distance in dB
	Coverage  Score = "coverage95" // share of the left-out rows inside the 95 % interval
	NLPD      Score = "nlpd"       // mean negative log predictive density of a left-out row
	StepTime  Score = "seconds_per_step"
)

// Learnt are the covariance's parameters at the end, in the data's units.
type Learnt struct {
	Lengthscale []float64 `json:"lengthscale,omitempty"`
	Period      []float64 `json:"period,omitempty"` // 0: none
	Variance    []float64 `json:"variance,omitempty"`
	NoiseSD     float64   `json:"noise_sd,omitempty"`
	// Confident are the frequencies that the model is surest of.
	Confident []Confident `json:"confident,omitempty"`
}

// Confident is a frequency of a component and its standard deviation, both in
// cycles per unit of x.
type Confident struct {
	Component int     `json:"component"`
	Frequency float64 `json:"frequency"`
	SD        float64 `json:"sd"`
}

// A GapScore is how well one gap of several was filled.
type GapScore struct {
	Start    int      `json:"start"` // place of its first sample
	RMS      float64  `json:"rms"`   // of what was there
	RMSE     float64  `json:"rmse"`
	Coverage *float64 `json:"coverage95,omitempty"` // as the scores of these names, where there are intervals
	NLPD     *float64 `json:"nlpd,omitempty"`
}

// A Curve is a fit over one input, for figures: mean and standard deviation
// of the function with noise.
type Curve struct {
	X    []float64 `json:"x"`
	Mean []float64 `json:"mean"`
	SD   []float64 `json:"sd"`
	// Observed and Missing are the rows fitted to and those left out.
	Observed *Trace `json:"observed,omitempty"`
	Missing  *Trace `json:"missing,omitempty"`
}

// A Trace is some rows of data.
type Trace struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

const statusOK = "ok"

// tidy rounds a line's numbers to what they are worth, and leaves out scores
// that are none (of an empty set, of a fill without intervals).
func (l *Line) tidy() {
	for name, v := range l.Scores {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(l.Scores, name)
			continue
		}
		l.Scores[name] = rounded(v)
	}
	if l.Bound != nil && (math.IsNaN(*l.Bound) || math.IsInf(*l.Bound, 0)) {
		l.Bound = nil
	}
	for i := range l.PerGap {
		l.PerGap[i].tidy()
	}
	if c := l.Curve; c != nil {
		round(c.X, c.Mean, c.SD)
		for _, t := range []*Trace{c.Observed, c.Missing} {
			if t != nil {
				round(t.X, t.Y)
			}
		}
	}
	if c := l.Learnt; c != nil {
		c.NoiseSD = rounded(c.NoiseSD)
		round(c.Lengthscale, c.Period, c.Variance)
		for i := range c.Confident {
			c.Confident[i].Frequency, c.Confident[i].SD = rounded(c.Confident[i].Frequency), rounded(c.Confident[i].SD)
		}
	}
}

func (g *GapScore) tidy() {
	g.RMS, g.RMSE = rounded(g.RMS), rounded(g.RMSE)
	for _, v := range []*float64{g.Coverage, g.NLPD} {
		if v != nil {
			*v = rounded(*v)
		}
	}
}

func round(arrays ...[]float64) {
	for _, a := range arrays {
		for i, v := range a {
			a[i] = rounded(v)
		}
	}
}

// ok are the lines that have scores.
func ok(lines []Line) []Line {
	var out []Line
	for _, l := range lines {
		if l.Status == statusOK {
			out = append(out, l)
		}
	}
	return out
}

// readLines reads a file of lines; one that is not there has none.
func readLines(path string) ([]Line, error) {
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseLines(file, path)
}

// parseLines reads lines of JSON. A last one cut short by an interruption is
// left out.
func parseLines(file []byte, name string) ([]Line, error) {
	file = file[:bytes.LastIndexByte(file, '\n')+1]
	var lines []Line
	in := bufio.NewScanner(bytes.NewReader(file))
	in.Buffer(nil, len(file)+1)
	for n := 1; in.Scan(); n++ {
		var l Line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		lines = append(lines, l)
	}
	return lines, in.Err()
}

// writeLines replaces a file of lines.
func writeLines(path string, lines []Line) error {
	var out bytes.Buffer
	encode := json.NewEncoder(&out)
	for _, l := range lines {
		if err := encode.Encode(l); err != nil {
			return fmt.Errorf("%s: %+v: %w", path, l.Key, err)
		}
	}
	return writeFile(path, out.Bytes())
}
