package vssgp

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/initialize"
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
			a := Affine{Offset: []float64{x[0]}, Scale: []float64{initialize.GridOf(d.X, d.Q).Even()}}
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

// TestNewDataCopies checks the shapes that NewData makes and that it shares no memory with its arguments.
func TestNewDataCopies(t *testing.T) {
	x, y := []float64{1, 4, 2, 5, 3, 6}, []float64{7, 8, 9}
	data, err := NewData(3, x, y)
	if err != nil {
		t.Fatal(err)
	}
	x[0], y[0] = 0, 0
	if data.Q != 2 || data.D != 1 || !slices.Equal(data.X, []float64{1, 4, 2, 5, 3, 6}) || !slices.Equal(data.Y, []float64{7, 8, 9}) {
		t.Errorf("%+v", data)
	}
}

// TestFarInput: where a prediction or a draw overflows, it is an error that names the row, and no NaN.
func TestFarInput(t *testing.T) {
	for _, unit := range []float64{1e-10, 1.7e-9} { // x in the model's units is infinite, or only its products are
		testFarInput(t, unit)
	}
}

func testFarInput(t *testing.T, unit float64) {
	data := wave(60, 0.1)
	for i := range data.X {
		data.X[i] *= unit
	}
	m, _, err := Fit(t.Context(), data, Options{Init: InitPaper, Features: 6, Iterations: 5})
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1, 1e300}
	_, rows := m.Predict(t.Context(), x)
	_, _, joint := m.PredictJoint(t.Context(), x)
	_, draw := m.Draw(t.Context(), x, 1, 1)
	for name, err := range map[string]error{"Predict": rows, "PredictJoint": joint, "Draw": draw} {
		if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "row 1, x = [1e+300]: the result is not finite") {
			t.Errorf("x in %v, %s: %v; want ErrData with the row", unit, name, err)
		}
	}
}

// TestBeyond: rows outside of the data of the fit are marked, also by a model from a file; without a known range none is.
func TestBeyond(t *testing.T) {
	decay := &Data{N: 80, Q: 1, D: 1}
	for n := range decay.N {
		decay.X, decay.Y = append(decay.X, float64(n)/10), append(decay.Y, 5*math.Exp(-float64(n)/20))
	}
	two := &Data{N: 40, Q: 2, D: 1}
	for n := range two.N {
		two.X, two.Y = append(two.X, float64(n), float64(n*7%40)), append(two.Y, math.Sin(float64(n)/5))
	}
	for name, c := range map[string]struct {
		data *Data
		x    []float64
		want []bool
	}{
		"among the data": {decay, []float64{0, 3, 7.9}, nil},
		"on both sides":  {decay, []float64{-0.1, 3, 8, 12}, []bool{true, false, true, true}},
		"two inputs":     {two, []float64{3, 3, 3, 40, -1, 3}, []bool{false, true, true}},
	} {
		m, _, err := Fit(t.Context(), c.data, Options{Features: 6, Iterations: 3})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		read, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for from, m := range map[string]*Model{"fit": m, "file": read} {
			if p, err := m.Predict(t.Context(), c.x); err != nil || !slices.Equal(p.Beyond, c.want) || (p.Beyond == nil) != (c.want == nil) {
				t.Errorf("%s, %s: %v (%v), want %v", name, from, p.Beyond, err, c.want)
			}
		}
		if read.Range = nil; c.want != nil {
			if p, err := read.Predict(t.Context(), c.x); err != nil || p.Beyond != nil {
				t.Errorf("%s, no range: %v (%v)", name, p.Beyond, err)
			}
			read.Params.CoefMean, read.Params.CoefVar = nil, nil
			conditioned, err := NewModel(read.Params)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conditioned.Condition(t.Context(), c.data); err != nil || !slices.Equal(conditioned.Range, m.Range) {
				t.Errorf("%s: conditioned on %v, want %v (%v)", name, conditioned.Range, m.Range, err)
			}
		}
	}
}

// TestTransposedData checks that data with as many outputs as inputs and few rows are refused with the likely cause, and data with fewer
// outputs are not.
func TestTransposedData(t *testing.T) {
	five := []float64{1, 2, 3, 4, 5}
	if _, _, err := Fit(t.Context(), &Data{N: 1, Q: 5, D: 5, X: five, Y: five}, Options{}); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "transposed") {
		t.Errorf("%v; want ErrData with the cause", err)
	}
	if _, err := NewData(1, five, five[:1]); err != nil {
		t.Error(err)
	}
}
