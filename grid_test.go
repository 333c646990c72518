package vssgp

import (
	"math"
	"slices"
	"testing"
)

// TestEvenStepEdges: where the limits of TestEvenStep's cases lie.
func TestEvenStepEdges(t *testing.T) {
	line := func(n int, more ...float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		return append(x, more...)
	}
	early := line(40) // the ends tell a step of 1.001, all rows one of 1.00015
	early[0] = -0.04
	for _, c := range []struct {
		name       string
		x          []float64
		want, most float64
	}{
		{"as few as there may be", line(evenFewest), 1, 0},
		{"a place of four taken", line(20, 80), 1, 0},
		{"a place of five taken", line(20, 104), 0, 0},
		{"an end off its place", early, 1, 5e-4},
	} {
		d := &Data{N: len(c.x), Q: 1, D: 1, X: c.x, Y: make([]float64, len(c.x))}
		if got := d.evenStep(); !(math.Abs(got-c.want) <= c.most) {
			t.Errorf("%s: step %v, want %v", c.name, got, c.want)
		}
	}
	if evenFewest != 16 { // as DESIGN.md has it
		t.Errorf("%d rows are the fewest whose grid can be told", evenFewest)
	}
}

// TestUnevenStep: by hand, of rows at the times that the gaps add up to. A row
// that comes twice is one time.
func TestUnevenStep(t *testing.T) {
	for _, c := range []struct {
		name       string
		gaps       []float64
		step, band float64
	}{
		{"even", []float64{2, 2, 2}, 2, 0.5},
		{"twice", []float64{1, 0, 1, 0, 4}, 2, 1},
		{"bursts", []float64{1, 1, 1, 1, 1, 115}, 20, 10},
		{"narrow bursts", []float64{1, 1, 1, 1, 1, 595}, 100, 16},
		{"a median above the mean", []float64{0.1, 2, 3}, 1.7, 0.5},
	} {
		x := []float64{7}
		for _, g := range c.gaps {
			x = append(x, x[len(x)-1]+g)
		}
		slices.Reverse(x)
		d := &Data{N: len(x), Q: 1, D: 1, X: x, Y: make([]float64, len(x))}
		if step, band := d.unevenStep(); !(math.Abs(step-c.step) <= 1e-12) || !(math.Abs(band-c.band) <= 1e-12) {
			t.Errorf("%s: step %v, band %v; want %v and %v", c.name, step, band, c.step, c.band)
		}
	}
}

// TestGridOfAnEarlyRow: rows are laid where most of them lie, not where the first
// one happens to.
func TestGridOfAnEarlyRow(t *testing.T) {
	d := tonal(40, 0)
	for i := range d.X {
		d.X[i] += 0.4
	}
	d.X[0] = 0.2
	if g := newGrid(d.X, d.Y, 1, 1, 0); !(math.Abs(g.x0-0.4) <= 0.02) || len(g.missing) != 40 || slices.Contains(g.missing, true) {
		t.Errorf("a grid of %d places from %v on, want 40, all taken, from about 0.4 on", len(g.missing), g.x0)
	}
}

// TestUnevenCut: uneven rows go by their times, and a cut of them has those that lie about its places, and the
// noise's unit of what it was cut from.
func TestUnevenCut(t *testing.T) {
	x, y := []float64{4, 0, 0.6, 1.4, 1.6, 2.4, 2.6}, []float64{7, 1, 2, 3, 4, 5, 6}
	g := newGrid(x, y, 1, 1, 0.5)
	if !slices.IsSorted(g.times) || !slices.Equal(g.values[0], []float64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("rows %v at %v, want them by their times", g.values[0], g.times)
	}
	part := g.cut(1, 3)
	if want := []float64{0.6, 1.4, 1.6, 2.4}; !slices.Equal(part.times, want) || !slices.Equal(part.values[0], []float64{2, 3, 4, 5}) || part.x0 != 1 {
		t.Errorf("rows at %v from %v on, want %v from 1 on", part.times, part.x0, want)
	}
	if part.unit() != g.unit() || g.unit() != 20 { // the mean of the first seven squares
		t.Errorf("the unit is %v, of the whole %v; want 20", part.unit(), g.unit())
	}
}

