package report

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
)

// TestFitReport: the year of the carbon dioxide is labeled, and all sections
// are there in each format.
func TestFitReport(t *testing.T) {
	d := fittedDocument(t)
	for as, words := range map[Format][]string{
		HTML: {"Residuals of co2_ppm", "% of the rows lie in the 95 % band", "Bound against time", "Bound against iterations", "kl frequencies", "noise sd, co2_ppm", "--seed", "The largest that repeats within the data: period ", "data:image/svg&#43;xml;base64,"},
		SVG:  {"Residuals of co2_ppm", "Bound against time", "period ", "95 % band"},
		PNG:  {"\x89PNG"},
	} {
		var b bytes.Buffer
		if err := d.Write(&b, as); err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s lacks %q", as, w)
			}
		}
	}
	for _, f := range d.charts() {
		if strings.HasPrefix(f.Title, "Residuals") {
			if band := f.layers[0]; !(math.Abs(band.lo[7]+band.hi[7]) < 1e-9*band.hi[7]) {
				t.Errorf("the residuals' band is %v to %v, want it around 0", band.lo[7], band.hi[7])
			}
		}
	}
	year := false
	for _, f := range d.charts() {
		for _, l := range f.labels {
			var period float64
			if _, err := fmt.Sscanf(l.Text, "period %g", &period); err == nil && math.Abs(period-1) < 0.005 {
				year = true
			}
		}
	}
	if !year {
		t.Error("no label of a period of one year")
	}
}

// several is a fit of two inputs to two outputs.
func several(t *testing.T) (*vssgp.Model, *vssgp.Result, *vssgp.Data) {
	t.Helper()
	data := &vssgp.Data{N: 60, Q: 2, D: 2, XNames: []string{"a", "b"}}
	for n := range data.N {
		x := float64(n*37%60) / 60
		data.X, data.Y = append(data.X, x, x*x), append(data.Y, math.Sin(9*x), x)
	}
	m, r, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 1, Features: 10, Iterations: 5})
	if err != nil {
		t.Fatal(err)
	}
	return m, r, data
}

// TestSeveral: inputs and outputs each get their charts, in every format.
func TestSeveral(t *testing.T) {
	m, r, data := several(t)
	fitted, err := Fit("t.csv", m, r, data, &Trace{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), data.X)
	if err != nil {
		t.Fatal(err)
	}
	draws, err := m.Draw(t.Context(), data.X, 25, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		d      *Document
		charts []string
		text   string
	}{
		{"fit", fitted, []string{"y0, observed against predicted", "Residuals of y1", "Spectrum of y0 along a", "Spectrum of y1 along b", "Power spectrum of the covariance along b"}, "60 rows"},
		{"predict", Predict(m, data.X, p, draws[:MostDraws], true, nil, p.N, len(draws)), []string{"y0", "y1"}, "show 20"},
		{"info", Info("m.safetensors", m), []string{"Spectrum of y1 along a"}, "10 features"},
	} {
		var page, svg bytes.Buffer
		if err := c.d.Write(&page, HTML); err != nil {
			t.Fatal(err)
		}
		if err := c.d.Write(&svg, SVG); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.charts {
			if !strings.Contains(page.String(), "<strong>"+want+"<") || !strings.Contains(svg.String(), want) {
				t.Errorf("%s lacks the chart %q", c.name, want)
			}
		}
		if !strings.Contains(page.String(), c.text) {
			t.Errorf("%s does not say %q", c.name, c.text)
		}
	}
}

// TestPredictOrder: rows are drawn in the order of the one input, a latent
// band is the narrower.
func TestPredictOrder(t *testing.T) {
	p := vssgp.NewParams(1, 1, 1, 1)
	m := &vssgp.Model{Params: p, XNames: []string{"t"}}
	x := []float64{3, 1, 2}
	prediction := &vssgp.Prediction{N: 3, D: 1, Mean: []float64{30, 10, 20}, Cov: []float64{4, 4, 4}, Noise: []float64{3}}
	for noise, wide := range map[bool]float64{true: 2, false: 1} {
		f := Predict(m, x, prediction, nil, noise, nil, prediction.N, 0).charts()[0]
		band, mean := f.layers[0], f.layers[1]
		for i, want := range []float64{1, 2, 3} {
			if mean.x[i] != want || mean.y[i] != 10*want || math.Abs(band.hi[i]-band.lo[i]-2*interval*wide) > 1e-12 {
				t.Errorf("noise %v, point %d: (%v, %v), band %v to %v", noise, i, mean.x[i], mean.y[i], band.lo[i], band.hi[i])
			}
		}
	}
}

// TestFirstRows: in order, and no more than a page bears.
func TestFirstRows(t *testing.T) {
	d := &vssgp.Data{N: MostRows + 5, Q: 1, D: 1}
	for n := range d.N {
		d.X, d.Y = append(d.X, float64(d.N-n)), append(d.Y, float64(n))
	}
	got := firstRows(d)
	if got.N != MostRows || got.X[0] != 1 || got.Y[0] != float64(d.N-1) || got.X[got.N-1] != MostRows || d.X[0] != float64(d.N) {
		t.Errorf("%d rows from %v to %v", got.N, got.X[0], got.X[got.N-1])
	}
}

// TestUnfitted: a model without a posterior has a covariance to show.
func TestUnfitted(t *testing.T) {
	p := vssgp.NewParams(1, 2, 1, 1)
	p.Variance[0], p.Lengthscale[0], p.NoisePrecision[0] = 1, 1, 1
	p.CoefMean, p.CoefVar = nil, nil
	m, err := vssgp.NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	d := Info("new.safetensors", m)
	var b bytes.Buffer
	if err := d.Write(&b, HTML); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "no posterior") || !strings.Contains(b.String(), "Power spectrum") {
		t.Error("want it said that there is no posterior, and the covariance's spectrum")
	}
}
