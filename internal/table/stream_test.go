package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// opened surveys a file and picks all its columns.
func opened(ctx context.Context, path string) (*Stream, []Pick, error) {
	f, err := At(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := OpenStream(ctx, f)
	if err == nil {
		err = s.Survey(ctx, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	picks := make([]Pick, s.Cols)
	for c := range picks {
		picks[c] = Pick{Col: c, Axis: &Axis{}}
	}
	return s, picks, s.Check(picks)
}

// A stream comes in parts of whole rows, however long the file is; what is wrong at its end is found before the first part.
func TestStream(t *testing.T) {
	var long strings.Builder
	var values []float64
	long.WriteString("t,y\n")
	for i := range 3*partNumbers/2 + 5 {
		fmt.Fprintf(&long, "%d,%d\n", i, i*i)
		values = append(values, float64(i), float64(i*i))
	}
	var npy bytes.Buffer
	testkit.OK(t, WriteNPY(&npy, []int{len(values) / 2, 2}, values))
	text, nan := long.String(), bytes.Clone(npy.Bytes())
	copy(nan[len(nan)-24:], "\xff\xff\xff\xff\xff\xff\xff\xff")
	byColumn := strings.Replace(npy.String(), "'fortran_order': False", "'fortran_order': True ", 1)
	for name, c := range map[string]struct {
		content string
		parts   int // 0: malformed
	}{
		"long.csv": {text, 4}, "short.csv": {"1,2\n3,4\n\n", 1}, "end.csv": {text + "1\n", 0}, "none.txt": {"", 0},
		"long.npy": {npy.String(), 4}, "columns.npy": {byColumn, 4}, "nan.npy": {string(nan), 0},
	} {
		s, picks, err := opened(t.Context(), testkit.Put(t, t.TempDir(), name, c.content))
		if c.parts == 0 || err != nil {
			if c.parts > 0 || !errors.Is(err, ErrFormat) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		parts, at := 0, 0
		for part, err := range s.Parts(t.Context(), picks) {
			if err != nil || len(part)%2 != 0 || len(part) > partNumbers {
				t.Fatalf("%s: %d numbers, %v", name, len(part), err)
			}
			if strings.HasPrefix(name, "long") && !slices.Equal(part, values[at:at+len(part)]) {
				t.Errorf("%s: other numbers from number %d", name, at)
			}
			parts, at = parts+1, at+len(part)
		}
		if at != s.Rows*2 || parts != c.parts {
			t.Errorf("%s: %d numbers in %d parts, want %d", name, at, parts, c.parts)
		}
	}
}

// A file that changes, and a context that ends, end the reading.
func TestStreamEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	write := func(text string) {
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o666))
	}
	write("a,b\n1,2\n3,4\n")
	s, picks, err := opened(t.Context(), path)
	testkit.OK(t, err)
	changed := func(s *Stream, what string) {
		t.Helper()
		var last error
		numbers := 0
		for part, err := range s.Parts(t.Context(), picks[:s.Cols]) {
			last = err
			numbers += len(part)
			if len(part)%s.Cols != 0 || numbers > s.Rows*s.Cols {
				t.Errorf("%s: %d numbers for %d rows of %d columns", what, numbers, s.Rows, s.Cols)
			}
		}
		if !errors.Is(last, ErrFormat) || !strings.Contains(last.Error(), "changed") {
			t.Errorf("%s: %v", what, last)
		}
	}
	for _, text := range []string{"a,b\n1,2\n", "a,b\n1,2\n3,4\n5,6\n", "a\n1\n2\n", "a,b\n1,2\n3,\n"} {
		write(text)
		changed(s, text)
	}
	write("a,b\n1,2\n")
	one, _, err := opened(t.Context(), path)
	testkit.OK(t, err)
	write("a\n1\n") // as many rows
	changed(one, "one row")
	array := filepath.Join(t.TempDir(), "f.npy")
	for i, shape := range [][]int{{2, 2}, {3, 1}, {1, 2}} {
		var b bytes.Buffer
		testkit.OK(t, errors.Join(WriteNPY(&b, shape, []float64{1, 2, 3, 4}[:shape[0]*shape[1]]), os.WriteFile(array, b.Bytes(), 0o666)))
		if i > 0 {
			changed(s, fmt.Sprint(shape))
		} else if s, picks, err = opened(t.Context(), array); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{path, array} {
		_, _, err := opened(ctx, path)
		testkit.Fails(t, err, context.Canceled, "", path)
	}
	write("a,b\n1,2\n3,4\n")
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	for range s.Parts(ctx, picks) { // who looks at the parts ends the context and leaves
		cancel()
		break
	}
}

func TestOpen(t *testing.T) {
	d := t.TempDir()
	put := func(name, text string) string { return testkit.Put(t, d, name, text) }
	csv, npyFile := "t\n1\n", string(npy(1, dict("<f8", "False", "(1,)"), f8(1)...))
	for p, names := range map[string][]string{
		put("e.txt", csv): {"t"}, put("f.TSV", csv): {"t"}, put("a.csv", csv): {"t"}, put("b.CSV", csv): {"t"}, put("c.npy", npyFile): {"x0"}, put("d.Npy", npyFile): {"x0"},
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

// The sample data of this repository, as testdata/co2.md describes them.
func TestCO2(t *testing.T) {
	x := testkit.Must(Open(filepath.Join("..", "..", "testdata", "co2_monthly.csv")))(t)
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
