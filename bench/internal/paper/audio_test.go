package paper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

func signalOf(y []float64) *signal { return &signal{Rate: 16000, Y: y} }

// TestRandomGapsAreApart checks the number and the length of random gaps, their distances from each other
// and from the ends, and that their positions depend on the seed and vary over their cells.
func TestRandomGapsAreApart(t *testing.T) {
	for _, c := range []struct{ n, count, length int }{{1000, 5, 40}, {16000, 25, 80}, {400, 5, 40}, {1003, 7, 41}, {20, 1, 10}, {64, 1, 1}} {
		g := signalOf(make([]float64, c.n))
		least, most := c.n, 0
		for seed := range uint64(200) {
			gaps := testkit.Must(g.drawGaps(seed, c.count, c.length))(t)
			if len(gaps) != c.count {
				t.Fatalf("%+v: %d gaps", c, len(gaps))
			}
			last := 0
			for _, gap := range append(gaps, audio.Gap{Start: c.n, End: c.n + c.length}) {
				if 2*(gap.Start-last) < c.length || gap.Len() != c.length {
					t.Fatalf("%+v: gaps %v in %d samples", c, gaps, c.n)
				}
				last = gap.End
			}
			least, most = min(least, gaps[0].Start), max(most, gaps[0].Start)
		}
		margin := (c.length + 1) / 2
		if latest := c.n/c.count - margin - c.length; least > margin+latest/10 || most < latest-latest/10 {
			t.Errorf("%+v: the first gap starts at %d to %d, want %d to %d", c, least, most, margin, latest)
		}
	}
	g := signalOf(make([]float64, 1000))
	one, _ := g.drawGaps(1, 5, 40)
	again, _ := g.drawGaps(1, 5, 40)
	other, _ := g.drawGaps(2, 5, 40)
	if !reflect.DeepEqual(one, again) || reflect.DeepEqual(one, other) {
		t.Error("the gaps do not depend on the seed alone")
	}
	for _, bad := range [][2]int{{5, 101}, {0, 40}, {5, 0}, {26, 20}} {
		if _, err := g.drawGaps(1, bad[0], bad[1]); err == nil {
			t.Errorf("%d gaps of %d in 1000 samples: no error", bad[0], bad[1])
		}
	}
}

// TestSignal checks that most finds the excerpt with the maximum and that at scales an excerpt to rms 0.1.
func TestSignal(t *testing.T) {
	samples := make([]float64, 1000)
	for i := range samples {
		samples[i] = 0.01 * math.Sin(float64(i))
		if i >= 430 && i < 560 {
			samples[i] *= 20
		}
	}
	r := signalOf(samples)
	r.Name, r.Rate = "hum", 8000
	if at := r.most(200, bayes.RMS); at != 400 {
		t.Errorf("loudest excerpt of 200 samples at %d, want 400", at)
	}
	g := testkit.Must(r.at(400, 200))(t)
	if v := bayes.RMS(g.Y); math.Abs(v-0.1) > 1e-12 || g.Name != "hum@400" || g.Rate != 8000 {
		t.Errorf("rms %v, name %s, rate %d", v, g.Name, g.Rate)
	}
	if a, b := g.Y[60]/g.Y[70], samples[460]/samples[470]; math.Abs(a-b) > 1e-12 {
		t.Errorf("ratio of samples %v, want %v", a, b)
	}
	for _, bad := range [][2]int{{-1, 10}, {0, 0}, {900, 101}} {
		if _, err := r.at(bad[0], bad[1]); err == nil {
			t.Errorf("%d samples from %d on: no error", bad[1], bad[0])
		}
	}
	if _, err := signalOf(make([]float64, 10)).at(0, 10); err == nil {
		t.Error("no error for a silent excerpt")
	}
}

