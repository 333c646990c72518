// Package table reads tables of numbers, CSV or NumPy's NPY, into named float64 columns, and writes them.
//
// The data of a model are finite numbers in a rectangle. Everything else is refused, with the file and the line (CSV) or the row (NPY)
// where it was found. Memory is proportional to the file's size, whatever its header claims.
package table

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/fault"
)

// ErrFormat is wrapped by every error about the content of a file that is read or of a table to be written.
var ErrFormat = errors.New("table: malformed")

// ErrColumn is wrapped by every error of Select.
var ErrColumn = errors.New("table: no such column")

// Table holds Rows ≥ 1 rows of Cols ≥ 1 finite values, with a name for each column. Data is [Rows,Cols], row-major.
type Table struct {
	Names      []string
	Rows, Cols int
	Data       []float64
}

// partNumbers is the most numbers in a part of a file. A part has at least one row, however long.
const partNumbers = 1 << 15

// gather joins the parts of a file. Each is a table of whole rows; its Rows counts all rows read so far.
func gather(parts iter.Seq2[*Table, error]) (*Table, error) {
	whole := &Table{}
	for t, err := range parts {
		if err != nil {
			return nil, err
		}
		whole.Names, whole.Rows, whole.Cols, whole.Data = t.Names, t.Rows, t.Cols, append(whole.Data, t.Data...)
	}
	return whole, nil
}

// Index returns the number of each column by its name.
func (t *Table) Index() map[string]int {
	at := make(map[string]int, len(t.Names))
	for i, name := range t.Names {
		at[name] = i
	}
	return at
}

// Select returns a table of the named columns in the order given, [Rows,len(names)]. An unknown name, a name given twice and an empty
// list are errors that wrap ErrColumn.
func (t *Table) Select(names ...string) (*Table, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: none is named; want some of %s", ErrColumn, list(t.Names))
	}
	cols, at, taken := make([]int, len(names)), t.Index(), make(map[string]bool, len(names))
	for i, name := range names {
		col, ok := at[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: %s; want one of %s", ErrColumn, fault.Quote(name), list(t.Names))
		case taken[name]:
			return nil, fmt.Errorf("%w: %s is named twice; want it once", ErrColumn, fault.Quote(name))
		}
		cols[i], taken[name] = col, true
	}
	s := &Table{Names: slices.Clone(names), Rows: t.Rows, Cols: len(names), Data: make([]float64, 0, t.Rows*len(names))}
	for n := range t.Rows {
		for _, c := range cols {
			s.Data = append(s.Data, t.Data[n*t.Cols+c])
		}
	}
	return s, nil
}

// numbered returns the names x0, x1, … for columns that have none.
func numbered(cols int) []string {
	names := make([]string, cols)
	for i := range names {
		names[i] = "x" + strconv.Itoa(i)
	}
	return names
}

// checkNames refuses names of columns that a CSV header would not give back unchanged.
func checkNames(names []string) error {
	seen := make(map[string]int, len(names))
	for i, name := range names {
		switch {
		case name == "":
			return fmt.Errorf("column %d has no name; want a name for every column, or a file without names", i+1)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fmt.Errorf("column %d is named %s; want printable UTF-8 text", i+1, fault.Quote(name))
		case strings.TrimSpace(name) != name:
			return fmt.Errorf("column %d is named %s; want a name without space around it", i+1, fault.Quote(name))
		case isNumber(name):
			return fmt.Errorf("column %d is named %s; want names that are not numbers, or numbers alone", i+1, fault.Quote(name))
		case seen[name] > 0:
			return fmt.Errorf("columns %d and %d are both named %s; want different names", seen[name], i+1, fault.Quote(name))
		}
		seen[name] = i + 1
	}
	return nil
}

// isNumber reports whether a field is a number, finite or not, rather than a name. Words that ParseFloat knows ("nan", "Infinity")
// count as numbers, so that a first row with a missing value is not taken for names.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// malformed makes an error that wraps ErrFormat; format may hold a %w.
func malformed(format string, args ...any) error { return fault.Errorf(ErrFormat, format, args...) }

// list quotes the first names.
func list(names []string) string {
	const most = 8
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = fault.Quote(names[i])
	}
	if len(names) > most {
		shown = append(shown, fmt.Sprintf("… (%d in all)", len(names)))
	}
	return strings.Join(shown, ", ")
}
