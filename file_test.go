package vssgp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// fileModels returns models that cover every kind of file.
func fileModels(t testing.TB) map[string]*Model {
	plain, plainData := made(kind{Name: "file", N: 12, L: 2, K: 3, Q: 2, D: 2})
	windowed, windowedData := made(kind{Name: "file, windows", N: 16, L: 6, K: 2, Q: 1, D: 1, Windows: 4, Skip: 3})
	along, alongData := made(kind{Name: "file, windows along the second input", N: 16, L: 6, K: 1, Q: 2, D: 1, Windows: 3})
	along.Windows.Dim = 1
	bare := plain.Clone()
	bare.CoefMean, bare.CoefVar = nil, nil
	units := conditioned(t, plain, plainData)
	units.X = Affine{[]float64{1, 2}, []float64{0.1, 3}}
	units.Y = Affine{[]float64{-1, 5}, []float64{2, 4}}
	units.XNames, units.YNames = []string{"time", "größe, “x”"}, []string{"a", "b"}
	testkit.Must(units.Condition(context.Background(), plainData))(t)
	return map[string]*Model{
		"exact":            conditioned(t, plain, plainData),
		"exact, units":     units,
		"exact, windows":   conditioned(t, windowed, windowedData),
		"windows along 1":  conditioned(t, along, alongData),
		"factorized":       mustModel(t, plain),
		"factorized in V":  mustModel(t, windowed),
		"no coefficients":  mustModel(t, bare),
		"one of each size": conditioned(t, windowedOne(), &Data{N: 1, Q: 1, D: 1, X: []float64{1}, Y: []float64{2}}),
	}
}

func windowedOne() *Params {
	p, _ := made(kind{Name: "1", N: 1, L: 1, K: 1, Q: 1, D: 1, Windows: 1})
	return p
}

// TestSaveLoad checks that a loaded model has the same parameters, predictions and file.
func TestSaveLoad(t *testing.T) {
	for name, m := range fileModels(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model.safetensors")
			testkit.OK(t, m.Save(path))
			got, err := Load(path)
			testkit.OK(t, err)
			var first, second bytes.Buffer
			testkit.OK(t, errors.Join(m.Write(&first), got.Write(&second)))
			if !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Error("saving the loaded model gives a different file")
			}
			if got.Inference != m.Inference || !slices.Equal(got.XNames, m.XNames) || !slices.Equal(got.YNames, m.YNames) {
				t.Errorf("%s of %v, %v was loaded as %s of %v, %v", m.Inference, m.XNames, m.YNames, got.Inference, got.XNames, got.YNames)
			}
			x := []float64{0.5, 1.5, 2.5, 30}
			want, err := m.Predict(t.Context(), x)
			if name == "no coefficients" {
				if !errors.Is(err, ErrUnfitted) {
					t.Fatalf("error %v, want ErrUnfitted", err)
				}
				_, err := got.Predict(t.Context(), x)
				if !errors.Is(err, ErrUnfitted) {
					t.Errorf("loaded: error %v, want ErrUnfitted", err)
				}
				return
			}
			testkit.OK(t, err)
			p := testkit.Must(got.Predict(t.Context(), x))(t)
			if !slices.Equal(p.Mean, want.Mean) || !slices.Equal(p.Cov, want.Cov) || !slices.Equal(p.Noise, want.Noise) {
				t.Error("the loaded model's predictions differ")
			}
		})
	}
}

// encode returns the bytes of a file.
func encode(t testing.TB, f *safetensors.File) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, f.Write(&b))
	return b.Bytes()
}

