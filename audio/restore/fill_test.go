package restore

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

const rate = 8000

// tones returns a recording of two tones with noise. The second channel is a different mixture of the tones.
func tones(n, channels int, noise float64) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 2))
	out := make([][]float64, channels)
	for c := range out {
		for i := range n {
			t := float64(i) / rate
			v := math.Sin(2*math.Pi*310*t+float64(c)) + 0.5*math.Cos(2*math.Pi*(820+100*float64(c))*t)
			out[c] = append(out[c], 0.1*v+noise*rng.NormFloat64())
		}
	}
	return out
}

var fiveGaps = []Gap{{Start: 400, End: 420}, {Start: 700, End: 730}, {Start: 1000, End: 1015}, {Start: 1300, End: 1325}, {Start: 1600, End: 1610}}

// quick returns options for a fast VSSGP fit.
func quick() Options {
	return Options{Context: 16 * time.Millisecond, Model: vssgp.Options{Windows: vssgp.WindowOptions{Length: 0.02}, Components: 16, Iterations: 8, Seed: 1}}
}

// missing returns an iterator over the channels and samples in gaps.
func missing(gaps []Gap, channels int) iter.Seq2[int, int] {
	return func(yield func(c, i int) bool) {
		for c := range channels {
			for _, g := range gaps {
				for i := g.Start; i < g.End && g.In(c); i++ {
					if !yield(c, i) {
						return
					}
				}
			}
		}
	}
}

type whole = audio.Samples

func clone(x [][]float64) [][]float64 {
	out, _ := whole(x).Read(0, len(x[0])) // never fails
	return out
}

// damage returns a copy of x with the given value in the gaps.
func damage(x [][]float64, gaps []Gap, by float64) [][]float64 {
	out := clone(x)
	for c, i := range missing(gaps, len(x)) {
		out[c][i] = by
	}
	return out
}

// gapError returns the rms error inside gaps.
func gapError(got, want [][]float64, gaps []Gap) float64 {
	s, n := 0.0, 0.0
	for c, i := range missing(gaps, len(got)) {
		s += (got[c][i] - want[c][i]) * (got[c][i] - want[c][i])
		n++
	}
	return math.Sqrt(s / n)
}

// covered returns the fraction of samples in gaps that are inside their 95 % intervals.
func covered(r filled, want [][]float64, gaps []Gap) float64 {
	inside, all := 0.0, 0.0
	for c, i := range missing(gaps, len(want)) {
		if all++; math.Abs(r.Filled[c][i]-want[c][i]) <= 1.96*r.SD[c][i] {
			inside++
		}
	}
	return inside / all
}

// A filled is a result with whole recordings [channel][sample]. Fit and SD are NaN outside the excerpts.
type filled struct {
	*Result
	Filled, Fit, SD [][]float64
	Draws           [][][]float64
}

func inWhole(x [][]float64, r *Result) filled {
	f := filled{r, r.Apply(x, -1), clone(x), clone(x), nil}
	for c := range x {
		for i := range x[c] {
			f.Fit[c][i], f.SD[c][i] = math.NaN(), math.NaN()
		}
		for _, e := range r.Excerpts {
			copy(f.Fit[c][e.Start:], f.Filled[c][e.Start:e.End])
			clear(f.SD[c][e.Start:e.End])
			if e.Fit != nil {
				copy(f.Fit[c][e.Start:], e.Fit[c])
				copy(f.SD[c][e.Start:], e.SD[c])
			}
		}
	}
	for g := range r.All() {
		copy(f.SD[g.Channel][g.Gap.Start:], g.SD)
		for len(f.Draws) < len(g.Draws) {
			f.Draws = append(f.Draws, r.Apply(x, len(f.Draws)))
		}
	}
	return f
}

func mustFill(t *testing.T, x [][]float64, gaps []Gap, o Options) filled {
	t.Helper()
	return inWhole(x, testkit.Must(Fill(context.Background(), x, rate, gaps, o))(t))
}

