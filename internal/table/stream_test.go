package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	dir := t.TempDir()
	files := map[string][]byte{"none.txt": nil}
	for name, c := range badCSV {
		files["bad "+name+".csv"] = []byte(c.text)
	}
	var long strings.Builder
	var values []float64
	long.WriteString("t,y\n")
	for i := range 3*partNumbers/2 + 5 {
		fmt.Fprintf(&long, "%d,%d\n", i, i*i)
		values = append(values, float64(i), float64(i*i))
	}
	files["long.csv"], files["short.csv"] = []byte(long.String()), []byte("1,2\n3,4\n\n")
	files["bad end.csv"] = []byte(long.String() + "1\n")
	var npy bytes.Buffer
	if err := WriteNPY(&npy, []int{len(values) / 2, 2}, values); err != nil {
		t.Fatal(err)
	}
	files["long.npy"] = npy.Bytes()
	files["columns.npy"] = bytes.Replace(npy.Bytes(), []byte("'fortran_order': False"), []byte("'fortran_order': True "), 1)
	files["cut.npy"], files["more.npy"] = npy.Bytes()[:npy.Len()-3], append(bytes.Clone(npy.Bytes()), 0)
	files["head.npy"] = npy.Bytes()[:40]
	nan := bytes.Clone(npy.Bytes())
	copy(nan[nan1(npy.Len()):], "\xff\xff\xff\xff\xff\xff\xff\xff")
	files["nan.npy"] = nan
	for name, content := range files {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		s, picks, err := opened(context.Background(), path)
		if good := strings.HasPrefix(name, "long") || name == "short.csv" || name == "columns.npy"; !good || err != nil {
			if good || !errors.Is(err, ErrFormat) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		parts, at := 0, 0
		for part, err := range s.Parts(context.Background(), picks) {
			if err != nil || len(part)%2 != 0 || len(part) > partNumbers {
				t.Fatalf("%s: %d numbers, %v", name, len(part), err)
			}
			if strings.HasPrefix(name, "long") {
				for i, v := range part {
					if v != values[at+i] {
						t.Fatalf("%s: number %d is %v, want %v", name, at+i, v, values[at+i])
					}
				}
			}
			parts, at = parts+1, at+len(part)
		}
		if at != s.Rows*2 || (parts > 1) != (name != "short.csv") {
			t.Errorf("%s: %d numbers in %d parts", name, at, parts)
		}
	}
}

// nan1 is the place of the last value but two in an NPY file of so many bytes.
func nan1(size int) int { return size - 24 }

// A file that changes, and a context that ends, end the reading.
func TestStreamEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a,b\n1,2\n3,4\n")
	s, picks, err := opened(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(s *Stream, what string) {
		t.Helper()
		var last error
		numbers := 0
		for part, err := range s.Parts(context.Background(), picks[:s.Cols]) {
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
	one, _, err := opened(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	write("a\n1\n") // as many rows
	changed(one, "one row")
	array := filepath.Join(t.TempDir(), "f.npy")
	for i, shape := range [][]int{{2, 2}, {3, 1}, {1, 2}} {
		var b bytes.Buffer
		if err := errors.Join(WriteNPY(&b, shape, []float64{1, 2, 3, 4}[:shape[0]*shape[1]]), os.WriteFile(array, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			changed(s, fmt.Sprint(shape))
		} else if s, picks, err = opened(context.Background(), array); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := opened(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	write("a,b\n1,2\n3,4\n")
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	for range s.Parts(ctx, picks) { // who looks at the parts ends the context and leaves
		cancel()
		break
	}
}