func read(b []byte) (*Model, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// layout returns a model's file with copies of the arrays.
func layout(t testing.TB, m *Model) *safetensors.File {
	t.Helper()
	f := testkit.Must(m.file())(t)
	for name, a := range f.Tensors {
		f.Tensors[name] = safetensors.Tensor{Shape: slices.Clone(a.Shape), Data: slices.Clone(a.Data)}
	}
	return f
}

// set changes one number of a tensor.
func set(name string, i int, v float64) func(*safetensors.File) {
	return func(f *safetensors.File) { f.Tensors[name].Data[i] = v }
}

// without removes a tensor.
func without(name string) func(*safetensors.File) {
	return func(f *safetensors.File) { delete(f.Tensors, name) }
}

// shaped replaces a tensor by a tensor of ones with the given shape.
func shaped(name string, shape ...int) func(*safetensors.File) {
	return func(f *safetensors.File) {
		a := safetensors.Tensor{Shape: shape, Data: make([]float64, Tensor{Shape: shape}.Size())}
		for i := range a.Data {
			a.Data[i] = 1
		}
		f.Tensors[name] = a
	}
}

// meta sets an entry of the metadata.
func meta(name, value string) func(*safetensors.File) {
	return func(f *safetensors.File) { f.Metadata[name] = value }
}

// TestBadModelFiles checks that an invalid model file gives an error that wraps ErrParams and
// names the invalid entry.
func TestBadModelFiles(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	cases := []struct {
		model, message string
		spoil          func(*safetensors.File)
	}{
		{"exact", "NaN", set("inducing.location", 3, nan)},
		{"exact", "kernel.variance[1]", set("kernel.variance", 1, -1)},
		{"exact", "kernel.variance[0]", set("kernel.variance", 0, 0)},
		{"exact", "kernel.lengthscale[0]", set("kernel.lengthscale", 0, 0)},
		{"exact", "kernel.frequency[2]", set("kernel.frequency", 2, inf)},
		{"exact", "frequency.variance[5]", set("frequency.variance", 5, -1e-300)},
		{"exact", "phase.upper[2]", set("phase.upper", 2, -1)},
		{"exact", "phase.upper[2]", set("phase.upper", 2, 100)},
		{"exact", "noise.precision[0]", set("noise.precision", 0, 0)},
		{"exact", "noise.precision[0]", set("noise.precision", 0, inf)},
		{"factorized", "coefficient.variance[1]", set("coefficient.variance", 1, 0)},
		{"factorized", "coefficient.mean[4]", set("coefficient.mean", 4, nan)},
		{"exact", "coefficient.mean[4]", set("coefficient.mean", 4, nan)},
		{"exact", "coefficient.factor[1]", set("coefficient.factor", 1, nan)},
		{"exact", "diagonal", set("coefficient.factor", 0, 0)},
		{"exact, windows", "diagonal", set("coefficient.factor", 0, -2)},
		{"exact", "coefficient.factor", shaped("coefficient.factor", 35)},
		{"exact", "coefficient.factor", shaped("coefficient.factor", 0)},
		{"exact, windows", "coefficient.factor", shaped("coefficient.factor", 144)},
		{"exact", "coefficient.factor", without("coefficient.mean")},
		{"exact", "kernel.lengthscale", without("kernel.lengthscale")},
		{"exact", "inducing.location", without("inducing.location")},
		{"exact", "phase.lower", without("phase.lower")},
		{"exact", "noise.precision", without("noise.precision")},
		{"exact", "kernel.lengthscale", shaped("kernel.lengthscale", 2, 0)},
		{"exact", "kernel.lengthscale", shaped("kernel.lengthscale", 0, 2)},
		{"exact", "kernel.lengthscale", shaped("kernel.lengthscale", 4)},
		{"exact", "inducing.location", shaped("inducing.location", 7, 2)},
		{"exact", "inducing.location", shaped("inducing.location", 6, 3)},
		{"exact", "inducing.location", shaped("inducing.location", 0, 2)},
		{"exact", "frequency.mean", shaped("frequency.mean", 2, 6)},
		{"exact", "phase.lower", shaped("phase.lower", 6, 1)},
		{"exact", "noise.precision", shaped("noise.precision")},
		{"exact", "noise.precision", shaped("noise.precision", 2)},
		{"factorized", "coefficient.variance", shaped("coefficient.variance", 6, 1)},
		{"factorized", "coefficient.variance", shaped("coefficient.mean", 6, 0)},
		{"exact, windows", "window.center", without("window.center")},
		{"exact, windows", "window.length", without("window.length")},
		{"exact, windows", "component.window", without("component.window")},
		{"exact, windows", "window.center", shaped("window.center", 0)},
		{"exact, windows", "window.length", shaped("window.length", 2)},
		{"exact, windows", "component.window", shaped("component.window", 5)},
		{"exact, windows", "window length", set("window.length", 0, 0)},
		{"exact, windows", "window length", set("window.length", 0, nan)},
		{"exact, windows", "window center", set("window.center", 1, nan)},
		{"exact, windows", "window centers 0 and 1", set("window.center", 1, 3.5)},
		{"exact, windows", "component.window[5]", set("component.window", 5, 0)},
		{"exact, windows", "component.window[5]", set("component.window", 5, 4)},
		{"exact, windows", "component.window[0]", set("component.window", 0, -1)},
		{"exact, windows", "component.window[0]", set("component.window", 0, 0.5)},
		{"exact, windows", "component.window[0]", set("component.window", 0, nan)},
		{"exact, windows", "component.window[5]", set("component.window", 5, 1e300)},
		{"exact, windows", "window.input", meta("window.input", "time")},
		{"exact, windows", "input 1", meta("window.input", "1")},
		{"exact, windows", "input -1", meta("window.input", "-1")},
		{"windows along 1", "window.input", meta("window.input", "1abc")},
		{"exact", "format", meta("format", "vssgp/9")},
		{"exact", "inference", meta("inference", "stochastic")},
		{"exact", "x.offset", meta("x.offset", "[0, 1")},
		{"exact", "x.offset", meta("x.offset", `"0"`)},
		{"exact", "x.offset", meta("x.offset", "[0]")},
		{"exact", "x.scale", meta("x.scale", "[1, 0]")},
		{"exact", "x.scale", meta("x.scale", "[1, -1]")},
		{"exact", "x.scale", meta("x.scale", "null")},
		{"exact", "y.scale", meta("y.scale", "[1, 1, 1]")},
		{"exact", "y.scale", meta("y.scale", "[1e999, 1]")},
		{"exact", "x.names", meta("x.names", `["a"]`)},
		{"exact", "y.names", meta("y.names", `["a", 3]`)},
	}
	models := fileModels(t)
	for _, c := range cases {
		f := layout(t, models[c.model])
		if _, err := read(encode(t, f)); err != nil {
			t.Fatalf("%s: rejected before it was changed: %v", c.model, err)
		}
		c.spoil(f)
		_, err := read(encode(t, f))
		testkit.Fails(t, err, ErrParams, c.message, c.model)
	}
}

// TestOptionalEntries checks the defaults of optional tensors and metadata.
func TestOptionalEntries(t *testing.T) {
	f := layout(t, fileModels(t)["factorized"])
	f.Metadata = nil
	m, err := read(encode(t, f))
	testkit.OK(t, err)
	if m.Inference != Factorized || m.X.Scale[1] != 1 || m.Y.Offset[1] != 0 {
		t.Errorf("a file without metadata: inference %s, x scale %v, y offset %v; want factorized, 1, 0", m.Inference, m.X.Scale,
			m.Y.Offset)
	}
	delete(f.Tensors, "coefficient.mean")
	delete(f.Tensors, "coefficient.variance")
	if m, err = read(encode(t, f)); err != nil || m.Params.D != 1 {
		t.Fatalf("without coefficients: %v", err)
	}
	f.Metadata = map[string]string{"y.offset": "[0,0,0]", "y.scale": "[1,2,3]"}
	if m, err = read(encode(t, f)); err != nil || m.Params.D != 3 {
		t.Fatalf("three outputs by their offsets: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a missing file was loaded")
	}
}

// TestSaveInvalidParams checks that invalid parameters are not written.
func TestSaveInvalidParams(t *testing.T) {
	m := fileModels(t)["factorized"]
	m.Params.Variance[0] = math.NaN()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	testkit.Fails(t, m.Save(path), ErrParams, "")
	if _, err := Load(path); err == nil {
		t.Error("a file was not removed")
	}
}

// FuzzRead checks that arbitrary bytes give either an error or a model that can be written,
// read and used.
func FuzzRead(f *testing.F) {
	for _, m := range fileModels(f) {
		b := encode(f, layout(f, m))
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b)
		if err != nil {
			if !errors.Is(err, ErrParams) && !errors.Is(err, safetensors.ErrFormat) {
				t.Fatalf("error %v wraps neither ErrParams nor safetensors.ErrFormat", err)
			}
			return
		}
		again, err := read(encode(t, layout(t, m)))
		if err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		if !bytes.Equal(encode(t, layout(t, again)), encode(t, layout(t, m))) {
			t.Fatal("a second round trip changes the file")
		}
		x := make([]float64, 2*m.Params.Q)
		if p, err := m.Predict(t.Context(), x); err == nil && len(p.Mean) != 2*m.Params.D {
			t.Fatalf("%d means for 2 rows of %d outputs", len(p.Mean), m.Params.D)
		}
	})
}

