package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// export returns a table as exported by other programs, with local times across a change to summer time, words and missing values.
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
	f := testkit.Must(os.Open(testkit.Put(t, t.TempDir(), "stdin", text)))(t)
	defer f.Close()
	before := os.Stdin
	defer func() { os.Stdin = before }()
	os.Stdin = f
	return vssgpRun(t, args...)
}

// TestExport checks that unedited tables can be fitted, predicted and evaluated in every dialect, with every extension and from stdin, and
// that the output has their local times.
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
		if !strings.Contains(o.stderr, "station (text), note (nothing)") ||
			!strings.Contains(o.stderr, "left out 6 rows of 60 without a value of flow") || o.code != cli.ExitDone {
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
		if got != want || len(lines) != 62 || lines[0] != "date,flow_mean,flow_sd" || !strings.HasPrefix(lines[31], "2024-03-31T12:00+01:00,") ||
			!strings.HasPrefix(lines[32], "2024-04-01T12:00+02:00,") {
			t.Fatalf("%s: %d lines, %q; want the output for a.csv", c.name, len(lines), lines[31:33])
		}
		if o := fromStdinRun(t, c.text, "evaluate", model, in, "--json"); decode[struct{ Rows int }](t, o.stdout).Rows != 54 {
			t.Errorf("%s: %s", c.name, o.stdout)
		}
	}
	model, out := filepath.Join(dir, "0.st"), filepath.Join(dir, "out.tsv.gz")
	at := testkit.Put(t, dir, "at.csv", "date\n2024-05-01\n2024-05-02 06:00\n")
	succeed(t, "predict", model, at, "-o", out)
	f := testkit.Must(gzip.NewReader(bytes.NewReader(testkit.Read(t, out))))(t)
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil || !strings.HasPrefix(b.String(), "date\tflow_mean\tflow_sd\n2024-05-01 00:00\t") {
		t.Errorf("%v, %q", err, b.String())
	}
	testkit.Contains(t, succeed(t, "info", model).stdout, "date: days since 2024-03-01",
		"\nranges: date 2024-03-01T12:00+02:00 to 2024-04-29T12:00+02:00\n") // with the offset of the last row
	testkit.Put(t, dir, "b.csv", strings.Replace(plain, "date", "day", 1)) // by --x, where the name is another
	succeed(t, "predict", model, filepath.Join(dir, "b.csv"), "--x", "day", "-o", out)
}

// TestNamesFlagNamesColumns checks that --names sets the names of a table without names, and that a model contains them.
func TestNamesFlagNamesColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", "1,2,3\n2,3,5\n3,5,1\n4,1,2\n5,5,5\n")
	succeed(t, "fit", "d.csv", "--names", "age,water,strength", "--x", "water,age", "--y", "strength", "--iterations", "2", "-o",
		"m.safetensors")
	testkit.Contains(t, succeed(t, "info", "m.safetensors", "--json").stdout, `"inputs":["water","age"],"outputs":["strength"]`)
	for names, want := range map[string]string{"a,b": "2 names for 3 columns", "a,a,b": "a", "a,7,b": "7", "a,,b": "name"} {
		refuse(t, want, "fit", "d.csv", "--names", names, "-o", "m.safetensors")
	}
}

// TestLeftOutInput checks that a column of text that leaves a single input is reported, with the input, unless --x is
// given.
func TestLeftOutInput(t *testing.T) {
	dir := t.TempDir()
	for columns, want := range map[string]string{
		"a,b,y\n0,%d km,%d\n":     "left out b (text); the input of the series is a; choose with --x and --y",
		"a,c,b,y\n0,1,%d km,%d\n": "left out b (text); choose with --x and --y",
	} {
		names, row, _ := strings.Cut(columns, "\n0")
		text := names + "\n"
		for i := range 20 {
			text += fmt.Sprint(i) + fmt.Sprintf(row, i*7%20, i*3%5)
		}
		in := testkit.Put(t, dir, "d.csv", text)
		o := succeed(t, "fit", in, "-o", filepath.Join(dir, "m.st"), "--overwrite")
		if !strings.Contains(o.stderr, in+": "+want) || strings.Count(o.stderr, "left out") != 1 {
			t.Errorf("%s: %s; want %q", names, o.stderr, want)
		}
		o = succeed(t, "fit", in, "--x", "a", "-o", filepath.Join(dir, "m.st"), "--overwrite")
		if strings.Contains(o.stderr, "left out") {
			t.Errorf("%s with --x: %s", names, o.stderr)
		}
	}
}

