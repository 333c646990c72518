package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

// drawn is the SVG of figures, which is whole XML without NaN.
func drawn(t *testing.T, figures ...*Figure) string {
	t.Helper()
	p, err := Picture(figures)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.SVG(&b); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for err == nil {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) || strings.Contains(b.String(), "NaN") {
		t.Errorf("no whole drawing: %v", err)
	}
	return b.String()
}

var nan = math.NaN()

// TestPicture: every kind of layer leaves its ink, and the key names it.
func TestPicture(t *testing.T) {
	x, y := []float64{0, 1, 2, 3}, []float64{1, 3, 2, 4}
	lo, hi := []float64{0, 0.5, 1.5, 2}, []float64{0.5, 1.5, 2.5, 4}
	for _, c := range []struct {
		layer Layer
		ink   string
	}{
		{Layer{Name: "a line", Kind: Line, Ink: Reference, X: x, Y: []float64{1, 2, nan, 3}}, "#C4281B"},
		{Layer{Name: "dots", Kind: Points, Ink: Draw, X: x, Y: y}, "#8A5A00"},
		{Layer{Name: "a band", Kind: Band, Ink: Mean, X: x, Lo: lo, Hi: hi}, "#C0D6ED"},
		{Layer{Name: "stems", Kind: Stems, Ink: Mean, X: x, Y: y, Lo: lo, Hi: hi}, "#005AB5"},
	} {
		for _, log := range []bool{false, true} {
			layer := c.layer
			if log && layer.Kind == Band {
				layer.Lo = hi
			}
			other := Layer{Name: "other", Kind: Line, Ink: Data, X: x, Y: y}
			text := drawn(t, &Figure{Title: "a title", XLabel: "along", YLabel: "up", LogY: log, Layers: []Layer{layer, other}})
			for _, want := range []string{"a title", "along", ">up<", c.layer.Name, "other", c.ink} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, log %v: the drawing lacks %q", c.layer.Name, log, want)
				}
			}
		}
	}
}

// TestPictureOfLittle: one point, equal points, a line of nothing.
func TestPictureOfLittle(t *testing.T) {
	for _, log := range []bool{false, true} {
		one := []float64{2}
		drawn(t, &Figure{LogY: log, Layers: []Layer{{Kind: Stems, Ink: Mean, X: one, Y: one, Lo: one, Hi: one}}, Labels: []Label{{2, 2, "only"}}})
		drawn(t, &Figure{LogY: log, Layers: []Layer{{Kind: Line, Ink: Mean, X: []float64{1, 2}, Y: []float64{3, 3}}, {Kind: Line, Ink: Data, X: one, Y: []float64{nan}}}})
	}
	if _, err := Picture([]*Figure{{Title: "broken", Layers: []Layer{{Kind: Points, X: []float64{1}, Y: []float64{nan}}}}}); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a point that is no number: %v, want an error that names the chart", err)
	}
}

// TestLabels: of labels that would overlap the first is kept.
func TestLabels(t *testing.T) {
	x := []float64{0, 50, 52, 100}
	y := []float64{1, 5, 5, 9}
	text := drawn(t, &Figure{Layers: []Layer{{Kind: Points, Ink: Data, X: x, Y: y}},
		Labels: []Label{{50, 5, "first"}, {52, 5, "second"}, {100, 9, "far"}}})
	if !strings.Contains(text, "first") || strings.Contains(text, "second") || !strings.Contains(text, "far") {
		t.Error("want the labels first and far, and not second")
	}
}

// TestLabelsBetweenStems: a label that a higher stem goes through is left out.
func TestLabelsBetweenStems(t *testing.T) {
	x := []float64{0, 48, 50, 100}
	y := []float64{9, 7, 5, 9}
	for _, c := range []struct {
		kind Kind
		want bool
	}{{Stems, false}, {Points, true}} {
		text := drawn(t, &Figure{Layers: []Layer{{Kind: c.kind, Ink: Data, X: x, Y: y, Lo: x, Hi: x}},
			Labels: []Label{{50, 5, "low"}, {48, 7, "high"}, {0, 9, "edge"}}})
		if strings.Contains(text, "low") != c.want || !strings.Contains(text, "high") || !strings.Contains(text, "edge") {
			t.Errorf("%s: the low label is there: %v, want %v", c.kind, !c.want, c.want)
		}
	}
}

// TestPictureSize: each chart gets its room.
func TestPictureSize(t *testing.T) {
	f := &Figure{Layers: []Layer{{Kind: Line, Ink: Data, X: []float64{0, 1}, Y: []float64{0, 1}}}}
	var height [3]int
	for n := 1; n <= 2; n++ {
		p, err := Picture([]*Figure{f, f}[:n])
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.PNG(&b); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		height[n] = img.Bounds().Dy()
	}
	if height[1] < 300 || height[2] < 2*height[1]-2 || height[2] > 2*height[1]+2 {
		t.Errorf("one chart is %d dots high, two are %d", height[1], height[2])
	}
}
