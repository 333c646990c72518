package restore

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestChannels checks, for all methods, that a gap of one channel does not change other channels, in the fill and in draws, even if
// gaps overlap in time.
func TestChannels(t *testing.T) {
	clean := tones(6000, 3, 0.005)
	gaps := []Gap{
		{Start: 1000, End: 1040, Channel: 1}, {Start: 1020, End: 1100, Channel: 2}, {Start: 3000, End: 3020},
		{Start: 3020, End: 3030, Channel: 3}, {Start: 4000, End: 4020, Channel: 2},
	}
	slow := quick()
	slow.Draws = 1
	for _, o := range []Options{{Draws: 1}, {Draws: 1, Method: AR}, slow} {
		cut := damage(clean, gaps, 1e6)
		r := mustFill(t, cut, gaps, o)
		checkIntact(t, r, clean, gaps)
		for c, i := range missing(gaps, len(clean)) {
			if v := clean[c][i]; math.Abs(r.Filled[c][i]-v) > 0.2 || !(r.SD[c][i] > 0) {
				t.Fatalf("%s: channel %d sample %d is %v ± %v, was %v", r.Method, c+1, i, r.Filled[c][i], r.SD[c][i], v)
			}
		}
		s := wholeScore(clean, r.Filled, r.Fit, r.SD, rate, gaps)
		if !(s.Fill.TestRMSE < 0.1) || !(s.Coverage95 > 0.5) {
			t.Errorf("%s: scores %+v", r.Method, s)
		}
		if o.Method == AR {
			if alone := mustFill(t, cut[1:2], []Gap{{Start: 1020, End: 1100}, {Start: 3000, End: 3020}, {Start: 4000, End: 4020}}, o); !sameBits(alone.Filled, r.Filled[1:2]) {
				t.Error("a channel is filled differently without the other channel")
			}
		}
	}
}

// TestClipped checks that clipped samples are restored beyond their limits and closer to the original, that other gaps near them are
// filled, and that results do not depend on the number of processors.
func TestClipped(t *testing.T) {
	clean := voice(t, 6000, 22_000)
	level := 0.4 * slices.Max(clean)
	y, gaps := clippedPeaks(clean, level, 0, len(clean))
	x := [][]float64{slices.Clone(clean), y}
	for i := range gaps {
		gaps[i].Channel = 2
	}
	plain := Gap{Start: 100, End: 130, Channel: 2}
	gaps = append(gaps, plain)
	f := mustFill(t, x, gaps, Options{Draws: 1})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := mustFill(t, x, gaps, Options{Draws: 1})
	if !sameBits(f.Filled, one.Filled) || !sameBits(f.SD, one.SD) || !sameBits(f.Draws[0], one.Draws[0]) {
		t.Error("different bits on one core")
	}
	before, after := 0.0, 0.0
	for _, g := range gaps {
		for i := g.Start; i < g.End && g.Clipped; i++ {
			before += (x[1][i] - clean[i]) * (x[1][i] - clean[i])
			after += (f.Filled[1][i] - clean[i]) * (f.Filled[1][i] - clean[i])
			for _, v := range []float64{f.Filled[1][i], f.Draws[0][1][i]} {
				if v*math.Copysign(1, x[1][i]) < level {
					t.Fatalf("sample %d became %v within its limit %v", i, v, x[1][i])
				}
			}
		}
	}
	if gain := 10 * math.Log10(before/after); gain < 6 {
		t.Errorf("the restored samples are %.1f dB nearer, want 6 at least", gain)
	}
	if !slices.Equal(f.Filled[0], clean) || slices.Max(f.SD[0]) > 0 {
		t.Error("the other channel changed")
	}
}

// clippedPeaks clips the peaks of x that begin in [lo, hi), and returns the gaps.
func clippedPeaks(x []float64, level float64, lo, hi int) (y []float64, gaps []Gap) {
	y = slices.Clone(x)
	for i := lo; i < hi; i++ {
		if y[i] = max(-level, min(level, x[i])); y[i] == x[i] {
			continue
		}
		if k := len(gaps) - 1; k >= 0 && gaps[k].End == i {
			gaps[k].End++
		} else {
			gaps = append(gaps, Gap{Start: i, End: i + 1, Clipped: true})
		}
	}
	return y, gaps
}

// TestClippedTiles checks that clipped samples at the beginning of a tile are restored using the samples before it.
func TestClippedTiles(t *testing.T) {
	const low, tile = 1000, 5000 // Hz, samples
	clean := tones(tile+60, 1, 0.002)[0]
	restored := func(from int) (values []float64) {
		y, gaps := clippedPeaks(clean[from:], 0.09, tile-from, tile+30-from)
		r, err := Fill(t.Context(), [][]float64{y}, low, gaps, Options{})
		if err != nil || len(gaps) == 0 {
			t.Fatal(len(gaps), err)
		}
		return r.Apply([][]float64{y}, -1)[0][tile-from:]
	}
	elsewhere := restored(300)
	for i, v := range restored(0) {
		testkit.Near(t, v, elsewhere[i], 1e-6, "sample ", tile+i)
	}
}

// TestClippedNextToGap checks that clipped samples next to another gap are restored without the zeros in that gap.
func TestClippedNextToGap(t *testing.T) {
	clean := tones(2000, 1, 0.002)[0]
	y, gaps := clippedPeaks(clean, 0.09, 1000, 1050)
	errorOf := func(others ...Gap) (sum float64) {
		r := mustFill(t, [][]float64{y}, slices.Concat(others, gaps), Options{})
		for _, g := range gaps {
			for i := g.Start; i < g.End; i++ {
				sum += math.Abs(r.Filled[0][i] - clean[i])
			}
		}
		return sum
	}
	if with, without := errorOf(Gap{Start: gaps[0].Start - 60, End: gaps[0].Start}), errorOf(); with > 3*without {
		t.Errorf("the error is %v next to a gap and %v without it", with, without)
	}
}

// TestClippedDraws checks that the draws of two channels with the same samples are independent.
func TestClippedDraws(t *testing.T) {
	y, gaps := clippedPeaks(tones(1000, 1, 0.02)[0], 0.09, 300, 700)
	r := mustFill(t, [][]float64{y, y}, gaps, Options{Draws: 1})
	if !slices.Equal(r.Filled[0], r.Filled[1]) || slices.Equal(r.Draws[0][0], r.Draws[0][1]) {
		t.Error("two channels with the same samples have different means or equal draws")
	}
}

// TestClippedLevel checks that Level of each clipped gap is the level of the surrounding samples.
func TestClippedLevel(t *testing.T) {
	x := tones(8000, 1, 0.002)[0]
	for i := range x[:4000] {
		x[i] *= 0.1
	}
	_, gaps := clippedPeaks(x, 0.009, 1000, 1100)
	y, loud := clippedPeaks(x, 0.09, 6000, 6100)
	gaps = append(gaps, loud...)
	r := testkit.Must(FillFrom(t.Context(), whole{y}, len(y), rate, gaps, Options{}))(t)
	first, last := r.Fills[0][0], r.Fills[len(r.Fills)-1][0]
	if !(last.Level > 5*first.Level) || !(first.Level > 0) {
		t.Errorf("levels %v and %v, want a ratio of ten", first.Level, last.Level)
	}
}
