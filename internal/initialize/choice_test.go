package initialize

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// TestExcerpts checks that eight excerpts represent long data: they are spread evenly, contain
// their rows in the correct positions, and have the unit of all data.
func TestExcerpts(t *testing.T) {
	const longest = 20.0
	for _, n := range []int{2 * choiceExcerpts * choiceWindows * longest, 2*choiceExcerpts*choiceWindows*longest + 1, 12345} {
		data := modeltest.ChangingTones(n, 100)
		data.X, data.Y = append(data.X[:700], data.X[701:]...), append(data.Y[:700], data.Y[701:]...) // a missing row
		data.N--
		s := series(data.X, data.Y, 1, 0)
		s.fill(t.Context(), longest)
		parts, whole := s.excerpts([]float64{10, longest})
		if want := n <= 2*choiceExcerpts*choiceWindows*longest; whole != want {
			t.Fatalf("%d points: all used: %v, want %v", n, whole, want)
		}
		if whole {
			continue
		}
		if len(parts) != choiceExcerpts {
			t.Fatalf("%d points: %d excerpts, want %d", n, len(parts), choiceExcerpts)
		}
		last := -1.0
		for i, p := range parts {
			if p.unit != s.unit || len(p.missing) != choiceWindows*longest || p.x0 <= last {
				t.Errorf("%d points: excerpt %d has unit %v and %d points from %v, want %v and %v after %v",
					n, i, p.unit, len(p.missing), p.x0, s.unit, choiceWindows*longest, last)
			}
			last = p.end()
			observed := 0
			for _, missing := range p.missing {
				if !missing {
					observed++
				}
			}
			if d := p.data; d.N != observed || d.X[0] < p.x0 || d.X[d.N-1] > last {
				t.Errorf("%d points: excerpt %d has %d rows from %v to %v, want %d from %v to %v", n, i, d.N, d.X[0], d.X[d.N-1], observed, p.x0, last)
			}
			for j, x := range p.data.X {
				if p.data.Y[j] != p.y[0][p.index(x)] {
					t.Fatalf("%d points: excerpt %d row %d has the wrong index", n, i, j)
				}
			}
		}
		if d := parts[0].x0 - (float64(n-1) - last); math.Abs(d) > choiceExcerpts {
			t.Errorf("%d points: excerpts from %v to %v, want them spread", n, parts[0].x0, last)
		}
	}
}

// peak returns a score with its maximum at a number of components per window, on a log scale.
func peak(at float64) func(p *variational.Params) (float64, error) {
	return func(p *variational.Params) (float64, error) {
		return -math.Abs(math.Log(float64(p.L) / float64(p.Windows.Count()) / at)), nil
	}
}

// TestChoosesByScore checks that the setting with the highest score is selected: first the window
// length, then twice the number of components or repeatedly half of it, then more features.
func TestChoosesByScore(t *testing.T) {
	slow.Race(t)
	const first = spectrumFewest // components per window of 128 steps
	for name, c := range map[string]struct {
		score      func(p *variational.Params) (float64, error)
		set        Settings
		length     float64
		components int // per window; 0: any
		features   int
		most       int // maximum number of settings tried
	}{
		"the longest":   {func(p *variational.Params) (float64, error) { return p.Windows.Length, nil }, Settings{}, 128, 0, 2, 3},
		"the shortest":  {func(p *variational.Params) (float64, error) { return -p.Windows.Length, nil }, Settings{}, 64, 0, 2, 3},
		"one between":   {func(p *variational.Params) (float64, error) { return -math.Abs(p.Windows.Length - 100), nil }, Settings{}, 96, 0, 2, 3},
		"the default":   {peak(first), Settings{Optimized: true, Candidates: []float64{128}}, 128, first, 2, 4},
		"twice":         {peak(100), Settings{Optimized: true, Candidates: []float64{128}}, 128, 2 * first, 2, 3},
		"half":          {peak(first / 2), Settings{Optimized: true, Candidates: []float64{128}}, 128, first / 2, 2, 5},
		"half of half":  {peak(first / 4), Settings{Optimized: true, Candidates: []float64{128}}, 128, first / 4, 2, 6},
		"a single one":  {peak(0.1), Settings{Optimized: true, Candidates: []float64{128}, Features: 2}, 128, 1, 2, 5},
		"as asked for":  {peak(1), Settings{Optimized: true, Candidates: []float64{128}, Components: 7}, 128, 7, 2, 2},
		"more features": {func(p *variational.Params) (float64, error) { return float64(p.K), nil }, Settings{Optimized: true, Candidates: []float64{64}}, 64, 4, 4, 4},
		"a given K":     {func(p *variational.Params) (float64, error) { return float64(-p.K), nil }, Settings{Optimized: true, Candidates: []float64{64}, Features: 6}, 64, 8, 6, 3},
		"ties: first":   {func(*variational.Params) (float64, error) { return 1, nil }, Settings{}, 64, 0, 2, 3},
		"NaN: first":    {func(*variational.Params) (float64, error) { return math.NaN(), nil }, Settings{}, 64, 0, 2, 3},
	} {
		c.set.Auto = true
		if c.set.Candidates == nil {
			c.set.Candidates = []float64{128, 64, 96}
		}
		j := &scorer{t: t, score: c.score}
		p, begun := begin(t, modeltest.Tones(900, 0), c.set, j)
		components := (p.L + p.Windows.Count() - 1) / p.Windows.Count()
		if p.Windows.Length != c.length || c.components > 0 && components != c.components || p.K != c.features || len(j.tried) > c.most {
			t.Errorf("%s: %d components of %d features in windows of %v after %d settings, want %d of %d in windows of %v after at most %d",
				name, components, p.K, p.Windows.Length, len(j.tried), c.components, c.features, c.length, c.most)
		}
		// The bound of the initial parameters is returned if it was evaluated.
		if want := !c.set.Optimized && name != "NaN: first"; (begun != nil) != want {
			t.Errorf("%s: the initial bound is %v", name, begun)
		} else if want && (!slices.Contains(j.bounds, begun) || begun.Bound != must(c.score(p))) {
			t.Errorf("%s: the initial bound is %v, want %v", name, begun.Bound, must(c.score(p)))
		}
	}
}

