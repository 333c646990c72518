package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/internal/testkit"
)

// pictureOf returns charts as SVG and checks that it is valid XML without NaN.
func pictureOf(t *testing.T, charts ...*chart) string {
	t.Helper()
	d := &Document{}
	d.add(section{Charts: charts})
	text := writtenAs(t, d, SVG)
	var err error
	for d := xml.NewDecoder(strings.NewReader(text)); err == nil; {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) || strings.Contains(text, "NaN") {
		t.Errorf("incomplete drawing: %v", err)
	}
	return text
}

// TestChartDrawsEachElement checks that each method draws its element, the legend and the labels of the axes for all kinds of values.
func TestChartDrawsEachElement(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{1, 3, math.NaN(), 4, math.Inf(1)}
	lower, all := []float64{0.5, 1, 1, 2, 2}, []float64{1, 2, 3, 4, 5}
	one, none := []float64{2}, []float64{math.NaN()}
	for want, add := range map[string]func(*chart){
		"stroke:#D55E00":            func(c *chart) { c.line("this", Red, x, y) },
		"fill:#CC79A7":              func(c *chart) { c.points("this", Pink, x, y) },
		"fill:#0071B1;fill-opacity": func(c *chart) { c.band("this", Blue, x, lower, y) },
		"stroke:#009E73":            func(c *chart) { c.stems(Green, x, all, lower, lower); c.line("this", Green, x, y) },
		">a label<":                 func(c *chart) { c.label(1, 1, "a label"); c.line("this", Red, x, all) },
		">a rule<":                  func(c *chart) { c.panel.Add(rule{1, "a rule", 1}); c.line("this", Red, x, all) },
		">this<":                    func(c *chart) { c.panel.Add(rule{math.NaN(), "away", 0}); c.points("this", Red, one, one) },
		"fill:#E59E00": func(c *chart) {
			c.add("this", &plotter.Polygon{Color: shadeColor}, shade{1, 2})
			c.line("that", Red, x, all)
		},
		"#56B4E9": func(c *chart) { c.line("this", Sky, []float64{1, 2}, []float64{3, 3}) }, // an empty range
		"a title": func(c *chart) {
			c.line("this", Red, x, lower)
			c.band("none", Red, none, none, none)
			c.points("none", Red, none, none)
		},
	} {
		for _, log := range []bool{false, true} {
			c := newChart("a title", "", "along", "up")
			c.logY = log
			c.points("other", Gray, []float64{1}, []float64{3})
			add(c)
			text := pictureOf(t, c)
			testkit.Contains(t, text, "a title", ">along<", ">up<", ">this<", ">other<", want)
			if strings.Contains(text, ">away<") || strings.Contains(text, ">none<") {
				t.Errorf("%s: something without values has a label", want)
			}
		}
	}
	c := newChart("nothing", "", "", "")
	c.logY = true
	pictureOf(t, c)
}

// TestDateTicks checks that there are at most four ticks, at round dates.
func TestDateTicks(t *testing.T) {
	seconds := func(text string) float64 {
		return float64(testkit.Must(time.Parse("2006-01-02 15:04", text))(t).Unix())
	}
	for _, c := range []struct{ from, to, want string }{
		{"2017-05-01 00:00", "2017-07-05 00:00", "2017-05 2017-06 2017-07"},
		{"2017-07-01 00:00", "2017-07-04 23:55", "2017-07-01 2017-07-02 2017-07-03 2017-07-04"},
		{"1991-07-01 00:00", "2008-06-01 00:00", "1995 2000 2005"},
		{"2024-01-31 00:00", "2024-11-30 00:00", "2024-04 2024-07 2024-10"},
		{"2024-01-31 10:02", "2024-01-31 10:50", "01-31 10:15 01-31 10:30 01-31 10:45"},
	} {
		var got []string
		for _, tick := range dateTicks(seconds(c.from), seconds(c.to)) {
			got = append(got, tick.Label)
		}
		testkit.Equal(t, strings.Join(got, " "), c.want, c.from)
	}
}

// TestTickLabelsAreDistinct checks that labels are distinct and short, even for a small part of a large range.
func TestTickLabelsAreDistinct(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{{1.676, 1.755, "1.68 1.71 1.74"}, {-0.7, 0.7, "-0.5 0 0.5"}, {3600.001, 3600.009, "3600.001 3600.003 3600.005 3600.007 3600.009"}, {0, 5e6, "0 2500000 5000000"}} {
		var labels []string
		for _, tick := range ticks(c.lo, c.hi) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		testkit.Equal(t, strings.Join(labels, " "), c.want, "labels from ", c.lo, " to ", c.hi)
	}
}

// TestElement checks that a chart in a page is XML without style attributes and has the color of the text.
func TestElement(t *testing.T) {
	c := newChart("title", "", hostile, "y")
	c.line("line", color.Black, []float64{0, 1}, []float64{0, 1})
	for _, element := range []func() (template.HTML, error){c.Wide, c.Narrow} {
		text := string(testkit.Must(element())(t))
		testkit.Contains(t, text, `stroke="currentColor"`, "<svg")
		if !strings.HasPrefix(text, "<svg") || strings.Contains(text, " style=") || strings.Contains(text, "\tstyle=") || strings.Contains(text, "title") || strings.Contains(text, "<script") {
			t.Errorf("%.300s", text)
		}
	}
}

// TestFigureHasSizeAndContent checks the content and the size of both formats.
func TestFigureHasSizeAndContent(t *testing.T) {
	line := &plotter.Line{XYs: points([]float64{0, 1}, []float64{0, 1}), LineStyle: stroke(Blue)}
	a, b := newPanel("first", "x", "y"), newPanel("second", "x", "z")
	a.Add(line)
	rows := []row{{panels: []*plot.Plot{a}, height: 1}, {panels: []*plot.Plot{b}, height: 1}}
	f := figure{rows: rows, legend: []entry{{"the line", line}}, width: 4 * vg.Inch, height: 2 * vg.Inch}

	var svg, dots bytes.Buffer
	testkit.OK(t, f.SVG(&svg))
	testkit.Contains(t, svg.String(), "first", "second", "the line", "#0072B2")
	testkit.OK(t, f.PNG(&dots))
	img, err := png.Decode(&dots)
	if err != nil || img.Bounds().Dx() != 4*144 || img.Bounds().Dy() != 2*144 {
		t.Fatalf("%v, %v; want 4 by 2 inches of 144 dots", img.Bounds(), err)
	}
}

// TestTicksAndRuns checks the labels of ticks with a rounding error, the last tick of dates, and the ranges between
// values that are not finite.
func TestTicksAndRuns(t *testing.T) {
	labels := ""
	for _, tick := range ticks(-0.6, 0.9) {
		if tick.Label != "" {
			labels += tick.Label + " "
		}
	}
	testkit.Equal(t, labels, "-0.4 0 0.4 0.8 ", "labels")
	days := dateTicks(0, 3*86400)
	testkit.Equal(t, days[len(days)-1].Label, "1970-01-04", "the last day")
	nan, got := math.NaN(), ""
	for lo, hi := range runs([]float64{1, nan, 2, 3, nan, nan, 4}) {
		got += fmt.Sprint(lo, "-", hi, " ")
	}
	testkit.Equal(t, got, "0-1 2-4 6-7 ", "runs")
}
