package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// A warning says what is probably wrong with a result, which numbers show it, and
// what to do. It is printed after the work, and only once for each kind.

// Thresholds of the warnings; warn_test.go tries them on real data.
const (
	// Residuals with leftShare of the variance and a lag-1 correlation of
	// leftCorrelation are signal that the features could not follow.
	leftShare       = 0.02
	leftCorrelation = 0.5
	// leftRows is how many rows of a long series are checked.
	leftRows = 4096

	// bandExcess times the band's own rate (twice its highest frequency) is too
	// high a rate.
	bandExcess = 8

	// noiseMost is the share of the variance from which on a model explains
	// next to nothing; the optimiser itself gives up at 0.98.
	noiseMost = 0.9
)

// warn prints a warning on stderr; a second one of the same kind is left out.
func (a *app) warn(kind, format string, args ...any) {
	if !slices.Contains(a.warned, kind) {
		a.warned = append(a.warned, kind)
		a.note("warning: "+format, args...)
	}
}

// warnFit checks a fitted model against its data.
func (a *app) warnFit(m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, init string) error {
	if a.quiet {
		return nil
	}
	defer a.warnFloor(r)
	a.warnNoise(m, data)
	if data.Q != 1 {
		return nil
	}
	instead := "more --components, or more --iterations"
	if init == string(vssgp.InitPaper) {
		instead = "--init spectrum, or further --lengthscales and --periods"
	}
	lo, hi, step := evenRun(data.X)
	if hi-lo < bandLeast {
		return nil
	}
	s := &signalStats{}
	for d := range data.D {
		y := make([]float64, 0, hi-lo)
		for n := lo; n < hi; n++ {
			y = append(y, data.Y[n*data.D+d])
		}
		s.band = max(s.band, bandOf(y))
	}
	a.warnRate(s.band, 1/step, "unit of x")
	hi = min(hi, lo+leftRows)
	p, err := m.PredictRows(data.X[lo:hi], hi-lo)
	if err != nil {
		return err
	}
	for d := range data.D {
		y, fit := make([]float64, hi-lo), make([]float64, hi-lo)
		for n := range y {
			y[n], fit[n] = data.Y[(lo+n)*data.D+d], p.Mean[n*data.D+d]
		}
		s.residuals(y, fit)
	}
	a.warnLeft(s, m.Params.M(), instead)
	return nil
}

// warnFill checks a filled recording.
func (a *app) warnFill(r *impute.Result, rec *audio.File, o *imputeFlags) {
	if a.quiet {
		return
	}
	rate := float64(rec.Rate())
	s, features := &signalStats{}, 0
	for i := range r.Excerpts {
		e := &r.Excerpts[i]
		features += e.Features
		a.warnGaps(e, rate, o)
		at := e.Start
		for _, g := range append(slices.Clone(e.Gaps), impute.Gap{Start: e.End, End: e.End}) {
			for c := range e.Filled {
				y, fit := e.Filled[c][at-e.Start:g.Start-e.Start], e.Fit[c][at-e.Start:g.Start-e.Start]
				s.residuals(y, fit)
				s.band = max(s.band, bandOf(y))
			}
			at = g.End
		}
	}
	a.warnRate(s.band, rate, "second")
	a.warnLeft(s, features, "more --components, or leave them to the default")
}

// warnGaps is about gaps longer than the context around them, or than a window.
func (a *app) warnGaps(e *impute.Excerpt, rate float64, o *imputeFlags) {
	for _, g := range e.Gaps {
		length := float64(g.End-g.Start) / rate
		around := cmp.Or(o.context, impute.DefaultContext).Seconds()
		if !o.all && length > around {
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

// warnRate is about data sampled far above their band; band is in cycles a
// sample, 0 where it is not known.
func (a *app) warnRate(band, rate float64, per string) {
	if band == 0 || 2*band*bandExcess > 1 {
		return
	}
	every, hertz := int(1/(4*band)), " cycles a "+per
	a.warn("rate",
		"all but 1/100000 of the power lies below %.3g%s, and %.4g samples a %s are %.0f times as many as that needs: take every %dth sample to save time and memory",
		band*rate, hertz, rate, per, 1/(2*band), every)
}

// warnLeft is about residuals in which there is signal left.
func (a *app) warnLeft(s *signalStats, features int, or string) {
	share, correlation := s.left()
	if share < leftShare || correlation < leftCorrelation {
		return
	}
	a.warn("features",
		"the residuals are not white (%.0f %% of the variance, lag-1 correlation %.2f): %s are too few for this signal's bandwidth; try %s",
		100*share, correlation, counted(features, "feature"), or)
}

// warnHeldOut is about a fit that predicts held-out rows worse than straight lines
// between their neighbours do.
func (a *app) warnHeldOut(h vssgp.HeldOut, o vssgp.Options) {
	if a.quiet || !h.Worse() {
		return
	}
	instead := "more --components, --window none, or --init paper with --lengthscales of the order of the steps"
	if o.Components != 0 || o.Features != 0 || o.Window != vssgp.WindowAuto {
		instead = "leaving out --components, --features and --window, so that another start can be tried"
	}
	a.warn("line",
		"the fit predicts held-out rows worse than straight lines between their neighbours do: RMSE %.3g against %.3g standard deviations of y, over %s; try %s",
		h.RMSE, h.Line, counted(h.Rows, "row"), instead)
}

// warnFloor is about noise so small that float64 cannot tell it from none, unless a
// warning about rounding has been given.
func (a *app) warnFloor(r *vssgp.Result) {
	if r.NoiseFloor > 0 && !slices.Contains(a.warned, "rounding") {
		a.warn("floor", "the noise has fallen to the least that float64 can tell from none, a standard deviation of %.3g; "+
			"if the data are less exact than that, try --fix noise.precision --noise-precision 1/sd²", r.NoiseFloor)
	}
}

// warnNoise is about noise that is nearly all of the variance, or next to nothing.
func (a *app) warnNoise(m *vssgp.Model, data *vssgp.Data) {
	for d, noise := range m.NoiseSD() {
		y := make([]float64, data.N)
		for n := range y {
			y[n] = data.Y[n*data.D+d]
		}
		name := outputNames(m)[d]
		mean, sd := score.MeanSD(y, 0, 1)
		if noise*noise > noiseMost*sd*sd && sd > 0 {
			a.warn("noise",
				"%s: the model explains %.0f %% of the variance as noise (mean %.4g, noise sd %.4g): try --restarts 3, other --lengthscales, or a smaller --window",
				name, 100*noise*noise/(sd*sd), mean, noise)
		}
		if q := rounding(y); noise < q/math.Sqrt(12) {
			a.warn("rounding",
				"%s: the noise sd has fallen to %.3g, below the rounding error of data in steps of %.3g, so the model over-fits; try fewer --features, or --fix noise.precision --noise-precision %.3g",
				name, noise, q, 12/(q*q))
		}
	}
}
