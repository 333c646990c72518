package table

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// An Axis maps the cells of an input column to numbers and back. Numbers are themselves. Dates become multiples of Unit since Origin: of
// seconds, minutes, hours or days, or, where the column follows the calendar, of months or years, which are even in that unit. The
// zero value is an axis of numbers. It is made to be kept as JSON.
type Axis struct {
	// Unit is seconds, minutes, hours, days, months or years for dates, rows where the rows' numbers are the input, "" for numbers.
	Unit string `json:"unit"`
	// Origin is where x = 0, in seconds since 1970: local time if Local, else UTC. It is a midnight in the column.
	Origin int64 `json:"origin,omitempty"`
	// Local says that x counts local days or months, whatever the rows' offsets from UTC.
	Local bool `json:"local,omitempty"`
	// Day of the month (31: the last) and Clock, in nanoseconds since midnight, are where months and years begin.
	Day   int   `json:"day,omitempty"`
	Clock int64 `json:"clock,omitempty"`
	// Layout is how the column writes dates. Its JSON is 3 February 2001, 04:05:06.789123456, in the layout.
	Layout *layout `json:"notation,omitempty"`
	// Offset is the offset from UTC of the last row in time, in seconds. New dates are written with it.
	Offset int `json:"offset,omitempty"`
	// Decimals are those of a column of numbers; Fixed if all rows have as many. Free is a column with exponents.
	Decimals int  `json:"decimals,omitempty"`
	Fixed    bool `json:"fixed,omitempty"`
	Free     bool `json:"free,omitempty"`

	offsets map[float64]int // of the x of rows with another offset than Offset, which are written with their own
}

// unitSeconds are the lengths of the units that have one.
var unitSeconds = map[string]int64{"seconds": 1, "minutes": 60, "hours": 3600, "days": secondsPerDay}

// Dates reports whether the column holds dates.
func (a *Axis) Dates() bool { return a != nil && a.Layout != nil }

// Since returns the day of x = 0, as ISO 8601 has it.
func (a *Axis) Since() string {
	seconds := a.Origin
	if !a.Local {
		seconds += int64(a.Offset)
	}
	return utc(seconds + secondsPerDay/2).Format(time.DateOnly) // the first row may have another offset
}

// Check refuses an axis that was not made here.
func (a *Axis) Check() error {
	bad := a.Unit != "" && a.Unit != "rows"
	if a.Layout != nil {
		_, timed := unitSeconds[a.Unit]
		calendar := (a.Unit == "months" || a.Unit == "years") && a.Day >= 1 && a.Day <= 31 && a.Clock >= 0 && a.Clock < secondsPerDay*1e9
		bad = !timed && !calendar
	}
	if const1e12 := int64(1e12); bad || a.Decimals < 0 || a.Decimals > 400 || a.Origin > const1e12 || a.Origin < -const1e12 {
		return malformed("an axis of unit %.20q; want seconds, minutes, hours, days, months or years with a layout of dates", a.Unit)
	}
	return nil
}

// Parse reads a cell of the column, or a date in ISO 8601. A time without an offset has that of the last row.
func (a *Axis) Parse(text string) (float64, error) {
	v, _, problem := a.parse(text)
	if problem != "" {
		return 0, fmt.Errorf("%.40q %s", text, problem)
	}
	return v, nil
}

// parse is Parse with the cell's offset from UTC, or what is wrong.
func (a *Axis) parse(s string) (x float64, offset int, problem string) {
	if !a.Dates() {
		if c, v := classify(s, ';', nil); c == point || c == comma || c == whole {
			return v, 0, ""
		}
		if isMissing(s) {
			return 0, 0, missingNumber
		}
		return 0, 0, notNumber(s)
	}
	layouts := []layout{*a.Layout}
	m, ok := a.Layout.parse(s)
	if !ok {
		layouts = layoutsOf(s)
		if len(layouts) > 1 && layouts[0].numeric() {
			layouts = slices.DeleteFunc(layouts, func(l layout) bool { return !a.Layout.numeric() || l.dayFirst() != a.Layout.dayFirst() })
			if len(layouts) == 0 {
				return 0, 0, "may be day/month or month/day; want a date such as " + a.Format(0)
			}
		}
		if len(layouts) > 0 {
			m, _ = layouts[0].parse(s)
		}
	}
	switch {
	case len(layouts) == 0 && isMissing(s):
		return 0, 0, missingDate
	case len(layouts) == 0:
		return 0, 0, "is not a date; want one such as " + a.Format(0)
	case layouts[0].zone != "" && a.Layout.zone == "":
		return 0, 0, "has an offset from UTC, but the column has none; want a date such as " + a.Format(0)
	case layouts[0].zone == "":
		m.offset = int32(a.Offset)
	}
	return a.of(m), int(m.offset), ""
}

