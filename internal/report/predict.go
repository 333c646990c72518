package report

import (
	"fmt"

	"github.com/vssgp/vssgp"
)

// MostDraws bounds the drawn functions that the charts of a prediction show.
const MostDraws = 20

// Predict reports a prediction at the rows of x [N,Q], the first of all rows that
// were predicted, MostRows at most. noise says whether its band includes the noise.
// draws, which may be empty, are the first of all drawn functions, MostDraws at most.
func Predict(m *vssgp.Model, x []float64, p *vssgp.Prediction, draws [][]float64, noise bool, settings []Setting,
	rows, drawn int) *Document {
	d := &Document{Title: "Prediction"}
	d.Lead = []string{fmt.Sprintf("%s, %s, %s inference.", Counted(rows, "row"), Counted(m.Params.M(), "feature"), m.Inference)}
	d.Lead = append(d.Lead, tooMany(m)...)
	if p.N < rows {
		d.Lead = append(d.Lead, fmt.Sprintf("The charts show the first %d, as many as a page bears; the output has all.", p.N))
	}
	if len(draws) < drawn {
		d.Lead = append(d.Lead, fmt.Sprintf("Of the %d functions drawn from the posterior the charts show %d.", drawn, len(draws)))
	}
	d.add("Prediction", predictions(m, x, p, draws, noise)...)
	d.addSettings(settings)
	return d
}

// predictions returns the charts of each output along the one input, or where there
// are several along the rows.
func predictions(m *vssgp.Model, x []float64, p *vssgp.Prediction, draws [][]float64, noise bool) []part {
	along := inputNames(m)[0]
	if m.Params.Q > 1 {
		along, x = "row", nil
		for n := range p.N {
			x = append(x, float64(n))
		}
	}
	order, sd := sorted(x), p.SD(noise)
	what := "of an observation"
	if !noise {
		what = "of the function beneath the noise"
	}
	var out []part
	for d, name := range outputNames(m)[:min(p.D, mostSeries)] {
		band, mean := meanBand(p, sd, x, order, d)
		layers := []layer{band}
		for _, f := range draws {
			l := layer{name: "draws", kind: asLine, ink: drawInk, x: band.x}
			for _, n := range order {
				l.y = append(l.y, f[n*p.D+d])
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
