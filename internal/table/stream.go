package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Stream is a table in a file. It is read part by part, as often as needed, in memory that does not grow with the file. Only columns
// that are asked for are looked at.
type Stream struct {
	Names []string // of all columns; x0, x1, … where the file has none
	Cols  int
	Rows  int // after a survey

	// Columns are what the survey found; nil for those that it left out.
	Columns []*Column

	file *File
	d    dialect
	line int // of the names
}

// A Pick is a column to read: by Axis as an input, whose cells are all there; with Words as text, of which equal cells have equal numbers
// (Parts adds them); or else as numbers, NaN for missing ones.
type Pick struct {
	Col   int
	Axis  *Axis
	Words map[string]float64
}

// OpenStream reads the names of a table's columns. Errors wrap ErrFormat, or are the system's or ctx's own.
//
// A text file is comma-, semicolon-, tab- or space-separated, as its beginning shows, in UTF-8. Its first record holds the names unless
// numbers or dates stand there. A byte order mark, CRLF, blank lines, spaces around fields, lines before the names that begin with #,
// and quotes around fields are accepted. Every record has as many fields as the first. Where fields are not separated by commas, numbers
// may have a decimal comma.
func OpenStream(ctx context.Context, file *File) (*Stream, error) {
	s := &Stream{file: file}
	if file.npy {
		err := s.withArray(ctx, func(a *npyArray) error {
			s.Names = numbered(a.cols)
			return nil
		})
		s.Cols = len(s.Names)
		return s, err
	}
	in, f, err := file.text(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sample, err := in.Peek(sampleSize)
	whole := err == io.EOF
	if err != nil && !whole {
		return nil, fmt.Errorf("%s:%d: %w", file.name, bytes.Count(sample, []byte{'\n'})+1, err)
	}
	if what := notText(sample); what != "" {
		return nil, malformed("%s: the file is %s", file.name, what)
	}
	s.d = sniff(bytes.TrimPrefix(sample, []byte(mark)), whole)
	r := &records{name: file.name, in: in, d: s.d}
	if err := r.read(); err == io.EOF {
		return nil, malformed("%s: the file is empty; want a line of names, then lines of numbers", file.name)
	} else if err != nil {
		return nil, err
	}
	s.Cols, s.line, s.Names = r.cols, r.line, numbered(r.cols)
	if s.d.header {
		s.Names = headerNames(r.fields)
	}
	return s, nil
}

// withArray opens the file as an array.
func (s *Stream) withArray(ctx context.Context, use func(a *npyArray) error) error {
	f, size, err := s.file.open()
	if err != nil {
		return err
	}
	defer f.Close()
	a, err := openNPY(f, size)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = use(a)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.name, err)
	}
	return nil
}

