package series

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
)

// reloaded saves and loads a model and checks that the loaded model makes identical predictions.
func reloaded(t *testing.T, m *Model, x []float64) *Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	testkit.OK(t, m.Save(path))
	l := testkit.Must(Load(path))(t)
	testkit.Equal(t, predict(t, l, x), predict(t, m, x), "predictions of the loaded model")
	return l
}

// TestLoadedModelPredictsTheSame checks that a loaded model makes identical predictions.
func TestLoadedModelPredictsTheSame(t *testing.T) {
	s := made(60, false)
	s.Y = append(s.Y, slices.Clone(s.Y[0]))
	s.Y[1][7] = math.NaN()
	s.Err = [][]float64{make([]float64, 60), make([]float64, 60)}
	for n := range 60 {
		s.Err[0][n], s.Err[1][n] = 0.1+0.01*float64(n), 0.3
	}
	m := fit(t, s, Options{Parts: []Part{Constant{}, ShortMemory{}, Slope{SD: Prior{Median: 2, SD: 1}}, Season{Period: 1}, Season{Period: 0.25, Harmonics: 1}, Product{Long: Season{Period: 1}, Short: Season{Period: 0.25}}}, Known: true})
	m.XName, m.YNames, m.Notes = "year", []string{"a", "b"}, map[string]string{"axis": "none"}
	l := reloaded(t, m, m.Next(9))
	if l.XName != "year" || !slices.Equal(l.YNames, m.YNames) || l.Notes["axis"] != "none" || l.Bound() != m.Bound() || l.NoiseSD(1) != m.NoiseSD(1) || !slices.Equal(l.Next(3), m.Next(3)) {
		t.Errorf("loaded %q %q %v", l.XName, l.YNames, l.Notes)
	}
	for i, v := range l.Hyper() {
		w := m.Hyper()[i]
		if v.Name != w.Name || v.Mode != w.Mode || math.Abs(v.Upper/w.Upper-1) > 1e-9 {
			t.Errorf("%+v became %+v", w, v)
		}
	}
	testkit.Fails(t, testkit.Error(Load(filepath.Join(t.TempDir(), "none"))), os.ErrNotExist, "", "no file")
}

// TestSavedParts checks that saving and loading preserves all fields of all parts.
func TestSavedParts(t *testing.T) {
	a, b, c := Prior{Median: 1, SD: 2}, Prior{Median: 3, SD: 4}, Prior{Median: 5, SD: 6}
	season := Season{Period: 7, Harmonics: 3, Length: a, Amplitude: b, Cycle: true}
	for _, p := range []Part{
		Constant{}, Slope{a}, SmoothTrend{a}, DampedTrend{a, b}, RandomWalk{a}, ShortMemory{a, b, c}, LevelShift{7, a}, season, Product{Long: season, Short: Season{Period: 1, Amplitude: c}}, Noise{a},
	} {
		s := save(p)
		testkit.Equal(t, testkit.Must(s.part())(t), p, "a part that is saved")
	}
}

// onBothScales returns a model of 30 values and of their logarithms.
func onBothScales(t testing.TB, o Options) *Model {
	random := rand.New(rand.NewPCG(1, 3))
	s := seriesOf(30, func(float64) float64 { return math.Exp(1 + 0.45*random.NormFloat64()) })
	o.Parts, o.Known, o.Average = []Part{Constant{}}, true, true
	m := testkit.Must(Fit(context.Background(), s, o))(t)
	if m.other == nil {
		t.Fatal("the model has one scale")
	}
	return m
}

// TestScalesReload checks that a file keeps both scales: all predictions, scores and draws have the same bits.
func TestScalesReload(t *testing.T) {
	for _, positive := range []bool{false, true} {
		m := onBothScales(t, Options{Positive: positive})
		x := m.Next(3)
		l := reloaded(t, m, x)
		p, q := predict(t, m, x), predict(t, l, x)
		for n := range x {
			for _, v := range []float64{0.01, 0.3, 0.5, 0.99} {
				testkit.Equal(t, q.Quantile(0, n, v), p.Quantile(0, n, v), "quantile ", v)
			}
			for _, y := range []float64{-1, 0.5, 4} {
				testkit.Equal(t, q.CRPS(0, n, y), p.CRPS(0, n, y), "CRPS at ", y)
				testkit.Equal(t, q.LogDensity(0, n, y), p.LogDensity(0, n, y), "log density at ", y)
			}
		}
		draws := func(m *Model) [][][]float64 { return testkit.Must(m.Draw(t.Context(), x, 50, 1))(t) }
		testkit.Equal(t, draws(l), draws(m), "draws")
		l.other = nil
		if slices.Equal(predict(t, l, x).Mean[0], p.Mean[0]) {
			t.Error("the other scale does not change the prediction")
		}
	}
}

