package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// TestPosteriorCommands: fit, info and predict with and without a posterior of the hyper-parameters.
func TestPosteriorCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", waves(200))
	line := strings.Fields("--x t --y y1 --components 1 --features 2 --window none -o")
	fit := func(model string, more ...string) outcome {
		return succeed(t, append(append(append([]string{"fit", "d.csv"}, line...), model), more...)...)
	}
	fit("with.st", "--posterior", "4")
	fit("without.st", "--iterations", "1", "--init", "paper")
	var said struct {
		Posterior string   `json:"posterior"`
		LogPrior  *float64 `json:"log_prior"`
	}
	for _, c := range []struct {
		flags string
		prior bool
	}{{"", true}, {"--prior none", false}, {"--prior noise=0.1,1 --prior lengthscale=none", true}} {
		o := fit("again.st", append(strings.Fields(c.flags), "--json", "--quiet", "--overwrite")...)
		if err := json.Unmarshal([]byte(o.stdout), &said); err != nil {
			t.Fatal(err)
		}
		if said.Posterior != "computed" || said.LogPrior == nil || (*said.LogPrior != 0) != c.prior {
			t.Errorf("fit %s: %s", c.flags, o.stdout)
		}
	}
	if text := succeed(t, "info", "with.st").stdout; !strings.Contains(text, "most confident") || !strings.Contains(text, "+-") {
		t.Errorf("info of a model with a posterior:\n%s", text)
	}
	if text := succeed(t, "info", "without.st").stdout; !strings.Contains(text, "no standard deviations") || strings.Contains(text, "+-") {
		t.Errorf("info of a model without one:\n%s", text)
	}
	if text := succeed(t, "info", "without.st", "--json").stdout; !strings.Contains(text, `"frequency_sd": null`) && !strings.Contains(text, `"frequency_sd":null`) {
		t.Errorf("info --json of a model without one:\n%s", text)
	}
	out := succeed(t, "predict", "with.st", "d.csv", "--x", "t", "--posterior", "--draws", "2", "-o", "-").stdout
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if rows[0] != "t,y1_mean,y1_sd,y1_lower,y1_upper,y1_draw1,y1_draw2" {
		t.Fatalf("columns %s", rows[0])
	}
	for _, row := range rows[1:] {
		var v []float64
		for text := range strings.SplitSeq(row, ",") {
			one, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, one)
		}
		if width := (v[4] - v[3]) / v[2]; !(v[3] < v[1] && v[1] < v[4]) || math.Abs(width-2*1.96) > 0.5 {
			t.Fatalf("mean, sd, lower and upper %v", v[1:5])
		}
	}
	for _, bad := range [][]string{
		{"predict", "without.st", "d.csv", "--x", "t", "--posterior", "-o", "-"},
		{"fit", "d.csv", "-o", "m.st", "--prior", "period=1,2"}, {"fit", "d.csv", "-o", "m.st", "--prior", "noise=1"},
		{"fit", "d.csv", "-o", "m.st", "--prior", "noise=-1,2"}, {"fit", "d.csv", "-o", "m.st", "--prior", "noise=1,inf"},
		{"fit", "d.csv", "-o", "m.st", "--prior", "noise=1e-300,1"}, {"fit", "d.csv", "-o", "m.st", "--posterior", "100000"},
		{"fit", "d.csv", "-o", "m.st", "--init", "spectrum", "--lengthscales", "3"},
	} {
		if o := vssgpRun(t, bad...); o.code != cli.ExitMistake || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("vssgp %s: exit %d, %q", strings.Join(bad, " "), o.code, o.stderr)
		}
	}
}
