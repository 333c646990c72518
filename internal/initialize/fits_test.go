package initialize

import (
	"math"
	"reflect"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// equalShapes reports whether two shapes are equal.
func equalShapes(a, b variational.Shape) bool { return reflect.DeepEqual(a, b) }

// TestAskedShapes checks that the shape whose memory is checked is the shape of the returned parameters.
func TestAskedShapes(t *testing.T) {
	for kind, rows := range map[string]*backend.Data{
		"even": modeltest.Tones(500, 0), "gappy": gappy(500), "missing at random": modeltest.Tones(300, 0.2), "uneven": uneven(300), "of two outputs": wide(gappy(300)),
		"clean": clean(500), // the noise level determines the number of dropped bins
	} {
		for name, set := range map[string]Settings{
			"no windows":           {Optimized: true},
			"windows":              {Optimized: true, Window: 40},
			"noise hides some":     {Window: 60, Noise: 30},
			"components asked for": {Window: 60, Noise: 30, Components: 5},
			"pairs":                {Optimized: true, Window: 50, Features: 4, UniformPhases: true},
			"ssgp":                 {Optimized: true, Window: 50, Method: variational.SSGP},
			"shared":               {Optimized: true, Window: 50, Shared: true},
			"a noise is tried":     {Window: 60},
		} {
			j := &scorer{t: t}
			j.predict = func(*variational.Params) (square, variance float64) { return float64(len(j.asked) - 1), 1 }
			p, _ := begin(t, rows, set, j)
			if got := variational.ShapeOf(p); len(j.shapes) == 0 || !equalShapes(j.shapes[len(j.shapes)-1], got) {
				t.Errorf("%s rows, %s: the evaluator checked %+v, the shape is %+v", kind, name, j.shapes, got)
			}
		}
	}
}

// clean returns rows without noise, of which some intervals are missing.
func clean(n int) *backend.Data {
	d := gappy(n)
	for i, x := range d.X {
		d.Y[i] = math.Sin(0.3*x) + 0.3*math.Sin(1.1*x) + 0.1*math.Sin(2*x)
	}
	return d
}

// wide returns rows with a second output, which is half of the first.
func wide(rows *backend.Data) *backend.Data {
	out := &backend.Data{N: rows.N, Q: 1, D: 2, X: rows.X}
	for _, y := range rows.Y {
		out.Y = append(out.Y, y, y/2)
	}
	return out
}

// TestFilling checks that an interpolation that is too expensive works by tile with a reduced
// order.
func TestFilling(t *testing.T) {
	few, many := seriesOf(modeltest.Tones(1<<12, 0.001)), seriesOf(modeltest.Tones(1<<17, 0.4))
	gaps := runs(many.missing, true)
	one, all := few.filling(runs(few.missing, true), 0), many.filling(gaps, 0)
	if one.Tiled {
		t.Errorf("few gaps: %+v", one)
	}
	if work, _ := all.Work(len(many.missing), gaps); !all.Tiled || all.Order > one.Order/2 || work > fillWork && all.Order >= 2*fillLeast {
		t.Errorf("many gaps: %+v", all)
	}
}

// TestStartBytes checks that the memory of the spectra is checked before they are computed. It grows with the number of frequencies of
// uneven rows.
func TestStartBytes(t *testing.T) {
	d := modeltest.Tones(1000, 0)
	even, uneven, bursts := series(d.X, d.Y, 1, 0), series(d.X, d.Y, 1, 0.5), series(d.X, d.Y, 1, 16)
	if a, b, c := even.bytes([]float64{0}), uneven.bytes([]float64{0}), bursts.bytes([]float64{0}); !(a > 9*1000 && b > a && c > 20*b) {
		t.Errorf("even rows need %v bytes, uneven ones %v, in bursts %v", a, b, c)
	}
	if whole, parts := bursts.bytes([]float64{0}), bursts.bytes([]float64{10}); parts > whole/10 {
		t.Errorf("windows of a hundredth of the data need %v bytes, one window %v", parts, whole)
	}
	j := &scorer{t: t, room: 1}
	if p, _, err := bursts.Spectrum(t.Context(), Settings{Optimized: true}, j); p != nil || err != errTooLarge || j.shapes != nil || j.bytes != bursts.bytes([]float64{0}) {
		t.Errorf("without enough memory: %v, checked %v bytes", err, j.bytes)
	}
}
