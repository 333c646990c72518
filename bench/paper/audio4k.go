package paper

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
)

// audio4kSet is the paper's trade-off of time and error in the number of
// features.
var audio4kSet = set{name: audio4k, title: "Audio 4K: error and time against the number of features", fits: audio4kFits, table: audio4kTables, figures: audio4kFigures}

func audio4kSizes(quick bool) (z audioSizes, counts []int) {
	if quick {
		return audioSizes{n: 1000, gaps: 5, gapLength: 40, steps: 60, longSteps: 600, batch: 200}, []int{5, 10, 20}
	}
	return audioSizes{n: 4000, gaps: 20, gapLength: 40, steps: 500, longSteps: 5000, batch: 512}, []int{50, 100, 200, 400, 800}
}

// longStart is the paper's start with more steps than the paper takes.
const longStart = "paper, ten times the steps"

// audio4kVariants are sfVSSGP with 2K features: K for each of two components
// from the paper's start, and a cosine and a sine for each of K components from
// ours.
func audio4kVariants(z audioSizes, k int) []variant {
	out := []variant{
		{"sfvssgp", paperStart, paperAudio(k)},
		{"sfvssgp", spectrumStart, vssgp.Options{Init: vssgp.InitSpectrum, Window: vssgp.WindowNone, Components: k, Features: 2}},
	}
	for i := range out {
		o := &out[i].options
		o.Inference, o.Iterations, o.Batch = vssgp.Stochastic, z.steps, z.batch
	}
	long := out[0] // what the paper's 500 steps leave to be learnt
	long.start, long.options.Iterations = longStart, z.longSteps
	return append(out, long)
}

func audio4kFits(s *session) ([]fit, error) {
	z, counts := audio4kSizes(s.Quick)
	signals, err := s.signals(z.n, speech[1])
	if err != nil {
		return nil, err
	}
	var out []fit
	for _, k := range counts {
		for seed := range s.repeats(5) {
			t, err := s.task(audio4k, signals[0], seed, z.gaps, z.gapLength)
			if err != nil {
				return nil, err
			}
			for _, v := range audio4kVariants(z, k) {
				out = append(out, t.features(v, k))
			}
		}
	}
	return out, nil
}

func audio4kTables(w io.Writer, lines []Line) {
	rows := [][]string{{"start", "K", "features", "train RMSE", "test RMSE", "test RMSE, silence = 1", "coverage", "seconds", "seconds a step", "fits"}}
	for _, start := range startsOf(lines) {
		here := where(ok(lines), func(l Line) bool { return l.Start == start })
		for _, k := range countsOf(here) {
			at := where(here, func(l Line) bool { return l.K == k })
			rows = append(rows, []string{start, fmt.Sprint(k), fmt.Sprint(at[0].M), spread(values(at, TrainRMSE)), spread(values(at, TestRMSE)),
				spread(relative(at, TestRMSE, ZeroRMSE)), percent(values(at, Coverage)), spread(seconds(at)), spread(values(at, StepTime)), fmt.Sprint(len(at))})
		}
	}
	writeTable(w, rows)
	for _, start := range startsOf(lines) {
		here := where(ok(lines), func(l Line) bool { return l.Start == start })
		stepped := where(here, func(l Line) bool { return l.Scores[StepTime] > 0 })
		fmt.Fprintf(w, "Start %q: the time grows as K to the power %s, the time of a step as K to the power %s (the paper: 2).\n\n", start,
			digits(slope(here, func(l Line) float64 { return l.Seconds })), digits(slope(stepped, func(l Line) float64 { return l.Scores[StepTime] })))
	}
	collapses(w, lines)
}

// countsOf are the K of some lines, in order of appearance.
func countsOf(lines []Line) []int { return distinct(lines, func(l Line) int { return l.K }) }

// slope is that of the least-squares line of log time against log K, NaN for
// fewer than two K.
func slope(lines []Line, time func(l Line) float64) float64 {
	if len(countsOf(lines)) < 2 {
		return math.NaN()
	}
	var x, y []float64
	for _, l := range lines {
		x, y = append(x, math.Log(float64(l.K))), append(y, math.Log(time(l)))
	}
	_, b := stat.LinearRegression(x, y, nil, false)
	return b
}
