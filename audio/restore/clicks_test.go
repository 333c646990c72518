package restore

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// clicks returns gaps that contain clicks in a channel, counted from 1; 0: in all.
func clicks(channel int, runs ...[2]int) (gaps []Gap) {
	for _, r := range runs {
		gaps = append(gaps, Gap{Start: r[0], End: r[1], Channel: channel, Click: true})
	}
	return gaps
}

// noisy adds noise of the given level to the gaps of a recording, and returns the sum.
func noisy(x [][]float64, gaps []Gap, level float64) [][]float64 {
	rng, y := rand.New(rand.NewPCG(3, 3)), clone(x)
	for c, i := range missing(gaps, len(x)) {
		y[c][i] += level * rng.NormFloat64()
	}
	return y
}

// TestClicks checks fills of loud clicks: single and adjacent ones, in one and in all channels, next to missing and clipped samples, at the
// ends, and longer than package declick allows. The missing samples next to them are filled, too.
func TestClicks(t *testing.T) {
	x := tones(9000, 2, 0.001)
	gaps := slices.Concat(
		clicks(0, [2]int{0, 4}, [2]int{1000, 1001}, [2]int{1003, 1008}, [2]int{2000, 2008}, [2]int{8996, 9000}),
		clicks(1, [2]int{3000, 3005}, [2]int{3100, 3140}, [2]int{3142, 3144}, [2]int{4003, 4006}),
		clicks(2, [2]int{3002, 3008}),
		[]Gap{{Start: 4000, End: 4003, Channel: 1}, {Start: 5000, End: 5200}},
		clicks(0, [2]int{5200, 5203}, [2]int{5205, 5208}),
	)
	y := noisy(x, gaps, 0.5)
	r := mustFill(t, y, gaps, Options{Draws: 2})
	checkIntact(t, r, x, gaps)
	for f := range r.All() {
		g := f.Gap
		if g.Start == 5000 {
			continue
		}
		e := floats.Distance(f.Mean, x[f.Channel][g.Start:g.End], math.Inf(1))
		if limit := 0.01; e > limit || !(slices.Min(f.SD) > 0) || len(f.Draws) != 2 || !(f.Level > 0.05) {
			t.Errorf("%v in channel %d: error %v, standard deviations %v, level %v", g, f.Channel, e, f.SD, f.Level)
		}
	}
}

// TestFaintClicks checks that observed samples are used: clicks that are softer than the errors of a fill are filled with smaller errors
// than missing samples, and gaps that are too long are filled as missing samples.
func TestFaintClicks(t *testing.T) {
	x := tones(9000, 1, 0.01)
	var short, long []Gap
	for at := 500; at < 8500; at += 400 {
		short = append(short, clicks(0, [2]int{at, at + 6})...)
		long = append(long, clicks(0, [2]int{at, at + 17})...)
	}
	plain := func(gaps []Gap) []Gap {
		out := slices.Clone(gaps)
		for i := range out {
			out[i].Click = false
		}
		return out
	}
	y := noisy(x, short, 0.001)
	used := gapError(mustFill(t, y, short, Options{}).Filled, x, short)
	if ignored := gapError(mustFill(t, y, plain(short), Options{}).Filled, x, short); used > 0.3*ignored {
		t.Errorf("error %v of faint clicks, %v of missing samples", used, ignored)
	}
	for _, m := range []Method{Mixture, AR} {
		a, b := mustFill(t, y, long, Options{Method: m}), mustFill(t, y, plain(long), Options{Method: m})
		if !sameBits(a.Filled, b.Filled) || !sameBits(a.SD, b.SD) {
			t.Errorf("%s: long clicks differ from missing samples", m)
		}
	}
	if a, b := mustFill(t, y, short, Options{Method: AR}), mustFill(t, y, plain(short), Options{Method: AR}); !sameBits(a.Filled, b.Filled) {
		t.Error("ar: short clicks differ from missing samples")
	}
}