// TestScoresUseTheirSamples checks that train scores use only observed samples, that test scores use only
// missing ones, and that samples without a prediction are ignored.
func TestScoresUseTheirSamples(t *testing.T) {
	g := signalOf(make([]float64, 1000))
	for i := range g.Y {
		g.Y[i] = math.Sin(0.1 * float64(i))
	}
	g.Gaps = []audio.Gap{{Start: 300, End: 340}}
	mean, sd := append([]float64(nil), g.Y...), make([]float64, len(g.Y))
	for i := range mean {
		sd[i] = 1
		switch {
		case i >= 300 && i < 320:
			mean[i] += 0.5
		case i >= 320 && i < 340:
			mean[i] += 5 // outside the interval
		case i < 100:
			mean[i] = math.NaN()
		default:
			mean[i] += 0.25
		}
	}
	var l Line
	g.score(&l, &filling{Mean: mean, SD: sd})
	for name, want := range map[Score]float64{
		TrainRMSE: 0.25, TestRMSE: math.Sqrt((0.25 + 25) / 2), Coverage: 0.5,
		NLPD: 0.5*math.Log(2*math.Pi) + (0.25+25)/4, ZeroRMSE: bayes.RMS(g.Y[300:340]),
	} {
		if got := l.Scores[name]; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	if !(l.Scores[TrainSTFT] > 0 && l.Scores[TestSTFT] > l.Scores[TrainSTFT] && l.Scores[ZeroTrain] > l.Scores[ZeroTest]) {
		t.Errorf("STFT scores %v", l.Scores)
	}
	l = Line{}
	g.score(&l, &filling{Mean: mean})
	if _, have := l.Scores[Coverage]; have {
		t.Error("a fill without intervals has a coverage")
	}
}

func TestObserved(t *testing.T) {
	g := signalOf([]float64{1, 2, 3, 4, 5})
	g.Gaps = []audio.Gap{{Start: 1, End: 3}}
	observed, missing := g.traces()
	if !reflect.DeepEqual(observed, &Trace{[]float64{0, 3, 4}, []float64{1, 4, 5}}) || !reflect.DeepEqual(missing, &Trace{[]float64{1, 2}, []float64{2, 3}}) {
		t.Errorf("observed %+v, missing %+v", observed, missing)
	}
	if got := gapsOf([]float64{3, 4, 7, 9, 10}); !reflect.DeepEqual(got, []audio.Gap{{Start: 3, End: 5}, {Start: 7, End: 8}, {Start: 9, End: 11}}) {
		t.Errorf("gaps %v", got)
	}
}

func lineOf(method, start, name string, seed uint64, k int, scores map[Score]float64) Line {
	return Line{Key: Key{Method: method, Start: start, Case: name, Seed: seed, K: k}, Scores: scores, Status: machine.OK}
}

// TestPairRatios checks that only pairs with the same case and seed are used.
func TestPairRatios(t *testing.T) {
	at := func(method, start, name string, seed uint64, v float64) Line {
		return lineOf(method, start, name, seed, 0, map[Score]float64{TestRMSE: v})
	}
	failed := at("ssgp", "paper", "b", 2, 100)
	failed.Status = "no"
	lines := []Line{
		at("ssgp", "paper", "a", 1, 6), at("ssgp", "paper", "b", 1, 8), at("ssgp", "paper", "a", 3, 50), failed,
		at("vssgp", "paper", "b", 1, 4), at("vssgp", "paper", "a", 1, 1), at("vssgp", "paper", "b", 2, 1), at("vssgp", "spectrum", "a", 1, 60),
	}
	if got := pairRatios(lines, variant{method: "ssgp", start: "paper"}, variant{method: "vssgp", start: "paper"}, TestRMSE); !reflect.DeepEqual(got, []float64{6, 2}) {
		t.Errorf("ratios %v, want 6 and 2", got)
	}
	var out bytes.Buffer
	ratios(&out, lines)
	testkit.Contains(t, out.String(),
		"3.46 times VSSGP's (geometric mean of 2 pairs of the same signal and seed, 2 to 6; the paper's means: 2.59)")
}

func TestMeansWithinNoiseAreSame(t *testing.T) {
	for _, c := range []struct {
		groups [][]float64
		want   string
	}{
		{[][]float64{{1, 3}, {3, 5}, {2, 4}}, "yes"}, // sd √2 each, means at most 2 apart
		{[][]float64{{1, 3}, {4, 6}}, "no"},          // 3 apart
		{[][]float64{{1, 3}, {2, 4}, {5, 7}}, "no"},
		{[][]float64{{1, 3}, {2}}, "too few repetitions"},
	} {
		if got := same(c.groups...); got != c.want {
			t.Errorf("%v: %s, want %s", c.groups, got, c.want)
		}
	}
}

// TestSlopeOfPowerLaw checks the slope and its text for time ∝ K^1.5.
func TestSlopeOfPowerLaw(t *testing.T) {
	var lines []Line
	for _, k := range []int{50, 100, 800} {
		for seed, factor := range []float64{0.9, 1.1} {
			l := lineOf("sfvssgp", "paper", "a", uint64(seed), k, map[Score]float64{StepTime: 3 * factor * float64(k)})
			l.Seconds = factor * math.Pow(float64(k), 1.5)
			lines = append(lines, l)
		}
	}
	if got := slope(lines, secondsOf); !(math.Abs(got-1.5) <= 1e-12) {
		t.Errorf("slope %v, want 1.5", got)
	}
	if got := slope(lines[:2], secondsOf); !math.IsNaN(got) {
		t.Errorf("slope %v for a single K, want NaN", got)
	}
	var out bytes.Buffer
	audio4kTables(&out, lines)
	testkit.Contains(t, out.String(),
		`Start "paper": the time grows as K to the power 1.5, the time of a step as K to the power 1 (the paper: 2)`)
}

// TestProgressLog checks that steps are timed from the first report of the last
// initialization on, and that progress is logged at most twice a minute.
func TestProgressLog(t *testing.T) {
	var log bytes.Buffer
	c := progressLog{log: &log}
	if _, ok := c.perStep(); ok {
		t.Error("want no time per step without steps")
	}
	for _, p := range []vssgp.Progress{
		{Start: 1, Iteration: 1, Elapsed: 5e9}, {Start: 1, Iteration: 501, Elapsed: 40e9},
		{Start: 2, Iteration: 1, Elapsed: 50e9}, {Start: 2, Iteration: 51, Elapsed: 60e9}, {Start: 2, Iteration: 101, Elapsed: 75e9},
	} {
		c.report(p)
	}
	if v, ok := c.perStep(); !ok || math.Abs(v-0.25) > 1e-12 {
		t.Errorf("%v s per step, want 0.25", v)
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d log messages in 75 s, want 2:\n%s", n, log.String())
	}
}

// TestPaperNumbers checks that each table has the paper's numbers in the rows of their
// methods.
func TestPaperNumbers(t *testing.T) {
	var lines []Line
	for _, m := range []string{"ssgp", "vssgp", "fvssgp", "sfvssgp", "svgp", "silence"} {
		lines = append(lines, lineOf(m, "paper", "a", 0, 0, map[Score]float64{TrainRMSE: 1, TestRMSE: 1, TestSTFT: 3, ZeroTest: 4}))
	}
	for _, c := range []struct {
		table  func(io.Writer, []Line)
		method string
		want   []string
	}{
		{audio1kTables, "ssgp", []string{"0.0091 ± 0.0042", "0.088 ± 0.033", "0.094 ± 0.05", "0.55 ± 0.41", "0.75", "1.45"}},
		{audio1kTables, "vssgp", []string{"0.0062 ± 0.00048", "0.034 ± 0.0043", "0.063 ± 0.0068", "0.17 ± 0.022", "0.447"}},
		{audio1kTables, "fvssgp", []string{"0.0054 ± 0.00083", "0.038 ± 0.0049", "0.055 ± 0.0088", "0.22 ± 0.028"}},
		{audio1kTables, "sfvssgp", []string{"0.005 ± 0.003", "0.04 ± 0.0066", "0.052 ± 0.031", "0.24 ± 0.0089"}},
		{audio1kTables, "silence", []string{"0.44", "0.38"}},
		{audio16kTables, "svgp", []string{"0.043", "0.034", "0.54", "0.43", "0.694"}},
		{audio16kTables, "sfvssgp", []string{"0.016", "0.034", "0.18", "0.3", "0.484"}},
		{audio16kTables, "silence", []string{"0.52", "0.62"}},
	} {
		var out bytes.Buffer
		c.table(&out, lines)
		checkRow(t, out.String(), "| "+c.method+" ", c.want...)
	}
	var out bytes.Buffer
	audio16kTables(&out, lines)
	testkit.Contains(t, out.String(), "| 133 ", "| 48 ") // the paper's training times
}

// TestAudioQuick runs the quick version of each set. It checks that every fit has scores,
// that tables and figures are made from the lines, and that a second run does nothing.
func TestAudioQuick(t *testing.T) {
	t.Chdir("../../..")
	for _, c := range sets[2:slow.Pick(5, 3)] {
		t.Run(c.name, func(t *testing.T) {
			var out, log bytes.Buffer
			s := &session{Options: Options{Quick: true, Seeds: 1, Out: t.TempDir()}, log: &log}
			lines := testkit.Must(s.set(context.Background(), c))(t)
			testkit.OK(t, s.show(c, lines, &out))
			for _, l := range lines {
				if l.Status != machine.OK || !(l.Scores[TestRMSE] > 0) || !(l.Scores[ZeroRMSE] > 0) || l.Seconds <= 0 {
					t.Errorf("%+v", l)
				}
			}
			if c.figures != nil {
				for _, ending := range []string{".png", ".svg"} {
					testkit.Must(os.Stat(filepath.Join(s.Out, "quick-"+c.name+ending)))(t)
				}
			}
			log.Reset()
			again, err := s.set(context.Background(), c)
			if err != nil || log.Len() > 0 || !reflect.DeepEqual(again, lines) {
				t.Errorf("a second run repeated fits: %v %s", err, log.String())
			}
		})
	}
}

// TestSetsWithoutData checks the error of a set whose recordings are missing.
func TestSetsWithoutData(t *testing.T) {
	for _, c := range sets[2:] {
		if _, err := c.fits(&session{Options: Options{Data: t.TempDir()}, log: io.Discard}); !errors.Is(err, errMissing) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// TestVoiced checks that the periodic excerpt is found, instead of louder noise or a quiet
// periodic excerpt.
func TestVoiced(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := signalOf(make([]float64, 1600))
	r.Rate = 8000
	for i := range r.Y {
		switch i / 400 {
		case 0:
			r.Y[i] = 0.01 * math.Sin(2*math.Pi*float64(i)/40)
		case 1:
			r.Y[i] = 0.5 * rng.NormFloat64()
		case 2:
			r.Y[i] = 0.6*math.Sin(2*math.Pi*float64(i)/40) + 0.01*rng.NormFloat64()
		default:
			r.Y[i] = 0.4 * rng.NormFloat64()
		}
	}
	if at := r.voiced(400); at != 800 {
		t.Errorf("voiced excerpt of 400 samples at %d, want 800", at)
	}
	if p := periodicity(r.Y[800:1200], 16, 114); p < 0.99 || p > 1+1e-12 {
		t.Errorf("periodicity %v of a sine, want about 1", p)
	}
}