const (
	missingNumber = "is missing; want a number, or leave the row out"
	missingDate   = "is missing; want a date, or leave the row out"
)

// of returns x of a date.
func (a *Axis) of(m moment) float64 {
	if !a.Local {
		m.local -= int64(m.offset)
	}
	return a.at(m.local, int(m.nanos))
}

// at returns x of a time, which is local if the axis is.
func (a *Axis) at(seconds int64, nanos int) float64 {
	if unit := unitSeconds[a.Unit]; unit > 0 {
		d := seconds - a.Origin
		whole := floorDiv(d, unit)
		return float64(whole) + (float64(d-whole*unit)*1e9+float64(nanos))/(float64(unit)*1e9)
	}
	months, part := a.calendar(seconds, nanos)
	x := float64(months - monthOf(a.Origin))
	if part > 0 {
		x += part
	}
	if a.Unit == "years" {
		x /= 12
	}
	return x
}

// calendar returns the number of the month in which a time falls, months beginning at Day and Clock, and how much of it has passed.
func (a *Axis) calendar(seconds int64, nanos int) (month int64, part float64) {
	month = monthOf(seconds)
	start, after := a.monthStart(month)
	if seconds < start || seconds == start && int64(nanos) < after {
		month--
		start, after = a.monthStart(month)
	}
	end, _ := a.monthStart(month + 1)
	return month, (float64(seconds-start) + float64(int64(nanos)-after)/1e9) / float64(end-start)
}

// monthOf numbers the month of a time.
func monthOf(seconds int64) int64 {
	t := utc(seconds)
	return 12*int64(t.Year()) + int64(t.Month()) - 1
}

// monthStart returns the second, and the nanoseconds after it, at which a month of the axis begins.
func (a *Axis) monthStart(month int64) (seconds, nanos int64) {
	day := min(a.Day, daysIn(0, int(month)+1))
	return unixMonth(month) + int64(day-1)*secondsPerDay + a.Clock/1e9, a.Clock % 1e9
}

// mostSeconds bounds the times that can be written, some 30 million years.
const mostSeconds = 1e15

// Format writes x as the column does: a row's date with its own offset from UTC, others with that of the last row.
func (a *Axis) Format(x float64) string { return string(a.Append(nil, x)) }

// Append appends what Format returns.
func (a *Axis) Append(b []byte, x float64) []byte {
	switch {
	case a.Dates():
		return a.appendDate(b, x)
	case a == nil || a.Free || a.Decimals > 17 || math.Abs(x) >= 1e21:
		return appendNumber(b, x)
	}
	from := len(b)
	b = strconv.AppendFloat(b, x, 'f', a.Decimals, 64)
	if !a.Fixed && a.Decimals > 0 {
		b = b[:from+len(bytes.TrimRight(bytes.TrimRight(b[from:], "0"), "."))]
	}
	return b
}

// readable reports whether text, which Append has written for the date x, can be read.
func (a *Axis) readable(x float64, text []byte) bool {
	seconds, _, _, ok := a.clock(x)
	if year := utc(seconds).Year(); ok && year > 0 && year < 9999 {
		return true
	}
	_, _, problem := a.parse(string(text))
	return problem == ""
}

// Seconds returns x of dates in seconds since 1970, on the column's own clock; NaN beyond what can be written.
func (a *Axis) Seconds(x float64) float64 {
	seconds, nanos, _, ok := a.clock(x)
	if !ok {
		return math.NaN()
	}
	return float64(seconds) + float64(nanos)/1e9
}

// longest is the length of an axis' unit in seconds, of a calendar's the longest month's.
func (a *Axis) longest() float64 {
	if unit := unitSeconds[a.Unit]; unit > 0 {
		return float64(unit)
	}
	return 31 * secondsPerDay
}

