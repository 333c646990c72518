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

// collected reads a file as a Stream, and what it has as one table.
func collected(path string) (*Table, error) {
	s, err := OpenStream(context.Background(), path)
	if err != nil {
		return nil, err
	}
	t := &Table{Names: s.Names, Rows: s.Rows, Cols: s.Cols}
	for part, err := range s.Parts(context.Background()) {
		if err != nil {
			return nil, err
		}
		t.Data = append(t.Data, part...)
	}
	return t, nil
}

// A stream has what Open reads, in files of one part and of many, and refuses what Open refuses, in the same words.
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
		want, refused := Open(path)
		got, err := collected(path)
		if refused != nil || err != nil {
			if fmt.Sprint(err) != fmt.Sprint(refused) || errors.Is(err, ErrFormat) != errors.Is(refused, ErrFormat) {
				t.Errorf("%s: %v; Open says %v", name, err, refused)
			}
			continue
		}
		same(t, got, want.Names, want.Data)
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
	s, err := OpenStream(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(s *Stream, what string) {
		t.Helper()
		var last error
		numbers := 0
		for part, err := range s.Parts(context.Background()) {
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
	for _, text := range []string{"a,b\n1,2\n", "a,b\n1,2\n3,4\n5,6\n", "a\n1\n2\n"} {
		write(text)
		changed(s, text)
	}
	write("a,b\n1,2\n")
	one, err := OpenStream(context.Background(), path)
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
		} else if s, err = OpenStream(context.Background(), array); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OpenStream(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	write("a,b\n1,2\n3,4\n")
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	for range s.Parts(ctx) { // who looks at the parts ends the context and leaves
		cancel()
		break
	}
}
