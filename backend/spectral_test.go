package backend

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestSquaredGatesAddUpToOne checks that the squares of the gates add up to one everywhere, and that Over returns
// all windows with a non-zero gate in a cell.
func TestSquaredGatesAddUpToOne(t *testing.T) {
	for _, w := range []Windows{{}, {Center: []float64{3}, Length: 2}, {Center: []float64{-1, 0, 1, 2}, Length: 2}, {Center: []float64{3e6, 3e6 + 256, 3e6 + 512}, Length: 512}} {
		lo, length := 0.0, 1.0
		if len(w.Center) > 0 {
			lo, length = w.Center[0], w.Length
		}
		for x := lo - 2*length; x < lo+4*length; x += length / 37 {
			first, end := w.Over(w.Cell(x))
			sum := 0.0
			for v := range w.Count() {
				g := w.Gate(v, x)
				sum += g * g
				if g != 0 && (v < first || v >= end) {
					t.Errorf("%v: gate %d is %v at %v, but Over returns windows %d to %d", w.Center, v, g, x, first, end)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%v: squares of the gates add up to %v at %v", w.Center, sum, x)
			}
		}
	}
}

func TestWindowsCheck(t *testing.T) {
	for name, w := range map[string]Windows{
		"unequal spacing": {Center: []float64{0, 1, 2.1}, Length: 2},
		"falling":         {Center: []float64{1, 0}, Length: 2},
		"no length":       {Center: []float64{0, 1}},
		"not finite":      {Center: []float64{0, math.NaN()}, Length: 2},
		"another input":   {Center: []float64{0, 1}, Length: 2, Dim: 1},
	} {
		if err := w.Check(1); !errors.Is(err, ErrValue) {
			t.Errorf("%s: error %v, want ErrValue", name, err)
		}
	}
	w := Windows{Center: []float64{3e6, 3e6 + 0.1, 3e6 + 0.2}, Length: 0.2}
	if err := w.Check(1); err != nil {
		t.Errorf("far from the origin with rounded centers: %v", err)
	}
}

// TestLayout checks that every row occurs once, next to rows with the same windows, and that rows
// of a run keep their order.
func TestLayout(t *testing.T) {
	w := Windows{Center: []float64{0, 1, 2}, Length: 2, Dim: 1}
	x := []float64{9, 1.5, 9, -3, 9, 0.2, 9, 1.1, 9, 2, 9, 0.1, 9, 70}
	l := w.NewLayout(x, 7, 2)
	order, runs := []int{1, 2, 5, 0, 3, 4, 6}, []Run{{-1, 0, 1, 0, 1}, {0, 1, 3, 0, 2}, {1, 3, 5, 1, 3}, {2, 5, 7, 2, 3}}
	if !slices.Equal(l.Order, order) || !slices.Equal(l.Runs, runs) {
		t.Errorf("order %v in runs %+v, want %v in %+v", l.Order, l.Runs, order, runs)
	}
}

// TestPairOfEqualInputsIsSecondMoment checks that Pair equals the second moment if both inputs are equal, and the product of
// the means if the feature has no uncertainty.
func TestPairOfEqualInputsIsSecondMoment(t *testing.T) {
	f := NewFeatures(2, 1)
	f.Center, f.Decay, f.Freq, f.Phase = []float64{0.3, -1}, []float64{0.2, 0}, []float64{2, 5}, []float64{0.4, 1}
	f.Amp, f.Power, f.Ripple = []float64{1.2, math.Sqrt2}, []float64{0.9, 1}, []float64{0.7, 1}
	d := 0.8 - 0.3
	second := 0.9 + 0.7*math.Exp(-2*0.2*d*d)*math.Cos(2*(2*d+0.4))
	if got := f.Pair(0, []float64{0.8}, []float64{0.8}); math.Abs(got-second) > 1e-15 {
		t.Errorf("pair at one input %v, second moment %v", got, second)
	}
	x, y := []float64{0.8}, []float64{-2.5}
	if got, want := f.Pair(1, x, y), f.Mean(1, x)*f.Mean(1, y); math.Abs(got-want) > 1e-14 {
		t.Errorf("pair of a feature without uncertainty %v, product of its means %v", got, want)
	}
}

// TestGramIsSymmetricInsideBlocks checks that At is symmetric and zero outside the blocks.
func TestGramIsSymmetricInsideBlocks(t *testing.T) {
	g := NewGram([]int{0, 2, 2, 5, 6})
	n := 0.0
	for v := range g.Diag {
		for i := range g.Diag[v] {
			n++
			g.Diag[v][i] = n
		}
		if v < len(g.Below) {
			for i := range g.Below[v] {
				n++
				g.Below[v][i] = n
			}
		}
	}
	if g.M() != 6 || g.At(5, 2) == 0 || g.At(5, 2) != g.At(2, 5) || g.At(0, 4) != 0 || g.At(5, 0) != 0 {
		t.Errorf("M %d, entries %v %v %v %v", g.M(), g.At(5, 2), g.At(2, 5), g.At(0, 4), g.At(5, 0))
	}
	g.Zero()
	if g.At(5, 2) != 0 || g.At(3, 3) != 0 {
		t.Error("entries are not zero after Zero")
	}
}

// TestWindowsEqual checks that Equal compares every field, except if there are no windows.
func TestWindowsEqual(t *testing.T) {
	a := Windows{Center: []float64{0, 1}, Length: 2}
	for _, b := range []Windows{
		{Center: []float64{0, 1.5}, Length: 2}, {Center: []float64{0}, Length: 2},
		{Center: a.Center, Length: 3}, {Center: a.Center, Length: 2, Dim: 1},
	} {
		if a.Equal(&b) {
			t.Errorf("%v equals %v", a, b)
		}
	}
	if same := (Windows{Center: []float64{0, 1}, Length: 2}); !a.Equal(&same) || !(&Windows{Length: 1}).Equal(&Windows{}) {
		t.Error("Equal is false for equal windows")
	}
}

// TestOffsets checks the offsets for windows without features and with many.
func TestOffsets(t *testing.T) {
	for _, counts := range [][]int{{3}, {0, 2}, {2, 0}, {0, 0, 1, 0, 0}, {40, 40, 40, 40}, {1, 500, 1, 1, 0, 0, 300, 2}} {
		f := &Features{}
		want := []int{0}
		for v, n := range counts {
			f.Window = append(f.Window, slices.Repeat([]int{v}, n)...)
			f.Windows.Center = append(f.Windows.Center, float64(v))
			f.M += n
			want = append(want, f.M)
		}
		if got := f.Offsets(); !slices.Equal(got, want) {
			t.Errorf("windows of %v features begin at %v, want %v", counts, got, want)
		}
	}
	if got := (&Features{M: 5}).Offsets(); !slices.Equal(got, []int{0, 5}) {
		t.Errorf("5 features without windows begin at %v", got)
	}
}
