package table

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// same fails the test unless got is the table with these names and values, bit by bit.
func same(t testing.TB, got *Matrix, names []string, data []float64) {
	t.Helper()
	if !slices.Equal(got.Names, names) || got.Cols != len(names) || got.Rows*got.Cols != len(got.Data) {
		t.Errorf("%d rows, %d columns %q, %d values; want %q", got.Rows, got.Cols, got.Names, len(got.Data), names)
	}
	if !slices.EqualFunc(got.Data, data, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Errorf("values %v, want %v", got.Data, data)
	}
}

// What is wrong comes with its place, and with why that may be.
var badCSV = map[string]struct{ text, says string }{
	"decimal comma": {"a,b\n1,2\n2,\"1,5\"\n",
		`"1,5" is not a number; want a decimal number such as -0.5 or 1e-3 (a decimal comma or a thousands separator?)`},
	"thousands, commas":  {"a;b\n1;2\n2;1,234,567\n", "(a thousands separator?)"},
	"thousands, a point": {"a;b\n1;2,5\n2;1.234,5\n", "(a thousands separator?)"},
	"footer":             {"a,b\n1,2\nTotal,3\n", "(a footer, a unit, or"},
	"footer alone":       {"a,b\n1,2\nsum of all\n", "1 fields; want 2 (\"a\", \"b\"), as in line 1 (a footer"},
	"comma in a row":     {"a,b\n1,2\n2,3,5\n", "3 fields; want 2 (\"a\", \"b\"), as in line 1 (a decimal comma"},
	"unit":               {"a,b\n1,2\n1,2 kg\n", "(a unit?)"},
	"minus":              {"a,b\n1,2\n1,\u22122\n", "not an ASCII -"},
	"date":               {"a,b\n1,2\n1,2024-01-01\n", "is a date among numbers"},
	"time":               {"a,b\n1,2\n1,12:30\n", "(a date or a time?)"},
	"gzip":               {"\x1f\x8bnonsense", "gzip data are damaged"},
	"binary":             {"a,b\n1,2\x00\n", "binary"},
	"Parquet":            {"PAR1\x15\x04", "read_parquet"},
	"quotes":             {"a,b\n1,2\n" + strings.Repeat("\"", 9), "extraneous or missing"},
	"long word":          {"t,y\n1," + strings.Repeat("z", 1<<20) + "\n", `"zzzzz`},

	"empty":              {"", "f.csv: the file is empty"},
	"blank":              {"\n\n", "f.csv: the file is empty"},
	"BOM alone":          {"\ufeff", "f.csv: the file is empty"},
	"names alone":        {"t,y\n", "f.csv: names and no numbers"},
	"short row":          {"t,y\n1,2\n3\n", `f.csv:3: 1 fields; want 2 ("t", "y")`},
	"long row":           {"t,y\n1,2,3\n", "f.csv:2: 3 fields; want 2"},
	"comma at the end":   {"t,y\n1,2,\n", "f.csv:2: 3 fields; want 2"},
	"word":               {"t,y\n1,2\n3,four\n", `f.csv:3: column "y" (1 from 0): "four" is not a number; want a decimal number such as -0.5 or 1e-3 (a footer,`},
	"missing":            {"t,y\n1,\n", `f.csv:2: column "y" (1 from 0): "" is missing`},
	"NaN":                {"t,y\n1,NaN\n", `f.csv:2: column "y" (1 from 0): "NaN" is missing`},
	"Inf":                {"t,y\n1,-Infinity\n", `f.csv:2: column "y" (1 from 0): "-Infinity" is not finite`},
	"too large":          {"t,y\n1,1e999\n", `f.csv:2: column "y" (1 from 0): "1e999" is beyond the range`},
	"NaN and no names":   {"nan,2\n", `f.csv:1: column "x0" (0 from 0): "nan" is missing`},
	"hexadecimal":        {"t,y\n1,0x10\n", `"0x10" is not a number`},
	"underscore":         {"t,y\n1,0x_1p-2\n", `"0x_1p-2" is not a number`},
	"semicolons":         {"t,y\n1;2,3\n", `"1;2" is not a number; want a decimal number such as -0.5 or 1e-3 (another separator?)`},
	"tabs":               {"t,y\n1\t2,3\n", "(another separator?)"},
	"blank between":      {"y\n1\n\n\n3\n", "f.csv:3: a blank line before the end"},
	"names and numbers":  {"1,y\n1,2\n", `f.csv:1: column 0 (from 0) is named "1"`},
	"same name":          {"t,y,t\n1,2,3\n", `f.csv:1: columns 0 and 2 (from 0) are both named "t"`},
	"name not UTF-8":     {"t,\xff\n1,2\n", `f.csv:1: column 1 (from 0) is named "\xff"`},
	"name not printable": {"t,a\x01b\n1,2\n", `f.csv:1: column 1 (from 0) is named "a\x01b"`},
	"UTF-16":             {"\xff\xfet\x00,\x00y\x00", "f.csv: the file is UTF-16; want UTF-8 (iconv"},
	"quote not closed":   {"t,\"y\n1,2\n3,4\n", "f.csv:1: extraneous or missing"},
	"quote in a field":   {"t,y\n1,2\"3\n", `f.csv:2: column "y" (1 from 0): "2\"3" is not a number`},
	"quote never closed": {"t,y\n1,\"2\n3,4\n", "f.csv:2: extraneous or missing"},
	"an NPY file":        {"\x93NUMPY\x01\x00v\x00{'descr'", "f.csv: the file ends in its header"},
	"a line too long":    {"t,y\n1,2\n" + strings.Repeat("1", maxRecord+1), "f.csv:3: a line of more than"},
}

