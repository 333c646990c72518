package start

import (
	"math"
	"reflect"
	"testing"

	"github.com/vssgp/vssgp/internal/modeltest"
	"github.com/vssgp/vssgp/internal/periodogram"
	"github.com/vssgp/vssgp/spectral"
	"github.com/vssgp/vssgp/variational"
)

// equalShapes reports whether two shapes have the same windows, components, sizes
// and kinds.
func equalShapes(a, b variational.Shape) bool { return reflect.DeepEqual(a, b) }

// TestWorkShapes: where nothing is chosen and windows are few, the shape that Work
// tells, the one that the judge is asked to refuse and the one that is laid are the
// same; without y it is one with at least as many components.
func TestWorkShapes(t *testing.T) {
	for kind, rows := range map[string]*spectral.Data{
		"even": modeltest.Tones(500, 0), "gappy": gappy(500), "missing at random": modeltest.Tones(300, 0.2), "uneven": uneven(300), "of two outputs": wide(gappy(300)),
		"clean": clean(500), // whose noise level tells how many bins are dropped
	} {
		for name, set := range map[string]Settings{
			"no windows":           {Optimised: true},
			"windows":              {Optimised: true, Window: 40},
			"noise hides some":     {Window: 60, Noise: 30},
			"components asked for": {Window: 60, Noise: 30, Components: 5},
			"pairs":                {Optimised: true, Window: 50, Features: 4, UniformPhases: true},
			"ssgp":                 {Optimised: true, Window: 50, Method: variational.SSGP},
			"shared":               {Optimised: true, Window: 50, Shared: true},
			"a noise is tried":     {Window: 60},
		} {
			checkWork(t, kind+" rows, "+name, rows, set)
		}
	}
}

// clean are rows without noise, of which some intervals are missing.
func clean(n int) *spectral.Data {
	d := gappy(n)
	for i, x := range d.X {
		d.Y[i] = math.Sin(0.3*x) + 0.3*math.Sin(1.1*x) + 0.1*math.Sin(2*x)
	}
	return d
}

// wide are rows with a second output, half of the first.
func wide(rows *spectral.Data) *spectral.Data {
	out := &spectral.Data{N: rows.N, Q: 1, D: 2, X: rows.X}
	for _, y := range rows.Y {
		out.Y = append(out.Y, y, y/2)
	}
	return out
}

func checkWork(t *testing.T, name string, rows *spectral.Data, set Settings) {
	t.Helper()
	j := &scorer{t: t}
	// Of the noise levels the first that is tried is taken: the one that Work looks at.
	j.predict = func(*variational.Params) (square, variance float64) { return float64(len(j.asked) - 1), 1 }
	work := seriesOf(rows).Work(t.Context(), set, rows.D)
	p, _ := begin(t, rows, set, j)
	laid := variational.ShapeOf(p)
	if n := p.Windows.Count(); n > keptWindows || set.Window > 0 && n < 3 {
		t.Fatalf("%s: %d windows", name, n)
	}
	if len(work.Shapes) != 1 || !equalShapes(work.Shapes[0], laid) {
		t.Errorf("%s: Work tells of %+v, laid is %+v", name, work.Shapes, laid)
	}
	if len(j.shapes) == 0 || !equalShapes(j.shapes[len(j.shapes)-1], laid) {
		t.Errorf("%s: the judge is asked of %+v, laid is %+v", name, j.shapes, laid)
	}
	if work.Settings != 0 || work.Gradients != 0 || (work.Trials > 0) != (len(j.asked) > 0) {
		t.Errorf("%s: %+v; %d noise levels are tried", name, work, len(j.asked))
	}
	blind := *rows
	blind.D, blind.Y = 0, nil
	most := seriesOf(&blind).Work(t.Context(), set, rows.D).Shapes[0]
	for v, n := range laid.Components {
		if most.Components[v] < n {
			t.Errorf("%s: at most %d components in window %d, laid are %d", name, most.Components[v], v, n)
		}
	}
	if most.Components = laid.Components; !equalShapes(most, laid) {
		t.Errorf("%s: without y %+v, laid is %+v", name, most, laid)
	}
}

// TestWorkOfMany: of many windows the spectra of some are read, and the others are
// taken to have as many components.
func TestWorkOfMany(t *testing.T) {
	rows, set := modeltest.Tones(8000, 0), Settings{Window: 60, Noise: 30}
	s := seriesOf(rows)
	work := s.Work(t.Context(), set, 1).Shapes[0]
	p, _ := begin(t, rows, set, &scorer{t: t})
	laid := variational.ShapeOf(p)
	if n := len(s.ranked); n > keptWindows || 2*n < keptWindows {
		t.Errorf("the spectra of %d windows are read, want %d at most", n, keptWindows)
	}
	if r := float64(work.L()) / float64(laid.L()); len(work.Components) != len(laid.Components) || r < 0.9 || r > 1.1 {
		t.Errorf("%d components in %d windows, laid are %d in %d", work.L(), len(work.Components), laid.L(), len(laid.Components))
	}
}

// TestStartWork: the operations of a start are for all outputs and windows, and
// once more for what is hidden; a fill that would be too much goes tile by tile,
// with less and less order.
func TestStartWork(t *testing.T) {
	few, many := seriesOf(modeltest.Tones(1<<12, 0.001)), seriesOf(modeltest.Tones(1<<17, 0.4))
	one, two := few.filling(runs(few.missing, true), 0, 1), few.filling(runs(few.missing, true), 0, 2)
	if one.Tiled || !(one.work > 0) || two.work != 2*one.work {
		t.Errorf("few gaps: %+v, of two outputs %+v", one, two)
	}
	if f := many.filling(runs(many.missing, true), 0, 1); !f.Tiled || f.Order > one.Order/2 || f.work > fillWork && f.Order >= 2*fillLeast {
		t.Errorf("many gaps: %+v", f)
	}
	plain, held := few.startWork([]float64{0}, 1, false)
	hidden, _ := few.startWork([]float64{0}, 1, true)
	if hidden != 2*plain || !(plain > one.work) {
		t.Errorf("%v operations, %v with what is hidden; the fill has %v", plain, hidden, one.work)
	}
	// What a start holds of the grid is a number for each output and whether it is missing.
	if w := few.Work(t.Context(), Settings{Optimised: true}, 1); w.Flops != plain || w.Bytes != held+9*float64(len(few.missing)) {
		t.Errorf("a start takes %v and holds %v, want %v and %v", w.Flops, w.Bytes, plain, held+9*float64(len(few.missing)))
	}
	d := modeltest.Tones(1000, 0)
	s := series(d.X, d.Y, 1, 0.5) // as uneven rows, in one window of all and in windows of a hundredth
	all, most := periodogram.Work(1000, s.binCount(1000)*spectrumSteps)
	if got, held := s.spectraWork(0, 2); got != 2*all || held < most {
		t.Errorf("uneven rows: %v operations, %v bytes", got, held)
	}
	each, _ := periodogram.Work(5, s.binCount(10)*spectrumSteps)
	if got, _ := s.spectraWork(10, 1); got < 190*each {
		t.Errorf("uneven rows in 200 windows: %v operations", got)
	}
}
