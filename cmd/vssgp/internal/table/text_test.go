package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// tableOf reads the table in a text.
func tableOf(t testing.TB, text string) (*Table, error) {
	t.Helper()
	return Read(t.Context(), In(strings.NewReader(text), int64(len(text)), "f"))
}

// gzipped returns the compressed text.
func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// outputs returns the columns of numbers, row-major, with NaN for missing values.
func outputs(x *Table) ([]float64, error) {
	cols := x.OfKind(Numbers)
	all := make([]float64, x.Rows*len(cols))
	for i, col := range cols {
		values, err := x.Numbers(col)
		if err != nil {
			return nil, err
		}
		for row, v := range values {
			all[row*len(cols)+i] = v
		}
	}
	return all, nil
}

// TestDialects checks the detection of separators, names and kinds of columns.
func TestDialects(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		text  string
		names string    // of all columns
		kinds string    // n: numbers, d: dates, t: text, -: nothing
		data  []float64 // of columns of numbers
	}{
		"plain":             {"t,y\n1,2\n3,-4.5e-3\n", "t y", "nn", []float64{1, 2, 3, -4.5e-3}},
		"no newline":        {"t,y\n1,2", "t y", "nn", []float64{1, 2}},
		"CRLF":              {"t,y\r\n1,2\r\n", "t y", "nn", []float64{1, 2}},
		"BOM":               {"\ufefft,y\n1,2\n", "t y", "nn", []float64{1, 2}},
		"BOM, no names":     {"\ufeff1,2\n", "x0 x1", "nn", []float64{1, 2}},
		"blank at the end":  {"t,y\n1,2\n\n  \r\n\n", "t y", "nn", []float64{1, 2}},
		"spaces around":     {" t , y\n 1 ,\t2 \n", "t y", "nn", []float64{1, 2}},
		"no names":          {"1,2,3\n4,5,6\n", "x0 x1 x2", "nnn", []float64{1, 2, 3, 4, 5, 6}},
		"quoted names":      {"\"a, b\", \"c\"\"d\"\n1,2\n", `a, b|c"d`, "nn", []float64{1, 2}},
		"quoted numbers":    {"t,y\n\"1\",2\n", "t y", "nn", []float64{1, 2}},
		"names with digits": {"t1,2y,α\n1,2,3\n", "t1 2y α", "nnn", []float64{1, 2, 3}},
		"numbers": {"y\n+1\n-0\n.5\n5.\n1E3\n5e-324\n1e-999\n0.1\n", "y", "n",
			[]float64{1, math.Copysign(0, -1), .5, 5, 1e3, 5e-324, 0, 0.1}},
		"tabs":                  {"a\tb\n1\t2\n3\t4\n", "a b", "nn", []float64{1, 2, 3, 4}},
		"semicolons":            {"a;b\n1.5;2\n", "a b", "nn", []float64{1.5, 2}},
		"decimal commas":        {"a;b\n1,5;2\n2,75;3\n", "a b", "nn", []float64{1.5, 2, 2.75, 3}},
		"decimal commas, tabs":  {"a\tb\n1,5\t2\n", "a b", "nn", []float64{1.5, 2}},
		"one column, words":     {"y\n" + strings.Repeat("room 5, Bonn\n", 30), "y", "t", nil},
		"commas and no names":   {"1,5\n2,75\n", "x0 x1", "nn", []float64{1, 5, 2, 75}},
		"spaces":                {"-2.3 0.568   4.78 \n -2.3\t0.568 4.9\n", "x0 x1 x2", "nnn", []float64{-2.3, .568, 4.78, -2.3, .568, 4.9}},
		"one column, comma":     {"a;b\n1\n2\n", "a;b", "n", []float64{1, 2}},
		"a name with spaces":    {"the time,y\n1,2\n", "the time|y", "nn", []float64{1, 2}},
		"pandas":                {",y\n2024-01-01,1\n2024-01-02,\n", "x0 y", "dn", []float64{1, nan}},
		"dates, no names":       {"2024-01-01,A,1\n2024-01-02,B,2\n", "x0 x1 x2", "dtn", []float64{1, 2}},
		"missing words":         {"a,b\nNA,N/A\nnan,NaN\nnull,None\n-,\n1,2\n", "a b", "nn", []float64{nan, nan, nan, nan, nan, nan, nan, nan, 1, 2}},
		"all missing":           {"a,b\n1,\n2,NA\n", "a b", "n-", []float64{1, 2}},
		"comments":              {"# a, b; c\n#\n\na,b\n1,2\n", "a b", "nn", []float64{1, 2}},
		"BOM and comments":      {"\ufeff# a\r\na,b\r\n1,2\r\n", "a b", "nn", []float64{1, 2}},
		"old line ends":         {"a,b\r1,2\r3,4\r", "a b", "nn", []float64{1, 2, 3, 4}},
		"blank lines":           {"\na,b\n1,2\n\n3,4\n\n", "a b", "nn", []float64{1, 2, 3, 4}},
		"text with separators":  {"a,b\n\"x, \"\"y\"\"\n\nz\",2\nq;r,3\n", "a b", "tn", []float64{2, 3}},
		"text with a quote":     {"a,b\n5\" pipe,2\n\"x\" y,3\n", "a b", "tn", []float64{2, 3}},
		"a row of tabs":         {"a\tb\n1\t2\n\t\n3\t4\n", "a b", "nn", []float64{1, 2, nan, nan, 3, 4}},
		"empty and no names":    {",2\n1,3\n", "x0 x1", "nn", []float64{nan, 2, 1, 3}},
		"gzip":                  {gzipped("a,b\n1,2\n"), "a b", "nn", []float64{1, 2}},
		"dates before commas":   {"05.03.2024 10:00;1,5\n06.03.2024 10:00;2,5\n", "x0 x1", "dn", []float64{1.5, 2.5}},
		"years as names":        {"land,1990,1991\nDE,5,6\n", "x0 x1 x2", "tnn", []float64{1990, 1991, 5, 6}},
		"a comment is no name":  {"#a,b\n1,2\n", "x0 x1", "nn", []float64{1, 2}},
		"no comment later":      {"a,b\nx,1\n#y,2\n", "a b", "tn", []float64{1, 2}},
		"half of them dates":    {"day,2023-12-31\n2024-01-01,1\nx,2\n", "day 2023-12-31", "dn", []float64{1, 2}},
		"bars":                  {"a | b\n1 | 2,5\n3 | 4\n", "a b", "nn", []float64{1, 2.5, 3, 4}},
		"a declared separator":  {"\ufeffSEP=;\r\na;b\r\n1,5;2\r\n", "a b", "nn", []float64{1.5, 2}},
		"a quoted declaration":  {"\"sep=;\"\r\na;b\r\n1,5;2\r\n", "a b", "nn", []float64{1.5, 2}},
		"a name like sep":       {"sep=,b\n1,2\n", "sep= b", "nn", []float64{1, 2}},
		"names that look alike": {"a,b,a\nu,1,v\n", "a b a", "tnt", []float64{1}},
	} {
		s := testkit.Must(tableOf(t, c.text))(t)
		kinds := ""
		for col := range s.Cols {
			kinds += string("-ndt"[s.Kind(col)])
		}
		sep := " "
		if strings.Contains(c.names, "|") {
			sep = "|"
		}
		got := testkit.Must(outputs(s))(t)
		equal := slices.EqualFunc(got, c.data, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		if names := strings.Join(s.Names, sep); names != c.names || kinds != c.kinds || !equal {
			t.Errorf("%s: names %q, kinds %s, %v; want %q, %s, %v", name, names, kinds, got, c.names, c.kinds, c.data)
		}
	}
}

