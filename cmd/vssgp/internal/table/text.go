package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// maxRecord and maxFields are the maximum numbers of bytes and of fields in a record of a text file.
const maxRecord, maxFields = 16 << 20, 1 << 20

// bom is the byte order mark.
const bom = "\ufeff"

// A textReader reads the records of a text file. A record is a line, or several lines if a quoted field contains line ends. It skips blank
// lines, and lines before the first record that begin with #.
type textReader struct {
	dialect
	name  string
	in    io.Reader
	close io.Closer
	size  int    // of the file in bytes
	rest  string // text that is read but not yet split
	line  int    // line number of the beginning of rest, from 1
	ended bool   // rest is the end of the file

	names []string // nil before the first record
	first int      // line of the first record
	blank int      // line of the first blank line before the current record, in a file with one column
}

// textCells are consecutive records of a text file.
type textCells struct {
	dialect
	name   string
	data   string // text with the records
	line   int    // line number of the beginning of data
	cols   int
	starts []int  // offsets of the records in data
	spans  []span // fields of all records
	known  layout // layout of the last date
}

// span is the position of a field in its record, without quotes and surrounding space.
type span struct{ lo, hi uint32 }

func (f *File) readText(ctx context.Context) (*textReader, error) {
	in, file, size, err := f.content(ctx)
	if err != nil {
		return nil, err
	}
	return &textReader{name: f.name, in: in, close: file, size: int(size), line: 1}, nil
}

func (r *textReader) Close() error { return r.close.Close() }

// next reads about limit bytes, but at least one record.
func (r *textReader) next(limit int) (*Table, error) {
	c := &textCells{name: r.name}
	for len(c.starts) == 0 {
		if r.ended && r.rest == "" {
			return nil, r.end()
		}
		var b strings.Builder
		b.Grow(len(r.rest) + min(r.size, limit) + 1)
		b.WriteString(r.rest)
		var n int64
		var err error
		if r.names == nil && r.rest == "" { // another format is refused before the rest is read
			if n, err = io.Copy(&b, io.LimitReader(r.in, min(int64(limit), sampleSize))); err == nil {
				if what := notText(b.String()); what != "" {
					return nil, malformed("%s: the file is %s", r.name, what)
				}
			}
		}
		if err == nil && n < int64(limit) {
			var more int64
			more, err = io.Copy(&b, io.LimitReader(r.in, int64(limit)-n))
			n += more
		}
		r.rest, r.ended = b.String(), n < int64(limit)
		switch {
		case errors.Is(err, errLongLine):
			return nil, r.wrong(r.line+strings.Count(r.rest, "\n"), "%w", err)
		case errors.Is(err, ErrFormat):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", r.name, r.line+strings.Count(r.rest, "\n"), err)
		}
		at := 0
		if r.names == nil {
			if strings.HasPrefix(r.rest, bom) {
				at = len(bom)
			}
			candidates := delimiters
			if separator, length := declared(r.rest[at:]); len(separator) == 1 && strings.Contains("\t;,| ", separator) {
				candidates, at = []byte{separator[0]}, at+length
			} else if length > 0 {
				return nil, r.wrong(r.line, "the first line declares the separator %s; must be sep= and a comma, semicolon, "+
					"tab, vertical bar or space", fault.Quote(separator))
			}
			sample := r.rest[at:min(len(r.rest), at+sampleSize)]
			r.dialect = sniff(sample, r.ended && at+len(sample) == len(r.rest), candidates)
		}
		if at, err = r.splitInto(c, at); err != nil {
			return nil, err
		}
		r.line += r.lines(r.rest[:at])
		r.rest = r.rest[at:]
	}
	t := &Table{Names: r.names, Cols: len(r.names), Rows: len(c.starts), name: r.name, cells: c}
	if r.header {
		t.header = r.first
	}
	return t, nil
}

// end returns io.EOF, or the error for an empty file.
func (r *textReader) end() error {
	if r.names == nil {
		return malformed("%s: the file is empty; must be a line of names followed by lines of numbers", r.name)
	}
	return io.EOF
}

