package detect

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit/slow"

	"github.com/vssgp/vssgp/internal/testkit"
)

// gone returns a detection of a kind in a channel, counted from 1; 0 means all channels.
func gone(start, end, channel int, kind Kind) Found {
	return Found{Gap: audio.Gap{Start: start, End: end, Channel: channel, Click: kind == Clicks}, Kind: kind}
}

func TestTouchingDetectionsAreMerged(t *testing.T) {
	clipped := gone(4, 6, 1, Clipped)
	clipped.Clipped, clipped.LogOdds = true, 5
	click := func(start, end int, logOdds float64) Found {
		f := gone(start, end, 1, Clicks)
		f.LogOdds = logOdds
		return f
	}
	for _, c := range []struct {
		name      string
		all, want []Found
	}{
		{"nothing", nil, nil},
		{"touching", []Found{gone(5, 9, 1, Zeros), gone(1, 5, 1, Dropouts)}, []Found{gone(1, 5, 1, Dropouts), gone(5, 9, 1, Zeros)}},
		{"overlapping", []Found{gone(1, 5, 1, Dropouts), gone(4, 9, 1, Zeros)}, []Found{gone(1, 9, 1, Zeros)}},
		{"within", []Found{gone(1, 9, 1, Zeros), gone(4, 5, 1, Dropouts)}, []Found{gone(1, 9, 1, Zeros)}},
		{"partly clipped", []Found{gone(1, 5, 1, Zeros), clipped}, []Found{gone(1, 6, 1, Zeros)}},
		{"edges", []Found{gone(1, 5, 1, Zeros), gone(5, 7, 1, Clicks), gone(8, 9, 1, Clicks), gone(9, 12, 1, Dropouts), gone(14, 15, 1, Clicks)},
			[]Found{gone(1, 5, 1, Zeros), gone(9, 12, 1, Dropouts), gone(14, 15, 1, Clicks)}},
		{"improbable clicks at clipped samples", []Found{click(1, 5, -3), clipped, click(5, 9, 4), click(6, 8, -3)},
			[]Found{clipped, click(6, 8, -3)}},
		{"a click that reaches into clipped samples", []Found{click(1, 5, 20), clipped}, []Found{click(1, 6, 20)}},
		{"a click at full scale", []Found{click(3, 9, 20), clipped}, []Found{click(3, 9, 20)}},
		{"edge after a nested one", []Found{gone(1, 20, 1, Zeros), gone(3, 6, 1, Zeros), gone(20, 22, 1, Clicks),
			gone(24, 25, 1, Clicks)}, []Found{gone(1, 20, 1, Zeros), gone(24, 25, 1, Clicks)}},
	} {
		kinds := []Kind{Zeros, Dropouts, Clicks, Clipped}
		testkit.Equal(t, apart(c.all, kinds), c.want, c.name)
	}
}

// TestFromLabelInvertsLabel checks that FromLabel inverts Label up to the rounding of the confidence, and that other texts become kinds.
func TestFromLabelInvertsLabel(t *testing.T) {
	g := audio.Gap{Start: 1, End: 5}
	for _, c := range []struct {
		f    Found
		text string
		odds float64
	}{
		{Found{g, Clicks, math.Log(97. / 3)}, "clicks 97%", math.Log(97. / 3)}, {Found{g, Zeros, 400}, "zeros 100%", math.Log(999)},
		{Found{g, "a pop", 0}, "a pop", 0}, {Found{g, "clicks 101%", 0}, "clicks 101%", 0}, {Found{g, Clipped, 0}, "clipped", 0},
	} {
		testkit.Equal(t, c.f.Label(), audio.Label{Gap: g, Text: c.text}, c.text)
		c.f.LogOdds = c.odds
		got := FromLabel(audio.Label{Gap: g, Text: c.text})
		testkit.Near(t, got.LogOdds, c.odds, 1e-9, c.text)
		got.LogOdds = c.odds
		testkit.Equal(t, got, c.f, c.text)
	}
}

