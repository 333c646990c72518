package tensors_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/tensors"
)

func TestDataAcceptsTensors(t *testing.T) {
	wide := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	turned := wide.Clone().(*tensor.Dense)
	testkit.OK(t, turned.T())
	slice := testkit.Must(wide.Slice(nil, tensor.S(1, 3)))(t)
	column := testkit.Must(wide.Slice(nil, tensor.S(1)))(t)
	turned32 := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))
	testkit.OK(t, turned32.T())
	columns := tensor.New(tensor.AsFortran([]float64{1, 4, 2, 5, 3, 6}), tensor.WithShape(2, 3))
	single := tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{0.5, 1, 2}))
	for name, c := range map[string]struct {
		x    *tensor.Dense
		n, q int
		want []float64
	}{
		"matrix":             {wide, 2, 3, []float64{1, 2, 3, 4, 5, 6}},
		"transposed":         {turned, 3, 2, []float64{1, 4, 2, 5, 3, 6}},
		"slice":              {slice.(*tensor.Dense), 2, 2, []float64{2, 3, 5, 6}},
		"float32":            {single, 3, 1, []float64{0.5, 1, 2}},
		"float32 transposed": {turned32, 3, 2, []float64{1, 4, 2, 5, 3, 6}},
		"column-major":       {columns, 2, 3, []float64{1, 2, 3, 4, 5, 6}},
		"column":             {column.(*tensor.Dense), 2, 1, []float64{2, 5}},
	} {
		if got, err := tensors.Rows(c.x); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: Rows gives %v (%v), want %v", name, got, err, c.want)
		}
		y := tensor.New(tensor.WithShape(c.n), tensor.WithBacking(make([]float64, c.n)))
		d := testkit.Must(tensors.Data(c.x, y))(t)
		if d.N != c.n || d.Q != c.q || d.D != 1 || !slices.Equal(d.X, c.want) {
			t.Errorf("%s: N, Q, D = %d, %d, %d, X = %v, want %d, %d, 1, %v", name, d.N, d.Q, d.D, d.X, c.n, c.q, c.want)
		}
	}
}

// TestErrors checks the errors for tensors that are nil or have unsupported shapes or types.
func TestErrors(t *testing.T) {
	zeros := func(shape ...int) *tensor.Dense {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(make([]float64, n)))
	}
	for name, got := range map[string]*tensor.Dense{
		"an incomplete row": tensors.Tensor(make([]float64, 3), 2), "no columns": tensors.Tensor(make([]float64, 3), -1),
		"mean of another shape": tensors.Mean(&vssgp.Prediction{N: 2, D: 1, Mean: make([]float64, 1)}),
		"covariances of another shape": tensors.Cov(&vssgp.Prediction{N: 1, D: 2, Mean: make([]float64, 2),
			Noise: make([]float64, 2)}),
		"deviations of another shape": tensors.SD(&vssgp.Prediction{N: 1 << 62, D: 4}, true),
	} {
		if got != nil {
			t.Errorf("%s: %v, want nil", name, got.Shape())
		}
	}
	good := zeros(2)
	check := func(what, name string, err error) {
		if !errors.Is(err, vssgp.ErrData) {
			t.Errorf("%s, %s: error %v, want one that wraps ErrData", what, name, err)
		}
	}
	for name, x := range map[string]*tensor.Dense{
		"nil": nil, "scalar": tensor.New(tensor.FromScalar(1.0)), "integers": tensor.New(tensor.WithBacking([]int{1, 2})),
		"rank 3": zeros(2, 1, 1), "no rows": zeros(0, 2),
	} {
		check("Rows", name, testkit.Error(tensors.Rows(x)))
		check("Data", name, testkit.Error(tensors.Data(x, good)))
		check("Data of y", name, testkit.Error(tensors.Data(good, x)))
	}
	check("Data", "other rows", testkit.Error(tensors.Data(zeros(2, 1), zeros(3))))
	check("Data", "NaN", testkit.Error(tensors.Data(tensor.New(tensor.WithBacking([]float32{1, float32(math.NaN())})), good)))
}

