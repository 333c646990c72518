package paper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// loudParts is a signal at 1000 Hz that sounds in the stretches [start, end)
// alone.
func loudParts(n int, sounds ...[2]int) *signal {
	g := made(make([]float64, n))
	g.Name, g.Rate = "a", 1000
	for _, s := range sounds {
		for i := s[0]; i < s[1]; i++ {
			g.Y[i] = math.Sin(0.3 * float64(i))
		}
	}
	return g
}

// TestPlaces: where it sounds, away from the ends and each other, by the seed
// and the length alone; as many as there is room for.
func TestPlaces(t *testing.T) {
	const length = 20
	for _, c := range []struct {
		name        string
		g           *signal
		count       int
		least, most int // places found
		lo, hi      int // that the gaps lie in
	}{
		{"sound all over", loudParts(10_000, [2]int{0, 10_000}), 8, 8, 8, 250, 9750},
		{"one sound", loudParts(10_000, [2]int{4000, 6000}), 3, 3, 3, 3940, 6060},
		{"room for few", loudParts(10_000, [2]int{4000, 4200}), 8, 1, 2, 3940, 4260},
		{"too short", loudParts(520, [2]int{0, 520}), 8, 0, 0, 0, 0},
		{"silence but for the ends", loudParts(10_000, [2]int{0, 40}, [2]int{9960, 10_000}), 8, 0, 0, 0, 0},
	} {
		got := c.g.places(1, length, c.count)
		if len(got) < c.least || len(got) > c.most {
			t.Errorf("%s: %d places, want %d to %d", c.name, len(got), c.least, c.most)
		}
		for i, at := range got {
			if at < c.lo || at+length > c.hi {
				t.Errorf("%s: a gap from %d on, want in [%d, %d]", c.name, at, c.lo, c.hi)
			}
			for _, other := range got[:i] {
				if d := max(at-other, other-at); d < 200 {
					t.Errorf("%s: places %d apart, want 200 at least", c.name, d)
				}
			}
		}
		again, other, longer := c.g.places(1, length, c.count), c.g.places(2, length, c.count), c.g.places(1, length+1, c.count)
		if !slices.Equal(got, again) || len(got) > 0 && (slices.Equal(got, other) || slices.Equal(got, longer)) {
			t.Errorf("%s: places %v, again %v, of another seed %v, of another length %v", c.name, got, again, other, longer)
		}
	}
}

// TestGapsAt: in rising order.
func TestGapsAt(t *testing.T) {
	want := []audio.Gap{{Start: 95, End: 106}, {Start: 495, End: 506}}
	if got := gapsAt([]int{495, 95}, 11); !slices.Equal(got, want) {
		t.Errorf("gaps %v, want %v", got, want)
	}
}

// fillsOf is a line of a method's fills of gaps of 5 ms at 1000 Hz, by their
// RMSE; the intervals of models cover a fraction.
func fillsOf(class, name, method, start string, seed uint64, coverage float64, errors ...float64) Line {
	l := lineOf(method, start, name, seed, 0, nil)
	l.Class, l.Gap, l.Rate, l.Processor = class, 5, 1000, 3
	for i, e := range errors {
		g := GapScore{Start: 100 * i, RMSE: e}
		if coverage > 0 {
			nlpd := -2.0
			g.Coverage, g.NLPD = &coverage, &nlpd
		}
		l.PerGap = append(l.PerGap, g)
	}
	return l
}

// gapLines are two recordings of speech and one of music. Of the grid's
// settings the first is the better on the tuned seed, both recordings
// together, though not on one of them; the second is on the other seed.
func gapLines() []Line {
	return []Line{
		fillsOf("speech", "a", mixtureMethod, "", 1, 0.95, 0.1, 0.2), fillsOf("speech", "b", mixtureMethod, "", 1, 0.93, 0.3),
		fillsOf("speech", "a", gridMethod, "x", 1, 0.95, 0.2, 0.2), fillsOf("speech", "b", gridMethod, "x", 1, 0.95, 0.3),
		fillsOf("speech", "a", gridMethod, "y", 1, 0.95, 0.1, 0.1), fillsOf("speech", "b", gridMethod, "y", 1, 0.95, 0.9),
		fillsOf("music", "c", mixtureMethod, "", 1, 0.85, 0.3), fillsOf("music", "c", gridMethod, "x", 1, 0.85, 0.4),
		fillsOf("music", "c", gridMethod, "y", 1, 0.95, 0.2),
		fillsOf("speech", "a", mixtureMethod, "", 2, 0.95, 0.4, 0.2), fillsOf("speech", "a", gridMethod, "x", 2, 0.95, 0.9, 0.9),
		fillsOf("speech", "a", gridMethod, "y", 2, 0.95, 0.8, 0.8), fillsOf("speech", "a", "linear", "", 2, 0, 0.8),
		fillsOf("speech", "a", mixtureMethod, "no chirp", 2, 0.9, 0.8),
	}
}