// TestOldFormat checks that a file of version 2, whose model has one scale, is still read.
func TestOldFormat(t *testing.T) {
	m := fit(t, made(30, false), Options{Parts: []Part{Constant{}}, Known: true, Draws: 2})
	var b bytes.Buffer
	testkit.OK(t, m.Write(&b))
	old := bytes.Replace(b.Bytes(), []byte(fileFormat), []byte("vssgp-series/2"), 1)
	l := testkit.Must(Read(bytes.NewReader(old), int64(len(old))))(t)
	testkit.Equal(t, predict(t, l, m.Next(2)), predict(t, m, m.Next(2)), "predictions")
}

// TestScalesDisagree checks that a file whose scales are not of the same series is refused.
func TestScalesDisagree(t *testing.T) {
	for name, change := range map[string]func(m *Model){
		"same scale":       func(m *Model) { m.other.frame.Log = m.frame.Log },
		"other time":       func(m *Model) { m.other.frame.First++ },
		"other step":       func(m *Model) { m.other.frame.Step *= 2 },
		"other range":      func(m *Model) { m.other.frame.Range-- },
		"one positive":     func(m *Model) { m.other.frame.Positive = true },
		"fewer outputs":    func(m *Model) { m.frame.Offset, m.frame.Scale = []float64{0, 0}, []float64{1, 1} },
		"output twice":     func(m *Model) { m.other.tracks = append(m.other.tracks, m.other.tracks[0]) },
		"further output":   func(m *Model) { m.other.tracks[0].outputs = []int{1} },
		"another variable": func(m *Model) { m.other.frame.Regressors = []regressor{{Name: "a", Scale: 1}} },
		"no noise":         func(m *Model) { m.other.layout.parts = m.other.layout.parts[:1] },
		"not finite":       func(m *Model) { m.other.draws[0][0] = math.Inf(1) },
	} {
		m := onBothScales(t, Options{Draws: 4})
		change(m)
		var b bytes.Buffer
		testkit.OK(t, m.Write(&b))
		testkit.Fails(t, testkit.Error(Read(bytes.NewReader(b.Bytes()), int64(b.Len()))), ErrFile, "", name)
	}
}

// FuzzLoad checks that any file either loads as a model that can predict or returns an error.
func FuzzLoad(f *testing.F) {
	m := testkit.Must(Fit(context.Background(), made(30, false), Options{Parts: []Part{Constant{}, DampedTrend{}, Season{Period: 1, Harmonics: 1}}, Known: true, Draws: 2}))(f)
	var b bytes.Buffer
	testkit.OK(f, m.Write(&b))
	f.Add(b.Bytes())
	for _, swap := range [][2]string{{`\"Rows\":30`, `\"Rows\":30,\"Error\":[]`}, {`\"period\":1`, `\"period\":9`}, {`\"reach\":43.5`, `\"reach\":1e99`}, {`constant`, `constanz`}, {`\"outputs\":[0]`, `\"outputs\":[7]`}, {`\"harmonics\":1`, `\"harmonics\":8`}, {`\"harmonics\":1`, `\"harmonics\":100`}} {
		f.Add(bytes.Replace(b.Bytes(), []byte(swap[0]), []byte(swap[1]), 1))
	}
	b.Reset()
	testkit.OK(f, onBothScales(f, Options{Draws: 4}).Write(&b))
	f.Add(b.Bytes())
	for _, swap := range [][2]string{{`\"Rows\":30`, `\"Rows\":-3`}, {`\"Log\":true`, `\"log\":null`}, {`other.series`, `other.sarees`}, {`other.rows.0`, `other.rows.1`}} {
		f.Add(bytes.ReplaceAll(b.Bytes(), []byte(swap[0]), []byte(swap[1])))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := safetensors.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		m, err := load(file)
		if err != nil {
			testkit.Fails(t, err, ErrFile, "", "an error that is not ErrFile")
			return
		}
		p, err := m.Predict(context.Background(), []float64{0, 1})
		if err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, ErrReach) {
			t.Errorf("an error that is neither ErrFile nor ErrReach: %v", err)
		}
		if err == nil && slices.ContainsFunc(p.SD[0], math.IsNaN) {
			t.Errorf("it predicts NaN")
		}
	})
}
