package vssgp

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

func unfittedModel(t *testing.T) *Model {
	t.Helper()
	p := NewParams(1, 2, 1, 1)
	p.CoefMean, p.CoefVar = nil, nil
	p.Variance[0], p.Lengthscale[0], p.NoisePrecision[0] = 1, 1, 1
	m, err := NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNilModel(t *testing.T) {
	unfitted := unfittedModel(t)
	bare := &Model{Params: unfitted.Params} // without maps
	exact := unfittedModel(t)
	data := &Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{1, 0, 1}}
	if _, err := exact.Condition(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	moved := *exact // a posterior of other parameters
	moved.Params = NewParams(1, 4, 1, 1)
	moved.Params.CoefMean, moved.Params.CoefVar = nil, nil
	moved.Params.Variance[0], moved.Params.Lengthscale[0], moved.Params.NoisePrecision[0] = 1, 1, 1
	strange := unfittedModel(t)
	strange.Inference = "no such"
	x := make([]float64, 2)
	for _, m := range []struct {
		name   string
		m      *Model
		params error // where the parameters matter
		fitted error // where the posterior does
	}{
		{"nil", nil, ErrParams, ErrParams}, {"zero", &Model{}, ErrParams, ErrParams}, {"no maps", bare, ErrParams, ErrParams},
		{"zero parameters", &Model{Params: &Params{}}, ErrParams, ErrParams}, {"strange inference", strange, ErrParams, ErrParams},
		{"unfitted", unfitted, nil, ErrUnfitted}, {"another's posterior", &moved, ErrUnfitted, ErrUnfitted},
	} {
		modeltest.CheckCalls(t, []modeltest.Call{
			{m.name + " Coefficients", func() error { _, _, err := m.m.Coefficients(); return err }, m.fitted},
			{m.name + " Predict", func() error { return modeltest.Second(m.m.Predict(t.Context(), x)) }, m.fitted},
			{m.name + " PredictJoint", func() error { _, _, err := m.m.PredictJoint(t.Context(), x); return err }, m.fitted},
			{m.name + " Draw", func() error { return modeltest.Second(m.m.Draw(t.Context(), x, 1, 0)) }, m.fitted},
			{m.name + " Evaluate", func() error { return modeltest.Second(m.m.Evaluate(t.Context(), data, Exact, nil, true)) }, m.params},
			{m.name + " Write", func() error { return m.m.Write(io.Discard) }, m.params},
			{m.name + " Save", func() error { return m.m.Save(filepath.Join(t.TempDir(), "m")) }, m.params},
			{m.name + " Fitted", modeltest.Does(func() {
				if m.m.Fitted() && m.name != "another's posterior" {
					t.Error("fitted")
				}
			}), nil},
			{m.name + " Frequencies", modeltest.Does(func() { m.m.Frequencies() }), nil},
		})
		if m.params != nil && m.m != nil {
			modeltest.CheckCalls(t, []modeltest.Call{
				{m.name + " From", func() error { return modeltest.Second(New(t.Context(), data, Options{From: m.m})) }, ErrOptions},
				{m.name + " Condition", func() error { return modeltest.Second(m.m.Condition(t.Context(), data)) }, m.params},
			})
		}
	}
}

func TestNilArguments(t *testing.T) {
	m := unfittedModel(t)
	data := &Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{1, 0, 1}}
	if _, err := m.Condition(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	one := make([]float64, 3)
	wide := &Data{N: 1, Q: 2, D: 1, X: []float64{1, 2}, Y: []float64{1}}
	var none context.Context
	var nobody *Data
	modeltest.CheckCalls(t, []modeltest.Call{
		{"NewParams", modeltest.Does(func() { NewParams(0, 0, 0, 0) }), nil},
		{"NewModel nil", func() error { return modeltest.Second(NewModel(nil)) }, ErrParams},
		{"NewModel zero", func() error { return modeltest.Second(NewModel(&Params{})) }, ErrParams},
		{"Data.Check nil", func() error { return nobody.Check() }, ErrData},
		{"Data.Check zero", func() error { return (&Data{}).Check() }, ErrData},
		{"Data.Check ragged", func() error { return (&Data{N: 2, Q: 1, D: 1, X: []float64{1}, Y: []float64{1, 2}}).Check() }, ErrData},
		{"Data.Check names", func() error {
			return (&Data{N: 1, Q: 1, D: 1, X: []float64{1}, Y: []float64{1}, XNames: []string{"a", "b"}}).Check()
		}, ErrData},
		{"Data.Check large", func() error { return (&Data{N: 1, Q: 1, D: 1, X: []float64{1e308}, Y: []float64{1}}).Check() }, ErrData},
		{"Standardise nil", modeltest.Does(func() { nobody.Standardize() }), nil},
		{"Standardise zero", modeltest.Does(func() { (&Data{}).Standardize() }), nil},
		{"ToModel zero", modeltest.Does(func() { Affine{}.ToModel([]float64{1}) }), nil},
		{"New nil", func() error { return modeltest.Second(New(t.Context(), nil, Options{})) }, ErrData},
		{"New zero", func() error { return modeltest.Second(New(t.Context(), &Data{}, Options{})) }, ErrData},
		{"New from other data", func() error { return modeltest.Second(New(t.Context(), wide, Options{From: m})) }, ErrData},
		{"Fit nil", func() error { _, _, err := Fit(context.Background(), nil, Options{}); return err }, ErrData},
		{"Fit zero", func() error { _, _, err := Fit(context.Background(), &Data{}, Options{}); return err }, ErrData},
		{"Fit resumes nothing", func() error { _, _, err := Fit(none, data, Options{Resume: true}); return err }, ErrOptions},
		{"Fit without a context", func() error { _, _, err := Fit(none, data, Options{Iterations: 2}); return err }, nil},
		{"Evaluate nil", func() error { return modeltest.Second(m.Evaluate(t.Context(), nil, Exact, nil, false)) }, ErrData},
		{"Evaluate zero", func() error { return modeltest.Second(m.Evaluate(t.Context(), &Data{}, Exact, nil, false)) }, ErrData},
		{"Evaluate other columns", func() error { return modeltest.Second(m.Evaluate(t.Context(), wide, Exact, nil, false)) }, ErrData},
		{"Evaluate no inference", func() error { return modeltest.Second(m.Evaluate(t.Context(), data, "", nil, false)) }, ErrOptions},
		{"Evaluate rows past the end", func() error { return modeltest.Second(m.Evaluate(t.Context(), data, Factorized, []int{3}, false)) }, ErrData},
		{"Evaluate a mini-batch exactly", func() error { return modeltest.Second(m.Evaluate(t.Context(), data, Exact, []int{0}, false)) }, ErrData},
		{"Evaluate without coefficients", func() error { return modeltest.Second(m.Evaluate(t.Context(), data, Factorized, nil, false)) }, ErrUnfitted},
		{"Condition nil", func() error { return modeltest.Second(m.Condition(t.Context(), nil)) }, ErrData},
		{"Condition zero", func() error { return modeltest.Second(m.Condition(t.Context(), &Data{})) }, ErrData},
		{"Predict nil", func() error { return modeltest.Second(m.Predict(t.Context(), nil)) }, ErrData},
		{"Draw too many", func() error { return modeltest.Second(m.Draw(t.Context(), one, math.MaxInt, 0)) }, ErrOptions},
		{"Draw fewer than none", func() error { return modeltest.Second(m.Draw(t.Context(), one, -1, 0)) }, ErrOptions},
		{"SD nil", modeltest.Does(func() { (*Prediction)(nil).SD(true); (&Prediction{}).SD(false) }), nil},
		{"LogDensity nil", func() error { return modeltest.Second((*Prediction)(nil).LogDensity(t.Context(), nil)) }, ErrData},
		{"LogDensity zero", func() error { return modeltest.Second((&Prediction{}).LogDensity(t.Context(), []float64{1})) }, ErrData},
		{"Load nothing", func() error { return modeltest.Second(Load("")) }, fs.ErrNotExist},
		{"Read nil", func() error { return modeltest.Second(Read(nil, 0)) }, ErrFile},
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

// TestNilRows gives every function that takes rows none, or some that are not finite.
func TestNilRows(t *testing.T) {
	m := unfittedModel(t)
	data := &Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{1, 0, 1}}
	if _, err := m.Condition(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string][]float64{"nil": nil, "not finite": {1, math.NaN(), 2}} {
		modeltest.CheckCalls(t, []modeltest.Call{
			{name + " NewData x", func() error { return modeltest.Second(NewData(3, x, data.Y)) }, ErrData},
			{name + " NewData y", func() error { return modeltest.Second(NewData(3, data.X, x)) }, ErrData},
			{name + " Predict", func() error { return modeltest.Second(m.Predict(t.Context(), x)) }, ErrData},
			{name + " PredictJoint", func() error { _, _, err := m.PredictJoint(t.Context(), x); return err }, ErrData},
			{name + " Draw", func() error { return modeltest.Second(m.Draw(t.Context(), x, 1, 0)) }, ErrData},
		})
	}
}

// TestBadFiles reads files that are no models.
func TestBadFiles(t *testing.T) {
	var whole bytes.Buffer
	if err := unfittedModel(t).Write(&whole); err != nil {
		t.Fatal(err)
	}
	good := whole.Bytes()
	var other bytes.Buffer
	f, err := unfittedModel(t).file()
	if err != nil {
		t.Fatal(err)
	}
	delete(f.Tensors, "noise.precision")
	if err := f.Write(&other); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrFile}, {"junk", []byte("this is no model file at all, whatever its name"), ErrFile},
		{"header alone", good[:8], ErrFile}, {"cut in the header", good[:40], ErrFile}, {"cut in the data", good[:len(good)-1], ErrFile},
		{"a tensor is missing", other.Bytes(), ErrParams},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		modeltest.CheckCalls(t, []modeltest.Call{
			{c.name + " Load", func() error { return modeltest.Second(Load(path)) }, c.want},
			{c.name + " Read", func() error { return modeltest.Second(Read(bytes.NewReader(c.file), int64(len(c.file)))) }, c.want},
		})
	}
	modeltest.CheckCalls(t, []modeltest.Call{
		{"Load no file", func() error { return modeltest.Second(Load(filepath.Join(t.TempDir(), "none"))) }, fs.ErrNotExist},
		{"Save nowhere", func() error { return unfittedModel(t).Save("") }, fs.ErrInvalid},
		{"Save in no folder", func() error { return unfittedModel(t).Save(filepath.Join(t.TempDir(), "no", "m")) }, fs.ErrNotExist},
		{"Save over a folder", func() error { return unfittedModel(t).Save(t.TempDir()) }, fs.ErrInvalid},
	})
}
