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
)

// loudParts returns a signal at 1000 Hz that is silent except in the intervals [start, end).
func loudParts(n int, sounds ...[2]int) *signal {
	g := signalOf(make([]float64, n))
	g.Name, g.Rate = "a", 1000
	for _, s := range sounds {
		for i := s[0]; i < s[1]; i++ {
			g.Y[i] = math.Sin(0.3 * float64(i))
		}
	}
	return g
}

// TestPositions checks that gaps are not in silence and have minimum distances from each
// other and from the ends, that there are fewer if there is too little space, and that the
// positions depend only on the seed and the length.
func TestPositions(t *testing.T) {
	const length = 20
	for _, c := range []struct {
		name        string
		g           *signal
		count       int
		least, most int // number of positions
		lo, hi      int // interval that contains the gaps
	}{
		{"sound all over", loudParts(10_000, [2]int{0, 10_000}), 8, 8, 8, 250, 9750},
		{"one sound", loudParts(10_000, [2]int{4000, 6000}), 3, 3, 3, 3940, 6060},
		{"room for few", loudParts(10_000, [2]int{4000, 4200}), 8, 1, 2, 3940, 4260},
		{"too short", loudParts(520, [2]int{0, 520}), 8, 0, 0, 0, 0},
		{"silence but for the ends", loudParts(10_000, [2]int{0, 40}, [2]int{9960, 10_000}), 8, 0, 0, 0, 0},
	} {
		got := c.g.positions(1, length, c.count)
		if len(got) < c.least || len(got) > c.most {
			t.Errorf("%s: %d positions, want %d to %d", c.name, len(got), c.least, c.most)
		}
		for i, at := range got {
			if at < c.lo || at+length > c.hi {
				t.Errorf("%s: gap from sample %d on, want gaps in [%d, %d]", c.name, at, c.lo, c.hi)
			}
			for _, other := range got[:i] {
				if d := max(at-other, other-at); d < 200 {
					t.Errorf("%s: positions %d apart, want at least 200", c.name, d)
				}
			}
		}
		again, other, longer := c.g.positions(1, length, c.count), c.g.positions(2, length, c.count), c.g.positions(1, length+1, c.count)
		if !slices.Equal(got, again) || len(got) > 0 && (slices.Equal(got, other) || slices.Equal(got, longer)) {
			t.Errorf("%s: positions %v, repeated %v, with another seed %v, with another length %v", c.name, got, again, other, longer)
		}
	}
}

// TestGapsAt checks that gaps are in ascending order.
func TestGapsAt(t *testing.T) {
	want := []audio.Gap{{Start: 95, End: 106}, {Start: 495, End: 506}}
	if got := gapsAt([]int{495, 95}, 11); !slices.Equal(got, want) {
		t.Errorf("gaps %v, want %v", got, want)
	}
}

// fillsOf returns a line for gaps of 5 ms at 1000 Hz with the given RMSEs. If coverage is
// positive, it is the coverage of the intervals of every gap.
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

// gapLines returns lines of two recordings of speech and one of music, for the tuned seed and another. One line has a
// setting.
func gapLines() []Line {
	return []Line{
		fillsOf("speech", "a", mixtureMethod, "", 1, 0.95, 0.1, 0.2), fillsOf("speech", "b", mixtureMethod, "", 1, 0.93, 0.3),
		fillsOf("speech", "a", arMethod, "", 1, 0.95, 0.2, 0.2), fillsOf("speech", "b", arMethod, "", 1, 0.95, 0.3),
		fillsOf("music", "c", mixtureMethod, "", 1, 0.85, 0.3), fillsOf("music", "c", arMethod, "", 1, 0.95, 0.2),
		fillsOf("speech", "a", mixtureMethod, "", 2, 0.95, 0.4, 0.2), fillsOf("speech", "a", arMethod, "", 2, 0.95, 0.8, 0.8),
		fillsOf("speech", "a", "linear", "", 2, 0, 0.8),
		fillsOf("speech", "a", mixtureMethod, "no chirp", 2, 0.9, 0.8),
	}
}

// half returns the gaps of the tuned seed or of the others.
func half(tuned bool) fillsBy { return byMethod(jsonl.Where(gapLines(), isTuned, tuned)) }

// TestByMethod checks that the gaps are grouped by method, and that lines with a setting are ignored.
func TestByMethod(t *testing.T) {
	f, other := half(true), half(false)
	if want := []string{mixtureMethod, arMethod, "linear"}; !slices.Equal(other.methods, want) || !slices.Equal(f.methods, want[:2]) {
		t.Errorf("methods on the other seed %q, on the tuned seed %q; want %q, and the first two", other.methods, f.methods, want)
	}
	if len(other.reference) != 2 || len(other.gaps[mixtureMethod]) != 2 || len(f.gaps[mixtureMethod]) != 4 {
		t.Errorf("gaps on the other seed: %+v", other.gaps)
	}
}

