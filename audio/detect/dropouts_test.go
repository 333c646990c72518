package detect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

type inMemory = audio.Samples

const (
	step     = 1.0 / 32768
	testRate = 16000
)

// quantized returns n samples of f rounded to the quantization step.
func quantized(n int, f func(n int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = step * math.Round(f(i)/step)
	}
	return x
}

// voice returns 16-bit samples of pulses and noise through three resonances, with a gliding pitch and a level that varies twice a second.
func voice(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	x, phase := make([]float64, n), 0.0
	for i := range x {
		t := float64(i) / testRate
		x[i] = 0.05 * rng.NormFloat64()
		if phase += (110 + 30*math.Sin(3*t)) / testRate; phase >= 1 {
			phase--
			x[i]++
		}
	}
	for _, r := range [][2]float64{{500, 60}, {1500, 90}, {2500, 150}} {
		radius, angle := math.Exp(-math.Pi*r[1]/testRate), 2*math.Pi*r[0]/testRate
		for i := 2; i < n; i++ {
			x[i] += 2*radius*math.Cos(angle)*x[i-1] - radius*radius*x[i-2]
		}
	}
	loudest := max(slices.Max(x), -slices.Min(x))
	return quantized(n, func(i int) float64 {
		return x[i] * 0.5 * (0.1 + math.Pow(math.Sin(2*math.Pi*float64(i)/testRate), 2)) / loudest
	})
}

// randomGaps returns the gaps of the given length at which tests damage a voice of 4 s.
func randomGaps(length int) (gaps []audio.Gap) {
	rng := rand.New(rand.NewPCG(uint64(length), 8))
	for at := 4000; at < 60000; at += 4000 {
		start := at + rng.IntN(3900-length)
		gaps = append(gaps, audio.Gap{Start: start, End: start + length})
	}
	return gaps
}

// stopped returns x with zeros in the gaps or, if repeat is true, the sample before the gap, plus
// dither of at most the given number of steps.
func stopped(x []float64, gaps []audio.Gap, repeat bool, dither int) []float64 {
	rng, y := rand.New(rand.NewPCG(1, 9)), slices.Clone(x)
	for _, g := range gaps {
		for n := g.Start; n < g.End; n++ {
			y[n] = step * float64(rng.IntN(2*dither+1)-dither)
			if repeat {
				y[n] += x[g.Start-1]
			}
		}
	}
	return y
}

func find(t *testing.T, rate int, kind Kind, lanes ...[]float64) []Found {
	t.Helper()
	return findAt(t, 0, rate, kind, lanes...)
}

// findAt returns the detections of one kind at a sensitivity.
func findAt(t *testing.T, sensitivity float64, rate int, kind Kind, lanes ...[]float64) []Found {
	t.Helper()
	o := Options{Kinds: []Kind{kind}, Step: step, Sensitivity: sensitivity}
	return testkit.Must(Find(t.Context(), inMemory(lanes), len(lanes[0]), rate, o))(t)
}

// near returns the number of detections whose ends are within two samples of the ends of a gap, and the number of other detections.
func near(found []Found, gaps []audio.Gap) (hits, others int) {
	for _, f := range found {
		if slices.ContainsFunc(gaps, func(g audio.Gap) bool { return max(f.Start-g.Start, g.Start-f.Start, f.End-g.End, g.End-f.End) <= 2 }) {
			hits++
		} else {
			others++
		}
	}
	return hits, others
}

// TestDropouts checks that at least nine in ten dropouts of each kind and length are found at their positions, and nothing else.
func TestDropouts(t *testing.T) {
	x := voice(64000, 1)
	for _, length := range slow.Pick([]int{32, 40, 160, 800, 1600}, []int{32, 800}) {
		gaps := randomGaps(length)
		for _, c := range []struct {
			kind   Kind
			repeat bool
			dither int
		}{{Zeros, false, 0}, {Dropouts, false, 0}, {Dropouts, false, 1}, {Dropouts, false, 2}, {Dropouts, true, 0}, {Dropouts, true, 1}} {
			found := find(t, testRate, c.kind, stopped(x, gaps, c.repeat, c.dither))
			hits, others := near(found, gaps)
			if 10*hits < 9*len(gaps) || others > 0 {
				t.Errorf("%s of %d samples, repeated %v, dither %d: %d of %d found and %d others", c.kind, length, c.repeat, c.dither, hits, len(gaps), others)
			}
		}
	}
}

