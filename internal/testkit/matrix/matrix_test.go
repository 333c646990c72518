package matrix

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestReadParsesTables checks dates, missing values, and the errors of invalid files.
func TestReadParsesTables(t *testing.T) {
	dir := t.TempDir()
	path := testkit.Put(t, dir, "a.csv", "day,y\n1970-01-02,3\n1970-01-01 12:00:00, \n1e3,-0.5\n")
	m := testkit.Must(Read(path))(t)
	want := []float64{1, 3, 0.5, math.NaN(), 1000, -0.5}
	same := slices.EqualFunc(m.Data, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if !same || m.Rows != 3 || m.Cols != 2 || m.Names[1] != "y" {
		t.Errorf("%+v, want %v", m, want)
	}
	if _, err := ReadFull(path); err == nil || !strings.Contains(err.Error(), "row 2 has no value of y") {
		t.Errorf("error %v for a missing value", err)
	}
	for text, part := range map[string]string{"a,b\n": "no rows", "a,b\n1\n": "fields", "a\nx\n": `row 1: "x" is not a number`} {
		if _, err := Read(testkit.Put(t, dir, "b.csv", text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want %q", text, err, part)
		}
	}
}

// TestWriteIsReadBack checks that a CSV file is read back exactly, and the header and the values of NPY files.
func TestWriteIsReadBack(t *testing.T) {
	dir := t.TempDir()
	data := []float64{1. / 3, -1e-300, 5, math.MaxFloat64, 0, 1}
	path := filepath.Join(dir, "a.csv")
	testkit.OK(t, WriteCSV(path, []string{"a", "b, c"}, data))
	if m := testkit.Must(ReadFull(path))(t); !slices.Equal(m.Data, data) || m.Names[1] != "b, c" {
		t.Errorf("read back %+v", m)
	}

	for shape, of := range map[string][]int{"(6, )": {6}, "(2, 3, )": {2, 3}, "()": {}} {
		path := filepath.Join(dir, "a.npy")
		testkit.OK(t, WriteNPY(path, of, data))
		text := testkit.Read(t, path)
		values := make([]float64, len(data))
		head := text[:len(text)-8*len(values)]
		testkit.Must(binary.Decode(text[len(head):], binary.LittleEndian, values))(t)
		if !slices.Equal(values, data) || len(head)%64 != 0 || int(head[8]) != len(head)-10 {
			t.Errorf("shape %v: header %q, values %v", of, head, values)
		}
		if m, err := ReadFull(path); len(of) > 0 && (err != nil || !slices.Equal(m.Data, data) || m.Rows != of[0]) {
			t.Errorf("shape %v: read back %+v, error %v", of, m, err)
		}
		testkit.Contains(t, string(head), "\x93NUMPY\x01\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': "+shape+", }", " \n")
	}
}
