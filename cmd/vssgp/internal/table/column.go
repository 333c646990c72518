package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Kind is the type of the cells in a column.
type Kind int

// Kinds of columns. A column has numbers or dates if at least half of its cells that are not missing are numbers or
// dates. Numbers in a form that is not read, such as $5, count as numbers, so that a default choice of columns
// refuses them instead of leaving them out.
const (
	Empty Kind = iota // all values are missing
	Numbers
	Dates
	Text
)

// A column summarizes the cells of a column.
type column struct {
	count    [classes]int // number of cells of each class
	decimals int          // maximum number of decimals
	uneven   bool         // the numbers of decimals differ
	free     bool         // some numbers have an exponent, or the file is binary
	either   [classes]int // number of cells such as 1,974, whose sign may separate decimals or thousands
	commas   bool         // some commas can only be decimal signs, as in 12,5 and 1.974,41
	longest  int          // maximum number of digits of whole numbers, without leading zeros
	compact  *compactDates
}

// column returns the summary of a column and caches it.
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
		} else if kind == decorated && strings.Contains(t.text(row, col), ".") {
			sign, _, ok := grouped(t.text(row, col), ',', 3)
			c.commas = c.commas || ok && sign == comma
		}
	}
	if t.columns == nil {
		t.columns = map[int]*column{}
	}
	c.compact = t.compactDates(col, c)
	if c.count[date] > 0 && !t.supportsMonths(col) {
		c.count[text], c.count[date] = c.count[text]+c.count[date], 0
	}
	t.columns[col] = c
	return c
}

// decimalsOf updates the summary with the decimals of a number.
func (c *column) decimalsOf(s string, kind class) {
	digits := 0
	if kind != whole {
		digits = len(s) - 1 - strings.LastIndexAny(s, ".,")
		if eitherSign(s) {
			c.either[kind]++
		} else if kind == comma {
			c.commas = true
		}
	} else {
		c.longest = max(c.longest, len(strings.TrimLeft(s, "+-0")))
	}
	c.uneven = c.uneven || c.numbers() > 1 && digits != c.decimals
	c.decimals = max(c.decimals, digits)
	c.free = c.free || strings.ContainsAny(s, "eE")
}

func (c *column) numbers() int { return c.count[whole] + c.count[point] + c.count[comma] }

// Kind returns the kind of a column.
func (t *Table) Kind(col int) Kind {
	c := t.column(col)
	numbers, dates, words := c.numbers()+c.count[decorated], c.count[date], c.count[text]
	switch {
	case numbers+dates+words == 0:
		return Empty
	case c.compact != nil && c.compact.chosen:
		return Dates
	case numbers >= dates && numbers >= words:
		return Numbers
	case dates >= words:
		return Dates
	}
	return Text
}

// OfKind returns the columns of the given kinds, in the order of the table.
func (t *Table) OfKind(kinds ...Kind) (cols []int) {
	for col := range t.Cols {
		if slices.Contains(kinds, t.Kind(col)) {
			cols = append(cols, col)
		}
	}
	return cols
}

// Missing returns the number of missing cells in a column.
func (t *Table) Missing(col int) int { return t.column(col).count[missing] }

// Integers reports whether all numbers of a column are written without a decimal sign.
func (t *Table) Integers(col int) bool { c := t.column(col); return c.count[point]+c.count[comma] == 0 }

// first returns the first row whose cell has a class, or another class if is is false; the number of rows if there is none.
func (t *Table) first(col int, kind class, is bool) int {
	for row := range t.Rows {
		if found, _ := t.value(row, col); (found == kind) == is {
			return row
		}
	}
	return t.Rows
}

// DateLike returns the first text of a column if it resembles a date or a time in an unsupported layout, or if it has
// digits and the column has the name of a date. Otherwise it returns "".
func (t *Table) DateLike(col int) string {
	row := t.first(col, text, true)
	if row == t.Rows && t.Kind(col) == Text {
		row = t.first(col, date, true) // such as Jan-22
	}
	if row < t.Rows {
		s := t.text(row, col)
		if likely(s) == aDate || namedDate(t.Names[col]) && strings.ContainsFunc(s, unicode.IsDigit) {
			return s
		}
	}
	return ""
}

// NotRead returns an error about the first cell that is not a number of a column of text, if most of its cells are
// probably numbers in a form that is not read, such as 5 kg or 5-. Otherwise it returns nil.
func (t *Table) NotRead(col int) error {
	numbers, words := 0, 0
	for row := range t.Rows {
		switch kind, _ := t.value(row, col); {
		case kind == missing:
		case kind != date && startsAsNumber(t.text(row, col)):
			numbers++
		default:
			words++
		}
	}
	if t.Kind(col) != Text || numbers <= words {
		return nil
	}
	_, err := t.Numbers(col)
	return err
}

// wrong returns an error about a cell.
func (t *Table) wrong(row, col int, problem string) error {
	return malformed("%s: %s %s", t.position(row, col, fault.Quote(t.Names[col])), fault.Quote(t.text(row, col)), problem)
}

// checkName returns an error if the names of the columns in the file are invalid.
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

// Numbers returns the numbers of a column, with NaN for missing cells. The error describes the first invalid cell.
func (t *Table) Numbers(col int) ([]float64, error) {
	if err := t.checkName(col); err != nil {
		return nil, err
	}
	return t.numbers(col, false)
}

