package table

import (
	"bytes"
	"context"
	"errors"
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
		err := s.withArray(ctx, func(a *npyArray) error {
			s.Cols, s.Names = a.cols, numbered(a.cols)
			return nil
		})
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

// A row is a record of a text or a row of an array. It is good until the next one.
type row interface {
	text(col int) string
	class(col int) (class, float64)
}

func (r *records) text(col int) string            { return r.fields[col] }
func (r *records) class(col int) (class, float64) { return classify(r.fields[col], r.d.sep) }

// values is a row of an array.
type values struct{ of []float64 }

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

// rows visits the rows, with the line of a text or the number of an array's row, from 1.
func (s *Stream) rows(ctx context.Context, visit func(r row, line int) error) error {
	if !s.file.npy {
		return s.each(ctx, func(r *records) error {
			if r.cols != s.Cols {
				return errChanged
			}
			return visit(r, r.line)
		})
	}
	return s.withArray(ctx, func(a *npyArray) error {
		n, r := 0, &values{}
		return a.each(ctx, func(data []float64) error {
			if a.cols != s.Cols {
				return errChanged
			}
			for ; len(data) > 0; data = data[a.cols:] {
				n++
				r.of = data[:a.cols]
				if err := visit(r, n); err != nil {
					return err
				}
			}
			return nil
		})
	})
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
	err := s.rows(ctx, func(r row, line int) error {
		for _, c := range cols {
			s.Columns[c].add(r, c, line)
		}
		s.Rows++
		return nil
	})
	if err == nil && s.Rows == 0 {
		err = malformed("%s:%d: names and no numbers; want at least one row after them", s.file.name, s.line)
	}
	return err
}

// errChanged says that a file is no longer as it was; errEnough ends a reading without an error.
var errChanged, errEnough = errors.New("changed"), errors.New("enough")

// Parts returns the picked columns of the rows in order, some whole rows at a time, [·,len(picks)] row-major. They were surveyed and
// checked before. Each part is good until the next; an error comes last. The file must stay as it is.
func (s *Stream) Parts(ctx context.Context, picks []Pick) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		var part []float64
		n := 0
		flush := func() error {
			if len(part) > 0 && !yield(part, nil) {
				return errEnough
			}
			part = part[:0]
			return nil
		}
		err := s.rows(ctx, func(r row, _ int) error {
			if n++; n > s.Rows {
				return errChanged
			}
			for _, p := range picks {
				v, ok := p.value(r)
				if !ok {
					return errChanged
				}
				part = append(part, v)
			}
			if len(part)+len(picks) > partNumbers {
				return flush()
			}
			return nil
		})
		if err == nil && n != s.Rows {
			err = errChanged
		}
		if err == nil {
			err = flush()
		}
		if errors.Is(err, errChanged) {
			err = malformed("%s: it has changed while it was read: it had %d rows of %d columns", s.file.name, s.Rows, s.Cols)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
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
