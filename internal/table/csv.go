package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/fault"
)

// maxLine bounds the bytes of one line of a CSV file.
const maxLine = 16 << 20

// ReadCSV reads comma-separated numbers from r; name stands for the file in messages.
//
// The first line holds the names of the columns. If all its fields are numbers, it is data, and the columns are called x0, x1, …. Names
// are distinct, printable and not numbers; they may be quoted. Numbers are decimal, such as 12, -0.5 or 1e-3, and finite. Every line
// has as many fields as the first. A byte order mark, CRLF, spaces around fields and blank lines at the end are accepted. A quoted
// field ends on its line.
//
// Errors wrap ErrFormat and give file:line, the wrong text and what would be right, or they wrap r's own error.
func ReadCSV(r io.Reader, name string) (*Table, error) { return gather(csvParts(r, name)) }

// csvReader gathers the rows of a part of a table.
type csvReader struct {
	name   string // of the file
	lines  *bufio.Scanner
	line   int // number of the current line
	blank  int // number of the first of the blank lines just passed
	fields []string
	t      *Table
}

// csvParts reads some rows at a time. Each part is good until the next; an error comes last.
func csvParts(r io.Reader, name string) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		c := &csvReader{name: name, lines: bufio.NewScanner(r), t: &Table{}}
		c.lines.Buffer(make([]byte, 0, 1<<16), maxLine)
		for c.lines.Scan() && c.lines.Err() == nil { // with an error, r failed within the line
			c.line++
			if err := c.take(c.lines.Text()); err != nil {
				yield(nil, err)
				return
			}
			if len(c.t.Data) > 0 && len(c.t.Data)+c.t.Cols > partNumbers {
				if !yield(c.t, nil) {
					return
				}
				c.t.Data = c.t.Data[:0]
			}
		}
		if err := c.ended(); err != nil {
			yield(nil, err)
		} else if len(c.t.Data) > 0 {
			yield(c.t, nil)
		}
	}
}

// ended returns the error at the end of the file, if any.
func (c *csvReader) ended() error {
	switch err := c.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		c.line++
		return c.wrong("a line of more than %d bytes; want one row a line", maxLine)
	case err != nil:
		return fmt.Errorf("%s:%d: %w", c.name, c.line+1, err)
	case c.t.Cols == 0:
		return malformed("%s: the file is empty; want a line of names, then lines of numbers", c.name)
	case c.t.Rows == 0:
		return c.wrong("names and no numbers; want at least one row after them")
	}
	return nil
}

// wrong makes an error at the current line.
func (c *csvReader) wrong(format string, args ...any) error {
	return malformed("%s:%d: "+format, append([]any{c.name, c.line}, args...)...)
}

// take reads one line.
func (c *csvReader) take(line string) error {
	if c.line == 1 {
		if strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff") {
			return c.wrong("the file is UTF-16; want UTF-8")
		}
		line = strings.TrimPrefix(line, "\ufeff")
	}
	if strings.TrimSpace(line) == "" {
		if c.blank == 0 {
			c.blank = c.line
		}
		return nil
	}
	if c.blank > 0 { // in a file of one column, a blank line before the end is a missing value
		c.line = c.blank
		return c.wrong("a blank line before the end; want a row of numbers")
	}
	if err := c.split(line); err != nil {
		return err
	}
	if c.t.Cols == 0 {
		c.t.Cols = len(c.fields)
		if slices.ContainsFunc(c.fields, func(f string) bool { return !isNumber(f) }) {
			return c.header()
		}
		c.t.Names = numbered(c.t.Cols)
	}
	return c.row()
}

// split cuts a line into c.fields, without the space around them.
func (c *csvReader) split(line string) error {
	c.fields = c.fields[:0]
	if !strings.Contains(line, `"`) {
		for f := range strings.SplitSeq(line, ",") {
			c.fields = append(c.fields, strings.TrimSpace(f))
		}
		return nil
	}
	// The csv package sees one line at a time, so that a quote that is never closed does not swallow the rest of the file.
	r := csv.NewReader(strings.NewReader(line))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	fields, err := r.Read()
	if pe := (*csv.ParseError)(nil); errors.As(err, &pe) {
		return c.wrong("%w at byte %d; want quotes around a whole field, closed on the same line", pe.Err, pe.Column)
	} else if err != nil {
		return c.wrong("%w", err)
	}
	for _, f := range fields {
		c.fields = append(c.fields, strings.TrimSpace(f))
	}
	return nil
}

// header takes c.fields for names.
func (c *csvReader) header() error {
	if err := checkNames(c.fields); err != nil {
		return c.wrong("%w", err)
	}
	c.t.Names = slices.Clone(c.fields)
	return nil
}

// row takes c.fields for numbers.
func (c *csvReader) row() error {
	if len(c.fields) != c.t.Cols {
		return c.wrong("%d fields; want %d (%s), as in line 1", len(c.fields), c.t.Cols, list(c.t.Names))
	}
	for i, f := range c.fields {
		v, problem := parseNumber(f)
		if problem != "" {
			return c.wrong("column %s: %s %s", fault.Quote(c.t.Names[i]), fault.Quote(f), problem)
		}
		c.t.Data = append(c.t.Data, v)
	}
	c.t.Rows++
	return nil
}

// parseNumber reads a finite decimal number, or says why the text is not one.
func parseNumber(s string) (v float64, problem string) {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case s == "":
		return 0, "is not a value; want a number, or leave the row out"
	case errors.Is(err, strconv.ErrRange):
		return 0, "is beyond the range of float64; want a magnitude below 1.8e308"
	case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
		return 0, "is not finite; want a finite number, or leave the row out"
	case err == nil && !strings.ContainsAny(s, "xX_"): // ParseFloat takes hexadecimal too
		return v, ""
	case strings.ContainsAny(s, ";\t "):
		return 0, "is not a number; want numbers separated by commas"
	}
	return 0, "is not a number; want a decimal number such as -0.5 or 1e-3"
}
