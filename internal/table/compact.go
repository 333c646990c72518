package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// compacts are the layouts of dates without separators: months, days, and the same after a conversion to floating point.
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
}

// mostlyDates is the share of numbers that can be dates in a column that was probably meant to have dates.
const mostlyDates = 0.9

// compactDates returns the dates in a column of numbers, nil if few of the numbers can be dates. The numbers are dates if all of them are
// valid dates in one layout and their steps are more even in months, years or days than as numbers. If both are equally even, as in the
// months of one year, the name of the column decides.
func (t *Table) compactDates(col int, c *column) *compactDates {
	total := c.numbers()
	if total == 0 || c.count[whole] != total && c.count[point] != total || total+c.count[missing] != t.Rows {
		return nil
	}
	d, values, wrong, invalid := &compactDates{}, make([]float64, 0, total), "", 0
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
		values, d.times = append(values, v), append(d.times, at)
		if !ok || l.day != d.layout.day {
			wrong = cmp.Or(wrong, s)
			if invalid++; float64(invalid) > 1+tolerated(len(values)) {
				return nil
			}
		}
	}
	switch {
	case float64(invalid) > tolerated(total):
		return nil
	case invalid > 0:
		d.times, d.reason = nil, wrong+" is not a date"
		return d
	}
	axis := axisOf(d.layout, d.times)
	x := make([]float64, total)
	for i, at := range d.times {
		x[i] = axis.of(at)
	}
	asNumbers, asDates := unevenness(values), unevenness(x)
	const rounding = 1e-9
	switch {
	case asDates < asNumbers-rounding:
		d.chosen = true
	case asNumbers < asDates-rounding:
		d.reason = "the steps between numbers are more even"
	case namedDate(t.Names[col]):
		d.chosen = true
	default:
		d.reason = "the steps are as even between numbers and the name of the column does not contain date, month or day"
	}
	return d
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

// dateWords are parts of names of columns with dates, in lower case.
var dateWords = []string{"date", "day", "month", "quarter", "week", "time", "period", "yyyymm", "datum", "monat", "tag", "mois", "fecha"}

func namedDate(name string) bool {
	name = strings.ToLower(name)
	return name == "ds" || slices.ContainsFunc(dateWords, func(word string) bool { return strings.Contains(name, word) })
}

// Reading returns how a column is read that may have either numbers or dates without separators, such as 201501 or 20150131. It returns
// "" for other columns.
func (t *Table) Reading(col int) string {
	d := t.column(col).compact
	if d == nil {
		return ""
	}
	form, example := "YYYYMMDD", "2015-01-31"
	if d.layout.monthly() {
		form, example = "YYYYMM", "2015-01"
	}
	if d.chosen {
		return fmt.Sprintf("column %s is read as dates, %s", t.Names[col], form)
	}
	return fmt.Sprintf("column %s is read as numbers, not as dates (%s), because %s; write dates as %s", t.Names[col], form, d.reason, example)
}
