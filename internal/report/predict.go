package report

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/figure"
	"github.com/vssgp/vssgp/internal/page"
)

// MostRows and MostDraws bound the rows, and the drawn functions, that the
// charts of a prediction show.
const (
	MostRows  = mostRows
	MostDraws = 20
)

// Predict is the report of a prediction at the rows of x [N,Q], with its noise
// or without, the first of all rows that were predicted; draws, which may be
// empty, are the first of so many.
func Predict(m *vssgp.Model, x []float64, p *vssgp.Prediction, draws []*mat.Dense, noise bool, settings []Setting, rows, drawn int) *Document {
	d := &Document{}
	d.Page.Title = "Prediction"
	shown := min(p.N, MostRows)
	d.Page.Lead = []string{fmt.Sprintf("%s, %s, %s inference.", Counted(rows, "row"), Counted(m.Params.M(), "feature"), m.Inference)}
	d.Page.Lead = append(d.Page.Lead, tooMany(m)...)
	if shown < rows {
		d.Page.Lead = append(d.Page.Lead, fmt.Sprintf("The charts show the first %d, as many as a page bears; the output has all.", shown))
	}
	if draws = draws[:min(len(draws), MostDraws)]; len(draws) < drawn {
		d.Page.Lead = append(d.Page.Lead, fmt.Sprintf("Of the %d functions drawn from the posterior the charts show %d.", drawn, len(draws)))
	}
	d.section("Prediction", charts(predictions(m, x, p, draws, noise, shown))...)
	d.settings(settings)
	return d
}

// predictions are the charts of each output along the one input, or where there
// are several along the rows.
func predictions(m *vssgp.Model, x []float64, p *vssgp.Prediction, draws []*mat.Dense, noise bool, shown int) []*figure.Figure {
	q := m.Params.Q
	along, order := "row", make([]int, shown)
	at := func(n int) float64 { return float64(n) }
	if q == 1 {
		along, at = inputNames(m)[0], func(n int) float64 { return x[n] }
	}
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	sd := p.SD(noise)
	what := "of an observation"
	if !noise {
		what = "of the function beneath the noise"
	}
	var out []*figure.Figure
	for d, name := range outputNames(m)[:min(p.D, mostSeries)] {
		band := figure.Layer{Name: "95 % band", Kind: figure.Band, Ink: figure.Mean}
		mean := figure.Layer{Name: "mean", Kind: figure.Line, Ink: figure.Mean}
		for _, n := range order {
			v, s := p.Mean[n*p.D+d], interval*sd[n*p.D+d]
			band.X, band.Lo, band.Hi = append(band.X, at(n)), append(band.Lo, v-s), append(band.Hi, v+s)
			mean.Y = append(mean.Y, v)
		}
		mean.X = band.X
		layers := []figure.Layer{band}
		for _, f := range draws {
			l := figure.Layer{Name: "draws", Kind: figure.Line, Ink: figure.Draw, X: band.X}
			for _, n := range order {
				l.Y = append(l.Y, f.At(n, d))
			}
			layers = append(layers, l)
		}
		out = append(out, &figure.Figure{Title: name, Text: "The predictive mean with the band that holds 95 % " + what + ".", XLabel: along, YLabel: name, Layers: append(layers, mean)})
	}
	return out
}

// Info is the report of what the model in the file of that name has learnt.
func Info(name string, m *vssgp.Model) *Document {
	d := &Document{}
	d.Page.Title = "Model " + name
	d.Page.Lead = []string{fmt.Sprintf("%s inference, %s, %s, %s.", m.Inference, Counted(m.Params.L, "component"), Counted(m.Params.M(), "feature"), Counted(max(1, len(m.Params.Windows.Center)), "window"))}
	d.Page.Lead = append(d.Page.Lead, tooMany(m)...)
	learnt := spectra(m, reaches(m))
	if learnt == nil {
		learnt = []page.Part{page.Text("The model has no posterior over its coefficients yet, so its features have no amplitude.")}
	}
	d.section("Frequencies", learnt...)
	d.section("Covariance", charts(densities(m))...)
	return d
}
