package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/table"
)

func TestOneLine(t *testing.T) {
	for _, c := range []struct{ err, want string }{
		{"plain", "vssgp: plain"},
		{"vssgp: once", "vssgp: once"},
		{"vssgp: vssgp: twice", "vssgp: twice"},
		{"a.csv: vssgp: inside", "vssgp: a.csv: inside"},
		{"one\ntwo\r\n\tthree\n", "vssgp: one two three"},
		{"bell \a and \x1b[31mred", "vssgp: bell   and  [31mred"},
		{"restore: samples 0:9: audio: detect: no signal", "vssgp: samples 0:9: no signal"},
		{"a.wav: bad gap", "vssgp: a.wav: bad gap"},
	} {
		if got := oneLine(errors.New(c.err)); got != c.want {
			t.Errorf("oneLine(%q) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("anything"), 1}, {mistake("usage"), 2}, {fmt.Errorf("x: %w", vssgp.ErrData), 2},
		{fmt.Errorf("x: %w", fs.ErrNotExist), 2}, {fmt.Errorf("x: %w", vssgp.ErrBound), 1}, {context.DeadlineExceeded, 1},
		{fmt.Errorf("x: %w", context.Canceled), 130}, {fmt.Errorf("%w: %w", vssgp.ErrData, context.Canceled), 130},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("exit code of %v is %d, want %d", c.err, got, c.want)
		}
	}
}

func TestParseLength(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  float64 // 0: refused
		timed bool
	}{
		{"32ms", 0.032, true}, {"0.5s", 0.5, true}, {"12", 12, false}, {"1e-3", 0.001, false},
		{"", 0, false}, {"s", 0, false}, {"ms", 0, false}, {"-1s", 0, false}, {"0", 0, false}, {"NaN", 0, false}, {"Inf", 0, false}, {"1 m", 0, false},
	} {
		v, timed, err := parseLength(c.text)
		if (err != nil) != (c.want == 0) || math.Abs(v-c.want) > 1e-15 || timed != c.timed {
			t.Errorf("parseLength(%q) = %v, %v, %v; want %v, %v", c.text, v, timed, err, c.want, c.timed)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  []float64 // nil: refused
		timed bool
	}{
		{[]string{"1,1000"}, []float64{1, 1000}, false}, {[]string{"1", "0, 2e3"}, []float64{1, 0, 2000}, false},
		{[]string{"32ms,0.5s,2"}, []float64{0.032, 0.5, 2}, true}, {[]string{""}, nil, false}, {[]string{"1,"}, nil, false}, {[]string{"1;2"}, nil, false},
	} {
		var values []float64
		var err error
		l := lengths(&values)
		for _, s := range c.flags {
			err = errors.Join(err, l.Set(s))
		}
		if (err != nil) != (c.want == nil) || err == nil && (!slices.Equal(values, c.want) || l.timed != c.timed || l.String() != strings.Join(c.flags, ",")) {
			t.Errorf("%q: %v, with time %v, error %v; want %v, %v", c.flags, values, l.timed, err, c.want, c.timed)
		}
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"32ms", "0.5s", "12", "1e308s", "0x1p-3", "nan", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, _, err := parseLength(s); err == nil && (!(v >= 0) || math.IsInf(v, 0)) {
			t.Errorf("parseLength(%q) = %v, want a number", s, v)
		}
	})
}

func FuzzParseRows(f *testing.F) {
	for _, s := range []string{"0,5,10", "", ",", "-1", "1, 2", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var rows []int
		err := rowNumbers(&rows).Set(s)
		if err == nil && len(rows) != strings.Count(s, ",")+1 {
			t.Errorf("%q gives %v, want a row for each field", s, rows)
		}
		for _, r := range rows {
			if r < 0 {
				t.Errorf("%q gives row %d", s, r)
			}
		}
	})
}

