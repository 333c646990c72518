package vssgp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTrialGaps: as long as the median gap, inside what is observed, apart,
// and no more of them than a tenth of the places; none without gaps.
func TestTrialGaps(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		gaps  [][2]int
		fewer int // trials at most
		least int // and at least
	}{
		{"no gaps", 400, nil, 0, 0},
		{"one", 400, [][2]int{{200, 240}}, 1, 1},
		{"several", 4000, [][2]int{{100, 140}, {400, 440}, {700, 735}, {1200, 1300}}, 10, 8},
		{"too dense", 400, [][2]int{{40, 80}, {120, 160}, {200, 240}, {280, 320}}, 0, 0},
	} {
		g := &grid{missing: make([]bool, c.n)}
		for _, r := range c.gaps {
			for i := r[0]; i < r[1]; i++ {
				g.missing[i] = true
			}
		}
		trials := g.trialGaps()
		if len(trials) > c.fewer || len(trials) < c.least {
			t.Errorf("%s: %d trials %v, want %d to %d", c.name, len(trials), trials, c.least, c.fewer)
		}
		last := 0
		for _, r := range trials {
			if r[0] <= last || r[1] >= c.n || r[1]-r[0] != 40 {
				t.Errorf("%s: trial %v after %d, want 40 places inside the data and apart", c.name, r, last)
			}
			for i := r[0]; i < r[1]; i++ {
				if g.missing[i] {
					t.Fatalf("%s: trial %v covers the gap at %d", c.name, r, i)
				}
			}
			last = r[1]
		}
	}
}

// TestBestFloor: tones that can be foretold start with less noise than noise
// does, and with the error bars to match.
func TestBestFloor(t *testing.T) {
	series := func(noise float64) *Data {
		rng := rand.New(rand.NewPCG(4, 4))
		d := &Data{Q: 1, D: 1}
		for i := range 1500 {
			if i%300 >= 140 && i%300 < 170 {
				continue
			}
			v := math.Sin(0.21*float64(i)) + 0.5*math.Sin(0.47*float64(i)+1)
			d.X, d.Y, d.N = append(d.X, float64(i)), append(d.Y, v+noise*rng.NormFloat64()), d.N+1
		}
		return d
	}
	tau := func(noise float64) float64 {
		m, err := New(series(noise), Options{Init: InitSpectrum, Window: 300, Iterations: NoIterations})
		if err != nil {
			t.Fatal(err)
		}
		return m.Params.NoisePrecision[0]
	}
	if clean, loud := tau(0.001), tau(1); !(clean > 3*loud) || loud > 1/spectrumFloors[0] {
		t.Errorf("starting precision %v for tones, %v for tones in noise", clean, loud)
	}
	// Where windows are chosen each start has been evaluated already, with a floor
	// that is not the one that it ends with.
	data := series(0.001)
	m, r, err := Fit(t.Context(), data, Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: []float64{300, 400}, Iterations: NoIterations})
	if err != nil {
		t.Fatal(err)
	}
	if want := evaluated(t, m, data).Bound; r.Bound != want {
		t.Errorf("the start's bound is said to be %v, it is %v", r.Bound, want)
	}
}
