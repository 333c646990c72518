package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const secondsPerDay = 86400

// days are the layouts of days, months and quarters, as of package time. They are read with or without a zero before a day or a month.
// The 1 after a Q is the quarter.
var days = []string{
	"2006-1-2", "2006/1/2", "2006.1.2", "2006-1", "2006/1", "2006-Q1", "2006Q1", "2006 Q1",
	"2-1-2006", "2/1/2006", "2.1.2006", "1-2-2006", "1/2/2006", "1.2.2006",
	"2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 Jan 06", "2 January 2006", "Jan 2 2006", "January 2 2006", "Jan 2, 2006", "January 2, 2006",
}

// daysByShape are days by the shape of their texts: of 2006-1-2, 2-1-2006 and 1-2-2006 it is 0-0-0.
var daysByShape = func() map[string][]string {
	by := map[string][]string{}
	for _, day := range days {
		by[string(shape(nil, day))] = append(by[string(shape(nil, day))], day)
	}
	return by
}()

// shape appends s with 0 for each run of digits and A for each run of letters.
func shape(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c):
			c = '0'
		case isLetter(c):
			c = 'A'
		}
		if n := len(b); n == 0 || b[n-1] != c || c != '0' && c != 'A' {
			b = append(b, c)
		}
	}
	return b
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// A layout is how dates are written.
type layout struct {
	day     string // one of days
	clock   byte   // before the time of day: 'T' or ' '; 0: there is none
	seconds bool
	digits  int    // of a fraction of a second
	trim    bool   // a fraction of zero is left out
	zone    string // of the offset from UTC: Z07:00, -07:00, -0700 or -07, also after a space; "" for none

	// widths of a month, a day and an hour below 10; 0 is unknown
	month, dayOfMonth, hour int

	read string // by package time, whatever the widths, the fraction, and Z or +00:00
}

// layoutsOf returns the layouts by which a text is a date, of which there are two for a text such as 1/2/2024.
func layoutsOf(s string) (all []layout) {
	l, day := layout{}, s
	if colon := strings.IndexByte(s, ':'); colon >= 0 {
		start := strings.LastIndexAny(s[:colon], "T ")
		if start < 0 {
			return nil
		}
		day, l.clock = s[:start], s[start]
		clock, zone := cutZone(s[start+1:])
		l.seconds = strings.Count(clock, ":") > 1
		if l.zone = zoneLayout(zone); l.zone == "" && zone != "" {
			return nil
		}
	}
	if len(day) > len("September 30, 2006") {
		return nil
	}
	var b [32]byte
	for _, l.day = range daysByShape[string(shape(b[:0], day))] {
		if l.clock != 0 && (l.monthly() || l.quarterly()) {
			continue
		}
		l.read = l.day + l.clockLayout("15") + strings.Replace(l.zone, "-07", "Z07", 1)
		if _, ok := l.parse(s); ok {
			all = append(all, l)
		}
	}
	return all
}

