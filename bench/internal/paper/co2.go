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

// The paper's first experiment fits monthly CO2 with a mixture of two components of ten features each, with random
// fixed phases.
//
// The paper does not specify the scaling of its data, so the unit of its τ = 10 is unknown. Here y is in ppm, for which
// τ = 10 is appropriate: monthly values differ from a smooth curve by less than a third of a ppm. For y scaled to
// standard deviation 1 (initialization scaledStart), the noise variance would exceed the variance of the seasons. The
// initial variance of each component is half of the data's variance, and not σ² = 1.
//
// The second component has initially no period, but its p is optimized, too, and the learned period is long. In the
// paper its period remains infinite. Case all fits every row, as the paper does. Case forecast tests on the years from
// 1995 on.
const (
	co2Forecast = 1995. // first year of the test data of case forecast
	co2Before   = 10.   // years from the beginning of the curve to the data
	co2After    = 20.   // years from the data to the end of the curve

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

// co2Trials returns the methods. sd is the data's standard deviation.
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
		deterministic("gp", paperStart, baselines.GP{Options: baselines.Options{Covariance: mixture, NoisePrecision: 10,
			Iterations: iterations}}),
		features("vssgp", paperStart, paper, 1),
		features("vssgp", bestStart, paper, starts),
		features("vssgp", scaledStart, scaled, 1),
		spectrum(spectrumStart, s.size(0, 5)),
	}
}

func co2Table(w io.Writer, lines []Line) {
	fmt.Fprint(w, "In ppm and years. σ² is the variance of each component relative to the data's. The sure frequencies have the smallest\n"+
		"standard deviations, in cycles per year. The paper does not specify the scaling of its data.\n\n")
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
	fmt.Fprintf(w, "Fitted to the years before %.0f and tested on the others (not in the paper); mean ± sd over the seeds:\n\n",
		co2Forecast)
	writeColumns(w, jsonl.Groups(forecast, variantOf), methodColumn, startColumn, fits("seeds"), scored("train RMSE", TrainRMSE),
		scored("test RMSE", TestRMSE), coverage, scored("NLPD", NLPD), secondsTaken)
}

// co2Row returns the row of one fit. For a model with many components, it contains the most certain frequencies of all
// components.
func co2Row(l Line) []string {
	bound, learned := "–", cmp.Or(l.Learned, &Learned{})
	if l.Bound != nil {
		bound = fmt.Sprintf("%.0f", *l.Bound)
	}
	var sure [2][]Confident // frequencies of the first component or of many components, and of the second
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

// several formats and joins elements. It returns a dash if there are none.
func several[T any](all []T, write func(T) string, between string) string {
	var out []string
	for _, x := range all {
		out = append(out, write(x))
	}
	return cmp.Or(strings.Join(out, between), "–")
}

// co2Views lists the panels of the figures.
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