// same fails the test unless got has the given names and bit-identical values.
func same(t testing.TB, got *Matrix, names []string, data []float64) {
	t.Helper()
	if !slices.Equal(got.Names, names) || got.Cols != len(names) || got.Rows*got.Cols != len(got.Data) {
		t.Errorf("%d rows, %d columns %q, %d values; want %q", got.Rows, got.Cols, got.Names, len(got.Data), names)
	}
	if !slices.EqualFunc(got.Data, data, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Errorf("values %v, want %v", got.Data, data)
	}
}

// badCSV are invalid files with the position and the likely reason in the error.
var badCSV = map[string]struct{ text, message string }{
	"decimal comma": {"a,b\n1,2\n2,\"1,5\"\n",
		`"1,5" is not a number; must be a decimal number such as -0.5 or 1e-3 (a decimal comma or a thousands separator?)`},
	"thousands, commas":  {"a;b\n1;2\n2;1,234,567\n", "(a thousands separator?)"},
	"thousands, a point": {"a;b\n1;2,5\n2;1.234,5\n", "(a thousands separator?)"},
	"footer":             {"a,b\n1,2\nTotal,3\n", "(a footer, a unit, or"},
	"footer alone":       {"a,b\n1,2\nsum of all\n", "1 fields; must be 2 (\"a,b\"), as in line 1 (a footer"},
	"comma in a row":     {"a,b\n1,2\n2,3,5\n", "3 fields; must be 2 (\"a,b\"), as in line 1 (a decimal comma"},
	"commas in all rows": {"a,b\n" + strings.Repeat("2024-01-01,2,5\n", 30), "(a decimal comma or a"},
	"thousands, 3 names": {"a,b,c\n" + strings.Repeat("x,1,974,2\n", 30), "f.csv:2: 4 fields; must be 3 (\"a,b,c\")"},
	"commas, a comment":  {"# t\na,b\n" + strings.Repeat("2024-01-01,2,5\n", 30), "f.csv:3: 3 fields; must be 2"},
	"commas, a title":    {"Bonn, 5\na,b\n" + strings.Repeat("2024-01-01,2,5\n", 30), "f.csv:3: 3 fields; must be 2"},
	"one column, commas": {"y\n" + strings.Repeat("1,5\n", 30),
		"f.csv:2: column \"y\" (0 from 0): \"1,5\" is not a number"},
	"a title": {"Bonn\na,b\n" + strings.Repeat("2024-01-01,2\n", 30),
		"f.csv:2: 2 fields; must be 1 (\"Bonn\"), as in line 1 (a title"},
	"two lines of title": {"Bonn\n2024\na;b\n" + strings.Repeat("2024-01-01;2,5\n", 9),
		"f.csv:3: 2 fields; must be 1 (\"Bonn\")"},
	"unit":     {"a,b\n1,2\n1,2 kg\n", "(a unit?)"},
	"currency": {"a,b\n1,2\n1,\"$1,001\"\n", "(currency and percent signs are not supported)"},
	"percent":  {"a,b\n1,2\n1,12 %\n", "(currency and percent signs are not supported)"},
	"minus":    {"a,b\n1,2\n1,\u22122\n", "not an ASCII -"},
	"date":     {"a,b\n1,2\n1,2024-01-01\n", "is a date among numbers"},
	"time":     {"a,b\n1,2\n1,12:30\n", "(a date or a time?)"},
	"gzip":     {"\x1f\x8bnonsense", "gzip data are damaged"},
	"binary":   {"a,b\n1,2\x00\n", "binary"},
	"Parquet":  {"PAR1\x15\x04", "read_parquet"},
	"separator :": {"sep=:\na:b\n1:2\n",
		"f.csv:1: the first line declares the separator \":\"; must be sep= and a comma,"},
	"separators":   {"sep=;;\na;b\n1;2\n", "f.csv:1: the first line declares the separator \";;\""},
	"no separator": {"\ufeff\"sep=\"\na;b\n1;2\n", "f.csv:1: the first line declares the separator \"\""},
	"quotes":       {"a,b\n1,2\n" + strings.Repeat("\"", 9), "extraneous or missing"},
	"long word":    {"t,y\n1," + strings.Repeat("z", 1<<20) + "\n", `"zzzzz`},

	"empty":       {"", "f.csv: the file is empty"},
	"BOM alone":   {"\ufeff", "f.csv: the file is empty"},
	"names alone": {"t,y\n", "f.csv: there are no rows"},
	"short row":   {"t,y\n1,2\n3\n", `f.csv:3: 1 fields; must be 2 ("t,y")`},
	"long row":    {"t,y\n1,2,3\n", "f.csv:2: 3 fields; must be 2"},
	"word": {"t,y\n1,2\n3,four\n",
		`f.csv:3: column "y" (1 from 0): "four" is not a number; must be a decimal number such as -0.5 or 1e-3 (a footer,`},
	"text": {"t,y\n1,S1\n2,3\n3,S3\n",
		`f.csv:2: column "y" (1 from 0): "S1" is text; a column of text cannot be an input, which must have numbers`},
	"missing": {"t,y\n1,\n", `f.csv:2: column "y" (1 from 0): "" is missing`},
	"NaN":     {"t,y\n1,NaN\n", `f.csv:2: column "y" (1 from 0): "NaN" is missing`},
	"Inf":     {"t,y\n1,-Infinity\n", `f.csv:2: column "y" (1 from 0): "-Infinity" is not finite`},
	"too large": {"t,y\n1,1e999\n",
		`f.csv:2: column "y" (1 from 0): "1e999" is too large; the magnitude must be at most 1e150; use a larger unit`},
	"above 1e150":        {"t,y\n1,-1.1e150\n", `f.csv:2: column "y" (1 from 0): "-1.1e150" is too large`},
	"NaN and no names":   {"nan,2\n", `f.csv:1: column "x0" (0 from 0): "nan" is missing`},
	"hexadecimal":        {"t,y\n1,0x10\n", `"0x10" is not a number`},
	"underscore":         {"t,y\n1,0x_1p-2\n", `"0x_1p-2" is not a number`},
	"semicolons":         {"t,y\n1;2,3\n", `"1;2" is not a number; must be a decimal number such as -0.5 or 1e-3 (another separator?)`},
	"blank between":      {"y\n1\n\n\n3\n", "f.csv:3: blank line before the end"},
	"names and numbers":  {"1,y\n1,2\n", `f.csv:1: column 0 (from 0) is named "1"`},
	"same name":          {"t,y,t\n1,2,3\n", `f.csv:1: columns 0 and 2 (from 0) are both named "t"`},
	"name not UTF-8":     {"t,\xff\n1,2\n", `f.csv:1: column 1 (from 0) is named "\xff"`},
	"name not printable": {"t,a\x01b\n1,2\n", `f.csv:1: column 1 (from 0) is named "a\x01b"`},
	"UTF-16":             {"\xff\xfet\x00,\x00y\x00", "f.csv: the file is UTF-16; must be UTF-8 (iconv"},
	"quote not closed":   {"t,\"y\n1,2\n3,4\n", "f.csv:1: extraneous or missing"},
	"quote in a field":   {"t,y\n1,2\"3\n", `f.csv:2: column "y" (1 from 0): "2\"3" is not a number`},
	"an NPY file":        {"\x93NUMPY\x01\x00v\x00{'descr'", "f.csv: the file ends in its header"},
	"a line too long":    {"t,y\n1,2\n" + strings.Repeat("1", maxRecord+1), "f.csv:3: the line exceeds"},
}

