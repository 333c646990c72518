package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

// planned is part of the output of `fit --plan --json`.
type planned struct {
	Rows, Outputs, Excerpts, Windows, Components, Features, Starts int
	Evaluations                                                    struct{ Bounds int }
	Flops                                                          struct{ Start, All float64 }
	Bytes                                                          struct{ Rows, Matrix, Start, Filled, Peak int64 }
	Device                                                         string
}

// --plan prints the costs and does nothing else, with or without an output.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	data := put(t, dir, "data.csv", waves(120))
	before := listing(t, dir)
	for _, c := range []struct {
		args           []string
		rows, excerpts int
	}{
		{append([]string{"impute", cut, "--detect", "zeros"}, quick...), 2 * 320, 1},
		{[]string{"impute", cut, "--gap", "600:620", "--gap", "100:110", "--context", "10ms", "-o", filepath.Join(dir, "out.wav")}, 4 * 80, 2},
		{[]string{"impute", cut, "--gap", "600:620", "--context", "all"}, 1180, 1},
		{[]string{"fit", data, "--y", "y1,y2", "--method", "vssgp"}, 120, 1},
		{[]string{"fit", cut, "-o", filepath.Join(dir, "m.safetensors")}, 1200, 1},
	} {
		p := decode[planned](t, succeed(t, append(c.args, "--plan", "--json")...).stdout)
		if p.Rows != c.rows || p.Excerpts != c.excerpts || p.Windows < 1 || p.Features < p.Components || p.Components < p.Windows || p.Device != "cpu" ||
			!(p.Flops.Start > 0) || !(p.Flops.All > p.Flops.Start) || p.Bytes.Start < 1 || p.Bytes.Peak <= p.Bytes.Rows+p.Bytes.Matrix || p.Evaluations.Bounds < 1 ||
			(p.Bytes.Filled > 0) != (c.args[0] == "impute") || p.Outputs < 1 || p.Starts != 1 {
			t.Errorf("%v: %+v", c.args, p)
		}
		text := succeed(t, append(c.args, "--plan")...).stdout
		for _, word := range []string{" rows of ", " components", " window", "flop", "iB at the peak"} {
			if !strings.Contains(text, word) {
				t.Errorf("%v: the plan lacks %q:\n%s", c.args, word, text)
			}
		}
	}
	if after := listing(t, dir); !same(before, after) {
		t.Errorf("left %v", after)
	}
	for _, bad := range []string{"impute " + cut + " --plan", "impute " + cut + " --gap 600:620 --plan --draws 2 -o -", "fit none.csv --plan", "fit " + data + " --plan --components -1"} {
		if o := vssgpRun(t, strings.Fields(bad)...); o.code != exitMistake || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", bad, o.code, o.stderr)
		}
	}
}

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		v, base float64
		want    string
	}{{0, 1024, "0 B"}, {999, 1024, "999 B"}, {1023, 1024, "0.999 KiB"}, {999.7, 1000, "1 kB"}, {1536, 1024, "1.5 KiB"}, {3 << 30, 1024, "3 GiB"}, {2.5e9, 1000, "2.5 GB"}, {1e24, 1000, "1e+06 EB"}} {
		if got := scaled(c.v, c.base, "B"); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

// TestPlanGaps: the plan of a fill gap by gap has no model, and counts what is to be filled.
func TestPlanGaps(t *testing.T) {
	args := []string{"impute", gapped, "--gaps", gapsCSV, "--plan"}
	type gapPlan struct {
		planned
		Method  string
		Missing int
	}
	flops := map[string]float64{}
	for _, method := range []string{"mixture", "ar"} {
		args := append(args, "--method", method)
		p := decode[gapPlan](t, succeed(t, append(args, "--json")...).stdout)
		if p.Method != method || p.Missing != 2000 || p.Rows != 0 || p.Features != 0 || p.Outputs != 1 || p.Excerpts != 6 || p.Device != "cpu" || p.Bytes.Peak <= p.Bytes.Filled || p.Bytes.Filled < 1 {
			t.Errorf("%s: %+v", method, p)
		}
		flops[method] = p.Flops.All
		text := succeed(t, args...).stdout
		for _, word := range []string{"12 gaps with 2000 samples, 1 channel, filled by " + method, "flop", "iB at the peak"} {
			if !strings.Contains(text, word) {
				t.Errorf("%s: the plan lacks %q:\n%s", method, word, text)
			}
		}
	}
	if !(flops["ar"] > 0 && flops["mixture"] > 1.2*flops["ar"]) {
		t.Errorf("operations %v, want more for the mixture", flops)
	}
}

// A recording may be filled in its own place, if one says so.
func TestImputeInPlace(t *testing.T) {
	dir := t.TempDir()
	_, cut, samples := damaged(t, dir, 0)
	before := readFile(t, cut)
	succeed(t, append([]string{"impute", cut, "--detect", "zeros", "-o", cut, "--overwrite"}, quick...)...)
	after := readFile(t, cut)
	checkFilled(t, before, after, samples)
	if bytes.Equal(before, after) {
		t.Error("nothing was filled")
	}
}

// An interruption ends the copying too, and nothing is left.
func TestWriteInterrupted(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	before := listing(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	rec, file, err := new(app).openRecording(ctx, cut)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	gaps := []impute.Gap{{Start: 600, End: 620}}
	r, err := impute.FillFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, impute.Options{Forget: true, Model: vssgp.Options{Components: 6, Window: 0.02}})
	if err != nil {
		t.Fatal(err)
	}
	o := &imputeFlags{output: filepath.Join(dir, "out.wav")}
	a := &app{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	cancel()
	if _, err := a.writeFill(&report.Fill{Result: r}, rec, audio.WAV, nil, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it interrupted", err)
	}
	if after := listing(t, dir); !same(before, after) {
		t.Errorf("left %v", after)
	}
	if code := run(ctx, []string{"impute", cut, "--detect", "zeros", "-o", o.output}, new(bytes.Buffer), new(bytes.Buffer), nil); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
}

// plannedPrediction is part of the output of `predict --plan --json`.
type plannedPrediction struct {
	Rows, Outputs, Windows, Components, Features int
	Flops                                        float64
	Columns                                      []string
	Files                                        []struct {
		Path  string
		Bytes int64
	}
	Bytes  struct{ Rows, Matrix, Peak int64 }
	Device string
}

// TestPlanPredict: predict --plan says what would be written, to the byte where a format has one size, and writes nothing.
func TestPlanPredict(t *testing.T) {
	t.Chdir(t.TempDir())
	model, recording := fittedWave(t, ".")
	before := listing(t, ".")
	for _, line := range []string{"-o out.npy", "-o out.csv", "-o out.wav", "-o out.npy --full", "-o out.npy --draws 3", "-o out.wav --draws 2", "-o out.csv --draws 3 --draws-file draws.npy", "-o out.wav --draws 2 --draws-file draws.csv"} {
		args := append([]string{"predict", model, recording}, strings.Fields(line)...)
		p := decode[plannedPrediction](t, succeed(t, append(args, "--plan", "--json")...).stdout)
		text := succeed(t, append(args, "--plan")...).stdout
		if left := listing(t, "."); !same(before, left) {
			t.Fatalf("%s: left %v", line, left)
		}
		if p.Rows != 400 || p.Outputs != 2 || p.Windows != 1 || p.Features < p.Components || !(p.Flops > 0) || p.Bytes.Matrix < 1 || p.Bytes.Peak <= p.Bytes.Rows+p.Bytes.Matrix || p.Device != "cpu" {
			t.Errorf("%s: %+v", line, p)
		}
		done := decode[struct{ Columns []string }](t, succeed(t, append(args, "--json")...).stdout)
		if !slices.Equal(done.Columns, p.Columns) {
			t.Errorf("%s: columns %v, planned %v", line, done.Columns, p.Columns)
		}
		for _, f := range p.Files {
			info, err := os.Stat(f.Path)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			header, share := int64(128), 1.0
			if filepath.Ext(f.Path) == ".csv" {
				share = 1.2
			}
			if size := info.Size(); size < int64(float64(f.Bytes)/share) || float64(size-header) > share*float64(f.Bytes) {
				t.Errorf("%s: %s has %d bytes, planned %d", line, f.Path, size, f.Bytes)
			}
			if !strings.Contains(text, f.Path) {
				t.Errorf("%s: the plan does not name %s:\n%s", line, f.Path, text)
			}
			os.Remove(f.Path)
		}
		if left := listing(t, "."); !same(before, left) {
			t.Errorf("%s: files that are not in the plan: %v", line, left)
		}
	}
	for _, word := range []string{" rows of ", "flop", "iB at the peak", "out"} {
		if text := succeed(t, "predict", model, recording, "--plan", "-o", "out.csv").stdout; !strings.Contains(text, word) {
			t.Errorf("the plan lacks %q:\n%s", word, text)
		}
	}
	succeed(t, "predict", model, recording, "--plan")
	for _, bad := range []string{"predict none.st in.wav --plan", "predict m.safetensors none.wav --plan", "predict m.safetensors in.wav --plan -o out.xyz"} {
		if o := vssgpRun(t, strings.Fields(bad)...); o.code != exitMistake || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", bad, o.code, o.stderr)
		}
	}
}