// TestNoDropouts checks that nothing is found in undamaged sound and in silence, pauses, clipping
// and coarse quantization, which resemble dropouts.
func TestNoDropouts(t *testing.T) {
	x := voice(64000, 2)
	each := func(f func(n int, v float64) float64) []float64 {
		return quantized(len(x), func(n int) float64 { return f(n, x[n]) })
	}
	// pause returns a gain that is 0 for 100 ms in every half second, after a fade-out and before a fade-in.
	pause := func(n int, fade, back float64) float64 {
		at := float64(n % 8000)
		return max(0, 1-at/fade, min(1, (at-fade-1600)/back))
	}
	for _, c := range []struct {
		name string
		x    []float64
	}{
		{"clean", x},
		{"quiet", each(func(_ int, v float64) float64 { return v / 300 })},
		{"8 bits", each(func(_ int, v float64) float64 { return math.Round(128*v) / 128 })},
		{"clipped", each(func(_ int, v float64) float64 { return max(-0.1, min(0.1, v)) })},
		{"clipped all over", each(func(_ int, v float64) float64 { return max(-0.005, min(0.005, v)) })},
		{"steps of μ-law", each(func(_ int, v float64) float64 {
			y := math.Round(127*math.Log1p(255*math.Abs(v))/math.Log(256)) / 127
			return math.Copysign((math.Pow(256, y)-1)/255, v)
		})},
		{"low tone in steps of μ-law", each(func(n int, _ float64) float64 {
			v := 0.9 * math.Sin(float64(n)/40) * (1 + 0.1*math.Sin(float64(n)/997))
			y := math.Round(127*math.Log1p(255*math.Abs(v))/math.Log(256)) / 127
			return math.Copysign((math.Pow(256, y)-1)/255, v)
		})},
		{"soft pauses", each(func(n int, v float64) float64 { return 0.01 * v * pause(n, 320, 320) })},
		{"pauses", each(func(n int, v float64) float64 { return v * pause(n, 320, 320) })},
		{"pauses with short fades", each(func(n int, v float64) float64 { return v * pause(n, 80, 80) })},
		{"pauses before attacks", each(func(n int, v float64) float64 { return v * pause(n, 320, 1e-9) })},
		{"pauses after cuts", each(func(n int, v float64) float64 { return v * pause(8000-n%8000, 320, 1e-9) })},
		{"pauses that are not at zero", each(func(n int, v float64) float64 { return 100*step + v*pause(n, 320, 320) })},
		{"long silence", each(func(n int, v float64) float64 {
			if n%16000 < 8000 {
				return 0
			}
			return v
		})},
		{"square wave", each(func(n int, _ float64) float64 { return math.Copysign(0.3, float64(n%200)-99.5) })},
		{"low tone", each(func(n int, _ float64) float64 { return 0.01 * math.Sin(float64(n)/300) })},
		{"silence", make([]float64, 64000)},
		{"constant", each(func(int, float64) float64 { return 0.25 })},
	} {
		for _, kind := range []Kind{Dropouts, Zeros} {
			if found := find(t, testRate, kind, c.x); len(found) > 0 {
				t.Errorf("%s: %s at %v", c.name, kind, found)
			}
		}
	}
}

