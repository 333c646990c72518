package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// compacts are the layouts of dates without separators: months, days, and the same after a conversion to floating
// point.
var compacts = []string{"200601", "20060102", "200601.0", "20060102.0"}

// earliest and latest are the years of dates without separators. Other numbers with as many digits remain numbers.
const earliest, latest = 1700, 2199

// compactOf returns the layout of a date without separators.
func compactOf(s string) (l layout, t time.Time, ok bool) {
	for _, day := range compacts {
		if len(s) != len(day) || !isDigit(s[0]) {
			continue
		}
		l = layout{day: day, zeros: day, read: day, hour: 2}
		if t, ok = l.parse(s); ok && t.Year() >= earliest && t.Year() <= latest {
			return l, t, true
		}
	}
	return layout{}, t, false
}

func (l *layout) compact() bool { return slices.Contains(compacts, l.day) }

// compactDates are the dates without separators of a column of numbers.
type compactDates struct {
	layout layout
	times  []time.Time // of all rows with a value
	// chosen means that the column has dates unless a model's input has numbers.
	chosen bool
	// reason is the reason why the column does not have dates, although most of its numbers can be dates.
	reason string
	// invalid is the row of the first number that is not a date, -1 if there is none. typo means that the other
	// numbers would be dates.
	invalid int
	typo    bool
}

// mostlyDates is the minimum share of valid dates in a column that was probably meant to have dates. One number may
// also be invalid if there are at least fewestDates, half a year of months.
const mostlyDates, fewestDates = 0.9, 6

// compactDates returns the dates in a column of numbers, nil if few of the numbers can be dates. The numbers are
// dates if all of them are valid dates in one layout and their steps are more even in months, years or days than as
// numbers. In addition, the dates must be regular or the column must have the name of a date, because values such as
// prices may be valid dates by chance. If both are equally even, as in the months of one year, the name of the column
// decides. The same rule decides whether a number that is not a date is a typo.
func (t *Table) compactDates(col int, c *column) *compactDates {
	total := c.numbers()
	if total == 0 || c.count[whole] != total && c.count[point] != total || total+c.count[missing] != t.Rows {
		return nil
	}
	d, values, invalid := &compactDates{invalid: -1}, make([]float64, 0, total), 0
	tolerated := func(n int) float64 { return (1 - mostlyDates) * float64(n) }
	for row := range t.Rows {
		kind, v := t.value(row, col)
		if kind == missing {
			continue
		}
		s := t.text(row, col)
		l, at, ok := compactOf(s)
		if ok && d.layout.day == "" {
			d.layout = l
		}
		values = append(values, v)
		if ok && l.day == d.layout.day {
			d.times = append(d.times, at)
			continue
		}
		if invalid++; d.invalid < 0 {
			d.invalid = row
		}
		if float64(invalid) > 1+tolerated(len(values)) {
			return nil
		}
	}
	if float64(invalid) > tolerated(total) && (invalid > 1 || total < fewestDates) {
		return nil
	}
	axis := axisOf(d.layout, d.times)
	x := make([]float64, len(d.times))
	for i, at := range d.times {
		x[i] = axis.of(at)
	}
	asNumbers, asDates := unevenness(values), unevenness(x)
	const rounding = 1e-9
	switch {
	case asDates < asNumbers-rounding:
		if d.chosen = namedDate(t.Names[col]) || regular(axis, d.times); !d.chosen {
			d.reason = "the steps between dates are irregular and the name of the column does not contain date, " +
				"month or day"
		}
	case asNumbers < asDates-rounding:
		d.reason = "the steps between numbers are more even"
	case namedDate(t.Names[col]):
		d.chosen = true
	default:
		d.reason = "the steps are as even between numbers and the name of the column does not contain date, month or day"
	}
	if invalid > 0 {
		d.chosen, d.typo, d.times, d.reason = false, d.chosen, nil, t.text(d.invalid, col)+" is not a date"
	}
	return d
}

// regular reports whether at least half of the steps between successive rows with different dates are equal, in the
// unit of the axis or in months.
func regular(axis *Axis, times []time.Time) bool {
	steps, most := 0, 0
	inUnit, inMonths := map[float64]int{}, map[int64]int{}
	for i, at := range times[1:] {
		before := times[i]
		if at.Equal(before) {
			continue
		}
		steps++
		step := axis.of(at) - axis.of(before)
		inUnit[step]++
		most = max(most, inUnit[step])
		if months := monthNumber(at) - monthNumber(before); months != 0 {
			inMonths[months]++
			most = max(most, inMonths[months])
		}
	}
	return 2*most >= steps
}