func TestTogether(t *testing.T) {
	for _, c := range []struct {
		name  string
		lanes [][]Found
		want  []Found
	}{
		{"mono", [][]Found{{gone(1, 5, 1, Zeros)}}, []Found{gone(1, 5, 0, Zeros)}},
		{"both", [][]Found{{gone(1, 5, 1, Zeros)}, {gone(1, 5, 2, Zeros)}}, []Found{gone(1, 5, 0, Zeros)}},
		{"one", [][]Found{{gone(3, 5, 1, Zeros)}, {gone(1, 2, 2, Zeros)}}, []Found{gone(1, 2, 2, Zeros), gone(3, 5, 1, Zeros)}},
		{"other odds", [][]Found{{{gone(1, 5, 1, Clicks).Gap, Clicks, 20}}, {{gone(1, 5, 2, Clicks).Gap, Clicks, 8}}},
			[]Found{{gone(1, 5, 0, Clicks).Gap, Clicks, 20}}},
		{"other ends", [][]Found{{gone(1, 5, 1, Zeros)}, {gone(1, 6, 2, Zeros)}}, []Found{gone(1, 5, 1, Zeros), gone(1, 6, 2, Zeros)}},
		{"other kinds", [][]Found{{gone(1, 5, 1, Zeros)}, {gone(1, 5, 2, Clipped)}}, []Found{gone(1, 5, 2, Clipped), gone(1, 5, 1, Zeros)}},
	} {
		testkit.Equal(t, together(c.lanes), c.want, c.name)
	}
}

// TestFindKinds checks that a run of zeros, which is also a dropout, has the kind that is requested first.
func TestFindKinds(t *testing.T) {
	x := voice(16000, 3)
	clear(x[9000:9320])
	for _, kinds := range [][]Kind{{Zeros, Dropouts}, {Dropouts, Zeros}} {
		got, err := Find(context.Background(), inMemory{x}, len(x), testRate, Options{Kinds: kinds, Step: step})
		if err != nil || len(got) != 1 || got[0].Gap != (audio.Gap{Start: 9000, End: 9320}) || got[0].Kind != kinds[0] || !(got[0].Confidence() > 0.99) {
			t.Errorf("%v: %+v, %v; want samples 9000 to 9320", kinds, got, err)
		}
	}
}

func TestFindMistakes(t *testing.T) {
	x := inMemory{make([]float64, 100)}
	for _, c := range []struct {
		name    string
		src     audio.Source
		n, rate int
		o       Options
		want    error
	}{
		{"nil", nil, 100, 8000, Options{}, audio.ErrArgument},
		{"no samples", x, 0, 8000, Options{}, audio.ErrArgument},
		{"no rate", x, 100, 0, Options{}, audio.ErrArgument},
		{"too sensitive", x, 100, 8000, Options{Sensitivity: 10.1}, audio.ErrArgument},
		{"less than insensitive", x, 100, 8000, Options{Sensitivity: -1}, audio.ErrArgument},
		{"sensitivity without a number", x, 100, 8000, Options{Sensitivity: math.NaN()}, audio.ErrArgument},
		{"no such kind", x, 100, 8000, Options{Kinds: []Kind{"hum"}}, audio.ErrArgument},
		{"no kinds", x, 100, 8000, Options{}, nil},
	} {
		if found, err := Find(context.Background(), c.src, c.n, c.rate, c.o); !errors.Is(err, c.want) || found != nil {
			t.Errorf("%s: %v, %v; want %v", c.name, found, err, c.want)
		}
	}
}

// TestChooseDropouts checks that the flattest of overlapping dropouts is kept and, among equally flat ones, the longest.
func TestChooseDropouts(t *testing.T) {
	all := []candidate{{lo: 20, hi: 30, logOdds: 1, width: 0}, {lo: 10, hi: 40, logOdds: 1, width: 1}, {lo: 50, hi: 60, logOdds: 1, width: 1}, {lo: 50, hi: 80, logOdds: 1, width: 1}, {lo: 55, hi: 85, logOdds: 1, width: 1}, {lo: 80, hi: 90, logOdds: 1, width: 2}}
	want := []candidate{{lo: 20, hi: 30, logOdds: 1, width: 0}, {lo: 50, hi: 80, logOdds: 1, width: 1}, {lo: 80, hi: 90, logOdds: 1, width: 2}}
	testkit.Equal(t, (&dropoutDetector{}).choose(all), want)
}

