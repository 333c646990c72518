package gapfill

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// TestMethods: every method fills a tone's gaps without a look at what is in them, models and the autoregressive fill better than silence.
func TestMethods(t *testing.T) {
	s := &Signal{Rate: 8000, Y: make([]float64, 800), Gaps: []audio.Gap{{Start: 200, End: 220}, {Start: 500, End: 520}}}
	for i := range s.Y {
		s.Y[i] = 0.1 * math.Sin(0.2*float64(i))
	}
	blind := &Signal{Rate: s.Rate, Y: audio.FillSilence(s.Y, s.Gaps), Gaps: s.Gaps}
	for _, c := range []struct {
		name   string
		fill   Method
		within float64 // of silence's error
		model  bool
	}{
		{"zeros", Zeros, 1, false}, {"silence", Silence, 1, false}, {"linear", Linear, 3, false}, {"ar", AR(audio.DefaultAR), 0.1, false},
		{"impute", Impute(impute.Options{Model: vssgp.Options{Seed: 1}}), 0.1, true},
	} {
		f, err := c.fill(context.Background(), s)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		other, err := c.fill(context.Background(), blind)
		if err != nil || !slices.Equal(s.In(f.Mean), s.In(other.Mean)) {
			t.Errorf("%s looks into the gaps: %v", c.name, err)
		}
		if e := score.RMSE(s.In(f.Mean), s.In(s.Y)) / score.RMS(s.In(s.Y)); !(e <= c.within) {
			t.Errorf("%s leaves %v of silence's error, want %v at most", c.name, e, c.within)
		}
		coverage, nlpd, ok := s.Intervals(f)
		if ok != c.model || ok && !(coverage > 0 && nlpd < 0 && f.M > 0 && f.Rows > 0 && f.Rows <= 760) {
			t.Errorf("%s: coverage %v, NLPD %v, %v; M = %d, %d rows", c.name, coverage, nlpd, ok, f.M, f.Rows)
		}
	}
}

func TestScale(t *testing.T) {
	y, err := Scale([]float64{3, -4, 3, -4})
	if err != nil || math.Abs(score.RMS(y)-Level) > 1e-15 || math.Abs(y[0]/y[1]+0.75) > 1e-15 {
		t.Errorf("%v, %v", y, err)
	}
	if _, err := Scale(make([]float64, 5)); err == nil {
		t.Error("silence can be scaled")
	}
}

// TestEven: a gap in the middle of each so many samples, as long as there is space for it.
func TestEven(t *testing.T) {
	want := []audio.Gap{{Start: 5, End: 8}, {Start: 15, End: 18}}
	for n, want := range map[int][]audio.Gap{20: want, 18: want, 17: want[:1], 7: nil} {
		if got := Even(n, 10, 3); !slices.Equal(got, want) {
			t.Errorf("%d samples: gaps %v, want %v", n, got, want)
		}
	}
	s := &Signal{Y: []float64{9, 3, 4, 9}, Gaps: []audio.Gap{{Start: 1, End: 3}}}
	if rmse, silence := s.RMSE(&Fill{Mean: []float64{0, 3, 3, 0}}); math.Abs(rmse-math.Sqrt(0.5)) > 1e-15 || math.Abs(silence-math.Sqrt(12.5)) > 1e-15 {
		t.Errorf("RMSE %v and of silence %v", rmse, silence)
	}
}

// TestIn: the samples of the gaps alone, in their order; what is said of them is of these.
func TestIn(t *testing.T) {
	s := &Signal{Y: []float64{0, 1, 2, 3, 4, 5}, Gaps: []audio.Gap{{Start: 1, End: 3}, {Start: 4, End: 5}}}
	if got := s.In(s.Y); !slices.Equal(got, []float64{1, 2, 4}) || s.In(nil) != nil {
		t.Errorf("%v", got)
	}
	f := &Fill{Mean: []float64{9, 1, 9, 9, 4, 9}, SD: []float64{1, 1, 1, 1, 1, 1}}
	if coverage, _, ok := s.Intervals(f); !ok || math.Abs(coverage-2./3) > 1e-15 {
		t.Errorf("coverage %v, %v; want two of three", coverage, ok)
	}
}
