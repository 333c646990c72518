package table

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestBlocks checks that the blocks of a file together equal the whole file, and that an error in a later block has the right position.
func TestBlocks(t *testing.T) {
	var long strings.Builder
	var values []float64
	long.WriteString("t,word,y\n")
	for i := range 100_000 {
		fmt.Fprintf(&long, "%d,\"a\n\"\"%d\",%d\n", i, i, 2*i)
		values = append(values, float64(i), float64(2*i))
	}
	var npy bytes.Buffer
	testkit.OK(t, WriteNPY(&npy, []int{len(values) / 2, 2}, values))
	columns := strings.Replace(npy.String(), "'fortran_order': False", "'fortran_order': True ", 1)
	for name, c := range map[string]struct {
		content string
		cols    []int
		blocks  int
		message string // of an error in the last block
	}{
		"a.csv": {long.String(), []int{0, 2}, 3, ""}, "a.npy": {npy.String(), []int{0, 1}, 2, ""}, "columns.npy": {columns, []int{0, 1}, 1, ""},
		"bad.csv":  {long.String() + "1,2,x\n", []int{0, 2}, 3, "bad.csv:200002: column \"y\" (2 from 0): \"x\" is not"},
		"long.csv": {long.String() + "1,2\n", []int{0, 2}, 3, "long.csv:200002: 2 fields"},
	} {
		f := testkit.Must(At(testkit.Put(t, t.TempDir(), name, c.content)))(t)
		var all []float64
		var failed error
		blocks := 0
		for part, err := range Blocks(t.Context(), f) {
			blocks++
			var x []float64
			if failed = err; err == nil {
				x, failed = part.Inputs(c.cols, make([]*Axis, 2))
			}
			all = append(all, x...)
		}
		if blocks != c.blocks || c.message != "" {
			testkit.Equal(t, blocks, c.blocks, name)
			oneLine(t, failed, c.message)
			continue
		}
		whole := testkit.Must(Read(t.Context(), f))(t)
		if want := testkit.Must(whole.Inputs(c.cols, make([]*Axis, 2)))(t); !slices.Equal(all, want) || len(all) != 200_000 {
			t.Errorf("%s: %d numbers in %d blocks, or different values", name, len(all), blocks)
		}
		ctx, cancel := context.WithCancel(t.Context())
		last := error(nil)
		for _, last = range Blocks(ctx, f) {
			cancel()
		}
		if c.blocks > 1 {
			testkit.Fails(t, last, context.Canceled, "", name)
		}
		cancel()
	}
}

func TestOpenChoosesFormat(t *testing.T) {
	d := t.TempDir()
	put := func(name, text string) string { return testkit.Put(t, d, name, text) }
	csv, npyFile := "t\n1\n", string(npy(1, dict("<f8", "False", "(1,)"), f8(1)...))
	for p, names := range map[string][]string{
		put("e.txt", csv): {"t"}, put("f.TSV", csv): {"t"}, put("b.CSV", csv): {"t"}, put("c.npy", npyFile): {"x0"}, put("d.Npy", npyFile): {"x0"},
	} {
		same(t, testkit.Must(Open(p))(t), names, []float64{1})
	}
	testkit.OK(t, os.Mkdir(filepath.Join(d, "dir.csv"), 0o777))
	for p, want := range map[string]error{
		put("noextension", csv):           ErrFormat,
		put("swapped.csv", npyFile):       ErrFormat,
		put("swapped.npy", csv):           ErrFormat,
		filepath.Join(d, "none.csv"):      fs.ErrNotExist,
		filepath.Join(d, "none.npy"):      fs.ErrNotExist,
		filepath.Join(d, "dir.csv"):       fileio.ErrNotRegular,
		filepath.Join(d, "none", "c.csv"): fs.ErrNotExist,
	} {
		testkit.Fails(t, testkit.Error(Open(p)), want, p, p)
	}
}

// TestLaterBlocks checks that a comma that is a decimal sign in the first block may be followed by any digits in
// others.
func TestLaterBlocks(t *testing.T) {
	text := "t;u\n0,5;x\n" + strings.Repeat("1,974;x\n", 2*blockBytes/8)
	sum := 0.0
	for part, err := range Blocks(t.Context(), In(strings.NewReader(text), int64(len(text)), "f")) {
		testkit.OK(t, err)
		for _, v := range testkit.Must(part.Inputs([]int{0}, make([]*Axis, 1)))(t) {
			sum += v
		}
	}
	testkit.Equal(t, math.Round(sum), math.Round(0.5+1.974*2*blockBytes/8), "the sum")
}

// TestCO2IsAsDescribed checks the sample data of this repository, as testdata/co2.md describes them.
func TestCO2IsAsDescribed(t *testing.T) {
	x := testkit.Must(Open(filepath.Join("..", "..", "..", "..", "testdata", "co2_monthly.csv")))(t)
	sum := 0.0
	for n := range x.Rows {
		if sum += x.Data[2*n+1]; n > 0 && x.Data[2*n] <= x.Data[2*n-2] {
			t.Errorf("line %d: year %v is not increasing", n+2, x.Data[2*n])
		}
	}
	got := fmt.Sprintf("%d rows of %v from %v to %v, mean %.3f", x.Rows, x.Names, x.Data[0], x.Data[2*x.Rows-2], sum/float64(x.Rows))
	testkit.Equal(t, got, "521 rows of [decimal_year co2_ppm] from 1958.2083 to 2001.9583, mean 339.823", "the table")
}
