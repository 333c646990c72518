package vssgp

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/start"
)

// TestToModelGrid: times of samples are whole numbers of steps in the model's
// units, at every rate and from every start; numbers that are none stay.
func TestToModelGrid(t *testing.T) {
	for _, rate := range []float64{8000, 11025, 16000, 22050, 44100, 48000, 0.1, 12} {
		for _, first := range []int{0, 1, 3200, 58000000} {
			const n = 3000
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(first+i) / rate
			}
			d := &Data{N: n, Q: 1, D: 1, X: x, Y: make([]float64, n)}
			a := Affine{Offset: []float64{x[0]}, Scale: []float64{start.GridOf(d.X, d.Q).Even()}}
			for i, u := range a.ToModel(x) {
				if u != float64(i) {
					t.Fatalf("rate %g from %d: sample %d is at %v in the model's units", rate, first, i, u)
				}
			}
		}
	}
	for _, x := range []float64{1 + 1e-12, 0.5, 3e9 + 0.25, -2 - 1e-13, math.Pi} {
		if got := (Affine{Offset: []float64{0}, Scale: []float64{1}}).ToModel([]float64{x})[0]; got != x {
			t.Errorf("%v becomes %v", x, got)
		}
	}
	// Rounding of a number far from the offset is no reason to take all of it.
	if got := (Affine{Offset: []float64{1e12}, Scale: []float64{1e-4}}).ToModel([]float64{1e12 + 0.00023})[0]; got == math.RoundToEven(got) {
		t.Errorf("a number whose rounding is beyond %g becomes %v", affineMost, got)
	}
}

// What predictions read is a matrix's own memory where that is row-major and
// whole, and a copy of the right entries elsewhere; NewData copies always.
func TestBorrow(t *testing.T) {
	own := []float64{1, 2, 3, 4, 5, 6}
	m := mat.NewDense(2, 3, own)
	for name, c := range map[string]struct {
		m      mat.Matrix
		want   []float64
		shared bool
	}{
		"whole":      {m, own, true},
		"rows":       {m.Slice(1, 2, 0, 3), own[3:], true},
		"one row":    {m.Slice(0, 1, 1, 3), own[1:3], true},
		"columns":    {m.Slice(0, 2, 1, 3), []float64{2, 3, 5, 6}, false},
		"transposed": {m.T(), []float64{1, 4, 2, 5, 3, 6}, false},
	} {
		got := borrow(c.m)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		if shared := slices.ContainsFunc([]int{0, 1, 3}, func(i int) bool { return &got[0] == &own[i] }); shared != c.shared {
			t.Errorf("%s: shares memory: %v, want %v", name, shared, c.shared)
		}
	}
	data, err := NewData(m, m)
	if err != nil {
		t.Fatal(err)
	}
	if own[0] = 7; data.X[0] != 1 || data.Y[0] != 1 {
		t.Errorf("NewData shares its matrices' memory: x starts with %v, y with %v, want 1", data.X[0], data.Y[0])
	}
}