// TestGuessedInput checks that a default input column is an error if it is not sorted or if the table has several series.
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
	mixedFuture := table("ds,shop,temp,y", func(i int) string {
		return month(i/2) + []string{",a,", ",b,"}[i%2] + fmt.Sprint(i%5) + "," + []string{y(i), ""}[i/20]
	})
	byYear := table("year,month,y", func(i int) string { return fmt.Sprintf("%d,%d,%s", 2000+i/12, i%12+1, y(i)) })
	values := table("total,part", func(i int) string { return fmt.Sprintf("%d,%s", 90+i*5%11, y(i)) })
	falling := table("day,y", func(i int) string { return fmt.Sprintf("2001-03-%02d,%s", 30-i, y(i)) })
	twice := table("t,y", func(i int) string { return fmt.Sprintf("%d,%s", i/2, y(i)) })
	either := table("day,y", func(i int) string { return fmt.Sprintf("%02d/%02d/2001,%s", i%12+1, i/12+1, y(i)) })
	clock := table("at,y", func(i int) string { // goes back by an hour after 2:45
		return fmt.Sprintf("2001-10-28 %02d:%02d,%s", (i-i/12*4)/4, i%4*15, y(i))
	})
	flags := "t,flag,y\n0,u,3\n"
	for i := range 120 {
		flags += fmt.Sprintf("%d,%s,%s\n", i, []string{"v", "w"}[i%2], y(i))
	}
	named := strings.Replace(values, "total", "row", 1)
	plain := table("month,y", func(i int) string { return fmt.Sprintf("%d%02d,%s", 2000+i/12, i%12+1, y(i)) })
	daily := table("day,y", func(i int) string { return fmt.Sprintf("200101%02d,%s", i+1, y(i)) })
	ids := strings.Join(strings.Split(strings.Replace(plain, "month", "id", 1), "\n")[:13], "\n") + "\n"
	for name, c := range map[string]struct {
		text, args string
		want       []string // of the error; none: it succeeds
		first      string   // beginning of the output
	}{
		"one series below the other": {long, "", []string{"the default input column ds", "2001-01-01 in rows 1 and 13", "differ in column unique_id",
			"--x COLUMN", "--x row"}, ""},
		"series in alternating rows":         {mixed, "", []string{"the default input column ds", "2001-01-01 in rows 1 and 2", "differ in column shop"}, ""},
		"several series with a known future": {mixedFuture, "--regressor temp", []string{"2001-01-01 in rows 1 and 2", "differ in column shop"}, ""},
		"a year and a month":                 {byYear, "", []string{"input column year", "differ in column month", "--x row"}, ""},
		"values alone": {values, "", []string{"the default input column total", "is not increasing", "row 4 (from 1) has 94 after 100",
			"--x COLUMN", "--x row"}, ""},
		"a typo": {strings.Replace(plain, "200110", "200170", 1), "",
			[]string{"not increasing: row 22 (from 1) has 200170 before 200111",
				`:23: column "month" (0 from 0): "200170" is not a date (YYYYMM), so`}, ""},
		"a day 32": {strings.Replace(daily, "20010121", "20010132", 1), "",
			[]string{"not increasing: row 21 (from 1) has 20010132 before 20010122",
				`"20010132" is not a date (YYYYMMDD)`}, ""},
		"a typo in the first row": {strings.Replace(plain, "200001", "209001", 1), "",
			[]string{"not increasing: row 1 (from 1) has 209001 before 200002"}, ""},
		"a typo in the last row": {strings.Replace(plain, "200112", "199112", 1), "",
			[]string{"row 24 (from 1) has 199112 after 200111"}, ""},
		"a typo below the others": {strings.Replace(plain, "200110", "190110", 1), "",
			[]string{"row 22 (from 1) has 190110 after 200109"}, ""},
		"a typo with the latest first": {strings.Replace(falling, "2001-03-20", "2001-02-20", 1), "",
			[]string{"not decreasing: row 11 (from 1) has 2001-02-20 before 2001-03-19"}, ""},
		"a month 13, still increasing": {strings.Replace(plain, "200012", "200013", 1), "", nil,
			"month,y_mean,y_sd,y_lower,y_upper\n200113,"},
		"several series, but --x":            {long, "--x ds", nil, "ds,"},
		"values, but --x":                    {values, "--x total", nil, "total,"},
		"the numbers of the rows":            {values, "--x row", nil, "row,part_mean,part_sd,part_lower,part_upper\n25,"},
		"a column that is really called row": {named, "--x row", nil, "row,part_mean,part_sd,part_lower,part_upper\n101,"},
		"the latest first":                   {falling, "", nil, "day,"},
		"a day or a month first":             {either, "", []string{`"02/01/2001" is 2 January 2001 or 1 February 2001`, "--dayfirst"}, ""},
		"the day first":                      {either, "--dayfirst", nil, "day,"},
		"the month first":                    {either, "--dayfirst=false", []string{"is not increasing: row 13 (from 1) has 01/02/2001"}, ""},
		"two values at a time":               {twice, "", nil, "t,"},
		"a clock that is set back":           {clock, "", nil, "at,"},
		"a repeat among many rows":           {flags, "", nil, "t,"},
		"months without separators":          {plain, "", nil, "month,y_mean,y_sd,y_lower,y_upper\n200201,"},
		"numbers that could be months":       {ids, "", nil, "id,y_mean,y_sd,y_lower,y_upper\n200013,"},
	} {
		path := testkit.Put(t, dir, "d.csv", c.text)
		o := vssgpRun(t, append([]string{"forecast", path, "--horizon", "1", "--season", "none", "--trend", "none", "-o",
			"-"}, strings.Fields(c.args)...)...)
		if c.want == nil && (o.code != cli.ExitDone || !strings.HasPrefix(o.stdout, c.first)) || c.want != nil &&
			(o.code != cli.ExitMistake || strings.Count(o.stderr, "\n") != 1) {
			t.Errorf("%s: exit %d, %s%s", name, o.code, o.stdout, o.stderr)
		}
		testkit.Contains(t, o.stderr, c.want...)
	}
	prices := "year,price\n2010,199811\n2011,199812\n2012,199901\n2013,199912\n2014,200003\n2015,200012\n2016,200211\n"
	model := filepath.Join(dir, "m.st")
	months := testkit.Put(t, dir, "months.csv", plain)
	for text, reading := range map[string]string{strings.Replace(plain, "200012", "200013", 1): "warning: " + months +
		`:13: column "month" (0 from 0): "200013" is not a date (YYYYMM), so the column is read as numbers`,
		plain: "months.csv: column month is read as dates, YYYYMM", ids: "column id is read as numbers",
		prices: "column price is read as numbers, not as dates (YYYYMM), because the steps between dates are irregular"} {
		testkit.Put(t, dir, "months.csv", text)
		for _, flags := range []string{"--season none --trend none", "--features 2 --components 1 --iterations 1"} {
			o := succeed(t, append([]string{"fit", months, "-o", model}, strings.Fields(flags)...)...)
			testkit.Contains(t, o.stderr, reading)
		}
	}
	for _, format := range []string{"Jan-%02d", "Jan %02d", "Q1 %02d", "20%02dM01", "01/20%02d"} { // not read
		row := func(i int) string { return fmt.Sprintf(format, i+1) + "," + y(i) }
		testkit.Put(t, dir, "months.csv", table("month,y", row))
		o := succeed(t, "fit", months, "-o", model, "--season", "none", "--trend", "none")
		testkit.Contains(t, o.stderr, fmt.Sprintf(`the input is the row number, because %q in column month is not read as `+
			`a date`, fmt.Sprintf(format, 1)))
	}
	once := strings.Replace(table("t,y", func(i int) string { return fmt.Sprintf("%d,%s", i, y(i)) }), "\n7,", "\n6,", 1)
	for rows, note := range map[string]string{
		twice: "t repeats the value of another row in 12 rows of 24, such as 0 in rows 1 and 2 (from 1)",
		once:  "t repeats the value of another row in 1 row of 24, such as 6 in rows 7 and 8 (from 1)",
	} {
		again := testkit.Put(t, dir, "again.csv", rows)
		testkit.Contains(t, succeed(t, "fit", again, "-o", model, "--season", "none", "--trend", "none").stderr,
			"warning: "+again+": "+note)
	}
	unsorted, several := testkit.Put(t, dir, "x.csv", values), testkit.Put(t, dir, "long.csv", long)
	succeed(t, "fit", unsorted, "-o", model, "--season", "none") // a fit accepts an unsorted input
	refuse(t, "differ in column unique_id", "fit", several, "-o", model)
	succeed(t, "fit", unsorted, "--x", "row", "-o", model, "--season", "none")
	succeed(t, "evaluate", model, unsorted)
	for _, args := range [][]string{{"fill", several, "-o", filepath.Join(dir, "o.csv")}, {"backtest", several}} {
		refuse(t, "differ in column unique_id", args...)
	}
	refuse(t, "--x row: ", "fit", unsorted, "--x", "row", "--method", "vssgp", "-o", model)
}

