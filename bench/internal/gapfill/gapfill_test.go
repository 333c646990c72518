package gapfill

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/timewarp"
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
		{"zeros", Zeros, 1, false}, {"linear", Linear, 3, false}, {"ar", AR(audio.DefaultAR), 0.1, false},
		{"vssgp", VSSGP(restore.Options{Model: vssgp.Options{Seed: 1}}), 0.1, true},
		{"warp", Warp(timewarp.NewFiller(timewarp.Mixture(), 8000)), 0.1, true}, {"warp, ar", Warp(timewarp.NewFiller(timewarp.AR(), 8000)), 0.1, true},
	} {
		f, err := c.fill(context.Background(), s)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		other, err := c.fill(context.Background(), blind)
		if err != nil || !slices.Equal(s.In(f.Mean), s.In(other.Mean)) {
			t.Errorf("%s looks into the gaps: %v", c.name, err)
		}
		if e := bayes.RMSE(s.In(f.Mean), s.In(s.Y)) / bayes.RMS(s.In(s.Y)); !(e <= c.within) {
			t.Errorf("%s leaves %v of silence's error, want %v at most", c.name, e, c.within)
		}
		coverage, nlpd, ok := s.Intervals(f)
		if ok != c.model || ok && !(coverage > 0 && nlpd < 0 && (f.M > 0) == (c.name == "vssgp") && f.Rows > 0 && f.Rows <= 760) {
			t.Errorf("%s: coverage %v, NLPD %v, %v; M = %d, %d rows", c.name, coverage, nlpd, ok, f.M, f.Rows)
		}
	}
}

// TestWarp: mean and standard deviation are the filler's.
func TestWarp(t *testing.T) {
	s := &Signal{Rate: 8000, Y: make([]float64, 800), Gaps: []audio.Gap{{Start: 500, End: 520}}}
	for i := range s.Y {
		s.Y[i] = math.Sin(0.2*float64(i)) * math.Cos(0.0001*float64(i*i))
	}
	f, err := Warp(timewarp.NewFiller(timewarp.AR(), 8000))(context.Background(), s)
	want, failed := timewarp.NewFiller(timewarp.AR(), 8000).Fill(context.Background(), s.Y, [][2]int{{500, 520}}, 0, 0, 0)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	for i, v := range want.Variance {
		if f.Mean[500+i] != want.Mean[i] || f.SD[500+i] != math.Sqrt(v) {
			t.Errorf("sample %d: %v ± %v, want %v and variance %v", i, f.Mean[500+i], f.SD[500+i], want.Mean[i], v)
		}
	}
}

// TestAlone: each gap is filled as if it were the only one, from an excerpt.
func TestAlone(t *testing.T) {
	y := make([]float64, 300)
	for i := range y {
		y[i] = float64(i)
	}
	s := &Signal{Rate: 1000, Y: y, Gaps: []audio.Gap{{Start: 5, End: 8}, {Start: 100, End: 104}}}
	var seen []Signal
	fill := Alone(func(n int, rate float64) int { return n + int(rate/100) }, func(_ context.Context, s *Signal) (*Fill, error) {
		seen = append(seen, *s)
		f := &Fill{Mean: slices.Clone(s.Y), SD: slices.Repeat([]float64{float64(len(seen))}, len(s.Y)), Bound: 2, Rows: len(s.Y), M: 3}
		return f, nil
	})
	f, err := fill(context.Background(), s)
	if err != nil || len(seen) != 2 || f.Bound != 4 || f.M != 6 || f.Rows != 21+32 {
		t.Fatalf("%d excerpts, %+v, %v", len(seen), f, err)
	}
	for i, want := range []Signal{{Rate: 1000, Y: y[:21], Gaps: s.Gaps[:1]}, {Rate: 1000, Y: y[86:118], Gaps: []audio.Gap{{Start: 14, End: 18}}}} {
		if got := seen[i]; got.Rate != want.Rate || !slices.Equal(got.Y, want.Y) || !slices.Equal(got.Gaps, want.Gaps) {
			t.Errorf("excerpt %d is %+v, want %+v", i, got, want)
		}
	}
	if !slices.Equal(s.In(f.Mean), s.In(y)) || !slices.Equal(s.In(f.SD), []float64{1, 1, 1, 2, 2, 2, 2}) || !math.IsNaN(f.Mean[8]) || !math.IsNaN(f.SD[8]) {
		t.Errorf("in the gaps %v, %v; outside %v", s.In(f.Mean), s.In(f.SD), f.Mean[8])
	}
	if f, err := Alone(func(int, float64) int { return 9 }, Linear)(context.Background(), s); err != nil || f.SD != nil {
		t.Errorf("%+v, %v: want no intervals of a method that has none", f, err)
	}
}

func TestScale(t *testing.T) {
	y, err := Scale([]float64{3, -4, 3, -4})
	if err != nil || math.Abs(bayes.RMS(y)-Level) > 1e-15 || math.Abs(y[0]/y[1]+0.75) > 1e-15 {
		t.Errorf("%v, %v", y, err)
	}
	if _, err := Scale(make([]float64, 5)); err == nil {
		t.Error("silence can be scaled")
	}
}

// TestRMSE checks that the error is that of the samples in the gaps.
func TestRMSE(t *testing.T) {
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
