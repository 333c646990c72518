package table

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
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

// Edit writes the file to w byte for byte as it is, but for the given cells. They keep the column's decimal sign, and have as many
// decimals as the column or more. A packed file is written unpacked. The columns were surveyed before. Cells outside the table, and
// values that are not finite, are errors that wrap ErrFormat.
func (s *Stream) Edit(ctx context.Context, w io.Writer, cells []Cell) error {
	cells = slices.Clone(cells)
	slices.SortFunc(cells, func(a, b Cell) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col)) })
	for i, c := range cells {
		switch {
		case c.Row < 0 || c.Row >= s.Rows || c.Col < 0 || c.Col >= s.Cols || s.Columns[c.Col] == nil:
			return malformed("%s: no cell in row %d, column %d (from 0)", s.file.name, c.Row, c.Col)
		case i > 0 && cells[i-1].Row == c.Row && cells[i-1].Col == c.Col:
			return malformed("%s: row %d, column %d (from 0) is given twice", s.file.name, c.Row, c.Col)
		case math.IsNaN(c.Value) || math.IsInf(c.Value, 0):
			return malformed("%s: %v for row %d, column %d (from 0); want a finite number", s.file.name, c.Value, c.Row, c.Col)
		}
	}
	b := bufio.NewWriterSize(w, 1<<16)
	var err error
	if s.file.npy {
		err = s.editArray(ctx, b, cells)
	} else {
		err = s.editText(ctx, b, cells)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

func (s *Stream) editText(ctx context.Context, b *bufio.Writer, cells []Cell) error {
	pass := func(line []byte) error {
		_, err := b.Write(line)
		return err
	}
	row := 0
	err := s.each(ctx, pass, func(r *records) error {
		at := 0
		for ; len(cells) > 0 && cells[0].Row == row; cells = cells[1:] {
			c := cells[0]
			if c.Col >= len(r.spans) {
				return errChanged
			}
			here := r.spans[c.Col]
			b.Write(r.raw[at:here.lo])
			b.WriteString(s.number(c))
			at = here.hi
		}
		row++
		_, err := b.Write(r.raw[at:])
		return err
	})
	if err == errChanged || err == nil && len(cells) > 0 {
		err = malformed("%s: it has changed while it was read", s.file.name)
	}
	return err
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

// editArray replaces numbers of an array, which is of floats.
func (s *Stream) editArray(ctx context.Context, b *bufio.Writer, cells []Cell) error {
	return s.withArray(ctx, func(a *npyArray) error {
		var order binary.ByteOrder = binary.LittleEndian
		if a.descr[0] == '>' {
			order = binary.BigEndian
		}
		type patch struct {
			at    int64
			bytes []byte
		}
		var patches []patch
		for _, c := range cells {
			i := c.Row*a.cols + c.Col
			if a.columns {
				i = c.Col*a.rows + c.Row
			}
			p := patch{at: a.start + int64(i*a.size)}
			switch a.descr[1:] {
			case "f8":
				p.bytes = make([]byte, 8)
				order.PutUint64(p.bytes, math.Float64bits(c.Value))
			case "f4":
				p.bytes = make([]byte, 4)
				order.PutUint32(p.bytes, math.Float32bits(float32(c.Value)))
			default:
				return malformed("an array of integers, which has no missing values")
			}
			patches = append(patches, p)
		}
		slices.SortFunc(patches, func(p, q patch) int { return cmp.Compare(p.at, q.at) })
		at := int64(0)
		for _, p := range patches {
			if _, err := io.Copy(b, io.NewSectionReader(a.f, at, p.at-at)); err != nil {
				return err
			}
			b.Write(p.bytes)
			at = p.at + int64(len(p.bytes))
		}
		_, err := io.Copy(b, io.NewSectionReader(a.f, at, a.start+int64(a.rows*a.cols*a.size)-at))
		return err
	})
}
