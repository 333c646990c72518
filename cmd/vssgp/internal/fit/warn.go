package fit

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/bayes"
)

// A warning reports a probable problem of a result, the numbers that indicate it,
// and a remedy. Each kind of warning is printed once, after the work.

// noiseMost is the noise's share of the variance above which a warning is printed. The optimizer stops at 0.98.
const noiseMost = 0.9

// fewRows is the number of rows below which a warning is printed.
const fewRows = 4

// warnFit prints warnings about a fitted model.
func warnFit(env *cli.Env, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data) {
	if data.N < fewRows {
		env.Warn("rows", "%s hardly determine the noise and thus the intervals; use more rows, or try --fix noise.precision "+
			"--noise-precision 1/sd²", cli.Counted(data.N, "row"))
	} else {
		warnInputs(env, data, datafile.InputNames(m))
	}
	by := ""
	if report.Searched(m) {
		by = ", by --init spectrum"
	} else {
		warnNoise(env, m, data)
	}
	if r.NoiseFloor > 0 {
		env.Warn("floor", "the noise has decreased to the resolution of float64, a standard deviation of %.3g; "+
			"if the data are less accurate, try --fix noise.precision --noise-precision 1/sd²%s", r.NoiseFloor, by)
	}
}

// lineTolerance is the largest share of an input's variance about a line for which the rows are on the line. Their
// distance from it is then a thousandth of their extent, which no length-scale of a model resolves.
const lineTolerance = 1e-6

// warnInputs warns of an input whose effect the data cannot show: it has one value, or the rows are on one line in the
// plane of two inputs.
func warnInputs(env *cli.Env, data *vssgp.Data, names []string) {
	all := mat.NewDense(data.N, data.Q, data.X)
	columns := make([][]float64, data.Q)
	for i, name := range names {
		x := mat.Col(nil, i, all)
		columns[i] = x
		if slices.Min(x) == slices.Max(x) {
			others := slices.Delete(slices.Clone(names), i, i+1)
			env.Warn("inputs", "all rows have the same value of the input %s, so the model cannot learn its effect; try --x %s",
				name, cmp.Or(strings.Join(others, ","), "with another column"))
		}
		for j, other := range columns[:i] {
			if r := stat.Correlation(x, other, nil); 1-r*r < lineTolerance {
				env.Warn("inputs", "all rows are on one line in the plane of the inputs %s and %s, so the model cannot separate "+
					"their effects; try --x without one of them", names[j], name)
			}
		}
	}
}

// warnNoise warns of outputs whose noise explains almost all of the variance.
func warnNoise(env *cli.Env, m *vssgp.Model, data *vssgp.Data) {
	all, try := mat.NewDense(data.N, data.D, data.Y), "--restarts 3 or other --lengthscales"
	if data.Q == 1 { // models of several inputs have no windows by default
		try = "--restarts 3, other --lengthscales, or a smaller --window"
	}
	for d, noise := range m.NoiseSD() {
		mean, sd := bayes.MeanSD(mat.Col(nil, d, all), 0, 1)
		if noise*noise > noiseMost*sd*sd && sd > 0 {
			env.Warn("noise",
				"%s: the noise explains %.0f %% of the variance (mean %.4g, noise sd %.4g); try %s",
				datafile.OutputNames(m)[d], 100*noise*noise/(sd*sd), mean, noise, try)
		}
	}
}

// beyondShare is the tolerated distance of a row from the range of the data, as a share of that range.
const beyondShare = 0.01

// beyondWarner returns a function that warns of the first row outside the range of a model's data in an input, of which
// the rows have the names and axes. It does nothing for models of recordings.
func beyondWarner(env *cli.Env, m *vssgp.Model, names []string, axes []*table.Axis) func(x []float64) {
	q := len(m.Range)
	if env.Quiet || q == 0 || len(names) != q || q == 1 && datafile.InputNames(m)[0] == datafile.SecondsName {
		return func([]float64) {}
	}
	why := "its intervals are too narrow"
	switch {
	case report.Searched(m) && q > 1:
		why = "it returns to its prior"
	case report.Searched(m):
		why = "it assumes that the components continue"
	}
	if q == 1 {
		why += "; use vssgp forecast to extrapolate"
	}
	return func(x []float64) {
		for i, v := range x {
			lo, hi := m.Range[i%q][0], m.Range[i%q][1]
			if margin := beyondShare * (hi - lo); !(v < lo-margin || v > hi+margin) {
				continue
			}
			var axis *table.Axis
			if len(axes) == q {
				axis = axes[i%q]
			}
			env.Warn("beyond", "%s %v is outside the range of the model's data, %v to %v, where %s", names[i%q],
				valueOf(axis, v), valueOf(axis, lo), valueOf(axis, hi), why)
			return
		}
	}
}

// valueOf returns a value of an input as text if it is a date, else the number. Numbers are not formatted by their
// axis, because the number of decimals is not known for a model, and may be too small for values of another table.
func valueOf(axis *table.Axis, v float64) any {
	if axis.Dates() {
		return axis.Format(v)
	}
	return v
}
