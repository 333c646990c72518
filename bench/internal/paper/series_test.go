package paper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestSeriesQuick runs the quick versions of the sets. It checks that every fit has scores
// and that tables and figures can be made from the lines alone.
func TestSeriesQuick(t *testing.T) {
	t.Chdir("../../..")
	o := Options{Sets: []string{"co2", "solar"}[:slow.Pick(2, 1)], Quick: true, Seeds: 1, Out: t.TempDir()}
	var out bytes.Buffer
	testkit.OK(t, Run(context.Background(), o, &out, io.Discard))
	for _, c := range []struct {
		name    string
		figures []string
	}{{"co2", []string{"co2", "co2-forecast"}}, {"solar", []string{"solar"}}}[:len(o.Sets)] {
		lines, err := jsonl.Read[Line](filepath.Join(o.Out, "quick-"+c.name+".jsonl"), nil)
		if err != nil || len(lines) == 0 {
			t.Fatalf("%s: %d lines, %v", c.name, len(lines), err)
		}
		for _, l := range lines {
			_, tested := l.Scores[TestRMSE]
			if l.Status != machine.OK || !(l.Scores[TrainRMSE] > 0) || tested == (l.Case == "all") || l.N == 0 || l.M == 0 && l.Method != "gp" || l.Bound == nil || l.SHA256 == "" {
				t.Errorf("%+v", l)
			}
		}
		for _, name := range c.figures {
			checkFigure(t, filepath.Join(o.Out, "quick-"+name))
		}
	}
	drawn := out.String()
	out.Reset()
	o.Draw, o.Seeds = true, 0
	if err := Run(context.Background(), o, &out, io.Discard); err != nil || out.String() != drawn {
		t.Errorf("the tables made from the lines differ: %v", err)
	}
}

// TestSegments checks that there are five segments of 20 years with minimum distances from
// each other and from the ends, and that their positions depend on the seed and vary.
func TestSegments(t *testing.T) {
	s := &series{Trace: Trace{X: grid(1610, 2000, 1), Y: make([]float64, 391)}}
	first, last := 391, 0
	for seed := range uint64(300) {
		left := testkit.Must(s.drawn(seed))(t)
		at := 0
		gaps := gapsOf(ones(left))
		for _, g := range gaps {
			if g.Len() != 20 || g.Start-at < 10 {
				t.Fatalf("seed %d: segments %v", seed, gaps)
			}
			at = g.End
		}
		if len(gaps) != 5 || len(left)-at < 10 {
			t.Fatalf("seed %d: segments %v of %d", seed, gaps, len(left))
		}
		first, last = min(first, gaps[0].Start), max(last, at)
	}
	if first > 15 || last < 375 {
		t.Errorf("segments from %d to %d only", first, last)
	}
	a, _ := s.drawn(1)
	b, _ := s.drawn(1)
	c, _ := s.drawn(2)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the segments do not depend on the seed alone")
	}
	if _, err := (&series{Trace: Trace{X: grid(0, 158, 1)}}).drawn(0); err == nil {
		t.Error("no error for 159 rows, which are too few for the segments")
	}
	if n := len(ones(s.inside(solarFixed, solarSegment))); n != 100 {
		t.Errorf("%d years in the fixed segments", n)
	}
}

// ones returns the indices of the true elements of b.
func ones(b []bool) (at []float64) {
	for i, v := range b {
		if v {
			at = append(at, float64(i))
		}
	}
	return at
}

// fixedMethod is a method that returns a given bound or error.
type fixedMethod struct {
	bound float64
	err   error
}

func (m fixedMethod) Fit(context.Context, *vssgp.Data) (*baselines.Fit, error) {
	if m.err != nil {
		return nil, m.err
	}
	return &baselines.Fit{Bound: m.bound, Elapsed: time.Second}, nil
}