// TestByError checks that the error of a series begins with its name, even if the cause is a flag.
func TestByError(t *testing.T) {
	dir := t.TempDir()
	text := "t,shop,y\n"
	for i := range 48 {
		text += fmt.Sprintf("%d,%s,%d\n", i%40, []string{"a", "b"}[i/40], i*i%7)
	}
	data := testkit.Put(t, dir, "two.csv", text)
	o := vssgpRun(t, "forecast", data, "--by", "shop", "--horizon", "100", "--season", "none", "--trend", "none", "-o",
		filepath.Join(dir, "o.csv"))
	testkit.Equal(t, o.code, cli.ExitMistake, "exit code")
	testkit.Contains(t, o.stderr, "two.csv: shop b: --horizon 100 exceeds the maximum of 70 rows", "1 of 2 series failed")
	testkit.Put(t, dir, "two.csv", strings.Replace(text, "\n2,b", "\n9,b", 1)) // not sorted
	for _, args := range []string{"forecast --horizon 1", "fill -o " + filepath.Join(dir, "w.csv"),
		"backtest --horizon 1 --origins 1", "forecast --horizon 1 --x t"} {
		o := vssgpRun(t, append(strings.Fields(args), data, "--by", "shop", "--season", "none", "--trend", "none")...)
		if strings.Contains(args, "--x") {
			testkit.Equal(t, o.code, cli.ExitDone, args)
			continue
		}
		testkit.Equal(t, o.code, cli.ExitMistake, args)
		testkit.Contains(t, o.stderr, "two.csv: shop b: the default input column t is not increasing: row 43 (from "+
			"1) has 9 before 3", "1 of 2 series failed")
	}
}

