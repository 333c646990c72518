package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/spectral"
)

// TestLobe: the line's shape is the transform of the tone's mean covariance,
// and half its power lies 0.59/W to either side.
func TestLobe(t *testing.T) {
	const steps = 20000
	transform := func(f float64) float64 {
		s := 0.0
		for i := range steps {
			u := (float64(i) + 0.5) / steps
			a := (1-u)*math.Cos(math.Pi*u) + math.Sin(math.Pi*u)/math.Pi
			s += 2 * a * math.Cos(2*math.Pi*f*u) / steps
		}
		return s
	}
	for _, f := range []float64{0, 0.3, 0.5, 1, 1.5, 2.2, 4} {
		if got, want := lobe(3, f/3), transform(f)/transform(0); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v/W from the tone: %v, want %v", f, got, want)
		}
	}
	if got := lobe(1, 0.5945); math.Abs(got-0.5) > 1e-3 {
		t.Errorf("half a lobe's width: %v of its power, want half", got)
	}
}

// TestWindowedTone: no windows' overlap, no covariance; none changes a variance.
func TestWindowedTone(t *testing.T) {
	w := &spectral.Windows{Length: 1, Center: []float64{0, 0.5, 1, 1.5, 2, 2.5}}
	for _, x := range []float64{0.7, 1, 1.25, 1.4} {
		if v := windowedTone(w, x, x); math.Abs(v-1) > 1e-14 {
			t.Errorf("variance at %v: %v, want 1", x, v)
		}
		if v := windowedTone(w, x, x+1); math.Abs(v) > 1e-15 {
			t.Errorf("covariance of %v with a window further: %v, want 0", x, v)
		}
	}
}

func TestRunWindows(t *testing.T) {
	out := t.TempDir()
	if err := bench("windows", "-out", out); err != nil {
		t.Fatal(err)
	}
	png, err := os.ReadFile(filepath.Join(out, "windows.png"))
	if err != nil || len(png) < 10000 {
		t.Errorf("%d bytes of PNG, %v", len(png), err)
	}
	svg, err := os.ReadFile(filepath.Join(out, "windows.svg"))
	if err != nil || !strings.Contains(string(svg), "</svg>") {
		t.Errorf("%d bytes of SVG, %v", len(svg), err)
	}
	for _, args := range [][]string{{"more"}, {"-no"}} {
		if err := bench("windows", args...); exitCode(err) != 2 {
			t.Errorf("%v: %v, want exit status 2", args, err)
		}
	}
}
