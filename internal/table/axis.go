package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// An Axis maps the cells of an input column to numbers and back. Numbers are themselves. Dates become multiples of Unit since Origin: of
// seconds, minutes, hours or days or, if the column follows the calendar, of months or years, which are even in that unit. The zero value
// is an axis of numbers. Model files keep it as JSON.
type Axis struct {
	// Unit is seconds, minutes, hours, days, months or years for dates, rows if the rows' numbers are the input, "" for numbers.
	Unit string `json:"unit"`
	// Origin is x = 0, in seconds since 1970: local time if Local, else UTC. It is a midnight in the column.
	Origin int64 `json:"origin,omitempty"`
	// Local means that x counts local days or months, whatever the rows' offsets from UTC.
	Local bool `json:"local,omitempty"`
	// Day of the month (31: the last) and Clock, in nanoseconds since midnight, are when months and years begin.
	Day   int   `json:"day,omitempty"`
	Clock int64 `json:"clock,omitempty"`
	// Layout is how the column writes dates; nil for numbers. Its JSON is 3 February 2001, 04:05:06.789123456, in the layout.
	Layout *layout `json:"notation,omitempty"`
	// Offset is the offset from UTC of the last row in time, in seconds. New dates are written with it.
	Offset int `json:"offset,omitempty"`
	// Decimals are those of a column of numbers; Fixed if all rows have as many. Free means that numbers have exponents.
	Decimals int  `json:"decimals,omitempty"`
	Fixed    bool `json:"fixed,omitempty"`
	Free     bool `json:"free,omitempty"`

	offsets map[float64]int // of the x of rows with another offset than Offset, which are written with their own
}

const secondsPerDay = 86400

// unitSeconds are the lengths of the units that have one.
var unitSeconds = map[string]int64{"seconds": 1, "minutes": 60, "hours": 3600, "days": secondsPerDay}

// unitMonths are the lengths of the others in months.
var unitMonths = map[string]float64{"months": 1, "years": 12}

// Dates reports whether the column holds dates.
func (a *Axis) Dates() bool { return a != nil && a.Layout != nil }

// Check refuses an axis that was not made here.
func (a *Axis) Check() error {
	bad := a.Unit != "" && a.Unit != "rows"
	if a.Layout != nil {
		_, timed := unitSeconds[a.Unit]
		calendar := unitMonths[a.Unit] > 0 && a.Day >= 1 && a.Day <= 31 && a.Clock >= 0 && a.Clock < secondsPerDay*1e9
		bad = !timed && !calendar
	}
	const farthest = 1e12 // seconds from 1970
	if bad || a.Decimals < 0 || a.Decimals > 400 || a.Origin > farthest || a.Origin < -farthest {
		return malformed("an axis of unit %.20q; want seconds, minutes, hours, days, months or years with a layout of dates", a.Unit)
	}
	return nil
}

// Since returns the day of x = 0, as ISO 8601 has it.
func (a *Axis) Since() string {
	seconds := a.Origin
	if !a.Local {
		seconds += int64(a.Offset)
	}
	return utc(seconds + secondsPerDay/2).Format(time.DateOnly) // the first row may have another offset
}

// Parse reads a cell of the column, or a date in another layout. A time without an offset has that of the last row.
func (a *Axis) Parse(text string) (float64, error) {
	v, _, problem := a.parse(text)
	if problem != "" {
		return 0, fmt.Errorf("%.40q %s", text, problem)
	}
	return v, nil
}

const (
	missingNumber = "is missing; want a number, or leave the row out"
	missingDate   = "is missing; want a date, or leave the row out"
)

