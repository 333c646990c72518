package paper

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// whole returns a line with a value in every field.
func whole() Line {
	bound := -12.5
	return Line{
		Machine: machine.Machine{Commit: "abc", Dirty: true, Go: "go1", OS: "linux", Arch: "amd64", CPU: "one", Cores: 2, Memory: 3},
		Time:    "2026-11-21T00:00:00Z",
		Key:     Key{Set: "solar", Quick: true, Case: "fixed", Gap: 40, K: 50, Method: "gp", Start: "paper, Σ", Seed: 7},
		Source:  Source{Data: "a.csv", SHA256: "ff"}, N: 10, M: 4, Iterations: 3, Bound: &bound, Seconds: 0.25, Ended: "converged",
		Rate: 16000, PerGap: []GapScore{{Start: 3, RMSE: 0.05, Coverage: &bound, NLPD: &bound}},
		Scores:  map[Score]float64{TestRMSE: 0.5, NLPD: -1},
		Learned: &Learned{Lengthscale: []float64{1}, Period: []float64{0}, Variance: []float64{2}, NoiseSD: 0.1, Confident: []Confident{{1, 2, 3}}},
		Curve: &Curve{
			X: []float64{1, 2}, Mean: []float64{3, 4}, SD: []float64{5, 6},
			Observed: &Trace{[]float64{1}, []float64{3}}, Missing: &Trace{[]float64{2}, []float64{4}},
		},
		Status: machine.OK,
	}
}

// TestLinesRoundTrip checks that all fields of lines are read back as they were written.
func TestLinesRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	second := whole()
	second.Seed, second.Learned, second.Curve, second.Bound, second.Status = 8, nil, nil, nil, "out of memory"
	want := []Line{whole(), second}
	testkit.OK(t, jsonl.Write(path, want))
	got, err := jsonl.Read[Line](path, nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, %v", got, err)
	}
}

func FuzzLines(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.jsonl")
	testkit.OK(f, jsonl.Write(path, []Line{whole(), {}}))
	file := testkit.Must(os.ReadFile(path))(f)
	f.Add(file)
	f.Add([]byte("{}\n{\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		lines, err := jsonl.Parse[Line](file, nil)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "b.jsonl")
		testkit.OK(t, jsonl.Write(path, lines))
		if again, err := jsonl.Read[Line](path, nil); err != nil || len(again) != len(lines) {
			t.Errorf("%d lines became %d: %v", len(lines), len(again), err)
		}
	})
}

// TestTidyRemovesUnusualValues checks that values that JSON cannot represent are deleted and others rounded.
func TestTidyRemovesUnusualValues(t *testing.T) {
	l := whole()
	bound := math.Inf(-1)
	l.Bound = &bound
	l.Scores = map[Score]float64{TrainRMSE: 0.123456789, TestRMSE: math.NaN(), SNR: math.Inf(1)}
	l.Learned.Confident[0].Frequency = 1. / 3
	l.Curve.Missing.Y[0] = 2. / 3
	share := 2. / 3
	l.PerGap[0] = GapScore{RMSE: share, Coverage: &share}
	l.tidy()
	if l.Bound != nil || len(l.Scores) != 1 || l.Scores[TrainRMSE] != 0.123457 {
		t.Errorf("bound %v, scores %v", l.Bound, l.Scores)
	}
	if g := l.PerGap[0]; g.RMSE != 0.666667 || *g.Coverage != 0.666667 {
		t.Errorf("not rounded: %+v", g)
	}
	if l.Learned.Confident[0].Frequency != 0.333333 || l.Curve.Missing.Y[0] != 0.666667 {
		t.Errorf("not rounded: %+v, %+v", l.Learned, l.Curve.Missing)
	}
}

func TestDigits(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0.12345, "0.123"}, {-0.0098765, "-0.0099"}, {0, "0"}, {12.345, "12.3"}, {2176.4, "2176"}, {3.2e7, "3.2e+07"}, {99.96, "100"}} {
		if got := digits(c.v); got != c.want {
			t.Errorf("%v as %q, want %q", c.v, got, c.want)
		}
	}
	if got := spread([]float64{1, 3}); got != "2 ± 1.41" {
		t.Errorf("spread %q", got)
	}
}