// TestUnevenMasses: what a window's spectrum adds up to is the mean square of its
// rows under a cosine's square, in the mean over the outputs; one row has none.
func TestUnevenMasses(t *testing.T) {
	d := tonal(400, 0)
	var both []float64
	for i := range d.X {
		d.X[i] += 0.4 * math.Sin(float64(i*i))
		both = append(both, d.Y[i], 0) // an output that is silent beside it
	}
	g := newGrid(d.X, both, 2, 1, 0.5)
	const centre, half = 150, 100
	square, total := 0.0, 0.0
	for i, x := range d.X {
		if math.Abs(x-centre) < half {
			w := math.Pow(math.Cos(math.Pi/2*(x-centre)/half), 2)
			square, total = square+w*d.Y[i]*d.Y[i], total+w
		}
	}
	sum := 0.0
	for _, m := range g.unevenMasses(t.Context(), centre, half, 60) {
		sum += m
	}
	if want := square / total / 2; !(math.Abs(sum/want-1) <= 1e-3) {
		t.Errorf("the masses add up to %v, want %v", sum, want)
	}
	one := slices.Max(g.unevenMasses(t.Context(), d.X[200], 0.01, 60))
	if one != 0 {
		t.Errorf("one row has a mass of %v", one)
	}
}

// TestRankAndSplit: of a window's cells, by hand. Those of uneven rows that hold
// no more than eight medians are not kept, nor of any rows the lightest that
// together hide in the noise.
func TestRankAndSplit(t *testing.T) {
	masses := slices.Repeat([]float64{1}, 40)
	for i, m := range []float64{90, 9, 7.9, 50, 8.1, 20, 30, 40, 60, 70, 80, 100} {
		masses[3*i] = m
	}
	uneven := &grid{band: 2, times: []float64{}}
	r := uneven.rank(masses, 0, 20)
	if r.lines != 11 || len(r.cells) != 20 || r.rest != 20 {
		t.Errorf("%d lines among %d cells, and %v left; want 11, 20 and 20", r.lines, len(r.cells), r.rest)
	}
	if r.cells[0] != (cell{0, 33.5 * 2 / 40, 100}) {
		t.Errorf("the heaviest is %+v", r.cells[0])
	}
	o := &Options{}
	if keep, rest := o.split(r, 0); keep != 11 || rest != 20+8+7.9 {
		t.Errorf("%d kept and %v left; want the 11 lines and %v", keep, rest, 20+8+7.9)
	}
	even := (&grid{band: 0.5}).rank(slices.Repeat([]float64{1}, 20), 0, 20)
	if keep, rest := o.split(even, 3.5); keep != 17 || rest != 3 {
		t.Errorf("%d kept and %v left; want 17 and 3, which hide in 3.5", keep, rest)
	}
	if n := uneven.cellCount(96); n != 256 { // two cycles a step, by 96/0.75 cells a cycle
		t.Errorf("%d cells", n)
	}
}

// TestCandidates: in the model's units, rising; one as long as the data or longer
// is no window, and where windows are left open no window is one beside them
// unless it would be dear or is not optimised.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		places int
		o      Options
		want   []float64
	}{
		{301, Options{Window: 80}, []float64{40}}, {301, Options{Window: WindowNone}, []float64{0}},
		{301, Options{WindowCandidates: []float64{100, 20, 50}}, []float64{10, 25, 50}},
		{301, Options{WindowCandidates: []float64{100, 600, 900, 598}}, []float64{50, 299, 0}},
		{301, Options{}, []float64{0}}, {700, Options{}, []float64{512, 0}},
		{20_000, Options{}, []float64{512, 768, 1024, 0}},
		{30_000, Options{}, []float64{512, 768, 1024}},
		{30_000, Options{Components: 20}, []float64{512, 768, 1024, 0}},
		{2000, Options{Iterations: NoIterations}, []float64{512, 768, 1024}},
	} {
		g := &grid{step: 1, missing: make([]bool, c.places)}
		if got := g.candidates(c.o, 2); !slices.Equal(got, c.want) {
			t.Errorf("%d places, %+v: %v, want %v", c.places, c.o, got, c.want)
		}
	}
}

// TestSpectraAgain: spectra that were read before are taken again only where the
// same ones are asked for.
func TestSpectraAgain(t *testing.T) {
	d := tonal(600, 0)
	g, centres := gridOf(d), []float64{150, 450}
	for _, c := range []struct {
		half   float64
		most   int
		shared bool
	}{{150, 5, false}, {75, 5, false}, {75, 4, false}, {75, 4, true}} {
		got, want := g.ranks(t.Context(), centres, c.half, 150, c.most, c.shared), gridOf(d).ranks(t.Context(), centres, c.half, 150, c.most, c.shared)
		for v := range want {
			if !slices.Equal(got[v].cells, want[v].cells) {
				t.Errorf("%+v, window %d: %v, by itself %v", c, v, got[v].cells, want[v].cells)
			}
		}
	}
}