func TestBadCSV(t *testing.T) {
	for name, c := range badCSV {
		t.Run(name, func(t *testing.T) {
			_, err := readCSV(strings.NewReader(c.text), "f.csv")
			oneLine(t, err, c.message)
		})
	}
	_, err := outputs(testkit.Must(tableOf(t, "a;b\n1;2.5\n2;1,5\n"))(t))
	oneLine(t, err, `"1,5" has a decimal comma, but "2.5" in the same column has a decimal point`)
	broken := errors.New("broken")
	_, err = In(breaking{[]byte("t,y\n1,2\n3,-"), broken}, 20, "f.csv").matrix()
	if !errors.Is(err, broken) || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "f.csv:3") {
		t.Errorf("%v; want the reader's own error with the position", err)
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

// oneLine fails the test unless err wraps ErrFormat and its text is one short line that contains message.
func oneLine(t *testing.T, err error, message string) {
	t.Helper()
	if !errors.Is(err, ErrFormat) {
		t.Fatalf("%v; want ErrFormat", err)
	}
	if m := err.Error(); !strings.Contains(m, message) || len(m) > 300 || strings.Contains(m, "\n") {
		t.Errorf("%s; want one short line with %q", m, message)
	}
}

// TestCompressedBombsAreRefused checks that small compressed files that were made to fill the memory are refused before they are read
// whole.
func TestCompressedBombsAreRefused(t *testing.T) {
	const megabyte = 1 << 20
	for name, c := range map[string]struct{ head, repeated, message string }{
		"one line":         {"t,y\n", "1", "f:2: the line exceeds the maximum of 16777216 bytes"},
		"zeros at the end": {"t,y\n" + strings.Repeat("1,2\n", sampleSize), "\x00", "f:65538: the line exceeds"},
		"zeros":            {"", "\x00", "the file is binary"},
		"many lines":       {"t,y\n", "1,2\n", "the decompressed text exceeds 30 times the size of the file"},
		"old line ends":    {"t,y\r", "1,2\r", "the decompressed text exceeds"},
		"an open quote":    {"t,y\n1,\"", "1\n", "the decompressed text exceeds"},
		"blank lines":      {"t,y\n", "\n", "the decompressed text exceeds"},
		"compressed twice": {"\x1f\x8b\x08", "1", "compressed twice"},
	} {
		file := gzipped(c.head) + strings.Repeat(gzipped(strings.Repeat(c.repeated, megabyte/len(c.repeated))), 24)
		if _, err := tableOf(t, file); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			oneLine(t, err, c.message)
		}
	}
	_, err := tableOf(t, strings.Repeat(",", maxFields)+"\n1\n")
	oneLine(t, err, "f:1: 1048577 fields; the maximum is 1048576")
	_, err = Read(t.Context(), In(breaking{make([]byte, 2*sampleSize), errors.New("read too far")}, 1<<30, "f"))
	oneLine(t, err, "binary")
	fine := gzipped("t,y\n" + strings.Repeat("1,2\n", megabyte/4)) // a small file may be compressed well
	if x := testkit.Must(tableOf(t, fine))(t); x.Rows != megabyte/4 {
		t.Errorf("%d rows", x.Rows)
	}
}

