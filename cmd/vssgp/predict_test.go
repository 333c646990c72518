package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// fittedWave writes a stereo wave, 400 samples at 1000 Hz, and a model of it.
func fittedWave(t *testing.T, dir string) (model, recording string) {
	t.Helper()
	left, right := make([]float64, 400), make([]float64, 400)
	for i := range left {
		left[i], right[i] = 3*math.Sin(0.3*float64(i)), 0.25*math.Cos(0.2*float64(i)) // exceeds full scale
	}
	model = filepath.Join(dir, "m.safetensors")
	recording = inFormat(t, dir, "in.wav", 1000, audio.Float32, [][]float64{left, right})
	succeed(t, "fit", recording, "--window", "none", "--components", "6", "--iterations", "5", "-o", model, "--quiet")
	return model, recording
}

// TestPredictFormats checks that predictions and draws are the same in every format.
func TestPredictFormats(t *testing.T) {
	dir := t.TempDir()
	model, recording := fittedWave(t, dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, "predict", model, recording, "--draws", "2", "--seed", "3", "-o", at("all.csv"))
	all := testkit.Must(matrix.ReadFull(at("all.csv")))(t)
	want := "seconds,channel1_mean,channel1_sd,channel2_mean,channel2_sd,channel1_draw1,channel2_draw1,channel1_draw2,channel2_draw2"
	testkit.Equal(t, strings.Join(all.Names, ","), want, "columns")
	column := func(name string) []float64 { return column(t, all, name) }
	succeed(t, "predict", model, recording, "--draws", "2", "--seed", "3", "-o", at("mean.wav"))
	for name, want := range map[string][]string{
		"mean.wav":   {"channel1_mean", "channel2_mean"},
		"mean-1.wav": {"channel1_draw1", "channel2_draw1"},
		"mean-2.wav": {"channel1_draw2", "channel2_draw2"},
	} {
		r := testkit.Must(audio.Open(at(name)))(t)
		if r.Rate != 1000 || r.Channels() != 2 {
			t.Errorf("%s: %d channels at %d Hz, want 2 at 1000", name, r.Channels(), r.Rate)
		}
		for c := range want {
			testkit.Within(t, name+", "+want[c], r.Samples[c], column(want[c]), 3e-7)
		}
	}
	succeed(t, "predict", model, recording, "--draws", "2", "--seed", "3", "--draws-file", at("d.npy"), "-o", at("mean.npy"))
	means := testkit.Must(matrix.ReadFull(at("mean.npy")))(t)
	if means.Cols != 5 || means.Rows != 400 {
		t.Errorf("mean.npy is [%d,%d], want [400,5]", means.Rows, means.Cols)
	}
	raw := testkit.Read(t, at("d.npy"))
	testkit.Contains(t, string(raw[:128]), "(2, 400, 2)")
	drawn := make([]float64, 2*400*2)
	testkit.Must(binary.Decode(raw[len(raw)-8*len(drawn):], binary.LittleEndian, drawn))(t)
	second := testkit.Numbers(400, func(n int) float64 { return drawn[(400+n)*2+1] })
	if !slices.Equal(second, column("channel2_draw2")) {
		t.Error("d.npy: the second draw of the second output is not the table's")
	}
	succeed(t, "predict", model, recording, "--draws", "2", "--seed", "3", "--draws-file", at("d.csv"), "-o", at("alone.csv"))
	d := testkit.Must(matrix.ReadFull(at("d.csv")))(t)
	if d.Cols != 5 || d.Names[4] != "channel2_draw2" || d.Data[4] != column("channel2_draw2")[0] {
		t.Errorf("d.csv has columns %v and begins %v", d.Names, d.Data[:5])
	}
	if alone, err := matrix.ReadFull(at("alone.csv")); err != nil || alone.Cols != 5 {
		t.Errorf("alone.csv has columns %v, %v; want no draws", alone.Names, err)
	}
}