func TestBadCSV(t *testing.T) {
	for name, c := range badCSV {
		t.Run(name, func(t *testing.T) {
			_, err := readCSV(strings.NewReader(c.text), "f.csv")
			oneLine(t, err, c.says)
		})
	}
	_, err := outputs(testkit.Must(tableOf(t, "a;b\n1;2.5\n2;1,5\n"))(t))
	oneLine(t, err, `"1,5" has another decimal sign than "2.5"`)
	broken := errors.New("broken")
	_, err = In(breaking{[]byte("t,y\n1,2\n3,-"), broken}, 20, "f.csv").matrix()
	if !errors.Is(err, broken) || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "f.csv:3") {
		t.Errorf("%v; want the reader's own error with the place", err)
	}
}

// readCSV reads a table of numbers from text.
func readCSV(r io.Reader, name string) (*Matrix, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return In(bytes.NewReader(b), int64(len(b)), name).matrix()
}

// oneLine fails the test unless err is ErrFormat in one short line that contains says.
func oneLine(t *testing.T, err error, says string) {
	t.Helper()
	if !errors.Is(err, ErrFormat) {
		t.Fatalf("%v; want ErrFormat", err)
	}
	if m := err.Error(); !strings.Contains(m, says) || len(m) > 300 || strings.Contains(m, "\n") {
		t.Errorf("%s; want one short line with %q", m, says)
	}
}

func TestWriteCSV(t *testing.T) {
	data := []float64{0.1, 1e6, 123456789, 1e21, -1e-7, 1.0 / 3, math.Copysign(0, -1), math.MaxFloat64, 5e-324, 48000.5}
	text := "0.1,1000000\n123456789,1e+21\n-1e-07,0.3333333333333333\n-0,1.7976931348623157e+308\n5e-324,48000.5\n"
	for header, names := range map[string][]string{
		"t,\"a, \"\"b\"\"\"\n": {"t", "a, \"b\""}, "\"#1\",y\n": {"#1", "y"}, // # begins a comment
	} {
		var b bytes.Buffer
		testkit.OK(t, WriteCSV(&b, names, data))
		testkit.Equal(t, b.String(), header+text, header)
		same(t, testkit.Must(readCSV(&b, "f.csv"))(t), names, data)
	}
}

func TestWriteCSVRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		data  []float64
		says  string
	}{
		"no columns":    {nil, nil, "0 columns"},
		"no rows":       {[]string{"t"}, nil, "whole rows"},
		"half a row":    {[]string{"t", "y"}, []float64{1, 2, 3}, "3 values for 2 columns"},
		"NaN":           {[]string{"t", "y"}, []float64{1, 2, 3, math.NaN()}, `row 1, column "y": NaN`},
		"infinity":      {[]string{"t"}, []float64{math.Inf(-1)}, "-Inf"},
		"same name":     {[]string{"t", "t"}, []float64{1, 2}, "both named"},
		"no name":       {[]string{"", "t"}, []float64{1, 2}, "no name"},
		"number":        {[]string{"1", "2"}, []float64{1, 2}, `named "1"`},
		"space around":  {[]string{" t"}, []float64{1}, "space"},
		"line in it":    {[]string{"a\nb"}, []float64{1}, "printable"},
		"name not UTF8": {[]string{"\xff"}, []float64{1}, "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			oneLine(t, WriteCSV(io.Discard, c.names, c.data), c.says)
		})
	}
	broken := errors.New("broken")
	testkit.Fails(t, WriteCSV(brokenWriter{broken}, []string{"t"}, make([]float64, 1<<16)), broken, "")
}

// brokenWriter takes nothing.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// FuzzReadCSV: what is read is a whole table of finite numbers, and what is written of it reads the same.
func FuzzReadCSV(f *testing.F) {
	f.Add([]byte("t,y\n1,2\n3,-4.5e-3\n"))
	f.Add([]byte("\ufeff\"a, b\",\"c\"\"\"\r\n1,\"2\"\r\n\r\n"))
	for _, c := range badCSV {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAny(t, b, readCSV, func(w io.Writer, x *Matrix) error { return WriteCSV(w, x.Names, x.Data) })
	})
}

// checkAny holds a reader to its word on any bytes.
func checkAny(t *testing.T, b []byte, read func(io.Reader, string) (*Matrix, error), write func(io.Writer, *Matrix) error) {
	t.Helper()
	x, err := read(bytes.NewReader(b), "f")
	if err != nil {
		if !errors.Is(err, ErrFormat) {
			t.Fatalf("%v; want ErrFormat", err)
		}
		return
	}
	if x.Rows < 1 || x.Cols < 1 || x.Rows*x.Cols != len(x.Data) || len(x.Names) != x.Cols || len(x.Data) > len(b) {
		t.Fatalf("%d rows, %d columns, %d names, %d values from %d bytes", x.Rows, x.Cols, len(x.Names), len(x.Data), len(b))
	}
	if slices.ContainsFunc(x.Data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		t.Fatalf("%v was let through", x.Data)
	}
	var out bytes.Buffer
	testkit.OK(t, write(&out, x))
	same(t, testkit.Must(read(&out, "f"))(t), x.Names, x.Data)
}
