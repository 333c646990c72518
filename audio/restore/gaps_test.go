package restore

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestMethods checks the resolution of Auto and the errors for options that a method does not support.
func TestMethods(t *testing.T) {
	slow.Race(t)
	for _, c := range []struct {
		name string
		o    Options
		want Method // "": an error
	}{
		{"zero", Options{}, Mixture},
		{"a seed and draws", Options{Draws: 3, Model: vssgp.Options{Seed: 4}}, Mixture},
		{"memory", Options{Forget: true, Model: vssgp.Options{MemoryLimit: 1e9}}, Mixture},
		{"a window", Options{Model: vssgp.Options{Windows: vssgp.WindowOptions{Length: 0.05}}}, VSSGP},
		{"all", Options{All: true}, VSSGP},
		{"a context", Options{Context: time.Second}, VSSGP},
		{"ar", Options{Method: AR}, AR},
		{"vssgp", Options{Method: VSSGP}, VSSGP},
		{"ar with a window", Options{Method: AR, Model: vssgp.Options{Windows: vssgp.WindowOptions{Length: 0.05}}}, ""},
		{"the mixture of all", Options{Method: Mixture, All: true}, ""},
		{"unknown", Options{Method: "spline"}, ""},
		{"fewer draws than none", Options{Draws: -1}, ""},
		{"a negative context", Options{Context: -1}, ""},
		{"a checkpoint", Options{All: true, Model: vssgp.Options{Checkpoint: vssgp.CheckpointOptions{Path: "x"}}}, ""},
		{"resume", Options{Method: Mixture, Model: vssgp.Options{Checkpoint: vssgp.CheckpointOptions{Resume: true}}}, ""},
	} {
		if c.want != "" {
			if got := c.o.resolved(); got != c.want || c.o.checkMethod() != nil {
				t.Errorf("%s: method %q, %v; want %q", c.name, got, c.o.checkMethod(), c.want)
			}
			continue
		}
		if _, err := Fill(context.Background(), tones(1000, 1, 0.01), rate, []Gap{{Start: 400, End: 420}}, c.o); !errors.Is(err, vssgp.ErrOptions) {
			t.Errorf("%s: error %v, want one that wraps ErrOptions", c.name, err)
		}
	}
}

// TestMixture checks the error of fills by Mixture and AR, that known samples are unchanged, that values in gaps are ignored, and
// that results do not depend on the number of processors or of draws.
func TestMixture(t *testing.T) {
	clean := tones(9000, 2, 0.005)
	gaps := []Gap{{Start: 0, End: 12}, {Start: 3000, End: 3080}, {Start: 3100, End: 3110}, {Start: 6000, End: 6200}, {Start: 8990, End: 9000}}
	for _, m := range []Method{Mixture, AR} {
		r := mustFill(t, damage(clean, gaps, math.NaN()), gaps, Options{Method: m, Draws: 2})
		if r.Method != m || r.Bound != 0 || r.Excerpts[0].Model != nil {
			t.Errorf("%s: method %s, bound %v, model %v", m, r.Method, r.Bound, r.Excerpts[0].Model)
		}
		if e := gapError(r.Filled, clean, gaps[1:4]); e > 0.02 {
			t.Errorf("%s: error %v in tones of rms 0.08, want 0.02 at most", m, e)
		}
		checkIntact(t, r, clean, gaps)
		missing := audio.Mask(gaps, 9000)
		for c := range clean {
			for i, v := range clean[c] {
				switch inside := !math.IsNaN(r.Fit[c][i]); {
				case missing[i] && !(r.SD[c][i] > 0):
					t.Fatalf("%s: sample %d is missing and certain: sd %v", m, i, r.SD[c][i])
				case !missing[i] && inside && (r.Fit[c][i] != v || r.SD[c][i] != 0):
					t.Fatalf("%s: sample %d is observed, and filled with %v ± %v", m, i, r.Filled[c][i], r.SD[c][i])
				}
			}
		}
		cores := runtime.GOMAXPROCS(1)
		again := mustFill(t, damage(clean, gaps, 1e6), gaps, Options{Method: m, Draws: 1})
		runtime.GOMAXPROCS(cores)
		if !sameBits(again.Filled, r.Filled) || !sameBits(again.SD, r.SD) || !sameBits(again.Draws[0], r.Draws[0]) {
			t.Errorf("%s: different result on one core and with other values in the gaps", m)
		}
		other := mustFill(t, damage(clean, gaps, 0), gaps, Options{Method: m, Draws: 1, Model: vssgp.Options{Seed: 9}})
		if sameBits(other.Draws[0], r.Draws[0]) || !sameBits(other.Filled, r.Filled) {
			t.Errorf("%s: another seed must change the draws but not the fill", m)
		}
	}
}