// TestSpeechZeros checks that nothing is found in the undamaged speech recording, and that most of the zeroed gaps are found exactly.
func TestSpeechZeros(t *testing.T) {
	table := testkit.Must(os.Open("../../testdata/speech_gaps.csv"))(t)
	defer table.Close()
	gaps := testkit.Must(audio.ReadGaps(table, 16000))(t)
	for name, least := range map[string]int{"speech.wav": 0, "speech_gapped.wav": 10} {
		r := testkit.Must(audio.Open("../../testdata/" + name))(t)
		found := find(t, r.Rate, Zeros, r.Samples...)
		for _, f := range found {
			if f.Channel--; !slices.Contains(gaps, f.Gap) && !slices.Contains(gaps, audio.Gap{Start: f.Start, End: f.End}) {
				t.Errorf("%s: %v is not a gap", name, f.Gap)
			}
		}
		if len(found) < least {
			t.Errorf("%s: %d found, want at least %d", name, len(found), least)
		}
	}
}

// quiet returns x scaled by share and quantized again.
func quiet(x []float64, share float64) []float64 {
	return quantized(len(x), func(n int) float64 { return share * x[n] })
}

// TestOtherChannelRevealsDropouts checks that more dropouts are found if another channel has sound, because a pause is then less likely.
func TestOtherChannelRevealsDropouts(t *testing.T) {
	x := stopped(quiet(voice(64000, 1), 0.02), randomGaps(160), false, 1)
	mono, stereo := find(t, testRate, Dropouts, x), find(t, testRate, Dropouts, x, voice(64000, 2))
	if len(stereo) <= len(mono) {
		t.Errorf("%d found in one of two channels, %d in one alone", len(stereo), len(mono))
	}
}

// TestRepeatedSample checks that nearly all runs of a repeated sample in a soft voice are found and begin after the first sample.
func TestRepeatedSample(t *testing.T) {
	found, all := 0, 0
	for seed := range uint64(6) {
		gaps := randomGaps(160 + int(seed))
		for _, f := range find(t, testRate, Dropouts, stopped(quiet(voice(64000, seed), 0.1), gaps, true, 0)) {
			if slices.ContainsFunc(gaps, func(g audio.Gap) bool { return g.Start == f.Start }) {
				found++
			}
		}
		all += len(gaps)
	}
	if 100*found < 95*all {
		t.Errorf("%d of %d found", found, all)
	}
}

// TestUnknownStep checks that dropouts are found without a given quantization step, at any scale.
func TestUnknownStep(t *testing.T) {
	gaps := randomGaps(160)
	x := stopped(voice(64000, 1), gaps, false, 1)
	for _, scale := range []float64{1, 1e-3, 32768} {
		y := make([]float64, len(x))
		for n, v := range x {
			y[n] = scale * v
		}
		found, err := Find(context.Background(), inMemory{y}, len(y), testRate, Options{Kinds: []Kind{Dropouts}})
		if hits, others := near(found, gaps); err != nil || 10*hits < 9*len(gaps) || others > 0 {
			t.Errorf("times %v: %d of %d found, %d others, %v", scale, hits, len(gaps), others, err)
		}
	}
}

func TestFlatRunsAreFound(t *testing.T) {
	x := []float64{9, 1, 1, 2, 1, 5, 5, 5, 5, 9, 0, 0, 0}
	for _, c := range []struct {
		width       float64
		least, most int
		want        [][2]int
	}{
		{0, 2, 9, [][2]int{{1, 3}, {5, 9}}}, {1, 2, 9, [][2]int{{1, 5}, {5, 9}}}, {1, 2, 3, nil}, {0, 4, 4, [][2]int{{5, 9}}}, {3, 5, 9, nil},
		{4, 5, 9, [][2]int{{1, 9}, {5, 10}}},
	} {
		if got := flat(x, c.width, c.least, c.most); !slices.Equal(got, c.want) {
			t.Errorf("within %v, %d to %d samples: %v, want %v", c.width, c.least, c.most, got, c.want)
		}
	}
}

// TestStopsInOddRecordings checks that nothing is found in degenerate recordings.
func TestStopsInOddRecordings(t *testing.T) {
	nan := slices.Repeat([]float64{math.NaN(), 1, math.Inf(1), 0, 0, 0, 0, 0, 0, 0, 0}, 400)
	for _, rate := range []int{1, 100, 8000, 1 << 30} {
		for _, x := range [][]float64{
			{0}, {1, 0}, make([]float64, 70), nan, slices.Repeat([]float64{1, -1}, 300), slices.Repeat([]float64{1e308, -1e308, 0}, 300),
		} {
			for _, kind := range []Kind{Dropouts, Zeros, Clicks} {
				if found := find(t, rate, kind, x); len(found) > 0 {
					t.Errorf("%d samples at %d Hz: %s at %v", len(x), rate, kind, found)
				}
			}
		}
	}
}