// splitInto splits rest from a position into records, which it adds to c. It returns the end of the last complete record.
func (r *textReader) splitInto(c *textCells, at int) (int, error) {
	c.dialect, c.data, c.line = r.dialect, r.rest, r.line
	for at < len(r.rest) {
		line := func() int { return r.line + r.lines(r.rest[:at]) }
		if end := r.lineEnd(r.rest, at); isBlank(r.rest[at:end], r.delimiter) || r.names == nil && r.rest[at] == '#' {
			if end == len(r.rest) && !r.ended {
				return at, nil
			}
			if len(r.names) == 1 && r.blank == 0 {
				r.blank = line()
			}
			at = end
			continue
		}
		var next int
		var closed bool
		first := len(c.spans)
		c.spans, next, closed = r.split(r.rest, at, c.spans)
		fields := len(c.spans) - first
		switch {
		case next-at > maxRecord:
			return at, r.wrong(line(), "the line exceeds the maximum of %d bytes; each row must be on a separate line", maxRecord)
		case next == len(r.rest) && !r.ended: // the record may be incomplete
			c.spans = c.spans[:first]
			return at, nil
		case fields > maxFields:
			return at, r.wrong(line(), "%d fields; the maximum is %d", fields, maxFields)
		case !closed:
			return at, r.wrong(line(), "extraneous or missing \" in field %d; quotes must enclose the whole field", fields+1)
		case r.blank > 0:
			return at, r.wrong(r.blank, "blank line before the end; must be a row, with NA for a missing value")
		}
		if c.starts = append(c.starts, at); r.names == nil {
			r.names, c.cols, r.first = numbered(fields), fields, line()
			if r.header {
				for i, name := range c.row(0) {
					if name != "" {
						r.names[i] = strings.TrimPrefix(name, bom)
					}
				}
				c.starts, c.spans = c.starts[:0], c.spans[:0]
			}
		} else if c.cols = len(r.names); fields != c.cols {
			return at, r.uneven(c, fields, line())
		}
		at = next
	}
	return at, nil
}

// wrong returns an error about a line.
func (r *textReader) wrong(line int, format string, args ...any) error {
	return malformed("%s:%d: "+format, append([]any{r.name, line}, args...)...)
}

// uneven returns the error for the last record if its number of fields differs from the first record.
func (r *textReader) uneven(c *textCells, fields, line int) error {
	last := &textCells{dialect: c.dialect, data: c.data, cols: fields, starts: c.starts[len(c.starts)-1:], spans: c.spans[len(c.spans)-fields:]}
	cause, cells := "", last.row(0)
	switch {
	case r.delimiter == 0 && fields > 1, r.delimiter != ',' && fields == 1 && strings.Contains(cells[0], ","):
		cause = " (another separator?)"
	case fields > c.cols && r.delimiter == ',' && slices.ContainsFunc(cells, isWhole):
		cause = " (a decimal comma or a thousands separator without quotes?)"
	case fields > c.cols && c.cols == 1:
		cause = " (a title before the names? begin it with #)"
	case fields < c.cols && !slices.ContainsFunc(cells, isNumber):
		cause = " (a footer, or another separator?)"
	}
	return r.wrong(line, "%d fields; must be %d (%s), as in line %d%s", fields, c.cols, fault.Quote(strings.Join(r.names, ",")), r.first, cause)
}

func (c *textCells) span(row, col int) (lo, hi int) {
	s := c.spans[row*c.cols+col]
	return c.starts[row] + int(s.lo), c.starts[row] + int(s.hi)
}

func (c *textCells) text(row, col int) string {
	lo, hi := c.span(row, col)
	s := c.data[lo:hi]
	if lo > 0 && c.data[lo-1] == '"' && strings.Contains(s, `""`) {
		s = strings.ReplaceAll(s, `""`, `"`)
	}
	return strings.TrimSpace(s)
}

// row returns the texts of a row.
func (c *textCells) row(row int) []string {
	all := make([]string, c.cols)
	for col := range all {
		all[col] = c.text(row, col)
	}
	return all
}

func (c *textCells) value(row, col int) (class, float64) {
	return classify(c.text(row, col), c.delimiter, &c.known)
}

func (c *textCells) position(row, col int, name string) string {
	return fmt.Sprintf("%s:%d: column %s (%d from 0)", c.name, c.line+c.lines(c.data[:c.starts[row]]), name, col)
}

