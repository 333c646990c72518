package main

import (
	"cmp"
	"context"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/table"
)

// A warning says what is probably wrong with a result, which numbers show it, and
// what to do. It is printed after the work, and only once for each kind.

// noiseMost is the share of the variance from which on a model explains next to nothing; the optimizer itself gives up at 0.98.
const noiseMost = 0.9

// warnFit checks a fitted model against its data.
func (a *app) warnFit(m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o vssgp.Options) {
	a.warnHeldOut(r.HeldOut, o)
	a.warnNoise(m, data)
	if r.NoiseFloor > 0 {
		a.warn("floor", "the noise has fallen to the least that float64 can tell from none, a standard deviation of %.3g; "+
			"if the data are less exact than that, try --fix noise.precision --noise-precision 1/sd²", r.NoiseFloor)
	}
}

// warnGaps warns of gaps longer than the context around them, or than a window.
func (a *app) warnGaps(e *restore.Excerpt, rate float64, o *imputeFlags) {
	for _, g := range e.Gaps {
		length := float64(g.Len()) / rate
		around := cmp.Or(o.fill.Context, restore.DefaultContext).Seconds()
		if !o.fill.All && length > around {
			a.warn("context",
				"gap %v is %.3g ms long and the context on each side only %.3g ms: the middle of the fill is little more than a guess, as its error bars show; try --context %.0fms",
				g, 1e3*length, 1e3*around, math.Ceil(2e3*length))
		}
		if e.Window > 0 && length > e.Window {
			a.warn("window",
				"gap %v is %.3g ms long and windows only %.3g ms: no window reaches across the gap, so the middle of the fill is silent; try --window %.0fms with --context %.0fms",
				g, 1e3*length, 1e3*e.Window, math.Ceil(1.5e3*length), math.Ceil(3e3*length))
		}
	}
}

// warnHeldOut warns of a fit that predicts held-out rows worse than straight lines
// between their neighbors do.
func (a *app) warnHeldOut(h vssgp.HeldOut, o vssgp.Options) {
	if !h.Worse() {
		return
	}
	instead := "more --components, --window none, or --init paper with --lengthscales of the order of the steps"
	if o.Components != 0 || o.Features != 0 || o.Windows.Length != vssgp.WindowAuto {
		instead = "leaving out --components, --features and --window, so that another start can be tried"
	}
	a.warn("line",
		"the fit predicts held-out rows worse than straight lines between their neighbours do: RMSE %.3g against %.3g standard deviations of y, over %s; try %s",
		h.RMSE, h.Line, counted(h.Rows, "row"), instead)
}

// warnNoise warns of noise that is nearly all of the variance.
func (a *app) warnNoise(m *vssgp.Model, data *vssgp.Data) {
	all := mat.NewDense(data.N, data.D, data.Y)
	for d, noise := range m.NoiseSD() {
		mean, sd := bayes.MeanSD(mat.Col(nil, d, all), 0, 1)
		if noise*noise > noiseMost*sd*sd && sd > 0 {
			a.warn("noise",
				"%s: the model explains %.0f %% of the variance as noise (mean %.4g, noise sd %.4g): try --restarts 3, other --lengthscales, or a smaller --window",
				outputNames(m)[d], 100*noise*noise/(sd*sd), mean, noise)
		}
	}
}

// beyondShare of the range of the data beside them is no extrapolation.
const beyondShare = 0.01

// warnBeyond warns of rows outside of the data that a model of one input was fitted to, as they are read, except for a model of a recording.
// Rows of several inputs often lie outside in one of them, so those would warn in every cross-validation.
func (a *app) warnBeyond(m *vssgp.Model, at *places) {
	ranges := rangeOfModel(m)
	if a.quiet || len(ranges) != 1 || len(at.names) != 1 || inputNames(m)[0] == secondsName {
		return
	}
	lo, hi := ranges[0][0], ranges[0][1]
	axis, margin, parts := &table.Axis{Free: true}, beyondShare*(hi-lo), at.parts
	if len(at.axes) == 1 {
		axis = at.axes[0]
	}
	at.parts = func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			for x, err := range parts(ctx) {
				for _, v := range x {
					if v < lo-margin || v > hi+margin {
						a.warn("beyond", "%s %s lies beyond the data that the model was fitted to, %s to %s: its intervals are too narrow there; vssgp forecast fits a model that is made for it",
							at.names[0], axis.Format(v), axis.Format(lo), axis.Format(hi))
						break
					}
				}
				if !yield(x, err) {
					return
				}
			}
		}
	}
}