// TestWarnings checks that fills of noise and of long gaps have warnings, and fills of tones do not.
func TestWarnings(t *testing.T) {
	slow.Race(t)
	rng := rand.New(rand.NewPCG(3, 3))
	noise := testkit.Numbers(22_000, func(int) float64 { return rng.NormFloat64() })
	x := [][]float64{tones(22_000, 1, 0.001)[0], noise}
	gap, long := Gap{Start: 2000, End: 2080}, Gap{Start: 6000, End: 6000 + 3*rate/2}
	r := mustFill(t, x, []Gap{gap, long}, Options{Draws: 1})
	want := []GapFill{{Gap: gap, Channel: 1, Warning: "% of the surrounding level"}, {Gap: long, Warning: "too long"}, {Gap: long, Channel: 1, Warning: "too long"}}
	if !slices.EqualFunc(r.Warnings(), want, func(d *GapFill, w GapFill) bool {
		return d.Gap == w.Gap && d.Channel == w.Channel && strings.Contains(d.Warning, w.Warning)
	}) {
		t.Fatalf("warnings %+v, want %+v", r.Warnings(), want)
	}
	if e := gapError(r.Filled[:1], x[:1], []Gap{{Start: 6000, End: 6050}, {Start: long.End - 50, End: long.End}}); e > 0.03 {
		t.Errorf("error %v at the ends of a long gap in tones", e)
	}
	level := math.Sqrt(0.5*0.01 + 0.5*0.0025)
	for c, level := range []float64{level, 1} {
		if sd := r.SD[c][6000+rate/4]; c == 1 && (sd < 0.7*level || sd > 1.3*level) || !(sd > 0) {
			t.Errorf("channel %d: sd %v in the middle of a long gap in a sound of rms %v", c, sd, level)
		}
	}
	if s := mustFill(t, [][]float64{make([]float64, 3000)}, []Gap{{Start: 1000, End: 1100}}, Options{}); s.Warnings() != nil || slices.Max(s.Filled[0]) != 0 {
		t.Errorf("silence: warnings %+v, filled with %v", s.Warnings(), slices.Max(s.Filled[0]))
	}
}

// TestMixtureBeatsJanssenOnDenseGaps checks that the mixture is better than Janssen's joint fill if a fifth of the samples is missing.
func TestMixtureBeatsJanssenOnDenseGaps(t *testing.T) {
	slow.Race(t)
	r := testkit.Must(audio.Open("../../testdata/speech.wav"))(t)
	x := r.Samples[0][8000:slow.Pick(14_000, 10_000)]
	var gaps []Gap
	var runs [][2]int
	for at := 100; at+40 <= len(x); at += 200 {
		gaps, runs = append(gaps, Gap{Start: at, End: at + 40}), append(runs, [2]int{at, at + 40})
	}
	janssen := slices.Clone(x)
	autoregression.Filling{Order: audio.SamplesIn(0.009, r.Rate), Reach: audio.SamplesIn(0.025, r.Rate), Rounds: 3}.Fill(t.Context(), janssen, runs)
	f := inWhole([][]float64{x}, testkit.Must(Fill(context.Background(), [][]float64{x}, r.Rate, gaps, Options{}))(t))
	mask := audio.Mask(gaps, len(x))
	if got, other := audio.RMSE(x, f.Filled[0], mask), audio.RMSE(x, janssen, mask); got > other {
		t.Errorf("RMSE %v, Janssen's %v", got, other)
	}
}

