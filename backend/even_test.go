package backend

import (
	"slices"
	"testing"
)

// TestevenRows: rows count as even only where x_n + i·δ is the next ones' exact
// value.
func TestEvenRows(t *testing.T) {
	run := func(n int) []Run { return []Run{{Hi: n}} }
	for _, c := range []struct {
		name  string
		x     []float64
		runs  []Run
		delta float64
		even  []int32
	}{
		{"integers", []float64{3, 4, 5, 6}, run(4), 1, []int32{4, 3, 2, 1}},
		{"a broken step", []float64{0, 0.5, 1, 2, 2.5}, run(5), 0.5, []int32{3, 2, 1, 2, 1}},
		{"falling", []float64{3, 2, 1}, run(3), -1, []int32{3, 2, 1}},
		{"two runs", []float64{0, 1, 2, 3}, []Run{{Hi: 2}, {Lo: 2, Hi: 4}}, 1, []int32{2, 1, 2, 1}},
		{"one row", []float64{1}, run(1), 0, nil},
		{"all the same", []float64{1, 1, 1}, run(3), 0, nil},
		{"far from the origin", []float64{3e6, 3e6 + 0.25, 3e6 + 0.5}, run(3), 0.25, []int32{3, 2, 1}},
		// In float64 0.2 − 0.1 is not 0.3 − 0.2.
		{"tenths", []float64{0.1, 0.2, 0.3}, run(3), 0.09999999999999998, []int32{1, 2, 1}},
		// The step is 1 in float64, but the second number is not 1 from the first.
		{"a rounded step", []float64{1e-20, 1}, run(2), 0, nil},
	} {
		delta := commonStep(c.x, c.runs)
		if delta != c.delta {
			t.Errorf("%s: step %v, want %v", c.name, delta, c.delta)
			continue
		}
		if delta == 0 {
			continue
		}
		if got := evenRows(c.x, c.runs, delta); !slices.Equal(got, c.even) {
			t.Errorf("%s: %v, want %v", c.name, got, c.even)
		}
	}
}