// TestClicksLeftToMixture checks clicks that package declick cannot restore: in silence, and with samples that are not finite.
func TestClicksLeftToMixture(t *testing.T) {
	silent := [][]float64{make([]float64, 3000)}
	silent[0][1500] = 0.3
	gap := clicks(0, [2]int{1499, 1502})
	if r := mustFill(t, silent, gap, Options{}); gapError(r.Filled, [][]float64{make([]float64, 3000)}, gap) != 0 {
		t.Errorf("a click in silence is filled with %v", r.Filled[0][1499:1502])
	}
	x := tones(3000, 1, 0.001)
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e300} {
		y := clone(x)
		y[0][1500] = v
		if e := gapError(mustFill(t, y, gap, Options{}).Filled, x, gap); !(e < 0.01) {
			t.Errorf("error %v with the sample %v", e, v)
		}
	}
}

// TestLonely checks which clicks are isolated.
func TestLonely(t *testing.T) {
	const rate, brief = 8000, 4 // samples
	for _, c := range []struct {
		every, length int
		click, want   bool
	}{
		{every: 500, length: brief, click: true}, {every: 500, length: brief + 1, click: true, want: true}, {every: 500, length: brief + 1},
		{every: 390, length: 16, click: true}, {every: 410, length: 16, click: true, want: true},
	} {
		var gaps []Gap
		for at := 100; at < 20000; at += c.every {
			gaps = append(gaps, Gap{Start: at, End: at + c.length, Click: c.click})
		}
		g := newGapFiller(&filler{res: &Result{Gaps: gaps, rate: rate, samples: 20000, channels: 1, Method: Mixture}})
		testkit.Equal(t, g.lonelyOf(g.lanes[0]), slices.Repeat([]bool{c.want}, len(gaps)), c)
	}
}

// TestLoneClicks checks that loud isolated clicks are filled as missing samples, and faint ones are not.
func TestLoneClicks(t *testing.T) {
	x := tones(9000, 1, 0.01)
	gaps := clicks(0, [2]int{2000, 2012}, [2]int{4000, 4012}, [2]int{6000, 6012})
	missing := slices.Clone(gaps)
	for i := range missing {
		missing[i].Click = false
	}
	for _, c := range []struct {
		level float64
		same  bool
	}{{0.5, true}, {0.001, false}} {
		y := noisy(x, gaps, c.level)
		a, b := mustFill(t, y, gaps, Options{}), mustFill(t, y, missing, Options{})
		testkit.Equal(t, sameBits(a.Filled, b.Filled), c.same, "clicks of level ", c.level, " are filled as missing samples")
	}
}

// TestClickGroups checks the division of clicks into groups, and the samples around a group.
func TestClickGroups(t *testing.T) {
	gaps := slices.Concat(clicks(0, [2]int{100, 102}, [2]int{150, 152}), []Gap{{Start: 170, End: 172}}, clicks(0, [2]int{260, 262}, [2]int{262, 263},
		[2]int{421, 423}), []Gap{{Start: 430, End: 447}}, clicks(0, [2]int{450, 455}), []Gap{{Start: 460, End: 470, Clipped: true}},
		clicks(0, [2]int{500, 503}))
	g := newGapFiller(&filler{res: &Result{Gaps: gaps, rate: 8000, samples: 2000, channels: 1, Method: Mixture}})
	got := g.groups(g.lanes[0])
	testkit.Equal(t, got, []group{{0, 4}, {4, 6}, {7, 10}}, "groups")
	for i, want := range [][2]int{{0, 430}, {22, 430}, {447, 743}} {
		s, ok := g.section(0, got[i])
		testkit.Equal(t, [2]int{s.lo, s.hi}, want, "section", got[i])
		testkit.Equal(t, ok, true, "samples on both sides")
	}
	straddling := slices.Concat([]Gap{{Start: 98, End: 104}}, clicks(0, [2]int{340, 342}), []Gap{{Start: 577, End: 584}})
	g = newGapFiller(&filler{res: &Result{Gaps: straddling, rate: 8000, samples: 2000, channels: 1, Method: Mixture}})
	s, _ := g.section(0, g.groups(g.lanes[0])[0])
	testkit.Equal(t, []int{s.lo, s.hi, len(s.gaps), len(s.own)}, []int{104, 577, 1, 1}, "section with gaps at the ends of the reach")
}

