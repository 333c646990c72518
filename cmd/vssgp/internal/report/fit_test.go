package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// TestFitReport checks that the report of a CO2 fit has all sections in each
// format and a label of a period of one year.
func TestFitReport(t *testing.T) {
	d := fittedDocument(t)
	for as, words := range map[Format][]string{
		HTML: {"Residuals of co2_ppm", "% of the rows are within the 95 % band", "Bound over time", "Bound over iterations", "kl frequencies", "noise sd, co2_ppm",
			"--seed", "The largest feature with a period within the range of the data: period "},
		SVG: {"Residuals of co2_ppm", "Bound over time", "period ", "95 % band"},
		PNG: {"\x89PNG"},
	} {
		testkit.Contains(t, writtenAs(t, d, as), words...)
	}
	period := regexp.MustCompile(`<text[^>]*>period ([0-9.]+)`)
	year := false
	for _, label := range period.FindAllStringSubmatch(writtenAs(t, d, SVG), -1) {
		p, err := strconv.ParseFloat(label[1], 64)
		year = year || err == nil && math.Abs(p-1) < 0.005
	}
	if !year {
		t.Error("no label of a period of one year")
	}
}

// fittedDocument returns the report of a fit to the CO2 concentrations of Mauna Loa.
func fittedDocument(t *testing.T) *Document {
	t.Helper()
	c := testkit.Must(matrix.ReadFull("../../../../testdata/co2_monthly.csv"))(t)
	data := &vssgp.Data{N: c.Rows, Q: 1, D: 1, XNames: c.Names[:1], YNames: c.Names[1:]}
	for n := range c.Rows {
		data.X, data.Y = append(data.X, c.Data[2*n]), append(data.Y, c.Data[2*n+1])
	}
	trace := &Trace{}
	m, r, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 10, Features: 2, Iterations: 30, Progress: trace.Add})
	testkit.OK(t, err)
	return testkit.Must(Fit("co2_monthly.csv", m, r, data, trace, []Setting{{"--seed", "0"}}))(t)
}

// several returns a fit with two inputs and two outputs.
func several(t *testing.T) (*vssgp.Model, *vssgp.Result, *vssgp.Data) {
	t.Helper()
	data := &vssgp.Data{N: 60, Q: 2, D: 2, XNames: []string{"a", "b"}}
	for n := range data.N {
		x := float64(n*37%60) / 60
		data.X, data.Y = append(data.X, x, x*x), append(data.Y, math.Sin(9*x), x)
	}
	m, r, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 1, Features: 10, Iterations: 5})
	testkit.OK(t, err)
	return m, r, data
}

// TestSeveral checks that each input and each output has charts in every format.
func TestSeveral(t *testing.T) {
	m, r, data := several(t)
	fitted := testkit.Must(Fit("t.csv", m, r, data, &Trace{}, nil))(t)
	p := testkit.Must(m.Predict(t.Context(), data.X))(t)
	draws := testkit.Must(m.Draw(t.Context(), data.X, 25, 1))(t)
	along := slices.Clone(data.X) // of one input, because two inputs have maps
	for n := range data.N {
		along[2*n+1] = 0.5
	}
	shown := Predicted{X: along, P: p, Rows: p.N, Draws: draws[:MaxDraws], Drawn: len(draws), Noise: true,
		Value: func(q int, x float64) any { return fmt.Sprintf("%v days after %d", x, q) }}
	for _, c := range []struct {
		d      *Document
		charts []string
		text   string
	}{
		{fitted, []string{"y0, observed against predicted", "Residuals of y1", "Spectrum of y0 along a", "Spectrum of y1 along b",
			"Power spectrum of the covariance along b"}, "60 rows"},
		{Predict(m, shown), []string{"y0 at b 0.5 days after 1", "y1 at b 0.5 days after 1"}, "show 20"},
		{Info("m.safetensors", m), []string{"Spectrum of y1 along a"}, "10 features"},
	} {
		page := written(t, c.d)
		testkit.Contains(t, page, c.text)
		testkit.Contains(t, writtenAs(t, c.d, SVG), c.charts...)
		for _, want := range c.charts {
			testkit.Contains(t, page, "<b>"+want+"<")
		}
	}
}

// TestCurveIsSortedByInput checks that a curve is sorted by the input, and that the band without noise is narrower.
func TestCurveIsSortedByInput(t *testing.T) {
	p := &vssgp.Prediction{N: 3, D: 1, Mean: []float64{30, 10, 20}, Cov: []float64{4, 4, 4}, Noise: []float64{3}}
	for noise, wide := range map[bool]float64{true: 2, false: 1} {
		c := curveOf(p, p.SD(noise), []float64{3, 1, 2}, 0)
		for i, want := range []float64{1, 2, 3} {
			if c.x[i] != want || c.mean[i] != 10*want || math.Abs(c.upper[i]-c.lower[i]-2*bayes.SD95*wide) > 1e-12 {
				t.Errorf("noise %v, point %d: (%v, %v), band %v to %v", noise, i, c.x[i], c.mean[i], c.lower[i], c.upper[i])
			}
		}
	}
}