// clock returns the local time of x, which is offset seconds ahead of UTC.
func (a *Axis) clock(x float64) (seconds, nanos int64, offset int, ok bool) {
	if !(math.Abs(x)*a.longest() < mostSeconds) {
		return 0, 0, 0, false
	}
	if unit := unitSeconds[a.Unit]; unit > 0 {
		whole := math.Floor(x)
		inside := (x - whole) * float64(unit)
		seconds, nanos = a.Origin+int64(whole)*unit+int64(inside), int64(math.Round((inside-math.Floor(inside))*1e9))
	} else {
		seconds, nanos = a.fromCalendar(x)
	}
	offset, own := a.offsets[x]
	if !own {
		offset = a.Offset
	}
	if !a.Local {
		seconds += int64(offset)
	}
	return seconds, nanos, offset, true
}

func (a *Axis) appendDate(b []byte, x float64) []byte {
	seconds, nanos, offset, ok := a.clock(x)
	if !ok {
		return appendNumber(b, x)
	}
	// A float64 holds a time of day far from the origin only so well.
	step := a.Layout.resolution()
	for error := math.Abs(x) * 0x1p-51 * a.longest() * 1e9; float64(step) < error; {
		step *= 10
	}
	days := floorDiv(seconds, secondsPerDay)
	inDay := (seconds-days*secondsPerDay)*1e9 + nanos
	inDay = floorDiv(inDay+step/2, step) * step
	if a.Layout.clock == 0 && unitSeconds[a.Unit] == 0 && !a.Layout.monthly() && !a.Layout.quarterly() {
		inDay = min(inDay, secondsPerDay*1e9)
	}
	return a.Layout.write(b, moment{days*secondsPerDay + inDay/1e9, int32(inDay % 1e9), int32(offset)})
}

// fromCalendar returns the time of x months or years. Columns of months or quarters have no others.
func (a *Axis) fromCalendar(x float64) (seconds, nanos int64) {
	if a.Unit == "years" {
		x *= 12
	}
	origin := monthOf(a.Origin)
	switch {
	case a.Layout.monthly():
		x = math.Round(x)
	case a.Layout.quarterly():
		x = 3*math.Round((x+float64(origin%3))/3) - float64(origin%3)
	}
	const rounding = 1e-9 // of a month, 3 ms
	whole := math.Floor(x + rounding)
	month := origin + int64(whole)
	start, after := a.monthStart(month)
	end, _ := a.monthStart(month + 1)
	inside := max(0, x-whole) * float64(end-start)
	if inside < rounding*float64(end-start) {
		inside = 0
	}
	nanos = after + int64(math.Round((inside-math.Floor(inside))*1e9))
	return start + int64(inside) + nanos/1e9, nanos % 1e9
}

// Axis returns the axis of a column of numbers or dates. If like is not nil, x counts as it does, and the cells are written as those of
// the column. Errors wrap ErrFormat.
func (t *Table) Axis(col int, like *Axis) (*Axis, error) {
	c, dates := t.column(col), t.Kind(col) == Dates
	switch {
	case !dates && like.Dates():
		return nil, t.firstOf(col, problemsOf("is not a date; want dates, as the model's input has, such as "+like.Format(0),
			missing, whole, point, comma, text))
	case !dates:
		return &Axis{Decimals: c.decimals, Fixed: !c.uneven, Free: c.free}, nil
	}
	l, moments, err := t.readDates(col, like)
	if err != nil {
		return nil, err
	}
	c.moments = moments
	own := axisOf(l, moments)
	switch {
	case like == nil:
		return own, nil
	case !like.Dates():
		return nil, t.wrong(c.first[date], col, "is a date; want numbers, as the model's input has")
	case like.Layout.zone == "" && l.zone != "":
		return nil, t.wrong(c.first[date], col, "has an offset from UTC, but the model's input has none; want a date such as "+like.Format(0))
	}
	both := *like
	both.Layout, both.offsets = own.Layout, nil
	if l.zone != "" {
		both.Offset = own.Offset
	}
	return &both, nil
}

