package fit

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/table"
)

// A warning names a probable fault of a result, the numbers that show it, and
// what to do. It is printed after the work, and only once for each kind.

// noiseMost is the share of the variance from which on a model explains next to nothing; the optimizer itself gives up at 0.98.
const noiseMost = 0.9

// warnFit checks a fitted model against its data.
func warnFit(env *cli.Env, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o vssgp.Options) {
	warnHeldOut(env, r.HeldOut, o)
	warnNoise(env, m, data)
	if r.NoiseFloor > 0 {
		env.Warn("floor", "the noise has fallen to the least that float64 can tell from none, a standard deviation of %.3g; "+
			"if the data are less exact than that, try --fix noise.precision --noise-precision 1/sd²", r.NoiseFloor)
	}
}

// warnHeldOut warns of a fit that predicts held-out rows worse than straight lines
// between their neighbors do.
func warnHeldOut(env *cli.Env, h vssgp.HeldOut, o vssgp.Options) {
	if !h.Worse() {
		return
	}
	instead := "more --components, --window none, or --init paper with --lengthscales of the order of the steps"
	if o.Components != 0 || o.Features != 0 || o.Windows.Length != vssgp.WindowAuto {
		instead = "leaving out --components, --features and --window, so that another start can be tried"
	}
	env.Warn("line",
		"the fit predicts held-out rows worse than straight lines between their neighbors do: RMSE %.3g against %.3g standard deviations of "+
			"y, over %s; try %s",
		h.RMSE, h.Line, cli.Counted(h.Rows, "row"), instead)
}

// warnNoise warns of noise that is nearly all of the variance.
func warnNoise(env *cli.Env, m *vssgp.Model, data *vssgp.Data) {
	all := mat.NewDense(data.N, data.D, data.Y)
	for d, noise := range m.NoiseSD() {
		mean, sd := bayes.MeanSD(mat.Col(nil, d, all), 0, 1)
		if noise*noise > noiseMost*sd*sd && sd > 0 {
			env.Warn("noise",
				"%s: the model explains %.0f %% of the variance as noise (mean %.4g, noise sd %.4g): try --restarts 3, other --lengthscales, or a "+
					"smaller --window",
				datafile.OutputNames(m)[d], 100*noise*noise/(sd*sd), mean, noise)
		}
	}
}

// beyondShare is how far outside of the data a row may lie, as a share of their range.
const beyondShare = 0.01

// beyondWarner returns a function that warns of rows outside of the data that a model of one input was fitted to, except for a model of a
// recording. Rows of several inputs often lie outside in one of them, so those would warn in every cross-validation.
func beyondWarner(env *cli.Env, m *vssgp.Model, at *datafile.Places) func(x []float64) {
	if env.Quiet || len(m.Range) != 1 || len(at.Names) != 1 || datafile.InputNames(m)[0] == datafile.SecondsName {
		return func([]float64) {}
	}
	lo, hi := m.Range[0][0], m.Range[0][1]
	axis, margin := &table.Axis{Free: true}, beyondShare*(hi-lo)
	if len(at.Axes) == 1 {
		axis = at.Axes[0]
	}
	return func(x []float64) {
		i := slices.IndexFunc(x, func(v float64) bool { return v < lo-margin || v > hi+margin })
		if i >= 0 {
			env.Warn("beyond",
				"%s %s lies beyond the data that the model was fitted to, %s to %s: its intervals are too narrow there; vssgp forecast fits a "+
					"model that is made for it",
				at.Names[0], axis.Format(x[i]), axis.Format(lo), axis.Format(hi))
		}
	}
}