func (c *textCells) replace(row, col int, _ float64, text string) (lo, hi int, with string, err error) {
	lo, hi = c.span(row, col)
	return lo, hi, text, nil
}

func (c *textCells) content() string { return c.data }

// A dialect describes the separators of a text file.
type dialect struct {
	delimiter byte // between fields; ' ' is any run of spaces and tabs, and 0 is no delimiter
	newline   byte // '\n', also after '\r', or only '\r'
	header    bool // the first record contains names
}

// lines returns the number of line ends.
func (d *dialect) lines(s string) int { return strings.Count(s, string(d.newline)) }

// lineEnd returns the beginning of the next line.
func (d *dialect) lineEnd(data string, at int) int {
	if n := strings.IndexByte(data[at:], d.newline); n >= 0 {
		return at + n + 1
	}
	return len(data)
}

// isBlank reports whether a line is empty. In a table with tabs, a line of tabs is a row of missing values.
func isBlank(line string, delimiter byte) bool {
	for i := range len(line) {
		if c := line[i]; c > ' ' || c == '\t' && delimiter == '\t' {
			return false
		}
	}
	return true
}

// split appends the fields of the record that begins at a position, and returns the beginning of the next record. closed is false if the
// closing quote of a field is missing.
func (d *dialect) split(data string, at int, spans []span) (_ []span, next int, closed bool) {
	start, first := at, len(spans)
	space := func(c byte) bool {
		return c == ' ' || c == '\t' && d.delimiter != '\t' || c == '\r' && d.newline == '\n'
	}
	ends := func(at int) bool {
		return at == len(data) || data[at] == d.delimiter || data[at] == d.newline || data[at] == '\t' && d.delimiter == ' '
	}
	for {
		for at < len(data) && space(data[at]) {
			at++
		}
		if d.delimiter == ' ' && len(spans) > first && (at == len(data) || data[at] == d.newline) {
			return spans, min(at+1, len(data)), true
		}
		lo, hi := at, at
		if at < len(data) && data[at] == '"' {
			quote := quoteEnd(data, at)
			if quote < 0 {
				return spans, len(data), false
			}
			for at = quote + 1; at < len(data) && d.delimiter != ' ' && space(data[at]); {
				at++
			}
			if lo, hi = lo+1, quote; !ends(at) { // text follows the quote, so the quotes are part of the field
				lo, hi = lo-1, at
			}
		}
		for ; !ends(at); at++ {
			if !space(data[at]) {
				hi = at + 1
			}
		}
		spans = append(spans, span{uint32(lo - start), uint32(hi - start)})
		if at == len(data) || data[at] == d.newline {
			return spans, min(at+1, len(data)), true
		}
		at++
	}
}

// quoteEnd returns the position of the closing quote for the quote at a position, -1 if there is none.
func quoteEnd(data string, at int) int {
	for at++; ; at += 2 {
		next := strings.IndexByte(data[at:], '"')
		if next < 0 {
			return -1
		}
		at += next
		if at+1 == len(data) || data[at+1] != '"' {
			return at
		}
	}
}

// sampleSize and sampleRecords are the number of bytes and records at the beginning of a file from which its dialect is detected.
const sampleSize, sampleRecords = 1 << 16, 200

// delimiters are the candidates of sniff. It prefers earlier ones if their scores are equal.
var delimiters = []byte{'\t', ';', ',', '|', ' ', 0}

// declared returns the separator in the first line of a spreadsheet's export, sep=; or "sep=;" for example, and the
// length of the line. Both are zero without such a line. A name such as sep=a is not a separator.
func declared(text string) (separator string, length int) {
	end := strings.IndexAny(text, "\r\n")
	if end < 0 {
		return "", 0
	}
	line := text[:end]
	if quoted := len(line) > 1 && line[0] == '"' && line[end-1] == '"'; quoted {
		line = line[1 : end-1]
	}
	const key = "sep="
	if len(line) < len(key) || !strings.EqualFold(line[:len(key)], key) ||
		strings.ContainsFunc(line[len(key):], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return "", 0
	}
	rest := strings.TrimLeft(text[end:], "\r")
	return line[len(key):], len(text) - len(strings.TrimPrefix(rest, "\n"))
}

