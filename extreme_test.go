package vssgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// scaled is v times f.
func scaled(v []float64, f float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] * f
	}
	return out
}

// join is columns as rows.
func join(columns ...[]float64) []float64 {
	var out []float64
	for i := range columns[0] {
		for _, c := range columns {
			out = append(out, c[i])
		}
	}
	return out
}

// TestExtremes fits data at the ends of float64's range, where squares of them,
// products and differences leave it, and data of hardly any rows: the bound and the
// density of the data are numbers, and the data lie about their predictions as far
// as the model says.
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
		shifted[i] += mostValue / 2
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

// checkExtreme fits the data. Data of one number are no exception: their noise ends
// at its floor, beside which they lie as close as others do beside theirs.
func checkExtreme(t *testing.T, data *Data, o Options) {
	m, r, err := Fit(context.Background(), data, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), data.X)
	if err != nil {
		t.Fatal(err)
	}
	density, err := p.LogDensity(t.Context(), data.Y)
	if err != nil {
		t.Fatal(err)
	}
	if sum := mean(density); !finite(r.Bound) || !finite(sum) {
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

func mean(a []float64) float64 {
	s := 0.0
	for _, v := range a {
		s += v / float64(len(a))
	}
	return s
}

// TestScaleFree fits the same data in units from 1e-300 to 1e300: the model's own
// units are the same, and so are its bound and, in each one's units, predictions.
func TestScaleFree(t *testing.T) {
	data := wave(80, 0.1)
	fit := func(f float64) (*Result, *Prediction) {
		d := &Data{N: data.N, Q: 1, D: 1, X: data.X, Y: scaled(data.Y, f)}
		m, r, err := Fit(context.Background(), d, Options{Iterations: 30})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), d.X)
		if err != nil {
			t.Fatal(err)
		}
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
		density, err := p.LogDensity(t.Context(), scaled(data.Y, f))
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := at.LogDensity(t.Context(), data.Y)
		if err != nil {
			t.Fatal(err)
		}
		if got, w := mean(density)+float64(power)*math.Ln2, mean(wanted); math.Abs(got-w) > 1e-9 {
			t.Errorf("unit 2^%d: mean log density %v in a unit of 1, want %v", power, got, w)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, data := range []*Data{
		{N: 2, Q: 1, D: 1, X: []float64{-1.7e308, 1.7e308}, Y: []float64{1, 2}},
		{N: 2, Q: 1, D: 1, X: []float64{1, 2}, Y: []float64{-1.7e308, 1.7e308}},
	} {
		if _, _, err := Fit(context.Background(), data, Options{}); !errors.Is(err, ErrData) {
			t.Errorf("error %v, want ErrData", err)
		}
	}
}

// TestSubnormalScale maps by scales below float64's full precision.
func TestSubnormalScale(t *testing.T) {
	a := Affine{Offset: []float64{3e-322, 0}, Scale: []float64{5e-324, 0x1p-1074 * 8}}
	_, y := (&Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{3e-318, 3e-318, 3e-318}}).Standardize()
	if y.Scale[0] != leastNormal || y.Offset[0] != 3e-318 { // a billionth of it is nothing
		t.Errorf("one subnormal number has the map %v", y)
	}
	got := a.ToModel([]float64{3e-322 + 5e-324, 4e-323, 3e-322, 0})
	if want := []float64{1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("in the model's units %v, want %v", got, want)
	}
}
