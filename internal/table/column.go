package table

import (
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Kind is what a column holds.
type Kind int

// Kinds of columns. A column is of numbers or dates if at least half of its cells that are not missing are.
const (
	Empty Kind = iota // missing values alone
	Numbers
	Dates
	Text
)

// A column is what the cells of a column are.
type column struct {
	count    [classes]int // of cells of each class
	decimals int          // the most of a number
	uneven   bool         // the numbers of decimals differ
	free     bool         // some numbers have an exponent, or they are binary
}

// column looks at the cells of a column.
func (t *Table) column(col int) *column {
	if c := t.columns[col]; c != nil {
		return c
	}
	c := &column{free: t.exact}
	for row := range t.Rows {
		kind, _ := t.value(row, col)
		c.count[kind]++
		if number := kind == whole || kind == point || kind == comma; number && !t.exact {
			c.decimalsOf(t.text(row, col), kind)
		}
	}
	if t.columns == nil {
		t.columns = map[int]*column{}
	}
	t.columns[col] = c
	return c
}

// decimalsOf takes in the decimals of a number.
func (c *column) decimalsOf(s string, kind class) {
	digits := 0
	if kind != whole {
		digits = len(s) - 1 - strings.IndexAny(s, ".,")
	}
	c.uneven = c.uneven || c.numbers() > 1 && digits != c.decimals
	c.decimals = max(c.decimals, digits)
	c.free = c.free || strings.ContainsAny(s, "eE")
}

func (c *column) numbers() int { return c.count[whole] + c.count[point] + c.count[comma] }

// Kind returns what a column holds.
func (t *Table) Kind(col int) Kind {
	c := t.column(col)
	numbers, dates, words := c.numbers(), c.count[date], c.count[text]
	switch {
	case numbers+dates+words == 0:
		return Empty
	case numbers >= dates && numbers >= words:
		return Numbers
	case dates >= words:
		return Dates
	}
	return Text
}

// OfKind returns the columns of some kinds, in their order.
func (t *Table) OfKind(kinds ...Kind) (cols []int) {
	for col := range t.Cols {
		if slices.Contains(kinds, t.Kind(col)) {
			cols = append(cols, col)
		}
	}
	return cols
}

// Missing returns how many cells of a column are missing.
func (t *Table) Missing(col int) int { return t.column(col).count[missing] }

// Integers reports whether no number of a column has a decimal sign.
func (t *Table) Integers(col int) bool { c := t.column(col); return c.count[point]+c.count[comma] == 0 }

// first returns the first row of a column whose cell is, or is not, of a class; the number of rows if there is none.
func (t *Table) first(col int, kind class, is bool) int {
	for row := range t.Rows {
		if found, _ := t.value(row, col); (found == kind) == is {
			return row
		}
	}
	return t.Rows
}

// DateLike returns the first text of a column if it seems to be a date or a time, although it is not read as one; else "".
func (t *Table) DateLike(col int) string {
	if row := t.first(col, text, true); row < t.Rows && likely(t.text(row, col)) == aDate {
		return t.text(row, col)
	}
	return ""
}

// wrong makes an error of a cell.
func (t *Table) wrong(row, col int, problem string) error {
	return malformed("%s: %s %s", t.place(row, col, fault.Quote(t.Names[col])), fault.Quote(t.text(row, col)), problem)
}

// checkName refuses the names of columns.
func (t *Table) checkName(cols ...int) error {
	if t.header == 0 {
		return nil
	}
	if err := checkNames(t.Names, cols); err != nil {
		return malformed("%s:%d: %w", t.name, t.header, err)
	}
	return nil
}

// Words returns the texts of a column.
func (t *Table) Words(col int) ([]string, error) {
	all := make([]string, t.Rows)
	for row := range all {
		all[row] = t.text(row, col)
	}
	return all, t.checkName(col)
}

// Numbers returns the numbers of a column, NaN for missing ones. The error is of the first other cell.
func (t *Table) Numbers(col int) ([]float64, error) {
	if err := t.checkName(col); err != nil {
		return nil, err
	}
	return t.numbers(col, false)
}

// numbers is Numbers; if complete, no cell may be missing.
func (t *Table) numbers(col int, complete bool) ([]float64, error) {
	values, decimal, sign := make([]float64, t.Rows), 0, missing // the first row with a decimal sign
	for row := range values {
		kind, v := t.value(row, col)
		problem := ""
		switch {
		case kind == missing && complete:
			problem = missingNumber
		case kind == date:
			problem = "is a date among numbers; want a number"
		case kind == text:
			problem = notNumber(t.text(row, col))
		case (kind == point || kind == comma) && sign == missing:
			decimal, sign = row, kind
		case (kind == point || kind == comma) && sign != kind:
			problem = "has another decimal sign than " + fault.Quote(t.text(decimal, col)) + " (a thousands separator?)"
		}
		if problem != "" {
			return nil, t.wrong(row, col, problem)
		}
		values[row] = v
	}
	return values, nil
}

// Input returns the axis of a column, as Axis does, and the column by it. No cell may be missing.
func (t *Table) Input(col int, like *Axis) (axis *Axis, x []float64, err error) {
	if axis, err = t.Axis(col, like); err == nil {
		x, err = t.Inputs([]int{col}, []*Axis{axis})
	}
	return axis, x, err
}

// Inputs returns columns by their axes, [Rows,len(cols)] row-major; a nil axis is one of numbers. No cell may be missing.
func (t *Table) Inputs(cols []int, axes []*Axis) ([]float64, error) {
	if err := t.checkName(cols...); err != nil {
		return nil, err
	}
	all := make([]float64, t.Rows*len(cols))
	for i, col := range cols {
		x, err := t.input(col, axes[i])
		if err != nil {
			return nil, err
		}
		for row, v := range x {
			all[row*len(cols)+i] = v
		}
	}
	return all, nil
}

// input returns a column by its axis, and notes rows with another offset from UTC in it.
func (t *Table) input(col int, axis *Axis) ([]float64, error) {
	if !axis.Dates() {
		return t.numbers(col, true)
	}
	x := make([]float64, t.Rows)
	for row := range x {
		v, offset, problem := axis.parse(t.text(row, col))
		if problem != "" {
			return nil, t.wrong(row, col, problem)
		}
		x[row] = v
		if offset != axis.Offset {
			if axis.offsets == nil {
				axis.offsets = map[float64]int{}
			}
			axis.offsets[v] = offset
		}
	}
	return x, nil
}

// Axis returns the axis of a column of numbers or dates. If like is not nil, x counts as it does, and the cells are written as those of
// the column. Errors wrap ErrFormat.
func (t *Table) Axis(col int, like *Axis) (*Axis, error) {
	c := t.column(col)
	if t.Kind(col) != Dates {
		if like.Dates() {
			return nil, t.wrong(t.first(col, date, false), col, "is not a date; want dates, as the model's input has, such as "+like.Format(0))
		}
		return &Axis{Decimals: c.decimals, Fixed: !c.uneven, Free: c.free}, nil
	}
	l, times, err := t.readDates(col, like)
	if err != nil {
		return nil, err
	}
	own := axisOf(l, times)
	switch {
	case like == nil:
		return own, nil
	case !like.Dates():
		return nil, t.wrong(t.first(col, date, true), col, "is a date; want numbers, as the model's input has")
	case like.Layout.zone == "" && l.zone != "":
		return nil, t.wrong(t.first(col, date, true), col, "has an offset from UTC, but the model's input has none; want a date such as "+like.Format(0))
	}
	both := *like
	both.Layout, both.offsets = own.Layout, nil
	if l.zone != "" {
		both.Offset = own.Offset
	}
	return &both, nil
}