// TestReadingInterrupted checks that an interruption of fit, predict and evaluate leaves no files and prints one line.
func TestReadingInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	fittedWave(t, ".")
	testkit.Put(t, ".", "data.csv", "seconds,a,b\n0,1,2\n0.1,3,4\n")
	before := listing(t, ".")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for line, want := range map[string]string{
		"fit data.csv -o o.st": "interrupted while reading data.csv", "predict m.safetensors in.wav -o o.csv": "interrupted",
		"predict m.safetensors data.csv --x seconds --plot o.svg -o -": "interrupted",
		"predict m.safetensors in.wav --draws 2 -o o.wav":              "interrupted",
		"evaluate m.safetensors in.wav":                                "interrupted", "evaluate m.safetensors data.csv": "interrupted",
	} {
		vssgpRunContext(t, ctx, strings.Fields(line+" --quiet")...).fails(t, line, cli.ExitInterrupted, want)
	}
	if after := listing(t, "."); !maps.Equal(before, after) {
		t.Errorf("left %v", after)
	}
}

// TestPredictBeyond checks that rows outside the range of an input cause one warning, and that a model without a range
// gives none.
func TestPredictBeyond(t *testing.T) {
	dir := t.TempDir()
	rows := "t,u,y\n"
	for i := range 30 {
		rows += fmt.Sprintf("%d,%d,%d\n", i, i*7%30, i%5)
	}
	data, model, out := testkit.Put(t, dir, "d.csv", rows), filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "o.csv")
	for x, at := range map[string]struct{ text, want string }{
		"t": {"t\n3\n40\n50\n",
			"t 40 is outside the range of the model's data, 0 to 29, where its intervals are too narrow; use vssgp forecast"},
		"t,u": {"t,u\n3,3\n3,-4\n40,3\n", "u -4 is outside the range of the model's data, 0 to 29, where its intervals are too narrow\n"},
	} {
		succeed(t, "fit", data, "--method", "vssgp", "--x", x, "--y", "y", "--features", "4", "--iterations", "2", "-o", model)
		if o := succeed(t, "predict", model, data, "--x", x, "-o", out); strings.Contains(o.stderr, "beyond") {
			t.Errorf("%s: %s", x, o.stderr)
		}
		outside := testkit.Put(t, dir, "at.csv", at.text)
		if o := succeed(t, "predict", model, outside, "-o", out); strings.Count(o.stderr, "\n") != 1 ||
			!strings.Contains(o.stderr, at.want) {
			t.Errorf("%s: %s; want %q", x, o.stderr, at.want)
		}
		file := testkit.Must(safetensors.ReadFile(model))(t)
		delete(file.Metadata, "x.range")
		var b bytes.Buffer
		testkit.OK(t, file.Write(&b))
		if o := succeed(t, "predict", testkit.Put(t, dir, "old.safetensors", b.String()), outside, "-o", out); o.stderr != "" {
			t.Errorf("%s, no range: %s", x, o.stderr)
		}
	}
}