// TestDegenerateGaps checks that fills, standard deviations and draws are finite and in the range of the samples for all positions of
// gaps and kinds of data.
func TestDegenerateGaps(t *testing.T) {
	sound := tones(24_000, 1, 0.01)[0]
	clear(sound[:4000])
	constant := slices.Repeat([]float64{0.3}, 24_000)
	close := []Gap{{Start: 9000, End: 9040}}
	for at := 9043; at < slow.Pick(9400, 9150); at += 47 {
		close = append(close, Gap{Start: at, End: at + 40})
	}
	long := slow.Pick(4000, 1000)
	for _, c := range []struct {
		name string
		x    []float64
		rate int
		gaps []Gap
	}{
		{"less than a reach in all", sound[8000:8300], rate, []Gap{{Start: 90, End: 130}, {Start: 200, End: 210}}},
		{"less than a millisecond between", sound, rate, close},
		{"long, at the beginning", sound, rate, []Gap{{Start: 0, End: long}}},
		{"long, at the end", sound, rate, []Gap{{Start: 24_000 - long, End: 24_000}}},
		{"long, a sample from the beginning", sound[9000:], rate, []Gap{{Start: 1, End: long}}},
		{"long, next to short ones", sound, rate, []Gap{{Start: 7990, End: 7999}, {Start: 8000, End: 8000 + long}, {Start: 8003 + long, End: 8020 + long}}},
		{"long, next to long", sound, rate, []Gap{{Start: 6000, End: 6000 + long}, {Start: 6002 + long, End: 6002 + 2*long}}},
		{"very long", sound, rate, []Gap{{Start: 4100, End: slow.Pick(23_000, 8000)}}},
		{"long, in silence", sound[:4000], rate, []Gap{{Start: 1000, End: 3000}}},
		{"where silence ends", sound, rate, []Gap{{Start: 3990, End: 4010}, {Start: 4100, End: 4140}}},
		{"in a constant", constant, rate, []Gap{{Start: 3000, End: 3040}, {Start: 9000, End: 9000 + long}}},
		{"at 44.1 kHz", sound, 44_100, []Gap{{Start: 8000, End: 8400}, {Start: 9000, End: 9001}}},
		{"at 96 kHz", sound, 96_000, []Gap{{Start: 8000, End: 8400}}},
	}[:slow.Pick(13, 11)] {
		t.Run(c.name, func(t *testing.T) {
			loud := max(slices.Max(c.x), -slices.Min(c.x))
			x := [][]float64{slices.Clone(c.x)}
			for _, i := range missing(c.gaps, 1) {
				x[0][i] = math.Inf(rand.IntN(2)) // must be ignored
			}
			for _, m := range []Method{Mixture, Natural, AR} {
				r := inWhole(x, testkit.Must(Fill(context.Background(), x, c.rate, c.gaps, Options{Method: m, Draws: 1}))(t))
				for _, i := range missing(c.gaps, 1) {
					mean, sd, draw := r.Filled[0][i], r.SD[0][i], r.Draws[0][0][i]
					if !(math.Abs(mean) <= 3*loud) || !(sd >= 0 && sd <= 3*loud) || !(math.Abs(draw) <= 10*loud) {
						t.Fatalf("%s: sample %d is filled with %v ± %v and drawn as %v, in a sound of at most %v", m, i, mean, sd, draw, loud)
					}
				}
			}
		})
	}
}

