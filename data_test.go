package vssgp

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"gonum.org/v1/gonum/stat"
)

// TestToModelGrid checks that sample times become integers in the model's units, for every
// rate and start, and that values off the grid are not rounded.
func TestToModelGrid(t *testing.T) {
	for _, rate := range []float64{8000, 11025, 16000, 22050, 44100, 48000, 0.1, 12} {
		for _, first := range []int{0, 1, 3200, 58000000} {
			const n = 3000
			x := testkit.Numbers(n, func(i int) float64 { return float64(first+i) / rate })
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
	// The correction stays below maxAffineCorrection for a number far from the offset.
	if got := (Affine{Offset: []float64{1e12}, Scale: []float64{1e-4}}).ToModel([]float64{1e12 + 0.00023})[0]; got == math.RoundToEven(got) {
		t.Errorf("a number whose rounding error exceeds %g becomes %v", maxAffineCorrection, got)
	}
}

// TestNewDataCopies checks the shapes that NewData returns and that it shares no memory with its arguments.
func TestNewDataCopies(t *testing.T) {
	x, y := []float64{1, 4, 2, 5, 3, 6}, []float64{7, 8, 9}
	data := testkit.Must(NewData(3, x, y))(t)
	x[0], y[0] = 0, 0
	if data.Q != 2 || data.D != 1 || !slices.Equal(data.X, []float64{1, 4, 2, 5, 3, 6}) || !slices.Equal(data.Y, []float64{7, 8, 9}) {
		t.Errorf("%+v", data)
	}
}

// TestFarInput checks that a prediction or a draw that overflows gives an error that names the row.
func TestFarInput(t *testing.T) {
	for _, unit := range []float64{1e-10, 1.7e-9} { // either x in the model's units overflows, or only its products do
		data := wave(60, 0.1)
		data.X = scaled(data.X, unit)
		m, _ := mustFit(t, data, Options{Init: InitPaper, Features: 6, Iterations: 5})
		x := []float64{1, 1e300}
		_, _, joint := m.PredictJoint(t.Context(), x)
		for i, err := range []error{testkit.Error(m.Predict(t.Context(), x)), joint, testkit.Error(m.Draw(t.Context(), x, 1, 1))} {
			testkit.Fails(t, err, ErrData, "row 1, x = [1e+300]: the result is not finite", "x in ", unit, ", call ", i)
		}
	}
}

// TestNotFinite checks that an error about a missing value names the value and the remedy, and no internal package.
func TestNotFinite(t *testing.T) {
	for name, xy := range map[string][2]float64{"x[1] is NaN": {math.NaN(), 1}, "y[1] is -Inf": {1, math.Inf(-1)}} {
		err := testkit.Error(NewData(2, []float64{0, xy[0]}, []float64{0, xy[1]}))
		testkit.Fails(t, err, ErrData, name+", must be finite; leave such rows out", name)
	}
	err := (&Data{N: 2, Q: 1, D: 1, X: []float64{1, 2}, Y: []float64{1}}).Check()
	if testkit.Fails(t, err, ErrData, "Y has 1 numbers", "length"); strings.Contains(err.Error(), "backend") {
		t.Error(err)
	}
}

// TestBeyond checks that rows outside of the range of the fitted data are marked, also by a loaded model, and that no row is marked if
// the range is not known.
func TestBeyond(t *testing.T) {
	decay := sampled(80, func(x float64) float64 { return 5 * math.Exp(-x/20) })
	decay.X = scaled(decay.X, 0.1)
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
		m, _ := mustFit(t, c.data, Options{Features: 6, Iterations: 3})
		read := testkit.Must(read(encoded(t, m)))(t)
		for from, m := range map[string]*Model{"fit": m, "file": read} {
			if p, err := m.Predict(t.Context(), c.x); err != nil || !slices.Equal(p.Beyond, c.want) ||
				(p.Beyond == nil) != (c.want == nil) {
				t.Errorf("%s, %s: %v (%v), want %v", name, from, p.Beyond, err, c.want)
			}
		}
		if read.Range = nil; c.want != nil {
			if p, err := read.Predict(t.Context(), c.x); err != nil || p.Beyond != nil {
				t.Errorf("%s, no range: %v (%v)", name, p.Beyond, err)
			}
			read.Params.CoefMean, read.Params.CoefVar = nil, nil
			conditioned := testkit.Must(NewModel(read.Params))(t)
			if _, err := conditioned.Condition(t.Context(), c.data); err != nil || !slices.Equal(conditioned.Range, m.Range) {
				t.Errorf("%s: conditioned on %v, want %v (%v)", name, conditioned.Range, m.Range, err)
			}
		}
	}
}

// TestTransposedData checks that data with equally many inputs and outputs and few rows give an error about transposed data, and data
// with fewer outputs do not.
func TestTransposedData(t *testing.T) {
	five := []float64{1, 2, 3, 4, 5}
	testkit.Fails(t, fitError(&Data{N: 1, Q: 5, D: 5, X: five, Y: five}, Options{}), ErrData, "transposed")
	testkit.Must(NewData(1, five, five[:1]))(t)
}

// scaled returns v times f.
func scaled(v []float64, f float64) []float64 {
	return testkit.Numbers(len(v), func(i int) float64 { return v[i] * f })
}

// join returns columns as row-major data.
func join(columns ...[]float64) []float64 {
	return testkit.Numbers(len(columns)*len(columns[0]), func(i int) float64 { return columns[i%len(columns)][i/len(columns)] })
}

// TestExtremes fits data at the limits of float64's range, where squares, products and
// differences overflow or underflow, and data of very few rows. It checks that the bound and
// the log density are finite and that the errors match the predicted standard deviations.
func TestExtremes(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(4, 1))
	time, sine := make([]float64, n), make([]float64, n)
	for i := range time {
		time[i] = float64(i) / n
		sine[i] = math.Sin(12*time[i]) + 0.1*rng.NormFloat64()
	}
	scattered := slices.Clone(time)
	for i := range scattered {
		scattered[i] += rng.Float64() / (2 * n)
	}
	constant := slices.Repeat([]float64{3}, n)
	shifted := scaled(sine, 1e295)
	for i := range shifted {
		shifted[i] += maxValue / 2
	}
	for _, c := range []struct {
		name string
		q, d int
		x, y []float64
	}{
		{"ordinary", 1, 1, time, sine},
		{"y about 1e307", 1, 1, time, scaled(sine, 1e307)},
		{"y about 1e160", 1, 1, time, scaled(sine, 1e160)},
		{"y about 1e-160", 1, 1, time, scaled(sine, 1e-160)},
		{"y about 1e-300", 1, 1, time, scaled(sine, 1e-300)},
		{"y subnormal", 1, 1, time, scaled(sine, 1e-318)},
		{"x about 1e-300", 1, 1, scaled(time, 1e-300), sine},
		{"x subnormal", 1, 1, scaled(time, 1e-318), sine},
		{"x about 1e307", 1, 1, scaled(time, 4e307), sine},
		{"both small", 1, 1, scaled(time, 1e-300), scaled(sine, 1e-300)},
		{"scattered x about 1e-300", 1, 1, scaled(scattered, 1e-300), sine},
		{"scattered x subnormal", 1, 1, scaled(scattered, 1e-318), sine},
		{"two outputs, one small", 1, 2, time, join(sine, scaled(sine, 1e-300))},
		{"two outputs, small and large", 1, 2, time, join(scaled(sine, 1e307), scaled(sine, 1e-300))},
		{"two inputs, small and large", 2, 1, join(scaled(time, 1e-310), scaled(scattered, 1e307)), sine},
		{"a far offset", 1, 1, time, shifted},
		{"a few huge, the rest tiny", 1, 1, time, append([]float64{1e300, 1e300, -1e300}, scaled(sine[3:], 1e-300)...)},
		{"constant x", 1, 1, constant, sine},
		{"constant x 1e-300", 1, 1, scaled(constant, 1e-300), sine},
		{"one input constant", 2, 1, join(time, constant), sine},
		{"constant y", 1, 1, time, constant},
		{"constant y 1e-300", 1, 1, time, scaled(constant, 1e-300)},
		{"constant y 1e300", 1, 1, time, scaled(constant, 1e300)},
		{"y zero", 1, 1, time, make([]float64, n)},
		{"one row", 1, 1, []float64{1}, []float64{2}},
		{"one row 1e-300", 1, 1, []float64{1e-300}, []float64{2e-300}},
		{"two rows", 1, 1, []float64{1, 2}, []float64{2, 3}},
		{"two rows, one x", 1, 1, []float64{1, 1}, []float64{2, 3}},
	} {
		data := &Data{N: len(c.x) / c.q, Q: c.q, D: c.d, X: c.x, Y: c.y}
		for _, inference := range []Inference{Exact, Factorized, Stochastic}[:slow.Pick(3, 2)] {
			o := Options{Inference: inference, Iterations: 40, Seed: 1}
			if inference == Stochastic {
				o.Iterations = 400
			}
			if initialize.GridOf(data.X, data.Q).Even() == 0 {
				o.Features = 20
			}
			t.Run(c.name+" "+string(inference), func(t *testing.T) { checkExtreme(t, data, o) })
		}
	}
}