// TestFillsBeatLinearInterpolation checks that fills are much better than linear interpolation, the coverage of the intervals, that other samples are
// unchanged, and that values in gaps are ignored.
func TestFillsBeatLinearInterpolation(t *testing.T) {
	for _, channels := range []int{1, 2} {
		want := tones(2000, channels, 0.002)
		x := damage(want, fiveGaps, math.NaN())
		given := damage(want, fiveGaps, 1e9)
		r := mustFill(t, x, fiveGaps, quick())
		var linear [][]float64
		for c := range want {
			linear = append(linear, audio.FillLinear(want[c], fiveGaps))
		}
		if again := mustFill(t, given, fiveGaps, quick()); !sameBits(r.Filled, again.Filled) {
			t.Error("the fill depends on the values in the gaps")
		}
		if e, line := gapError(r.Filled, want, fiveGaps), gapError(linear, want, fiveGaps); !(e < line/8) {
			t.Errorf("%d channels: rms error %.3g in the gaps, of linear interpolation %.3g: want an eighth", channels, e, line)
		}
		checkOutside(t, r, x, want)
		if share := covered(r, want, fiveGaps); share < 0.8 {
			t.Errorf("%d channels: %.0f %% of the samples within their 95 %% intervals", channels, 100*share)
		}
		if r.Device != "cpu" || r.Iterations == 0 || len(r.Excerpts) == 0 || math.IsNaN(r.Bound) || r.Elapsed <= 0 {
			t.Errorf("result: %s, %d iterations, %d excerpts, bound %v", r.Device, r.Iterations, len(r.Excerpts), r.Bound)
		}
	}
}

// checkIntact checks that known samples are unchanged in the fill and in draws.
func checkIntact(t *testing.T, r filled, x [][]float64, gaps []Gap) {
	t.Helper()
	for c := range x {
		own := slices.DeleteFunc(slices.Clone(gaps), func(g Gap) bool { return !g.In(c) })
		missing := audio.Mask(own, len(x[c]))
		for i, v := range x[c] {
			for _, filled := range append([][][]float64{r.Filled}, r.Draws...) {
				if !missing[i] && filled[c][i] != v {
					t.Fatalf("%s: channel %d, sample %d outside the gaps went from %v to %v", r.Method, c+1, i, v, filled[c][i])
				}
			}
		}
	}
}

// checkOutside checks that samples outside the gaps are unchanged, and that Fit and SD cover exactly the excerpts.
func checkOutside(t *testing.T, r filled, x, want [][]float64) {
	t.Helper()
	checkIntact(t, r, x, fiveGaps)
	missing, covered := audio.Mask(fiveGaps, len(x[0])), make([]bool, len(x[0]))
	for _, e := range r.Excerpts {
		for i := e.Start; i < e.End; i++ {
			covered[i] = true
		}
		at := e.Gaps[0].Start // the input of the model is the time in the recording
		p := testkit.Must(e.Model.Predict(t.Context(), []float64{float64(at) / rate}))(t)
		testkit.Near(t, p.Mean[0], r.Fit[0][at], 1e-9, "the model of the samples from ", e.Start, " on")
	}
	for c := range x {
		for i := range x[c] {
			if has := !math.IsNaN(r.Fit[c][i]) && r.SD[c][i] > 0; has != covered[i] {
				t.Fatalf("sample %d: fit %v ± %v, in an excerpt: %v", i, r.Fit[c][i], r.SD[c][i], covered[i])
			}
			if missing[i] && r.Filled[c][i] != r.Fit[c][i] {
				t.Fatalf("sample %d in a gap is %v, the fit %v", i, r.Filled[c][i], r.Fit[c][i])
			}
			if covered[i] && math.Abs(r.Fit[c][i]-want[c][i]) > 0.1 {
				t.Fatalf("sample %d is fitted %v, want about %v", i, r.Fit[c][i], want[c][i])
			}
		}
	}
}

func sameBits(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(u, v float64) bool { return math.Float64bits(u) == math.Float64bits(v) })
	})
}

// TestSameBits checks that results do not depend on GOMAXPROCS or the order of the gaps.
func TestSameBits(t *testing.T) {
	x := tones(2000, 2, 0.01)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	turned := slices.Clone(fiveGaps)
	slices.Reverse(turned)
	var want filled
	for cores, gaps := range map[int][]Gap{1: fiveGaps, 2: turned, 5: fiveGaps, 9: turned} {
		runtime.GOMAXPROCS(cores)
		o := quick()
		o.Draws = 1
		r := mustFill(t, x, gaps, o)
		if want.Result == nil {
			want = r
		}
		if !sameBits(r.Filled, want.Filled) || !sameBits(r.SD, want.SD) || !sameBits(r.Draws[0], want.Draws[0]) || r.Bound != want.Bound {
			t.Errorf("different result on %d cores", cores)
		}
	}
}