// problemsOf gives several classes of cells one problem.
func problemsOf(problem string, kinds ...class) map[class]string {
	all := map[class]string{}
	for _, kind := range kinds {
		all[kind] = problem
	}
	return all
}

// dates returns a column of dates by their axis, and notes the rows' offsets from UTC in it.
func (t *Table) dates(col int, axis *Axis) ([]float64, error) {
	problems := problemsOf("is a number among dates; want a date", whole, point, comma)
	problems[missing] = missingDate
	problems[text] = "is not a date; want one such as " + axis.Format(0) + likely(t.First(col))
	if err := t.firstOf(col, problems); err != nil {
		return nil, err
	}
	moments, x := t.column(col).moments, make([]float64, t.Rows)
	for row := range x {
		offset, problem := 0, ""
		if moments != nil {
			m := moments[row]
			if axis.Layout.zone == "" {
				m.offset = int32(axis.Offset)
			}
			x[row], offset = axis.of(m), int(m.offset)
		} else if x[row], offset, problem = axis.parse(t.text(row, col)); problem != "" {
			return nil, t.wrong(row, col, problem)
		}
		if offset != axis.Offset {
			if axis.offsets == nil {
				axis.offsets = map[float64]int{}
			}
			axis.offsets[x[row]] = offset
		}
	}
	return x, nil
}

// axisOf chooses the unit and the origin of a column of dates: months or years if all are the same day of the month or its last, at the
// same time of day; else the unit of most steps.
func axisOf(l layout, moments []moment) *Axis {
	moments = slices.DeleteFunc(slices.Clone(moments), func(m moment) bool { return m == noMoment })
	first, latest := moments[0], moments[0]
	start := utc(first.local)
	clock := func(m moment) int64 {
		return (m.local-floorDiv(m.local, secondsPerDay)*secondsPerDay)*1e9 + int64(m.nanos)
	}
	instant := func(m moment) int64 { return m.local - int64(m.offset) }
	sameDay, sameClock, sameMonth, monthEnd := true, true, true, true
	var steps [4]int // below a minute, an hour, a day, and longer ones
	for i, m := range moments {
		t := utc(m.local)
		sameDay = sameDay && t.Day() == start.Day()
		sameClock = sameClock && clock(m) == clock(first)
		sameMonth = sameMonth && t.Month() == start.Month()
		monthEnd = monthEnd && t.Day() == daysIn(t.Year(), int(t.Month()))
		if instant(m) >= instant(latest) {
			latest = m
		}
		if i > 0 {
			step, unit := instant(m)-instant(moments[i-1]), 0
			for unit < 3 && max(step, -step) >= []int64{60, 3600, secondsPerDay - 3600}[unit] { // a day may have 23 hours
				unit++
			}
			steps[unit]++
		}
	}
	a := &Axis{Layout: &l, Offset: int(latest.offset)}
	several := len(moments) > 1
	spread := several && monthOf(first.local) != monthOf(moments[len(moments)-1].local)
	switch {
	case l.monthly() || l.quarterly():
		a.Day = 1
	case spread && sameClock && monthEnd:
		a.Day = 31
	case spread && sameClock && sameDay:
		a.Day = start.Day()
	}
	if a.Day > 0 {
		a.Unit, a.Clock, a.Local = "months", clock(first), true
		if sameMonth && several {
			a.Unit = "years"
		}
		month, _ := a.calendar(first.local, int(first.nanos))
		a.Origin = unixMonth(month)
		return a
	}
	a.Unit = "seconds"
	for i, unit := range []string{"seconds", "minutes", "hours", "days"} {
		if steps[i] > steps[0] && steps[i] >= max(steps[1], steps[2], steps[3]) {
			a.Unit = unit
		}
	}
	if l.clock == 0 || !several {
		a.Unit = "days"
	}
	a.Origin = first.local - clock(first)/1e9
	if a.Local = a.Unit == "days" && sameClock; !a.Local {
		a.Origin -= int64(first.offset)
	}
	return a
}

// daysIn returns how many days a month has.
func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// utc returns the time that is some seconds after 1970 began.
func utc(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// unixMonth returns the beginning of a month in seconds since 1970. Months are counted from January of the year 0.
func unixMonth(month int64) int64 {
	return time.Date(0, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).Unix()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
