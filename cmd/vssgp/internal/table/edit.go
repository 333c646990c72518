package table

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Cell is a new value for a cell of a table.
type Cell struct {
	Row, Col int // from 0, without the header
	Value    float64
	SD       float64 // the standard deviation of Value, which limits the written digits; 0 writes all
}

// Edit writes the file to w with the given cells replaced and all other bytes unchanged. The cells have the decimal
// sign of their column and at least as many decimals. A compressed file is written uncompressed. A value that is
// not finite or above maxNumber is an error that wraps ErrFormat. The table must be complete, as returned by Read.
func (t *Table) Edit(w io.Writer, edits []Cell) error {
	type patch struct {
		lo, hi int
		with   string
	}
	var patches []patch
	for _, e := range edits {
		if !(math.Abs(e.Value) <= maxNumber) {
			return malformed("%s: %v for row %d, column %d (from 0); must be a finite number of at most %v", t.name, e.Value,
				e.Row, e.Col, maxNumber)
		}
		if e.Row >= t.Rows || e.Col >= t.Cols {
			return malformed("%s: there is no row %d, column %d (from 0); the table has %d rows of %d columns", t.name, e.Row, e.Col, t.Rows, t.Cols)
		}
		lo, hi, with, err := t.replace(e.Row, e.Col, e.Value, t.format(e))
		if err != nil {
			return err
		}
		patches = append(patches, patch{lo, hi, with})
	}
	slices.SortFunc(patches, func(a, b patch) int { return cmp.Compare(a.lo, b.lo) })
	b, content, at := bufio.NewWriterSize(w, 1<<16), t.content(), 0
	for _, p := range patches {
		b.WriteString(content[at:p.lo]) // Flush returns its error
		b.WriteString(p.with)
		at = p.hi
	}
	b.WriteString(content[at:])
	return b.Flush()
}

// format formats a value with the decimal sign and the decimals of its column.
func (t *Table) format(e Cell) string {
	c, decimals := t.column(e.Col), -1
	if e.SD > 0 && !math.IsInf(e.SD, 0) {
		decimals = max(c.decimals, 2-int(math.Floor(math.Log10(e.SD)))) // a hundredth of the standard deviation
	}
	if decimals > 17 || decimals >= 0 && math.Abs(e.Value) >= 1e21 { // numbers with an exponent
		e.Value, _ = strconv.ParseFloat(strconv.FormatFloat(e.Value, 'f', decimals, 64), 64)
		decimals = -1
	}
	text := strconv.FormatFloat(e.Value, 'f', decimals, 64)
	if short := string(appendNumber(nil, e.Value)); decimals < 0 || len(short) < len(text) && c.uneven {
		text = short
	}
	_, fraction, _ := strings.Cut(text, ".")
	switch {
	case t.decimalComma(e.Col):
		text = strings.Replace(text, ".", ",", 1)
	case len(fraction) == 3 && t.semicolons() && c.count[point] == 0:
		text += "0" // 9.875 next to 980 could be 9875
	}
	return text
}

// decimalComma reports whether a column has decimal commas. For a column without decimals, the other columns of numbers decide.
func (t *Table) decimalComma(col int) bool {
	if own := t.column(col); own.count[point]+own.count[comma] > 0 {
		return own.count[comma] > 0
	}
	points, commas := 0, 0
	for other := range t.Cols {
		c := t.column(other)
		points, commas = points+c.count[point], commas+c.count[comma]
	}
	return commas > points
}
