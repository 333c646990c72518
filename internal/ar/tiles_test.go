package ar

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparse is gaps of one to four samples at random, about a share of n samples.
func sparse(n int, share float64) (gaps [][2]int) {
	rng := rand.New(rand.NewPCG(8, 8))
	for at := 1; at < n-5; {
		long := 1 + rng.IntN(4)
		gaps = append(gaps, [2]int{at, at + long})
		at += long + 1 + int(rng.ExpFloat64()*float64(long)*(1-share)/share)
	}
	return gaps
}

// TestFillTiles: many gaps come back as gap by gap, known samples untouched.
func TestFillTiles(t *testing.T) {
	want := tones(2000)
	for _, share := range []float64{0.05, 0.5} {
		gaps := sparse(len(want), share)
		given := slices.Clone(want)
		for _, g := range gaps {
			clear(given[g[0]:g[1]])
		}
		tiled := slices.Clone(given)
		FillTiles(t.Context(), tiled, gaps, 16, 100, 8)
		square := 0.0
		for i, v := range tiled {
			square += (v - want[i]) * (v - want[i]) / float64(len(want))
			if given[i] == want[i] && v != want[i] {
				t.Fatalf("share %v: known sample %d went from %v to %v", share, i, want[i], v)
			}
		}
		if rms := math.Sqrt(square); !(rms < 0.05) {
			t.Errorf("share %v: the tiles are %.2g off tones of rms 0.82", share, rms)
		}
	}
}

// TestFillTilesLongGap: its ends are filled, its inside keeps what it held.
func TestFillTilesLongGap(t *testing.T) {
	x := tones(2000)
	clear(x[500:1500])
	FillTiles(t.Context(), x, [][2]int{{500, 1500}}, 32, 100, 3)
	if math.Abs(x[505]-tones(506)[505]) > 0.05 || math.Abs(x[1490]-tones(1491)[1490]) > 0.05 {
		t.Errorf("at the ends %v and %v, want about %v and %v", x[505], x[1490], tones(506)[505], tones(1491)[1490])
	}
	for i := 600; i < 1400; i++ {
		if x[i] != 0 {
			t.Fatalf("sample %d, further inside than the excerpts reach, is %v", i, x[i])
		}
	}
}

// TestFillCancelled: nothing is filled once the context has ended.
func TestFillCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for name, by := range map[string]func(context.Context, []float64, [][2]int, int, int, int){"around": FillAround, "tiles": FillTiles} {
		x := make([]float64, 1000)
		copy(x, tones(500))
		by(ctx, x, [][2]int{{500, 600}}, 16, 100, 3)
		if slices.ContainsFunc(x[500:], func(v float64) bool { return v != 0 }) {
			t.Errorf("%s: filled", name)
		}
	}
}

// TestWork: what a fill costs is counted over the excerpts that it takes; tile
// by tile it grows as the series, however much is missing.
func TestWork(t *testing.T) {
	one, largest := Work(1000, [][2]int{{500, 540}}, 32, 100, 3, false)
	if one != largest || one != 3*(6*240*32+32*32*32/3.+3*32*32+40*40*40/3.) {
		t.Errorf("one gap: %v, largest %v", one, largest)
	}
	if two, _ := Work(1000, [][2]int{{100, 140}, {500, 540}}, 32, 60, 3, false); two != 2*3*(6*160*32+32*32*32/3.+3*32*32+40*40*40/3.) {
		t.Errorf("two gaps: %v", two)
	}
	short, _ := Work(20_000, sparse(20_000, 0.7), 32, 100, 3, true)
	long, _ := Work(80_000, sparse(80_000, 0.7), 32, 100, 3, true)
	if r := long / short; r < 3.8 || r > 4.2 {
		t.Errorf("four times the series: %v times the work", r)
	}
}
