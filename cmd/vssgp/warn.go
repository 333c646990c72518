package main

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
	"github.com/vssgp/vssgp/internal/table"
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

// warnFit checks a fitted model against its data.
func (a *app) warnFit(m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o vssgp.Options) error {
	if a.quiet {
		return nil
	}
	a.warnHeldOut(r.HeldOut, o)
	defer a.warnFloor(r)
	a.warnNoise(m, data)
	if data.Q != 1 {
		return nil
	}
	instead := "more --components, or more --iterations"
	if o.Init == vssgp.InitPaper {
		instead = "--init spectrum, or further --lengthscales and --periods"
	}
	lo, hi, step := evenRun(data.X)
	if hi-lo < bandLeast {
		return nil
	}
	s := &signalStats{}
	y := mat.NewDense(hi-lo, data.D, data.Y[lo*data.D:hi*data.D])
	for d := range data.D {
		s.band = max(s.band, bandOf(mat.Col(nil, d, y)))
	}
	a.warnRate(s.band, 1/step, "unit of x")
	rows := min(hi-lo, leftRows)
	p, err := m.PredictRows(data.X[lo:lo+rows], rows)
	if err != nil {
		return err
	}
	fit := mat.NewDense(rows, data.D, p.Mean)
	for d := range data.D {
		s.residuals(mat.Col(nil, d, y)[:rows], mat.Col(nil, d, fit))
	}
	a.warnLeft(s, m.Params.M(), instead)
	return nil
}

