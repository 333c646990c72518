package table

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

// Open reads the file at path, by its extension: .csv or .npy, in any case. Errors name the path and wrap ErrFormat (another extension
// too), the system's error, or atomicfile.ErrNotRegular.
func Open(path string) (*Table, error) { return OpenContext(context.Background(), path) }

// OpenContext is Open; once ctx has ended it stops reading, with an error that wraps ctx's.
func OpenContext(ctx context.Context, path string) (*Table, error) { return gather(parts(ctx, path)) }

// A Stream is a table in a file. It is read part by part, as often as needed, in memory that does not grow with the file.
type Stream struct {
	Names      []string
	Rows, Cols int

	path string
}

// OpenStream reads the file at path once and checks that Open would accept it. Its errors are Open's, or wrap ctx.Err() once ctx has
// ended. The file must stay as it is while the Stream is in use.
func OpenStream(ctx context.Context, path string) (*Stream, error) {
	s := &Stream{path: path}
	for t, err := range parts(ctx, path) {
		if err != nil {
			return nil, err
		}
		s.Names, s.Rows, s.Cols = t.Names, t.Rows, t.Cols
	}
	return s, nil
}

// Parts returns the table's rows in order, some whole rows at a time, [·,Cols] row-major. Each part is good until the next; an error
// comes last.
func (s *Stream) Parts(ctx context.Context) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		rows, cols := 0, 0
		for t, err := range parts(ctx, s.path) {
			if err != nil {
				yield(nil, err)
				return
			}
			rows, cols = t.Rows, t.Cols
			if cols != s.Cols || rows > s.Rows { // callers would take them for rows of s.Cols
				break
			}
			if !yield(t.Data, nil) {
				return
			}
		}
		if rows != s.Rows || cols != s.Cols {
			yield(nil, malformed("%s: it has changed from %d rows of %d columns to %d of %d while it was read", s.path, s.Rows, s.Cols, rows, cols))
		}
	}
}

// parts reads the file at path as csvParts and npyParts do.
func parts(ctx context.Context, path string) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		ext := strings.ToLower(filepath.Ext(path))
		if ext != ".csv" && ext != ".npy" {
			yield(nil, malformed("%s: the extension %q is not a table's; want .csv or .npy", path, ext))
			return
		}
		f, size, err := atomicfile.OpenRegular(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		read := csvParts(f, path)
		if ext == ".npy" {
			read = npyParts(f, size, path)
		}
		for t, err := range read {
			if ctx.Err() != nil {
				t, err = nil, fmt.Errorf("%s: interrupted: %w", path, ctx.Err())
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