// TestSeriesOfTableAsAlone checks that each series of a table has the same results as alone, in the order of first rows and on any number of cores, and that
// a series that fails is reported and the others are written.
func TestSeriesOfTableAsAlone(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	series := map[string]string{"shop 7": "day,y\n", "a": "day,y\n"}
	long := "day,shop,y\n"
	for i := range 48 {
		for k, shop := range []string{"shop 7", "a", "c"} {
			y := fmt.Sprintf("%.2f", float64(20*k+10)+math.Sin(float64(i*(k+1)))+0.1*float64(i*i%7))
			if day := fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28); i < 2 || k < 2 {
				if i == 9 {
					y = ""
				}
				long += day + "," + shop + "," + y + "\n"
				series[shop] += day + "," + y + "\n"
			}
		}
	}
	data := testkit.Put(t, dir, "long.csv", long)
	by := []string{"--by", "shop", "--season", "none", "--trend", "none"}
	args := append([]string{"forecast", data, "--horizon", "3d", "-o", in("f.csv")}, by...)
	failing := func(args ...string) outcome {
		t.Helper()
		o := vssgpRun(t, args...)
		if o.code != cli.ExitMistake || !strings.Contains(o.stderr, `shop c: column "y" has 2 values`) || strings.Contains(o.stderr, "shop a") ||
			!strings.Contains(o.stderr, "1 of 3 series failed") || strings.Count(o.stderr, "\n") != 2 {
			t.Errorf("%q: exit %d, %s", args, o.code, o.stderr)
		}
		return o
	}
	failing(args...)
	got := string(testkit.Read(t, in("f.csv")))
	want := "shop,day,y_mean,y_sd,y_lower,y_upper\n"
	for _, shop := range []string{"shop 7", "a"} {
		one := testkit.Put(t, dir, "one.csv", series[shop])
		succeed(t, "forecast", one, "--horizon", "3", "-o", in("o.csv"), "--season", "none", "--trend", "none")
		for _, l := range lines(t, in("o.csv"))[1:] {
			want += shop + "," + strings.Join(l, ",") + "\n"
		}
	}
	if got != want {
		t.Errorf("%s, one by one\n%s", got, want)
	}
	cores := runtime.GOMAXPROCS(1)
	failing(args...)
	runtime.GOMAXPROCS(cores)
	if again := string(testkit.Read(t, in("f.csv"))); again != got {
		t.Errorf("on one core\n%s, on %d\n%s", again, cores, got)
	}
	type summaries struct {
		Rows   int
		Series []struct {
			Name, Error   string
			Rows, Horizon int
			Filled        int
			NoiseSD       []float64 `json:"noise_sd"`
			Scores        map[string]map[string]float64
		}
	}
	s := decode[summaries](t, failing(append(args, "--json")...).stdout)
	if len(s.Series) != 3 || s.Series[0].Name != "shop 7" || s.Series[0].Horizon != 3 || s.Series[1].Rows != 48 ||
		!(s.Series[1].NoiseSD[0] > 0) || !strings.Contains(s.Series[2].Error, "shop c") || s.Rows != 98 {
		t.Errorf("%+v", s)
	}
	screen := failing(append([]string{"forecast", data, "--horizon", "3"}, by...)...).stdout
	if testkit.Contains(t, screen, "shop", "2024-02-21", "2 series, 98 rows"); strings.Count(screen, "2024-") != 6 {
		t.Errorf("%s", screen)
	}

	fill := succeed(t, append([]string{"fill", data, "-o", in("w.csv"), "--bands", in("b.csv"), "--json"}, by...)...)
	if s := decode[summaries](t, fill.stdout); s.Series[0].Filled != 1 || s.Series[1].Filled != 1 {
		t.Errorf("%+v", s)
	}
	bands := lines(t, in("b.csv"))
	if strings.Join(bands[0], ",") != "shop,row,day,column,mean,sd,lower,upper" || len(bands) != 3 || bands[1][0] != "shop 7" ||
		bands[1][1] != "21" || bands[2][1] != "22" {
		t.Errorf("%q", bands)
	}
	before, after := strings.Split(long, "\n"), strings.Split(string(testkit.Read(t, in("w.csv"))), "\n")
	for i, l := range after {
		if changed := l != before[i]; changed != (i == 21 || i == 22) || changed && !strings.HasPrefix(l, before[i]) {
			t.Errorf("line %d: %q was %q", i+1, l, before[i])
		}
	}

	b := append([]string{"backtest", data, "--horizon", "2", "--origins", "2"}, by...)
	scores := decode[summaries](t, vssgpRun(t, append(b, "--json")...).stdout)
	if len(scores.Series) != 3 || !(scores.Series[1].Scores["vssgp"]["crps"] > 0) || scores.Series[2].Error == "" {
		t.Errorf("%+v", scores)
	}
	if o := vssgpRun(t, b...); !strings.Contains(o.stdout, "\nmean of all") || !strings.Contains(o.stdout, "\nshop 7 ") {
		t.Errorf("%s", o.stdout)
	}
	refuse(t, "row 2 (from 1) has no value of shop", "forecast", testkit.Put(t, dir, "void.csv", "shop,y\na,1\n,2\n"), "--by", "shop")
	refuse(t, "2024-01-01 in rows 1 and 3", "forecast", testkit.Put(t, dir, "two.csv", "day,shop,item,y\n2024-01-01,a,u,1\n2024-01-02,a,u,2\n"+
		"2024-01-01,a,v,3\n2024-01-02,a,v,4\n"), "--by", "shop")
}

