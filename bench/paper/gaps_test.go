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
	"github.com/vssgp/vssgp/bench/internal/machine"
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
// alone; as many as there is room for.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name        string
		g           *signal
		count       int
		least, most int // places found
		lo, hi      int // that they lie in
	}{
		{"sound all over", loudParts(10_000, [2]int{0, 10_000}), 8, 8, 8, 100, 9900},
		{"one sound", loudParts(10_000, [2]int{4000, 6000}), 3, 3, 3, 3951, 6049},
		{"room for few", loudParts(10_000, [2]int{4000, 4200}), 8, 1, 2, 3951, 4249},
		{"too short", loudParts(200, [2]int{0, 200}), 8, 0, 0, 0, 0},
		{"silence but for the ends", loudParts(10_000, [2]int{0, 40}, [2]int{9960, 10_000}), 8, 0, 0, 0, 0},
	} {
		got := c.g.places(1, c.count)
		if len(got) < c.least || len(got) > c.most {
			t.Errorf("%s: %d places, want %d to %d", c.name, len(got), c.least, c.most)
		}
		for i, at := range got {
			if at < c.lo || at > c.hi {
				t.Errorf("%s: a place at %d, want in [%d, %d]", c.name, at, c.lo, c.hi)
			}
			for _, other := range got[:i] {
				if d := max(at-other, other-at); d < 250 {
					t.Errorf("%s: places %d apart, want 250 at least", c.name, d)
				}
			}
		}
		if again, other := c.g.places(1, c.count), c.g.places(2, c.count); !slices.Equal(got, again) || len(got) > 0 && slices.Equal(got, other) {
			t.Errorf("%s: places %v, again %v, of another seed %v", c.name, got, again, other)
		}
	}
}

// TestGapsAt: all lengths about the same places, in rising order.
func TestGapsAt(t *testing.T) {
	want := []audio.Gap{{Start: 95, End: 106}, {Start: 495, End: 506}}
	if got := gapsAt([]int{500, 100}, 11); !slices.Equal(got, want) {
		t.Errorf("gaps %v, want %v", got, want)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  string
	}{{0.5, "better"}, {0.952, "better"}, {0.953, "level"}, {1, "level"}, {1.05, "level"}, {1.051, "worse"}, {3, "worse"}} {
		if got := verdict(c.ratio); got != c.want {
			t.Errorf("%v is %s, want %s", c.ratio, got, c.want)
		}
	}
}

// filled is a line of a method's fills of gaps of 5 ms at 1000 Hz, by their
// RMSE; those of models cover a share.
func filled(method, start, name string, seed uint64, coverage float64, errors ...float64) Line {
	l := lineOf(method, start, name, seed, 0, map[Score]float64{SNR: 1})
	l.Gap, l.Rate = 5, 1000
	for i, e := range errors {
		g := GapScore{Start: 100 * i, RMS: 1, RMSE: e}
		if coverage > 0 {
			nlpd := -2.0
			g.Coverage, g.NLPD = &coverage, &nlpd
		}
		l.PerGap = append(l.PerGap, g)
	}
	return l
}

