package initialize

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestRoughParts checks the covariance of a Brownian motion: its differences over a step equal the
// differences between neighboring rows, and its spectrum is the spectrum of a random walk.
func TestRoughParts(t *testing.T) {
	// The steps are 1, 2, 0.5 and 1, with unsorted rows; the differences are 1, 4, 3 and 2.
	d, wide := series([]float64{3, 0, 1, 4.5, 3.5}, []float64{5, 0, 1, 10, 8}, 1, 0.5).neighbors()
	if want := (1 + 16./2 + 9 + 4) / 4; !(math.Abs(d-want) <= 1e-12) || wide != 2 {
		t.Errorf("differences of %v, want %v; the widest step is %v, want 2", d, want, wide)
	}
	for _, band := range []float64{0.5, 4} { // of the rows; at most roughBand is used
		own := (&Series{band: band}).brownian(48, 0.3)
		top := min(band, 1)
		sum := 0.0
		for i, b := range own {
			sum += 2 * b.mass * (1 - math.Cos(2*math.Pi*b.freq))
			ratio := math.Pow(math.Sin(math.Pi/2*own[0].freq/top)/math.Sin(math.Pi/2*b.freq/top), 2)
			if !(math.Abs(b.mass/own[0].mass/ratio-1) <= 1e-12) || !(math.Abs(b.freq-(float64(i)+0.5)*top/float64(len(own))) <= 1e-12) {
				t.Errorf("band %v: bin %d is %+v, the first %+v", band, i, b, own[0])
			}
		}
		if !(math.Abs(sum-0.3) <= 1e-12) || len(own) != int(48*top/0.75) {
			t.Errorf("band %v: %d bins whose differences are %v, want 0.3", band, len(own), sum)
		}
	}
}

// TestRoughModel checks on a random walk with wide gaps that the windows contain their rows, and
// that the level and the noise correspond to neighboring rows.
func TestRoughModel(t *testing.T) {
	data := modeltest.Walk(400)
	for i := range data.X {
		data.X[i] += 20 * math.Floor(float64(i)/10) // each tenth step is 21 long
	}
	for _, c := range []struct {
		data   *backend.Data
		length float64
	}{{modeltest.Walk(400), 48}, {data, 8 * 21}} {
		s, j := seriesOf(c.data), &scorer{t: t}
		p := testkit.Must(s.Rough(t.Context(), Settings{Optimized: true}, j))(t)
		if len(j.shapes) != 1 || !equalShapes(j.shapes[0], variational.ShapeOf(p)) {
			t.Errorf("the evaluator checked %+v", j.shapes)
		}
		if p.Windows.Length != c.length || p.L%p.Windows.Count() != 0 {
			t.Errorf("%d components in %d windows of %v, want %v", p.L, p.Windows.Count(), p.Windows.Length, c.length)
		}
		if p.Variance[0] != s.unit || !(math.Abs(p.Frequency[0]*c.length-0.5) <= 1e-12) {
			t.Errorf("the level has a variance of %v at frequency %v, want %v at half a cycle a window", p.Variance[0], p.Frequency[0], s.unit)
		}
		if p.Lengthscale[0] != roughLength*c.length || roughLength < 1000 { // a shorter one would model a large level as noise
			t.Errorf("a length-scale of %v for windows of %v", p.Lengthscale[0], c.length)
		}
		difference, _ := s.neighbors()
		if noise := 1 / p.NoisePrecision[0]; !(math.Abs(noise/(difference/8)-1) <= 1e-6) { // a quarter, divided by two rows
			t.Errorf("a noise of %v, of differences of %v", noise, difference)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := seriesOf(data).Rough(ended, Settings{}, &scorer{t: t}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v", err)
	}
	tooLarge := errors.New("too large")
	refuse := func(variational.Shape) error { return tooLarge }
	if p, err := seriesOf(data).Rough(t.Context(), Settings{}, &scorer{t: t, refuse: refuse}); !errors.Is(err, tooLarge) || p != nil {
		t.Errorf("a rejected shape: %v, %v", p, err)
	}
}