// parse is Parse with the cell's offset from UTC, or what is wrong.
func (a *Axis) parse(s string) (x float64, offset int, problem string) {
	switch {
	case !a.Dates() && isMissing(s):
		return 0, 0, missingNumber
	case !a.Dates():
		if c, v := classify(s, ';', nil); c == whole || c == point || c == comma {
			return v, 0, ""
		}
		return 0, 0, notNumber(s)
	case isMissing(s):
		return 0, 0, missingDate
	}
	t, zoned, problem := a.Layout.parseLike(s)
	switch {
	case problem == "" && zoned && a.Layout.zone == "":
		problem = "has an offset from UTC, but the column has none"
	case problem != "" && isNumber(s):
		problem = "is a number, not a date"
	case !zoned:
		t = inZone(t, a.Offset)
	}
	if problem != "" {
		return 0, 0, problem + "; want a date such as " + a.Format(0) + strings.Replace(likely(s), aDate, "", 1)
	}
	_, offset = t.Zone()
	return a.of(t), offset, ""
}

// local returns the time on the clock of t's zone, as if it were UTC.
func local(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// inZone is the inverse of local: the time at which a clock of an offset from UTC shows what t does.
func inZone(t time.Time, offset int) time.Time {
	return t.Add(-time.Duration(offset) * time.Second).In(time.FixedZone("", offset))
}

// of returns x of a date.
func (a *Axis) of(t time.Time) float64 {
	if a.Local {
		t = local(t)
	}
	if unit := unitSeconds[a.Unit]; unit > 0 {
		d := t.Unix() - a.Origin
		whole := floorDiv(d, unit)
		return float64(whole) + (float64(d-whole*unit)*1e9+float64(t.Nanosecond()))/(float64(unit)*1e9)
	}
	month := a.monthOf(t)
	start := a.monthStart(month)
	x := float64(month-monthNumber(utc(a.Origin))) + float64(t.Sub(start))/float64(a.monthStart(month+1).Sub(start))
	return x / unitMonths[a.Unit]
}

// monthNumber numbers the month of a time from January of the year 0.
func monthNumber(t time.Time) int64 { return 12*int64(t.Year()) + int64(t.Month()) - 1 }

// monthOf numbers the month of a time, with months that begin at Day and Clock.
func (a *Axis) monthOf(t time.Time) int64 {
	month := monthNumber(t)
	if t.Before(a.monthStart(month)) {
		month--
	}
	return month
}

// monthStart returns when a month of the axis begins.
func (a *Axis) monthStart(month int64) time.Time {
	first := time.Date(0, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(a.Day, daysIn(first))-1).Add(time.Duration(a.Clock))
}

// time returns the time of x, in its offset from UTC; false for times that cannot be written, beyond some 30 million years.
func (a *Axis) time(x float64) (t time.Time, ok bool) {
	const mostSeconds = 1e15
	if !(math.Abs(x)*a.unit() < mostSeconds) {
		return t, false
	}
	if unit := unitSeconds[a.Unit]; unit > 0 {
		whole := math.Floor(x)
		inside := (x - whole) * float64(unit)
		t = time.Unix(a.Origin+int64(whole)*unit+int64(inside), int64(math.Round((inside-math.Floor(inside))*1e9)))
	} else {
		t = a.fromCalendar(x)
	}
	offset, own := a.offsets[x]
	if !own {
		offset = a.Offset
	}
	if a.Local {
		return inZone(t, offset), true
	}
	return t.In(time.FixedZone("", offset)), true
}

// unit returns the length of the unit in seconds, for months and years the longest month's.
func (a *Axis) unit() float64 { return float64(cmp.Or(unitSeconds[a.Unit], 31*secondsPerDay)) }

// fromCalendar returns the time of x months or years. Columns of months or quarters have no others.
func (a *Axis) fromCalendar(x float64) time.Time {
	x *= unitMonths[a.Unit]
	origin := monthNumber(utc(a.Origin))
	switch {
	case a.Layout.monthly():
		x = math.Round(x)
	case a.Layout.quarterly():
		x = 3*math.Round((x+float64(origin%3))/3) - float64(origin%3)
	}
	const rounding = 1e-9 // of a month, 3 ms
	whole := math.Floor(x + rounding)
	start, end := a.monthStart(origin+int64(whole)), a.monthStart(origin+int64(whole)+1)
	if part := x - whole; part >= rounding {
		start = start.Add(time.Duration(math.Round(part * float64(end.Sub(start)))))
	}
	return start
}

// Seconds returns x of dates in seconds since 1970, on the column's own clock; NaN beyond what can be written.
func (a *Axis) Seconds(x float64) float64 {
	t, ok := a.time(x)
	if !ok {
		return math.NaN()
	}
	t = local(t)
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// Format writes x as the column does: a row's date with its own offset from UTC, others with that of the last row.
func (a *Axis) Format(x float64) string { return string(a.Append(nil, x)) }

// Append appends what Format returns.
func (a *Axis) Append(b []byte, x float64) []byte {
	if a.Dates() {
		t, ok := a.time(x)
		if !ok {
			return appendNumber(b, x)
		}
		step := a.Layout.resolution() // but a float64 holds a time far from the origin only so well
		for error := math.Abs(x) * 0x1p-51 * a.unit() * 1e9; float64(step) < error; {
			step *= 10
		}
		return a.Layout.write(b, t.Round(step))
	}
	if a == nil || a.Free || a.Decimals > 17 || math.Abs(x) >= 1e21 {
		return appendNumber(b, x)
	}
	from := len(b)
	b = strconv.AppendFloat(b, x, 'f', a.Decimals, 64)
	if !a.Fixed && a.Decimals > 0 {
		b = b[:from+len(bytes.TrimRight(bytes.TrimRight(b[from:], "0"), "."))]
	}
	return b
}

// axisOf chooses the unit and the origin of a column of dates: months or years if all are the same day of the month or its last, at the
// same time of day; else the unit of most steps.
func axisOf(l layout, times []time.Time) *Axis {
	clock := func(t time.Time) time.Duration { return t.Sub(t.Truncate(24 * time.Hour)) }
	first, latest := local(times[0]), times[0]
	sameDay, sameClock, sameMonth, monthEnd := true, true, true, true
	var steps [4]int // below a minute, an hour, a day, and longer ones
	for i, t := range times {
		at := local(t)
		sameDay = sameDay && at.Day() == first.Day()
		sameClock = sameClock && clock(at) == clock(first)
		sameMonth = sameMonth && at.Month() == first.Month()
		monthEnd = monthEnd && at.Day() == daysIn(at)
		if !t.Before(latest) {
			latest = t
		}
		if i > 0 {
			unit := 0
			for unit < 3 && t.Sub(times[i-1]).Abs() >= []time.Duration{time.Minute, time.Hour, 23 * time.Hour}[unit] { // a day may have 23 hours
				unit++
			}
			steps[unit]++
		}
	}
	a := &Axis{Layout: &l}
	_, a.Offset = latest.Zone()
	several := len(times) > 1
	spread := several && monthNumber(first) != monthNumber(local(times[len(times)-1]))
	switch {
	case l.monthly() || l.quarterly():
		a.Day = 1
	case spread && sameClock && monthEnd:
		a.Day = 31
	case spread && sameClock && sameDay:
		a.Day = first.Day()
	}
	if a.Day > 0 {
		a.Unit, a.Clock, a.Local = "months", int64(clock(first)), true
		if sameMonth && several {
			a.Unit = "years"
		}
		a.Origin = time.Date(0, time.Month(a.monthOf(first)+1), 1, 0, 0, 0, 0, time.UTC).Unix()
		return a
	}
	a.Unit = "seconds"
	for i, unit := range []string{"seconds", "minutes", "hours", "days"} {
		if steps[i] > steps[0] && steps[i] >= max(steps[1], steps[2], steps[3]) {
			a.Unit = unit
		}
	}
	if l.clock == "" || !several {
		a.Unit = "days"
	}
	a.Origin = first.Truncate(24 * time.Hour).Unix()
	if a.Local = a.Unit == "days" && sameClock; !a.Local {
		_, offset := times[0].Zone()
		a.Origin -= int64(offset)
	}
	return a
}

// daysIn returns how many days the month of a time has.
func daysIn(t time.Time) int { return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// utc returns the time that is some seconds after 1970 began.
func utc(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