// TestDropoutInSilence checks that zeros in noise of a few quantization steps are not a dropout, because undamaged silence contains them.
func TestDropoutInSilence(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for level, want := range map[float64]int{1: 0, 2: 0, 20: 1} {
		x := quantized(8000, func(int) float64 { return step * level * max(-2, min(2, rng.NormFloat64())) })
		clear(x[4000:4100])
		if found := find(t, testRate, Dropouts, x); len(found) != want {
			t.Errorf("noise of %v steps: %+v, want %d", level, found, want)
		}
	}
}

// TestFindTiles checks that the result does not depend on the tiles or on the number of cores.
func TestFindTiles(t *testing.T) {
	clicks, _ := clicked(voice(slow.Pick(64000, 8000), 1), testRate, 500, 1, 40, 15, 6)
	defer func(n, cores int) { tileSamples = n; runtime.GOMAXPROCS(cores) }(tileSamples, runtime.GOMAXPROCS(1))
	for kind, x := range map[Kind][]float64{Clicks: clicks, Dropouts: stopped(voice(64000, 1), randomGaps(1600), true, 1)} {
		want := find(t, testRate, kind, x)
		for _, tileSamples = range []int{997, 4096, 64000} {
			if got := find(t, testRate, kind, x); !slices.Equal(got, want) || len(got) == 0 {
				t.Errorf("%s in tiles of %d: %v, want %v", kind, tileSamples, got, want)
			}
			runtime.GOMAXPROCS(4)
		}
	}
}

// TestSensitivity checks that a higher sensitivity finds nearly all that a lower one finds, and that the highest finds more than the
// lowest.
func TestSensitivity(t *testing.T) {
	clicks, _ := clicked(voice(slow.Pick(64000, 16000), 1), testRate, 1000, 1, 40, 8, 7)
	for kind, x := range map[Kind][]float64{Clicks: clicks, Dropouts: stopped(quiet(voice(64000, 1), 0.02), randomGaps(160), false, 1)} {
		var before []Found
		least := len(findAt(t, 0.1, testRate, kind, x))
		for _, s := range slow.Pick([]float64{1, 3, 5, 7, 9, 10}, []float64{1, 5, 10}) {
			found := findAt(t, s, testRate, kind, x)
			if kept, _, _ := matched(found, gapsOf(before)); len(found) < len(before) || 20*kept < 19*len(before) {
				t.Errorf("%s at sensitivity %v: %d found, %d of the %d at a lower one", kind, s, len(found), kept, len(before))
			}
			before = found
		}
		if len(before) <= least {
			t.Errorf("%s: %d found at the lowest sensitivity, %d at the highest", kind, least, len(before))
		}
	}
}

// gapsOf returns the gaps of detections.
func gapsOf(found []Found) (gaps []audio.Gap) {
	for _, f := range found {
		gaps = append(gaps, f.Gap)
	}
	return gaps
}

// TestChannels checks that damage of one channel is found only in this channel, and damage of both channels in both.
func TestChannels(t *testing.T) {
	left, right := hum(32000), hum(32000)
	left[9000] += 0.3
	left[20000] -= 0.3
	right[20000] -= 0.3
	clicks := find(t, testRate, Clicks, left, right)
	left, right = voice(32000, 3), voice(32000, 4)
	clear(left[9000:9320])
	clear(left[20000:20080])
	clear(right[20000:20080])
	for kind, c := range map[Kind]struct{ found, want []Found }{
		Clicks: {clicks, []Found{gone(9000-clickEdge(1), 9001+clickEdge(1), 1, Clicks), gone(20000-clickEdge(1), 20001+clickEdge(1), 0, Clicks)}},
		Zeros:  {find(t, testRate, Zeros, left, right), []Found{gone(9000, 9320, 1, Zeros), gone(20000, 20080, 0, Zeros)}},
	} {
		testkit.Equal(t, gapsOf(c.found), gapsOf(c.want), kind)
	}
}
