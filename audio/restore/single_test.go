package restore

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestLongGapDraws checks that the draws of a long gap are filled from both sides independently, with shares that add up to 1.
func TestLongGapDraws(t *testing.T) {
	const n, gap = 4000, 2000
	x := tones(n, 1, 0.01)[0]
	for i := range x {
		x[i] = x[max(i, n-1-i)] // so that the draws of both sides would be each other's mirror image
	}
	r := mustFill(t, [][]float64{x}, []Gap{{Start: (n - gap) / 2, End: (n + gap) / 2}}, Options{Draws: 1})
	mirrored := 0
	for i := (n - gap) / 2; i < n/2; i++ {
		if math.Abs(r.Filled[0][i]-r.Filled[0][n-1-i]) > 1e-9 {
			t.Fatalf("sample %d: %v, on the other side %v", i, r.Filled[0][i], r.Filled[0][n-1-i])
		}
		if math.Abs(r.Draws[0][0][i]-r.Draws[0][0][n-1-i]) < 1e-9 {
			mirrored++
		}
	}
	if mirrored > 0 {
		t.Errorf("%d samples of a draw are the same on both sides", mirrored)
	}
	for _, i := range []int{0, 7, 99} {
		if sum := crossfade(i, 100, true) + crossfade(i, 100, false); math.Abs(sum-1) > 1e-12 {
			t.Errorf("sample %d: the shares of both sides add up to %v", i, sum)
		}
	}
}

// TestLevel checks that the level around a gap is the rms of what is known on both sides, without other gaps.
func TestLevel(t *testing.T) {
	z := slices.Concat([]float64{9, 9, 1, 1}, make([]float64, 5), []float64{3, 8, 8, 3, 9, 9})
	if got := level(z, [][2]int{{4, 9}, {10, 12}}, 0, 2); got != math.Sqrt(11.0/3) { // of 1, 1 and 3
		t.Errorf("level %v, want the root of 11/3", got)
	}
	testkit.Equal(t, level(z, [][2]int{{4, 9}, {10, 12}}, 0, 4), math.Sqrt((81+81+1+1+9+9)/6.0), "level")
}

// TestDoubtWithoutTrials checks that a fill is doubted if the recording leaves no space for trial gaps, however sure it is.
func TestDoubtWithoutTrials(t *testing.T) {
	for n, want := range map[int]int{700: 1, 6000: 0} {
		x := tones(n, 1, 0.0001)
		if r := mustFill(t, x, []Gap{{Start: n / 2, End: n/2 + 10}}, Options{}); len(r.Doubts) != want {
			t.Errorf("a gap in %d samples: doubts %+v, want %d", n, r.Doubts, want)
		}
	}
}

// TestOtherGapsGuessed checks that the fill of a gap sees a first fill in the gaps around, and not what they hold.
func TestOtherGapsGuessed(t *testing.T) {
	clean, gaps := tones(6000, 1, 0.001), []Gap{{Start: 3000, End: 3040}, {Start: 3300, End: 3400}}
	f := &filler{ctx: t.Context(), src: Around(whole(clean), gaps), res: &Result{gaps: gaps, rate: rate, samples: 6000, channels: 1}}
	g := newGapFiller(f, Mixture)
	testkit.OK(t, g.guessFor(0, 2))
	v := testkit.Must(g.view(0, 1000))(t)
	if e := gapError([][]float64{v.z[0][1000:]}, [][]float64{clean[0][3000:]}, []Gap{{Start: 300, End: 400}}); e > 0.02 {
		t.Errorf("the other gap holds what is off by %v, in tones of rms 0.08", e)
	}
}

// TestDoubtPercent checks that a doubt names the expected error, the rms of the standard deviations, in percent of the level.
func TestDoubtPercent(t *testing.T) {
	s := &single{sd: []float64{1, 1.8}, level: 2, trials: 1}
	if d := s.doubts(Gap{End: 2}, 0, 100); len(d) != 1 || !strings.Contains(d[0].Reason, "73 %") {
		t.Errorf("doubts %+v, want one of 73 %%", d)
	}
}