// TestRatios checks the error ratios over samples by recording and length, and by gaps.
// Gaps are paired by position and seed.
func TestRatios(t *testing.T) {
	speech := func(tuned bool) []pair {
		f := half(tuned)
		return jsonl.Where(paired(f.gaps[mixtureMethod], f.gaps[arMethod]), func(p pair) string { return p.a.class }, "speech")
	}
	// By recordings: ½·ln(0.05/0.08) and 0. By gaps: ln ½, 0, 0.
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"pooled", pooled(speech(true)), math.Pow(0.05/0.08, 0.25)},
		{"by gap", byGap(speech(true)), math.Pow(0.5, 1./3)},
		{"the other seed", pooled(speech(false)), math.Sqrt(0.2 / 1.28)},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	f := half(false)
	if n := len(paired(f.gaps["linear"], f.gaps[arMethod])); n != 1 {
		t.Errorf("%d pairs, want 1 if a method has only one gap", n)
	}
	if n := len(paired(f.gaps[mixtureMethod], half(true).gaps[arMethod])); n != 0 {
		t.Errorf("%d pairs with different seeds, want none", n)
	}
	if r := pooled(nil); !math.IsNaN(r) {
		t.Errorf("ratio without gaps %v, want NaN", r)
	}
}

// TestGapsTables checks the tables of the tuned seed and the others.
func TestGapsTables(t *testing.T) {
	var out bytes.Buffer
	gapsTables(&out, gapLines())
	tuned, rest, ok := strings.Cut(out.String(), "**Not tuned on**")
	if !ok {
		t.Fatal(out.String())
	}
	testkit.Contains(t, tuned,
		"Of 2 cells by class and length, these have a ratio above 1 for mixture: music 5 ms (1.50). Coverage outside 90 to 98 %: music 5 ms (85.0 %).",
		"| speech | mixture | 0.89 (0.79), 94.3 %", "| music  | mixture | 1.50 (1.50) (!), 85.0 % (!)",
		"| speech | ar      | 1.00 (1.00), 95.0 %")
	testkit.Contains(t, rest,
		"Of 1 cells by class and length, these have a ratio above 1 for mixture: none. Coverage outside 90 to 98 %: none.",
		"| speech | linear  | 1.00 (1.00) ", "| a                     | 2    | 0.40 (0.35), 95.0 %")
	if figures := gapsFigures(gapLines()); len(figures) != 2 || len(figures[0].panels) != 1 {
		t.Errorf("%d figures; want two with one panel, since the seed without tuning has only speech", len(figures))
	}
}

// TestSounds checks recordings in the options, and missing recordings.
func TestSounds(t *testing.T) {
	dir := t.TempDir()
	text := testkit.Must(os.ReadFile("../../../testdata/speech.wav"))(t)
	voice := filepath.Join(dir, "voice.wav")
	testkit.OK(t, os.WriteFile(voice, text, 0o666))
	for _, c := range []struct {
		recordings []string
		text       string // error text; "" if fits are returned
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
		if c.text != "" {
			if !errors.Is(err, c.sentinel) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v: error %v, want %q", c.recordings, err, c.text)
			}
			continue
		}
		class, _, _ := strings.Cut(c.recordings[0], ":")
		if err != nil || len(fits) == 0 || fits[0].line.Class != class || fits[0].line.Case != "voice" {
			t.Errorf("%v: %d fits, %v", c.recordings, len(fits), err)
		}
		if n := strings.Count(log.String(), "skipped: "); n != len(sounds) {
			t.Errorf("%v: %d skipped recordings, want %d:\n%s", c.recordings, n, len(sounds), log.String())
		}
	}
}

// TestGapsQuick runs the quick version of the set.
func TestGapsQuick(t *testing.T) {
	t.Chdir("../../..")
	var out bytes.Buffer
	s := &session{Options: Options{Quick: true, Out: t.TempDir()}, log: io.Discard}
	set := sets[slices.Index(Sets(), gapsSet)]
	lines := testkit.Must(s.set(context.Background(), set))(t)
	testkit.OK(t, s.show(set, lines, &out))
	// For each length and seed: mixture, ar and linear. For one seed also vssgp.
	if want := 2 * (2*3 + 1); len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	for _, l := range lines {
		if l.Status != machine.OK || !(l.Scores[TestRMSE] > 0) || len(l.PerGap) != 1 || l.Case != "speech" || l.Class != "speech" {
			t.Errorf("%+v", l)
		}
		if g := l.PerGap[0]; g.RMSE != l.Scores[TestRMSE] || (g.Coverage == nil) != (l.Method == "linear") {
			t.Errorf("%s: scores of the only gap %+v, of the line %v", l.Key, g, l.Scores)
		}
	}
	testkit.Contains(t, out.String(), "**Tuned on**", "**Not tuned on**", "| speech | vssgp ", "above 1 for mixture: ")
	for _, name := range []string{"gaps-ratio.png", "gaps-ratio.svg", "gaps-coverage.png", "gaps-coverage.svg"} {
		testkit.Must(os.Stat(filepath.Join(s.Out, "quick-"+name)))(t)
	}
}
