package report

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
)

// TestDensity: it integrates to the covariance at 0, and stands where the
// components are.
func TestDensity(t *testing.T) {
	p := vssgp.NewParams(3, 1, 1, 1)
	p.Variance = []float64{2, 0.5, 0.25}
	p.Lengthscale = []float64{1, 20, 1e9}
	p.Frequency = []float64{0, 3, 7}
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
		if got := spread(c.v, c.sd); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.v, c.sd, got, c.want)
		}
	}
}

// TestPeaks: the largest of each neighborhood, none that may be 0.
func TestPeaks(t *testing.T) {
	all := []line{{at: 0.1, sd: 0.2, amplitude: 9}, {at: 10, sd: 0.1, amplitude: 1}, {at: 10.1, sd: 0.1, amplitude: 2}, {at: 50, sd: 1, amplitude: 0.5}}
	for _, c := range []struct {
		least float64
		want  []float64
	}{{0, []float64{10.1, 50}}, {20, []float64{50}}} {
		var at []float64
		for _, l := range peaks(all, c.least) {
			at = append(at, l.at)
		}
		if !slices.Equal(at, c.want) {
			t.Errorf("from %v on: %v, want %v", c.least, at, c.want)
		}
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

// TestTrace: of many steps some are kept, to the last but one at most.
func TestTrace(t *testing.T) {
	var trace Trace
	const n = 50000
	for i := range n {
		trace.Add(vssgp.Progress{Start: 1, Starts: 1, Iteration: i + 1, Bound: float64(i)})
	}
	if k := len(trace.steps); k < mostSteps || k > 2*mostSteps {
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