// TestClickBits checks that fills of clicks do not depend on the number of processors or on the order of the gaps in the list.
func TestClickBits(t *testing.T) {
	x := tones(6000, 2, 0.01)
	var gaps []Gap
	for at := 300; at < 5700; at += 130 {
		gaps = append(gaps, clicks(at%3, [2]int{at, at + 1 + at%7})...)
	}
	gaps = append(gaps, Gap{Start: 5710, End: 5800})
	y := noisy(x, gaps, 0.05)
	testkit.SameOnCores(t, "fills of clicks", func() (all []float64) {
		slices.Reverse(gaps)
		r := mustFill(t, y, gaps, Options{Draws: 1})
		for f := range r.All() {
			all = slices.Concat(all, f.Mean, f.SD, f.Draws[0])
		}
		return all
	})
}

// TestAroundKeepsClicks checks that a Source around gaps has the samples of clicks.
func TestAroundKeepsClicks(t *testing.T) {
	x := tones(100, 1, 0)
	got := testkit.Must(Around(audio.Samples(x), clicks(0, [2]int{10, 20})).Read(0, 100))(t)
	testkit.Equal(t, got, x, "samples")
}

// TestClicksOfOtherChannel checks that clicks of one channel use the other if it is intact there and predicts the channel, also of two equal
// channels, and that missing samples of the other channel at or near a click prevent this.
func TestClicksOfOtherChannel(t *testing.T) {
	const n = 6000
	x := make([][]float64, 4) // 1 is nearly a copy of 0, 2 is a copy of 0, 3 is independent
	for c := range x {
		rng := rand.New(rand.NewPCG(uint64(c), 8))
		for i := range n {
			v := 0.1 * rng.NormFloat64()
			if c == 1 {
				v = 0.9*x[0][i] + 0.0003*rng.NormFloat64()
			} else if c == 2 {
				v = x[0][i]
			}
			x[c] = append(x[c], v)
		}
	}
	click := clicks(1, [2]int{2000, 2006}, [2]int{3000, 3003}, [2]int{3040, 3045})
	near := []Gap{{Start: 2004, End: 2008, Channel: 2}, {Start: 3005, End: 3010, Channel: 2}, {Start: 3030, End: 3100, Channel: 2}}
	for _, c := range []struct {
		name   string
		other  int
		gaps   []Gap
		joint  int
		errors float64
	}{
		{"nearly a copy", 1, click, 3, 0.002}, {"a copy", 2, click, 3, 1e-6}, {"independent", 3, click, 0, 0.3},
		{"missing in both", 1, slices.Concat(click, near), 0, 0.3},
		{"clicks in both", 1, clicks(0, [2]int{2000, 2006}, [2]int{3000, 3003}), 0, 0.3},
	} {
		clean := [][]float64{x[0], x[c.other]}
		y := noisy(clean, c.gaps, 0.5)
		r := mustFill(t, y, c.gaps, Options{Draws: 1})
		if e := gapError(r.Filled, clean, c.gaps); r.Joint() != c.joint || e > c.errors {
			t.Errorf("%s: %d clicks use the other channel, want %d; error %v, want %v at most", c.name, r.Joint(), c.joint, e, c.errors)
		}
		for f := range r.All() {
			for i, m := range f.Mean {
				if truth := clean[f.Channel][f.Gap.Start+i]; math.Abs(m-truth) > 5*f.SD[i]+1e-9 || math.Abs(f.Draws[0][i]-m) > 5*f.SD[i] {
					t.Errorf("%s: %v: %v ± %v, want %v; draw %v", c.name, f.Gap, m, f.SD[i], truth, f.Draws[0][i])
				}
			}
		}
	}
}
