package initialize

import (
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestTrialGaps: as long as the median gap, among observed places, apart, and no
// more of them than a tenth of the places; none without gaps.
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
		s := &Series{missing: make([]bool, c.n)}
		for _, r := range c.gaps {
			for i := r[0]; i < r[1]; i++ {
				s.missing[i] = true
			}
		}
		trials := s.trialGaps(&Settings{})
		if len(trials) > c.fewer || len(trials) < c.least {
			t.Errorf("%s: %d trials %v, want %d to %d", c.name, len(trials), trials, c.least, c.fewer)
		}
		last := 0
		for _, r := range trials {
			if r[0] <= last || r[1] >= c.n || r[1]-r[0] != 40 {
				t.Errorf("%s: trial %v after %d, want 40 places inside the data and apart", c.name, r, last)
			}
			for i := r[0]; i < r[1]; i++ {
				if s.missing[i] {
					t.Fatalf("%s: trial %v covers the gap at %d", c.name, r, i)
				}
			}
			last = r[1]
		}
	}
}

// TestChooseNoise: the least level whose predicted variance covers the squared
// errors over hidden rows, none of them below one that does not; and none is tried
// where the noise is given or left to the optimizer, or nothing is missing.
func TestChooseNoise(t *testing.T) {
	const covered = 1.25 * trialMargin // by a variance of 1.25
	set, rows := Settings{Window: 100, Components: 5}, gappy(600)
	most, _ := begin(t, rows, set, &scorer{t: t, predict: func(*variational.Params) (square, variance float64) { return 1, 0 }})
	unit := seriesOf(rows).unit
	for _, c := range []struct {
		name      string
		variances []float64 // predicted in turn
		want      int       // of noiseLevels
	}{
		{"none", []float64{0.99}, 0},
		{"one, by as much as it must", []float64{1, 0.9}, 1},
		{"none below one that does not", []float64{2, 0.9, 2}, 1},
		{"all", []float64{3, 2, 1}, 3},
	} {
		j := &scorer{t: t}
		j.predict = func(*variational.Params) (square, variance float64) {
			return covered, c.variances[len(j.asked)-1] * 1.25
		}
		p, _ := begin(t, rows, set, j)
		// Dropped bins are noise, too, and the same at all levels: five bins are kept.
		got, want := 1/most.NoisePrecision[0]-1/p.NoisePrecision[0], (noiseLevels[0]-noiseLevels[c.want])*unit
		if d := got - want; !(d*d <= 1e-24) || len(j.asked) != min(c.want+1, len(noiseLevels)-1) {
			t.Errorf("%s: a noise of %v, %v below the first; want %v after %d levels, not %d", c.name, 1/p.NoisePrecision[0], got, want, c.want, len(j.asked))
		}
		for _, asked := range j.asked {
			checkHidden(t, asked)
		}
	}
	for name, c := range map[string]struct {
		data *backend.Data
		set  Settings
	}{
		"given":     {gappy(600), Settings{Noise: 30}},
		"optimized": {gappy(600), Settings{Optimized: true}},
		"no gaps":   {modeltest.Tones(600, 0), Settings{}},
	} {
		p, _ := begin(t, c.data, c.set, &scorer{t: t}) // which fails where it is asked to predict
		if c.set.Noise > 0 && p.NoisePrecision[0] != c.set.Noise {
			t.Errorf("%s: a precision of %v, want %v", name, p.NoisePrecision[0], c.set.Noise)
		}
	}
}

// checkHidden sees that the rows asked for are of gappy's data in intervals of
// eight, as its gaps are.
func checkHidden(t *testing.T, asked backend.Data) {
	t.Helper()
	if asked.N == 0 || asked.N%8 != 0 || asked.N > 60 {
		t.Fatalf("%d rows are hidden, want some intervals of eight, a tenth of the places at most", asked.N)
	}
	for i, x := range asked.X {
		if int(x)%100 >= 92 || i%8 > 0 && x != asked.X[i-1]+1 {
			t.Errorf("row %d of the hidden ones is at %v", i, x)
		}
	}
}