// cutZone cuts the offset from UTC, with the space before it, off a time of day.
func cutZone(s string) (clock, zone string) {
	if i := strings.IndexAny(s, "Z+- "); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// zoneLayout returns the layout of an offset from UTC; "" if it is none.
func zoneLayout(zone string) string {
	space, zone := zone[:len(zone)-len(strings.TrimPrefix(zone, " "))], strings.TrimPrefix(zone, " ")
	switch n := len(zone); {
	case zone == "Z":
		return space + "Z07:00"
	case zone == "" || zone[0] != '+' && zone[0] != '-' || zone[1:] > "18:00" || n > 3 && zone[n-2:] > "59":
		return ""
	case n == len("-07"):
		return space + "-07"
	case n == len("-0700"):
		return space + "-0700"
	case n == len("-07:00"):
		return space + "-07:00"
	}
	return ""
}

func (l *layout) monthly() bool   { return l.day == "2006-1" || l.day == "2006/1" }
func (l *layout) quarterly() bool { return strings.Contains(l.day, "Q") }

// numeric reports whether numbers of the day and the month are before the year.
func (l *layout) numeric() bool {
	return strings.HasSuffix(l.day, "2006") && !strings.Contains(l.day, "Jan")
}

// dayFirst reports which of them is first.
func (l *layout) dayFirst() bool { return l.day[0] == '2' }

// clockLayout returns the layout of the time of day, without a fraction.
func (l *layout) clockLayout(hour string) string {
	switch {
	case l.clock == 0:
		return ""
	case l.seconds:
		return string(l.clock) + hour + ":04:05"
	}
	return string(l.clock) + hour + ":04"
}

// A moment is a time on the local clock, in seconds since 1970, and its offset from UTC.
type moment struct {
	local         int64
	nanos, offset int32
}

// noMoment stands for a cell without a date.
var noMoment = moment{local: math.MinInt64}

// parse reads a text with this layout.
func (l *layout) parse(s string) (m moment, ok bool) {
	t, err := time.ParseInLocation(l.read, s, time.UTC)
	if err != nil {
		return m, false
	}
	if l.quarterly() {
		if t.Month() > 4 {
			return m, false
		}
		t = t.AddDate(0, 2*int(t.Month()-1), 0)
	}
	_, offset := t.Zone()
	return moment{t.Unix() + int64(offset), int32(t.Nanosecond()), int32(offset)}, true
}

// parseLike reads a text whose day has this layout, with or without a time of day and an offset.
func (l *layout) parseLike(s string) (m moment, ok bool) {
	if m, ok = l.parse(s); ok {
		return m, true
	}
	for _, other := range layoutsOf(s) {
		if other.day == l.day {
			return other.parse(s)
		}
	}
	return m, false
}

// observe takes in how a text is written that parseLike reads.
func (l *layout) observe(s string) {
	day, clock, zone := s, "", ""
	if colon := strings.IndexByte(s, ':'); colon >= 0 {
		start := strings.LastIndexAny(s[:colon], "T ")
		day = s[:start]
		clock, zone = cutZone(s[start+1:])
	}
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	width := func(of *int, digits string) {
		if len(digits) == 1 || digits[0] == '0' {
			*of = len(digits)
		}
	}
	numbers := strings.FieldsFunc(day, notDigit)
	for i, token := range strings.FieldsFunc(l.day, notDigit) {
		switch token {
		case "1":
			width(&l.month, numbers[i])
		case "2":
			width(&l.dayOfMonth, numbers[i])
		}
	}
	if clock == "" {
		return
	}
	width(&l.hour, clock[:strings.IndexByte(clock, ':')])
	if digits := len(clock) - 1 - strings.IndexAny(clock+".", ".,"); strings.Count(clock, ":") > 1 {
		digits = max(digits, 0)
		l.trim = l.trim || l.digits >= 0 && digits != l.digits
		l.digits = max(l.digits, digits)
	}
	if zone != "" {
		l.zone = zoneLayout(zone)
	}
}

// observed takes in how some texts are written, of which the last ones count.
func (l *layout) observed(texts ...string) {
	l.digits = -1
	for _, s := range texts {
		l.observe(s)
	}
	l.digits = max(l.digits, 0)
	if l.month == 0 {
		l.month = l.dayOfMonth
	}
	if l.dayOfMonth == 0 {
		l.dayOfMonth = l.month
	}
}

// resolution returns the step of the layout in nanoseconds, for layouts with a day.
func (l *layout) resolution() int64 {
	switch {
	case l.clock == 0:
		return secondsPerDay * 1e9
	case !l.seconds:
		return 60e9
	}
	step := int64(1e9)
	for range l.digits {
		step /= 10
	}
	return step
}

// write appends a date.
func (l *layout) write(b []byte, m moment) []byte {
	t := time.Unix(m.local-int64(m.offset), int64(m.nanos)).In(time.FixedZone("", int(m.offset)))
	if l.quarterly() {
		return fmt.Appendf(b, "%04d%s%d", t.Year(), l.day[len("2006"):len(l.day)-1], (int(t.Month())+2)/3)
	}
	month, day := "01", "02"
	if l.month == 1 {
		month = "1"
	}
	if l.dayOfMonth == 1 {
		day = "2"
	}
	b = t.AppendFormat(b, strings.NewReplacer("2006", "2006", "06", "06", "1", month, "2", day).Replace(l.day))
	if l.clock == 0 {
		return b
	}
	rest := l.clockLayout("15")[len("T15"):]
	if l.digits > 0 && !(l.trim && m.nanos == 0) {
		rest += "." + strings.Repeat("0", l.digits)
	}
	b = append(b, l.clock)
	if t.Hour() < 10 && l.hour != 1 {
		b = append(b, '0')
	}
	return t.AppendFormat(strconv.AppendInt(b, int64(t.Hour()), 10), rest+l.zone)
}

// reference is the date by which model files show a layout: 3 February 2001 at 04:05:06.789123456, two hours east
// unless all dates are in UTC. (In 2 January, as in
// package time, zeros before digits could be of the month or the day.)
var reference = moment{time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC).Unix(), 789123456, 7200}

// MarshalText writes the reference date. A fraction in brackets is left out if it is zero.
func (l layout) MarshalText() ([]byte, error) {
	m := reference
	if strings.HasSuffix(l.zone, "Z07:00") {
		m.offset = 0
	}
	s := string(l.write(nil, m))
	if l.trim && l.digits > 0 {
		end := strings.LastIndexByte(s, '.') + 1 + l.digits
		s = s[:end-l.digits-1] + "[" + s[end-l.digits-1:end] + "]" + s[end:]
	}
	return []byte(s), nil
}