// TestEmptyEnd checks that empty rows at the end of a table are part of a forecast, with and without a horizon, and
// that a line names those that are not.
func TestEmptyEnd(t *testing.T) {
	dir := t.TempDir()
	table := func(name string, row func(i int) string) string {
		text := ""
		for i := range 24 {
			text += row(i) + "\n"
		}
		return testkit.Put(t, dir, name, text)
	}
	y := func(i, last int) string {
		if i > last {
			return ""
		}
		return fmt.Sprint(10 + i*i%7)
	}
	rows := table("rows.csv", func(i int) string { return fmt.Sprintf("%d,%s", i, y(i, 20)) })
	two := table("two.csv", func(i int) string { return fmt.Sprintf("%d,%s,%s", i, y(i, 20), y(i, 18)) })
	by := table("by.csv", func(i int) string { return fmt.Sprintf("%d,%s,%s", i/2, "ab"[i%2:i%2+1], y(i, 19+i%2*2)) })
	days := table("days.csv", func(i int) string { return fmt.Sprintf("2024-02-%02d,%s", i+6, y(i, 20)) })
	known := table("known.csv", func(i int) string { return fmt.Sprintf("%d,%d,%s", i, i%5, y(i, 20)) })
	for _, c := range []struct{ args, want, note string }{ // the inputs of the forecast
		{rows, "21 22 23", ""}, {rows + " --horizon 2", "21 22", "not forecast: 1 of 3 empty rows after the last " +
			"value of x1, such as 23"},
		{rows + " --horizon 4", "21 22 23 24", ""}, {rows + " --until 22", "21 22", "1 of 3 empty rows"},
		{days + " --horizon 2d", "2024-02-27 2024-02-28", "such as 2024-02-29"},
		{days, "2024-02-27 2024-02-28 2024-02-29", ""},
		{rows + " --x row", "22 23 24", ""}, {two + " --x x0 --y x1,x2", "21 22 23",
			"the values of x2 end at 18, but the forecast begins after 20"},
		{by + " --by x1", "a a b", ""}, {by + " --by x1 --horizon 1", "a b", ""},
		{known + " --regressor x1 --horizon 3", "21 22 23", ""},
	} {
		out := filepath.Join(dir, "o.csv")
		o := succeed(t, append(strings.Fields("forecast "+c.args), "-o", out, "--season", "none", "--trend", "none",
			"--short-memory=false")...)
		got := ""
		for _, l := range lines(t, out)[1:] {
			got += " " + l[0]
		}
		if strings.TrimSpace(got) != c.want || !strings.Contains(o.stderr, c.note) || c.note == "" &&
			strings.Contains(o.stderr, "empty row") ||
			strings.Contains(o.stderr, "begins after") != strings.Contains(c.note, "begins after") {
			t.Errorf("%s: %s, %s; want %s, %s", c.args, got, o.stderr, c.want, c.note)
		}
	}
}