// sniff detects the dialect of a file from its beginning. whole means that the sample is the whole file. delimiters
// are the candidates.
func sniff(sample string, whole bool, delimiters []byte) dialect {
	best, most := dialect{delimiter: ',', newline: '\n'}, -1.0
	if len(delimiters) == 1 {
		best.delimiter = delimiters[0]
	}
	if !strings.Contains(sample, "\n") && strings.Contains(sample, "\r") {
		best.newline = '\r'
	}
	for _, delimiter := range delimiters {
		d := dialect{delimiter: delimiter, newline: best.newline}
		rows := d.sample(sample, whole)
		if len(rows) == 0 || delimiter != 0 && len(rows[0]) < 2 && !d.titled(rows) {
			continue
		}
		if score := d.assess(rows); score > most+1e-12 {
			best, most = d, score
		}
	}
	return best
}

// sample returns the first records of a sample. It omits the last record if that may be incomplete.
func (d *dialect) sample(sample string, whole bool) (rows [][]string) {
	for at := 0; at < len(sample) && len(rows) < sampleRecords; {
		end := d.lineEnd(sample, at)
		if isBlank(sample[at:end], d.delimiter) || len(rows) == 0 && sample[at] == '#' {
			at = end
			continue
		}
		spans, next, closed := d.split(sample, at, nil)
		if !closed && len(rows) > 0 {
			break
		}
		row := (&textCells{data: sample, cols: len(spans), starts: []int{at}, spans: spans}).row(0)
		if !closed {
			row = append(row, "")
		}
		rows, at = append(rows, row), next
	}
	if !whole && len(rows) > 1 && len(rows) < sampleRecords {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// titled reports whether the first records have one field, as a title, and the next one contains names.
func (d *dialect) titled(rows [][]string) bool {
	names := slices.IndexFunc(rows, func(row []string) bool { return len(row) > 1 })
	return d.delimiter != ' ' && names > 0 && !slices.ContainsFunc(rows[names], isNumber)
}

// assess detects whether the first record contains names, and returns the score of the dialect. The score is the share
// of records with the most frequent number of fields, times the share of cells that are numbers, dates or missing plus
// a constant for files of words. If the names have fewer fields than the rows, as with decimal commas without quotes,
// the error about the first row is better than another separator. But any two words have the same number of spaces.
//
// The first record contains names if it has a word above a column of mostly numbers or dates, or if it has an empty cell above such a
// column and no number, or if it has no number or date. A date above a column without dates is a word, such as the month of the column.
func (d *dialect) assess(rows [][]string) float64 {
	first := rows[0]
	fields := map[int]int{len(first): 1} // numbers of records by their number of fields
	cells, words := 0, 0
	typed := make([]struct{ yes, no, dates int }, len(first)) // by column: numbers of numbers or dates, of words, and of dates
	for _, row := range rows[1:] {
		fields[len(row)]++
		for i, s := range row {
			kind, _ := classify(s, d.delimiter, nil)
			cells++
			if kind == text || kind == decorated {
				words++
			}
			switch {
			case i >= len(first) || kind == missing:
			case kind == text:
				typed[i].no++
			default:
				typed[i].yes++
				if kind == date {
					typed[i].dates++
				}
			}
		}
	}
	mostly := func(col int) bool { return typed[col].yes > 0 && typed[col].yes >= typed[col].no }
	numbers := slices.ContainsFunc(first, isNumber)
	values, names := 0, 0
	for i, s := range first {
		kind, _ := classify(s, d.delimiter, nil)
		above := kind == date && mostly(i) && typed[i].dates == 0
		switch {
		case above || kind == text && !isNumber(s):
			names++
			d.header = d.header || mostly(i)
		case s == "" && !numbers && mostly(i):
			d.header = true
		case kind != missing || isNumber(s):
			values++
		}
	}
	d.header = d.header || values == 0 || names > 0 && len(rows) == 1
	if !d.header || len(rows) == 1 {
		cells, words = cells+len(first), words+names
	}
	even := fields[len(first)]
	if d.delimiter != ' ' {
		even = slices.Max(slices.Collect(maps.Values(fields)))
	}
	return float64(even) / float64(len(rows)) * (0.1 + float64(cells-words)/float64(cells))
}
