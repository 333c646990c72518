package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	sum := 0.0
	for n := range x.Rows {
		if sum += x.Data[2*n+1]; n > 0 && x.Data[2*n] <= x.Data[2*n-2] {
			t.Errorf("line %d: year %v does not rise", n+2, x.Data[2*n])
		}
	}
	got := fmt.Sprintf("%d rows of %v from %v to %v, mean %.3f", x.Rows, x.Names, x.Data[0], x.Data[2*x.Rows-2], sum/float64(x.Rows))
	if want := "521 rows of [decimal_year co2_ppm] from 1958.2083 to 2001.9583, mean 339.823"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
