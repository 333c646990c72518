package gpu

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

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
		{kernels.ChainStart{}, []string{"Blocks", "At", "Rhs", "Sums", "Coef", "Traces", "Lambda", "M", "D"}},
		{kernels.ChainReduce{}, []string{"Blocks", "At", "Rhs", "Count", "Over", "OverAt", "Fan", "D", "Stride"}},
		{kernels.ChainFactor{}, []string{"Blocks", "At", "Rhs", "Count", "Under", "UnderAt", "UnderRhs", "Fan", "Length", "D", "Stride", "Logs"}},
		{kernels.ChainInverse{}, []string{"Blocks", "At", "Rhs", "Count", "Over", "OverAt", "Length", "D", "Stride", "Traces"}},
		{kernels.ChainAdjoint{}, []string{"Blocks", "At", "Mean", "Coef", "Count", "Inverse", "Outer", "Linear", "D"}},
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
