package initialize

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// evenWithin is the relative tolerance of a step, for jitter of the ends and rounding.
const evenWithin = 1e-4

// months returns the first days of n months in years, including leap years.
func months(n int) (x []float64) {
	for i := range n {
		t := time.Date(1960, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
		begin := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		x = append(x, float64(t.Year())+t.Sub(begin).Hours()/begin.AddDate(1, 0, 0).Sub(begin).Hours())
	}
	return x
}

// TestEvenStep checks that grids with holes, jitter, any order and any offset have a step, and
// that other inputs have none.
func TestEvenStep(t *testing.T) {
	grid := func(n int, at func(i float64) float64) []float64 {
		return testkit.Numbers(n, func(i int) float64 { return at(float64(i)) })
	}
	line := func(n int) []float64 { return grid(n, func(i float64) float64 { return i }) }
	early := line(40) // the ends give a step of 1.001, all rows 1.00015
	early[0] = -0.04
	rng := modeltest.NewRNG(1)
	shuffled := grid(40, func(i float64) float64 { return 2 * i })
	rng.Shuffle(40, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"grid", grid(20, func(i float64) float64 { return 3 + 0.25*i }), 0.25},
		{"any order", shuffled, 2},
		{"16 kHz, a minute in", grid(1000, func(i float64) float64 { return (960000 + i) / 16000 }), 1.0 / 16000},
		{"far out", grid(1000, func(i float64) float64 { return 3e6 + i }), 1},
		{"a hole", append(line(20), 30, 31, 32), 1},
		{"a wide hole", append(line(40), 140, 141), 1},
		{"months as decimals", grid(200, func(i float64) float64 { return math.Round((1958+i/12)*1e4) / 1e4 }), 1.0 / 12},
		{"a little jitter", grid(50, func(i float64) float64 { return i + 0.002*math.Sin(7*i) }), 1},
		{"months of the calendar", months(400), 1.0 / 12},
		{"jitter", grid(400, func(i float64) float64 { return i + 0.2*math.Sin(7*i*i) }), 1},
		{"a drift", grid(400, func(i float64) float64 { return i + i*i/1e4 }), 0},
		{"much jitter", grid(50, func(i float64) float64 { return i + 0.3*math.Sin(7*i) }), 0},
		{"as few as there may be", line(16), 1}, // see DESIGN.md
		{"too few", line(15), 0},
		{"a place of four taken", append(line(20), 80), 1},
		{"a place of five taken", append(line(20), 104), 0},
		{"one twice", append(line(20), 7), 0},
		{"all the same", make([]float64, 20), 0},
		{"random", grid(30, func(float64) float64 { return rng.Float64() }), 0},
		{"squares", grid(30, func(i float64) float64 { return i * i }), 0},
		{"mostly empty", append(line(20), 1e6), 0},
	} {
		if got := GridOf(c.x, 1).Even(); math.Abs(got-c.want) > evenWithin*c.want {
			t.Errorf("%s: step %v, want %v", c.name, got, c.want)
		}
	}
	if got := GridOf(early, 1).Even(); !(math.Abs(got-1) <= 5e-4) {
		t.Errorf("a displaced end: step %v, want 1", got)
	}
	if got := GridOf(line(40), 2); got != (Grid{}) {
		t.Errorf("two inputs: %+v, want none", got)
	}
	if got := GridOf([]float64{-math.MaxFloat64, math.MaxFloat64}, 1); got != (Grid{}) {
		t.Errorf("an infinite extent: %+v, want none", got)
	}
}

// TestUnevenStep checks the step and band of rows with given gaps. Repeated rows count as one
// time.
func TestUnevenStep(t *testing.T) {
	for _, c := range []struct {
		name       string
		gaps       []float64
		step, band float64
	}{
		{"even", []float64{2, 2, 2}, 2, 0.5},
		{"twice", []float64{1, 0, 1, 0, 4}, 2, 1},
		{"bursts", []float64{1, 1, 1, 1, 1, 115}, 20, 10},
		{"narrow bursts", []float64{1, 1, 1, 1, 1, 595}, 100, 16},
		{"a median above the mean", []float64{0.1, 2, 3}, 1.7, 0.5},
		{"repeated with jitter", []float64{1e-3, 1e-3, 0.998, 1e-3, 1e-3, 0.998, 1e-3, 1e-3, 0.998}, 1, 0.5},
		{"pairs with jitter", []float64{1e-12, 2, 1e-12, 2, 1e-12}, 2, 0.5},
		{"repeated with more jitter", []float64{0.02, 0.02, 0.96, 0.02, 0.02, 0.96, 0.02, 0.02, 0.96}, 1. / 3, 25. / 3},
		{"bursts longer than repeated measurements", []float64{1, 1, 1, 1, 1, 715}, 120, 16},
		{"one close pair", []float64{1, 1, 1, 1e-9, 1, 1, 1}, 6. / 7, 0.5},
	} {
		x := []float64{7}
		for _, g := range c.gaps {
			x = append(x, x[len(x)-1]+g)
		}
		slices.Reverse(x)
		if g := GridOf(x, 1); !(math.Abs(g.Step-c.step) <= 1e-9) || !(math.Abs(g.Band-c.band) <= 1e-9) || g.Even() != 0 {
			t.Errorf("%s: %+v; want a step of %v and a band of %v", c.name, g, c.step, c.band)
		}
	}
}