// TestJointCovarianceIsSymmetric checks that the joint covariance is symmetric and that its diagonal contains the squared standard deviations.
func TestJointCovarianceIsSymmetric(t *testing.T) {
	dir := t.TempDir()
	x := func(name string) string { return filepath.Join(dir, name) }
	data := testkit.Put(t, dir, "d.csv", "t,u,v\n0,1,2\n1,2,1\n2,1,1\n3,0,2\n4,1,3\n5,2,2\n6,1,0\n7,0,1\n")
	at := testkit.Put(t, dir, "at.csv", "t\n0.5\n2\n9\n")
	succeed(t, "fit", data, "--method", "vssgp", "--x", "t", "--y", "u,v", "--window", "none", "--iterations", "3", "-o", x("f.safetensors"))
	for _, latent := range []bool{false, true} {
		args := []string{"predict", x("f.safetensors"), at, "-o", x("o.npy"), "--joint", x("j.npy")}
		if latent {
			args = append(args, "--latent")
		}
		succeed(t, args...)
		means, joint := testkit.Must(matrix.ReadFull(x("o.npy")))(t).Data, readJoint(t, x("j.npy"))
		for n := range 3 {
			for d := range 2 {
				i, sd := 2*n+d, means[5*n+2+2*d]
				if got := joint[6*i+i]; math.Abs(got-sd*sd) > 1e-9*sd*sd {
					t.Errorf("latent %v: variance %v, sd² %v", latent, got, sd*sd)
				}
			}
		}
		for i := range joint {
			if joint[i] != joint[i%6*6+i/6] {
				t.Fatal("not symmetric")
			}
		}
	}
	succeed(t, "fit", data, "--x", "t", "--y", "u,v", "-o", x("series.safetensors"))
	many := testkit.Put(t, dir, "many.csv", "t\n"+strings.Repeat("1\n", 8200))
	for _, c := range []struct{ args, want string }{
		{"f.safetensors " + at + " --joint " + x("no.npy") + " --posterior", "combined with --posterior"},
		{"series.safetensors " + at + " --joint " + x("no.npy"), "time-series model"},
		{"f.safetensors " + at + " --joint " + x("o.csv"), ".npy"},
		{"f.safetensors " + many + " --joint " + x("no.npy"), "8200 rows with 2 outputs; the maximum of rows times outputs is 16384"},
	} {
		refuse(t, c.want, append([]string{"predict"}, strings.Fields(x(c.args)+" -o "+x("o.npy"))...)...)
	}
}

// readJoint reads the numbers of an array [3,2,3,2].
func readJoint(t *testing.T, path string) []float64 {
	t.Helper()
	b := string(testkit.Read(t, path))
	const shape = "(3, 2, 3, 2)"
	testkit.Contains(t, b[:128], shape)
	flat := testkit.Put(t, t.TempDir(), "flat.npy", strings.Replace(b, shape, "(6, 6)      ", 1))
	return testkit.Must(matrix.ReadFull(flat))(t).Data
}

// TestStdoutWithFiles checks that the other outputs are also written if the prediction
// goes to stdout, and that the plot shows all rows.
func TestStdoutWithFiles(t *testing.T) {
	dir := t.TempDir()
	model, recording := fittedWave(t, dir)
	plot, drawn := filepath.Join(dir, "p.svg"), filepath.Join(dir, "d.npy")
	o := vssgpRun(t, "predict", model, recording, "-o", "-", "--plot", plot, "--draws", "1", "--draws-file", drawn)
	if lines := strings.Count(o.stdout, "\n"); o.code != cli.ExitDone || lines != 401 {
		t.Fatalf("exit %d, %d lines, %q", o.code, lines, o.stderr)
	}
	if size := len(testkit.Read(t, drawn)); size != 128+8*2*400 {
		t.Errorf("the draws have %d bytes", size)
	}
	if points := strings.Count(string(testkit.Read(t, plot)), "L"); points < 4*400 { // of bands, means and draws of 400 rows and two outputs
		t.Errorf("the plot has lines to %d points", points)
	}
}

