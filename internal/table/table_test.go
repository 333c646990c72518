package table

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vssgp/vssgp/internal/fileio"
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
		put("e.txt", csv): {"t"}, put("f.TSV", csv): {"t"}, put("a.csv", csv): {"t"}, put("b.CSV", csv): {"t"}, put("c.npy", npyFile): {"x0"}, put("d.Npy", npyFile): {"x0"},
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
		put("noextension", csv):           ErrFormat,
		put("swapped.csv", npyFile):       ErrFormat,
		put("swapped.npy", csv):           ErrFormat,
		filepath.Join(d, "none.csv"):      fs.ErrNotExist,
		filepath.Join(d, "none.npy"):      fs.ErrNotExist,
		filepath.Join(d, "dir.csv"):       fileio.ErrNotRegular,
		filepath.Join(d, "none", "c.csv"): fs.ErrNotExist,
	} {
		if _, err := Open(p); !errors.Is(err, want) || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v; want %v with the path", p, err, want)
		}
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
		if _, _, err := opened(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want one that wraps the context's", name, err)
		}
	}
	_, err := ReadCSV(io.MultiReader(strings.NewReader("x,y\n1,2\n3,-"), iotest.ErrReader(context.Canceled)), "cut.csv")
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "cut.csv:3") {
		t.Errorf("a reader that fails in line 3: %v", err)
	}
}