// warnFill checks a filled recording.
func (a *app) warnFill(r *impute.Result, rate float64, o *imputeFlags) {
	if a.quiet {
		return
	}
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

// warnGaps warns of gaps longer than the context around them, or than a window.
func (a *app) warnGaps(e *impute.Excerpt, rate float64, o *imputeFlags) {
	for _, g := range e.Gaps {
		length := float64(g.Len()) / rate
		around := cmp.Or(o.fill.Context, impute.DefaultContext).Seconds()
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

// warnRate warns of data sampled far above their band, in cycles a sample; band is 0
// if it is not known.
func (a *app) warnRate(band, rate float64, per string) {
	if band == 0 || 2*band*bandExcess > 1 {
		return
	}
	a.warn("rate",
		"all but 1/100000 of the power lies below %.3g cycles a %s, and %.4g samples a %s are %.0f times as many as that needs: take every %dth sample to save time and memory",
		band*rate, per, rate, per, 1/(2*band), int(1/(4*band)))
}

// warnLeft warns of signal in the residuals, by their share of the variance and their
// correlation from one sample to the next.
func (a *app) warnLeft(s *signalStats, features int, or string) {
	if s.variance == 0 || s.edge == 0 {
		return
	}
	share, correlation := s.square/s.variance, s.pair/s.edge
	if share >= leftShare && correlation >= leftCorrelation {
		a.warn("features",
			"the residuals are not white (%.0f %% of the variance, lag-1 correlation %.2f): %s are too few for this signal's bandwidth; try %s",
			100*share, correlation, counted(features, "feature"), or)
	}
}

// warnHeldOut warns of a fit that predicts held-out rows worse than straight lines
// between their neighbours do.
func (a *app) warnHeldOut(h vssgp.HeldOut, o vssgp.Options) {
	if !h.Worse() {
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

// warnFloor warns of noise so small that float64 cannot tell it from none, unless a
// warning about rounding has been given.
func (a *app) warnFloor(r *vssgp.Result) {
	if r.NoiseFloor > 0 && !slices.Contains(a.warned, "rounding") {
		a.warn("floor", "the noise has fallen to the least that float64 can tell from none, a standard deviation of %.3g; "+
			"if the data are less exact than that, try --fix noise.precision --noise-precision 1/sd²", r.NoiseFloor)
	}
}

// warnNoise warns of noise that is nearly all of the variance, or next to nothing.
func (a *app) warnNoise(m *vssgp.Model, data *vssgp.Data) {
	all := mat.NewDense(data.N, data.D, data.Y)
	for d, noise := range m.NoiseSD() {
		y, name := mat.Col(nil, d, all), outputNames(m)[d]
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

// signalStats gathers statistics of one or more series of evenly spaced samples.
type signalStats struct {
	band float64 // the highest, in cycles a sample

	variance           float64 // Σ of the squares about a straight line
	square, pair, edge float64 // Σ e², Σ e_n·e_{n+1}, and Σ (e_n² + e_{n+1}²)/2 beside it
}

// residuals adds the residuals of a fit to neighbouring samples.
func (s *signalStats) residuals(y, fit []float64) {
	if len(y) == 0 {
		return
	}
	_, all := score.MeanSD(y, 0, 1)
	_, sd := score.MeanSD(detrended(y), 0, 1)
	const least = 1e-9 // of the variance is kept without the trend: a straight line would keep only rounding errors
	s.variance += max(sd*sd, least*all*all) * float64(len(y))
	for i := range y {
		e := y[i] - fit[i]
		s.square += e * e
		if i > 0 {
			before := y[i-1] - fit[i-1]
			s.pair += before * e
			s.edge += (before*before + e*e) / 2
		}
	}
}

// evenRun returns the longest range of rows [lo, hi) in which one input rises by the same
// step to within a tenth of it, and that step: the median of all rows.
func evenRun(x []float64) (lo, hi int, step float64) {
	if len(x) < 2 {
		return 0, 0, 0
	}
	steps := differences(x)
	sorted := slices.Clone(steps)
	slices.Sort(sorted)
	step = sorted[len(sorted)/2]
	if !(step > 0) {
		return 0, 0, 0
	}
	from := 0
	for i := 0; i <= len(steps); i++ {
		if i < len(steps) && math.Abs(steps[i]-step) < step/10 {
			continue
		}
		if i+1-from > hi-lo {
			lo, hi = from, i+1
		}
		from = i + 1
	}
	return lo, hi, step
}

const (
	bandShare = 1e-5    // of the power may lie above the band
	bandLeast = 64      // samples that an estimate of a band needs
	bandMost  = 1 << 15 // samples that it uses
)

// bandOf returns the frequency in cycles a sample above which y has at most
// bandShare of its power; 0 for too few samples. It removes the mean and the trend, and a
// Hann window keeps low frequencies from leaking upwards.
func bandOf(y []float64) float64 {
	y = y[:min(len(y), bandMost)]
	n := len(y)
	if n < bandLeast {
		return 0
	}
	x := detrended(y)
	for i := range x {
		x[i] *= math.Pow(math.Sin(math.Pi*(float64(i)+0.5)/float64(n)), 2)
	}
	power, all := make([]float64, 0, n/2+1), 0.0
	for _, c := range fourier.NewFFT(n).Coefficients(nil, x) {
		p := real(c)*real(c) + imag(c)*imag(c)
		power, all = append(power, p), all+p
	}
	above, k := 0.0, len(power)-1
	for ; k > 0 && above+power[k] <= bandShare*all; k-- {
		above += power[k]
	}
	return float64(k+1) / float64(n)
}

// rounding returns the step of which all differences in y are multiples; 0 if there is
// none, or if values repeat too rarely to tell.
func rounding(y []float64) float64 {
	s := slices.Clone(y)
	slices.Sort(s)
	s = slices.Compact(s)
	if len(s) < 3 || 2*len(s) > len(y) {
		return 0
	}
	steps := differences(s)
	step := slices.Min(steps)
	if slices.ContainsFunc(steps, func(v float64) bool { return math.Abs(v/step-math.Round(v/step)) > 0.01 }) {
		return 0
	}
	return step
}

// differences returns x_{i+1} - x_i.
func differences(x []float64) []float64 {
	return floats.SubTo(make([]float64, len(x)-1), x[1:], x[:len(x)-1])
}

// detrended returns y minus its straight line of least squares.
func detrended(y []float64) []float64 {
	mean, _ := score.MeanSD(y, 0, 1)
	middle, slope, moment := float64(len(y)-1)/2, 0.0, 0.0
	for i, v := range y {
		t := float64(i) - middle
		slope += t * (v - mean)
		moment += t * t
	}
	if moment > 0 {
		slope /= moment
	}
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v - mean - slope*(float64(i)-middle)
	}
	return out
}
