package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxLine bounds the bytes of one record of a text file.
const maxLine = 16 << 20

// A dialect says how a text file is written.
type dialect struct {
	sep    byte // between fields; ' ' is any run of spaces and tabs, 0 is none
	end    byte // of a line: '\n', also after '\r', or '\r' alone
	header bool // the first record holds names
}

// records reads a text file record by record. A record is a line, or several where a quoted field has line ends in it. Blank lines,
// and lines before the first record that begin with #, are passed over.
type records struct {
	name string // of the file
	in   *bufio.Reader
	d    dialect

	first  int    // line of the first record; 0 before it
	line   int    // line on which the record begins
	lines  int    // lines read
	bytes  int64  // bytes read
	blank  int    // line of the first of the blank lines just passed, in a file of one column
	cols   int    // fields of the first record
	raw    []byte // the record with its line end
	begin  int    // where the record begins in raw, after a byte order mark
	fields []string
	spans  []span
}

// span is where in raw a field stands, without quotes.
type span struct{ lo, hi int }

// mark is the byte order mark.
const mark = "\ufeff"

// read takes the next record into fields and spans, which are good until the next. The error at the end is io.EOF.
func (r *records) read() error {
	for {
		r.raw, r.begin = r.raw[:0], 0
		r.line = r.lines + 1
		if err := r.grow(); err != nil {
			return err
		}
		if r.line == 1 && bytes.HasPrefix(r.raw, []byte(mark)) {
			r.begin = len(mark)
		}
		text := r.raw[r.begin:]
		if r.isBlank(text) || r.first == 0 && text[0] == '#' {
			if r.cols == 1 && r.blank == 0 {
				r.blank = r.line
			}
			continue
		}
		if r.blank > 0 {
			r.line = r.blank
			return r.wrong("a blank line before the end; want a row, NA for a missing value")
		}
		break
	}
	if err := r.split(); err != nil {
		return err
	}
	if r.first == 0 {
		r.first, r.cols = r.line, len(r.fields)
	}
	return nil
}

// grow adds a line to raw. At the end of the file, the error is io.EOF.
func (r *records) grow() error {
	for had := len(r.raw); ; {
		part, err := r.in.ReadSlice(r.d.end)
		r.raw = append(r.raw, part...)
		r.bytes += int64(len(part))
		switch {
		case len(r.raw) > maxLine:
			r.lines++
			return r.wrong("a line of more than %d bytes; want one row a line", maxLine)
		case err == io.EOF && len(r.raw) > had || err == nil:
			r.lines++
			return nil
		case err == io.EOF:
			return io.EOF
		case errors.Is(err, ErrFormat):
			return err
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%s:%d: %w", r.name, r.lines+1, err)
		}
	}
}

// isBlank reports whether a line holds nothing. In a table of tabs, tabs hold a row of missing values.
func (r *records) isBlank(line []byte) bool {
	space := " \t\r\n"
	if r.d.sep == '\t' {
		space = " \r\n"
	}
	return len(bytes.Trim(line, space)) == 0
}

// split cuts raw into fields. It reads further lines for a quoted field that does not end on its own.
func (r *records) split() error {
	const most = 16 // tries, so that quotes here and there do not take time in proportion to the square of the file's size
	for try := 0; ; try++ {
		var open int
		r.fields, r.spans, open = fieldsOf(string(r.raw), r.begin, r.d.sep, r.fields[:0], r.spans[:0])
		if open < 0 {
			return nil
		}
		for { // a quoted field ends on a line with an odd number of quotes
			had := len(r.raw)
			err := r.grow()
			if err == io.EOF || try == most {
				return r.wrong("extraneous or missing \" in field %d; want quotes around a whole field, closed again", open+1)
			} else if err != nil {
				return err
			}
			if bytes.Count(r.raw[had:], []byte{'"'})%2 == 1 {
				break
			}
		}
	}
}

// fieldsOf splits a record into its fields, without quotes and the space around them. open is the number of a quoted field that does not
// end, or -1.
func fieldsOf(text string, at int, sep byte, fields []string, spans []span) (_ []string, _ []span, open int) {
	end := len(strings.TrimRight(text, "\r\n"))
	space := func() {
		for at < end && (text[at] == ' ' || text[at] == '\t' && sep != '\t') {
			at++
		}
	}
	ends := func() bool { return at == end || text[at] == sep || sep == ' ' && text[at] == '\t' }
	for {
		space()
		if sep == ' ' && at == end && len(fields) > 0 {
			return fields, spans, -1
		}
		from, to := at, at
		if at < end && text[at] == '"' {
			close := quoteEnd(text[:end], at)
			if close < 0 {
				return fields, spans, len(fields)
			}
			at = close + 1
			if sep != ' ' {
				space()
			}
			if ends() {
				field := strings.ReplaceAll(text[from+1:close], `""`, `"`)
				fields, spans = append(fields, strings.TrimSpace(field)), append(spans, span{from + 1, close})
				if at == end {
					return fields, spans, -1
				}
				at++
				continue
			}
			to = at // more text follows the quote: it is all taken as it is
		}
		for ; !ends(); at++ {
			if text[at] != ' ' && text[at] != '\t' {
				to = at + 1
			}
		}
		fields, spans = append(fields, strings.TrimSpace(text[from:to])), append(spans, span{from, to})
		if at == end {
			return fields, spans, -1
		}
		at++
	}
}

// quoteEnd returns where the quote that begins at a place of the text ends, -1 if it does not.
func quoteEnd(text string, at int) int {
	for at++; ; at += 2 {
		next := strings.IndexByte(text[at:], '"')
		if next < 0 {
			return -1
		}
		at += next
		if at+1 == len(text) || text[at+1] != '"' {
			return at
		}
	}
}

// wrong makes an error at the current record.
func (r *records) wrong(format string, args ...any) error {
	return malformed("%s:%d: "+format, append([]any{r.name, r.line}, args...)...)
}

// even refuses a record with more or fewer fields than the first.
func (r *records) even(names []string) error {
	if len(r.fields) == r.cols {
		return nil
	}
	cause := ""
	switch is := len(r.fields); {
	case r.d.sep == 0 && is > 1, r.d.sep != ',' && is == 1 && strings.Contains(r.fields[0], ","):
		cause = " (another separator?)"
	case is > r.cols && r.d.sep == ',' && slices.ContainsFunc(r.fields, isWhole):
		cause = " (a decimal comma or a thousands separator without quotes?)"
	case is < r.cols && !slices.ContainsFunc(r.fields, isNumber):
		cause = " (a footer, or another separator?)"
	}
	return r.wrong("%d fields; want %d (%s), as in line %d%s", len(r.fields), r.cols, list(names), r.first, cause)
}
