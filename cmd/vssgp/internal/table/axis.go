package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Axis maps the cells of an input column to numbers and back. Numbers are unchanged. Dates are converted to seconds, minutes, hours or
// days since Origin or, if the column follows the calendar, to months or years, so that calendar steps are evenly spaced. The zero value
// is an axis of numbers. Model files contain it as JSON.
type Axis struct {
	// Unit is seconds, minutes, hours, days, months or years for dates, rows if the input is the row number, "" for numbers.
	Unit string `json:"unit"`
	// Origin is the time of x = 0 in seconds since 1970, in local time if Local is set, else in UTC. It is midnight in the column.
	Origin int64 `json:"origin,omitempty"`
	// Local means that x counts local days or months, independent of the rows' offsets from UTC.
	Local bool `json:"local,omitempty"`
	// Day of the month (31 for the last) and Clock, in nanoseconds since midnight, are the beginning of months and years.
	Day   int   `json:"day,omitempty"`
	Clock int64 `json:"clock,omitempty"`
	// Business means that months and years begin at their first (Day is 1) or last (Day is 31) day from Monday to Friday.
	Business bool `json:"business,omitempty"`
	// Weekday, 1 for Monday to 7 for Sunday, means that they begin at this weekday: the first one from Day on, which is 1,
	// 8, 15 or 22 for the first to the fourth one of the month, or the last one if Day is 31. Otherwise it is 0.
	Weekday int `json:"weekday,omitempty"`
	// Layout is the layout of dates in the column, nil for numbers. Its JSON is 3 February 2001, 04:05:06.789123456, in the layout.
	Layout *layout `json:"notation,omitempty"`
	// Offset is the offset from UTC of the last row in time, in seconds. New dates are written with it.
	Offset int `json:"offset,omitempty"`
	// Decimals is the number of decimals in a column of numbers, in all rows if Fixed is set. Free means that numbers have exponents.
	Decimals int  `json:"decimals,omitempty"`
	Fixed    bool `json:"fixed,omitempty"`
	Free     bool `json:"free,omitempty"`

	offsets map[float64]int // offsets from UTC by x, for rows whose offset differs from Offset
}

const secondsPerDay = 86400

// unitSeconds are the units of fixed length, in seconds.
var unitSeconds = map[string]int64{"seconds": 1, "minutes": 60, "hours": 3600, "days": secondsPerDay}

// unitMonths are the calendar units, in months.
var unitMonths = map[string]float64{"months": 1, "years": 12}

// Dates reports whether the column contains dates.
func (a *Axis) Dates() bool { return a != nil && a.Layout != nil }

// Check returns an error if the axis is invalid, which can occur in a model file.
func (a *Axis) Check() error {
	bad := a.Unit != "" && a.Unit != "rows"
	if a.Layout != nil {
		_, timed := unitSeconds[a.Unit]
		calendar := unitMonths[a.Unit] > 0 && a.Day >= 1 && a.Day <= 31 && a.Clock >= 0 && a.Clock < secondsPerDay*1e9 &&
			!(a.Business && (a.Weekday != 0 || a.Day > 1 && a.Day < 31)) && a.Weekday >= 0 && a.Weekday <= 7 &&
			!(a.Weekday > 0 && a.Day < 31 && (a.Day > 22 || a.Day%7 != 1))
		bad = !timed && !calendar
	}
	const farthest = 1e12 // seconds from 1970
	if bad || a.Decimals < 0 || a.Decimals > 400 || a.Origin > farthest || a.Origin < -farthest {
		return malformed("invalid axis with unit %.20q; must be seconds, minutes, hours, days, months or years with a layout of dates", a.Unit)
	}
	return nil
}

// Since returns the day of x = 0 in ISO 8601.
func (a *Axis) Since() string {
	seconds := a.Origin
	if !a.Local {
		seconds += int64(a.Offset)
	}
	return utc(seconds + secondsPerDay/2).Format(time.DateOnly) // the first row may have another offset
}

// Parse returns x of a cell of the column or of a date in another layout. A time without an offset has the offset of the last row.
func (a *Axis) Parse(text string) (float64, error) {
	v, _, problem := a.parse(text)
	if problem != "" {
		return 0, fmt.Errorf("%.40q %s", text, problem)
	}
	return v, nil
}

// ParseLast returns x of the last date to include. A date without a time includes the whole day, month, quarter or
// week: then x is the beginning of the next one, and excluded is true.
func (a *Axis) ParseLast(text string) (x float64, excluded bool, err error) {
	if x, err = a.Parse(text); err != nil || !a.Dates() {
		return x, false, err
	}
	l, t, ok := *a.Layout, time.Time{}, false
	if t, ok = l.parse(text); !ok {
		l = a.Layout.othersOf(text)[0] // if there are two, they differ in the order of day and month
		t, _, _ = a.Layout.parseLike(text)
	}
	months, days := l.period()
	if months+days == 0 {
		return x, false, nil
	}
	return a.of(inZone(t.AddDate(0, months, days), a.Offset)), true, nil
}

const (
	missingNumber = "is missing; add a number or remove the row"
	missingDate   = "is missing; add a date or remove the row"
)

// parse returns x and the offset from UTC of a cell. If the cell is invalid, problem is the end of the error's text.
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
	case problem != "" && problem != noSuchDate && isNumber(s):
		problem = "is a number, not a date"
	case !zoned:
		t = inZone(t, a.Offset)
	}
	if problem != "" {
		return 0, 0, problem + "; must be a date such as " + a.Format(0) + strings.Replace(likely(s), aDate, "", 1)
	}
	_, offset = t.Zone()
	return a.of(t), offset, ""
}

