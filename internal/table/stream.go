package table

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

// A Stream is a table in a file that is read part by part, as often as wanted, in memory that does not grow with it.
type Stream struct {
	Names      []string
	Rows, Cols int

	path string
}

// OpenStream reads the file at path through once and looks whether Open would take it: its errors are Open's, or wrap ctx.Err() once ctx
// has ended. The file must stay as it is while the Stream is in use.
func OpenStream(ctx context.Context, path string) (*Stream, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".csv" && ext != ".npy" {
		return nil, malformed("%s: the extension %q is no table's; want .csv or .npy", path, ext)
	}
	s := &Stream{path: path}
	for _, err := range s.Parts(ctx) {
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Parts are the table's rows in order, some whole ones at a time, [·,Cols] row-major, each good until the next. An error is the last that
// comes.
func (s *Stream) Parts(ctx context.Context) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		ended := false // by who looks at the parts, who is told nothing more
		err := s.each(ctx, func(part []float64) bool { ended = !yield(part, nil); return !ended })
		if err != nil && !ended {
			yield(nil, err)
		}
	}
}

// partNumbers is how many numbers a part has, if a row does not have more.
const partNumbers = 1 << 15

// each visits the parts for as long as visit says to go on.
func (s *Stream) each(ctx context.Context, visit func(part []float64) bool) error {
	f, _, err := atomicfile.OpenRegular(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	next := func(part []float64) bool { return ctx.Err() == nil && visit(part) }
	if strings.EqualFold(filepath.Ext(s.path), ".npy") {
		err = s.eachNPY(f, next)
		if err != nil {
			err = fmt.Errorf("%s: %w", s.path, err)
		}
	} else {
		err = s.eachCSV(f, next)
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%s: interrupted: %w", s.path, ctx.Err())
	}
	return err
}

// shape takes the table's shape once it is known, and looks later whether it is still the same.
func (s *Stream) shape(names []string, rows, cols int) error {
	if s.Rows == 0 {
		s.Names, s.Rows, s.Cols = names, rows, cols
	}
	if s.Rows != rows || s.Cols != cols {
		return malformed("%s: it has changed from %d rows of %d columns to %d of %d while it was read", s.path, s.Rows, s.Cols, rows, cols)
	}
	return nil
}

func (s *Stream) eachCSV(f *os.File, visit func([]float64) bool) error {
	c := newCSVReader(f, s.path)
	for more, rows := true, 1; more; rows = max(1, partNumbers/c.t.Cols) {
		var err error
		if more, err = c.read(rows); err != nil {
			return err
		}
		if s.Rows > 0 && (c.t.Cols != s.Cols || c.t.Rows > s.Rows) { // before anyone takes them for rows of s.Cols
			break
		}
		if len(c.t.Data) > 0 && !visit(c.t.Data) {
			return nil
		}
		c.t.Data = c.t.Data[:0]
	}
	return s.shape(c.t.Names, c.t.Rows, c.t.Cols)
}

func (s *Stream) eachNPY(f *os.File, visit func([]float64) bool) error {
	h, err := readNPYHeader(f)
	if err != nil {
		return err
	}
	decode, size, err := decoder(h.descr)
	if err != nil {
		return err
	}
	rows, cols, err := h.dims(size)
	if err != nil {
		return err
	}
	start, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch held := (info.Size() - start) / int64(size); {
	case held < int64(rows*cols):
		return malformed("the file ends after %d of %d values", held, rows*cols)
	case info.Size() > start+int64(rows*cols*size):
		return malformed("bytes follow the %d values; want none", rows*cols)
	}
	if s.Rows > 0 && (rows != s.Rows || cols != s.Cols) {
		return s.shape(nil, rows, cols)
	}
	p := &npyParts{f: f, start: start, size: size, rows: rows, cols: cols, columns: h.fortran && cols > 1, decode: decode}
	step := max(1, partNumbers/cols)
	for lo := 0; lo < rows; lo += step {
		part, err := p.read(lo, min(rows, lo+step))
		if err != nil {
			return err
		}
		if !visit(part) {
			return nil
		}
	}
	return s.shape(numbered(cols), rows, cols)
}

// npyParts reads rows of an array in a file.
type npyParts struct {
	f          io.ReaderAt
	start      int64 // of the first value
	size       int   // of a value in bytes
	rows, cols int
	columns    bool // column by column
	decode     func([]byte) float64
	bytes      []byte
	data       []float64
}

// read is rows [lo, hi).
func (p *npyParts) read(lo, hi int) ([]float64, error) {
	n := (hi - lo) * p.cols
	if cap(p.data) < n {
		p.data, p.bytes = make([]float64, n), make([]byte, n*p.size)
	}
	data := p.data[:n]
	each, at, step := 1, lo*p.cols, 1 // pieces of the file, the first one's place, and how far its values lie apart here
	if p.columns {
		each, at, step = p.cols, lo, p.cols
	}
	for c := range each {
		b := p.bytes[:n/each*p.size]
		if got, err := p.f.ReadAt(b, p.start+int64(at+c*p.rows)*int64(p.size)); err != nil {
			return nil, cut(err, fmt.Sprintf("after %d of %d values", at+c*p.rows+got/p.size, p.rows*p.cols))
		}
		for i := range n / each {
			data[c+i*step] = p.decode(b[i*p.size:])
		}
	}
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, malformed("row %d, column %d (from 0): %v; want finite numbers", lo+i/p.cols, i%p.cols, v)
		}
	}
	return data, nil
}