// unevenness returns the coefficient of variation of the steps between different values, 0 for fewer than two steps.
func unevenness(x []float64) float64 {
	x = slices.Compact(slices.Sorted(slices.Values(x)))
	n := float64(len(x) - 1)
	if n < 2 {
		return 0
	}
	mean, square := (x[len(x)-1]-x[0])/n, 0.0
	for i := range x[1:] {
		square += (x[i+1] - x[i] - mean) * (x[i+1] - x[i] - mean)
	}
	return math.Sqrt(square/n) / mean
}

// dateWords are parts of names of columns with dates, in lower case. Words of three letters must be separate, because
// percentage contains tag.
var dateWords = []string{"date", "day", "month", "quarter", "week", "time", "period", "yyyymm", "datum", "monat",
	"tag", "mois", "fecha"}

func namedDate(name string) bool {
	name = strings.ToLower(name)
	separate := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	return name == "ds" || slices.ContainsFunc(dateWords, func(word string) bool {
		return slices.Contains(separate, word) || len(word) > 3 && strings.Contains(name, word)
	})
}

// undated returns the first number of a column with the name of a date if its numbers are probably dates in a layout
// that is not read, such as 2015.01, 150131, 2015013112 or 1501. All of them must have an even number of digits from
// six (2451545 is a Julian day), or all must be years with a month of at most two digits, or all must be YYMM. Numbers
// such as 2001 to 2012 in equal steps are years unless the column has the name of a month. Otherwise it returns "".
func (t *Table) undated(col int) (first string) {
	if t.exact || !namedDate(t.Names[col]) || t.Kind(col) != Numbers {
		return ""
	}
	long, months, twoDigits, short := true, true, false, true
	for row := range t.Rows {
		kind, _ := t.value(row, col)
		if kind != whole && kind != point && kind != comma {
			continue
		}
		s := t.text(row, col)
		first = cmp.Or(first, s)
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		long = long && digits >= len("150131") && digits%2 == 0
		year, month, _ := strings.Cut(strings.Replace(s, ",", ".", 1), ".")
		y, _ := strconv.Atoi(year)
		m, _ := strconv.Atoi(month)
		months = months && y >= earliest && y <= latest && m >= 1 && m <= 12 && len(month) <= 2
		twoDigits = twoDigits || len(month) == 2
		short = short && kind == whole && len(s) == len("1501") && digits == len(s) && y%100 >= 1 && y%100 <= 12
	}
	if _, even := t.Increasing(col); even {
		short = short && strings.Contains(strings.ToLower(t.Names[col]), "mo") // month, monat, mois
	}
	if long || months && twoDigits || short {
		return first
	}
	return ""
}

// AsNumbers makes Kind and Axis read a column as numbers if it may have either numbers or dates.
func (t *Table) AsNumbers(col int) {
	if d := t.column(col).compact; d != nil && d.chosen {
		d.chosen, d.reason = false, "it is the output"
	}
}

// MayBeNumbers reports whether a column of dates may as well have numbers. named means that it has
// the name of a date.
func (t *Table) MayBeNumbers(col int) (may, named bool) {
	d := t.column(col).compact
	return d != nil && d.chosen, namedDate(t.Names[col])
}

// Increasing reports whether all cells of a column are numbers that increase from row to row, and whether they do so
// in equal steps.
func (t *Table) Increasing(col int) (increasing, even bool) {
	values := make([]float64, t.Rows)
	for row := range values {
		var kind class
		if kind, values[row] = t.value(row, col); kind != whole && kind != point && kind != comma ||
			row > 0 && values[row] <= values[row-1] {
			return false, false
		}
	}
	return true, unevenness(values) < 1e-6
}

// Reading returns how a column is read that may have either numbers or dates without separators, such as 201501 or
// 20150131, or that is an input with the name of a date and has numbers in another layout. It returns "" for other
// columns. typo means that the column has numbers only because of a few cells that are not dates.
func (t *Table) Reading(col int, input bool) (how string, typo bool) {
	d := t.column(col).compact
	if d == nil {
		if cell := t.undated(col); cell != "" && input {
			return fmt.Sprintf("%s: column %s is read as numbers, such as %s, not as dates; write dates as 2015-01 or "+
				"2015-01-31", t.name, t.Names[col], cell), false
		}
		return "", false
	}
	form, example := "YYYYMMDD", "2015-01-31"
	if d.layout.monthly() {
		form, example = "YYYYMM", "2015-01"
	}
	switch {
	case d.chosen:
		return fmt.Sprintf("%s: column %s is read as dates, %s", t.name, t.Names[col], form), false
	case d.typo:
		return fmt.Sprintf("%s: %s is not a date (%s), so the column is read as numbers; if its cells are dates, "+
			"correct this one and write them as %s", t.position(d.invalid, col, fault.Quote(t.Names[col])),
			fault.Quote(t.text(d.invalid, col)), form, example), true
	}
	return fmt.Sprintf("%s: column %s is read as numbers, not as dates (%s), because %s; write dates as %s", t.name,
		t.Names[col], form, d.reason, example), false
}