// TestDecimalFlag checks that --decimal applies to the data, to the table of --at and to every block of a table for
// predict.
func TestDecimalFlag(t *testing.T) {
	dir := t.TempDir()
	data, at := "t;y\n", "t;u\n"
	for i := range 20 {
		data += fmt.Sprintf("1,%03d;%d\n", i, i*i%7)
	}
	at += strings.Repeat("1,020;\"x\"\n", 1<<18) // several blocks
	in, short := testkit.Put(t, dir, "d.csv", data), testkit.Put(t, dir, "s.csv", at[:20])
	many, out, model := testkit.Put(t, dir, "at.csv", at), filepath.Join(dir, "o.csv"), filepath.Join(dir, "m.st")
	refuse(t, "\"1,000\" is 1.000 or 1000, and no other number of the table shows which", "forecast", in, "--at", short)
	flags := []string{"--decimal", "point", "--season", "none", "--trend", "none", "--short-memory=false"}
	succeed(t, append([]string{"forecast", in, "--at", short, "-o", out}, flags...)...)
	testkit.Equal(t, lines(t, out)[1][0], "1020", "the forecast's time")
	succeed(t, "fit", in, "--decimal", "point", "--features", "2", "--components", "1", "--iterations", "1", "-o", model)
	succeed(t, "predict", model, many, "--x", "t", "--decimal", "point", "-o", out)
	all := lines(t, out)
	testkit.Equal(t, all[1][0]+" "+all[len(all)-1][0], "1020 1020", "the first and the last time")
}