// half are the lines of the seed that is tuned on, or of the others.
func half(tuned bool) fillsBy { return byMethod(jsonl.Where(gapLines(), isTuned, tuned)) }

// TestBestSettings: chosen for each class over its recordings, and for each
// half anew.
func TestBestSettings(t *testing.T) {
	f, other := half(true), half(false)
	if f.chosen[cell{"speech", 5}] != "x" || f.chosen[cell{"music", 5}] != "y" || len(f.chosen) != 2 || other.chosen[cell{"speech", 5}] != "y" {
		t.Errorf("chosen %v, of the other seed %v", f.chosen, other.chosen)
	}
	if want := []string{mixtureMethod, bestMethod, "linear"}; !slices.Equal(other.methods, want) || !slices.Equal(f.methods, want[:2]) {
		t.Errorf("methods %q and %q, want %q and all but the last before", other.methods, f.methods, want)
	}
	best := other.gaps[bestMethod]
	if len(best) != 2 || best[0].RMSE != 0.8 || len(other.gaps[mixtureMethod]) != 2 || len(f.gaps[mixtureMethod]) != 4 {
		t.Errorf("best of the other seed %+v", best)
	}
}

// TestRatios: over samples by recording and length, and by gaps, paired by
// place and seed.
func TestRatios(t *testing.T) {
	speech := func(tuned bool) []pair {
		f := half(tuned)
		return jsonl.Where(paired(f.gaps[mixtureMethod], f.gaps[bestMethod]), func(p pair) string { return p.a.class }, "speech")
	}
	// By recordings: ½·ln(0.05/0.08) and 0. By gaps: ln ½, 0, 0.
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"pooled", pooled(speech(true)).mean, math.Pow(0.05/0.08, 0.25)},
		{"its error", pooled(speech(true)).factor, math.Pow(0.08/0.05, 0.25)},
		{"by gap", byGap(speech(true)).mean, math.Pow(0.5, 1./3)}, {"its error", byGap(speech(true)).factor, math.Pow(2, 1./3)},
		{"the other seed", pooled(speech(false)).mean, math.Sqrt(0.2 / 1.28)},
		{"of one recording", pooled(speech(false)).factor, 1},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	f := half(false)
	if n := len(paired(f.gaps["linear"], f.gaps[bestMethod])); n != 1 {
		t.Errorf("%d pairs of which one has one gap, want it", n)
	}
	if n := len(paired(f.gaps[mixtureMethod], half(true).gaps[bestMethod])); n != 0 {
		t.Errorf("%d pairs of different seeds", n)
	}
	if r := pooled(nil); !math.IsNaN(r.mean) {
		t.Errorf("of no gaps %v", r)
	}
}

// TestGapsTables: halves apart, verdicts, choices and parts left out.
func TestGapsTables(t *testing.T) {
	var out bytes.Buffer
	gapsTables(&out, gapLines())
	tuned, rest, ok := strings.Cut(out.String(), "**Not tuned on**")
	if !ok {
		t.Fatal(out.String())
	}
	testkit.Contains(t, tuned,
		"Of 2 cells of class and length, mixture above 1: music 5 ms (1.50). Coverage outside 90 to 98 %: music 5 ms (85.0 %).",
		"| speech | mixture              | 0.89 (0.79), 94.3 %", "| music  | mixture              | 1.50 (1.50) (!), 85.0 % (!)",
		"| speech | ar, best of the grid | 1.00 (1.00), 95.0 %",
		"| speech                                  | x    |", "| music                                   | y    |")
	testkit.Contains(t, rest,
		"Of 1 cells of class and length, mixture above 1: none. Coverage outside 90 to 98 %: none.",
		"| speech | linear               | 1.00 (1.00) ", "| a                     | 2    | 0.40 (0.35), 95.0 %",
		"| speech                                  | y    |",
		"| no chirp | 1            | 2.000 ×÷ 1.000 | 2.000 ×÷ 1.000 | 90.0 %   | -2.000", "| whole    | 1            | 1.000 ×÷ 1.000")
	if figures := gapsFigures(gapLines()); len(figures) != 2 || len(figures[0].Panels) != 1 {
		t.Errorf("%d figures, of the seed that is not tuned on, which has speech alone", len(figures))
	}
}