// broken is a source that returns an error for samples after 20000.
type broken struct{ inMemory }

func (b broken) Read(lo, hi int) ([][]float64, error) {
	if hi > 20000 {
		return nil, errors.ErrUnsupported
	}
	return b.inMemory.Read(lo, hi)
}

// TestInterrupted checks that an error of the source and a canceled context, before or during a search, end it with this error.
func TestInterrupted(t *testing.T) {
	x, silence := inMemory{voice(32000, 5)}, inMemory{make([]float64, 200_000)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, kind := range []Kind{Dropouts, Zeros, Clicks, Clipped} {
		o := Options{Kinds: []Kind{kind}}
		testkit.Fails(t, testkit.Error(Find(t.Context(), broken{x}, 32000, testRate, o)), errors.ErrUnsupported, "", kind)
		testkit.Fails(t, testkit.Error(Find(ended, x, 32000, testRate, o)), context.Canceled, "", kind)
		ctx, stop := context.WithCancel(t.Context())
		o.Progress = func(done float64) {
			if stop(); !(done > 0 && done < 1) {
				t.Errorf("%s: progress %v", kind, done)
			}
		}
		testkit.Fails(t, testkit.Error(Find(ctx, silence, 200_000, 8000, o)), context.Canceled, "", kind, " within")
	}
}

// TestFindInterrupted checks that an interrupted search returns the detections so far.
func TestFindInterrupted(t *testing.T) {
	defer func(n int) { tileSamples = n }(tileSamples)
	tileSamples = 8000
	x := voice(80000, 3)
	clear(x[4000:4160])
	clear(x[70000:70160])
	ctx, stop := context.WithCancel(t.Context())
	o := Options{Kinds: []Kind{Zeros}, Step: step, Progress: func(done float64) {
		if done > 0.5 {
			stop()
		}
	}}
	found, err := Find(ctx, inMemory{x}, len(x), testRate, o)
	testkit.Fails(t, err, context.Canceled, "")
	testkit.Equal(t, gapsOf(found), []audio.Gap{{Start: 4000, End: 4160}})
}

func TestStopsProgress(t *testing.T) {
	defer func(n int) { tileSamples = n }(tileSamples)
	tileSamples = 1000
	var seen []float64
	_, err := Find(context.Background(), inMemory{voice(2500, 5)}, 2500, testRate,
		Options{Kinds: []Kind{Zeros}, Progress: func(done float64) { seen = append(seen, done) }})
	if want := []float64{0.4, 0.8, 1}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("progress %v, %v; want %v", seen, err, want)
	}
}

// FuzzStops checks that detections are nonempty, sorted, disjoint and within the recording for any samples.
func FuzzStops(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 8000, 5.0)
	f.Add([]byte(fmt.Sprint(voice(300, 6))), 100, 10.0)
	f.Fuzz(func(t *testing.T, b []byte, rate int, sensitivity float64) {
		x := make([]float64, len(b))
		for i, v := range b {
			x[i] = []float64{0, 0, 1, -1, math.NaN(), math.Inf(1), 1e308, 1e-308, float64(v) / 256, -float64(v)}[v%10]
		}
		for _, kind := range []Kind{Dropouts, Zeros, Clicks} {
			found, err := Find(context.Background(), inMemory{x}, len(x), 1+rate&0xffff, Options{Kinds: []Kind{kind}, Sensitivity: sensitivity})
			end := 0
			for _, g := range found {
				if g.Start < end || g.End <= g.Start || g.End > len(x) || err != nil {
					t.Fatalf("%v of %d samples, %v", found, len(x), err)
				}
				end = g.End
			}
		}
	})
}