// Which columns each choice takes.
func TestColumns(t *testing.T) {
	tab := streamOf(t, "a,b,c\n1,2,3\n")
	named := func(s *table.Stream, cols []int) string { return strings.Join(namesOf(s, cols), ",") }
	list := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, ",")
	}
	for _, c := range []struct{ x, y, wantX, wantY string }{
		{"", "", "a,b", "c"}, {"a", "", "a", "c"}, {"", "b", "a,c", "b"}, {"b", "a,c", "b", "a,c"}, {"0,1", "2", "a,b", "c"},
		{"c", "", "", ""}, {"a", "a", "", ""}, {"d", "", "", ""}, {"3", "", "", ""}, {"-1", "", "", ""}, {"", "a,b,c", "", ""},
	} {
		d, err := columns{x: list(c.x), y: list(c.y)}.split(tab, "t.csv")
		if err != nil {
			if c.wantX != "" || exitCode(err) != exitMistake {
				t.Errorf("--x %q --y %q: %v", c.x, c.y, err)
			}
			continue
		}
		if x, y := named(tab, d.x), named(tab, d.y); x != c.wantX || y != c.wantY {
			t.Errorf("--x %q --y %q takes %s and %s, want %s and %s", c.x, c.y, x, y, c.wantX, c.wantY)
		}
	}
	for _, c := range []struct{ x, y, modelX, modelY, wantX, wantY string }{
		{"", "", "c", "a", "c", "a"}, {"", "", "q", "r", "", ""}, {"", "", "q,p", "r", "a,b", "c"}, {"", "b", "c", "a", "c", "b"},
		{"", "b", "p,q", "r", "a,c", "b"}, {"b", "", "p", "c", "b", "c"}, {"b", "", "p", "q,r", "b", "a,c"}, {"a,b", "", "p", "q", "", ""},
	} {
		m := &vssgp.Model{Params: vssgp.NewParams(1, 1, len(list(c.modelX)), len(list(c.modelY))), XNames: list(c.modelX), YNames: list(c.modelY)}
		d, err := columns{x: list(c.x), y: list(c.y)}.match(tab, "t.csv", m, m.Params.D)
		if err != nil {
			if c.wantX != "" || exitCode(err) != exitMistake {
				t.Errorf("model %s -> %s, --x %q --y %q: %v", c.modelX, c.modelY, c.x, c.y, err)
			}
			continue
		}
		if x, y := named(tab, d.x), named(tab, d.y); x != c.wantX || y != c.wantY {
			t.Errorf("model %s -> %s, --x %q --y %q takes %s and %s, want %s and %s", c.modelX, c.modelY, c.x, c.y, x, y, c.wantX, c.wantY)
		}
	}
}

// Two outputs with a covariance, against the formula written out.
func TestMeanLogDensity(t *testing.T) {
	p := &vssgp.Prediction{N: 2, D: 2, Mean: []float64{1, 2, 0, 0}, Cov: []float64{2, 0.5, 0.5, 1, 4, 0, 0, 9}}
	y := []float64{2, 2, 2, 3}
	first := -math.Log(2*math.Pi) - 0.5*math.Log(1.75) - 0.5*1/1.75 // (1,0) Cov⁻¹ (1,0)ᵀ = 1/det
	second := -math.Log(2*math.Pi) - 0.5*math.Log(36) - 0.5*(4./4+9./9)
	if got, err := meanLogDensity(t.Context(), p, y); err != nil || math.Abs(got-(first+second)/2) > 1e-14 {
		t.Errorf("mean log density %v, %v, want %v", got, err, (first+second)/2)
	}
	if got, want := bayes.RMSE(p.Mean, y), math.Sqrt((1+0+4+9)/4.); math.Abs(got-want) > 1e-15 {
		t.Errorf("RMSE %v, want %v", got, want)
	}
	p.Cov[0] = -1
	if got, err := meanLogDensity(t.Context(), p, y); err != nil || !math.IsNaN(got) {
		t.Errorf("density under a covariance that is none: %v, %v, want NaN", got, err)
	}
}
