package table

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestEditChangesOnlyGivenCells checks that only the given cells change.
func TestEditChangesOnlyGivenCells(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		cells []Cell
		want  string
	}{
		"plain":          {"t,y\n1,2\n2,\n3,4\n", []Cell{{1, 1, 2.5, 0}}, "t,y\n1,2\n2,2.5\n3,4\n"},
		"CRLF, no end":   {"\ufefft,y\r\n1,NA\r\n2,5", []Cell{{0, 1, 1. / 3, 0}, {1, 1, 7, 0}}, "\ufefft,y\r\n1,0.3333333333333333\r\n2,7"},
		"quotes":         {"\"t\",\"y\"\n\"a, \"\"b\"\"\",\"\"\n\"c\nd\",\"1\"\n", []Cell{{0, 1, 2, 0}}, "\"t\",\"y\"\n\"a, \"\"b\"\"\",\"2\"\n\"c\nd\",\"1\"\n"},
		"decimal comma":  {"t;y\n1;2,5\n2; NA ;\n"[:15] + "\n", []Cell{{1, 1, -3.25, 0}}, "t;y\n1;2,5\n2; -3,25\n"},
		"another column": {"t;y;z\n1,5;;2\n2,5;;3\n", []Cell{{1, 1, 3.25, 0}}, "t;y;z\n1,5;;2\n2,5;3,25;3\n"},
		"spaces":         {"# c\n1   NA  3\n 2   -   4 \n\n", []Cell{{0, 1, 5, 0}, {1, 1, 6, 0}}, "# c\n1   5  3\n 2   6   4 \n\n"},
		"digits":         {"t,y\n1,2.50\n2,\n3,4.25\n", []Cell{{1, 1, 3.14159, 50}}, "t,y\n1,2.50\n2,3.14\n3,4.25\n"},
		"as many digits": {"t,y\n1,2.50\n2,\n3,4.25\n", []Cell{{1, 1, 3.5, 50}}, "t,y\n1,2.50\n2,3.50\n3,4.25\n"},
		"more digits":    {"t,y\n1,2.50\n2,\n3,4.25\n", []Cell{{1, 1, 3.14159, .005}}, "t,y\n1,2.50\n2,3.14159\n3,4.25\n"},
		"to hundredths":  {"t,y\n1,2\n2,\n3,4\n", []Cell{{1, 1, 3.14159, .5}}, "t,y\n1,2\n2,3.142\n3,4\n"},
		"small values": {"t,y\n1,1.8e-18\n2,\n3,1.9e-18\n", []Cell{{1, 1, 1.4437153332816567e-18, 5e-20}},
			"t,y\n1,1.8e-18\n2,1.4437e-18\n3,1.9e-18\n"},
		"large values": {"t,y\n1,1.8e30\n2,\n3,1.9e30\n", []Cell{{1, 1, 1.4375e30, 5e28}},
			"t,y\n1,1.8e30\n2,1.4375e+30\n3,1.9e30\n"},
		"several":       {"a,b,c\n,,\n1,1,1\n", []Cell{{0, 2, 3, 0}, {0, 0, 1, 0}, {0, 1, 2, 0}}, "a,b,c\n1,2,3\n1,1,1\n"},
		"old line ends": {"t,y\r1,\r2,3\r", []Cell{{0, 1, 4, 0}}, "t,y\r1,4\r2,3\r"},
		"other columns": {"d,y,note\n2024-01-01,,\"x\ny\"\n2024-01-02,1,5\" z\n", []Cell{{0, 1, 4, 0}},
			"d,y,note\n2024-01-01,4,\"x\ny\"\n2024-01-02,1,5\" z\n"},
	} {
		s := testkit.Must(tableOf(t, c.text))(t)
		var b bytes.Buffer
		testkit.OK(t, s.Edit(&b, c.cells), name)
		testkit.Equal(t, b.String(), c.want, name)
	}
	s := testkit.Must(tableOf(t, "t,y\n1,\n2,3\n"))(t)
	for _, cells := range [][]Cell{{{2, 1, 0, 0}}, {{0, 2, 0, 0}}, {{0, 1, math.NaN(), 0}}, {{0, 1, 1e151, 0}}} {
		testkit.Fails(t, s.Edit(&bytes.Buffer{}, cells), ErrFormat, "", cells)
	}
	broken := errors.New("broken")
	testkit.Fails(t, s.Edit(brokenWriter{broken}, nil), broken, "")
}

