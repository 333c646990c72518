package main

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

// A warning says what about a result is likely not to be what was wanted, by
// what that was told, and what to do. It is given after the work, from the
// result, once of a kind however many places it holds at.

// Thresholds of the warnings; warn_test.go tries them on real data.
const (
	// A residual that holds leftShare of the variance and follows its
	// neighbour with a correlation of leftCorrelation is signal that the
	// features could not follow.
	leftShare       = 0.02
	leftCorrelation = 0.5
	// leftRows is how many rows of a long series are looked at.
	leftRows = 4096

	// bandShare of the power may lie above the band, and a rate bandExcess times
	// the band's own (twice its highest frequency) is far above it.
	bandShare  = 1e-5
	bandExcess = 8
	bandLeast  = 64 // samples, to tell a band from

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

// warnFit looks at a fitted model and its data.
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
	lo, hi, step := evenStretch(data.X)
	if hi-lo < bandLeast {
		return nil
	}
	s := &stretch{}
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

// warnFill looks at a filled recording.
func (a *app) warnFill(r *impute.Result, rec *audio.File, o *imputeFlags) {
	if a.quiet {
		return
	}
	rate := float64(rec.Rate())
	s, features := &stretch{}, 0
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

// warnGaps is about gaps longer than what is known around them, or than what a
// window joins.
func (a *app) warnGaps(e *impute.Excerpt, rate float64, o *imputeFlags) {
	for _, g := range e.Gaps {
		length := float64(g.End-g.Start) / rate
		around := o.context.after.Seconds()
		if around == 0 {
			around = defaultContext
		}
		if !o.context.all && length > around {
			a.warn("context", "gap %v is %.3g ms long, the context on each side of it %.3g ms: its middle is little more than a guess, as its error bars say; try --context %.0fms",
				g, 1e3*length, 1e3*around, math.Ceil(2e3*length))
		}
		if e.Window > 0 && length > e.Window {
			a.warn("window", "gap %v is %.3g ms long, windows are %.3g ms: nothing reaches across it and its middle goes to silence; try --window %.0fms with --context %.0fms",
				g, 1e3*length, 1e3*e.Window, math.Ceil(1.5e3*length), math.Ceil(3e3*length))
		}
	}
}

// defaultContext is impute's where --context is not given, in seconds.
const defaultContext = 0.06

// warnRate is about data sampled far above their band; band is in cycles a
// sample, 0 where it is not known.
func (a *app) warnRate(band, rate float64, per string) {
	if band == 0 || 2*band*bandExcess > 1 {
		return
	}
	every, hertz := int(1/(4*band)), " cycles a "+per
	a.warn("rate", "all but a hundred-thousandth of the power lies below %.3g%s, and %.4g samples a %s are %.0f times what that takes: every %dth of them says as much and takes less time and memory",
		band*rate, hertz, rate, per, 1/(2*band), every)
}

// warnLeft is about residuals in which there is signal left.
func (a *app) warnLeft(s *stretch, features int, or string) {
	share, correlation := s.left()
	if share < leftShare || correlation < leftCorrelation {
		return
	}
	a.warn("features", "what the fit leaves is no noise: %.0f %% of the variance, correlated by %.2f from one sample to the next; %s where they are do not cover the band of these data; try %s",
		100*share, correlation, report.Counted(features, "feature"), or)
}

// warnHeldOut is about a fit that tells rows it is not given worse than lines
// between their neighbours do.
func (a *app) warnHeldOut(h vssgp.HeldOut, o vssgp.Options) {
	if a.quiet || !h.Worse() {
		return
	}
	instead := "more --components, --window none, or --init paper with --lengthscales of the order of the steps"
	if o.Components != 0 || o.Features != 0 || o.Window != vssgp.WindowAuto {
		instead = "without --components, --features and --window: where nothing is set another start is tried"
	}
	a.warn("line", "rows held out are told worse by the fit than by straight lines between their neighbours: RMSE %.3g to %.3g, in standard deviations of y, over %s; try %s",
		h.RMSE, h.Line, report.Counted(h.Rows, "row"), instead)
}

// warnFloor is about a noise at the least that can be told from none, where
// nothing more to the point has been said of it.
func (a *app) warnFloor(r *vssgp.Result) {
	if r.NoiseFloor > 0 && !slices.Contains(a.warned, "rounding") {
		a.warn("floor", "the noise has come down to its floor, a standard deviation of %.3g: less cannot be told from rounding beside components this large; "+
			"if the data are less exact than that, try --fix noise.precision --noise-precision 1/sd²", r.NoiseFloor)
	}
}

// warnNoise is about a noise at either end of where it can be.
func (a *app) warnNoise(m *vssgp.Model, data *vssgp.Data) {
	for d, scale := range m.Y.Scale {
		y := make([]float64, data.N)
		for n := range y {
			y[n] = data.Y[n*data.D+d]
		}
		name, noise := outputNames(m)[d], scale/math.Sqrt(m.Params.NoisePrecision[0])
		mean, variance := meanVariance(y)
		if noise*noise > noiseMost*variance && variance > 0 {
			a.warn("noise", "%s: %.0f %% of its variance is taken for noise (mean %.4g, noise sd %.4g): try --restarts 3, other --lengthscales, or a smaller --window", name, 100*noise*noise/variance, mean, noise)
		}
		if q := rounding(y); noise < q/math.Sqrt(12) {
			a.warn("rounding", "%s: the noise's sd has run down to %.3g, less than the rounding of the data to steps of %.3g leaves: the model over-fits; try fewer --features, or --fix noise.precision --noise-precision %.3g", name, noise, q, 12/(q*q))
		}
	}
}