// TestDecimal checks the reading of numbers with commas, points and thousands separators. An error is tested by its
// beginning.
func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		cells   string // with | between
		decimal byte
		want    string // the numbers or a part of the error
	}{
		{"1,974|-2,000|950", 0, `f:2: column "a" (0 from 0): "1,974" is 1.974 or 1974, and no other number of the table ` +
			"shows which; use --decimal"},
		{"950|-2,000", 0, `"-2,000" is -2.000 or -2000`}, {"1,974|12,5", 0, "1.974 12.5"}, {"1,974|0,125", 0, "1.974 0.125"},
		{"1200|990|1,010", 0, `"1,010" is 1.010 or 1010`}, {"1000|1001|1002|1003|1,974|1004", 0, `"1,974" is 1.974 or 1974`},
		{"990|12000|+1,010", 0, `"+1,010" is +1.010 or +1010`}, {"1974|1,974|0,974", 0, "1974 1.974 0.974"},
		{"1974|1.974", 0, "1974 1.974"},
		{"980|1.120|995", 0, `f:3: column "a" (0 from 0): "1.120" is 1.120 or 1120, and the numbers of the column without ` +
			"a point are below 1000; use --decimal comma or --decimal point"},
		{"980|1.120|995", ',', "980 1120 995"}, {"980|1.120|995", '.', "980 1.12 995"},
		{"980|1.120|12.5", 0, "980 1.12 12.5"}, {"980|1.120|0.995", 0, "980 1.12 0.995"}, {"0|1.120", 0, "0 1.12"},
		{"1.120|1.204", 0, "1.12 1.204"}, {"980|1.120|1e3", 0, "980 1.12 1000"}, {"980|1.120|12000", 0, "980 1.12 12000"},
		{"980|-1.120|-5", 0, `"-1.120" is -1.120 or -1120`},
		{"1200|990|1,010", '.', "1200 990 1010"}, {"1200|990|1,010", ',', "1200 990 1.01"},
		{"1,974|1234,567", 0, "1.974 1234.567"}, {"1,974|1,9745", 0, "1.974 1.9745"},
		{"1,974|5.5", 0, `"5.5" has a different decimal sign than "1,974" (a thousands separator?); use --decimal point`},
		{"1000,00|1374.10", 0, `"1374.10" has a decimal point, but "1000,00" in the same column has a decimal comma; write`},
		{"1000,00|1374.10", ',', `"1374.10" has a decimal point, but "1000,00" in`},
		{"1000,00|1374.10", '.', `"1000,00" has a decimal comma, but "1374.10" in`},
		{"1,974|98.7", ',', "not a number with a decimal comma; use --decimal point"}, {"1,974|98.7", '.', "1974 98.7"},
		{"1,974|2,1e3", 0, "1.974 2100"}, {"1,974|2,000,001", 0, "(a thousands separator?); use --decimal"},
		{"1,974|", 0, "is 1.974 or 1974"},
		{"1,974|-2,000|950", ',', "1.974 -2 950"}, {"1,974|-2,000|950", '.', "1974 -2000 950"},
		{"1,974.41|1'974.5|5", '.', "1974.41 1974.5 5"},
		{"1.974,41|1 974,5|\u22125", ',', "1974.41 1974.5 -5"}, {"1\u202f974,41|1\u00a0974", ',', "1974.41 1974"},
		{"12,5", '.', "?); use --decimal comma"},
		{"1.974|1.5", ',', "\"1.5\" is not a number with a decimal comma; use --decimal point"},
		{"1,900.41", ',', "(a thousands separator?); use --decimal point"}, {"1'900.41", ',', "use --decimal point"},
		{"1'900.41", 0, "use --decimal point"},
		{"1.900,41", '.', "use --decimal comma"}, {"1.900,41", 0, "use --decimal comma"},
		{"1,234,567", ',', "use --decimal point"},
		{"1 974", 0, "use --decimal comma or --decimal point"}, {"1,97,400", '.', "is not a number"},
		{"19,74,001", 0, "(a thousands separator?); remove the separators, because groups must have"},
		{",974", '.', "is not"},
		{"$5.00|€1.974,41", 0, "\"$5.00\" is not a number; must be a decimal number such as -0.5 or 1e-3 (currency " +
			"and percent signs"},
		{"5 %|6 %", 0, "(currency and percent"}, {"(5.00)|4", 0, "(parentheses are"}, {"\u22125.00", 0, "not an ASCII -"},
		{"1'974.41", 0, "(a thousands"},
		{"1 974,41", 0, "(a thousands"}, {"1\u202f974.41", 0, "(a thousands"}, {"-$5", 0, "(currency"},
		{"1.974.001", 0, "(a thousands"},
	} {
		s := testkit.Must(tableOf(t, "a;b\n"+strings.ReplaceAll(c.cells, "|", ";u\n")+";v\n"))(t)
		s.Decimal = c.decimal
		testkit.Equal(t, s.Kind(0), Numbers, c.cells, ": kind")
		values, err := s.Numbers(0)
		if got := strings.Trim(fmt.Sprint(values), "[]"); err == nil && got != c.want ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with %q: %s, %v; want %s", c.cells, c.decimal, got, err, c.want)
		}
	}
	const points = "other numbers of the table have decimal commas; use --decimal comma or --decimal point"
	for row, want := range map[string]string{ // the other column decides
		"1,974;12,5": "[1.974]", "1,974;1.974,41": "[1.974]", "1,974;1,974.41": "shows which", "1,974;5.5": "shows which",
		"1,974;1974": "shows which",
		"1.974;12,5": points, "1.974;1.974,41": points, "1.974;1974": "[1.974]", "1.974;1,974": "[1.974]",
		"1.97;12,5": "[1.97]", "980\t1.5\n1.120\t2": "[980 1.12]", "980;1.5\n1.120;2": "[980 1.12]",
		"980;5\n1.120;2": "are below 1000",
		"1.974\t12,5":    points, "1,974\t1200": "shows which", `1.974,"12,5"`: "[1.974]",
	} {
		delimiter := row[strings.IndexAny(row, ";\t\""):][:1]
		s := testkit.Must(tableOf(t, "a"+strings.Replace(delimiter, `"`, ",", 1)+"b\n"+row+"\n"))(t)
		for _, read := range []func() ([]float64, error){
			func() ([]float64, error) { return s.Numbers(0) },
			func() ([]float64, error) { return s.Inputs([]int{0}, []*Axis{{}}) },
		} {
			if values, err := read(); err == nil && fmt.Sprint(values) != want || err != nil &&
				!strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, %v; want %s", row, values, err, want)
			}
		}
	}
	many := strings.Repeat("1974;2\n", blockBytes/7) // the first block
	for text, want := range map[string]string{many + "1,974;1\n": `"1,974" is 1.974 or 1974`,
		"12,5;1\n" + many + "1,974;1\n": ""} {
		var err error
		for s, failed := range Blocks(t.Context(), In(strings.NewReader("a;b\n"+text), int64(len(text)+4), "f")) {
			if err = failed; err == nil {
				_, err = s.Numbers(0)
			}
		}
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("in blocks: %v; want %q", err, want)
		}
	}
	for _, words := range []string{"12-34", "3B", "1.2.3", "192.168.0.1", "12 34", "555 1234", "a 5", "\u00e9t\u00e9",
		"()", "$", "5 kg", "1974-1,974"} {
		s := testkit.Must(tableOf(t, "a;b\n"+words+";1\n"))(t)
		testkit.Equal(t, s.Kind(0), Text, words)
	}
}

// FuzzReadCSV checks that a file is either an error or a complete table of finite numbers that is unchanged after writing and reading.
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

// checkAny checks that reading b returns ErrFormat or a valid table, which is unchanged after writing and reading.
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
		t.Fatalf("%v was accepted", x.Data)
	}
	var out bytes.Buffer
	testkit.OK(t, write(&out, x))
	same(t, testkit.Must(read(&out, "f"))(t), x.Names, x.Data)
}
