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

// A Column is what a survey has found in a column.
type Column struct {
	Count [classes]int // of cells of each class
	first [classes]place

	decimals       int
	uneven, powers bool // numbers of decimals differ; there are exponents

	dates *dates // nil before the first
}

// dates are what a survey has found in a column's dates.
type dates struct {
	bad     place // the first that does not go together with those before
	problem string

	notation notation
	orders   []*calendar // in which all of them exist: with the day first, and with the month first, or of the one order that there is
}

// A place is where a cell stands: the line of a text file, the row of an array, from 1; 0 is nowhere.
type place struct {
	line int
	text string
}

// Kind returns what the column holds.
func (c *Column) Kind() Kind {
	numbers, dates, words := c.Numbers(), c.Count[date], c.Count[text]
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

// Numbers returns how many cells are numbers.
func (c *Column) Numbers() int { return c.Count[whole] + c.Count[point] + c.Count[comma] }

// Whole reports whether all numbers are written without a decimal sign.
func (c *Column) Whole() bool { return c.Count[point]+c.Count[comma] == 0 }

// earliest returns the first cell of classes that are problems, and its problem.
func (c *Column) earliest(problems map[class]string) (at place, problem string) {
	for kind, p := range problems {
		if here := c.first[kind]; here.line > 0 && (at.line == 0 || here.line < at.line) {
			at, problem = here, p
		}
	}
	return at, problem
}

// Missing returns how many cells are missing.
func (c *Column) Missing() int { return c.Count[missing] }

// add takes in the next cell.
func (c *Column) add(r row, col int) {
	kind, _ := r.class(col)
	c.Count[kind]++
	if c.first[kind].line == 0 {
		c.first[kind] = place{r.number(), r.text(col)}
	}
	switch kind {
	case date:
		c.addDate(r.text(col), r.number())
	case whole, point, comma:
		digits := 0
		if kind != whole {
			s := r.text(col)
			digits = len(s) - 1 - max(strings.IndexByte(s, '.'), strings.IndexByte(s, ','))
		}
		c.uneven = c.uneven || c.Numbers() > 1 && digits != c.decimals
		c.decimals = max(c.decimals, digits)
		if !c.powers {
			s := r.text(col)
			c.powers = strings.IndexByte(s, 'e') >= 0 || strings.IndexByte(s, 'E') >= 0
		}
	}
}

// wrong finds the first cell that a pick cannot read.
func (c *Column) wrong(p Pick) (at place, problem string) {
	word := c.first[text].text
	if p.Axis.Dates() {
		const number = "is a number among dates; want a date"
		return c.earliest(map[class]string{missing: "is missing; want a date, or leave the row out", whole: number, point: number,
			comma: number,
			text:  "is not a date; want one such as " + p.Axis.Format(0) + likely(word)})
	}
	problems := map[class]string{text: notNumber(word), date: "is a date among numbers; want a number"}
	if p.Axis != nil {
		problems[missing] = "is missing; want a number, or leave the row out"
	}
	if c.Count[point] > 0 && c.Count[comma] > 0 {
		later := point
		if c.first[comma].line > c.first[point].line {
			later = comma
		}
		problems[later] = "has another decimal sign than " + fault.Quote(c.first[point+comma-later].text) + " (a thousands separator?)"
	}
	return c.earliest(problems)
}

// addDate takes in a date.
func (c *Column) addDate(s string, line int) {
	t, _ := parseStamp(s)
	first := c.dates == nil
	if first {
		c.dates = &dates{orders: []*calendar{{order: t.form.order}}}
		if t.form.order == yearLast {
			c.dates.orders = []*calendar{{order: dayMonthYear}, {order: monthDayYear}}
		}
	}
	d := c.dates
	if problem := d.notation.add(&t, first); problem != "" && d.problem == "" {
		d.problem, d.bad = problem+"; the first is "+c.first[date].text, place{line, s}
	}
	d.orders = slices.DeleteFunc(d.orders, func(k *calendar) bool { return !k.add(&t) })
}

// order chooses the order of day and month. Where either would do, it is that of another axis, like, or dots stand between days and
// months in that order.
func (d *dates) order(like *Axis) (k *calendar, problem string) {
	if len(d.orders) == 0 {
		return nil, "is a date whose order of day and month does not suit the whole column; want YYYY-MM-DD"
	}
	for _, k := range d.orders {
		if len(d.orders) == 1 || like.Dates() && like.Notation.order == k.order {
			return k, ""
		}
	}
	if d.notation.sep == '.' {
		return d.orders[0], ""
	}
	return nil, "may be day/month or month/day, as may all dates of the column; want YYYY-MM-DD"
}

// axis returns the axis of the column, or the place of what is wrong.
func (c *Column) axis(like *Axis) (*Axis, place, string) {
	if c.Kind() != Dates {
		return &Axis{Decimals: c.decimals, Fixed: !c.uneven, Free: c.powers}, place{}, ""
	}
	d := c.dates
	if d.problem != "" {
		return nil, d.bad, d.problem
	}
	k, problem := d.order(like)
	if problem != "" {
		return nil, c.first[date], problem
	}
	n := d.notation
	n.order = k.order
	return k.axis(n), place{}, ""
}

// A calendar is what the dates of a column have in common, under one order of day and month.
type calendar struct {
	order       byte
	rows        int
	first, last int64    // on the local clock, in seconds since 1970
	before      int64    // the last instant
	latest      int64    // of the instants
	offsets     [2]int64 // from UTC, of the first row and of the latest
	day         int      // of the first
	clock       int64    // of the first, in nanoseconds since midnight
	otherDay    bool
	notMonthEnd bool
	otherClock  bool
	otherMonth  bool   // than the first's, in whatever year
	units       [4]int // differences below a minute, an hour, a day, and longer ones
}

// add takes in a date; false if it does not exist in this order.
func (k *calendar) add(t *stamp) bool {
	local, ok := t.local(k.order)
	if !ok {
		return false
	}
	month, day := t.monthDay(k.order)
	clock := int64(3600*t.hour+60*t.min+t.sec)*1e9 + int64(t.nanos)
	instant := local - int64(t.offset)
	if k.rows == 0 {
		k.first, k.day, k.clock, k.latest, k.offsets[0] = local, day, clock, instant, int64(t.offset)
	} else {
		unit := 0
		// a day may have 23 hours
		for d := max(instant-k.before, k.before-instant); unit < 3 && d >= []int64{60, 3600, secondsPerDay - 3600}[unit]; {
			unit++
		}
		k.units[unit]++
	}
	if instant >= k.latest {
		k.latest, k.offsets[1] = instant, int64(t.offset)
	}
	k.otherDay = k.otherDay || day != k.day
	k.notMonthEnd = k.notMonthEnd || day != daysIn(t.year, month)
	k.otherClock = k.otherClock || clock != k.clock
	k.otherMonth = k.otherMonth || month != int(utc(k.first).Month())
	k.rows, k.last, k.before = k.rows+1, local, instant
	return true
}

// axis chooses the unit and the origin.
func (k *calendar) axis(n notation) *Axis {
	a := &Axis{Notation: &n, Offset: int(k.offsets[1])}
	months := k.rows > 1 && monthOf(k.first) != monthOf(k.last)
	switch {
	case n.order == yearMonth || n.order == yearQuarter:
		a.Day, months = 1, true
	case months && !k.otherClock && !k.notMonthEnd:
		a.Day = 31
	case months && !k.otherClock && !k.otherDay:
		a.Day = k.day
	default:
		months = false
	}
	if months {
		a.Unit, a.Clock, a.Local = "months", k.clock, true
		if !k.otherMonth && k.rows > 1 {
			a.Unit = "years"
		}
		month, _ := a.calendar(k.first, int(k.clock%1e9))
		a.Origin = unixMonth(month)
		return a
	}
	a.Unit = "seconds"
	for i, u := range []string{"seconds", "minutes", "hours", "days"} {
		if k.units[i] > k.units[0] && k.units[i] >= max(k.units[1], k.units[2], k.units[3]) {
			a.Unit = u
		}
	}
	if n.clock == 0 || k.rows == 1 {
		a.Unit = "days"
	}
	a.Origin = k.first - k.clock/1e9
	if a.Local = a.Unit == "days" && !k.otherClock; !a.Local {
		a.Origin -= k.offsets[0]
	}
	return a
}