// numbers returns the numbers of a column. If complete is set, the column is an input: a missing cell is an error.
func (t *Table) numbers(col int, complete bool) ([]float64, error) {
	values, decimal, sign := make([]float64, t.Rows), 0, missing // decimal is the first row with a decimal sign
	for row := range values {
		kind, v := t.value(row, col)
		problem := ""
		switch {
		case kind == missing && complete:
			problem = missingNumber
		case kind == date:
			problem = "is a date among numbers; must be a number"
		case complete && t.Kind(col) == Text && isWord(t.text(row, col)):
			problem = "is text; a column of text cannot be an input, which must have numbers or dates"
		case kind == text || kind == decorated:
			problem = notNumber(t.text(row, col))
		case math.Abs(v) > maxNumber:
			problem = tooLarge
		case (kind == point || kind == comma) && sign == missing:
			decimal, sign = row, kind
		case (kind == point || kind == comma) && sign != kind:
			other := t.text(decimal, col)
			problem = "has a different decimal sign than " + fault.Quote(other) + " (a thousands separator?)" +
				howToDecide(other, t.text(row, col))
		}
		if problem != "" {
			if mixed := t.mixedSigns(row, col); mixed != "" {
				problem = mixed
			}
			return nil, t.wrong(row, col, problem)
		}
		values[row] = v
	}
	if why := t.ambiguousSign(col, sign); why != "" {
		s := t.text(decimal, col)
		return nil, t.wrong(decimal, col, fmt.Sprintf("is %s or %s, and %s%s",
			strings.Replace(s, ",", ".", 1), strings.NewReplacer(",", "", ".", "").Replace(s), why, howToDecide(s)))
	}
	return values, nil
}

// mixedSigns returns the end of an error about a number that can have only a decimal comma in a column with a number
// that can have only a decimal point, or vice versa. It returns "" for other cells and columns.
func (t *Table) mixedSigns(row, col int) string {
	only := func(row int) byte {
		_, _, atPoint := grouped(t.text(row, col), '.', 3)
		_, _, atComma := grouped(t.text(row, col), ',', 3)
		switch {
		case atPoint && !atComma:
			return '.'
		case atComma && !atPoint:
			return ','
		}
		return 0
	}
	names := map[byte]string{'.': "point", ',': "comma"}
	sign := only(row)
	for other := range t.Rows {
		if o := only(other); sign != 0 && o != 0 && o != sign {
			return fmt.Sprintf("has a decimal %s, but %s in the same column has a decimal %s; write all of them with the "+
				"same sign", names[sign], fault.Quote(t.text(other, col)), names[o])
		}
	}
	return ""
}

// ambiguousSign returns why the commas or points of a column may be decimal signs or thousands separators, "" if it
// is clear. They may be both if each is followed by three digits as in 1,974, and other numbers of the table do not
// show which: commas are then ambiguous unless another comma can only be a decimal sign, and points are ambiguous
// if another comma can only be a decimal sign. Numbers without a sign show nothing, because thousands separators
// may be omitted and so may decimals of zero. But points in a table with semicolons, which often has decimal commas,
// are ambiguous if all numbers without a sign are below 1000, as in 980 and 1.120.
func (t *Table) ambiguousSign(col int, sign class) string {
	own := t.column(col)
	if t.Decimal != 0 || own.count[sign] == 0 || sign == point && own.either[point] < own.count[point] {
		return ""
	}
	commas := own.commas || t.commas != nil && *t.commas
	for other := 0; other < t.Cols && !commas; other++ {
		commas = t.column(other).commas
	}
	if t.commas != nil {
		*t.commas = commas
	}
	switch {
	case sign == comma && !commas:
		return "no other number of the table shows which"
	case sign == point && commas:
		return "other numbers of the table have decimal commas"
	case sign == point && t.semicolons() && own.longest >= 1 && own.longest <= 3 && !own.free:
		for other := range t.Cols {
			if c := t.column(other); c.either[point] < c.count[point] {
				return "" // the point is the decimal sign of another number
			}
		}
		return "the numbers of the column without a point are below 1000"
	}
	return ""
}

// semicolons reports whether semicolons separate the fields.
func (t *Table) semicolons() bool {
	c, ok := t.cells.(*textCells)
	return ok && c.delimiter == ';'
}

// Input returns the axis of a column, as Axis does, and x of its cells. A missing cell is an error.
func (t *Table) Input(col int, like *Axis) (axis *Axis, x []float64, err error) {
	if axis, err = t.Axis(col, like); err == nil {
		x, err = t.Inputs([]int{col}, []*Axis{axis})
	}
	return axis, x, err
}

// Inputs returns x of columns on their axes, [Rows,len(cols)] row-major. A nil axis is an axis of numbers. A missing cell is an error.
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

// input returns x of a column on its axis. It stores the offsets from UTC that differ from the axis' offset in the axis.
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

// Axis returns the axis of a column of numbers or dates. If like is not nil, the axis has the unit and origin of like, but the layout of
// the column. Errors wrap ErrFormat.
func (t *Table) Axis(col int, like *Axis) (*Axis, error) {
	c, dates := t.column(col), t.Kind(col) == Dates
	if c.compact != nil && c.compact.times != nil && like != nil { // either reading is possible
		dates = like.Dates()
	}
	if !dates && like.Dates() { // 201805 is a date in the model's layout, although 201813 in the same column is not
		for row := range t.Rows {
			if _, _, problem := like.parse(t.text(row, col)); problem != "" {
				return nil, t.wrong(row, col, problem)
			}
		}
		both := *like
		both.offsets = nil
		return &both, nil
	}
	if !dates {
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
		return nil, t.wrong(t.first(col, date, true), col, "is a date; must be a number like the model's input")
	case like.Layout.zone == "" && l.zone != "":
		return nil, t.wrong(t.first(col, date, true), col, "has an offset from UTC, unlike the model's input; use a date such as "+like.Format(0))
	}
	both := *like
	both.Layout, both.offsets = own.Layout, nil
	if l.zone != "" {
		both.Offset = own.Offset
	}
	return &both, nil
}
