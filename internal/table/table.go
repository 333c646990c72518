// Package table reads columns of tables, text or NumPy's NPY, as float64, and writes tables.
//
// A table is read as people have it: with columns of words, dates, missing values. The columns that are asked for hold numbers, or dates
// that an Axis maps to numbers; what does not suit them is refused, with the file and the line (text) or the row (NPY) where it was found.
// Memory does not grow with the file.
package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrFormat is wrapped by every error about the content of a file that is read or of a table to be written.
var ErrFormat = errors.New("table: malformed")

// Table holds Rows ≥ 1 rows of Cols ≥ 1 finite values, with a name for each column. Data is [Rows,Cols], row-major.
type Table struct {
	Names      []string
	Rows, Cols int
	Data       []float64
}

// partNumbers is the most numbers in a part of a file. A part has at least one row, however long.
const partNumbers = 1 << 15

// numbered returns the names x0, x1, … for columns that have none.
func numbered(cols int) []string {
	names := make([]string, cols)
	for i := range names {
		names[i] = "x" + strconv.Itoa(i)
	}
	return names
}

// Open reads a whole table of numbers at a path; none may be missing.
func Open(path string) (*Table, error) {
	f, err := At(path)
	if err != nil {
		return nil, err
	}
	return readAll(context.Background(), f)
}

// ReadCSV is Open for text from r; name stands for the file in messages. Errors wrap ErrFormat or r's own.
func ReadCSV(r io.Reader, name string) (*Table, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, bytes.Count(content, []byte{'\n'})+1, err)
	}
	return readAll(context.Background(), In(bytes.NewReader(content), int64(len(content)), name))
}

func readAll(ctx context.Context, f *File) (*Table, error) {
	s, err := OpenStream(ctx, f)
	if err == nil {
		err = s.Survey(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	picks := make([]Pick, s.Cols)
	for c := range picks {
		picks[c] = Pick{Col: c, Axis: &Axis{}}
	}
	return s.Read(ctx, picks)
}

// upTo returns the numbers from 0 below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// checkNames refuses names of some columns that a CSV header would not give back unchanged.
func checkNames(names []string, cols []int) error {
	seen := make(map[string][2]int, len(names)) // the numbers of the first two columns of a name
	for i, name := range names {
		if at := seen[name]; at[0] == 0 {
			seen[name] = [2]int{i + 1, 0}
		} else if at[1] == 0 {
			seen[name] = [2]int{at[0], i + 1}
		}
	}
	for _, i := range cols {
		name := names[i]
		switch same := seen[name]; {
		case name == "":
			return fmt.Errorf("column %d has no name; want a name for every column, or a file without names", i+1)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fmt.Errorf("column %d is named %s; want printable UTF-8 text", i+1, fault.Quote(name))
		case strings.TrimSpace(name) != name:
			return fmt.Errorf("column %d is named %s; want a name without space around it", i+1, fault.Quote(name))
		case isNumber(name):
			return fmt.Errorf("column %d is named %s; want names that are not numbers, or numbers alone", i+1, fault.Quote(name))
		case same[1] > 0:
			return fmt.Errorf("columns %d and %d are both named %s; want different names", same[0], same[1], fault.Quote(name))
		}
	}
	return nil
}

// malformed makes an error that wraps ErrFormat; format may hold a %w.
func malformed(format string, args ...any) error { return fault.Errorf(ErrFormat, format, args...) }

// list quotes the first names, as many as a line has room for.
func list(names []string) string {
	const most, room = 8, 160
	var b strings.Builder
	for i, name := range names {
		name = fault.Quote(name)
		if i > 0 {
			b.WriteString(", ")
		}
		if i == most || b.Len()+len(name) > room {
			fmt.Fprintf(&b, "… (%d in all)", len(names))
			break
		}
		b.WriteString(name)
	}
	return b.String()
}
