package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// TestReports: fit, predict and info draw in each format what they print.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := "t,y\n0,0\n1,1\n2,0\n3,-1\n4,0\n5,1\n6,0\n7,-1\n8,0\n9,1\n10,0\n11,-1\n"
	table, rows := testkit.Put(t, dir, "wave.csv", data), testkit.Put(t, dir, "rows.csv", "t\n0.5\n1.5\n20\n")
	begins := map[string]string{".html": "<!DOCTYPE html>", ".png": "\x89PNG", ".svg": "<?xml"}
	has := map[string][]string{
		"fit":     {"Fit of wave.csv", "Residuals of y", "Spectrum of y along t", "Bound against time", "--components", "vssgp (devel)"},
		"predict": {"Prediction by model.safetensors", "of an observation", "--draws"},
		"info":    {"Model model.safetensors", "Spectrum of y along t", "Power spectrum"},
	}
	for ext, want := range begins {
		succeed(t, "fit", table, "-o", in("model.safetensors"), "--components", "2", "--features", "2", "--iterations", "5", "--report", in("fit"+ext))
		succeed(t, "predict", in("model.safetensors"), rows, "-o", in("out.csv"), "--draws", "2", "--plot", in("predict"+ext))
		succeed(t, "info", in("model.safetensors"), "--plot", in("info"+ext))
		for command, words := range has {
			text := string(testkit.Read(t, in(command+ext)))
			if !strings.HasPrefix(text, want) {
				t.Errorf("%s%s begins %.20q", command, ext, text)
			}
			for _, w := range words {
				if ext == ".html" && !strings.Contains(text, w) {
					t.Errorf("the page of %s lacks %q", command, w)
				}
			}
		}
	}
}

// TestReportMistakes: a name that no report can have ends the command before it
// computes, in one line, and nothing is written.
func TestReportMistakes(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	in := func(name string) string { return filepath.Join(dir, name) }
	table := testkit.Put(t, dir, "wave.csv", "t,y\n0,0\n1,1\n2,0\n3,-1\n4,0\n")
	before := listing(t, dir)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fit", table, "-o", in("m.safetensors"), "--report", in("r.pdf")}, "want .html, .png or .svg"},
		{[]string{"fit", table, "-o", in("m.html"), "--report", in("m.html")}, "m.html"},
		{[]string{"predict", in("m.safetensors"), table, "-o", in("o.csv"), "--plot", in("plot")}, "want .html, .png or .svg"},
		{[]string{"info", in("m.safetensors"), "--plot", in("plot.txt")}, "want .html, .png or .svg"},
		{[]string{"impute", cut, "--detect", "zeros", "-o", in("o.wav"), "--report", in("r.png")}, "want .html"},
		{[]string{"impute", cut, "--detect", "zeros", "-o", in("o.wav"), "--report", in("r")}, "want .html"},
	} {
		o := vssgpRun(t, c.args...)
		if o.code != cli.ExitMistake || !strings.Contains(o.stderr, c.want) || strings.Count(strings.TrimSpace(o.stderr), "\n") != 0 {
			t.Errorf("vssgp %s: exit %d, %q; want %d and %q", strings.Join(c.args, " "), o.code, o.stderr, cli.ExitMistake, c.want)
		}
	}
	if after := listing(t, dir); !same(before, after) {
		t.Errorf("files before %v, after %v", before, after)
	}
}