// TestMetadata checks that only application metadata is written and read.
func TestMetadata(t *testing.T) {
	m := mustModel(t, windowedOne())
	offset := m.X.Offset[0]
	m.Metadata = map[string]string{"app.note": "a \"note\"", "format": "another", "x.offset": "7"}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	testkit.OK(t, m.Save(path))
	again, err := Load(path)
	if err != nil || len(again.Metadata) != 1 || again.Metadata["app.note"] != "a \"note\"" || again.X.Offset[0] != offset {
		t.Errorf("%v, %v", again.Metadata, err)
	}
}

// unfittedParams returns parameters of k features without coefficients.
func unfittedParams(k int) *Params {
	p := NewParams(1, k, 1, 1)
	p.CoefMean, p.CoefVar = nil, nil
	p.Variance[0], p.Lengthscale[0], p.NoisePrecision[0] = 1, 1, 1
	return p
}

func unfittedModel(t *testing.T) *Model { return mustModel(t, unfittedParams(2)) }

func TestNilModel(t *testing.T) {
	unfitted := unfittedModel(t)
	bare := &Model{Params: unfitted.Params} // without maps
	exact := unfittedModel(t)
	data := &Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{1, 0, 1}}
	testkit.Must(exact.Condition(t.Context(), data))(t)
	moved := *exact // with the posterior of other parameters
	moved.Params = unfittedParams(4)
	strange := unfittedModel(t)
	strange.Inference = "no such"
	x := make([]float64, 2)
	for _, m := range []struct {
		name   string
		m      *Model
		params error // if the parameters are needed
		fitted error // if the posterior is needed
	}{
		{"nil", nil, ErrParams, ErrParams}, {"zero", &Model{}, ErrParams, ErrParams}, {"no maps", bare, ErrParams, ErrParams},
		{"zero parameters", &Model{Params: &Params{}}, ErrParams, ErrParams}, {"strange inference", strange, ErrParams, ErrParams},
		{"unfitted", unfitted, nil, ErrUnfitted}, {"posterior of another model", &moved, ErrUnfitted, ErrUnfitted},
	} {
		modeltest.CheckCalls(t, []modeltest.Call{
			{m.name + " Coefficients", func() error { _, _, err := m.m.Coefficients(); return err }, m.fitted},
			{m.name + " Predict", func() error { return testkit.Error(m.m.Predict(t.Context(), x)) }, m.fitted},
			{m.name + " PredictJoint", func() error { _, _, err := m.m.PredictJoint(t.Context(), x); return err }, m.fitted},
			{m.name + " Draw", func() error { return testkit.Error(m.m.Draw(t.Context(), x, 1, 0)) }, m.fitted},
			{m.name + " Evaluate", func() error { return testkit.Error(m.m.Evaluate(t.Context(), data, Exact, nil, true)) }, m.params},
			{m.name + " Write", func() error { return m.m.Write(io.Discard) }, m.params},
			{m.name + " Save", func() error { return m.m.Save(filepath.Join(t.TempDir(), "m")) }, m.params},
			{m.name + " Fitted", modeltest.Does(func() {
				if m.m.Fitted() && m.name != "posterior of another model" {
					t.Error("fitted")
				}
			}), nil},
			{m.name + " Frequencies", modeltest.Does(func() { m.m.Frequencies() }), nil},
		})
		if m.params != nil && m.m != nil {
			modeltest.CheckCalls(t, []modeltest.Call{
				{m.name + " From", func() error { return testkit.Error(New(t.Context(), data, Options{From: m.m})) }, ErrOptions},
				{m.name + " Condition", func() error { return testkit.Error(m.m.Condition(t.Context(), data)) }, m.params},
			})
		}
	}
}

