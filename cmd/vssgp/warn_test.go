package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
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
	smooth := testkit.Put(t, dir, "smooth.csv", evenSeries(400, func(n int) float64 { return math.Sin(0.05 * float64(n)) }))
	rng := rand.New(rand.NewPCG(1, 2))
	hiss := testkit.Put(t, dir, "hiss.csv", evenSeries(300, func(n int) float64 { return rng.NormFloat64() + 0.25*math.Sin(float64(n)/4) }))
	out := func(name string) string { return filepath.Join(dir, name) }
	for name, c := range map[string]struct {
		args []string
		want []string // what each warning holds, in order
	}{
		"good fit":            {[]string{"fit", co2, "--method", "vssgp", "-o", out("a")}, nil},
		"too few components":  {[]string{"fit", co2, "--components", "2", "-o", out("b")}, []string{"straight lines"}},
		"two length-scales":   {[]string{"fit", co2, "--init", "paper", "--lengthscales", "1,50", "--periods", "1,0", "--features", "2", "-o", out("c")}, []string{"straight lines"}},
		"default":             {[]string{"fit", sunspots, "--method", "vssgp", "-o", out("d")}, nil},
		"enough for the band": {[]string{"fit", sunspots, "--components", "30", "-o", out("e")}, []string{"so that another start can be tried"}},
		"no noise":            {[]string{"fit", smooth, "--method", "vssgp", "-o", out("f")}, []string{"fallen to the least that float64"}},
		"noise everywhere":    {[]string{"fit", hiss, "--components", "1", "--features", "2", "-o", out("g")}, []string{"of the variance as noise"}},
		"long gaps, no model": {[]string{"impute", gapped, "--gap", "4950:5110", "--gap", "6500:7700", "-o", out("m.wav")}, nil},
		"good fill":           {[]string{"impute", gapped, "--method", "vssgp", "--gap", "4950:5110", "--gap", "6500:6740", "-o", out("i.wav")}, nil},
		"a long gap":          {[]string{"impute", gapped, "--method", "vssgp", "--gap", "6500:7700", "-o", out("j.wav")}, []string{"--context 150ms", "--window 113ms"}},
		"all is context":      {[]string{"impute", gapped, "--gap", "4950:5110", "--context", "all", "--window", "8ms", "--components", "4", "--features", "2", "-o", out("k.wav")}, []string{"windows only 8 ms"}},
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
				if !strings.Contains(got[i], "try ") {
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