// TestLeftOut: a change applies to every candidate and leaves the mixture itself unchanged.
func TestLeftOut(t *testing.T) {
	var count int
	c, changed := timewarp.Mixture(), timewarp.Mixture()
	each(func(c *timewarp.Candidate) { count++; c.Refill = false })(&changed)
	if count != len(c.All) || !c.All[0].Refill || changed.All[0].Refill {
		t.Errorf("%d of %d candidates changed; Refill %v, changed %v", count, len(c.All), c.All[0].Refill, changed.All[0].Refill)
	}
}

// TestSounds: recordings of the options, and those that are not there.
func TestSounds(t *testing.T) {
	dir := t.TempDir()
	text := testkit.Must(os.ReadFile("../../../testdata/speech.wav"))(t)
	voice := filepath.Join(dir, "voice.wav")
	testkit.OK(t, os.WriteFile(voice, text, 0o666))
	for _, c := range []struct {
		recordings []string
		says       string // "": it lists fits
		sentinel   error
	}{
		{[]string{"speech:voice.wav"}, "", nil}, {[]string{"piano:" + voice}, "", nil},
		{nil, "no recording of this set", errMissing},
		{[]string{"speech"}, "must be CLASS:FILE", ErrOptions}, {[]string{":a.wav"}, "must be CLASS:FILE", ErrOptions},
		{[]string{"speech:nobody.wav"}, "nobody.wav", ErrOptions},
	} {
		var log bytes.Buffer
		s := &session{Options: Options{Data: dir, Recordings: c.recordings, Seeds: 1}, log: &log}
		fits, err := gapsFits(s)
		if c.says != "" {
			if !errors.Is(err, c.sentinel) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: error %v, want one that says %q", c.recordings, err, c.says)
			}
			continue
		}
		class, _, _ := strings.Cut(c.recordings[0], ":")
		if err != nil || len(fits) == 0 || fits[0].line.Class != class || fits[0].line.Case != "voice" {
			t.Errorf("%v: %d fits, %v", c.recordings, len(fits), err)
		}
		if n := strings.Count(log.String(), "left out: "); n != len(sounds) {
			t.Errorf("%v: reports %d omissions, want %d:\n%s", c.recordings, n, len(sounds), log.String())
		}
	}
}

// TestGapsQuick runs the small version whole.
func TestGapsQuick(t *testing.T) {
	t.Chdir("../../..")
	var out bytes.Buffer
	s := &session{Options: Options{Quick: true, Out: t.TempDir()}, log: io.Discard}
	set := sets[slices.Index(Sets(), gapsSet)]
	lines := testkit.Must(s.set(context.Background(), set))(t)
	testkit.OK(t, s.show(set, lines, &out))
	// By length and seed: mixture, ar, the grid, janssen, linear; of one seed vssgp and the mixture without its parts.
	if want := 2 * (2*(4+len(arGrid)) + 1 + len(leftOut)); len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	for _, l := range lines {
		if l.Status != machine.OK || !(l.Scores[TestRMSE] > 0) || len(l.PerGap) != 1 || l.Case != "speech" || l.Class != "speech" {
			t.Errorf("%+v", l)
		}
		if g := l.PerGap[0]; g.RMSE != l.Scores[TestRMSE] || (g.Coverage == nil) != (l.Method == "janssen" || l.Method == "linear") {
			t.Errorf("%s: %+v of one gap, scores %v", l.Key, g, l.Scores)
		}
	}
	whole := jsonl.Where(jsonl.Where(lines, methodOf, mixtureMethod), startOf, "")
	for _, v := range leftOut {
		without := jsonl.Where(lines, startOf, v.name)
		same := 0
		for _, p := range paired(gapsOfLines(without), gapsOfLines(whole)) {
			if p.a.RMSE == p.b.RMSE && *p.a.Coverage == *p.b.Coverage && *p.a.NLPD == *p.b.NLPD {
				same++
			}
		}
		if same == 2 && !strings.HasPrefix(v.name, "voice") { // which trials choose for speech
			t.Errorf("%s fills as the whole does", v.name)
		}
	}
	testkit.Contains(t, out.String(),
		"**Tuned on**", "**Not tuned on**", "| speech | vssgp ", "| whole ", "| voice and steady |", "above 1: ")
	for _, name := range []string{"gaps-ratio.png", "gaps-ratio.svg", "gaps-coverage.png", "gaps-coverage.svg"} {
		testkit.Must(os.Stat(filepath.Join(s.Out, "quick-"+name)))(t)
	}
}
