package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxLine bounds what one line of a CSV file may hold, in bytes.
const maxLine = 16 << 20

// ReadCSV reads comma-separated numbers from r; name stands for the file in messages.
//
// The first line holds the columns' names. If everything in it is a number it is data, and the columns are called x0, x1, …. Names are
// distinct, printable and no numbers; they may be quoted. Numbers are decimal, such as 12, -0.5 or 1e-3, and finite. Every line has as
// many fields as the first. A byte order mark, CRLF, spaces around fields and blank lines at the end are accepted. A quoted field
// ends on its line.
//
// Errors wrap ErrFormat and say file:line, the offending text and what would be right, or wrap r's own error.
func ReadCSV(r io.Reader, name string) (*Table, error) {
	c := newCSVReader(r, name)
	for {
		switch more, err := c.read(1 << 10); {
		case err != nil:
			return nil, err
		case !more:
			return c.t, nil
		}
	}
}

func newCSVReader(r io.Reader, name string) *csvReader {
	c := &csvReader{name: name, lines: bufio.NewScanner(r), t: &Table{}}
	c.lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	return c
}

// read adds about so many rows to the table; more is false at the file's end.
func (c *csvReader) read(rows int) (more bool, err error) {
	for end := c.t.Rows + rows; c.t.Rows < end; {
		if !c.lines.Scan() {
			return false, c.ended()
		}
		c.line++
		if err := c.take(c.lines.Text()); err != nil {
			if c.lines.Err() != nil { // r failed, and this is the piece of a line before
				c.line--
				return false, c.ended()
			}
			return false, err
		}
	}
	return true, nil
}

// ended says what is wrong where there are no more lines.
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

// csvReader is a table on its way.
type csvReader struct {
	name   string // of the file
	lines  *bufio.Scanner
	line   int // number of the current line
	blank  int // number of the first of the blank lines just passed
	fields []string
	t      *Table
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
	if c.blank > 0 { // blank lines are for the end: in a file of one column this is a missing value
		c.line = c.blank
		return c.wrong("a blank line before the end; want a row of numbers")
	}
	if err := c.split(line); err != nil {
		return err
	}
	if c.t.Cols == 0 {
		isHeader, err := c.header()
		if isHeader || err != nil {
			return err
		}
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
	// Quotes are seen one line at a time, so that one that is never closed does not swallow the rest of the file.
	r := csv.NewReader(strings.NewReader(line))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	fields, err := r.Read()
	if err != nil {
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return c.wrong("%w at byte %d; want quotes around a whole field, closed on the same line", pe.Err, pe.Column)
		}
		return c.wrong("%w", err)
	}
	for _, f := range fields {
		c.fields = append(c.fields, strings.TrimSpace(f))
	}
	return nil
}

// header takes the first line for names, or reports that it is data.
func (c *csvReader) header() (isHeader bool, err error) {
	c.t.Cols = len(c.fields)
	numbers := 0
	for _, f := range c.fields {
		if isNumber(f) {
			numbers++
		}
	}
	if numbers == len(c.fields) {
		c.t.Names = numbered(numbers)
		return false, nil
	}
	if err := checkNames(c.fields); err != nil {
		return true, c.wrong("%w", err)
	}
	c.t.Names = append([]string(nil), c.fields...)
	return true, nil
}

// row takes c.fields for numbers.
func (c *csvReader) row() error {
	if len(c.fields) != c.t.Cols {
		return c.wrong("%d fields; want %d (%s), as in line 1", len(c.fields), c.t.Cols, list(c.t.Names))
	}
	for i, f := range c.fields {
		v, problem := parseNumber(f)
		if problem != "" {
			return c.wrong("column %s: %s %s", quote(c.t.Names[i]), quote(f), problem)
		}
		c.t.Data = append(c.t.Data, v)
	}
	c.t.Rows++
	return nil
}

// parseNumber reads a finite decimal number, or says what the text is instead.
func parseNumber(s string) (v float64, problem string) {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case s == "":
		return 0, "is no value; want a number, or leave the row out"
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

// isNumber reports whether a field is a number, finite or not, rather than a name. Words that ParseFloat knows ("nan", "Infinity") are
// numbers here, so that a first row with a missing value is not taken for names.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