// TestEmptyPrediction checks that a prediction that is nil or empty has no tensors.
func TestEmptyPrediction(t *testing.T) {
	for _, p := range []*vssgp.Prediction{nil, {}} {
		if tensors.Mean(p) != nil || tensors.Cov(p) != nil || tensors.SD(p, true) != nil {
			t.Errorf("empty prediction %v has tensors", p)
		}
	}
	if tensors.Tensor(nil, 1) != nil {
		t.Error("no rows have a tensor")
	}
}

// TestCopies checks which functions copy memory and which share it.
func TestCopies(t *testing.T) {
	own := []float64{1, 2, 3, 4, 5, 6}
	x := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking(own))
	m := testkit.Must(tensors.Rows(x))(t)
	d := testkit.Must(tensors.Data(x, x))(t)
	p := &vssgp.Prediction{N: 1, D: 2, Mean: []float64{1, 2}, Cov: []float64{5, 1, 1, 10}, Noise: []float64{1, 1}}
	mean, cov, back := tensors.Mean(p), tensors.Cov(p), tensors.Tensor(m, 3)
	for name, c := range map[string]struct {
		of   *tensor.Dense
		want tensor.Shape
	}{"Mean": {mean, tensor.Shape{1, 2}}, "Cov": {cov, tensor.Shape{1, 2, 2}}, "Tensor": {back, tensor.Shape{2, 3}}, "SD": {tensors.SD(p, false), tensor.Shape{1, 2}}} {
		if !c.of.Shape().Eq(c.want) {
			t.Errorf("%s has shape %v, want %v", name, c.of.Shape(), c.want)
		}
	}
	if sd := tensors.SD(p, false).Data().([]float64); !slices.Equal(sd, []float64{2, 3}) {
		t.Errorf("SD without noise is %v, want [2 3]", sd)
	}
	own[1], p.Mean[0], p.Cov[3] = 70, 80, 90
	for name, c := range map[string][2]float64{
		"Rows":   {m[1], 70},
		"Tensor": {back.Data().([]float64)[1], 70},
		"Data.X": {d.X[1], 2},
		"Mean":   {mean.Data().([]float64)[0], 80},
		"Cov":    {cov.Data().([]float64)[3], 90},
	} {
		if c[0] != c[1] {
			t.Errorf("%s has %v after its source was changed, want %v", name, c[0], c[1])
		}
	}
}

// TestPredict compares predictions from float32 tensors with predictions from slices.
func TestPredict(t *testing.T) {
	n := 60
	x32, y32, x, y := make([]float32, n), make([]float32, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x32[i], y32[i] = float32(i)/4, float32(math.Sin(float64(i)/4))
		x[i], y[i] = float64(x32[i]), float64(y32[i])
	}
	fromTensors := testkit.Must(tensors.Data(tensor.New(tensor.WithBacking(x32)), tensor.New(tensor.WithBacking(y32))))(t)
	slices64 := testkit.Must(vssgp.NewData(n, x, y))(t)
	at := testkit.Must(tensors.Rows(tensor.New(tensor.WithShape(2), tensor.WithBacking([]float32{3.125, 7.5}))))(t)
	var means [2][]float64
	for i, data := range []*vssgp.Data{fromTensors, slices64} {
		model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 3, Iterations: 5})
		testkit.OK(t, err)
		p := testkit.Must(model.Predict(t.Context(), [][]float64{at, {3.125, 7.5}}[i]))(t)
		means[i] = tensors.Mean(p).Data().([]float64)
	}
	if !slices.Equal(means[0], means[1]) || means[0][0] == means[0][1] {
		t.Errorf("predictions %v from tensors, %v from slices", means[0], means[1])
	}
}
