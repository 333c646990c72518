package restore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// watched is a recording that records which samples were read.
type watched struct {
	whole
	mu   sync.Mutex
	read []bool
}

func watch(x [][]float64) *watched { return &watched{whole: x, read: make([]bool, len(x[0]))} }

func (w *watched) Read(lo, hi int) ([][]float64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := lo; i < hi; i++ {
		w.read[i] = true
	}
	return w.whole.Read(lo, hi)
}

// TestFillFrom checks that FillFrom gives the same fills and scores as Fill and reads only samples near the gaps, for gaps at both
// ends, adjacent gaps, and short contexts.
func TestFillFrom(t *testing.T) {
	gaps := []Gap{{Start: 0, End: 12}, {Start: 700, End: 730}, {Start: 1000, End: 1015}, {Start: 1300, End: 1325}, {Start: 3988, End: 4000}}
	for _, c := range []struct {
		name    string
		context time.Duration
		all     bool
	}{
		{"some joined", 20 * time.Millisecond, false}, {"own excerpts", 8 * time.Millisecond, false},
		{"wider than the fills compared", 40 * time.Millisecond, false}, {"all", 0, true},
	}[:slow.Pick(4, 2)] {
		clean := tones(4000, 2, 0.01)
		x := damage(clean, gaps, math.NaN())
		o := quick()
		o.Context, o.All, o.Draws = c.context, c.all, 1
		want := mustFill(t, x, gaps, o)
		src, truth := watch(x), watch(clean)
		o.Forget = true
		var streamed [][]GapFill
		o.Filled = func(fills []GapFill) { streamed = append(streamed, fills) }
		r := inWhole(x, testkit.Must(FillFrom(context.Background(), src, 4000, rate, gaps, o))(t))
		slices.SortFunc(streamed, func(a, b []GapFill) int { return a[0].Gap.Start - b[0].Gap.Start })
		testkit.Equal(t, fmt.Sprint(streamed), fmt.Sprint(r.Fills), "streamed fills")
		inside := make([]bool, 4000)
		for i, e := range r.Excerpts {
			w := want.Excerpts[i]
			if !sameBits(e.Fit, w.Fit) || !sameBits(e.SD, w.SD) || e.Start != w.Start || e.End != w.End {
				t.Errorf("%s: excerpt %d has different bits than in memory", c.name, i)
			}
			if e.Model != nil || w.Model == nil || e.Features != w.Model.Params.M() || !(e.NoiseSD > 0) || e.NoiseSD != w.NoiseSD {
				t.Errorf("%s: excerpt %d: model kept %v, %d features, noise %v", c.name, i, e.Model != nil, e.Features, e.NoiseSD)
			}
			for j := e.Start; j < e.End; j++ {
				inside[j] = true
			}
		}
		for _, g := range gaps {
			clear(inside[g.Start:g.End])
		}
		testkit.Equal(t, src.read, inside, c.name)
		if !sameBits(r.Filled, want.Filled) || !sameBits(r.Draws[0], want.Draws[0]) || r.Bound != want.Bound {
			t.Errorf("%s: other fills, or another bound: %v", c.name, r.Bound)
		}
		scores := testkit.Must(r.Score(t.Context(), src, truth, nil))(t)
		if w := wholeScore(clean, want.Filled, want.Fit, want.SD, rate, gaps); scores != w {
			t.Errorf("%s: scores %+v\nwant %+v", c.name, scores, w)
		}
		if again, err := want.Score(t.Context(), src, truth, nil); err != nil || again != scores {
			t.Errorf("%s: scores of the whole's result %+v, %v", c.name, again, err)
		}
		if far := 2500; !c.all && truth.read[far] { // the recording is read as far as the fill by AR looks
			t.Errorf("%s: sample %d, far from all gaps, was read", c.name, far)
		}
	}
}

// TestAround checks that gaps are zero and not read, for all ranges.
func TestAround(t *testing.T) {
	x := [][]float64{make([]float64, 40), make([]float64, 40)}
	for i := range x[0] {
		x[0][i], x[1][i] = float64(1+i), -float64(1+i)
	}
	gaps := []Gap{{Start: 0, End: 3}, {Start: 10, End: 20}, {Start: 38, End: 40}}
	for lo := range 41 {
		for hi := lo; hi <= 40; hi++ {
			src := watch(x)
			got, err := Around(src, gaps).Read(lo, hi)
			if err != nil || len(got) != 2 || len(got[0]) != hi-lo {
				t.Fatalf("%d:%d: %d channels, %v", lo, hi, len(got), err)
			}
			for i := lo; i < hi; i++ {
				missing := i < 3 || i >= 10 && i < 20 || i >= 38
				want := x[0][i]
				if missing {
					want = 0
				}
				if got[0][i-lo] != want || got[1][i-lo] != -want || src.read[i] == missing {
					t.Fatalf("%d:%d: sample %d is %v and %v; read %v", lo, hi, i, got[0][i-lo], got[1][i-lo], src.read[i])
				}
			}
		}
	}
}

var errUnreadable = errors.New("unreadable")

// broken fails to read samples after from.
type broken struct {
	whole
	from int
}

func (b broken) Read(lo, hi int) ([][]float64, error) {
	if hi > b.from {
		return nil, errUnreadable
	}
	return b.whole.Read(lo, hi)
}

// TestSourceErrors checks that errors of a Source are wrapped.
func TestSourceErrors(t *testing.T) {
	x := tones(2000, 1, 0.01)
	src := broken{x, 1500}
	testkit.Fails(t, testkit.Error(FillFrom(t.Context(), src, 2000, rate, fiveGaps, quick())), errUnreadable, "")
	r := testkit.Must(FillFrom(context.Background(), whole(x), 2000, rate, fiveGaps, quick()))(t)
	for _, c := range [][2]Source{{src, whole(x)}, {whole(x), src}} {
		testkit.Fails(t, testkit.Error(r.Score(t.Context(), c[0], c[1], nil)), errUnreadable, "")
	}
}
