package paper

import (
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
)

// published is what the paper has for a method.
type published struct{ train, test, lengthscale string }

// solarPaper are the paper's table (RMSE) and learnt length-scales.
var solarPaper = map[string]published{
	"fitc":  {"0.23", "0.61", "5"},
	"vfe":   {"0.23", "0.61", "5"},
	"ssgp":  {"0.15", "0.63", "0.97"},
	"rp1":   {"0.32", "0.65", "1.66"},
	"rp2":   {"0.04", "0.76", "–"},
	"gp":    {"0.08", "0.50", "4"},
	"vssgp": {"0.13", "0.41", "3"},
}

func solarTable(w io.Writer, lines []Line) {
	fmt.Fprint(w, "RMSE in standard deviations of the data, beside the paper's (its SPGP is one of fitc and vfe); mean ± sd over the seeds.\n"+
		"Coverage is the share of left-out years inside the 95 % interval, NLPD their mean negative log predictive density.\n"+
		"“vssgp ahead”: how often vssgp has the lower test RMSE from the same start, and then from the spectrum.\n\n")
	for _, c := range []struct{ name, title string }{
		{"fixed", "Segments from 1620, 1700, 1780, 1850 and 1930; seeds are of the starts"},
		{"drawn", "Segments drawn by the seed, another five each time"},
	} {
		in := where(lines, func(l Line) bool { return l.Case == c.name })
		if len(in) == 0 {
			continue
		}
		rows := [][]string{{"method", "start", "seeds", "train", "paper", "test", "paper", "coverage", "NLPD", "length-scale", "paper", "seconds", "vssgp ahead", "from the spectrum"}}
		for _, v := range variantsOf(in) {
			rows = append(rows, solarRow(v.of(in), in))
		}
		fmt.Fprintf(w, "%s:\n\n", c.title)
		writeTable(w, rows)
	}
}

// solarRow is the table's row for the lines of one method and start, of in.
func solarRow(g, in []Line) []string {
	p := published{"–", "–", "–"}
	if strings.HasPrefix(g[0].Start, paperStart) {
		p = solarPaper[g[0].Method]
	}
	return []string{
		g[0].Method, g[0].Start, fmt.Sprint(len(ok(g))), spread(values(g, TrainRMSE)), p.train, spread(values(g, TestRMSE)), p.test,
		percent(values(g, Coverage)), spread(values(g, NLPD)), spread(lengthscales(g)), p.lengthscale, spread(seconds(g)),
		ahead(g[0].Start, g, in), ahead(spectrumStart, g, in),
	}
}

// lengthscales are what models of one component have learnt.
func lengthscales(lines []Line) []float64 {
	var v []float64
	for _, l := range ok(lines) {
		if l.Learnt != nil && len(l.Learnt.Lengthscale) == 1 {
			v = append(v, l.Learnt.Lengthscale[0])
		}
	}
	return v
}

// ahead is how many of g's fits the same case's vssgp fit of the same seed, from
// the given start, is ahead of; what has no seeds stands against every one.
func ahead(start string, g, in []Line) string {
	if g[0].Method == "vssgp" {
		return ""
	}
	won, n := 0, 0
	ours := ok(variant{method: "vssgp", start: start}.of(in))
	for _, v := range ours {
		for _, l := range ok(g) {
			if l.Seed != v.Seed && len(g) > 1 && len(ours) > 1 {
				continue
			}
			n++
			if v.Scores[TestRMSE] < l.Scores[TestRMSE] {
				won++
			}
		}
	}
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", won, n)
}

// solarViews are the figure's panels, as in the paper and two more.
var solarViews = []view{
	{"fitc", paperStart, "Sparse pseudo-input GP (FITC)"},
	{"vfe", paperStart, "Sparse pseudo-input GP (variational)"},
	{"ssgp", paperStart, "Sparse spectrum GP"},
	{"rp2", paperStart, "Random projections (RP₂)"},
	{"gp", paperStart, "Full GP"},
	{"vssgp", paperStart, "Variational sparse spectrum GP, the paper's start"},
	{"vssgp", surerBestStart, "Variational sparse spectrum GP, the best of five with Σ = 0.0001"},
	{"vssgp", spectrumStart, "Variational sparse spectrum GP, from the spectrum"},
}

func solarFigures(lines []Line) ([]figure, error) {
	return curves("solar", lines, solarViews, 3*vg.Centimeter)
}
