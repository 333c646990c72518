package initialize

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestHeldOutParts checks that about a tenth of the rows are held out, in intervals of the length
// of the data's gaps, and that the lines connect the remaining neighbors.
func TestHeldOutParts(t *testing.T) {
	data := backend.Data{Q: 1, D: 2}
	for i := range 500 {
		if i%25 < 22 { // gaps of three
			data.X = append(data.X, float64(i))
			data.Y = append(data.Y, 2*float64(i)+1, -float64(i))
			data.N++
		}
	}
	known, asked, line := HeldOut(data, GridOf(data.X, 1))
	if known.N+asked.N != data.N || !(math.Abs(float64(asked.N)/float64(data.N)-0.1) <= 0.03) || asked.N%3 != 0 {
		t.Errorf("%d known and %d asked of %d rows", known.N, asked.N, data.N)
	}
	modeltest.Near(t, "lines", line, asked.Y, 1e-12)
	for _, x := range asked.X {
		if slices.Contains(known.X, x) {
			t.Errorf("x = %v is known and held out", x)
		}
	}
}

// TestHeldOutEnds checks that the first and the last row are known for any number of rows.
func TestHeldOutEnds(t *testing.T) {
	for n := 2; n < 60; n++ {
		data := backend.Data{N: n, Q: 1, D: 1, Y: make([]float64, n)}
		data.X = testkit.Numbers(n, func(i int) float64 { return float64((n - i) * (n - i)) })
		known, asked, line := HeldOut(data, GridOf(data.X, 1))
		if known.X[0] != 1 || known.X[known.N-1] != float64(n*n) || len(line) != asked.N || known.N+asked.N != n {
			t.Errorf("of %d rows the known ones are %v", n, known.X)
		}
	}
}

// TestTypicalGap checks the median of the gaps, which is limited to a twentieth of the rows. It is
// 1 without gaps and for uneven rows.
func TestTypicalGap(t *testing.T) {
	for _, c := range []struct {
		name string
		gaps []int // before each tenth row
		want int
	}{
		{"none", nil, 1}, {"one", []int{4}, 4}, {"some", []int{1, 7, 2, 3, 1}, 2},
		{"one long among them", []int{60, 2, 2}, 2}, {"long ones", []int{70, 40, 60}, 10},
	} {
		d := backend.Data{Q: 1, D: 1}
		at := 0
		for i := range 200 {
			if i%10 == 5 && i/10 < len(c.gaps) {
				at += c.gaps[i/10]
			}
			d.X, d.Y, d.N = append(d.X, float64(at)), append(d.Y, 0), d.N+1
			at++
		}
		if got := typicalGap(d, GridOf(d.X, 1)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		for i := range d.X {
			d.X[i] *= d.X[i]
		}
		if got := typicalGap(d, GridOf(d.X, 1)); got != 1 {
			t.Errorf("%s, uneven: %d, want 1", c.name, got)
		}
	}
}
