package series

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/safetensors"
)

// fit fits or fails.
func fit(t *testing.T, s Series, o Options) *Model {
	t.Helper()
	m, err := Fit(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func predict(t *testing.T, m *Model, x []float64) *Prediction {
	t.Helper()
	p, err := m.Predict(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrediction: at the mode it is the conditional Gaussian of the values given the others, by the N×N covariance.
func TestPrediction(t *testing.T) {
	s := made(100, true)
	s.Err = [][]float64{make([]float64, len(s.X))}
	for n := range s.X {
		s.Err[0][n] = 0.2 + 0.1*math.Sin(float64(n))
	}
	whole := s
	at := append(slices.Clone(s.X[:3]), s.X[len(s.X)-1]+0.5, s.X[len(s.X)-1]+4)
	m := fit(t, whole, Options{Parts: everything, Known: true, Draws: AtMode})
	p := predict(t, m, at)
	o := newObjective(m.layout, m.sums)
	lambda, _ := o.variance(m.at.Mode)
	features, d := m.layout.spectral(), make([]float64, m.Features())
	m.layout.amplitudes(d, m.at.Mode, nil)
	row := func(x float64) []float64 {
		phi := make([]float64, len(d))
		values(phi, features, m.frame.steps(x), 1)
		for k := range phi {
			phi[k] *= d[k]
		}
		return phi
	}
	n := len(s.X)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, dot(row(s.X[i]), row(s.X[j])))
		}
		e := m.frame.known[0][i]
		k.SetSym(i, i, k.At(i, i)+lambda*e*e)
	}
	var c mat.Cholesky
	if !c.Factorize(k) {
		t.Fatal("K has no factor")
	}
	for i, x := range at {
		cross := mat.NewVecDense(n, nil)
		for j := range n {
			cross.SetVec(j, dot(row(x), row(s.X[j])))
		}
		var w mat.VecDense
		if err := c.SolveVecTo(&w, cross); err != nil {
			t.Fatal(err)
		}
		mean := m.frame.Offset[0] + m.frame.Scale[0]*mat.Dot(&w, mat.NewVecDense(n, m.frame.y[0]))
		e := m.frame.Error[0]
		sd := m.frame.Scale[0] * math.Sqrt(dot(row(x), row(x))-mat.Dot(&w, cross)+lambda*e*e)
		if math.Abs(p.Mean[0][i]-mean) > 1e-5*sd || math.Abs(p.SD[0][i]/sd-1) > 1e-5 {
			t.Errorf("at %v: %v ± %v, want %v ± %v", x, p.Mean[0][i], p.SD[0][i], mean, sd)
		}
		if math.Abs(p.Upper[0][i]-mean-1.959964*sd) > 1e-4*sd || math.Abs(p.Quantile(0, i, 0.5)-mean) > 1e-4*sd {
			t.Errorf("at %v: the interval ends at %v", x, p.Upper[0][i])
		}
	}
	parts, err := m.Components(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range at {
		sum := 0.0
		for _, c := range parts {
			sum += c.Mean[0][i]
		}
		if math.Abs(sum-p.Mean[0][i]) > 1e-8*math.Abs(sum) {
			t.Errorf("components add up to %v, the mean is %v", sum, p.Mean[0][i])
		}
	}
	var names []string
	for _, c := range parts {
		names = append(names, c.Name)
	}
	if want := []string{"trend", "season 1", "season 0.3", "short memory"}; !slices.Equal(names, want) {
		t.Errorf("components %q, want %q", names, want)
	}
}

// TestDraw: functions drawn have the prediction's mean and, without noise, its deviation.
func TestDraw(t *testing.T) {
	s := made(60, false)
	m := fit(t, s, Options{Draws: AtMode})
	x := append(s.X[10:12:12], m.Next(5)...)
	const n = 3000
	draws, err := m.Draw(context.Background(), x, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := predict(t, m, x)
	for i := range x {
		mean, square := 0.0, 0.0
		for _, d := range draws {
			mean += d[0][i] / n
		}
		for _, d := range draws {
			square += (d[0][i] - mean) * (d[0][i] - mean) / n
		}
		sd := math.Sqrt(p.SD[0][i]*p.SD[0][i] - m.NoiseSD(0)*m.NoiseSD(0))
		if math.Abs(mean-p.Mean[0][i]) > 0.1*sd || math.Abs(math.Sqrt(square)/sd-1) > 0.06 {
			t.Errorf("at %v: draws have %v ± %v, want %v ± %v", x[i], mean, math.Sqrt(square), p.Mean[0][i], sd)
		}
	}
}

// TestSeasons: those in the data are found, with the products of a day and a week, and none where there is none.
func TestSeasons(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	const n = 24 * 7 * 6
	day := func(i int) float64 { return 3 * math.Sin(2*math.Pi*float64(i)/24) }
	weekend := func(i int) float64 {
		if i%168 >= 120 {
			return 0.4
		}
		return 1
	}
	for name, c := range map[string]struct {
		y    func(i int) float64
		want []string
	}{
		"day and week": {func(i int) float64 { return weekend(i)*(5+day(i)) + 0.3*random.NormFloat64() }, []string{"season 24", "season 168", "season 168 × season 24"}},
		"day":          {func(i int) float64 { return day(i) + 0.5*random.NormFloat64() }, []string{"season 24"}},
		"noise":        {func(i int) float64 { return random.NormFloat64() }, nil},
		"a cycle":      {func(i int) float64 { return math.Sin(2*math.Pi*float64(i)/37.3) + 0.5*random.NormFloat64() }, []string{"season 37.3"}},
	} {
		s := Series{Y: [][]float64{nil}}
		for i := range n {
			s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], c.y(i))
		}
		m := fit(t, s, Options{Draws: AtMode})
		var got []string
		for _, p := range m.Parts() {
			switch p := p.(type) {
			case Season:
				got = append(got, fmt.Sprintf("season %.3g", p.Period))
			case Product:
				got = append(got, p.name())
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestCoverage: of made series, intervals of forecasts hold what they promise.
func TestCoverage(t *testing.T) {
	count := 40
	if testing.Short() {
		count = 10
	}
	inside, all := 0, 0
	for i := range count {
		s := made(150+i, i%2 == 1)
		known := s.rows(0, len(s.X)-24)
		m := fit(t, known, Options{})
		p := predict(t, m, s.X[len(known.X):])
		for j, y := range s.Y[0][len(known.X):] {
			all++
			if y >= p.Lower[0][j] && y <= p.Upper[0][j] {
				inside++
			}
		}
	}
	if share := float64(inside) / float64(all); share < 0.88 || share > 0.995 {
		t.Errorf("%d of %d inside 95 %% intervals", inside, all)
	}
}

// TestHMC judges the Gaussian: means agree. Deviations are at most 2.2 times as large: the Gaussian of an amplitude's logarithm has more
// mass above, where the data speak against it, than the posterior.
func TestHMC(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of Hamiltonian Monte Carlo")
	}
	s := made(90, false)
	a, b := fit(t, s, Options{Draws: 60}), fit(t, s, Options{Draws: 60, HMC: true})
	p, q := predict(t, a, a.Next(24)), predict(t, b, b.Next(24))
	for i := range p.X {
		if math.Abs(p.Mean[0][i]-q.Mean[0][i]) > 0.4*q.SD[0][i] || !(p.SD[0][i] > 0.85*q.SD[0][i] && p.SD[0][i] < 2.2*q.SD[0][i]) {
			t.Errorf("step %d: %v ± %v, by HMC %v ± %v", i+1, p.Mean[0][i], p.SD[0][i], q.Mean[0][i], q.SD[0][i])
		}
	}
}

// TestRobust: outliers are named, and move neither the forecast nor the noise by much.
func TestRobust(t *testing.T) {
	clean := made(144, false)
	dirty := Series{X: clean.X, Y: [][]float64{slices.Clone(clean.Y[0])}}
	var at []int
	for n := 5; n < 140; n += 17 {
		at = append(at, n)
		dirty.Y[0][n] += 40 * math.Cos(float64(n))
	}
	want := fit(t, clean, Options{Draws: AtMode})
	got := fit(t, dirty, Options{Draws: AtMode, Robust: true})
	spoilt := fit(t, dirty, Options{Draws: AtMode})
	var missed []int
	for _, n := range at {
		if math.Abs(dirty.Y[0][n]-clean.Y[0][n]) > 3 && !slices.Contains(got.Outliers(0), n) {
			missed = append(missed, n)
		}
	}
	if len(missed) > 0 || len(got.Outliers(0)) > len(at)+3 {
		t.Errorf("outliers %v, want %v", got.Outliers(0), at)
	}
	p, q, r := predict(t, want, want.Next(12)), predict(t, got, got.Next(12)), predict(t, spoilt, spoilt.Next(12))
	for i := range p.X {
		if math.Abs(p.Mean[0][i]-q.Mean[0][i]) > 0.7*p.SD[0][i] || q.SD[0][i] > 1.5*p.SD[0][i] {
			t.Errorf("step %d: %v ± %v, without outliers %v ± %v, not robust %v ± %v",
				i+1, q.Mean[0][i], q.SD[0][i], p.Mean[0][i], p.SD[0][i], r.Mean[0][i], r.SD[0][i])
		}
	}
	if spoilt.NoiseSD(0) < 3*got.NoiseSD(0) || want.Outliers(0) != nil {
		t.Errorf("noise %v, and %v where it is not robust", got.NoiseSD(0), spoilt.NoiseSD(0))
	}
}

// TestFill: holes are filled near the truth, in each output, and nothing else changes.
func TestFill(t *testing.T) {
	s := made(120, false)
	s.Y = append(s.Y, slices.Clone(s.Y[0]))
	truth := Series{X: s.X, Y: [][]float64{slices.Clone(s.Y[0]), slices.Clone(s.Y[1])}}
	for n := 40; n < 50; n++ {
		s.Y[0][n] = math.NaN()
		s.Y[1][2*n] = math.NaN()
	}
	_, f, err := Fill(context.Background(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for d := range s.Y {
		if len(f.Rows[d]) != 10 || len(f.Bands[d].Mean) != 10 {
			t.Fatalf("output %d: %d rows filled, want 10", d, len(f.Rows[d]))
		}
		for i, n := range f.Rows[d] {
			if b := f.Bands[d]; math.Abs(truth.Y[d][n]-b.Mean[i]) > 4*b.SD[i] || b.SD[i] > 2 || f.Y[d][n] != b.Mean[i] || !(b.Lower[i] < b.Mean[i] && b.Mean[i] < b.Upper[i]) {
				t.Errorf("output %d, row %d: %v ± %v, truth %v", d, n, b.Mean[i], b.SD[i], truth.Y[d][n])
			}
		}
		for n, y := range s.Y[d] {
			if !math.IsNaN(y) && f.Y[d][n] != y {
				t.Errorf("output %d, row %d was %v and became %v", d, n, y, f.Y[d][n])
			}
		}
	}
	if _, f, err := Fill(context.Background(), truth, Options{}); err != nil || len(f.Rows[0]) != 0 || !slices.Equal(f.Y[0], truth.Y[0]) {
		t.Errorf("nothing to fill: %v, %v", f.Rows, err)
	}
}

// TestBacktest: a made season is forecast better than naively, and the naive scores are those of their definition.
func TestBacktest(t *testing.T) {
	s := made(120, false)
	b, err := Backtest(context.Background(), s, 6, 3, Options{Draws: AtMode})
	if err != nil {
		t.Fatal(err)
	}
	if b.Season[0] != 12 || !(b.Model[0].CRPS < 0.8*b.Seasonal[0].CRPS && b.Seasonal[0].CRPS < b.Naive[0].CRPS) {
		t.Errorf("season %v, model %+v, seasonal %+v, naive %+v", b.Season, b.Model, b.Seasonal, b.Naive)
	}
	sum := 0.0
	for k := 1; k <= 3; k++ {
		end := 120 - 6*k
		for j := range 6 {
			sum += math.Abs(s.Y[0][end+j]-s.Y[0][end-12+j]) / 18
		}
	}
	if math.Abs(b.Seasonal[0].MAE-sum) > 1e-12 {
		t.Errorf("seasonal MAE %v, want %v", b.Seasonal[0].MAE, sum)
	}
	if _, err := Backtest(context.Background(), s, 40, 3, Options{}); !errors.Is(err, ErrOptions) {
		t.Errorf("too many origins: %v", err)
	}
}

// TestFile: a loaded model predicts the same bits.
func TestFile(t *testing.T) {
	s := made(60, false)
	s.Y = append(s.Y, slices.Clone(s.Y[0]))
	s.Y[1][7] = math.NaN()
	s.Err = [][]float64{make([]float64, 60), make([]float64, 60)}
	for n := range 60 {
		s.Err[0][n], s.Err[1][n] = 0.1+0.01*float64(n), 0.3
	}
	m := fit(t, s, Options{Parts: []Part{Constant{}, ShortMemory{}, Slope{SD: Prior{Median: 2, SD: 1}}, Season{Period: 1}, Season{Period: 0.25, Harmonics: 1}, Product{Long: Season{Period: 1}, Short: Season{Period: 0.25}}}, Known: true})
	m.XName, m.YNames, m.Notes = "year", []string{"a", "b"}, map[string]string{"axis": "none"}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	l, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	x := m.Next(9)
	if p, q := predict(t, m, x), predict(t, l, x); !reflect.DeepEqual(p, q) {
		t.Error("the loaded model predicts other numbers")
	}
	if l.XName != "year" || !slices.Equal(l.YNames, m.YNames) || l.Notes["axis"] != "none" || l.Bound() != m.Bound() || l.NoiseSD(1) != m.NoiseSD(1) || !slices.Equal(l.Next(3), m.Next(3)) {
		t.Errorf("loaded %q %q %v", l.XName, l.YNames, l.Notes)
	}
	for i, v := range l.Hyper() {
		w := m.Hyper()[i]
		if v.Name != w.Name || v.Mode != w.Mode || math.Abs(v.Upper/w.Upper-1) > 1e-9 {
			t.Errorf("%+v became %+v", w, v)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// FuzzLoad: any file is a model that predicts, or an error.
func FuzzLoad(f *testing.F) {
	m, err := Fit(context.Background(), made(30, false), Options{Parts: []Part{Constant{}, Season{Period: 1, Harmonics: 1}}, Known: true, Draws: 2})
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	for _, swap := range [][2]string{{`\"period\":1`, `\"period\":9`}, {`\"reach\":43.5`, `\"reach\":1e99`}, {`constant`, `constanz`}, {`\"outputs\":[0]`, `\"outputs\":[7]`}, {`\"harmonics\":1`, `\"harmonics\":8`}} {
		f.Add(bytes.Replace(b.Bytes(), []byte(swap[0]), []byte(swap[1]), 1))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := safetensors.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		m, err := load(file)
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Errorf("an error that is not ErrFile: %v", err)
			}
			return
		}
		_, _ = m.Predict(context.Background(), []float64{0, 1})
	})
}

// TestBits: the same on one processor and on several.
func TestBits(t *testing.T) {
	s := made(200, true)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := fit(t, s, Options{})
	a := predict(t, one, one.Next(5))
	runtime.GOMAXPROCS(4)
	four := fit(t, s, Options{})
	if b := predict(t, four, four.Next(5)); !reflect.DeepEqual(a, b) {
		t.Error("four processors forecast other numbers than one")
	}
}

// TestMistakes: each is named, by its kind.
func TestMistakes(t *testing.T) {
	good := made(40, false)
	ctx := context.Background()
	for name, c := range map[string]struct {
		s    Series
		o    Options
		kind error
		word string
	}{
		"no output": {Series{X: good.X}, Options{}, ErrData, "no output"},
		"lengths":   {Series{X: good.X, Y: [][]float64{{1}}}, Options{}, ErrData, "1 values for 40 places"},
		"x":         {Series{X: []float64{1, math.NaN()}, Y: [][]float64{{1, 2}}}, Options{}, ErrData, "x[1]"},
		"y":         {Series{X: []float64{1, 2, 3, 4}, Y: [][]float64{{1, 2, math.Inf(1), 3}}}, Options{}, ErrData, "y[0][2]"},
		"few":       {Series{X: []float64{1, 2, 3}, Y: [][]float64{{1, 2, 3}}}, Options{}, ErrData, "3 values"},
		"one place": {Series{X: []float64{1, 1, 1, 1}, Y: [][]float64{{1, 2, 3, 4}}}, Options{}, ErrData, "different places"},
		"error":     {Series{X: good.X, Y: good.Y, Err: [][]float64{make([]float64, 40)}}, Options{}, ErrData, "standard deviation of y[0][0]"},
		"far":       {good, Options{End: 1e6}, ErrOptions, "End"},
		"twice":     {good, Options{Parts: []Part{Slope{}, Slope{}}}, ErrOptions, `two parts "slope"`},
		"nil part":  {good, Options{Parts: []Part{nil}}, ErrOptions, "nil"},
		"prior":     {good, Options{Parts: []Part{Slope{SD: Prior{Median: -1, SD: 1}}}}, ErrOptions, "slope"},
		"period":    {good, Options{Parts: []Part{Season{Period: -1}}}, ErrOptions, "period"},
		"too short": {good, Options{Parts: []Part{Season{Period: 0.1}}}, ErrOptions, "two steps"},
	} {
		_, err := Fit(ctx, c.s, c.o)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want %q", name, err, c.word)
		}
	}
	m := fit(t, good, Options{})
	if _, err := m.Predict(ctx, []float64{good.X[39] + 100}); !errors.Is(err, ErrReach) {
		t.Errorf("beyond the reach: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Fit(ended, good, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestEasy: data that a model must not stumble over: constants, lines, few rows, huge and tiny numbers, rows out of order.
func TestEasy(t *testing.T) {
	line := func(n int, f func(i float64) float64) Series {
		s := Series{Y: [][]float64{nil}}
		for i := range n {
			s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], f(float64(i)))
		}
		return s
	}
	for name, c := range map[string]struct {
		s    Series
		next float64
		near float64
	}{
		"constant":  {line(50, func(float64) float64 { return 7 }), 7, 1e-6},
		"line":      {line(200, func(i float64) float64 { return 2*i + 1 }), 401, 1},
		"huge":      {line(60, func(i float64) float64 { return 1e140 * i }), 60e140, 2e140},
		"tiny":      {line(60, func(i float64) float64 { return 1e-140 * i }), 60e-140, 2e-140},
		"far away":  {line(60, func(i float64) float64 { return 1e9 + i }), 1e9 + 60, 2},
		"four rows": {line(4, func(i float64) float64 { return i }), 4, 3},
		"sine":      {line(300, func(i float64) float64 { return math.Sin(2 * math.Pi * i / 12) }), 0, 0.1},
	} {
		m := fit(t, c.s, Options{})
		p := predict(t, m, m.Next(1))
		if math.Abs(p.Mean[0][0]-c.next) > c.near || !(p.SD[0][0] > 0) {
			t.Errorf("%s: %v ± %v, want %v", name, p.Mean[0][0], p.SD[0][0], c.next)
		}
	}
	s := made(60, false)
	r := Series{X: slices.Clone(s.X), Y: [][]float64{slices.Clone(s.Y[0])}}
	slices.Reverse(r.X)
	slices.Reverse(r.Y[0])
	a, b := fit(t, s, Options{}), fit(t, r, Options{})
	if p, q := predict(t, a, a.Next(3)), predict(t, b, b.Next(3)); math.Abs(p.Mean[0][2]-q.Mean[0][2]) > 1e-3*p.SD[0][2] {
		t.Errorf("rows in reverse order: %v, want %v", q.Mean[0], p.Mean[0])
	}
}
