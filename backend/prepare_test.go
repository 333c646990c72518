package backend

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// someRows returns n rows of q inputs and two outputs, with row numbers in Y, with or without
// windows.
func someRows(n, q, windows int) *Data {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(windows)))
	d := &Data{N: n, Q: q, D: 2}
	d.Windows.Center = testkit.Numbers(windows, func(v int) float64 { return float64(v) })
	d.Windows.Length = 2
	for i := range n {
		for range q {
			d.X = append(d.X, float64(rng.IntN(12))/4)
		}
		d.Y = append(d.Y, float64(i), float64(-i))
	}
	return d
}

// TestPrepare checks that all rows are present in the layout's order with their gates, and that
// the counts of even rows end with the run.
func TestPrepare(t *testing.T) {
	for _, d := range []*Data{someRows(100, 1, 3), someRows(100, 2, 3), someRows(100, 1, 0)} {
		p := d.Prepare()
		at := 0
		for _, r := range p.Runs {
			for i := r.Lo; i < r.Hi; i++ {
				own := p.Y[2*i] == float64(p.Order[i]) && slices.Equal(p.X[d.Q*i:][:d.Q], d.X[d.Q*p.Order[i]:][:d.Q])
				if i != at || !own || p.position[p.Order[i]] != i {
					t.Fatalf("position %d has row %v, want %d", at, p.Y[2*i], p.Order[at])
				}
				if p.Even != nil && int(p.Even[i]) > r.Hi-i {
					t.Fatalf("position %d is even for %d rows, its run has %d more", at, p.Even[i], r.Hi-i)
				}
				for v := r.First; v < r.First+2 && d.Windows.Count() > 1; v++ {
					want := 0.0
					if v < r.End {
						want = d.Windows.Gate(v, p.X[d.Q*i])
					}
					if g := p.Gate[v-r.First][i]; g != want {
						t.Fatalf("position %d has gate %v of window %d, want %v", at, g, v, want)
					}
				}
				at++
			}
		}
		if at != d.N || (p.Even != nil) != (d.Q == 1) || (p.Delta != 0) != (d.Q == 1) || (p.Gate[0] != nil) != (d.Windows.Count() > 1) {
			t.Errorf("%d rows in runs; even %v, step %v, gates %v", at, p.Even != nil, p.Delta, p.Gate[0] != nil)
		}
	}
}

// TestPickedRowsMatchPrepared gathers a subset of rows, one of them twice, several times, and compares it with a
// separate Prepared of these rows.
func TestPickedRowsMatchPrepared(t *testing.T) {
	d := someRows(60, 1, 4)
	p, sub := d.Prepare(), &Prepared{}
	var positions []int
	for _, given := range [][]int{{5}, {59, 3, 3, 17, 40, 0, 22}, {2, 1}, {}} {
		var runs []Run
		positions, runs = p.Pick(positions[:0], sub.Runs[:0], given)
		for i, position := range positions {
			positions[i] = p.Order[position]
		}
		sub.Gather(d, positions, runs)
		want := &Data{N: len(given), Q: 1, D: 2, Windows: d.Windows}
		for _, n := range slices.Sorted(slices.Values(given)) {
			want.X, want.Y = append(want.X, d.X[n]), append(want.Y, d.Y[2*n:2*n+2]...)
		}
		own := want.Prepare()
		if !slices.Equal(sub.X, own.X) || !slices.Equal(sub.Y, own.Y) || !slices.Equal(sub.Runs, own.Runs) {
			t.Errorf("rows %v: %v in runs %+v, want %v in %+v", given, sub.Y, sub.Runs, own.Y, own.Runs)
		}
		for i := range own.Gate {
			if !slices.Equal(sub.Gate[i], own.Gate[i]) {
				t.Errorf("rows %v: gates %v, want %v", given, sub.Gate[i], own.Gate[i])
			}
		}
	}
}

// TestNoSolver checks that NoSolver returns errors.
func TestNoSolver(t *testing.T) {
	var s NoSolver
	if s.CanSolve(nil) || s.Solve(nil, nil, 0) == nil || s.PullbackSolved(nil, nil, SolvedAdjoint{}) == nil {
		t.Error("rows without Solve report that they can solve")
	}
}

// TestEvenRows checks that rows count as even only if x_n + i·δ is exactly their value.
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