// TestContests: the strongest autoregressive fill of each recording, gaps
// paired by place and seed.
func TestContests(t *testing.T) {
	lines := []Line{
		filled("vssgp", ownStart, "a", 1, 0.95, 0.1, 0.2), filled("vssgp", ownStart, "a", 2, 0.85, 0.4),
		filled("ar", "", "a", 1, 0, 0.2, 0.2), filled("ar", "", "a", 2, 0, 0.4, 9),
		filled("ar, 32 ms", "", "a", 1, 0, 0.2, 0.4), filled("ar, 32 ms", "", "a", 2, 0, 0.4, 9),
		filled("vssgp", ownStart, "b", 1, 0.99, 0.3), filled("ar", "", "b", 1, 0, 0.1), filled("linear", "", "b", 1, 0, 0.01),
	}
	got := contests(lines)
	if len(got) != 2 || got[0].best != "ar" || got[1].best != "ar" || got[0].name != "a" || got[1].name != "b" {
		t.Fatalf("%+v", got)
	}
	// ln ½, 0, 0: mean −0.231, standard error 0.231.
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"ratio", got[0].ratio, math.Pow(0.5, 1./3)}, {"its error", got[0].factor, math.Pow(2, 1./3)},
		{"by samples", got[0].pooled, math.Sqrt(0.21 / 0.24)}, {"coverage", got[0].coverage, 2.75 / 3},
		{"ratio in b", got[1].ratio, 3}, {"its error", got[1].factor, 1},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if !got[0].calibrated() || got[1].calibrated() {
		t.Errorf("coverage %v and %v: calibrated %v and %v", got[0].coverage, got[1].coverage, got[0].calibrated(), got[1].calibrated())
	}
	var out bytes.Buffer
	contestTables(&out, lines)
	for _, want := range []string{"0.79 ×÷ 1.26 better", "3.00 ×÷ 1.00 worse", "0.94 better", "91.7 % in", "99.0 % out", "in 1 of 2 recordings × lengths by gaps, in 1 by samples. Calibrated in 1 of 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestPairTable: a method that filled one gap is held against the others on
// that gap.
func TestPairTable(t *testing.T) {
	var out bytes.Buffer
	pairTable(&out, []Line{
		filled("vssgp", ownStart, "a", 1, 0.95, 0.1, 0.8), filled("ar", "", "a", 1, 0, 0.4, 0.9),
		filled("gp", gpStart, "a", 1, 0.9, 0.2), filled("vssgp", paperStart+withWindows, "b", 1, 0.9, 0.2),
	})
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 3 {
		t.Fatalf("%d rows, want a heading and one for gp:\n%s", len(rows), out.String())
	}
	var cells []string
	for _, c := range strings.Split(strings.Trim(rows[2], "|"), "|") {
		cells = append(cells, strings.TrimSpace(c))
	}
	want := []string{"5", "gp", gpStart, "1", "14", "20", "7.96", "0.2", "0.1", "0.4", "2", "0.5", "90.0 %", "95.0 %", "-2", "-2"}
	if !slices.Equal(cells[:len(want)], want) {
		t.Errorf("row %q, want %q", cells, want)
	}
}

// TestPeaks: a start has the sinusoids' frequencies and weights.
func TestPeaks(t *testing.T) {
	y := make([]float64, 1000)
	for i := range y {
		y[i] = 2*math.Sin(0.4*float64(i)) + math.Sin(1.1*float64(i))
	}
	c := peaks(y, 2, 30)
	if c.L != 2 || math.Abs(c.Frequency[0]-0.4/(2*math.Pi)) > 1e-4 || math.Abs(c.Frequency[1]-1.1/(2*math.Pi)) > 1e-4 || math.Abs(c.Variance[0]-0.8) > 0.01 || c.Lengthscale[1] != 30 {
		t.Errorf("%+v", c)
	}
	if c := peaks(make([]float64, 100), 3, 30); c.L != 1 || c.Frequency[0] != 0 || c.Variance[0] != 1 {
		t.Errorf("silence: %+v", c)
	}
}

// TestGPDoesNotFit: an excerpt of too many rows keeps its place in the tables,
// with the reason.
func TestGPDoesNotFit(t *testing.T) {
	g := loudParts(44_100, [2]int{0, 44_100})
	g.Rate, g.Gaps = 44_100, gapsAt([]int{20_000}, 441)
	task := &task{signal: g, log: io.Discard}
	f := task.fill("gp", gpStart, gpFill(0.03, 30, 8))
	l, err := (&session{log: io.Discard}).one(context.Background(), f, "")
	if err != nil || l.Status != "does not fit: N = 2646 rows for each gap, at most 1500" || l.Scores != nil {
		t.Errorf("error %v, status %q, scores %v", err, l.Status, l.Scores)
	}
	if err := f.run(context.Background(), &l); !errors.Is(err, errRows) {
		t.Errorf("error %v", err)
	}
}

// TestGapsQuick runs the small version whole.
func TestGapsQuick(t *testing.T) {
	t.Chdir("../..")
	var out, log bytes.Buffer
	s := &session{Options: Options{Quick: true, Out: t.TempDir()}, log: &log}
	lines, err := s.set(context.Background(), sets[5])
	if err != nil {
		t.Fatal(err)
	}
	if err := s.show(sets[5], lines, &out); err != nil {
		t.Fatal(err)
	}
	// By length: silence, linear, four autoregressive fills, four of VSSGP, gp.
	if want := 2 * 11; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	for _, l := range lines {
		gaps := 2
		if isSlow(l) {
			gaps = 1
		}
		if l.Status != machine.OK || !(l.Scores[TestRMSE] > 0) || len(l.PerGap) != gaps || l.Case != "speech" {
			t.Errorf("%+v", l)
		}
		checkPerGap(t, l)
		if reach := int(0.01 * float64(l.Rate)); l.Method == "gp" && l.N != 2*reach {
			t.Errorf("%s: fitted to %d rows, want %d to either side of the gap", l.Key, l.N, reach)
		}
	}
	for _, want := range []string{"Gaps of 5 ms", "Gaps of 20 ms", "| gp ", "| paper, no windows ", "| speech ", "Calibrated in"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for _, name := range []string{"gaps-snr.png", "gaps-snr.svg", "gaps-coverage.png", "gaps-coverage.svg"} {
		if _, err := os.Stat(filepath.Join(s.Out, "quick-"+name)); err != nil {
			t.Error(err)
		}
	}
}

// checkPerGap: gaps' scores add up to the line's.
func checkPerGap(t *testing.T, l Line) {
	t.Helper()
	whole, snr, coverage, _ := pooled(l.PerGap)
	if !(math.Abs(whole-l.Scores[TestRMSE]) <= 1e-4*whole) || !(math.Abs(snr-l.Scores[SNR]) <= 1e-3) {
		t.Errorf("%s: RMSE %v of the gaps, %v of all; SNR %v, %v", l.Key, whole, l.Scores[TestRMSE], snr, l.Scores[SNR])
	}
	if (l.Method == "vssgp" || l.Method == "gp") != (len(coverage) == len(l.PerGap)) {
		t.Errorf("%s: coverage of %d gaps", l.Key, len(coverage))
	}
}
