// Package table reads tables of numbers, CSV or NumPy's NPY, into named float64 columns, and writes them.
//
// Data for a model are finite numbers in a rectangle; everything else is refused where it stands, with the file and line (CSV) or
// the file and row (NPY). Memory is in proportion to the file's size, whatever its header claims.
package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/atomicfile"
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

// Open reads the file at path, by its extension: .csv or .npy, in any case. Errors name the path and wrap ErrFormat (another extension
// too), the system's error, or atomicfile.ErrNotRegular.
func Open(path string) (*Table, error) { return OpenContext(context.Background(), path) }

// OpenContext is Open, whose reading ends, with an error that wraps ctx.Err(), once ctx has ended.
func OpenContext(ctx context.Context, path string) (*Table, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".csv" && ext != ".npy" {
		return nil, malformed("%s: the extension %q is no table's; want .csv or .npy", path, ext)
	}
	f, _, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if ext == ".npy" {
		return ReadNPY(until{ctx, f}, path)
	}
	return ReadCSV(until{ctx, f}, path)
}

// until is a reader that fails once ctx has ended.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(b)
}

// Select returns a table of the named columns in the order given, [Rows,len(names)]. A name that there is not, one given twice and no name at
// all are errors, which wrap ErrColumn.
func (t *Table) Select(names ...string) (*Table, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: none is named; want some of %s", ErrColumn, list(t.Names))
	}
	cols := make([]int, len(names))
	for i, name := range names {
		cols[i] = slices.Index(t.Names, name)
		switch {
		case cols[i] < 0:
			return nil, fmt.Errorf("%w: %s; want one of %s", ErrColumn, quote(name), list(t.Names))
		case slices.Index(names[:i], name) >= 0:
			return nil, fmt.Errorf("%w: %s is named twice; want it once", ErrColumn, quote(name))
		}
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

// checkNames says what is wrong with the names of columns, nil if nothing: those that pass are read back from a CSV header as they are.
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
			return fmt.Errorf("column %d is named %s; want names that are no numbers, or numbers alone", i+1, quote(name))
		case seen[name] > 0:
			return fmt.Errorf("columns %d and %d are both named %s; want different names", seen[name], i+1, quote(name))
		}
		seen[name] = i + 1
	}
	return nil
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
	var b strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, ", … (%d in all)", len(names))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(name))
	}
	return b.String()
}