func TestNilArguments(t *testing.T) {
	m := unfittedModel(t)
	data := &Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{1, 0, 1}}
	testkit.Must(m.Condition(t.Context(), data))(t)
	one := make([]float64, 3)
	wide := &Data{N: 1, Q: 2, D: 1, X: []float64{1, 2}, Y: []float64{1}}
	var none context.Context
	var nobody *Data
	modeltest.CheckCalls(t, []modeltest.Call{
		{"NewParams", modeltest.Does(func() { NewParams(0, 0, 0, 0) }), nil},
		{"NewParams of impossible shapes", modeltest.Does(func() {
			for _, s := range [][4]int{{1 << 40, 1, 1, 1}, {-1, 2, 1, 1}, {-1, -1, 1, 1}, {1 << 33, 1 << 33, 1, 1},
				{1 << 62, 4, 1, 1}, {1, 1, 1, -1},
				{math.MinInt, 1, 1, 1}, {1 << 15, 1 << 15, 1, 1}, {1, 1, 1 << 30, 1}, {0, 1 << 40, 0, 0}} {
				if p := NewParams(s[0], s[1], s[2], s[3]); p != nil {
					t.Errorf("NewParams(%d): %d features", s, p.M())
				}
			}
		}), nil},
		{"NewData of a negative number", func() error { return testkit.Error(NewData(math.MinInt, one, one)) }, ErrData},
		{"Data.Check overflow", func() error { return (&Data{N: 1 << 62, Q: 4, D: 4}).Check() }, ErrData},
		{"Standardize negative", modeltest.Does(func() {
			(&Data{N: 1, Q: -2, D: 1}).Standardize()
			(&Data{N: 1, Q: 1 << 40, D: 1}).Standardize()
		}), nil},
		{"Fit with too many restarts", func() error { return fitError(data, Options{Restarts: math.MaxInt}) }, ErrOptions},
		{"Fit with too many features", func() error {
			return fitError(data, Options{Inference: Factorized, Init: InitPaper, Components: maxCount, Features: maxCount})
		}, ErrOptions},
		{"Draws.At before the first",
			func() error { return testkit.Error(testkit.Must(m.Draws(1))(t).At(none, -1, one)) }, ErrOptions},
		{"Draws.At far away",
			func() error { return testkit.Error(testkit.Must(m.Draws(1))(t).At(none, 1<<40, one)) }, ErrOptions},
		{"Draws.At interrupted", func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return testkit.Error(testkit.Must(m.Draws(1))(t).At(ctx, maxFunctions-1, one))
		}, context.Canceled},
		{"Draws.At the first one too many, interrupted", func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return testkit.Error(testkit.Must(m.Draws(1))(t).At(ctx, maxFunctions, one))
		}, ErrOptions},
		{"Fit with more windows than rows",
			func() error { return fitError(data, Options{Windows: WindowOptions{Length: 1}}) }, ErrOptions},
		{"Draws.At without a context",
			func() error { return testkit.Error(testkit.Must(m.Draws(1))(t).At(none, 1, one)) }, nil},
		{"Draws.At nil", func() error { return testkit.Error((*Draws)(nil).At(none, 0, one)) }, ErrUnfitted},
		{"Draws.At zero", func() error { return testkit.Error((&Draws{}).At(none, 0, one)) }, ErrUnfitted},
		{"Draw too many at one row",
			func() error { return testkit.Error(m.Draw(none, one[:1], maxFunctions+1, 0)) }, ErrOptions},
		{"Predict without a context", func() error { return testkit.Error(m.Predict(none, one)) }, nil},
		{"PredictJoint without a context", func() error { _, _, err := m.PredictJoint(none, one); return err }, nil},
		{"LogDensity without a context", func() error {
			return testkit.Error(testkit.Must(m.Predict(none, one))(t).LogDensity(none, one))
		}, nil},
		{"Predictor nil", func() error { return testkit.Error((*Predictor)(nil).Predict(none, one)) }, ErrUnfitted},
		{"Predictor zero", func() error { return testkit.Error((&Predictor{}).Predict(none, one)) }, ErrUnfitted},
		{"Each of nil", func() (err error) {
			for _, err = range (*Predictor)(nil).Each(none, nil) {
			}
			return err
		}, ErrUnfitted},
		{"Each without rows", func() (err error) {
			for _, err = range testkit.Must(m.Predictor(none))(t).Each(none, nil) {
			}
			return err
		}, nil},
		{"Prediction of other shapes", modeltest.Does(func() {
			for _, p := range []*Prediction{nil, {}, {N: 2, D: 1, Mean: one[:2]}, {N: -2, D: 1, Mean: one[:2]},
				{N: 1 << 62, D: 4}, {N: 2, D: 3, Mean: one, Cov: one},
				{N: 1 << 62}} {
				if p.SD(true) != nil && len(p.Mean) > 0 || p.Quantile(0.5, false) != nil && len(p.Mean) > 0 {
					t.Errorf("%+v has standard deviations or quantiles", p)
				}
				if _, err := p.LogDensity(none, one); !errors.Is(err, ErrData) {
					t.Errorf("%+v has a density: %v", p, err)
				}
			}
		}), nil},
		{"NewData of different lengths", func() error { return testkit.Error(NewData(2, one[:2], one)) }, ErrData},
		{"NewData of an infinite output", func() error { return testkit.Error(NewData(2, one[:2], []float64{0, math.Inf(-1)})) }, ErrData},
		{"NewData without inputs", func() error { return testkit.Error(NewData(3, nil, one)) }, ErrData},
		{"NewData without outputs", func() error { return testkit.Error(NewData(3, one, nil)) }, ErrData},
		{"NewData of NaN", func() error { return testkit.Error(NewData(1, []float64{math.NaN()}, one[:1])) }, ErrData},
		{"NewModel nil", func() error { return testkit.Error(NewModel(nil)) }, ErrParams},
		{"NewModel zero", func() error { return testkit.Error(NewModel(&Params{})) }, ErrParams},
		{"Data.Check nil", func() error { return nobody.Check() }, ErrData},
		{"Data.Check zero", func() error { return (&Data{}).Check() }, ErrData},
		{"Data.Check no rows", (&Data{Q: 1, D: 1}).Check, ErrData},
		{"Data.Check no inputs", (&Data{N: 1, D: 1, Y: []float64{1}}).Check, ErrData},
		{"Data.Check no outputs", (&Data{N: 1, Q: 1, X: []float64{1}}).Check, ErrData},
		{"Data.Check ragged", func() error { return (&Data{N: 2, Q: 1, D: 1, X: []float64{1}, Y: []float64{1, 2}}).Check() }, ErrData},
		{"Data.Check names", func() error {
			return (&Data{N: 1, Q: 1, D: 1, X: []float64{1}, Y: []float64{1}, XNames: []string{"a", "b"}}).Check()
		}, ErrData},
		{"Data.Check large x", func() error { return (&Data{N: 1, Q: 1, D: 1, X: []float64{1e308}, Y: []float64{1}}).Check() }, ErrData},
		{"Data.Check large y", func() error { return (&Data{N: 1, Q: 1, D: 1, X: []float64{1}, Y: []float64{-1e308}}).Check() }, ErrData},
		{"Standardize nil", modeltest.Does(func() { nobody.Standardize() }), nil},
		{"Standardize zero", modeltest.Does(func() { (&Data{}).Standardize() }), nil},
		{"ToModel zero", modeltest.Does(func() { Affine{}.ToModel([]float64{1}) }), nil},
		{"New nil", func() error { return testkit.Error(New(t.Context(), nil, Options{})) }, ErrData},
		{"New of too many inputs", func() error {
			d := &Data{N: 2, Q: maxInputs + 1, D: 1, X: make([]float64, 2*(maxInputs+1)), Y: one[:2]}
			return testkit.Error(New(t.Context(), d, Options{}))
		}, ErrData},
		{"New zero", func() error { return testkit.Error(New(t.Context(), &Data{}, Options{})) }, ErrData},
		{"New from other data", func() error { return testkit.Error(New(t.Context(), wide, Options{From: m})) }, ErrData},
		{"Fit nil", func() error { return fitError(nil, Options{}) }, ErrData},
		{"Fit zero", func() error { return fitError(&Data{}, Options{}) }, ErrData},
		{"Fit resumes without a checkpoint", func() error {
			_, _, err := Fit(none, data, Options{Checkpoint: CheckpointOptions{Resume: true}})
			return err
		}, ErrOptions},
		{"Fit with a negative time between checkpoints", func() error {
			return fitError(data, Options{Checkpoint: CheckpointOptions{Path: "part", Every: -1}})
		}, ErrOptions},
		{"Fit without a context", func() error { _, _, err := Fit(none, data, Options{Iterations: 2}); return err }, nil},
		{"Evaluate nil", func() error { return testkit.Error(m.Evaluate(t.Context(), nil, Exact, nil, false)) }, ErrData},
		{"Evaluate zero", func() error { return testkit.Error(m.Evaluate(t.Context(), &Data{}, Exact, nil, false)) }, ErrData},
		{"Evaluate other columns", func() error { return testkit.Error(m.Evaluate(t.Context(), wide, Exact, nil, false)) }, ErrData},
		{"Evaluate other outputs", func() error {
			two := &Data{N: 1, Q: 1, D: 2, X: []float64{1}, Y: []float64{1, 2}}
			return testkit.Error(m.Evaluate(t.Context(), two, Exact, nil, false))
		}, ErrData},
		{"Evaluate no inference", func() error { return testkit.Error(m.Evaluate(t.Context(), data, "", nil, false)) }, ErrOptions},
		{"Evaluate rows past the end", func() error { return testkit.Error(m.Evaluate(t.Context(), data, Factorized, []int{3}, false)) },
			ErrData},
		{"Evaluate a mini-batch exactly", func() error { return testkit.Error(m.Evaluate(t.Context(), data, Exact, []int{0}, false)) },
			ErrData},
		{"Evaluate without coefficients", func() error { return testkit.Error(m.Evaluate(t.Context(), data, Factorized, nil, false)) },
			ErrUnfitted},
		{"Condition nil", func() error { return testkit.Error(m.Condition(t.Context(), nil)) }, ErrData},
		{"Condition zero", func() error { return testkit.Error(m.Condition(t.Context(), &Data{})) }, ErrData},
		{"Predict nil", func() error { return testkit.Error(m.Predict(t.Context(), nil)) }, ErrData},
		{"Draw too many", func() error { return testkit.Error(m.Draw(t.Context(), one, math.MaxInt, 0)) }, ErrOptions},
		{"Draw a negative number", func() error { return testkit.Error(m.Draw(t.Context(), one, -1, 0)) }, ErrOptions},
		{"SD nil", modeltest.Does(func() { (*Prediction)(nil).SD(true); (&Prediction{}).SD(false) }), nil},
		{"LogDensity nil", func() error { return testkit.Error((*Prediction)(nil).LogDensity(t.Context(), nil)) }, ErrData},
		{"LogDensity zero", func() error { return testkit.Error((&Prediction{}).LogDensity(t.Context(), []float64{1})) }, ErrData},
		{"Load nothing", func() error { return testkit.Error(Load("")) }, fs.ErrNotExist},
		{"Read nil", func() error { return testkit.Error(Read(nil, 0)) }, ErrFile},
		{"Write nil", func() error { return m.Write(nil) }, ErrFile},
		{"Params nil", modeltest.Does(func() {
			p := (*Params)(nil)
			p.M()
			p.Clone()
			p.Tensors()
		}), nil},
		{"Params.Check nil", func() error { return (*Params)(nil).Check() }, ErrParams},
		{"Params.Check zero", func() error { return (&Params{}).Check() }, ErrParams},
		{"Params.Features", modeltest.Does(func() { (*Params)(nil).Features(); (&Params{}).Features() }), nil},
	})
}

