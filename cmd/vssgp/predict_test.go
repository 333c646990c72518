package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image/png"
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

// TestPredictBeyond checks that rows outside the range of an input cause one warning of predict and evaluate, and that
// a model without a range gives none.
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
		observed := testkit.Put(t, dir, "y.csv", strings.Replace(strings.ReplaceAll(at.text, "\n", ",1\n"), ",1", ",y", 1))
		if o := succeed(t, "evaluate", model, observed); !strings.Contains(o.stderr, at.want) {
			t.Errorf("evaluate %s: %s; want %q", x, o.stderr, at.want)
		}
		old := testkit.Put(t, dir, "old.safetensors", withoutRange(t, model))
		if o := succeed(t, "predict", old, outside, "-o", out); o.stderr != "" {
			t.Errorf("%s, no range: %s", x, o.stderr)
		}
	}
}

// TestColumnsInOrder checks that the model's own names cannot be given in another order, and that other columns can be
// given in any order.
func TestColumnsInOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	model, data := fittedField(t, ".", "y,z")
	testkit.Put(t, ".", "other.csv", "u,v,y,z\n1,2,3,4\n2,3,5,6\n")
	for line, want := range map[string]string{
		"evaluate " + data + " --x b,a":         `column "b" is given as number 1, but the model's order is a, b`,
		"evaluate " + data + " --x 1,0":         `column "b" is given as number 1, but the model's order is a, b`,
		"evaluate " + data + " --y z,y":         `--y: column "z" is given as number 1, but the model's order is y, z`,
		"predict " + data + " --x b,a -o o.csv": `--x: column "b" is given as number 1, but the model's order is a, b`,
		"evaluate " + data + " --x a,b --y y,z": "",
		"evaluate other.csv --x v,u":            "",
		"predict other.csv --x v,u -o o.csv":    "",
	} {
		args := strings.Fields(line)
		args = slices.Insert(args, 1, model)
		if want == "" {
			succeed(t, args...)
		} else {
			refuse(t, want, args...)
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

// fittedField writes a table with inputs a, b and the outputs of a fit, and its model.
func fittedField(t *testing.T, dir, outputs string) (model, data string) {
	t.Helper()
	rows := "a,b,y,z\n"
	for i := range 60 {
		a, b := float64(i*7%20)/2, float64(i*11%13) // 0 to 9.5 and 0 to 12
		rows += fmt.Sprintf("%v,%v,%v,%v\n", a, b, math.Sin(a)+0.1*b, math.Cos(b))
	}
	data, model = testkit.Put(t, dir, "field.csv", rows), filepath.Join(dir, "field.safetensors")
	succeed(t, "fit", data, "--x", "a,b", "--y", outputs, "--features", "10", "--iterations", "3", "-o", model, "--quiet")
	return model, data
}

// TestPredictGrid checks that predictions at a grid are those at a table of its points, in each format.
func TestPredictGrid(t *testing.T) {
	dir := t.TempDir()
	model, _ := fittedField(t, dir, "y,z")
	at := func(name string) string { return filepath.Join(dir, name) }
	const grid = "0.1:0.3:0.1,2:11:3"
	points := "a,b\n"
	for _, a := range []string{"0.1", "0.2", "0.3"} {
		for _, b := range []string{"2", "5", "8", "11"} {
			points += a + "," + b + "\n"
		}
	}
	table := testkit.Put(t, dir, "points.csv", points)
	predict := func(flags []string, args ...string) outcome {
		return succeed(t, slices.Concat([]string{"predict", model, "--overwrite"}, args, flags)...)
	}
	for _, flags := range [][]string{nil, {"--latent"}, {"--full", "--draws", "2"}} {
		for _, format := range []string{"csv", "tsv"} {
			predict(flags, "--grid", grid, "-o", at("grid."+format))
			predict(flags, table, "-o", at("table."+format))
			if got, want := testkit.Read(t, at("grid."+format)), testkit.Read(t, at("table."+format)); !bytes.Equal(got, want) {
				t.Errorf("%v: the grid has %.300s, want %.300s", flags, got, want)
			}
		}
		o := predict(flags, "--grid", grid, "-o", at("g.npy"), "--json")
		got := decode[struct {
			Rows    int
			Columns []string
			Grid    []struct {
				First, Last float64
				Points      int
			}
		}](t, o.stdout)
		want := testkit.Must(matrix.ReadFull(at("table.csv")))(t)
		testkit.Equal(t, got.Columns, want.Names[2:], "columns of the array")
		if got.Rows != 12 || fmt.Sprint(got.Grid) != "[{0.1 0.3 3} {2 11 4}]" {
			t.Errorf("%v: %s", flags, o.stdout)
		}
		array := testkit.Read(t, at("g.npy"))
		testkit.Contains(t, string(array[:128]), fmt.Sprintf("'shape': (3, 4, %d), }", len(got.Columns)))
		values := make([]float64, 12*len(got.Columns))
		testkit.Must(binary.Decode(array[len(array)-8*len(values):], binary.LittleEndian, values))(t)
		for c, name := range got.Columns {
			own := testkit.Numbers(12, func(n int) float64 { return values[n*len(got.Columns)+c] })
			testkit.Equal(t, own, column(t, want, name), name)
		}
	}

	succeed(t, "predict", model, "--grid", "3x5", "--draws", "2", "--draws-file", at("d.npy"), "-o", at("range.csv"))
	testkit.Contains(t, string(testkit.Read(t, at("d.npy"))[:128]), "(2, 3, 5, 2)")
	over := testkit.Must(matrix.ReadFull(at("range.csv")))(t)
	testkit.Equal(t, column(t, over, "a"), slices.Concat(slices.Repeat([]float64{0}, 5), slices.Repeat([]float64{4.75}, 5),
		slices.Repeat([]float64{9.5}, 5)), "a over its range")
	testkit.Equal(t, column(t, over, "b")[:5], []float64{0, 3, 6, 9, 12}, "b over its range")

	wave, _ := fittedWave(t, dir)
	succeed(t, "predict", wave, "--grid", "0:0.399:0.001", "-o", at("grid.wav"))
	testkit.Equal(t, testkit.Must(audio.Open(at("grid.wav")))(t).Len(), 400, "samples of a grid of times")
}

// TestPredictMaps checks the plots of a model of two inputs: maps of a grid with and without the rows of the data, of
// the rows of a table, and a curve if only one input varies.
func TestPredictMaps(t *testing.T) {
	t.Chdir(t.TempDir())
	model, data := fittedField(t, ".", "y")
	for line, want := range map[string]struct {
		pictures int // maps and color bars
		words    []string
	}{
		"--grid 30x20":                   {4, []string{"Map of y", "600 rows"}},
		data + " --grid 30x20":           {4, []string{"The dots are the rows of the data."}},
		data + " --grid 0:9:1,0:300:1":   {4, []string{"The maps have 2000 points"}},
		"--grid 3,0:12:0.5":              {0, []string{"25 rows", ">b<", ">y at a 3<"}},
		data:                             {2, []string{"Map of y", "60 rows"}},
		data + " --grid 5x5 --latent":    {4, []string{"the standard deviation of the function without noise"}},
		data + " --draws 3 --grid 30x20": {4, []string{"Of the 3 functions drawn from the posterior, the charts show 0."}},
	} {
		args := append([]string{"predict", model, "-o", "o.csv", "--overwrite", "--quiet"}, strings.Fields(line)...)
		succeed(t, append(args, "--plot", "p.html")...)
		testkit.Contains(t, string(testkit.Read(t, "p.html")), want.words...)
		succeed(t, append(args, "--plot", "p.svg")...)
		svg := string(testkit.Read(t, "p.svg"))
		testkit.Equal(t, strings.Count(svg, "<image "), want.pictures, line)
		testkit.Equal(t, strings.Count(svg, "fill:#111111") > 0, strings.Contains(line, data+" "), line, ": marks")
		succeed(t, append(args, "--plot", "p.png")...)
		if _, err := png.Decode(bytes.NewReader(testkit.Read(t, "p.png"))); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestManyRowsAreNotMarked checks that a map does not mark the rows of long data, and that its page says so.
func TestManyRowsAreNotMarked(t *testing.T) {
	t.Chdir(t.TempDir())
	model, _ := fittedField(t, ".", "y")
	rows := "a,b\n" + strings.Repeat("1,2\n3,4\n5,5\n", 1000)
	for name, c := range map[string]struct {
		more  string
		marks int
		words string
	}{
		"most": {"", 2 * 3000, "The dots are the rows of the data."},
		"more": {"2,2\n", 0, "The 3001 rows of the data are not marked, because there are more than 3000."},
	} {
		testkit.Put(t, ".", "many.csv", rows+c.more)
		line := []string{"predict", model, "many.csv", "--grid", "9x9", "-o", "o.csv", "--overwrite", "--plot"}
		succeed(t, append(line, "p.svg")...)
		svg := string(testkit.Read(t, "p.svg"))
		testkit.Equal(t, strings.Count(svg, "fill:#111111"), c.marks, name, ": marks in two maps")
		succeed(t, append(line, "p.html")...)
		testkit.Contains(t, string(testkit.Read(t, "p.html")), c.words)
	}
}

// TestPredictGridMistakes checks the errors of --grid.
func TestPredictGridMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	model, data := fittedField(t, ".", "y")
	series := testkit.Put(t, ".", "s.csv", "t,y\n0,1\n1,2\n2,1\n3,3\n4,2\n5,3\n")
	succeed(t, "fit", series, "-o", "s.safetensors", "--quiet")
	for line, want := range map[string]string{
		model:                              "INPUTS is missing; give a table or recording with the inputs, or --grid",
		model + " --grid=":                 "INPUTS is missing",
		model + " " + data + " --grid 5x5": "only marked in the plot; give --plot FILE or omit INPUTS",
		model + " " + data + " --grid 3,0:1:1 --plot p.png": "two inputs vary; omit INPUTS",
		model + " none.csv --grid 5x5 --plot p.png":         "none.csv",
		model + " --grid 5x5x5":                             "3 parts, but the model has 2 inputs (a, b)",
		model + " --grid 5x5 --x a,b":                       "--x selects columns of INPUTS, which are not given",
		model + " --grid 5x1":                               "b: \"1\" must be a number of points from 2",
		model + " --grid 0:1:2":                             "1 part",
		model + " --grid 1:0:2,1":                           "STOP 0 must be at least START 1",
		model + " --grid 300x300 --joint j.npy":             "90000 rows",
		model + " --grid 5x5 -o o.wav":                      "-o must be .csv or .npy",
		"s.safetensors --grid 5":                            "s.safetensors is a time-series model; give INPUTS",
	} {
		refuse(t, want, append([]string{"predict", "-o", "o.csv"}, strings.Fields(line)...)...)
	}
	beyond := succeed(t, "predict", model, "--grid", "-5:5:5,1", "-o", "o.csv").stderr
	testkit.Contains(t, beyond, "a -5 is outside the range")
	beyond = succeed(t, "predict", model, "--grid", "-5.5:5:5,1", "-o", "o.csv", "--overwrite").stderr
	testkit.Contains(t, beyond, "a -5.5 is outside the range of the model's data, 0 to 9.5, where")
}

// TestInfoRanges checks that info prints the ranges of the inputs, and nothing for a model file without them.
func TestInfoRanges(t *testing.T) {
	dir := t.TempDir()
	model, _ := fittedField(t, dir, "y")
	testkit.Contains(t, succeed(t, "info", model).stdout, "\nranges: a 0 to 9.5, b 0 to 12\n", " length-scale (a, b) ")
	testkit.Contains(t, succeed(t, "info", model, "--json").stdout, `"ranges":[[0,9.5],[0,12]],`)
	old := testkit.Put(t, dir, "old.safetensors", withoutRange(t, model))
	for _, flag := range []string{"--top=1", "--json"} {
		if o := succeed(t, "info", old, flag).stdout; strings.Contains(o, "range") {
			t.Errorf("%s, no range: %s", flag, o)
		}
	}
}

// withoutRange returns the content of a model file without the range of the data.
func withoutRange(t *testing.T, model string) string {
	t.Helper()
	file := testkit.Must(safetensors.ReadFile(model))(t)
	delete(file.Metadata, "x.range")
	var b bytes.Buffer
	testkit.OK(t, file.Write(&b))
	return b.String()
}

// TestCoverage checks that evaluate counts the values inside of the 95 % intervals of predict, with noise.
func TestCoverage(t *testing.T) {
	dir := t.TempDir()
	model, data := fittedField(t, dir, "y,z")
	values := testkit.Must(matrix.ReadFull(data))(t)
	for n := range values.Rows {
		values.Data[n*4+2] += float64(n%5) - 2 // errors of 0, 1 and 2
	}
	shifted := "a,b,y,z\n"
	for row := range slices.Chunk(values.Data, 4) {
		shifted += fmt.Sprintf("%v,%v,%v,%v\n", row[0], row[1], row[2], row[3])
	}
	other, out := testkit.Put(t, dir, "shifted.csv", shifted), filepath.Join(dir, "p.csv")
	succeed(t, "predict", model, other, "-o", out)
	p := testkit.Must(matrix.ReadFull(out))(t)
	inside := 0
	for _, name := range []string{"y", "z"} {
		mean, sd, y := column(t, p, name+"_mean"), column(t, p, name+"_sd"), column(t, values, name)
		for n := range y {
			if math.Abs(y[n]-mean[n]) < 1.96*sd[n] {
				inside++
			}
		}
	}
	want := float64(inside) / 120
	if want < 0.3 || want > 0.95 {
		t.Fatalf("%v of the values are inside; the test needs some outside", want)
	}
	e := decode[printed](t, succeed(t, "evaluate", model, other, "--json").stdout)
	if e.Coverage == nil || *e.Coverage != want {
		t.Errorf("coverage %v, want %v", e.Coverage, want)
	}
	line := fmt.Sprintf("coverage of 95 %% intervals   %.4g\n", want)
	testkit.Contains(t, succeed(t, "evaluate", model, other).stdout, line)
}