// TestBestOf checks that bestOf keeps the highest bound, adds the times, and fails if all methods fail.
func TestBestOf(t *testing.T) {
	bad := errors.New("bad")
	f, err := bestOf{fixedMethod{bound: 1}, fixedMethod{err: bad}, fixedMethod{bound: 3}, fixedMethod{bound: 2}}.Fit(context.Background(), nil)
	if err != nil || f.Bound != 3 || f.Elapsed != 3*time.Second {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := (bestOf{fixedMethod{err: bad}}).Fit(context.Background(), nil); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}

// TestStartsApart checks that seeds of a trial do not share initializations, and that a single initialization has the
// seed itself.
func TestStartsApart(t *testing.T) {
	seeds := func(m baselines.Method) (out []uint64) {
		switch m := m.(type) {
		case bestOf:
			for _, one := range m {
				out = append(out, one.(unscheduled).Seed)
			}
		case baselines.Features:
			for i := range uint64(m.Options.Restarts + 1) {
				out = append(out, m.Options.Seed+i)
			}
		}
		return out
	}
	for _, c := range []struct {
		trial
		want []uint64
	}{
		{features("", "", vssgp.Options{}, 1), []uint64{2}},
		{features("", "", vssgp.Options{}, starts), []uint64{10, 11, 12, 13, 14}},
		{smallSigmaFeatures("", vssgp.Options{}, 1), []uint64{2}},
		{smallSigmaFeatures("", vssgp.Options{}, starts), []uint64{10, 11, 12, 13, 14}},
	} {
		if got := seeds(c.with(2)); !slices.Equal(got, c.want) {
			t.Errorf("initializations with seeds %v, want %v", got, c.want)
		}
	}
}

// TestConfident compares the most certain frequencies of a model with values computed by hand.
func TestConfident(t *testing.T) {
	p := vssgp.NewParams(2, 2, 1, 1)
	p.Variance[0], p.Variance[1], p.NoisePrecision[0] = 1, 1, 1
	p.Lengthscale[0], p.Lengthscale[1] = 2, 4
	p.Frequency[0] = 0.5
	copy(p.FreqMean, []float64{1, 2, 3, -4})
	copy(p.FreqVar, []float64{0.25, 0.04, 0.01, 0.09})
	p.CoefMean, p.CoefVar = nil, nil
	m := &vssgp.Model{Params: p, Inference: vssgp.Exact, X: vssgp.Affine{Offset: []float64{7}, Scale: []float64{10}}, Y: vssgp.Affine{Offset: []float64{0}, Scale: []float64{1}}}
	turn := 2 * math.Pi
	want := []Confident{
		{0, (2/2./turn + 0.5) / 10, 0.2 / 2 / turn / 10}, {0, (1/2./turn + 0.5) / 10, 0.5 / 2 / turn / 10},
		{1, 3 / 4. / turn / 10, 0.1 / 4 / turn / 10}, {1, 1 / turn / 10, 0.3 / 4 / turn / 10},
	}
	got := confident(m)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, g := range got {
		w := want[i]
		if g.Component != w.Component || math.Abs(g.Frequency-w.Frequency) > 1e-15 || math.Abs(g.SD-w.SD) > 1e-15 {
			t.Errorf("%d: %+v, want %+v", i, g, w)
		}
	}
	clear(p.FreqVar)
	if got := confident(m); got != nil {
		t.Errorf("want none without a distribution over frequencies, got %+v", got)
	}
}

// TestSeriesPaperNumbers checks that the paper's numbers are in the rows of their methods,
// but not in rows with our initialization.
func TestSeriesPaperNumbers(t *testing.T) {
	var lines []Line
	for _, m := range []string{"fitc", "vfe", "ssgp", "rp1", "rp2", "gp", "vssgp"} {
		lines = append(lines, Line{Key: Key{Set: "solar", Case: "fixed", Method: m, Start: paperStart}, Scores: map[Score]float64{TestRMSE: 7}, Status: machine.OK})
	}
	lines = append(lines, Line{Key: Key{Set: "solar", Case: "fixed", Method: "vssgp", Start: spectrumStart}, Scores: map[Score]float64{TestRMSE: 6}, Status: machine.OK})
	var out bytes.Buffer
	solarTable(&out, lines)
	for prefix, want := range map[string][]string{
		"| fitc ": {"0.23", "0.61", "5"}, "| vfe ": {"0.23", "0.61", "5"}, "| ssgp ": {"0.15", "0.63", "0.97"}, "| rp1 ": {"0.32", "0.65", "1.66"},
		"| rp2 ": {"0.04", "0.76", "–"}, "| gp ": {"0.08", "0.50", "4", "0 of 1", "1 of 1"}, "| vssgp  | paper ": {"0.13", "0.41", "3"}, "| vssgp  | spectrum ": {"6", "–"},
	} {
		checkRow(t, out.String(), prefix, want...)
	}
	if row := rowOf(out.String(), "| vssgp  | spectrum "); strings.Contains(row, "0.41") {
		t.Errorf("the paper's number in a row with our initialization: %s", row)
	}
	out.Reset()
	co2Table(&out, []Line{whole()})
	checkRow(t, out.String(), "| the paper ", "9.8, none", "0.09, 54", "0.0043, 5.7", "1", "0.0053; 0.00065")
}

// checkRow checks that the first row with a prefix contains cells.
func checkRow(t *testing.T, table, prefix string, cells ...string) {
	t.Helper()
	for _, c := range cells {
		testkit.Contains(t, rowOf(table, prefix), "| "+c+" ")
	}
}

// rowOf returns the first row of a table with a prefix.
func rowOf(table, prefix string) string {
	for l := range strings.Lines(table) {
		if strings.HasPrefix(l, prefix) {
			return l
		}
	}
	return ""
}

// TestRunsSplitAtMissingRows checks that a trace is split where rows are missing.
func TestRunsSplitAtMissingRows(t *testing.T) {
	x := []float64{1, 2, 3, 6, 7, 9, 10}
	var got [][]float64
	for _, r := range (&Trace{x, x}).runs() {
		got = append(got, r.X)
	}
	if !reflect.DeepEqual(got, [][]float64{{1, 2, 3}, {6, 7}, {9, 10}}) {
		t.Errorf("%v", got)
	}
}
