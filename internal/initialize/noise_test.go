package initialize

import (
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestTrialGaps checks that the held-out intervals have the length of the median gap, consist of
// observed samples, are separated, and contain at most a tenth of the samples. Without gaps there
// are none.
func TestTrialGaps(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		gaps  [][2]int
		fewer int // maximum number of trials
		least int // minimum number of trials
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
				t.Errorf("%s: trial %v after %d, want 40 separate points inside the data", c.name, r, last)
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

// TestChooseNoise checks that the smallest level is selected such that the predicted variances of
// it and of all larger levels cover the squared errors of held-out rows. No level is tried if the
// noise is given or optimized, or no data are missing.
func TestChooseNoise(t *testing.T) {
	const covered = 1.25 * trialMargin // for a variance of 1.25
	set, rows := Settings{Window: 100, Components: 5}, gappy(600)
	most, _ := begin(t, rows, set, &scorer{t: t, predict: func(*variational.Params) (square, variance float64) { return 1, 0 }})
	unit := seriesOf(rows).unit
	for _, c := range []struct {
		name      string
		variances []float64 // successive predictions
		want      int       // index in noiseLevels
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
		// Dropped bins add the same noise at all levels, because five bins are kept.
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
		p, _ := begin(t, c.data, c.set, &scorer{t: t}) // the scorer fails if it is asked to predict
		if c.set.Noise > 0 && p.NoisePrecision[0] != c.set.Noise {
			t.Errorf("%s: a precision of %v, want %v", name, p.NoisePrecision[0], c.set.Noise)
		}
	}
}

// checkHidden checks that held-out rows are rows of gappy in intervals of eight, the length of its
// gaps.
func checkHidden(t *testing.T, asked backend.Data) {
	t.Helper()
	if asked.N == 0 || asked.N%8 != 0 || asked.N > 60 {
		t.Fatalf("%d rows are held out, want intervals of eight, at most a tenth of the points", asked.N)
	}
	for i, x := range asked.X {
		if int(x)%100 >= 92 || i%8 > 0 && x != asked.X[i-1]+1 {
			t.Errorf("held-out row %d is at %v", i, x)
		}
	}
}
