package paper

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

func co2Table(w io.Writer, lines []Line) {
	fmt.Fprint(w, "In ppm and years. σ² is of each component, as a share of the data's variance; the sure frequencies are those with the\n"+
		"smallest standard deviation, in cycles a year. The paper does not say how its data are scaled.\n\n")
	all := where(lines, func(l Line) bool { return l.Case == "all" })
	rows := [][]string{
		{"method", "start", "seed", "periods", "length-scales", "σ²", "sure frequencies of the first", "of the second component", "train RMSE", "bound", "seconds"},
		{"the paper", "", "", "9.8, none", "0.09, 54", "0.0043, 5.7", "1", "0.0053; 0.00065", "", "", ""},
	}
	for _, l := range ok(all) {
		rows = append(rows, co2Row(l))
	}
	writeTable(w, rows)
	forecast := where(lines, func(l Line) bool { return l.Case == "forecast" })
	if len(forecast) == 0 {
		return
	}
	fmt.Fprintf(w, "Fitted to the years before %.0f, those after left out (the paper has no such figures); mean ± sd over the seeds:\n\n", co2Forecast)
	rows = [][]string{{"method", "start", "seeds", "train RMSE", "test RMSE", "coverage", "NLPD", "seconds"}}
	for _, v := range variantsOf(forecast) {
		g := v.of(forecast)
		rows = append(rows, []string{
			v.method, v.start, fmt.Sprint(len(ok(g))), spread(values(g, TrainRMSE)), spread(values(g, TestRMSE)),
			percent(values(g, Coverage)), spread(values(g, NLPD)), spread(seconds(g)),
		})
	}
	writeTable(w, rows)
}

// co2Row is the row of one fit; a model of many components lists only its
// surest frequencies.
func co2Row(l Line) []string {
	bound := "–"
	if l.Bound != nil {
		bound = fmt.Sprintf("%.0f", *l.Bound)
	}
	learnt := l.Learnt
	if learnt == nil {
		learnt = &Learnt{}
	}
	first, second := "–", "–"
	switch {
	case len(learnt.Confident) == 0:
	case len(learnt.Lengthscale) == 2:
		first, second = sure(learnt.Confident, 0), sure(learnt.Confident, 1)
	default:
		first = sure(learnt.Confident, -1)
	}
	return []string{
		l.Method, l.Start, fmt.Sprint(l.Seed), periods(learnt.Period), several(learnt.Lengthscale), several(learnt.Variance),
		first, second, digits(l.Scores[TrainRMSE]), bound, digits(l.Seconds),
	}
}

// sure lists the frequencies of one component, or of any where it is negative.
func sure(c []Confident, component int) string {
	var out []string
	for _, f := range c {
		if component < 0 || f.Component == component {
			out = append(out, digits(f.Frequency)+" ± "+digits(f.SD))
		}
	}
	return strings.Join(out, "; ")
}

// several lists some numbers.
func several(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	var out []string
	for _, x := range v {
		out = append(out, digits(x))
	}
	return strings.Join(out, ", ")
}

// periods lists periods; 0 is none.
func periods(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	var out []string
	for _, x := range v {
		if x == 0 {
			out = append(out, "none")
		} else {
			out = append(out, digits(math.Abs(x)))
		}
	}
	return strings.Join(out, ", ")
}

// co2Views are the figures' panels.
var co2Views = []view{
	{"vssgp", paperStart, "VSSGP, the paper's start"},
	{"vssgp", bestStart, "VSSGP, the best of five such"},
	{"vssgp", scaledStart, "VSSGP, the paper's start with τ of scaled data"},
	{"vssgp", spectrumStart, "VSSGP, from the spectrum"},
	{"gp", paperStart, "Full GP, the paper's start"},
}

func co2Figures(lines []Line) ([]figure, error) {
	in := func(name string) []Line { return where(lines, func(l Line) bool { return l.Case == name }) }
	all, err := curves("co2", in("all"), co2Views, 4*vg.Centimeter)
	if err != nil {
		return nil, err
	}
	forecast, err := curves("co2-forecast", in("forecast"), co2Views, 4*vg.Centimeter)
	return append(all, forecast...), err
}
