package table

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

func TestOpen(t *testing.T) {
	d := t.TempDir()
	put := func(name string, b []byte) string {
		p := filepath.Join(d, name)
		if err := os.WriteFile(p, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return p
	}
	csv, npyFile := []byte("t\n1\n"), npy(1, dict("<f8", "False", "(1,)"), f8(1)...)
	for p, names := range map[string][]string{
		put("a.csv", csv): {"t"}, put("b.CSV", csv): {"t"}, put("c.npy", npyFile): {"x0"}, put("d.Npy", npyFile): {"x0"},
	} {
		got, err := Open(p)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, names, []float64{1})
	}
	if err := os.Mkdir(filepath.Join(d, "dir.csv"), 0o777); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]error{
		put("e.txt", csv):                 ErrFormat,
		put("noextension", csv):           ErrFormat,
		put("swapped.csv", npyFile):       ErrFormat,
		put("swapped.npy", csv):           ErrFormat,
		filepath.Join(d, "none.csv"):      fs.ErrNotExist,
		filepath.Join(d, "none.npy"):      fs.ErrNotExist,
		filepath.Join(d, "dir.csv"):       atomicfile.ErrNotRegular,
		filepath.Join(d, "none", "c.csv"): fs.ErrNotExist,
	} {
		if _, err := Open(p); !errors.Is(err, want) || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v; want %v with the path", p, err, want)
		}
	}
}

func TestSelect(t *testing.T) {
	x := &Table{Names: []string{"a", "b", "c"}, Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 4, 5, 6}}
	for _, c := range []struct {
		names []string
		data  []float64
	}{
		{[]string{"c", "a"}, []float64{3, 1, 6, 4}},
		{[]string{"b"}, []float64{2, 5}},
		{[]string{"a", "b", "c"}, []float64{1, 2, 3, 4, 5, 6}},
	} {
		got, err := x.Select(c.names...)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, c.names, c.data)
		got.Data[0] = -1
		got.Names[0] = "changed"
	}
	same(t, x, []string{"a", "b", "c"}, []float64{1, 2, 3, 4, 5, 6}) // a selection shares nothing
	for says, names := range map[string][]string{
		`"d"; want one of "a", "b", "c"`: {"a", "d"},
		`"A"; want`:                      {"A"},
		`"a" is named twice`:             {"a", "b", "a"},
		"none is named":                  {},
	} {
		if _, err := x.Select(names...); !errors.Is(err, ErrColumn) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v; want ErrColumn and %s", names, err, says)
		}
	}
	wide := &Table{Names: numbered(1000), Rows: 1, Cols: 1000, Data: make([]float64, 1000)}
	if _, err := wide.Select("y"); err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "1000 in all") {
		t.Errorf("%v; want a short line", err)
	}
}

// The sample data of this repository, as testdata/co2.md describes them.
func TestCO2(t *testing.T) {
	x, err := Open(filepath.Join("..", "..", "testdata", "co2_monthly.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if x.Rows != 521 || x.Cols != 2 || x.Names[0] != "decimal_year" || x.Names[1] != "co2_ppm" {
		t.Fatalf("%d rows of %q; want 521 of decimal_year, co2_ppm", x.Rows, x.Names)
	}
	sum := 0.0
	for n := range x.Rows {
		year, ppm := x.Data[2*n], x.Data[2*n+1]
		if n > 0 && year <= x.Data[2*n-2] {
			t.Errorf("line %d: year %v does not rise", n+2, year)
		}
		if ppm < 310 || ppm > 375 {
			t.Errorf("line %d: %v ppm", n+2, ppm)
		}
		sum += ppm
	}
	if first, last, mean := x.Data[0], x.Data[1040], sum/521; first != 1958.2083 || last != 2001.9583 || math.Abs(mean-339.823) > 1e-3 {
		t.Errorf("from %v to %v with mean %v; want 1958.2083 to 2001.9583, 339.823", first, last, mean)
	}
}

// TestOpenContext: an ended context ends the reading, in a line that says so and
// not that a number which was cut is wrong.
func TestOpenContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, name := range []string{"a.csv", "a.npy"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("x,y\n1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenContext(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want one that wraps the context's", name, err)
		}
	}
	_, err := ReadCSV(io.MultiReader(strings.NewReader("x,y\n1,2\n3,-"), iotest.ErrReader(context.Canceled)), "cut.csv")
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "cut.csv:3") {
		t.Errorf("a reader that fails in line 3: %v", err)
	}
}

// TestSelectWide: columns are found in time in proportion to their number; by
// looking each up among all, these would take a minute.
func TestSelectWide(t *testing.T) {
	tab := &Table{Names: numbered(300_000), Rows: 1, Cols: 300_000, Data: make([]float64, 300_000)}
	tab.Data[299_999] = 7
	began := time.Now()
	names := slices.Clone(tab.Names)
	slices.Reverse(names)
	s, err := tab.Select(names...)
	if err != nil || s.Cols != tab.Cols || s.Data[0] != 7 {
		t.Fatalf("%v, %v", s, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