// TestForecastHorizonIrregular checks that the default horizon is a tenth of the number of rows, limited by the maximum horizon, and that a
// larger horizon is an error before the fit.
func TestForecastHorizonIrregular(t *testing.T) {
	dir := t.TempDir()
	table := func(name string, x func(n int) float64) string {
		var b strings.Builder
		b.WriteString("t,y\n")
		for n := range 120 {
			fmt.Fprintf(&b, "%v,%.4f\n", x(n), math.Sin(1.7*float64(n*n)))
		}
		return testkit.Put(t, dir, name, b.String())
	}
	for _, c := range []struct {
		name string
		x    func(n int) float64
		rows int
	}{
		{"even.csv", func(n int) float64 { return float64(n) }, 12},
		{"hole.csv", func(n int) float64 { return float64(n) + 1e12*float64(n/60) }, 12},
		{"clusters.csv", func(n int) float64 { return float64(n%12 + 10_000*(n/12)) }, 12},
		{"twotimes.csv", func(n int) float64 { return float64(n / 118) }, 10},
	} {
		o := succeed(t, "forecast", table(c.name, c.x), "--x", "t", "--season", "none", "-o", "-")
		if rows := strings.Count(o.stdout, "\n") - 1; rows != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, rows, c.rows)
		}
	}
	refuse(t, "--until 2000 exceeds the maximum, 1309, 10 times the data range after the last row", "forecast", filepath.Join(dir, "even.csv"),
		"--until", "2000", "-o", "-")
}

// TestInputName checks that predict and forecast --at refuse a table that has names, but not the name of the model's
// input.
func TestInputName(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string { return testkit.Put(t, dir, name, text) }
	waves := evenSeries(30, func(n int) float64 { return math.Sin(float64(n)) })
	data, bare := put("data.csv", waves), put("bare.csv", strings.TrimPrefix(waves, "t,y\n"))
	fast := []string{"--season", "none", "--trend", "none"}
	sparse := []string{"--features", "2", "--components", "1", "--iterations", "1"}
	model := func(name, data string, flags []string) string {
		path := filepath.Join(dir, name)
		succeed(t, append([]string{"fit", data, "-o", path}, flags...)...)
		return path
	}
	named, rows := model("named.st", data, fast), model("rows.st", data, append([]string{"--x", "row"}, fast...))
	positions := model("bare.st", bare, fast)
	gp, gpPositions := model("gp.st", data, append([]string{"--x", "t"}, sparse...)), model("gpbare.st", bare, sparse)
	const refused = ": there is no column \"t\", the input of the model, among "
	for name, c := range map[string]struct{ model, at, flags, problem string }{
		"the name":              {named, "t\n31\n", "", ""},
		"the name and others":   {named, "y,t,z\n1,31,2\n", "", ""},
		"another name":          {named, "time\n31\n", "", "at.csv" + refused + "time; rename the column, or "},
		"another case":          {named, "T,y\n31,1\n", "", refused + "T, y"},
		"another name and --x":  {named, "time\n31\n", "--x time", ""},
		"a number and --x":      {named, "time,y\n31,1\n", "--x 0", ""},
		"no names":              {named, "31\n32\n", "", ""},
		"a model without names": {positions, "time\n31\n", "", ""},
		"neither has names":     {positions, "31\n32\n", "", ""},
		"row numbers":           {rows, "row\n31\n", "", ""},
		"another name of rows":  {rows, "n\n31\n", "", `no column "row"`},
		"a GP":                  {gp, "t\n31\n", "", ""},
		"another name for a GP": {gp, "time\n31\n", "", refused + "time"},
		"--x for a GP":          {gp, "time\n31\n", "--x time", ""},
		"no names for a GP":     {gp, "31\n32\n", "", ""},
		"a GP without names":    {gpPositions, "time\n31\n", "", ""},
	} {
		args := append([]string{"predict", c.model, put("at.csv", c.at), "-o", filepath.Join(dir, "out.csv"), "--overwrite"},
			strings.Fields(c.flags)...)
		o := vssgpRun(t, args...)
		code := cli.ExitDone
		if c.problem != "" {
			code = cli.ExitMistake
		}
		if o.code != code || !strings.Contains(o.stderr, c.problem) {
			t.Errorf("%s: exit %d, %s; want %d, %q", name, o.code, o.stderr, code, c.problem)
		}
	}
	at := put("at.csv", "time\n31\n")
	refuse(t, "at.csv"+refused+"time; rename the column\n", append([]string{"forecast", data, "--at", at}, fast...)...)
}
