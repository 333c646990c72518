package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/internal/testkit"
)

// drawn is the SVG of figures, which is whole XML without NaN.
func drawn(t *testing.T, figures ...*chart) string {
	t.Helper()
	p := &Document{}
	for _, f := range figures {
		p.add("", f)
	}
	text := writtenAs(t, p, SVG)
	var err error
	for d := xml.NewDecoder(strings.NewReader(text)); err == nil; {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) || strings.Contains(text, "NaN") {
		t.Errorf("no whole drawing: %v", err)
	}
	return text
}

var nan = math.NaN()

// TestFigureOf: every kind of layer leaves its ink, and the key names it.
func TestFigureOf(t *testing.T) {
	x, y := []float64{0, 1, 2, 3}, []float64{1, 3, 2, 4}
	lo, hi := []float64{0, 0.5, 1.5, 2}, []float64{0.5, 1.5, 2.5, 4}
	for _, c := range []struct {
		layer layer
		ink   string
	}{
		{layer{name: "a line", kind: asLine, ink: referenceInk, x: x, y: []float64{1, 2, nan, 3}}, "#C4281B"},
		{layer{name: "dots", kind: asPoints, ink: drawInk, x: x, y: y}, "#8A5A00"},
		{layer{name: "a band", kind: asBand, ink: meanInk, x: x, lo: lo, hi: hi}, "#C0D6ED"},
		{layer{name: "stems", kind: asStems, ink: meanInk, x: x, y: y, lo: lo, hi: hi}, "#005AB5"},
	} {
		for _, log := range []bool{false, true} {
			shown := c.layer
			if log && shown.kind == asBand {
				shown.lo = hi
			}
			other := layer{name: "other", kind: asLine, ink: dataInk, x: x, y: y}
			text := drawn(t, &chart{Title: "a title", XLabel: "along", YLabel: "up", logY: log, layers: []layer{shown, other}})
			testkit.Contains(t, text, "a title", "along", ">up<", c.layer.name, "other", c.ink)
		}
	}
}

// TestPictureOfLittle: one point, equal points, a line of nothing.
func TestPictureOfLittle(t *testing.T) {
	for _, log := range []bool{false, true} {
		one := []float64{2}
		drawn(t, &chart{logY: log, layers: []layer{{kind: asStems, ink: meanInk, x: one, y: one, lo: one, hi: one}}, labels: []label{{2, 2, "only"}}})
		drawn(t, &chart{logY: log, layers: []layer{{kind: asLine, ink: meanInk, x: []float64{1, 2}, y: []float64{3, 3}}, {kind: asLine, ink: dataInk, x: one, y: []float64{nan}}}})
	}
	if _, err := figureOf([]*chart{{Title: "broken", layers: []layer{{kind: asPoints, x: []float64{1}, y: []float64{nan}}}}}); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a point that is no number: %v, want an error that names the chart", err)
	}
}

// TestLabels: of labels that would overlap the first is kept, and one that a higher stem goes through is left out.
func TestLabels(t *testing.T) {
	x, y := []float64{0, 50, 52, 100}, []float64{1, 5, 5, 9}
	near := chart{layers: []layer{{kind: asPoints, x: x, y: y}}, labels: []label{{50, 5, "first"}, {52, 5, "second"}, {100, 9, "far"}}}
	x, y = []float64{0, 48, 50, 100}, []float64{9, 7, 5, 9}
	stems := chart{layers: []layer{{kind: asStems, x: x, y: y, lo: x, hi: x}}, labels: []label{{50, 5, "low"}, {48, 7, "high"}, {0, 9, "edge"}}}
	points := chart{layers: []layer{{kind: asPoints, x: x, y: y}}, labels: stems.labels}
	for _, c := range []struct {
		chart *chart
		want  string // of the labels
	}{{&near, "first far"}, {&stems, "high edge"}, {&points, "low high edge"}} {
		text := drawn(t, c.chart)
		var kept []string
		for _, l := range c.chart.labels {
			if strings.Contains(text, l.Text) {
				kept = append(kept, l.Text)
			}
		}
		testkit.Equal(t, strings.Join(kept, " "), c.want, "labels")
	}
}

// TestPictureSize: each chart gets its room.
func TestPictureSize(t *testing.T) {
	f := &chart{layers: []layer{{kind: asLine, ink: dataInk, x: []float64{0, 1}, y: []float64{0, 1}}}}
	var height [3]int
	for n := 1; n <= 2; n++ {
		d := &Document{Sections: []section{{Parts: []part{f, f}[:n]}}}
		img := testkit.Must(png.Decode(strings.NewReader(writtenAs(t, d, PNG))))(t)
		height[n] = img.Bounds().Dy()
	}
	if height[1] < 300 || height[2] < 2*height[1]-2 || height[2] > 2*height[1]+2 {
		t.Errorf("one chart is %d dots high, two are %d", height[1], height[2])
	}
}

// TestSave: both files hold what each panel and the key say, at the size asked for.
func TestSave(t *testing.T) {
	line := testkit.Must(plotter.NewLine(Points([]float64{0, 1}, []float64{0, 1})))(t)
	line.LineStyle = Stroke(Blue)
	a, b := Panel("first", "x", "y"), Panel("second", "x", "z")
	a.Add(line)
	path := filepath.Join(t.TempDir(), "f")
	f := Figure{Columns: 2, Key: []Entry{{"the line", line}}, Width: 4 * vg.Inch, Height: 2 * vg.Inch}
	f.Panels = append(f.Panels, a, b)
	testkit.OK(t, f.Save(path))
	testkit.Contains(t, string(testkit.Read(t, path+".svg")), "first", "second", "the line", "#0072B2")
	img, err := png.Decode(bytes.NewReader(testkit.Read(t, path+".png")))
	if err != nil || img.Bounds().Dx() != 4*144 || img.Bounds().Dy() != 2*144 {
		t.Fatalf("%v, %v; want 4 by 2 inches of 144 dots", img.Bounds(), err)
	}
	blue := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); r>>8 == uint32(Blue.R) && g>>8 == uint32(Blue.G) && b>>8 == uint32(Blue.B) {
				blue++
			}
		}
	}
	if blue < 50 {
		t.Errorf("%d blue dots: the line is not there", blue)
	}
	if err := f.Save(filepath.Join(path, "none", "f")); err == nil {
		t.Error("a folder that is not there is written to")
	}
}