// TestEditArray checks that edited arrays keep their type and order and the bytes of other cells.
func TestEditArray(t *testing.T) {
	for _, c := range []struct{ descr, fortran string }{{"<f8", "False"}, {"<f8", "True"}} {
		file := npy(1, dict(c.descr, c.fortran, "(2, 3)"), f8(1, 2, math.NaN(), 4, math.NaN(), 6)...)
		s := testkit.Must(tableOf(t, string(file)))(t)
		var cells []Cell
		for col := range 3 {
			if s.Missing(col) > 0 {
				for row := range 2 {
					cells = append(cells, Cell{Row: row, Col: col, Value: float64(10*row + col)})
				}
			}
		}
		var b bytes.Buffer
		testkit.OK(t, s.Edit(&b, cells))
		got := testkit.Must(readNPY(b.Bytes()))(t)
		for _, cell := range cells {
			testkit.Equal(t, got.Data[3*cell.Row+cell.Col], cell.Value, cell)
		}
		if b.Len() != len(file) || got.Data[0] != 1 {
			t.Errorf("%d bytes, want %d; %v", b.Len(), len(file), got.Data)
		}
	}
}

// FuzzEdit checks that any bytes are a table or an error of one line, that edited cells have their new values and the others are unchanged,
// and that an edit without cells reproduces the bytes.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{"a;b\n1,5;2\n", "-2.3 0.5\n1 2", "a,\"b\nc\"\n1,\"x\ny\"\n", "t\r1\r2\r", "5\" pipe,1\n"} {
		f.Add(text, 1.0)
	}
	f.Add("t;y\n1,5;\n2,5;NA\n", 2.75)
	f.Add("\ufeff# c\r\nt\ty\r\n2024-03-05\tNA\r\n2024-03-06\t\"1\"", -1e-9)
	f.Add("a,b\n\"x\ny\",\n5\",3\n", 1e150)
	f.Add("1 NA\n 2 3 \n\n", 7.0)
	f.Add("t;y\n2024-01-01 10:00:00Z;\n2024-01-01  9:00:00Z;2\n", 1.0) // two spaces
	f.Add("t;y\n1;\n2;2\n", 9.875)                                     // 9.875 or 9875
	f.Fuzz(func(t *testing.T, text string, value float64) {
		if !(math.Abs(value) <= maxNumber) || strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, npyMagic) {
			return
		}
		s, err := tableOf(t, text)
		if err != nil {
			oneLine(t, err, "")
			return
		}
		var same bytes.Buffer
		if err := s.Edit(&same, nil); err != nil || same.String() != text {
			t.Fatalf("%v: %q", err, same.String())
		}
		for col := range s.Cols {
			if axis, err := s.Axis(col, nil); err == nil && axis.Check() != nil {
				t.Fatal(axis.Check())
			}
		}
		cols := s.OfKind(Numbers)
		before, err := outputs(s)
		if err != nil {
			oneLine(t, err, "")
			return
		}
		var cells []Cell
		for i, v := range before {
			if math.IsNaN(v) {
				cells = append(cells, Cell{Row: i / len(cols), Col: cols[i%len(cols)], Value: value})
			}
		}
		var b bytes.Buffer
		testkit.OK(t, s.Edit(&b, cells))
		filled := &textCells{} // has the same dialect
		r := &textReader{dialect: s.cells.(*textCells).dialect, rest: b.String(), ended: true}
		testkit.Must(r.splitInto(filled, len(b.String())-len(strings.TrimPrefix(b.String(), bom))))(t)
		s.cells, s.columns = filled, nil
		for i, w := range testkit.Must(outputs(s))(t) {
			if v := before[i]; v != w && !(math.IsNaN(v) && w == value) {
				t.Fatalf("%q → %q: %v became %v", text, b.String(), v, w)
			}
		}
	})
}
