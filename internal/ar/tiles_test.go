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
		Filling{16, 100, 8, true}.Fill(t.Context(), tiled, gaps)
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
	Filling{32, 100, 3, true}.Fill(t.Context(), x, [][2]int{{500, 1500}})
	if math.Abs(x[505]-tones(506)[505]) > 0.05 || math.Abs(x[1490]-tones(1491)[1490]) > 0.05 {
		t.Errorf("at the ends %v and %v, want about %v and %v", x[505], x[1490], tones(506)[505], tones(1491)[1490])
	}
	for i := 600; i < 1400; i++ {
		if x[i] != 0 {
			t.Fatalf("sample %d, further inside than the excerpts reach, is %v", i, x[i])
		}
	}
}

// TestFillCanceled: nothing is filled once the context has ended.
func TestFillCanceled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, tiled := range []bool{false, true} {
		x := make([]float64, 1000)
		copy(x, tones(500))
		Filling{16, 100, 3, tiled}.Fill(ctx, x, [][2]int{{500, 600}})
		if slices.ContainsFunc(x[500:], func(v float64) bool { return v != 0 }) {
			t.Errorf("tiled %v: filled", tiled)
		}
	}
}

// TestWork: what a fill costs is counted over the excerpts that it takes; tile
// by tile it grows as the series, however much is missing.
func TestWork(t *testing.T) {
	one, largest := Filling{32, 100, 3, false}.Work(1000, [][2]int{{500, 540}})
	if one != largest || one != 3*(6*240*32+32*32*32/3.+3*32*32+40*40*40/3.) {
		t.Errorf("one gap: %v, largest %v", one, largest)
	}
	if two, _ := (Filling{32, 60, 3, false}).Work(1000, [][2]int{{100, 140}, {500, 540}}); two != 2*3*(6*160*32+32*32*32/3.+3*32*32+40*40*40/3.) {
		t.Errorf("two gaps: %v", two)
	}
	short, _ := Filling{32, 100, 3, true}.Work(20_000, sparse(20_000, 0.7))
	long, _ := Filling{32, 100, 3, true}.Work(80_000, sparse(80_000, 0.7))
	if r := long / short; r < 3.8 || r > 4.2 {
		t.Errorf("four times the series: %v times the work", r)
	}
}

// TestJobs: what is solved together, and what each solution is kept for. Gaps of
// one excerpt share it; tiles in which nothing is missing have none, those at the
// edge of a gap among them.
func TestJobs(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []job
		want []job
	}{
		{"apart", Filling{Reach: 50}.jobs(1000, [][2]int{{100, 110}, {600, 610}}), []job{{[2]int{50, 160}, [2]int{100, 110}}, {[2]int{550, 660}, [2]int{600, 610}}}},
		{"of one excerpt", Filling{Reach: 200}.jobs(100, [][2]int{{10, 12}, {50, 52}, {70, 75}}), []job{{[2]int{0, 100}, [2]int{10, 75}}}},
		{"tiles", Filling{Reach: 100, Tiled: true}.jobs(450, [][2]int{{0, 100}, {200, 210}, {420, 430}}), []job{
			{[2]int{0, 200}, [2]int{0, 100}}, {[2]int{100, 400}, [2]int{200, 300}}, {[2]int{300, 450}, [2]int{400, 450}},
		}},
		{"a gap over tiles", Filling{Reach: 100, Tiled: true}.jobs(400, [][2]int{{150, 250}}), []job{{[2]int{0, 300}, [2]int{100, 200}}, {[2]int{100, 400}, [2]int{200, 300}}}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestWorkOfTiles: of a gap longer than its tiles each counts what its own excerpt
// misses.
func TestWorkOfTiles(t *testing.T) {
	// Excerpts of [0, 300) and [100, 400), each of which misses 100 samples.
	if all, largest := (Filling{32, 100, 3, true}).Work(400, [][2]int{{150, 250}}); all != 2*largest || largest != 3*(6*300*32+32*32*32/3.+3*32*32+100*100*100/3.) {
		t.Errorf("a gap over two tiles: %v, largest %v", all, largest)
	}
	// A longer one: of [0, 300), [100, 400) and [200, 400) it is 150, 200 and 150 samples.
	want := 3*roundWork(300, 150, 32) + 3*roundWork(300, 200, 32) + 3*roundWork(200, 150, 25)
	if all, _ := (Filling{32, 100, 3, true}).Work(400, [][2]int{{150, 350}}); all != want {
		t.Errorf("a gap over three tiles: %v, want %v", all, want)
	}
	// An order of which only half of what is known bears: of 40 samples that know 20, 10.
	if one, _ := (Filling{32, 100, 1, false}).Work(40, [][2]int{{10, 30}}); one != 6*40*10+10*10*10/3.+3*10*10+20*20*20/3. {
		t.Errorf("a short series: %v", one)
	}
}

// TestMissingIn: the gaps that an excerpt cuts, counted from its start.
func TestMissingIn(t *testing.T) {
	gaps := [][2]int{{10, 12}, {20, 22}, {30, 32}, {40, 42}}
	for _, c := range []struct {
		cut  [2]int
		want []int
	}{
		{[2]int{15, 27}, []int{5, 6}}, {[2]int{12, 30}, []int{8, 9}}, {[2]int{11, 31}, []int{0, 9, 10, 19}},
		{[2]int{0, 50}, []int{10, 11, 20, 21, 30, 31, 40, 41}}, {[2]int{31, 50}, []int{0, 9, 10}},
	} {
		if got := missingIn(gaps, c.cut); !slices.Equal(got, c.want) {
			t.Errorf("in %v: %v, want %v", c.cut, got, c.want)
		}
	}
}