// local returns the local time of t in its zone as a time in UTC.
func local(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// inZone returns the time whose local time at the offset from UTC is t. It is the inverse of local.
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

// monthNumber returns the number of months from January of the year 0 to the month of t.
func monthNumber(t time.Time) int64 { return 12*int64(t.Year()) + int64(t.Month()) - 1 }

// monthOf returns the same number for months that begin at Day and Clock.
func (a *Axis) monthOf(t time.Time) int64 {
	month := monthNumber(t)
	if t.Before(a.monthStart(month)) {
		month--
	}
	return month
}

// monthStart returns the beginning of a month of the axis.
func (a *Axis) monthStart(month int64) time.Time {
	first := time.Date(0, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, a.startDay(first)-1).Add(time.Duration(a.Clock))
}

// startDay returns the day on which a month of the axis begins in the month of first, which is its first day.
func (a *Axis) startDay(first time.Time) int {
	day, step := min(a.Day, daysIn(first)), 1
	if a.Day == 31 {
		step = -1
	}
	weekday := (first.Weekday() + time.Weekday(day-1)) % 7
	for a.Business && isWeekend(weekday) || a.Weekday > 0 && weekday != time.Weekday(a.Weekday%7) {
		day, weekday = day+step, (weekday+time.Weekday(step)+7)%7
	}
	return day
}

func isWeekend(day time.Weekday) bool { return day == time.Saturday || day == time.Sunday }

// time returns the time of x with its offset from UTC. ok is false for times more than about 30 million years from the origin.
func (a *Axis) time(x float64) (t time.Time, ok bool) {
	const maxSeconds = 1e15
	if !(math.Abs(x)*a.unit() < maxSeconds) {
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

// unit returns the length of the unit in seconds, or of the longest month for months and years.
func (a *Axis) unit() float64 { return float64(cmp.Or(unitSeconds[a.Unit], 31*secondsPerDay)) }

// fromCalendar returns the time of x months or years. In columns of months or quarters, it rounds x to one of them.
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

// Seconds returns the local time of x in seconds since 1970, NaN if it is out of range.
func (a *Axis) Seconds(x float64) float64 {
	t, ok := a.time(x)
	if !ok {
		return math.NaN()
	}
	t = local(t)
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// Format formats x in the layout of the column. The date of a row has the offset from UTC of the row; other dates have the offset of the
// last row.
func (a *Axis) Format(x float64) string { return string(a.Append(nil, x)) }

// Append appends the result of Format.
func (a *Axis) Append(b []byte, x float64) []byte {
	if a.Dates() {
		t, ok := a.time(x)
		if !ok {
			return appendNumber(b, x)
		}
		step := a.Layout.resolution() // at least the resolution of a float64, which is coarse far from the origin
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

// axisOf returns the axis of a column of dates. The unit is months or years if all dates are the same day of the
// month, or the last day of months without it, at the same time of day, or if all are the first or last business day or
// the same weekday, such as the third Friday, of a month. Otherwise it is the unit of most steps.
func axisOf(l layout, times []time.Time) *Axis {
	clock := func(t time.Time) time.Duration { return t.Sub(t.Truncate(24 * time.Hour)) }
	first, latest := local(times[0]), times[0]
	sameClock, sameMonth := true, true
	var steps [4]int // numbers of steps below a minute, an hour, a day, and of longer steps
	for i, t := range times {
		at := local(t)
		sameClock = sameClock && clock(at) == clock(first)
		sameMonth = sameMonth && at.Month() == first.Month()
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
	case spread && sameClock && l.day != week:
		a.setDay(times)
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

// setDay sets the rule that gives the day of the month of all times. If there is none, Day remains 0.
func (a *Axis) setDay(times []time.Time) {
	latest, first := 0, local(times[0])
	for _, t := range times {
		latest = max(latest, local(t).Day())
	}
	rules := []Axis{{Day: 31}, {Day: latest}, {Day: 1, Business: true}, {Day: 31, Business: true}}
	weekday, week := (int(first.Weekday())+6)%7+1, (first.Day()-1)/7
	if rules = append(rules, Axis{Day: 31, Weekday: weekday}); week < 4 {
		rules = append(rules, Axis{Day: 1 + 7*week, Weekday: weekday})
	}
	for _, rule := range rules {
		another := func(t time.Time) bool {
			at := local(t)
			return at.Day() != rule.startDay(at.AddDate(0, 0, 1-at.Day()))
		}
		if !slices.ContainsFunc(times, another) && (rule.Weekday == 0 || !evenDays(times)) {
			a.Day, a.Business, a.Weekday = rule.Day, rule.Business, rule.Weekday
			return
		}
	}
}

// evenDays reports whether the steps between times are multiples of the shortest one in local time, such as four weeks.
func evenDays(times []time.Time) bool {
	var all []int64
	for _, t := range times {
		all = append(all, local(t).Unix())
	}
	slices.Sort(all)
	all = slices.Compact(all)
	least := int64(math.MaxInt64)
	for i := range all[1:] {
		least = min(least, all[i+1]-all[i])
	}
	return !slices.ContainsFunc(all, func(at int64) bool { return (at-all[0])%least != 0 })
}

// daysIn returns the number of days in the month of a time.
func daysIn(t time.Time) int { return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// utc returns the time at the given seconds since 1970.
func utc(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
