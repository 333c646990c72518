package table

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Cell is a value to put into a table.
type Cell struct {
	Row, Col int // from 0; the names are no row
	Value    float64
	SD       float64 // how well it is known: digits far below are not written; 0 writes all
}

// A patch replaces the bytes [lo, hi) of a file.
type patch struct {
	lo, hi int64
	bytes  []byte
}

// Edit writes the file to w with the given cells replaced; all other bytes stay. The cells keep the column's decimal sign, and have as many
// decimals as the column or more. A packed file is written unpacked. The columns were surveyed before. A value that is not finite, and a
// file that has changed since, are errors that wrap ErrFormat.
func (s *Stream) Edit(ctx context.Context, w io.Writer, cells []Cell) error {
	for _, c := range cells {
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			return malformed("%s: %v for row %d, column %d (from 0); want a finite number", s.file.name, c.Value, c.Row, c.Col)
		}
	}
	find := s.inText
	if s.file.npy {
		find = s.inArray
	}
	patches, err := find(ctx, cells)
	if err != nil {
		return err
	}
	in, f, err := s.file.text(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	b, at := bufio.NewWriterSize(w, 1<<16), int64(0)
	for _, p := range patches {
		if _, err = io.CopyN(b, in, p.lo-at); err == nil {
			_, err = in.Discard(int(p.hi - p.lo))
		}
		if err == io.EOF {
			return s.changed()
		} else if err != nil {
			return err
		}
		b.Write(p.bytes) // b keeps an error until its own Flush
		at = p.hi
	}
	if _, err = io.Copy(b, in); err != nil {
		return err
	}
	return b.Flush()
}

// inText finds the cells in a text.
func (s *Stream) inText(ctx context.Context, cells []Cell) (patches []patch, _ error) {
	cells = slices.Clone(cells)
	slices.SortFunc(cells, func(a, b Cell) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col)) })
	row := 0
	for line, err := range s.rows(ctx) {
		if err != nil {
			return nil, err
		}
		r := line.(*records)
		begin := r.bytes - int64(len(r.raw))
		for ; len(cells) > 0 && cells[0].Row == row; cells = cells[1:] {
			c := cells[0]
			if c.Col >= len(r.spans) {
				return nil, s.changed()
			}
			patches = append(patches, patch{begin + int64(r.spans[c.Col].lo), begin + int64(r.spans[c.Col].hi), []byte(s.number(c))})
		}
		row++
	}
	if len(cells) > 0 {
		return nil, s.changed()
	}
	return patches, nil
}

// number writes a value as its column has numbers.
func (s *Stream) number(c Cell) string {
	column, decimals := s.Columns[c.Col], -1
	if c.SD > 0 && !math.IsInf(c.SD, 0) {
		decimals = max(column.decimals, 2-int(math.Floor(math.Log10(c.SD)))) // a hundredth of the standard deviation
	}
	if decimals > 17 {
		decimals = -1
	}
	text := strconv.FormatFloat(c.Value, 'f', decimals, 64)
	if short := string(appendNumber(nil, c.Value)); decimals < 0 || len(short) < len(text) && column.uneven {
		text = short
	}
	if s.decimalComma(c.Col) {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}

// decimalComma reports whether a column has decimal commas or, without any decimals, another one has them.
func (s *Stream) decimalComma(col int) bool {
	if own := s.Columns[col]; own.Count[point]+own.Count[comma] > 0 {
		return own.Count[comma] > 0
	}
	points, commas := 0, 0
	for _, c := range s.Columns {
		if c != nil {
			points, commas = points+c.Count[point], commas+c.Count[comma]
		}
	}
	return commas > points
}

// inArray finds the cells in an array, which is of floats.
func (s *Stream) inArray(ctx context.Context, cells []Cell) (patches []patch, _ error) {
	a, err := s.array(ctx)
	if err != nil {
		return nil, err
	}
	defer a.f.Close()
	for _, c := range cells {
		i := c.Row*a.cols + c.Col
		if a.columns {
			i = c.Col*a.rows + c.Row
		}
		b, ok := a.encode(c.Value)
		if !ok {
			return nil, malformed("%s: an array of integers, which has no missing values", s.file.name)
		}
		at := a.start + int64(i*a.size)
		patches = append(patches, patch{at, at + int64(a.size), b})
	}
	slices.SortFunc(patches, func(p, q patch) int { return cmp.Compare(p.lo, q.lo) })
	return patches, nil
}
