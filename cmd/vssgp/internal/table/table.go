// Package table reads columns of tables, text or NumPy's NPY, as numbers, dates or words, and writes tables.
//
// Text may have commas, semicolons, tabs or spaces as separators, words, dates, missing values and decimal commas. Only requested columns
// are checked. Errors contain the file and the line (text) or the row (NPY).
//
// A File is text or an array (text.go, npy.go), whose cells form a Table. Its columns are read as numbers, words or inputs (column.go). An
// input has an Axis, which maps its dates to numbers (axis.go) according to their layout (date.go), and a Grid.
package table

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrFormat is wrapped by every error about the content of a file or of a table to be written.
var ErrFormat = fault.New("table: malformed")

// A Table is a table in memory, or some consecutive rows of one. It is not safe for concurrent use.
type Table struct {
	Names      []string // of the columns; x0, x1, … if the file has none
	Rows, Cols int
	// DayFirst is the order of day and month in dates such as 1/2/2024. If it is nil, the order is detected in each column.
	DayFirst *bool
	// Decimal is the decimal sign, '.' or ','. The other sign, apostrophes and spaces then separate thousands. If it
	// is 0, the sign is detected, and thousands separators are errors.
	Decimal byte

	cells
	commas  *bool  // some comma in the earlier blocks can only be a decimal sign; may be nil
	name    string // of the file
	header  int    // line of the names; 0 if the file has none
	exact   bool   // numbers are binary and have no decimals
	columns map[int]*column
}

// cells are rows of a text or of an array.
type cells interface {
	text(row, col int) string
	// value returns the class of a cell and, for a number, its value, NaN if the cell is missing.
	value(row, col int) (class, float64)
	// position returns the position of a cell for messages.
	position(row, col int, name string) string
	// content returns the content of the file.
	content() string
	// replace returns a range of content and the bytes that replace it to set a cell to v, which is text in a text file.
	replace(row, col int, v float64, text string) (lo, hi int, with string, err error)
}

// value returns the class and the number of a cell with the decimal sign of the table.
func (t *Table) value(row, col int) (class, float64) {
	kind, v := t.cells.value(row, col)
	if t.Decimal == 0 || t.exact || kind == missing || kind == whole || kind == date {
		return kind, v
	}
	if kind, v, ok := grouped(t.text(row, col), t.Decimal, 3); ok {
		return kind, v
	}
	if kind == text {
		return text, 0
	}
	return decorated, 0
}

// A reader reads a table in blocks of about limit bytes. The error after the last block is io.EOF.
type reader interface {
	next(limit int) (*Table, error)
	io.Closer
}

func (f *File) reader(ctx context.Context) (reader, error) {
	if f.npy {
		return f.readArray(ctx)
	}
	return f.readText(ctx)
}

// Read reads a table. Errors wrap ErrFormat, or are errors of the system or of ctx.
//
// A text file is UTF-8 and comma-, semicolon-, tab- or space-separated. Read detects the separator from its beginning. The first record
// contains the names unless it has numbers or dates. A byte order mark, CRLF, blank lines, spaces around fields, lines before the names
// that begin with #, and quotes around fields are accepted. All records must have the same number of fields. If the separator is not a
// comma, numbers may have a decimal comma.
func Read(ctx context.Context, f *File) (t *Table, err error) {
	f.blocks(ctx, math.MaxInt)(func(all *Table, failed error) bool {
		t, err = all, failed
		return false
	})
	return t, err
}

// blockBytes is the size of a block.
const blockBytes = 1 << 20

// Blocks reads a table in blocks of rows. Its memory does not grow with the file.
func Blocks(ctx context.Context, f *File) iter.Seq2[*Table, error] { return f.blocks(ctx, blockBytes) }

func (f *File) blocks(ctx context.Context, limit int) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		r, err := f.reader(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		commas := new(bool)
		for first := true; ; first = false {
			t, err := r.next(limit)
			if err == nil {
				t.commas = commas
			}
			if err == io.EOF && !first {
				return
			}
			if err == io.EOF {
				err = malformed("%s: there are no rows after the names; at least one is required", f.name)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// numbered returns the names x0, x1, … for columns without names.
func numbered(cols int) []string {
	names := make([]string, cols)
	for i := range names {
		names[i] = "x" + strconv.Itoa(i)
	}
	return names
}

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Rename replaces the names of all columns. The error wraps ErrFormat.
func (t *Table) Rename(names []string) error {
	if len(names) != t.Cols {
		return malformed("%s: %d names for %d columns; each column needs one name", t.name, len(names), t.Cols)
	}
	if err := checkNames(names, upTo(t.Cols)); err != nil {
		return malformed("%s: %w", t.name, err)
	}
	t.Names = names
	return nil
}

// checkNames returns an error if the name of one of the columns cols would not be the same after writing and reading a CSV header.
func checkNames(names []string, cols []int) error {
	at := make(map[string][]int, len(names)) // columns by name
	for i, name := range names {
		at[name] = append(at[name], i)
	}
	for _, i := range cols {
		problem := ""
		switch name := names[i]; {
		case name == "":
			return fmt.Errorf("column %d (from 0) has no name; either all columns or none must have a name", i)
		case len(at[name]) > 1:
			return fmt.Errorf("columns %d and %d (from 0) are both named %s; names must be different", at[name][0], at[name][1], fault.Quote(name))
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			problem = "must be printable UTF-8 text"
		case strings.TrimSpace(name) != name:
			problem = "must not begin or end with space"
		case isNumber(name):
			problem = "must not be a number"
		}
		if problem != "" {
			return fmt.Errorf("column %d (from 0) is named %s; the name %s", i, fault.Quote(names[i]), problem)
		}
	}
	return nil
}

// malformed returns an error that wraps ErrFormat. The format may contain %w.
func malformed(format string, args ...any) error { return fault.Errorf(ErrFormat, format, args...) }
