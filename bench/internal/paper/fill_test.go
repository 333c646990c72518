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
)

// TestFillers checks that every method fills a gap in a tone without using the samples in the gap, and that the errors
// of models and the autoregressive fill are much smaller than the error of silence.
func TestFillers(t *testing.T) {
	y := testkit.Numbers(800, func(i int) float64 { return 0.1 * math.Sin(0.2*float64(i)) })
	s := &signal{Rate: 8000, Y: y, Gaps: []audio.Gap{{Start: 500, End: 520}}}
	blind := &signal{Rate: s.Rate, Y: slices.Clone(s.Y), Gaps: s.Gaps}
	clear(blind.Y[500:520])
	for _, c := range []struct {
		name   string
		fill   filler
		within float64 // maximum error relative to silence
		model  bool
	}{
		{"zeros", fillZeros, 1, false}, {"linear", fillLinear, 3, false},
		{"vssgp", fillBy(restore.Options{Method: restore.VSSGP, Model: vssgp.Options{Seed: 1}}), 0.1, true},
		{"mixture", fillBy(restore.Options{Method: restore.Mixture}), 0.1, true},
		{"ar", fillBy(restore.Options{Method: restore.AR}), 0.1, true},
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
		if ok != c.model || ok && !(coverage > 0 && nlpd < 0 && (f.M > 0) == (c.name == "vssgp") && (f.Rows > 0) == (f.M > 0) && f.Rows <= 780) {
			t.Errorf("%s: coverage %v, NLPD %v, %v; M = %d, %d rows", c.name, coverage, nlpd, ok, f.M, f.Rows)
		}
	}
}

// TestFillSeparately checks that each gap is filled as if the samples of the other gap were observed.
func TestFillSeparately(t *testing.T) {
	y := testkit.Numbers(300, func(i int) float64 { return float64(i) })
	s := &signal{Rate: 1000, Y: y, Gaps: []audio.Gap{{Start: 5, End: 8}, {Start: 100, End: 104}}}
	var seen []audio.Gap
	fill := fillSeparately(func(_ context.Context, s *signal) (*filling, error) {
		seen = append(seen, s.Gaps...)
		f := &filling{Mean: slices.Clone(s.Y), SD: slices.Repeat([]float64{float64(len(seen))}, len(s.Y)), Bound: 2, Rows: len(s.Y), M: 3}
		return f, nil
	})
	f, err := fill(t.Context(), s)
	if err != nil || !slices.Equal(seen, s.Gaps) || f.Bound != 4 || f.M != 6 || f.Rows != 600 {
		t.Fatalf("gaps %v, %+v, %v", seen, f, err)
	}
	if !slices.Equal(s.in(f.Mean), s.in(y)) || !slices.Equal(s.in(f.SD), []float64{1, 1, 1, 2, 2, 2, 2}) || !math.IsNaN(f.Mean[8]) || !math.IsNaN(f.SD[8]) {
		t.Errorf("in the gaps %v, %v; outside %v", s.in(f.Mean), s.in(f.SD), f.Mean[8])
	}
	if f, err := fillSeparately(fillLinear)(t.Context(), s); err != nil || f.SD != nil {
		t.Errorf("%+v, %v: want no intervals for a method without intervals", f, err)
	}
}
