package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/table"
)

// export is a table as programs write them: dates at a local clock through the change to summer time, words, holes.
func export(sep, point string) string {
	var b strings.Builder
	b.WriteString("\ufeff# exported\r\ndate,station,flow,\"level, m\",note\r\n")
	for i := range 60 {
		zone := "+01:00"
		if i >= 31 {
			zone = "+02:00"
		}
		flow := fmt.Sprintf("%.2f", 5+math.Sin(float64(i)/5))
		if i%10 == 3 {
			flow = []string{"", "NA", "-"}[i/10%3]
		}
		fmt.Fprintf(&b, "2024-%02d-%02dT12:00%s,\"A \"\"1\"\"\",%s,%d,\r\n", 3+i/31, 1+i%31, zone, flow, i*i%7)
	}
	text := strings.ReplaceAll(b.String(), ",", sep)
	return strings.ReplaceAll(text, ".", point)
}

// fromStdinRun runs a command with a text as stdin.
func fromStdinRun(t *testing.T, text string, args ...string) outcome {
	t.Helper()
	f, err := os.Open(testkit.Put(t, t.TempDir(), "stdin", text))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := os.Stdin
	defer func() { os.Stdin = before }()
	os.Stdin = f
	return vssgpRun(t, args...)
}

// TestExport: an unedited export fits, predicts and evaluates as it is, whatever its dialect, its extension and how it comes; what comes
// out has its dates, on their clock.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	plain := export(",", ".")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(plain))
	z.Close()
	want := ""
	for i, c := range []struct{ name, text string }{
		{"a.csv", plain}, {"a.csv.gz", packed.String()}, {"b.csv", packed.String()}, {"-", plain}, {"-", packed.String()},
		{"a.txt", export(";", ",")}, {"a.tsv", export("\t", ".")}, {"c.csv", export(";", ".")}, {"A.TSV.GZ", packed.String()},
	} {
		in, model, out := c.name, filepath.Join(dir, fmt.Sprint(i, ".st")), filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if in != "-" {
			in = testkit.Put(t, dir, c.name, c.text)
		}
		o := fromStdinRun(t, c.text, "fit", in, "--y", "flow", "-o", model, "--iterations", "3")
		notes := "left out station (text), note (nothing), level"
		if !strings.Contains(o.stderr, "station (text), note (nothing)") || !strings.Contains(o.stderr, "left out 6 rows of 60 that have no value of flow") || o.code != cli.ExitDone {
			t.Fatalf("%s: exit %d, %s; want %s", c.name, o.code, o.stderr, notes)
		}
		if o := fromStdinRun(t, c.text, "predict", model, in, "-o", out); o.code != cli.ExitDone {
			t.Fatalf("%s: %s", c.name, o.stderr)
		}
		got := string(testkit.Read(t, out))
		lines := strings.Split(got, "\n")
		if want == "" {
			want = got
		}
		if got != want || len(lines) != 62 || lines[0] != "date,flow_mean,flow_sd" || !strings.HasPrefix(lines[31], "2024-03-31T12:00+01:00,") || !strings.HasPrefix(lines[32], "2024-04-01T12:00+02:00,") {
			t.Fatalf("%s: %d lines, %q; want what a.csv gives", c.name, len(lines), lines[31:33])
		}
		if o := fromStdinRun(t, c.text, "evaluate", model, in, "--json"); decode[struct{ Rows int }](t, o.stdout).Rows != 54 {
			t.Errorf("%s: %s", c.name, o.stdout)
		}
	}
	model, out := filepath.Join(dir, "0.st"), filepath.Join(dir, "out.tsv.gz")
	at := testkit.Put(t, dir, "at.csv", "date\n2024-05-01\n2024-05-02 06:00\n")
	succeed(t, "predict", model, at, "-o", out)
	f, err := gzip.NewReader(bytes.NewReader(testkit.Read(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil || !strings.HasPrefix(b.String(), "date\tflow_mean\tflow_sd\n2024-05-01 00:00\t") {
		t.Errorf("%v, %q", err, b.String())
	}
	if o := succeed(t, "info", model); !strings.Contains(o.stdout, "date: days since 2024-03-01") {
		t.Errorf("%s", o.stdout)
	}
	testkit.Put(t, dir, "b.csv", strings.Replace(plain, "date", "day", 1)) // by --x, where the name is another
	succeed(t, "predict", model, filepath.Join(dir, "b.csv"), "--x", "day", "-o", out)
}

// TestArrayWithHoles: NaN in an output of an array is a missing value, in an input a mistake.
func TestArrayWithHoles(t *testing.T) {
	dir := t.TempDir()
	word := func(values ...float64) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	var whole bytes.Buffer
	if err := table.WriteNPY(&whole, []int{4, 2}, []float64{0, 1, 1, 9, 2, 3, 3, 2}); err != nil {
		t.Fatal(err)
	}
	y := testkit.Put(t, dir, "y.npy", strings.Replace(whole.String(), string(word(9)), string(word(math.NaN())), 1))
	x := testkit.Put(t, dir, "x.npy", strings.Replace(whole.String(), string(word(2, 3)), string(word(math.NaN(), 3)), 1))
	if o := vssgpRun(t, "fit", y, "-o", filepath.Join(dir, "m.st"), "--iterations", "2"); o.code != cli.ExitDone || !strings.Contains(o.stderr, "left out 1 row of 4") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := vssgpRun(t, "fit", x, "-o", filepath.Join(dir, "m.st")); o.code != cli.ExitMistake || !strings.Contains(o.stderr, "row 2, column 0 (from 0): \"NaN\" is missing") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestNames: the columns of a table without names get those of --names, and a model keeps them.
func TestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", "1,2,3\n2,3,5\n3,5,1\n4,1,2\n5,5,5\n")
	succeed(t, "fit", "d.csv", "--names", "age,water,strength", "--x", "water,age", "--y", "strength", "--iterations", "2", "-o", "m.safetensors")
	if o := succeed(t, "info", "m.safetensors", "--json"); !strings.Contains(o.stdout, `"inputs":["water","age"],"outputs":["strength"]`) {
		t.Errorf("%s", o.stdout)
	}
	for names, want := range map[string]string{"a,b": "2 names for 3 columns", "a,a,b": "a", "a,7,b": "7", "a,,b": "name"} {
		if o := vssgpRun(t, "fit", "d.csv", "--names", names, "-o", "m.safetensors"); o.code != cli.ExitMistake || !strings.Contains(o.stderr, want) {
			t.Errorf("--names %s: exit %d, %q", names, o.code, o.stderr)
		}
	}
}

// TestGuessedInput: without --x, a column is not taken for the input if its rows are in no order, or if the table has several series.
func TestGuessedInput(t *testing.T) {
	dir := t.TempDir()
	table := func(head string, row func(i int) string) string {
		for i := range 24 {
			head += "\n" + row(i)
		}
		return head + "\n"
	}
	y := func(i int) string { return fmt.Sprint(10 + i*i%7) }
	month := func(i int) string { return fmt.Sprintf("2001-%02d-01", i%12+1) }
	long := table("unique_id,ds,y", func(i int) string { return []string{"a,", "b,"}[i/12] + month(i) + "," + y(i) })
	mixed := table("ds,shop,y", func(i int) string { return month(i/2) + []string{",a,", ",b,"}[i%2] + y(i) })
	byYear := table("year,month,y", func(i int) string { return fmt.Sprintf("%d,%d,%s", 2000+i/12, i%12+1, y(i)) })
	values := table("total,part", func(i int) string { return fmt.Sprintf("%d,%s", 90+i*5%11, y(i)) })
	falling := table("day,y", func(i int) string { return fmt.Sprintf("2001-03-%02d,%s", 30-i, y(i)) })
	twice := table("t,y", func(i int) string { return fmt.Sprintf("%d,%s", i/2, y(i)) })
	clock := table("at,y", func(i int) string { // set back by an hour after 2:45
		return fmt.Sprintf("2001-10-28 %02d:%02d,%s", (i-i/12*4)/4, i%4*15, y(i))
	})
	flags := "t,flag,y\n0,u,3\n"
	for i := range 120 {
		flags += fmt.Sprintf("%d,%s,%s\n", i, []string{"v", "w"}[i%2], y(i))
	}
	named := strings.Replace(values, "total", "row", 1)
	for name, c := range map[string]struct {
		text, args string
		want       []string // of the error; none: it succeeds
		first      string   // what the output begins with
	}{
		"one series below the other":         {long, "", []string{"the column ds", "2001-01-01 in rows 1 and 13", "unique_id tells apart", "--x COLUMN", "--x row"}, ""},
		"one series beside the other":        {mixed, "", []string{"the column ds", "2001-01-01 in rows 1 and 2", "shop tells apart"}, ""},
		"a year and a month":                 {byYear, "", []string{"the column year", "month tells apart", "--x row"}, ""},
		"values alone":                       {values, "", []string{"the column total", "does not rise", "row 4 (from 1) has 94 after 100", "--x COLUMN", "--x row"}, ""},
		"values alone, an output":            {values, "--y part", []string{"does not rise"}, ""},
		"several series, but --x":            {long, "--x ds", nil, "ds,"},
		"values, but --x":                    {values, "--x total", nil, "total,"},
		"the numbers of the rows":            {values, "--x row", nil, "row,part_mean,part_sd,part_lower,part_upper\n25,"},
		"a column that is really called row": {named, "--x row", nil, "row,part_mean,part_sd,part_lower,part_upper\n101,"},
		"the latest first":                   {falling, "", nil, "day,"},
		"two values at a time":               {twice, "", nil, "t,"},
		"a clock that is set back":           {clock, "", nil, "at,"},
		"a repeat among many rows":           {flags, "", nil, "t,"},
	} {
		path := testkit.Put(t, dir, "d.csv", c.text)
		o := vssgpRun(t, append([]string{"forecast", path, "--horizon", "1", "--season", "none", "-o", "-"}, strings.Fields(c.args)...)...)
		if c.want == nil && (o.code != cli.ExitDone || !strings.HasPrefix(o.stdout, c.first)) || c.want != nil && (o.code != cli.ExitMistake || strings.Count(o.stderr, "\n") != 1) {
			t.Errorf("%s: exit %d, %s%s", name, o.code, o.stdout, o.stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("%s: %s: want %q", name, o.stderr, want)
			}
		}
	}
	model := filepath.Join(dir, "m.st")
	unsorted, several := testkit.Put(t, dir, "x.csv", values), testkit.Put(t, dir, "long.csv", long)
	succeed(t, "fit", unsorted, "-o", model, "--season", "none") // of a fit that is an input in no order
	if o := vssgpRun(t, "fit", several, "-o", model); o.code != cli.ExitMistake || !strings.Contains(o.stderr, "unique_id tells apart") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	succeed(t, "fit", unsorted, "--x", "row", "-o", model, "--season", "none")
	succeed(t, "evaluate", model, unsorted)
	for _, args := range [][]string{{"fill", several, "-o", filepath.Join(dir, "o.csv")}, {"backtest", several}} {
		if o := vssgpRun(t, args...); o.code != cli.ExitMistake || !strings.Contains(o.stderr, "unique_id tells apart") {
			t.Errorf("%s: exit %d, %s", args[0], o.code, o.stderr)
		}
	}
	if o := vssgpRun(t, "fit", unsorted, "--x", "row", "--method", "vssgp", "-o", model); o.code != cli.ExitMistake || !strings.Contains(o.stderr, "--x row: ") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestNearPeriods: two lengths for one season are refused by both values, unless the rows are not known so well.
func TestNearPeriods(t *testing.T) {
	dir := t.TempDir()
	rows := "t,year,y\n"
	for i := range 48 {
		rows += fmt.Sprintf("%d,%.4f,%d\n", i, 2000+float64(i)/12, i%12)
	}
	data := testkit.Put(t, dir, "d.csv", rows)
	for args, want := range map[string]string{
		"--x t --period 12.0000001 --season 12": "--period 12.0000001 and --season 12 are 12.0000001 and 12 along t",
		"--x t --period 12 --season 12":         "",
		"--x year --period 1 --season 12":       "",
	} {
		o := vssgpRun(t, append([]string{"forecast", data, "--horizon", "1", "--trend", "none", "-o", filepath.Join(dir, "o.csv")}, strings.Fields(args)...)...)
		if code := map[bool]int{true: cli.ExitDone, false: cli.ExitMistake}[want == ""]; o.code != code || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s; want %q", args, o.code, o.stderr, want)
		}
	}
}
