package initialize

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit/cputime"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// TestCandidates checks that the lengths are ascending, that a length of at least the data means
// no windows, that no windows is a default candidate if that is not expensive and the model is
// optimized, and that no default window is shorter than a gap.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		points, gap int
		set         Settings
		want        []float64
	}{
		{301, 0, Settings{Window: 40}, []float64{40}}, {301, 0, Settings{}, []float64{0}},
		{301, 0, Settings{Auto: true, Candidates: []float64{50, 10, 25}}, []float64{10, 25, 50}},
		{301, 0, Settings{Auto: true, Candidates: []float64{50, 300, 450, 299}}, []float64{50, 299, 0}},
		{301, 0, Settings{Auto: true}, []float64{0}}, {700, 0, Settings{Auto: true}, []float64{512, 0}},
		{20_000, 0, Settings{Auto: true}, []float64{512, 768, 1024, 0}},
		{30_000, 0, Settings{Auto: true}, []float64{512, 768, 1024}},
		{30_000, 0, Settings{Auto: true, Components: 20}, []float64{512, 768, 1024, 0}},
		{30_000, 600, Settings{Auto: true}, []float64{768, 1024}}, {30_000, 1100, Settings{Auto: true}, []float64{0}},
	} {
		c.set.Optimized = true
		s := &Series{step: 1, missing: make([]bool, c.points)}
		for n := range c.gap {
			s.missing[100+n] = true
		}
		if got := s.candidates(c.set); !slices.Equal(got, c.want) {
			t.Errorf("%d points, %+v: %v, want %v", c.points, c.set, got, c.want)
		}
	}
	s := &Series{step: 1, missing: make([]bool, 2000)}
	if got, want := s.candidates(Settings{Auto: true}), []float64{512, 768, 1024}; !slices.Equal(got, want) {
		t.Errorf("without optimization: %v, want %v", got, want)
	}
}

// TestStartIsLinear checks that with sixteen times the rows the initialization takes about sixteen
// times as long, in operations and CPU time. A quadratic algorithm would take 256 times as long;
// the limit of 80 allows for other load on the machine.
func TestStartIsLinear(t *testing.T) {
	slow.Race(t)
	const few, many = 1 << 13, 1 << 17
	for _, missing := range []float64{0, 0.05, 0.4, 0.7} {
		work := func(n int) float64 {
			s := seriesOf(modeltest.Tones(n, missing))
			gaps := runs(s.missing, true)
			flops, _ := s.filling(gaps, 0).Work(len(s.missing), gaps)
			return flops
		}
		// Above fillWork the tiles become smaller, so the number of operations may decrease.
		if r := work(4*many) / work(many); r > 6 {
			t.Errorf("%v missing: four times the rows, %v times the operations", missing, r)
		}
	}
	took := func(n int) time.Duration {
		d, best := modeltest.Tones(n, 0), time.Duration(math.MaxInt64)
		for range 2 {
			at := cputime.Now()
			begin(t, d, Settings{Optimized: true}, &scorer{t: t})
			best = min(best, cputime.Now()-at)
		}
		return best
	}
	if a, b := took(few), took(many); b > 80*a {
		t.Errorf("%d rows take %v to initialize, %d rows %v", few, a, many, b)
	}
}

// TestRefused checks that a shape that the evaluator rejects is not used, at the first noise level
// or at the selected one.
func TestRefused(t *testing.T) {
	for _, set := range []Settings{{Optimized: true, Window: 60}, {Window: 60}} {
		for allowed := range 2 {
			j := &scorer{t: t, predict: func(*variational.Params) (square, variance float64) { return 0, 1 }}
			j.refuse = func(variational.Shape) error {
				if len(j.shapes) > allowed {
					return errTooLarge
				}
				return nil
			}
			p, begun, err := seriesOf(gappy(300)).Spectrum(t.Context(), set, j)
			switch {
			case set.Optimized && allowed == 1: // the noise is not selected
				if err != nil || p == nil {
					t.Errorf("an allowed shape: %v", err)
				}
			case !errors.Is(err, errTooLarge) || p != nil || begun != nil:
				t.Errorf("%+v, %d shapes allowed: %v, %v", set, allowed, p, err)
			}
		}
	}
}

// TestSpectrumInterrupted checks that an ended context gives its error and no parameters.
func TestSpectrumInterrupted(t *testing.T) {
	for _, set := range []Settings{{Optimized: true}, {Window: 60}, {Auto: true, Candidates: []float64{40, 60}, Optimized: true}} {
		ctx, cancel := context.WithCancel(t.Context())
		j := &scorer{t: t}
		j.score = func(*variational.Params) (float64, error) { cancel(); return 0, variational.ErrBound } // as if interrupted
		j.predict = func(*variational.Params) (square, variance float64) { cancel(); return 0, 1 }
		j.refuse = func(variational.Shape) error { cancel(); return nil }
		if _, _, err := seriesOf(gappy(300)).Spectrum(ctx, set, j); err == nil || !set.Auto && !errors.Is(err, context.Canceled) || len(j.tried) > 1 {
			t.Errorf("%+v: %v after %d settings", set, err, len(j.tried))
		}
	}
}