// TestExcerpts checks the context on each side, that adjacent excerpts are merged, and Options.All.
func TestExcerpts(t *testing.T) {
	for _, c := range []struct {
		name    string
		gaps    []Gap
		n, ctx  int
		want    [][2]int
		touched int // gaps in the first excerpt
	}{
		{"apart", []Gap{{Start: 100, End: 110}, {Start: 300, End: 305}}, 1000, 50, [][2]int{{50, 160}, {250, 355}}, 1},
		{"overlapping", []Gap{{Start: 100, End: 110}, {Start: 180, End: 190}}, 1000, 50, [][2]int{{50, 240}}, 2},
		{"touching", []Gap{{Start: 100, End: 110}, {Start: 210, End: 220}}, 1000, 50, [][2]int{{50, 270}}, 2},
		{"at the ends", []Gap{{Start: 0, End: 10}, {Start: 990, End: 1000}}, 1000, 50, [][2]int{{0, 60}, {940, 1000}}, 1},
		{"all", []Gap{{Start: 100, End: 110}, {Start: 300, End: 305}}, 1000, 1000, [][2]int{{0, 1000}}, 2},
	} {
		got := excerpts(c.gaps, c.n, c.ctx)
		same := slices.EqualFunc(got, c.want, func(e Excerpt, w [2]int) bool { return e.Start == w[0] && e.End == w[1] })
		if !same || len(got[0].Gaps) != c.touched {
			t.Errorf("%s: %+v; want %v, with %d gaps in the first", c.name, got, c.want, c.touched)
		}
	}
	o := quick()
	o.All = true
	if r := mustFill(t, tones(600, 1, 0.01), []Gap{{Start: 100, End: 110}, {Start: 110, End: 120}, {Start: 500, End: 505}}, o); len(r.Excerpts) != 1 || r.Excerpts[0].End != 600 || len(r.Excerpts[0].Gaps) != 2 {
		t.Errorf("all as one: %+v", r.Excerpts)
	}
}

// TestGapsAtTheEndsAreWider checks that gaps at the beginning and end are filled, with wider intervals than in the middle.
func TestGapsAtTheEndsAreWider(t *testing.T) {
	want := tones(1200, 1, 0.002)
	gaps := []Gap{{Start: 0, End: 12}, {Start: 600, End: 612}, {Start: 1188, End: 1200}}
	r := mustFill(t, damage(want, gaps, 0), gaps, quick())
	if e, silence := gapError(r.Filled, want, gaps), gapError(damage(want, gaps, 0), want, gaps); !(e < silence/2) {
		t.Errorf("rms error %.3g in the gaps, silence's is %.3g", e, silence)
	}
	if !(r.SD[0][0] > r.SD[0][606] && r.SD[0][1199] > r.SD[0][606]) {
		t.Errorf("standard deviations %.3g and %.3g at the ends, %.3g in the middle", r.SD[0][0], r.SD[0][1199], r.SD[0][606])
	}
}

// TestConstantRecordings checks fills of silence, constants, and a silent channel next to a loud one.
func TestConstantRecordings(t *testing.T) {
	level := func(v float64) []float64 { return slices.Repeat([]float64{v}, 800) }
	for _, c := range []struct {
		name   string
		x      [][]float64
		within float64
	}{
		{"silence", [][]float64{level(0)}, 1e-6},
		{"constant", [][]float64{level(0.25)}, 1e-6},
		{"integers", [][]float64{level(-12000)}, 1e-2},
		{"silence in stereo", [][]float64{level(0), level(0)}, 1e-6},
		{"silent right", [][]float64{tones(800, 1, 0.01)[0], level(0)}, 0.05},
	} {
		gaps := []Gap{{Start: 300, End: 320}, {Start: 500, End: 501}}
		r := mustFill(t, damage(c.x, gaps, 9), gaps, quick())
		last := len(c.x) - 1
		for i, v := range r.Filled[last] {
			if !(math.Abs(v-c.x[last][i]) <= c.within) || math.IsNaN(r.SD[last][310]) {
				t.Errorf("%s: sample %d is %v ± %v, want %v", c.name, i, v, r.SD[last][i], c.x[last][i])
				break
			}
		}
	}
}

