package paper

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// quoted is a number of the paper's, with its standard deviation if it gives
// one.
type quoted struct{ mean, sd float64 }

func (q quoted) String() string {
	switch {
	case q.mean == 0:
		return "–"
	case q.sd == 0:
		return digits(q.mean)
	}
	return digits(q.mean) + " ± " + digits(q.sd)
}

// variantsOf are the methods and starts of some lines, in order of appearance.
func variantsOf(lines []Line) []variant {
	var out []variant
	for _, l := range lines {
		if !slices.ContainsFunc(out, func(v variant) bool { return v.method == l.Method && v.start == l.Start }) {
			out = append(out, variant{method: l.Method, start: l.Start})
		}
	}
	return out
}

// startsOf are the starts of some lines, in order of appearance.
func startsOf(lines []Line) []string {
	return distinct(lines, func(l Line) string { return l.Start })
}

// casesOf are the cases of some lines, in order of appearance.
func casesOf(lines []Line) []string { return distinct(lines, func(l Line) string { return l.Case }) }

func distinct[T comparable](lines []Line, of func(l Line) T) []T {
	var out []T
	for _, l := range lines {
		if v := of(l); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// of are the lines of a variant.
func (v variant) of(lines []Line) []Line {
	return where(lines, func(l Line) bool { return l.Method == v.method && l.Start == v.start })
}

// relative are the quotients of two scores of the same line.
func relative(lines []Line, above, below Score) []float64 {
	var out []float64
	for _, l := range ok(lines) {
		a, haveA := l.Scores[above]
		b, haveB := l.Scores[below]
		if haveA && haveB && b > 0 {
			out = append(out, a/b)
		}
	}
	return out
}

// audioTable is a row for each variant with the paper's numbers, by method,
// beside ours.
func audioTable(w io.Writer, lines []Line, paper map[string]map[Score]quoted) {
	rows := [][]string{{"method", "start", "train RMSE", "paper", "test RMSE", "paper", "train STFT", "paper", "test STFT", "paper",
		"test RMSE, silence = 1", "train STFT, silence = 1", "paper", "test STFT, silence = 1", "paper", "coverage", "NLPD", "seconds", "fits"}}
	for _, v := range variantsOf(lines) {
		here := v.of(lines)
		row := []string{v.method, v.start}
		for _, name := range []Score{TrainRMSE, TestRMSE, TrainSTFT, TestSTFT} {
			row = append(row, spread(values(here, name)), paper[v.method][name].String())
		}
		row = append(row, spread(relative(here, TestRMSE, ZeroRMSE)),
			spread(relative(here, TrainSTFT, ZeroTrain)), toSilence(paper, v.method, TrainSTFT),
			spread(relative(here, TestSTFT, ZeroTest)), toSilence(paper, v.method, TestSTFT))
		row = append(row, percent(values(here, Coverage)), spread(values(here, NLPD)), spread(seconds(here)), fmt.Sprint(len(ok(here))))
		rows = append(rows, row)
	}
	writeTable(w, rows)
}

// toSilence is a mean of the paper's over that of predicting 0.
func toSilence(paper map[string]map[Score]quoted, method string, name Score) string {
	a, b := paper[method][name].mean, paper["silence"][name].mean
	if a == 0 || b == 0 {
		return "–"
	}
	return digits(a / b)
}

func seconds(lines []Line) []float64 {
	var out []float64
	for _, l := range ok(lines) {
		out = append(out, l.Seconds)
	}
	return out
}

// bySignal is the test RMSE of every variant on every case.
func bySignal(w io.Writer, lines []Line, of func(lines []Line) []float64) {
	names := casesOf(lines)
	rows := [][]string{append([]string{"method", "start"}, names...)}
	for _, v := range variantsOf(lines) {
		row := []string{v.method, v.start}
		for _, name := range names {
			row = append(row, spread(of(where(v.of(lines), func(l Line) bool { return l.Case == name }))))
		}
		rows = append(rows, row)
	}
	writeTable(w, rows)
}

// collapses lists how many fits ended in an optimum known to be bad: they are
// in the tables all the same.
func collapses(w io.Writer, lines []Line) {
	for _, v := range variantsOf(lines) {
		bad := where(ok(v.of(lines)), func(l Line) bool { return strings.HasPrefix(l.Ended, "collapsed") })
		if len(bad) > 0 {
			fmt.Fprintf(w, "%s, start %q: %d of %d fits ended so: %s (mean test RMSE of these %s).\n\n", v.method, v.start, len(bad), len(ok(v.of(lines))), bad[0].Ended, digits(stat.Mean(values(bad, TestRMSE), nil)))
		}
	}
}
