package gpu

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// TestEvenRows: rows count as even only where x_n + i·δ is the next ones' exact
// value.
func TestEvenRows(t *testing.T) {
	run := func(n int) []spectral.Run { return []spectral.Run{{Hi: n}} }
	for _, c := range []struct {
		name  string
		x     []float64
		runs  []spectral.Run
		delta float64
		even  []int32
	}{
		{"integers", []float64{3, 4, 5, 6}, run(4), 1, []int32{4, 3, 2, 1}},
		{"a broken step", []float64{0, 0.5, 1, 2, 2.5}, run(5), 0.5, []int32{3, 2, 1, 2, 1}},
		{"falling", []float64{3, 2, 1}, run(3), -1, []int32{3, 2, 1}},
		{"two runs", []float64{0, 1, 2, 3}, []spectral.Run{{Hi: 2}, {Lo: 2, Hi: 4}}, 1, []int32{2, 1, 2, 1}},
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

// TestSlices: shares have all rows of all runs, in order, and count from their
// own first.
func TestSlices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := 100
	d := spectral.Data{N: n, Q: 1, D: 2, Windows: spectral.Windows{Center: []float64{0, 1, 2}, Length: 2}}
	for i := range n {
		d.X = append(d.X, float64(rng.IntN(12))/4)
		d.Y = append(d.Y, float64(i), float64(-i))
	}
	l := d.Windows.NewLayout(d.X, d.N, d.Q)
	whole := newSource(&d, l)
	at := 0
	for _, cut := range []span{{0, 1}, {1, 40}, {40, 100}} {
		s := whole.slice(cut.lo, cut.hi)
		rows := 0
		for _, r := range s.runs {
			for i := r.Lo; i < r.Hi; i++ {
				if s.y[2*i] != float64(l.Order[at]) || s.x[i] != d.X[l.Order[at]] {
					t.Fatalf("place %d has row %v, want %d", at, s.y[2*i], l.Order[at])
				}
				if g := d.Windows.Gate(r.First, s.x[i]); s.gate[2*i] != g {
					t.Fatalf("place %d has gate %v, want %v", at, s.gate[2*i], g)
				}
				if int(s.even[i]) > r.Hi-i {
					t.Fatalf("place %d is even for %d rows, its run has %d more", at, s.even[i], r.Hi-i)
				}
				at++
				rows++
			}
		}
		if rows != s.n || len(s.even) != s.n {
			t.Errorf("share of %d rows has %d in its runs", s.n, rows)
		}
	}
	if at != n {
		t.Errorf("%d rows in shares, want %d", at, n)
	}
}

// TestMirror: both triangles, at sizes about those of the squares.
func TestMirror(t *testing.T) {
	for _, m := range []int{0, 1, 2, 31, 32, 33, 64, 65, 700} {
		a, b := make([]float64, m*m), make([]float64, m*m)
		for i := range a {
			a[i] = float64(i + 1)
		}
		mirror(b, a, m)
		for i := range m {
			for j := range m {
				want := a[max(i, j)*m+min(i, j)]
				if i == j {
					want = 0
				}
				if b[i*m+j] != want {
					t.Fatalf("%d: entry (%d, %d) is %v, want %v", m, i, j, b[i*m+j], want)
				}
			}
		}
	}
}

// TestArguments: the words of a launch are in the order of the kernels' own
// parameters.
func TestArguments(t *testing.T) {
	common := []string{"X", "Y", "Gate", "Even", "Delta", "Q", "D", "Center", "Decay", "Turn", "Phase", "Amp", "Power", "Ripple", "Rot", "Stretches", "Jobs"}
	pass := func(more ...string) []string { return append(slices.Clone(common), more...) }
	for _, c := range []struct {
		kernel any
		want   []string
	}{
		{kernels.FeaturesPrepare{}, []string{"Decay", "Turn", "Rot", "M", "Delta"}},
		{kernels.MomentsGram64{}, pass("Part")},
		{kernels.MomentsGram128{}, pass("Part")},
		{kernels.MomentsGramReduce{}, []string{"Runs", "Jobs", "Part", "Gram", "Tile"}},
		{kernels.MomentsColumns{}, pass("D0", "Part")},
		{kernels.SumsReduce{}, []string{"Jobs", "Part", "Out", "Tile", "Width"}},
		{kernels.Pullback64{}, pass("Gram", "Cbar", "Part")},
		{kernels.Pullback128{}, pass("Gram", "Cbar", "Part")},
		{kernels.FactorisedResidual{}, pass("Mean", "Res", "Value")},
		{kernels.FactorisedGradient{}, pass("Mean", "Var", "Res", "D0", "Part")},
		{kernels.RowsGather{}, []string{"Index", "N", "Q", "D", "X", "Y", "Gate", "Xs", "Ys", "Gates"}},
		{kernels.PredictQuad64{}, pass("Gram", "Part")},
		{kernels.PredictQuad128{}, pass("Gram", "Part")},
		{kernels.PredictRows{}, pass("Mean", "Var", "Shared", "Out")},
	} {
		typ := reflect.TypeOf(c.kernel)
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s takes %v, want %v", typ.Name(), got, c.want)
		}
	}
	a := arguments{1, 2, 3, 4, 0, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}
	for i, w := range a.words(18) {
		if i != 4 && w != uint64(i+1) {
			t.Errorf("word %d is %d", i, w)
		}
	}
}