// TestDrawsHaveMomentsOfTheFill checks that draws differ only inside the gaps and have the mean and standard deviation of the fill.
func TestDrawsHaveMomentsOfTheFill(t *testing.T) {
	want := tones(1000, 1, 0.02)
	gaps := []Gap{{Start: 300, End: 330}, {Start: 700, End: 720}}
	o := quick()
	o.Draws = 60
	r := mustFill(t, want, gaps, o)
	noise := math.Inf(1) // included in SD but not in draws
	for _, e := range r.Excerpts {
		noise = min(noise, e.Model.Y.Scale[0]/math.Sqrt(e.Model.Params.NoisePrecision[0]))
	}
	checkIntact(t, r, want, gaps)
	var got, expected float64
	for _, d := range r.Draws {
		for _, i := range missing(gaps, 1) {
			got += (d[0][i] - r.Filled[0][i]) * (d[0][i] - r.Filled[0][i])
			expected += r.SD[0][i]*r.SD[0][i] - noise*noise
		}
	}
	if ratio := math.Sqrt(got / expected); !(ratio > 0.6 && ratio < 1.6) {
		t.Errorf("the draws have %.2f times the fill's standard deviation", ratio)
	}
	if sameBits(r.Draws[0], r.Draws[1]) {
		t.Error("two draws are equal")
	}
}

// TestCanceled checks that a canceled context stops the fill, before and during it.
func TestCanceled(t *testing.T) {
	x := tones(2000, 1, 0.01)
	for _, within := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		o := quick()
		o.Model.Iterations = 100_000
		reports := 0
		o.Progress = func(Progress) { cancel(); reports++ }
		if !within {
			cancel()
		}
		if r, err := Fill(ctx, x, rate, fiveGaps, o); !errors.Is(err, context.Canceled) || r != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("canceled within: %v: result %v, error %v; want one line", within, r, err)
		}
		if reports > 100 {
			t.Errorf("canceled within: %v: %d more steps", within, reports)
		}
		cancel()
	}
}

// TestProgress checks that the progress increases to the total number of excerpts and iterations.
func TestProgress(t *testing.T) {
	var last Progress
	calls := 0
	o := quick()
	o.Progress = func(p Progress) {
		if calls++; p.Excerpt < last.Excerpt || p.Iteration < last.Iteration || p.Excerpts != 5 {
			t.Errorf("report %d: %+v after %+v", calls, p, last)
		}
		last = p
	}
	r := mustFill(t, tones(2000, 1, 0.01), fiveGaps, o)
	if last.Excerpt != 5 || last.Iteration != r.Iterations || len(r.Excerpts) != 5 || math.Abs(last.Bound-r.Bound) > 1e-9*math.Abs(r.Bound) {
		t.Errorf("ended with %+v; %d iterations of %d excerpts, bound %v", last, r.Iterations, len(r.Excerpts), r.Bound)
	}
}

// TestTimeLeft checks that the remaining time is proportional to the number of remaining gaps.
func TestTimeLeft(t *testing.T) {
	var p Progress
	f := &filler{o: Options{Progress: func(q Progress) { p = q }}, units: 4, began: time.Now().Add(-time.Hour)}
	for done, want := range []float64{0, 3, 1, 1. / 3, 0} {
		if f.report(func() { f.done = done }); math.Abs(p.Left.Seconds()/p.Elapsed.Seconds()-want) > 1e-6 || p.Excerpt != done {
			t.Errorf("%d of 4 in %v: %v left, want %.2f times as long", p.Excerpt, p.Elapsed, p.Left, want)
		}
	}
}

// TestMemoryOfGaps checks that the memory grows with the length of a gap, more with Natural, and the error if it exceeds the limit.
func TestMemoryOfGaps(t *testing.T) {
	bytes := func(seconds int, m Method) float64 {
		gaps := []Gap{{Start: 10 * rate, End: (10 + seconds) * rate}}
		f := &filler{res: &Result{rate: rate, samples: 100 * rate, channels: 1, Gaps: gaps, Method: m}}
		return f.bytes()
	}
	for _, m := range []Method{Mixture, Natural} {
		short, once, twice := bytes(1, m), bytes(20, m), bytes(40, m)
		if a, b := once-short, twice-once; !(a > 0) || math.Abs(19*b-20*a) > 1e-6*b {
			t.Errorf("%s: 19 s more need %v bytes, 20 s %v", m, a, b)
		}
	}
	if mixture, natural := bytes(20, Mixture), bytes(20, Natural); !(natural > mixture+8*naturalArrays*20*rate) {
		t.Errorf("natural fills need %v bytes, the mixture %v", natural, mixture)
	}
	x, gaps := tones(4000, 1, 0.01), []Gap{{Start: 1000, End: 1100}}
	for limit, refused := range map[float64]bool{1e4: true, 1e9: false} {
		_, err := Fill(context.Background(), x, rate, gaps, Options{Model: vssgp.Options{MemoryLimit: limit}})
		if errors.Is(err, vssgp.ErrMemory) != refused || err == nil == refused || refused && !strings.Contains(err.Error(), "1 gaps") {
			t.Errorf("with %v bytes: %v", limit, err)
		}
	}
}
