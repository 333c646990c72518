package report

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// TestSave: both files hold what each panel and the key say, at the size asked for.
func TestSave(t *testing.T) {
	line, err := plotter.NewLine(Points([]float64{0, 1}, []float64{0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	line.LineStyle = Stroke(Blue)
	a, b := Panel("first", "x", "y"), Panel("second", "x", "z")
	a.Add(line)
	path := filepath.Join(t.TempDir(), "f")
	f := Figure{Columns: 2, Key: []Entry{{"the line", line}}, Width: 4 * vg.Inch, Height: 2 * vg.Inch}
	f.Panels = append(f.Panels, a, b)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(path + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second", "the line", "#0072B2"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("the SVG lacks %q", want)
		}
	}
	dots, err := os.ReadFile(path + ".png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(dots))
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
