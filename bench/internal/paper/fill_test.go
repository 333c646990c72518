package paper

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// TestFillers checks that every method fills a gap in a tone without using the samples in the gap, and that the errors of models and the
// autoregressive fill are much smaller than the error of silence.
func TestFillers(t *testing.T) {
	y := testkit.Numbers(800, func(i int) float64 { return 0.1 * math.Sin(0.2*float64(i)) })
	s := &signal{Rate: 8000, Y: y, Gaps: []audio.Gap{{Start: 500, End: 520}}}
	blind := &signal{Rate: s.Rate, Y: slices.Clone(s.Y), Gaps: s.Gaps}
	clear(blind.Y[500:520])
	warp := func(c timewarp.Candidates) filler { return fillWarp(timewarp.NewFiller(c, 8000)) }
	for _, c := range []struct {
		name   string
		fill   filler
		within float64 // maximum error relative to silence
		model  bool
	}{
		{"zeros", fillZeros, 1, false}, {"linear", fillLinear, 3, false}, {"ar", fillAR, 0.1, false},
		{"vssgp", fillVSSGP(restore.Options{Model: vssgp.Options{Seed: 1}}), 0.1, true},
		{"warp", warp(timewarp.Mixture()), 0.1, true}, {"warp, ar", warp(timewarp.AR()), 0.1, true},
	} {
		f, err := c.fill(context.Background(), s)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		other, err := c.fill(context.Background(), blind)
		if err != nil || !slices.Equal(s.in(f.Mean), s.in(other.Mean)) {
			t.Errorf("%s uses the samples in the gap: %v", c.name, err)
		}
		if e := bayes.RMSE(s.in(f.Mean), s.in(s.Y)) / bayes.RMS(s.in(s.Y)); !(e <= c.within) {
			t.Errorf("%s: error %v relative to silence, want at most %v", c.name, e, c.within)
		}
		coverage, nlpd, ok := s.intervals(f)
		if ok != c.model || ok && !(coverage > 0 && nlpd < 0 && (f.M > 0) == (c.name == "vssgp") && f.Rows > 0 && f.Rows <= 780) {
			t.Errorf("%s: coverage %v, NLPD %v, %v; M = %d, %d rows", c.name, coverage, nlpd, ok, f.M, f.Rows)
		}
	}
}

// TestWarp checks the mean and the standard deviation against timewarp.Filler.
func TestWarp(t *testing.T) {
	y := testkit.Numbers(800, func(i int) float64 { return math.Sin(0.2*float64(i)) * math.Cos(0.0001*float64(i*i)) })
	s := &signal{Rate: 8000, Y: y, Gaps: []audio.Gap{{Start: 500, End: 520}}}
	f, err := fillWarp(timewarp.NewFiller(timewarp.AR(), 8000))(context.Background(), s)
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

// TestFillSeparately checks that each gap is filled from a separate excerpt without other gaps.
func TestFillSeparately(t *testing.T) {
	y := testkit.Numbers(300, func(i int) float64 { return float64(i) })
	s := &signal{Rate: 1000, Y: y, Gaps: []audio.Gap{{Start: 5, End: 8}, {Start: 100, End: 104}}}
	var seen []signal
	fill := fillSeparately(func(n int, rate float64) int { return n + int(rate/100) }, func(_ context.Context, s *signal) (*filling, error) {
		seen = append(seen, *s)
		f := &filling{Mean: slices.Clone(s.Y), SD: slices.Repeat([]float64{float64(len(seen))}, len(s.Y)), Bound: 2, Rows: len(s.Y), M: 3}
		return f, nil
	})
	f, err := fill(context.Background(), s)
	if err != nil || len(seen) != 2 || f.Bound != 4 || f.M != 6 || f.Rows != 21+32 {
		t.Fatalf("%d excerpts, %+v, %v", len(seen), f, err)
	}
	for i, want := range []signal{{Rate: 1000, Y: y[:21], Gaps: s.Gaps[:1]}, {Rate: 1000, Y: y[86:118], Gaps: []audio.Gap{{Start: 14, End: 18}}}} {
		if got := seen[i]; got.Rate != want.Rate || !slices.Equal(got.Y, want.Y) || !slices.Equal(got.Gaps, want.Gaps) {
			t.Errorf("excerpt %d is %+v, want %+v", i, got, want)
		}
	}
	if !slices.Equal(s.in(f.Mean), s.in(y)) || !slices.Equal(s.in(f.SD), []float64{1, 1, 1, 2, 2, 2, 2}) || !math.IsNaN(f.Mean[8]) || !math.IsNaN(f.SD[8]) {
		t.Errorf("in the gaps %v, %v; outside %v", s.in(f.Mean), s.in(f.SD), f.Mean[8])
	}
	if f, err := fillSeparately(func(int, float64) int { return 9 }, fillLinear)(context.Background(), s); err != nil || f.SD != nil {
		t.Errorf("%+v, %v: want no intervals for a method without intervals", f, err)
	}
}
