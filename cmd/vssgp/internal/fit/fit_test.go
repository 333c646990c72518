package fit

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPriorFlag checks the parsed priors.
func TestPriorFlag(t *testing.T) {
	none := vssgp.NoPriors()
	for text, want := range map[string]vssgp.Priors{
		"none": none, "noise=0.5, 2": {Noise: vssgp.Prior{Median: 0.5, SD: 2}}, "amplitude=3,1": {Amplitude: vssgp.Prior{Median: 3, SD: 1}},
		"lengthscale=none": {Lengthscale: none.Lengthscale},
	} {
		var got vssgp.Priors
		if err := priors(&got).Set(text); err != nil || got != want {
			t.Errorf("%q: %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noise", "noise=", "noise=1,2,3", "noise=a,1", "noise=0,1", "tau=1,1", "lengthscale=1,NaN"} {
		if err := priors(&vssgp.Priors{}).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  []float64 // nil for an error
		timed bool
	}{
		{[]string{"1,1000"}, []float64{1, 1000}, false}, {[]string{"1", "0, 2e3"}, []float64{1, 0, 2000}, false},
		{[]string{"32ms,0.5s,2"}, []float64{0.032, 0.5, 2}, true}, {[]string{""}, nil, false}, {[]string{"1,"}, nil, false},
		{[]string{"1;2"}, nil, false},
	} {
		var values []float64
		var err error
		l := lengths(&values)
		for _, s := range c.flags {
			err = errors.Join(err, l.Set(s))
		}
		if (err != nil) != (c.want == nil) || err == nil && (!slices.Equal(values, c.want) || l.Timed != c.timed ||
			l.String() != strings.Join(c.flags, ",")) {
			t.Errorf("%q: %v, with time %v, error %v; want %v, %v", c.flags, values, l.Timed, err, c.want, c.timed)
		}
	}
}

// TestHowToContinue checks the remedies in messages after failures and interruptions. Usage errors have none.
func TestHowToContinue(t *testing.T) {
	dir := t.TempDir()
	failure, full := errors.New("the card is lost"), errors.New("disk full")
	there, none := testkit.Put(t, dir, "part", "x"), filepath.Join(dir, "none")
	for _, c := range []struct {
		path, model string
		unsaved     error
		want        string
		failed      error
		hint        bool
	}{
		{there, "m", nil, "with --resume, which resumes from " + there, failure, true},
		{there, "m", full, "part (disk full)", vssgp.ErrCheckpoint, false},
		{none, "m", full, "--init m", failure, false},
		{"", "m", nil, "--init m", failure, false},
		{none, "", nil, "run the same command again", failure, false},
	} {
		at := checkpoint{&vssgp.CheckpointOptions{Path: c.path}}
		if text := at.howToContinue(c.model, c.unsaved); !strings.Contains(text, c.want) {
			t.Errorf("%q, which should contain %q", text, c.want)
		}
		if err := at.hint(c.failed); !errors.Is(err, c.failed) || strings.Contains(err.Error(), "--resume") != c.hint {
			t.Errorf("%q, %v: %v; want a hint: %v", c.path, c.failed, err, c.hint)
		}
	}
}

// TestDrawsInTables checks that many draws, whose rows are computed in small blocks,
// are identical to draws at all rows at once.
func TestDrawsInTables(t *testing.T) {
	const n, draws = 1200, 2000
	data := &vssgp.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range data.X {
		data.X[i], data.Y[i] = float64(i), float64(i%7)
	}
	m, _, err := vssgp.Fit(t.Context(), data, vssgp.Options{Iterations: vssgp.NoIterations,
		Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}, Components: 1})
	testkit.OK(t, err)
	made := testkit.Must(m.Draws(1))(t)
	at := &datafile.Places{Names: []string{"x"}, Rows: n}
	r := &prediction{ctx: t.Context(), env: &cli.Env{}, outputs: []string{"y"}, draws: made, at: at}
	want := map[int][]float64{}
	for _, i := range []int{0, 1, draws - 1} {
		want[i] = testkit.Must(made.At(t.Context(), i, data.X))(t)
	}
	parts, next := 0, 0
	err = r.tabulate(data.X, 1, nil, draws, func(rows []float64) error {
		for ; len(rows) > 0; rows = rows[1+draws:] {
			if rows[0] != data.X[next] {
				t.Errorf("input %v at row %d, want %v", rows[0], next, data.X[next])
			}
			for i, y := range want {
				if rows[1+i] != y[next] {
					t.Errorf("draw %d at row %d: %v, want %v", i, next, rows[1+i], y[next])
				}
			}
			next++
		}
		parts++
		return nil
	})
	if err != nil || parts < 2 || next != n {
		t.Errorf("%d parts up to row %d, %v", parts, next, err)
	}
}

// TestPlotIsReused checks that a table reuses the prediction of a plot with all rows, and that a plot of a thinned grid
// is not reused.
func TestPlotIsReused(t *testing.T) {
	x := testkit.Numbers(80, func(i int) float64 { return math.Sin(float64(i)) })
	m, _, err := vssgp.Fit(t.Context(), &vssgp.Data{N: 40, Q: 2, D: 1, X: x, Y: x[:40]},
		vssgp.Options{Iterations: vssgp.NoIterations, Components: 1, Features: 4})
	testkit.OK(t, err)
	for grid, want := range map[string]bool{"200x3": true, "201x3": false, "0:1:0.5,0": true} {
		env := cli.NewEnv(t.Context(), io.Discard, io.Discard)
		env.Flags = pflag.NewFlagSet("predict", pflag.ContinueOnError)
		at := testkit.Must(datafile.ReadGrid(grid, m))(t)
		r := &prediction{ctx: t.Context(), env: env, m: m, at: at, o: &predictFlags{}, beyond: func([]float64) {}}
		r.predictor = testkit.Must(m.Predictor(t.Context()))(t)
		testkit.Must(r.plot("m"))(t)
		testkit.Equal(t, r.whole != nil, want, grid, ": reused")
		var inputs, mean []float64
		testkit.OK(t, r.pass(false, func(x []float64, p *vssgp.Prediction) error {
			testkit.Equal(t, p == r.whole, want, grid, ": the prediction of the plot")
			inputs, mean = append(inputs, x...), append(mean, p.Mean...)
			return nil
		}))
		all := testkit.Must(at.First(t.Context(), at.Rows))(t)
		testkit.Equal(t, inputs, all, grid, ": inputs")
		testkit.Equal(t, mean, testkit.Must(r.predictor.Predict(t.Context(), all))(t).Mean, grid, ": mean")
	}
}

// TestColumnsOfInfo checks that an entry that is wider than its column does not shift the others.
func TestColumnsOfInfo(t *testing.T) {
	var b strings.Builder
	printColumns(cli.NewEnv(t.Context(), &b, io.Discard), []int{3, 2}, [][]string{{"n", "a"}, {"1", "wide", "!"}})
	testkit.Equal(t, b.String(), "    n  a   \n    1  wide!\n", "columns")
}

// TestMethod checks the model selected by flags and data.
func TestMethod(t *testing.T) {
	dir := t.TempDir()
	const one, two = "t,y\n0,1\n1,2\n2,1\n3,3\n", "t,y1,y2\n0,1,2\n1,2,2\n2,1,1\n3,0,1\n"
	for _, c := range []struct {
		data, flags string
		want        bool
	}{
		{one, "", true}, {one, "--method structural", true}, {two, "--x t --y y1", true}, {two, "--trend line", true}, {two, "--log never", true},
		{two, "--method structural", true}, {two, "--prior walk=0.1,1", true}, {one, "--prior noise=0.1,1", true},
		{one, "--method vssgp", false}, {one, "--components 2", false}, {one, "--inference factorized", false}, {two, "", false},
		{two, "--iterations 2", false}, {one, "--posterior 2", false}, {one, "--prior lengthscale=5,1", false},
	} {
		o, f := &fitFlags{}, pflag.NewFlagSet("fit", pflag.ContinueOnError)
		o.add(f)
		testkit.OK(t, f.Parse(strings.Fields(c.flags)))
		env := cli.NewEnv(t.Context(), io.Discard, io.Discard)
		path := testkit.Put(t, dir, "d.csv", c.data)
		if got, err := isStructural(t.Context(), env, path, o); err != nil || got != c.want {
			t.Errorf("%q %s: structural is %v (%v), want %v", c.data, c.flags, got, err, c.want)
		}
		if c.flags != "" {
			continue
		}
		if other, err := o.Columns.Read(t.Context(), env, testkit.Put(t, dir, "other.csv", "a\n1\n")); err != nil || other.Rows != 1 {
			t.Errorf("%q instead of another table: %v", c.data, err)
		}
		testkit.OK(t, os.Remove(path))
		if again, err := o.Columns.Read(t.Context(), env, path); err != nil || again.Rows != 4 {
			t.Errorf("%q is read again: %v", c.data, err)
		}
	}
}

func TestSampleRate(t *testing.T) {
	for name, c := range map[string]struct {
		x    []float64
		want int // 0 for an error
	}{
		"1 Hz": {[]float64{5, 6, 7}, 1}, "16 kHz": {[]float64{0, 1. / 16000, 2. / 16000}, 16000},
		"44.1 kHz rounded": {[]float64{0, 0.000023, 0.000045}, 0},
		"falling":          {[]float64{2, 1}, 0}, "one": {[]float64{2}, 0}, "slow": {[]float64{0, 10}, 0}, "fast": {[]float64{0, 1e-12}, 0},
		"NaN": {[]float64{0, math.NaN(), 2}, 0},
	} {
		at := &datafile.Places{Names: []string{"t"}, Rows: len(c.x), Parts: func(context.Context) iter.Seq2[[]float64, error] {
			return func(yield func([]float64, error) bool) { // in blocks of two rows
				for x := c.x; len(x) > 0 && yield(x[:min(2, len(x))], nil); x = x[min(2, len(x)):] {
				}
			}
		}}
		got, err := sampleRate(context.Background(), at)
		if got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
}