// checkExtreme fits the data and checks the bound, the log density and the standardized errors.
func checkExtreme(t *testing.T, data *Data, o Options) {
	m, r := mustFit(t, data, o)
	p := testkit.Must(m.Predict(t.Context(), data.X))(t)
	density := testkit.Must(p.LogDensity(t.Context(), data.Y))(t)
	if sum := stat.Mean(density, nil); !finite(r.Bound) || !finite(sum) {
		t.Errorf("bound %v, mean log density %v", r.Bound, sum)
	}
	sd := p.SD(true)
	for i, v := range data.Y {
		if off := math.Abs(v-p.Mean[i]) / sd[i]; !(sd[i] > 0) || !(off < 5) {
			t.Fatalf("y[%d] = %v is predicted as %v ± %v", i, v, p.Mean[i], sd[i])
		}
	}
	if e := bayes.RMSE(p.Mean, data.Y); !finite(e) {
		t.Errorf("RMSE %v", e)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// TestScaleFree fits the same data in units from 1e-300 to 1e300. It checks that the bound and
// the rescaled predictions do not depend on the unit.
func TestScaleFree(t *testing.T) {
	data := wave(80, 0.1)
	fit := func(f float64) (*Result, *Prediction) {
		d := &Data{N: data.N, Q: 1, D: 1, X: data.X, Y: scaled(data.Y, f)}
		m, r := mustFit(t, d, Options{Iterations: 30})
		p := testkit.Must(m.Predict(t.Context(), d.X))(t)
		return r, p
	}
	want, at := fit(1)
	for _, power := range []int{-990, -450, 450, 990} {
		f := math.Ldexp(1, power)
		r, p := fit(f)
		if r.Bound != want.Bound {
			t.Errorf("unit 2^%d: bound %v, in a unit of 1 %v", power, r.Bound, want.Bound)
		}
		for _, noise := range []bool{false, true} {
			sd, wanted := p.SD(noise), at.SD(noise)
			for i := range sd {
				if math.Abs(sd[i]/f-wanted[i]) > 1e-12*wanted[i] || math.Abs(p.Mean[i]/f-at.Mean[i]) > 1e-12*wanted[i] {
					t.Fatalf("unit 2^%d, row %d: %v ± %v, in a unit of 1 %v ± %v", power, i, p.Mean[i]/f, sd[i]/f, at.Mean[i], wanted[i])
				}
			}
		}
		density := testkit.Must(p.LogDensity(t.Context(), scaled(data.Y, f)))(t)
		wanted := testkit.Must(at.LogDensity(t.Context(), data.Y))(t)
		if got, w := stat.Mean(density, nil)+float64(power)*math.Ln2, stat.Mean(wanted, nil); math.Abs(got-w) > 1e-9 {
			t.Errorf("unit 2^%d: mean log density %v in a unit of 1, want %v", power, got, w)
		}
	}
}

// TestSubnormalScale checks maps whose scales are near the smallest normal number.
func TestSubnormalScale(t *testing.T) {
	a := Affine{Offset: []float64{3e-322, 0}, Scale: []float64{5e-324, 0x1p-1074 * 8}}
	_, y := (&Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{3e-318, 3e-318, 3e-318}}).Standardize()
	if y.Scale[0] != smallestNormal || y.Offset[0] != 3e-318 { // a billionth of it underflows
		t.Errorf("one subnormal number has the map %v", y)
	}
	got := a.ToModel([]float64{3e-322 + 5e-324, 4e-323, 3e-322, 0})
	if want := []float64{1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("in the model's units %v, want %v", got, want)
	}
}
