package report

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// MostDraws bounds the drawn functions that the charts of a prediction show.
const MostDraws = 20

// Predict reports a prediction at the rows of x [N,Q], the first of all rows that
// were predicted. noise says whether its band includes the noise. draws, which may
// be empty, are the first of the drawn functions.
func Predict(m *vssgp.Model, x []float64, p *vssgp.Prediction, draws []*mat.Dense, noise bool, settings []Setting,
	rows, drawn int) *Document {
	d := &Document{Title: "Prediction"}
	shown := min(p.N, MostRows)
	d.Lead = []string{fmt.Sprintf("%s, %s, %s inference.", Counted(rows, "row"), Counted(m.Params.M(), "feature"), m.Inference)}
	d.Lead = append(d.Lead, tooMany(m)...)
	if shown < rows {
		d.Lead = append(d.Lead, fmt.Sprintf("The charts show the first %d, as many as a page bears; the output has all.", shown))
	}
	if draws = draws[:min(len(draws), MostDraws)]; len(draws) < drawn {
		d.Lead = append(d.Lead, fmt.Sprintf("Of the %d functions drawn from the posterior the charts show %d.", drawn, len(draws)))
	}
	d.add("Prediction", predictions(m, x, p, draws, noise, shown)...)
	d.addSettings(settings)
	return d
}

// predictions are the charts of each output along the one input, or where there
// are several along the rows.
func predictions(m *vssgp.Model, x []float64, p *vssgp.Prediction, draws []*mat.Dense, noise bool, shown int) []part {
	along, at := "row", func(n int) float64 { return float64(n) }
	if m.Params.Q == 1 {
		along, at = inputNames(m)[0], func(n int) float64 { return x[n] }
	}
	order, sd := sorted(shown, at), p.SD(noise)
	what := "of an observation"
	if !noise {
		what = "of the function beneath the noise"
	}
	var out []part
	for d, name := range outputNames(m)[:min(p.D, mostSeries)] {
		band := layer{name: "95 % band", kind: asBand, ink: meanInk}
		mean := layer{name: "mean", kind: asLine, ink: meanInk}
		for _, n := range order {
			v, s := p.Mean[n*p.D+d], interval*sd[n*p.D+d]
			band.x, band.lo, band.hi = append(band.x, at(n)), append(band.lo, v-s), append(band.hi, v+s)
			mean.y = append(mean.y, v)
		}
		mean.x = band.x
		layers := []layer{band}
		for _, f := range draws {
			l := layer{name: "draws", kind: asLine, ink: drawInk, x: band.x}
			for _, n := range order {
				l.y = append(l.y, f.At(n, d))
			}
			layers = append(layers, l)
		}
		out = append(out, &chart{
			Title: name, Text: "The predictive mean with the band that holds 95 % " + what + ".",
			XLabel: along, YLabel: name, layers: append(layers, mean),
		})
	}
	return out
}
