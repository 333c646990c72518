package initialize

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestGridOfAnEarlyRow checks that most rows, not the first one, determine the grid.
func TestGridOfAnEarlyRow(t *testing.T) {
	d := modeltest.Tones(40, 0)
	for i := range d.X {
		d.X[i] += 0.4
	}
	d.X[0] = 0.2
	if s := series(d.X, d.Y, 1, 0); !(math.Abs(s.x0-0.4) <= 0.02) || len(s.missing) != 40 || slices.Contains(s.missing, true) {
		t.Errorf("a grid of %d points from %v on, want 40 observed points from about 0.4 on", len(s.missing), s.x0)
	}
}

// TestUnevenCut checks that uneven rows are sorted by time, and that a part contains the rows near
// its grid points and has the unit of all data.
func TestUnevenCut(t *testing.T) {
	x, y := []float64{4, 0, 0.6, 1.4, 1.6, 2.4, 2.6}, []float64{7, 1, 2, 3, 4, 5, 6}
	s := series(x, y, 1, 0.5)
	if !slices.IsSorted(s.times) || !slices.Equal(s.y[0], []float64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("rows %v at %v, want them sorted by time", s.y[0], s.times)
	}
	if g := s.grid; g != (Grid{1, 0.5}) {
		t.Errorf("the grid is %+v", g)
	}
	part, want := s.cut(1, 3), []float64{0.6, 1.4, 1.6, 2.4}
	if !slices.Equal(part.times, want) || !slices.Equal(part.y[0], []float64{2, 3, 4, 5}) || part.x0 != 1 {
		t.Errorf("rows at %v from %v on, want %v from 1 on", part.times, part.x0, want)
	}
	if part.unit != s.unit || s.unit != 20 { // the mean of the first seven squares
		t.Errorf("the unit is %v, of all data %v; want 20", part.unit, s.unit)
	}
}