// each visits the records with cells.
func (s *Stream) each(ctx context.Context, visit func(r *records) error) error {
	in, f, err := s.file.text(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &records{name: s.file.name, in: in, d: s.d}
	for {
		if err := r.read(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := r.even(s.Names); err != nil {
			return err
		}
		if s.d.header && r.line == r.first {
			continue
		}
		if err := visit(r); err != nil {
			return err
		}
	}
}

// Survey counts the rows, and finds what the columns hold; nil stands for all columns. Its errors are of records, not of cells.
func (s *Stream) Survey(ctx context.Context, cols []int) error {
	if cols == nil {
		for c := range s.Cols {
			cols = append(cols, c)
		}
	}
	s.Rows, s.Columns = 0, make([]*Column, s.Cols)
	for _, c := range cols {
		s.Columns[c] = &Column{}
	}
	if s.file.npy {
		return s.surveyArray(ctx, cols)
	}
	line := 0
	err := s.each(ctx, func(r *records) error {
		for _, c := range cols {
			s.Columns[c].add(r.fields[c], s.d.sep, r.line)
		}
		s.Rows, line = s.Rows+1, r.line
		return nil
	})
	if err == nil && s.Rows == 0 {
		err = malformed("%s:%d: names and no numbers; want at least one row after them", s.file.name, max(line, s.line))
	}
	return err
}

// surveyArray is Survey for an array.
func (s *Stream) surveyArray(ctx context.Context, cols []int) error {
	return s.withArray(ctx, func(a *npyArray) error {
		return a.each(ctx, func(first int, data []float64) error {
			for n := 0; n < len(data); n += a.cols {
				s.Rows++
				for _, c := range cols {
					v, kind := data[n+c], whole
					switch {
					case math.IsNaN(v):
						kind = missing
					case math.IsInf(v, 0):
						kind = text
					}
					column := s.Columns[c]
					if column.Count[kind]++; column.first[kind].line == 0 {
						column.first[kind] = place{s.Rows, strconv.FormatFloat(v, 'g', -1, 64)}
					}
					column.powers = true
				}
			}
			return nil
		})
	})
}

// Axis returns the axis of a column that was surveyed, of numbers or of dates. If like is not nil, x counts as it does, and the cells are
// written as those of the column. Errors wrap ErrFormat.
func (s *Stream) Axis(col int, like *Axis) (*Axis, error) {
	own, at, problem := s.Columns[col].axis(like)
	switch {
	case problem != "":
	case like == nil:
		return own, nil
	case like.Dates() != own.Dates():
		at, problem = s.Columns[col].first[date], "is a date; want numbers, as the model's input has"
		if like.Dates() {
			at, problem = s.Columns[col].some(), "is not a date; want dates, as the model's input has, such as "+like.Format(0)
		}
	case own.Dates() && like.Notation.zone == 0 && own.Notation.zone != 0:
		at, problem = s.Columns[col].first[date], "has an offset from Greenwich, but the model's input has none; want a date such as "+like.Format(0)
	case own.Dates():
		both := *like
		both.Notation, both.offsets = own.Notation, nil
		if own.Notation.zone != 0 {
			both.Offset = own.Offset
		}
		return &both, nil
	default:
		return own, nil
	}
	return nil, s.wrong(at, col, problem)
}

// wrong makes an error of a cell.
func (s *Stream) wrong(at place, col int, problem string) error {
	where := fmt.Sprintf("%s:%d: column %s (%d from 0)", s.file.name, at.line, fault.Quote(s.Names[col]), col)
	if s.file.npy {
		where = fmt.Sprintf("%s: row %d, column %d (from 0)", s.file.name, at.line-1, col)
	}
	return malformed("%s: %s %s", where, fault.Quote(at.text), problem)
}

// Check says which cell of surveyed columns cannot be read, the first one in the file. It also refuses names that columns cannot have.
func (s *Stream) Check(picks []Pick) error {
	if err := s.checkNames(picks); err != nil {
		return err
	}
	var worst error
	first := math.MaxInt
	for _, p := range picks {
		at, problem := s.Columns[p.Col].wrong(p, s.d.sep)
		if problem != "" && at.line < first {
			worst, first = s.wrong(at, p.Col, problem), at.line
		}
	}
	return worst
}

// Rename gives the columns other names, one each. The error wraps ErrFormat.
func (s *Stream) Rename(names []string) error {
	if len(names) != s.Cols {
		return malformed("%s: %d names for %d columns; want one for each", s.file.name, len(names), s.Cols)
	}
	cols := make([]int, s.Cols)
	for i := range cols {
		cols[i] = i
	}
	if err := checkNames(names, cols); err != nil {
		return malformed("%s: %w", s.file.name, err)
	}
	s.Names = names
	return nil
}

// checkNames checks the names of the columns.
func (s *Stream) checkNames(picks []Pick) error {
	if !s.d.header {
		return nil
	}
	cols := make([]int, len(picks))
	for i, p := range picks {
		cols[i] = p.Col
	}
	if err := checkNames(s.Names, cols); err != nil {
		return malformed("%s:%d: %w", s.file.name, s.line, err)
	}
	return nil
}

// wrong finds the first cell that a pick cannot read.
func (c *Column) wrong(p Pick, sep byte) (at place, problem string) {
	consider := func(kind class, why string) {
		if here := c.first[kind]; here.line > 0 && (at.line == 0 || here.line < at.line) {
			at, problem = here, why
		}
	}
	word := c.first[text].text
	if p.Axis.Dates() {
		consider(missing, "is missing; want a date, or leave the row out")
		for _, kind := range []class{whole, point, comma} {
			consider(kind, "is a number among dates; want a date")
		}
		consider(text, "is not a date; want one such as "+p.Axis.Format(0)+likely(word))
		return at, problem
	}
	if p.Axis != nil {
		consider(missing, "is missing; want a number, or leave the row out")
	}
	if c.first[text].line > 0 {
		consider(text, notNumber(word))
	}
	consider(date, "is a date among numbers; want a number")
	if c.Count[point] > 0 && c.Count[comma] > 0 {
		later := point
		if c.first[comma].line > c.first[point].line {
			later = comma
		}
		consider(later, "has another decimal sign than "+fault.Quote(c.first[point+comma-later].text)+" (a thousands separator?)")
	}
	return at, problem
}