// UnmarshalText reads what MarshalText has written.
func (l *layout) UnmarshalText(b []byte) error {
	plain := strings.NewReplacer("[", "", "]", "").Replace(string(b))
	for _, *l = range layoutsOf(plain) {
		l.observed(plain)
		l.trim = plain != string(b)
		if again, _ := l.MarshalText(); string(again) == string(b) {
			return nil
		}
	}
	return fmt.Errorf("the layout %.40q of dates; want 3 February 2001, 04:05:06.789123456, as the column has dates", b)
}

// looksLikeDate is a quick test that all dates pass.
func looksLikeDate(s string) bool {
	if len(s) < 6 {
		return false
	}
	if isLetter(s[0]) { // the name of a month
		return strings.IndexByte(s, ' ') >= 3 && (isDigit(s[len(s)-1]) || s[len(s)-1] == 'Z')
	}
	i := strings.IndexAny(s[:6], "-/. Q")
	return isDigit(s[0]) && i > 0 && (s[i] != '.' || strings.IndexByte(s[i+1:], '.') > 0)
}

// observedRows is how many of the last dates of a column show how it writes them.
const observedRows = 1000

// readDates reads the dates of a column; other cells are zero. like is the axis of dates with which they are used, or nil.
func (t *Table) readDates(col int, like *Axis) (l layout, moments []moment, err error) {
	var options []layout // that suit all dates so far
	var later []int      // rows to read once there is one option
	decided := 0         // the row that left one option
	moments = slices.Repeat([]moment{noMoment}, t.Rows)
	for row := range t.Rows {
		s := t.text(row, col)
		if len(options) == 1 {
			if m, ok := options[0].parse(s); ok {
				moments[row] = m
				continue
			}
		}
		here := layoutsOf(s)
		if here == nil {
			continue
		}
		if t.DayFirst != nil {
			here = slices.DeleteFunc(here, func(l layout) bool { return l.numeric() && l.dayFirst() != *t.DayFirst })
		}
		switch before := len(options); {
		case len(here) == 0:
			return l, nil, t.wrong(row, col, "is no date with the "+firstWord(*t.DayFirst)+" first, as --dayfirst says")
		case before == 0:
			options, decided = here, row
		default:
			kept, problem := narrow(options, here)
			if problem != "" {
				return l, nil, t.wrong(row, col, problem+"; before it is "+t.text(decided, col))
			}
			if options = kept; len(kept) < before {
				decided = row
			}
		}
		later = append(later, row)
	}
	if len(options) == 2 && options[0].numeric() {
		var problem string
		if options, problem = preferred(options, t.text(decided, col), like); problem != "" {
			return l, nil, t.wrong(decided, col, problem)
		}
	}
	l = options[0]
	for _, row := range later {
		moments[row], _ = l.parseLike(t.text(row, col))
	}
	var last []string
	for row := t.Rows - 1; row >= 0 && len(last) < observedRows; row-- {
		if s := t.text(row, col); len(layoutsOf(s)) > 0 {
			last = append(last, s)
		}
	}
	slices.Reverse(last)
	l.observed(last...)
	return l, moments, nil
}

// narrow returns the options that suit a text of the layouts here, too, or what does not go together.
func narrow(options, here []layout) (kept []layout, problem string) {
	for _, o := range options {
		i := slices.IndexFunc(here, func(l layout) bool { return l.day == o.day })
		if i < 0 {
			continue
		}
		l := here[i]
		switch {
		case l.clock != 0 && o.clock != 0 && l.clock != o.clock:
			return nil, "is a date in another layout"
		case (l.zone == "") != (o.zone == ""):
			return nil, "is a time without an offset from UTC among times with one"
		case o.clock == 0, l.seconds && !o.seconds:
			o.clock, o.seconds, o.read = l.clock, l.seconds, l.read
		}
		kept = append(kept, o)
	}
	if a, b := &options[0], &here[0]; kept == nil && a.numeric() && b.numeric() && a.day[1] == b.day[1] {
		return nil, "has the " + firstWord(b.dayFirst()) + " first, but dates before have the " + firstWord(a.dayFirst()) +
			" first; want one order, such as YYYY-MM-DD"
	} else if kept == nil {
		return nil, "is a date in another layout"
	}
	return kept, ""
}

func firstWord(day bool) string {
	if day {
		return "day"
	}
	return "month"
}

// preferred chooses one of two orders of day and month that suit a column: that of another axis or, before a dot, the day first.
func preferred(options []layout, s string, like *Axis) ([]layout, string) {
	for i := range options {
		if like.Dates() && like.Layout.numeric() && like.Layout.dayFirst() == options[i].dayFirst() {
			return options[i:], ""
		}
	}
	if options[0].day == "2.1.2006" {
		return options, ""
	}
	return nil, "is " + options[0].spelled(s) + " or " + options[1].spelled(s) +
		", and no date of the column decides which; want --dayfirst, --dayfirst=false, or YYYY-MM-DD"
}

// spelled returns a date with the name of its month.
func (l *layout) spelled(s string) string {
	m, _ := l.parse(s)
	return utc(m.local).Format("2 January 2006")
}