// TestBadFiles checks the errors for files that are not models.
func TestBadFiles(t *testing.T) {
	var whole bytes.Buffer
	testkit.OK(t, unfittedModel(t).Write(&whole))
	good := whole.Bytes()
	var other bytes.Buffer
	f := testkit.Must(unfittedModel(t).file())(t)
	delete(f.Tensors, "noise.precision")
	testkit.OK(t, f.Write(&other))
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrFile}, {"junk", []byte("this is not a model file, whatever its name is."), ErrFile},
		{"header alone", good[:8], ErrFile}, {"cut in the header", good[:40], ErrFile}, {"cut in the data", good[:len(good)-1], ErrFile},
		{"a tensor is missing", other.Bytes(), ErrParams},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		testkit.OK(t, os.WriteFile(path, c.file, 0o600))
		modeltest.CheckCalls(t, []modeltest.Call{
			{c.name + " Load", func() error { return testkit.Error(Load(path)) }, c.want},
			{c.name + " Read", func() error { return testkit.Error(Read(bytes.NewReader(c.file), int64(len(c.file)))) }, c.want},
		})
	}
	modeltest.CheckCalls(t, []modeltest.Call{
		{"Load no file", func() error { return testkit.Error(Load(filepath.Join(t.TempDir(), "none"))) }, fs.ErrNotExist},
		{"Save nowhere", func() error { return unfittedModel(t).Save("") }, fs.ErrInvalid},
		{"Save in no folder", func() error { return unfittedModel(t).Save(filepath.Join(t.TempDir(), "no", "m")) }, fs.ErrNotExist},
		{"Save over a folder", func() error { return unfittedModel(t).Save(t.TempDir()) }, fs.ErrInvalid},
	})
}