// TestLongGapDraws checks that draws of a long gap are independent on both sides, with weights that add up to 1.
func TestLongGapDraws(t *testing.T) {
	const n, gap = 4000, 2000
	x := tones(n, 1, 0.01)[0]
	for i := range x {
		x[i] = x[max(i, n-1-i)] // symmetric, so dependent draws would be mirror images
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
		t.Errorf("%d samples of a draw are equal on both sides", mirrored)
	}
	for _, i := range []int{0, 7, 99} {
		if sum := crossfade(i, 100, true) + crossfade(i, 100, false); math.Abs(sum-1) > 1e-12 {
			t.Errorf("sample %d: the weights of both sides add up to %v", i, sum)
		}
	}
}

// TestLongGapLevel checks that draws of a long gap of noise are as loud in the middle, where both sides are mixed,
// as at the ends.
func TestLongGapLevel(t *testing.T) {
	const n, gap, draws = 6000, 2000, 8
	rng := rand.New(rand.NewPCG(1, 1))
	x := testkit.Numbers(n, func(int) float64 { return rng.NormFloat64() })
	r := mustFill(t, [][]float64{x}, []Gap{{Start: (n - gap) / 2, End: (n + gap) / 2}}, Options{Draws: draws})
	var ends, middle []float64
	for _, d := range r.Draws {
		d := d[0][(n-gap)/2 : (n+gap)/2]
		ends = append(append(ends, d[:gap/8]...), d[gap-gap/8:]...)
		middle = append(middle, d[gap*3/8:gap*5/8]...)
	}
	testkit.Near(t, bayes.RMS(middle)/bayes.RMS(ends), 1, 0.08, "level of the middle relative to the ends")
}

// TestLevelIsRMSOfBothSides checks that the level of a gap is the rms of the known samples on both sides, without other gaps.
func TestLevelIsRMSOfBothSides(t *testing.T) {
	z := slices.Concat([]float64{9, 9, 1, 1}, make([]float64, 5), []float64{3, 8, 8, 3, 9, 9})
	for hz, want := range map[int]float64{33: 11.0 / 3, 67: (81 + 81 + 1 + 1 + 9 + 9) / 6.0} { // 2 samples of 1, 1 and 3, and 4 samples on either side
		f := &filler{res: &Result{rate: hz}}
		testkit.Equal(t, f.level(z, [][2]int{{4, 9}, {10, 12}}, 4, 9), math.Sqrt(want), "level at a rate of ", hz)
	}
}

// TestWarningWithoutTrials checks that a fill has a warning if there is no space for trial gaps.
func TestWarningWithoutTrials(t *testing.T) {
	for n, want := range map[int]int{700: 1, 6000: 0} {
		x := tones(n, 1, 0.0001)
		if r := mustFill(t, x, []Gap{{Start: n / 2, End: n/2 + 10}}, Options{}); len(r.Warnings()) != want {
			t.Errorf("a gap in %d samples: warnings %+v, want %d", n, r.Warnings(), want)
		}
	}
}

// TestOtherGapsPrefilled checks that the fill of a gap uses initial fills of the surrounding gaps instead of their values.
func TestOtherGapsPrefilled(t *testing.T) {
	clean, gaps := tones(6000, 1, 0.001), []Gap{{Start: 3000, End: 3040}, {Start: 3300, End: 3400}}
	r := &Result{Gaps: gaps, Method: Mixture, rate: rate, samples: 6000, channels: 1}
	g := newGapFiller(&filler{ctx: t.Context(), src: Around(whole(clean), gaps), res: r})
	v := testkit.Must(g.view(0, 1000, true))(t)
	if e := gapError([][]float64{v.z[0][1000:]}, [][]float64{clean[0][3000:]}, []Gap{{Start: 300, End: 400}}); e > 0.02 {
		t.Errorf("error %v of the other gap in tones of rms 0.08", e)
	}
}

// TestWarningPercent checks that a warning reports the rms of the standard deviations in percent of the level.
func TestWarningPercent(t *testing.T) {
	f := &GapFill{Gap: Gap{End: 2}, SD: []float64{1, 1.8}, Level: 2}
	if d := warningOf(f, 1, 100); !strings.Contains(d, "73 %") {
		t.Errorf("warning %q, want one of 73 %%", d)
	}
}
