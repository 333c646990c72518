package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/slow"
)

const (
	co2      = "../../testdata/co2_monthly.csv"
	sunspots = "../../testdata/sunspots.csv"
	gapped   = "../../testdata/speech_gapped.wav"
	gapsCSV  = "../../testdata/speech_gaps.csv"
)

// Which warnings a run gives: what each must say, and none that it must not.
// Data are real where there are real ones of that kind.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	smooth := put(t, dir, "smooth.csv", evenSeries(400, func(n int) float64 { return math.Sin(0.05 * float64(n)) }))
	rng := rand.New(rand.NewPCG(1, 2))
	hiss := put(t, dir, "hiss.csv", evenSeries(300, func(n int) float64 { return rng.NormFloat64() + 0.25*math.Sin(float64(n)/4) }))
	whole := put(t, dir, "whole.csv", evenSeries(120, func(n int) float64 { return float64(n % 6) }))
	out := func(name string) string { return filepath.Join(dir, name) }
	for name, c := range map[string]struct {
		args []string
		want []string // what each warning holds, in order
	}{
		"good fit":             {[]string{"fit", co2, "--method", "vssgp", "-o", out("a")}, nil},
		"too few components":   {[]string{"fit", co2, "--components", "2", "-o", out("b")}, []string{"straight lines", "4 features are too few for this signal's bandwidth"}},
		"two length-scales":    {[]string{"fit", co2, "--init", "paper", "--lengthscales", "1,50", "--periods", "1,0", "--features", "2", "-o", out("c")}, []string{"straight lines", "try --init spectrum"}},
		"default":              {[]string{"fit", sunspots, "--method", "vssgp", "-o", out("d")}, nil},
		"enough for the band":  {[]string{"fit", sunspots, "--components", "30", "-o", out("e")}, []string{"so that another start can be tried"}},
		"far above the band":   {[]string{"fit", smooth, "--method", "vssgp", "-o", out("f")}, []string{"every 12th sample", "fallen to the least that float64"}},
		"noise everywhere":     {[]string{"fit", hiss, "--components", "1", "--features", "2", "-o", out("g")}, []string{"of the variance as noise"}},
		"less than rounding":   {[]string{"fit", whole, "--method", "vssgp", "-o", out("h")}, []string{"steps of 1,"}},
		"long gaps, no model":  {[]string{"impute", gapped, "--gap", "4950:5110", "--gap", "6500:7700", "-o", out("m.wav")}, nil},
		"good fill":            {[]string{"impute", gapped, "--method", "vssgp", "--gap", "4950:5110", "--gap", "6500:6740", "-o", out("i.wav")}, nil},
		"a long gap":           {[]string{"impute", gapped, "--method", "vssgp", "--gap", "6500:7700", "-o", out("j.wav")}, []string{"--context 150ms", "--window 113ms"}},
		"all is context":       {[]string{"impute", gapped, "--gap", "4950:5110", "--context", "all", "--window", "8ms", "--components", "4", "--features", "2", "-o", out("k.wav")}, []string{"windows only 8 ms", "too few for this signal's bandwidth"}},
		"cells in a recording": {[]string{"impute", gapped, "--gap", "4950:5110", "--components", "3", "-o", out("l.wav")}, []string{"leave them to the default"}},
	} {
		if !slow.Tests && slices.Contains([]string{"default", "enough for the band", "two length-scales", "good fill", "all is context"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := warnings(succeed(t, c.args...).stderr)
			if len(got) != len(c.want) {
				t.Fatalf("%d warnings, want %d:\n%s", len(got), len(c.want), strings.Join(got, "\n"))
			}
			for i, w := range c.want {
				if !strings.Contains(got[i], w) {
					t.Errorf("warning %q, want one with %q", got[i], w)
				}
				if !strings.Contains(got[i], "try ") && !strings.Contains(got[i], "every ") {
					t.Errorf("%q does not say what to do", got[i])
				}
			}
			if len(c.want) > 0 && (slow.Tests || name == "noise everywhere") {
				if quiet := succeed(t, append(c.args, "--quiet")...).stderr; quiet != "" {
					t.Errorf("--quiet: %q on stderr", quiet)
				}
			}
		})
	}
}

// Several gaps too long are one warning.
func TestWarnOnce(t *testing.T) {
	o := succeed(t, "impute", gapped, "--gap", "6500:6740", "--gap", "20000:20240", "--context", "10ms", "--window", "32ms", "-o", filepath.Join(t.TempDir(), "o.wav"))
	if got := warnings(o.stderr); len(got) != 1 {
		t.Errorf("warnings %q, want one", got)
	}
}

func warnings(stderr string) (all []string) {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "vssgp: warning: ") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

func evenSeries(n int, y func(n int) float64) string {
	var b strings.Builder
	b.WriteString("t,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%.9g\n", i, y(i))
	}
	return b.String()
}

func TestBandOf(t *testing.T) {
	wave := func(f float64, offset, slope float64) []float64 {
		y := make([]float64, 2000)
		for n := range y {
			y[n] = math.Sin(2*math.Pi*f*float64(n)) + offset + slope*float64(n)
		}
		return y
	}
	for _, c := range []struct {
		y    []float64
		want float64
	}{
		{wave(0.01, 0, 0), 0.01}, {wave(0.01, 1000, 0.5), 0.01}, {wave(0.25, 0, 0), 0.25}, {wave(0.49, -3, 0), 0.49},
	} {
		if got := bandOf(c.y); got < c.want || got > c.want+0.008 {
			t.Errorf("band %v, want %v and little more", got, c.want)
		}
	}
	if got := bandOf(make([]float64, bandLeast-1)); got != 0 {
		t.Errorf("band of a few samples is %v, want 0", got)
	}
}

func TestRounding(t *testing.T) {
	for name, c := range map[string]struct {
		y    []float64
		want float64
	}{
		"whole":      {slices.Repeat([]float64{3, 1, 2, 7}, 4), 1},
		"hundredths": {slices.Repeat([]float64{316.10, 317.20, 317.43}, 4), 0},
		"tenths":     {slices.Repeat([]float64{316.1, 317.2, 317.3}, 4), 0.1},
		"all differ": {[]float64{1, 2, 3, 4}, 0},
		"constant":   {[]float64{1, 1, 1, 1}, 0},
		"no grid":    {slices.Repeat([]float64{1, math.Sqrt2, math.Pi}, 4), 0},
	} {
		if got := rounding(c.y); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: step %v, want %v", name, got, c.want)
		}
	}
}

func TestEvenStretch(t *testing.T) {
	for name, c := range map[string]struct {
		x      []float64
		lo, hi int
		step   float64
	}{
		"even":       {[]float64{0, 1, 2, 3}, 0, 4, 1},
		"a gap":      {[]float64{0, 1, 5, 6, 7}, 2, 5, 1},
		"rounded":    {[]float64{0, 0.083, 0.167, 0.25}, 0, 4, 0.083},
		"falling":    {[]float64{3, 2, 1}, 0, 0, 0},
		"one":        {[]float64{3}, 0, 0, 0},
		"duplicates": {[]float64{1, 1, 1}, 0, 0, 0},
	} {
		if lo, hi, step := evenRun(c.x); lo != c.lo || hi != c.hi || math.Abs(step-c.step) > 0.002 {
			t.Errorf("%s: [%d, %d) by %v, want [%d, %d) by %v", name, lo, hi, step, c.lo, c.hi, c.step)
		}
	}
}
