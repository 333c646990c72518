package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
)

// errChanged says that a file is no longer as it was.
var errChanged = errors.New("changed")

// Parts returns the picked columns of the rows in order, some whole rows at a time, [·,len(picks)] row-major. They were surveyed and
// checked before. Each part is good until the next; an error comes last. The file must stay as it is.
func (s *Stream) Parts(ctx context.Context, picks []Pick) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		var part []float64
		rows, ended := 0, false
		flush := func() error {
			if len(part) > 0 && !yield(part, nil) {
				ended = true
				return errEnough
			}
			part = part[:0]
			return nil
		}
		add := func(row func(p Pick) (float64, bool)) error {
			if rows++; rows > s.Rows {
				return errChanged
			}
			for _, p := range picks {
				v, ok := row(p)
				if !ok {
					return errChanged
				}
				part = append(part, v)
			}
			if len(part)+len(picks) > partNumbers {
				return flush()
			}
			return nil
		}
		err := s.rows(ctx, add)
		if err == nil && rows != s.Rows {
			err = errChanged
		}
		if err == nil {
			err = flush()
		}
		if errors.Is(err, errChanged) {
			err = malformed("%s: it has changed while it was read: it had %d rows of %d columns", s.file.name, s.Rows, s.Cols)
		}
		if err != nil && !ended {
			yield(nil, err)
		}
	}
}

// errEnough ends a reading without an error.
var errEnough = errors.New("enough")

// rows visits the rows.
func (s *Stream) rows(ctx context.Context, visit func(row func(p Pick) (float64, bool)) error) error {
	if s.file.npy {
		return s.withArray(ctx, func(a *npyArray) error {
			if a.cols != s.Cols {
				return errChanged
			}
			return a.each(ctx, func(_ int, data []float64) error {
				cell := func(p Pick) (float64, bool) { return data[p.Col], !math.IsInf(data[p.Col], 0) }
				for ; len(data) > 0; data = data[a.cols:] {
					if err := visit(cell); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return s.each(ctx, func(r *records) error {
		if r.cols != s.Cols {
			return errChanged
		}
		return visit(func(p Pick) (float64, bool) {
			cell := r.fields[p.Col]
			if p.Words != nil {
				if _, known := p.Words[cell]; !known {
					p.Words[strings.Clone(cell)] = float64(len(p.Words))
				}
				return p.Words[cell], true
			}
			if p.Axis.Dates() {
				v, problem := p.Axis.row(cell)
				return v, problem == ""
			}
			kind, v := classify(cell, s.d.sep)
			if kind == missing {
				return math.NaN(), p.Axis == nil
			}
			return v, kind == whole || kind == point || kind == comma
		})
	})
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