func must(v float64, _ error) float64 { return v }

// TestBoundOfAnotherNoise checks that the bound of the initial parameters is not returned if the
// noise was changed after its evaluation.
func TestBoundOfAnotherNoise(t *testing.T) {
	for _, lower := range []bool{false, true} {
		j := &scorer{t: t, score: func(p *variational.Params) (float64, error) { return p.Windows.Length, nil }}
		j.predict = func(*variational.Params) (square, variance float64) {
			if lower {
				return 0, 1
			}
			return 1, 0
		}
		if _, begun := begin(t, gappy(500), Settings{Auto: true, Candidates: []float64{50, 80}}, j); (begun == nil) != lower {
			t.Errorf("at a lower noise level: %v; the initial bound is %v", lower, begun)
		}
	}
}

// TestChoiceSums checks that settings are compared by the sums of their criteria over all
// excerpts.
func TestChoiceSums(t *testing.T) {
	rows := modeltest.Tones(2*choiceExcerpts*choiceWindows*24+1, 0)
	calls := map[float64]int{}
	j := &scorer{t: t}
	j.score = func(p *variational.Params) (float64, error) {
		calls[p.Windows.Length]++
		if p.Windows.Length == 16 && calls[16] == 3 { // the first setting has a high score on one excerpt only
			return 5, nil
		}
		return p.Windows.Length / 24, nil
	}
	p, begun := begin(t, rows, Settings{Auto: true, Candidates: []float64{16, 24}, Components: 2}, j)
	if calls[16] != choiceExcerpts || calls[24] != choiceExcerpts || p.Windows.Length != 16 || begun != nil {
		t.Errorf("windows of %v after %v, the initial bound is %v; want a decision by the sum, and no bound", p.Windows.Length, calls, begun)
	}
}

// TestNoBound checks that settings without a bound are skipped and other errors end the choice.
func TestNoBound(t *testing.T) {
	set := Settings{Auto: true, Candidates: []float64{64, 96, 128}}
	without := func(lengths ...float64) *scorer {
		return &scorer{t: t, score: func(p *variational.Params) (float64, error) {
			if slices.Contains(lengths, p.Windows.Length) {
				return 0, fmt.Errorf("as a backend wraps it: %w", variational.ErrBound)
			}
			return p.Windows.Length, nil
		}}
	}
	for want, j := range map[float64]*scorer{96: without(128), 128: without(64, 96), 64: without(64, 96, 128)} {
		if p, _ := begin(t, modeltest.Tones(600, 0), set, j); p.Windows.Length != want || len(j.tried) != 3 {
			t.Errorf("windows of %v of %d settings, want %v of 3", p.Windows.Length, len(j.tried), want)
		}
	}
	broken := errors.New("broken")
	for _, optimized := range []bool{false, true} {
		set.Optimized = optimized
		j := &scorer{t: t}
		j.score = func(*variational.Params) (float64, error) {
			if len(j.tried) > 2 {
				return 0, broken
			}
			return 1, nil
		}
		if p, _, err := seriesOf(modeltest.Tones(600, 0)).Spectrum(t.Context(), set, j); !errors.Is(err, broken) || p != nil || len(j.tried) != 3 {
			t.Errorf("optimized %v: %v, %v after %d settings", optimized, p, err, len(j.tried))
		}
	}
}
