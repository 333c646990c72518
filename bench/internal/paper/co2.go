package paper

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// The paper's first experiment is monthly CO2 at Mauna Loa: a spectral mixture of two components with ten features each, phases drawn
// and fixed.
//
// The paper does not specify the scaling of its data, so τ = 10 has no unit. Here y stays in ppm, for which τ = 10 is right: months differ
// from a smooth curve by less than a third of a ppm. For y scaled to standard deviation 1 it is more noise than the seasons have power:
// start scaledStart. Components start with half of the data's variance each, not with σ² = 1.
//
// The second component has no period at the start, but its p moves like the other's (the paper's stayed infinite): its learned period
// comes out long. Case all fits every row, as the paper does; case forecast leaves the years from 1995 on out.
const (
	co2Forecast = 1995. // the first year that case forecast leaves out
	co2Before   = 10.   // years that the curve begins before the data
	co2After    = 20.   // and ends after them

	scaledStart = "paper, τ of scaled y"
)

func co2Fits(s *session) (out []fit, err error) {
	data, err := s.series("co2_mauna_loa_monthly.csv", "co2_monthly.csv")
	if err != nil {
		return nil, err
	}
	trials := co2Trials(s, stat.PopStdDev(data.Y, nil))
	last := data.X[len(data.X)-1]
	curve := grid(data.X[0]-co2Before, last+co2After, 1./16)
	for _, c := range []struct {
		name string
		left []bool
	}{{"all", make([]bool, len(data.X))}, {"forecast", data.inside([]float64{co2Forecast}, last)}} {
		key, left := Key{Set: "co2", Quick: s.Quick, Case: c.name}, slices.Repeat([][]bool{c.left}, int(s.repeats(5)))
		out = append(out, data.fits(key, trials, left, curve)...)
	}
	return out, nil
}

// co2Trials are the methods; sd is the data's standard deviation.
func co2Trials(s *session, sd float64) []trial {
	lengthscales, periods, iterations := []float64{0.1, 1000}, []float64{5, 0}, s.size(500, 5)
	mixture := baselines.SE(lengthscales...)
	mixture.Frequency[0] = 1 / periods[0]
	paper := vssgp.Options{
		Init: vssgp.InitPaper, Paper: vssgp.PaperOptions{Lengthscales: lengthscales, Periods: periods}, Features: s.size(10, 4),
		NoisePrecision: 10,
		Iterations:     iterations,
	}
	scaled := paper
	scaled.NoisePrecision /= sd * sd
	return []trial{
		settled("gp", paperStart, baselines.GP{Options: baselines.Options{Covariance: mixture, NoisePrecision: 10,
			Iterations: iterations}}),
		features("vssgp", paperStart, paper, 1),
		features("vssgp", bestStart, paper, starts),
		features("vssgp", scaledStart, scaled, 1),
		spectrum(spectrumStart, s.size(0, 5)),
	}
}

func co2Table(w io.Writer, lines []Line) {
	fmt.Fprint(w, "In ppm and years. σ² is of each component, as a share of the data's variance; the sure frequencies are those with the\n"+
		"smallest standard deviation, in cycles a year. The paper does not specify the scaling of its data.\n\n")
	rows := [][]string{
		{"method", "start", "seed", "periods", "length-scales", "σ²", "sure frequencies of the first",
			"of the second component", "train RMSE", "bound", "seconds"},
		{"the paper", "", "", "9.8, none", "0.09, 54", "0.0043, 5.7", "1", "0.0053; 0.00065", "", "", ""},
	}
	for _, l := range ok(jsonl.Where(lines, caseOf, "all")) {
		rows = append(rows, co2Row(l))
	}
	writeTable(w, rows)
	forecast := jsonl.Where(lines, caseOf, "forecast")
	if len(forecast) == 0 {
		return
	}
	fmt.Fprintf(w, "Fitted to the years before %.0f, those after left out (the paper has no such figures); mean ± sd over the seeds:\n\n",
		co2Forecast)
	writeColumns(w, jsonl.Groups(forecast, variantOf), methodColumn, startColumn, fits("seeds"), scored("train RMSE", TrainRMSE),
		scored("test RMSE", TestRMSE), coverage, scored("NLPD", NLPD), secondsTaken)
}

// co2Row is the row of one fit; a model of many components lists only its surest frequencies.
func co2Row(l Line) []string {
	bound, learned := "–", cmp.Or(l.Learned, &Learned{})
	if l.Bound != nil {
		bound = fmt.Sprintf("%.0f", *l.Bound)
	}
	var sure [2][]Confident // of the first component or of many, and of the second
	for _, c := range learned.Confident {
		of := 0
		if len(learned.Lengthscale) == 2 {
			of = min(c.Component, 1)
		}
		sure[of] = append(sure[of], c)
	}
	period := func(x float64) string {
		if x == 0 {
			return "none"
		}
		return digits(math.Abs(x))
	}
	frequency := func(c Confident) string { return digits(c.Frequency) + " ± " + digits(c.SD) }
	return []string{
		l.Method, l.Start, fmt.Sprint(l.Seed), several(learned.Period, period, ", "), several(learned.Lengthscale, digits, ", "),
		several(learned.Variance, digits, ", "), several(sure[0], frequency, "; "), several(sure[1], frequency, "; "),
		digits(l.Scores[TrainRMSE]), bound, digits(l.Seconds),
	}
}

// several lists some things, a dash for none.
func several[T any](all []T, write func(T) string, between string) string {
	var out []string
	for _, x := range all {
		out = append(out, write(x))
	}
	return cmp.Or(strings.Join(out, between), "–")
}

// co2Views are the figures' panels.
var co2Views = []view{
	{variant{"vssgp", paperStart}, "VSSGP, the paper's start"},
	{variant{"vssgp", bestStart}, "VSSGP, the best of five such"},
	{variant{"vssgp", scaledStart}, "VSSGP, the paper's start with τ of scaled data"},
	{variant{"vssgp", spectrumStart}, "VSSGP, from the spectrum"},
	{variant{"gp", paperStart}, "Full GP, the paper's start"},
}

func co2Figures(lines []Line) []figure {
	return []figure{
		curves("co2", jsonl.Where(lines, caseOf, "all"), co2Views, 4*vg.Centimeter),
		curves("co2-forecast", jsonl.Where(lines, caseOf, "forecast"), co2Views, 4*vg.Centimeter),
	}
}