// TestBetween checks that a curve has points in a gap, and none between close or equal rows.
func TestBetween(t *testing.T) {
	var x []float64
	for n := range 1000 {
		if n < 400 || n > 600 {
			x = append(x, float64(n))
		}
	}
	more := between(x)
	if want := gaps / 5; len(more) < want-2 || slices.Min(more) <= 399 || slices.Max(more) >= 601 {
		t.Errorf("%d points from %v to %v, want about %d in the gap", len(more), slices.Min(more), slices.Max(more), want)
	}
	if more := between([]float64{3, 3, 3}); more != nil {
		t.Errorf("%v between equal rows", more)
	}
}

// TestFirstRows checks the order and the maximum number of the rows.
func TestFirstRows(t *testing.T) {
	d := &vssgp.Data{N: MaxRows + 5, Q: 1, D: 1}
	for n := range d.N {
		d.X, d.Y = append(d.X, float64(d.N-n)), append(d.Y, float64(n))
	}
	got := firstRows(d)
	if got.N != MaxRows || got.X[0] != 1 || got.Y[0] != float64(d.N-1) || got.X[got.N-1] != MaxRows || d.X[0] != float64(d.N) {
		t.Errorf("%d rows from %v to %v", got.N, got.X[0], got.X[got.N-1])
	}
}

// TestUnfitted checks that the report of a model without a posterior shows its covariance.
func TestUnfitted(t *testing.T) {
	p := vssgp.NewParams(1, 2, 1, 1)
	p.Variance[0], p.Lengthscale[0], p.NoisePrecision[0] = 1, 1, 1
	p.CoefMean, p.CoefVar = nil, nil
	m := testkit.Must(vssgp.NewModel(p))(t)
	testkit.Contains(t, written(t, Info("new.safetensors", m)), "no posterior", "Power spectrum")
}

// TestDensity checks that the density integrates to the covariance at 0 and
// that its peaks are at the frequencies of the components.
func TestDensity(t *testing.T) {
	p := vssgp.NewParams(3, 1, 1, 1)
	p.Variance = []float64{2, 0.5, 0.25}
	p.Lengthscale = []float64{1, 20, 1e9}
	p.Frequency = []float64{0, 3, 7}
	p.NoisePrecision[0], p.CoefMean, p.CoefVar = 1, nil, nil
	m := &vssgp.Model{Params: p, X: vssgp.Affine{Offset: []float64{5}, Scale: []float64{10}}, Y: vssgp.Affine{Offset: []float64{1}, Scale: []float64{3}}}
	const top, n = 1.0, 1000
	got := density(m, 0, top, n)
	sum, most := 0.0, 0
	for i, v := range got {
		sum += v * top / n
		if i > 500 && v > got[most] {
			most = i
		}
	}
	if want := 9 * 2.75; math.Abs(sum-want) > 1e-9*want {
		t.Errorf("the density integrates to %v, want %v", sum, want)
	}
	// Component 2 is a line of no width at 7/10, in the bin from there on.
	if share := got[700]*top/n + got[699]*top/n; math.Abs(share-9*0.25) > 1e-6 {
		t.Errorf("around 0.7 there is %v, want %v", share, 9*0.25)
	}
	if at := topFrequency(m, 0); !(at > 0.7 && at < 1) {
		t.Errorf("the drawing ends at %v", at)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		v, sd float64
		want  string
	}{
		{1.00046, 0.0021, "1.0005 ± 0.0021"},
		{0.99953901, 9e-10, "0.999539 ± 9e-10"},
		{440.123, 25, "440 ± 25"},
		{4401.23, 250, "4401 ± 250"},
		{3, 0, "3"},
		{3, math.NaN(), "3"},
	} {
		testkit.Equal(t, spread(c.v, c.sd), c.want, c.v, ", ", c.sd)
	}
}

// TestPeaksAreLargestOfTheirNeighborhoods checks that peaks are the largest lines of their neighborhoods and differ from 0.
func TestPeaksAreLargestOfTheirNeighborhoods(t *testing.T) {
	all := []line{{at: 0.1, sd: 0.2, amplitude: 9}, {at: 10, sd: 0.1, amplitude: 1}, {at: 10.1, sd: 0.1, amplitude: 2}, {at: 50, sd: 1, amplitude: 0.5}}
	for _, c := range []struct {
		least float64
		want  []float64
	}{{0, []float64{10.1, 50}}, {20, []float64{50}}} {
		var at []float64
		for _, l := range peaks(all, c.least) {
			at = append(at, l.at)
		}
		testkit.Equal(t, at, c.want, "from ", c.least, " on")
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"a.html": HTML, "b.HTM": HTML, "dir.png/c.svg": SVG, "d.PNG": PNG, "e.pdf": "", "html": "", "f.html.gz": ""} {
		got, err := FormatOf(path)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestTraceDropsStepsEvenly checks that a trace drops steps evenly if there are too many.
func TestTraceDropsStepsEvenly(t *testing.T) {
	var trace Trace
	const n = 50000
	for i := range n {
		trace.Add(vssgp.Progress{Start: 1, Starts: 1, Iteration: i + 1, Bound: float64(i)})
	}
	if k := len(trace.steps); k < maxSteps || k > 2*maxSteps {
		t.Fatalf("%d steps are kept", k)
	}
	for i, s := range trace.steps[1:] {
		if s.Iteration <= trace.steps[i].Iteration {
			t.Fatalf("step %d of iteration %d comes after %d", i+1, s.Iteration, trace.steps[i].Iteration)
		}
	}
	if last := trace.steps[len(trace.steps)-1].Iteration; last < n-16 {
		t.Errorf("the last step kept is %d of %d", last, n)
	}
}
