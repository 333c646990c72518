package table

import (
	"bytes"
	"compress/gzip"
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

// How files are written is seen from them.
func TestDialects(t *testing.T) {
	nan := math.NaN()
	gz := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(s))
		z.Close()
		return b.String()
	}
	for name, c := range map[string]struct {
		text  string
		names string    // all of them
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
		"gzip":                  {gz("a,b\n1,2\n"), "a b", "nn", []float64{1, 2}},
		"dates before commas":   {"05.03.2024 10:00;1,5\n06.03.2024 10:00;2,5\n", "x0 x1", "dn", []float64{1.5, 2.5}},
		"years as names":        {"land,1990,1991\nDE,5,6\n", "x0 x1 x2", "tnn", []float64{1990, 1991, 5, 6}},
		"a comment is no name":  {"#a,b\n1,2\n", "x0 x1", "nn", []float64{1, 2}},
		"no comment later":      {"a,b\nx,1\n#y,2\n", "a b", "tn", []float64{1, 2}},
		"half of them dates":    {"day,2023-12-31\n2024-01-01,1\nx,2\n", "day 2023-12-31", "dn", []float64{1, 2}},
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
