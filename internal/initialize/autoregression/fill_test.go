package autoregression

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparse returns random gaps of one to four samples that cover about a share of n samples.
func sparse(n int, share float64) (gaps [][2]int) {
	rng := rand.New(rand.NewPCG(8, 8))
	for at := 1; at < n-5; {
		long := 1 + rng.IntN(4)
		gaps = append(gaps, [2]int{at, at + long})
		at += long + 1 + int(rng.ExpFloat64()*float64(long)*(1-share)/share)
	}
	return gaps
}

// TestFillTiles checks the error of a tiled fill of many gaps, and that known samples are unchanged.
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

// TestFillTilesLongGap checks that only the ends of a long gap are filled.
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

// TestFillCanceled checks that a canceled context prevents the fill.
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

// TestWorkIsProportionalToLength checks the operation counts for excerpts and tiles, and that the work of tiles is proportional to the length.
func TestWorkIsProportionalToLength(t *testing.T) {
	round := func(n, missing, order float64) float64 {
		return 6*n*order + order*order*order/3 + 3*order*order + missing*missing*missing/3
	}
	for _, c := range []struct {
		name         string
		fill         Filling
		n            int
		gaps         [][2]int
		all, largest float64
	}{
		{"one gap", Filling{32, 100, 3, false}, 1000, [][2]int{{500, 540}}, 3 * round(240, 40, 32), 3 * round(240, 40, 32)},
		{"two gaps", Filling{32, 60, 3, false}, 1000, [][2]int{{100, 140}, {500, 540}}, 6 * round(160, 40, 32), 3 * round(160, 40, 32)},
		{"a gap over two tiles", Filling{32, 100, 3, true}, 400, [][2]int{{150, 250}}, 6 * round(300, 100, 32), 3 * round(300, 100, 32)},
		{"over three tiles", Filling{32, 100, 3, true}, 400, [][2]int{{150, 350}},
			3*roundWork(300, 150, 32) + 3*roundWork(300, 200, 32) + 3*roundWork(200, 150, 25), 3 * roundWork(300, 200, 32)},
		{"order limited by known samples", Filling{32, 100, 1, false}, 40, [][2]int{{10, 30}}, round(40, 20, 10), round(40, 20, 10)},
	} {
		if all, largest := c.fill.Work(c.n, c.gaps); math.Abs(all-c.all) > 1e-12*all || math.Abs(largest-c.largest) > 1e-12*largest {
			t.Errorf("%s: %v, largest %v; want %v, %v", c.name, all, largest, c.all, c.largest)
		}
	}
	short, _ := Filling{32, 100, 3, true}.Work(20_000, sparse(20_000, 0.7))
	long, _ := Filling{32, 100, 3, true}.Work(80_000, sparse(80_000, 0.7))
	if r := long / short; r < 3.8 || r > 4.2 {
		t.Errorf("four times the series: %v times the work", r)
	}
}

// TestJobsShareExcerpts checks excerpts and kept ranges. Gaps with the same excerpt share a job; tiles without missing samples have no job.
func TestJobsShareExcerpts(t *testing.T) {
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

// TestMissingIn checks that GapsIn clips gaps and shifts them to the start of the excerpt.
func TestMissingIn(t *testing.T) {
	gaps := [][2]int{{10, 12}, {20, 22}, {30, 32}, {40, 42}}
	for _, c := range []struct {
		cut  [2]int
		want []int
	}{
		{[2]int{15, 27}, []int{5, 6}}, {[2]int{12, 30}, []int{8, 9}}, {[2]int{11, 31}, []int{0, 9, 10, 19}},
		{[2]int{0, 50}, []int{10, 11, 20, 21, 30, 31, 40, 41}}, {[2]int{31, 50}, []int{0, 9, 10}},
	} {
		if got := Positions(GapsIn(gaps, c.cut[0], c.cut[1])); !slices.Equal(got, c.want) {
			t.Errorf("in %v: %v, want %v", c.cut, got, c.want)
		}
	}
}

// TestFillsSinusoidsExactly checks the error of fills of sinusoids, that known samples are unchanged, and that values in gaps are ignored.
func TestFillsSinusoidsExactly(t *testing.T) {
	for _, c := range []struct {
		name    string
		order   int
		missing []int
		rounds  int
		within  float64 // share of the tones' rms
	}{
		{"one gap", 32, indices(500, 520), 8, 1e-10},
		{"several", 32, indices(100, 110, 300, 330, 700, 705), 8, 1e-3},
		{"single samples", 32, indices(100, 101, 103, 104, 500, 501), 8, 1e-3},
		{"at both ends", 32, indices(0, 5, 995, 1000), 8, 1e-2},
		{"higher order", 100, indices(500, 540), 8, 1e-3},
		{"one round", 32, indices(500, 520), 1, 1e-3},
	} {
		want := tones(1000)
		x, y := slices.Clone(want), slices.Clone(want)
		power, square := 0.0, 0.0
		for _, i := range c.missing {
			x[i], y[i] = 1e6, math.NaN()
		}
		if !fill(context.Background(), x, c.missing, c.order, c.rounds) || !fill(context.Background(), y, c.missing, c.order, c.rounds) {
			t.Errorf("%s: not filled", c.name)
		}
		if !slices.Equal(x, y) {
			t.Errorf("%s: the fill depends on the values in the gaps", c.name)
		}
		for i, v := range want {
			power += v * v / 1000
			if d := x[i] - v; slices.Contains(c.missing, i) {
				square += d * d
			} else if d != 0 {
				t.Fatalf("%s: known sample %d went from %v to %v", c.name, i, v, x[i])
			}
		}
		if share := math.Sqrt(square / float64(len(c.missing)) / power); !(share < c.within) {
			t.Errorf("%s: the fill is %.2g of the tones' rms off, want below %g", c.name, share, c.within)
		}
	}
}

// TestFillDegenerateData checks that Fill leaves the series unchanged and returns false if there are too few samples, and fills
// silence with silence.
func TestFillDegenerateData(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       []float64
		missing []int
		order   int
		want    []float64
		ok      bool
	}{
		{"nothing known", []float64{1, 2, 3}, indices(0, 3), 1, []float64{1, 2, 3}, false},
		{"too short", []float64{1, 5, 3}, indices(1, 3), 4, []float64{1, 5, 3}, false},
		{"no order", []float64{1, 5, 3}, indices(1, 2), 0, []float64{1, 5, 3}, false},
		{"empty", nil, nil, 3, nil, false},
		{"nothing missing", []float64{1, 5, 3}, nil, 1, []float64{1, 5, 3}, true},
		{"silence", []float64{0, 0, 7, 0, 0}, indices(2, 3), 2, []float64{0, 0, 0, 0, 0}, true},
	} {
		if ok := fill(context.Background(), c.x, c.missing, c.order, 3); ok != c.ok || !slices.Equal(c.x, c.want) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, ok, c.x, c.ok, c.want)
		}
	}
}

// indices returns the indices in [start, end) for each pair.
func indices(at ...int) (missing []int) {
	for i := 0; i < len(at); i += 2 {
		for j := at[i]; j < at[i+1]; j++ {
			missing = append(missing, j)
		}
	}
	return missing
}
