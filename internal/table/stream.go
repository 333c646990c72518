package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

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
		a, err := s.array(ctx)
		if err != nil {
			return nil, err
		}
		s.Cols, s.Names = a.cols, numbered(a.cols)
		return s, a.f.Close()
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

// array opens the file as an array.
func (s *Stream) array(ctx context.Context) (*npyArray, error) {
	f, size, err := s.file.open()
	if err != nil {
		return nil, err
	}
	a, err := openNPY(f, size)
	if err = s.named(ctx, err); err != nil {
		f.Close()
	}
	return a, err
}

// named names the file in an error of its array, or says that ctx has ended.
func (s *Stream) named(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", ctx.Err())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.file.name, err)
	}
	return err
}

// changed is the error of a file that is no longer what was surveyed.
func (s *Stream) changed() error {
	return malformed("%s: it has changed while it was read", s.file.name)
}

// A row is a record of a text or a row of an array. It is good until the next one.
type row interface {
	number() int // the line of a text, the row of an array, from 1
	text(col int) string
	class(col int) (class, float64)
}

func (r *records) number() int                    { return r.line }
func (r *records) text(col int) string            { return r.fields[col] }
func (r *records) class(col int) (class, float64) { return classify(r.fields[col], r.d.sep) }

// values is a row of an array.
type values struct {
	n  int
	of []float64
}

func (v *values) number() int { return v.n }

func (v *values) text(col int) string { return strconv.FormatFloat(v.of[col], 'g', -1, 64) }

func (v *values) class(col int) (class, float64) {
	switch x := v.of[col]; {
	case math.IsNaN(x):
		return missing, x
	case math.IsInf(x, 0):
		return text, x
	default:
		return whole, x
	}
}

// rows visits the rows: the records of a text, except its names. An error comes last.
func (s *Stream) rows(ctx context.Context) iter.Seq2[row, error] {
	if s.file.npy {
		return s.arrayRows(ctx)
	}
	return func(yield func(row, error) bool) {
		in, f, err := s.file.text(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		r := &records{name: s.file.name, in: in, d: s.d}
		for err == nil {
			if err = r.read(); err == io.EOF {
				return
			}
			if err == nil {
				err = r.even(s.Names)
			}
			if err == nil && r.cols != s.Cols {
				err = s.changed()
			}
			names := s.d.header && r.line == r.first
			if (err != nil || !names) && !yield(r, err) {
				return
			}
		}
	}
}

// arrayRows is rows for an array.
func (s *Stream) arrayRows(ctx context.Context) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		a, err := s.array(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer a.f.Close()
		if a.cols != s.Cols {
			yield(nil, s.changed())
			return
		}
		r := &values{}
		for lo, step := 0, max(1, partNumbers/a.cols); lo < a.rows; lo += step {
			data, err := a.read(lo, min(a.rows, lo+step))
			if err = s.named(ctx, err); err != nil {
				yield(nil, err)
				return
			}
			for ; len(data) > 0; data = data[a.cols:] {
				if r.n, r.of = r.n+1, data[:a.cols]; !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Survey counts the rows, and finds what the columns hold; nil stands for all columns. Its errors are of records, not of cells.
func (s *Stream) Survey(ctx context.Context, cols []int) error {
	if cols == nil {
		cols = upTo(s.Cols)
	}
	s.Rows, s.Columns = 0, make([]*Column, s.Cols)
	for _, c := range cols {
		s.Columns[c] = &Column{powers: s.file.npy}
	}
	for r, err := range s.rows(ctx) {
		if err != nil {
			return err
		}
		for _, c := range cols {
			s.Columns[c].add(r, c)
		}
		s.Rows++
	}
	if s.Rows == 0 {
		return malformed("%s:%d: names and no numbers; want at least one row after them", s.file.name, s.line)
	}
	return nil
}

// Parts returns the picked columns of the rows in order, some whole rows at a time, [·,len(picks)] row-major. They were surveyed and
// checked before. Each part is good until the next; an error comes last. The file must stay as it is.
func (s *Stream) Parts(ctx context.Context, picks []Pick) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		var part []float64
		n := 0
		for r, err := range s.rows(ctx) {
			if n++; err == nil && n > s.Rows {
				err = s.changed()
			}
			for i := 0; i < len(picks) && err == nil; i++ {
				v, ok := picks[i].value(r)
				if part = append(part, v); !ok {
					err = s.changed()
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(part)+len(picks) > partNumbers {
				if !yield(part, nil) {
					return
				}
				part = part[:0]
			}
		}
		if n != s.Rows {
			yield(nil, s.changed())
		} else if len(part) > 0 {
			yield(part, nil)
		}
	}
}

// value reads the picked cell of a row; false if it does not suit the pick.
func (p *Pick) value(r row) (float64, bool) {
	switch {
	case p.Words != nil:
		word := r.text(p.Col)
		if _, known := p.Words[word]; !known {
			p.Words[strings.Clone(word)] = float64(len(p.Words))
		}
		return p.Words[word], true
	case p.Axis.Dates():
		v, problem := p.Axis.row(r.text(p.Col))
		return v, problem == ""
	}
	switch kind, v := r.class(p.Col); kind {
	case missing:
		return v, p.Axis == nil
	case whole, point, comma:
		return v, true
	}
	return 0, false
}

// Read returns the picked columns as a table.
func (s *Stream) Read(ctx context.Context, picks []Pick) (*Table, error) {
	if err := s.Check(picks); err != nil {
		return nil, err
	}
	t := &Table{Rows: s.Rows, Cols: len(picks)}
	for _, p := range picks {
		t.Names = append(t.Names, s.Names[p.Col])
	}
	for part, err := range s.Parts(ctx, picks) {
		if err != nil {
			return nil, err
		}
		t.Data = append(t.Data, part...)
	}
	return t, nil
}

// Axis returns the axis of a column that was surveyed, of numbers or of dates. If like is not nil, x counts as it does, and the cells are
// written as those of the column. Errors wrap ErrFormat.
func (s *Stream) Axis(col int, like *Axis) (*Axis, error) {
	c := s.Columns[col]
	own, at, problem := c.axis(like)
	switch {
	case problem != "":
	case like == nil || !like.Dates() && !own.Dates():
		return own, nil
	case !like.Dates():
		at, problem = c.first[date], "is a date; want numbers, as the model's input has"
	case !own.Dates():
		at, _ = c.earliest(map[class]string{missing: "", whole: "", point: "", comma: "", text: ""})
		problem = "is not a date; want dates, as the model's input has, such as " + like.Format(0)
	case like.Notation.zone == 0 && own.Notation.zone != 0:
		at, problem = c.first[date], "has an offset from Greenwich, but the model's input has none; want a date such as "+like.Format(0)
	default:
		both := *like
		both.Notation, both.offsets = own.Notation, nil
		if own.Notation.zone != 0 {
			both.Offset = own.Offset
		}
		return &both, nil
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
	cols := make([]int, len(picks))
	for i, p := range picks {
		cols[i] = p.Col
	}
	if s.d.header {
		if err := checkNames(s.Names, cols); err != nil {
			return malformed("%s:%d: %w", s.file.name, s.line, err)
		}
	}
	var worst error
	first := math.MaxInt
	for _, p := range picks {
		at, problem := s.Columns[p.Col].wrong(p)
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
	if err := checkNames(names, upTo(s.Cols)); err != nil {
		return malformed("%s: %w", s.file.name, err)
	}
	s.Names = names
	return nil
}
