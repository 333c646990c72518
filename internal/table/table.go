// Package table reads tables of numbers, CSV or NumPy's NPY, into named float64 columns, and writes them.
//
// Data for a model are finite numbers in a rectangle; everything else is refused where it stands, with the file and line (CSV) or
// the file and row (NPY). Memory is proportional to the file's size, whatever its header claims.
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
)

// ErrFormat is wrapped by every error that says that a file, or a table to be written, is not as this package wants it.
var ErrFormat = errors.New("table: malformed")

// ErrColumn is wrapped by Select's errors.
var ErrColumn = errors.New("table: no such column")

// Table holds Rows ≥ 1 rows of Cols ≥ 1 finite values, with a name for each column. Data is [Rows,Cols], row-major.
type Table struct {
	Names      []string
	Rows, Cols int
	Data       []float64
}

// partNumbers is how many numbers a part of a file has, if a row does not have more.
const partNumbers = 1 << 15

// gather joins the parts of a file, each a table of whole rows whose Rows counts all that were read so far.
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

// Index gives the number of each column by its name.
func (t *Table) Index() map[string]int {
	at := make(map[string]int, len(t.Names))
	for i, name := range t.Names {
		at[name] = i
	}
	return at
}

// Select returns a table of the named columns in the order given, [Rows,len(names)]. Unknown names, a name given twice and an empty list
// are errors, which wrap ErrColumn.
func (t *Table) Select(names ...string) (*Table, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: none is named; want some of %s", ErrColumn, list(t.Names))
	}
	cols, at, taken := make([]int, len(names)), t.Index(), make(map[string]bool, len(names))
	for i, name := range names {
		col, ok := at[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: %s; want one of %s", ErrColumn, quote(name), list(t.Names))
		case taken[name]:
			return nil, fmt.Errorf("%w: %s is named twice; want it once", ErrColumn, quote(name))
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

// numbered makes the names x0, x1, … of columns that have none.
func numbered(cols int) []string {
	names := make([]string, cols)
	for i := range names {
		names[i] = "x" + strconv.Itoa(i)
	}
	return names
}

// checkNames refuses names of columns that would not come back from a CSV header as they are.
func checkNames(names []string) error {
	seen := make(map[string]int, len(names))
	for i, name := range names {
		switch {
		case name == "":
			return fmt.Errorf("column %d has no name; want a name for every column, or a file without names", i+1)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fmt.Errorf("column %d is named %s; want printable UTF-8 text", i+1, quote(name))
		case strings.TrimSpace(name) != name:
			return fmt.Errorf("column %d is named %s; want a name without space around it", i+1, quote(name))
		case isNumber(name):
			return fmt.Errorf("column %d is named %s; want names that are not numbers, or numbers alone", i+1, quote(name))
		case seen[name] > 0:
			return fmt.Errorf("columns %d and %d are both named %s; want different names", seen[name], i+1, quote(name))
		}
		seen[name] = i + 1
	}
	return nil
}

// isNumber reports whether a field is a number, finite or not, rather than a name. Words that ParseFloat knows ("nan", "Infinity") are
// numbers here, so that a first row with a missing value is not taken for names.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// formatError is ErrFormat in words of its own.
type formatError struct{ error }

func (e *formatError) Unwrap() []error { return []error{ErrFormat, e.error} }

// malformed makes an error that wraps ErrFormat; format may hold a %w.
func malformed(format string, args ...any) error {
	return &formatError{fmt.Errorf(format, args...)}
}

// quote shows a text from a file, which may be long or unprintable.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// list shows some names.
func list(names []string) string {
	const most = 8
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = quote(names[i])
	}
	if len(names) > most {
		shown = append(shown, fmt.Sprintf("… (%d in all)", len(names)))
	}
	return strings.Join(shown, ", ")
}
