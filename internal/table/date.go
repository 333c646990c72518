package table

import "time"

// A stamp is the text of a date, with or without a time of day and an offset, cut into its parts.
type stamp struct {
	form       form
	year, p, q int  // the year and the other parts in the order in which they are written
	bare, full bool // a day or month below 10 without, and with, a zero before it
	bareHour   bool
	fullHour   bool
	hour, min  int
	sec, nanos int
	offset     int // in seconds east of Greenwich
}

// A form is how dates are written.
type form struct {
	order   byte // yearMonthDay, …
	sep     byte // between year, month and day
	clock   byte // before the time of day: 'T' or ' '; 0 for none
	seconds bool
	digits  int  // of a fraction of a second
	gap     bool // before the offset
	zone    byte // of the offset: 0 for none, 'Z', ':' for +02:00, '4' for +0200, '2' for +02
}

// Orders of the parts of a date.
const (
	yearMonthDay  byte = 'y'
	dayMonthYear  byte = 'd'
	monthDayYear  byte = 'm'
	yearLast      byte = 'x' // one of the two
	yearMonth     byte = 'M'
	yearQuarter   byte = 'Q'
	secondsPerDay      = 86400
)

// looksLikeDate is a quick test, passed by all dates.
func looksLikeDate(s string) bool {
	if len(s) < 6 || s[0] < '0' || s[0] > '9' {
		return false
	}
	for _, c := range []byte(s[1:min(len(s), 6)]) {
		if c == '-' || c == '/' || c == '.' || c == 'Q' || c == ' ' {
			return true
		}
	}
	return false
}

// scanner reads parts from the front of a text.
type scanner string

// number takes least to most digits.
func (s *scanner) number(least, most int) (v, n int, ok bool) {
	for n < len(*s) && n < most && (*s)[n] >= '0' && (*s)[n] <= '9' {
		v = 10*v + int((*s)[n]-'0')
		n++
	}
	*s = (*s)[n:]
	return v, n, n >= least
}

// one takes a byte if it is one of the set.
func (s *scanner) one(set string) (byte, bool) {
	if len(*s) > 0 {
		for _, c := range []byte(set) {
			if (*s)[0] == c {
				*s = (*s)[1:]
				return c, true
			}
		}
	}
	return 0, false
}

// parseStamp cuts a text such as 2024-03-05T14:00+02:00 into its parts. All but the order of day and month is checked.
func parseStamp(text string) (t stamp, ok bool) {
	s := scanner(text)
	if !t.date(&s) {
		return t, false
	}
	if s == "" {
		return t, true
	}
	if t.form.order == yearMonth || t.form.order == yearQuarter {
		return t, false
	}
	if t.form.clock, ok = s.one("T "); !ok || !t.time(&s) {
		return t, false
	}
	_, t.form.gap = s.one(" ")
	if s == "" {
		return t, !t.form.gap
	}
	return t, t.zone(&s) && s == ""
}

// date takes the date.
func (t *stamp) date(s *scanner) (ok bool) {
	before := *s
	first, n, ok := s.number(1, 4)
	if !ok || n == 3 {
		return false
	}
	t.p = 1
	if n == 4 {
		t.year = first
		t.form.sep, ok = s.one("-/. ")
		if _, quarter := s.one("Q"); quarter {
			t.form.order = yearQuarter
			t.q, _, ok = s.number(1, 1)
			return ok && t.q >= 1 && t.q <= 4 && t.form.sep != '/' && t.form.sep != '.'
		}
		if !ok || t.form.sep == ' ' || !t.part(s, &t.p) || t.p > 12 {
			return false
		}
		if _, ok = s.one(string(t.form.sep)); !ok {
			t.form.order, t.q = yearMonth, 1
			return t.form.sep != '.' && *s == ""
		}
		t.form.order = yearMonthDay
		return t.part(s, &t.q) && t.q <= daysIn(t.year, t.p)
	}
	*s = before
	if !t.part(s, &t.p) {
		return false
	}
	if t.form.sep, ok = s.one("-/."); !ok || !t.part(s, &t.q) {
		return false
	}
	if _, ok = s.one(string(t.form.sep)); !ok {
		return false
	}
	t.form.order = yearLast
	t.year, _, ok = s.number(4, 4)
	day := t.q <= 12 && t.p <= daysIn(t.year, t.q)
	return ok && (day || t.p <= 12 && t.q <= daysIn(t.year, t.p))
}

// part takes a day or a month, of one digit or two.
func (t *stamp) part(s *scanner, to *int) bool {
	zero := len(*s) > 0 && (*s)[0] == '0'
	v, n, ok := s.number(1, 2)
	*to = v
	t.bare, t.full = t.bare || n == 1, t.full || n == 2 && zero
	return ok && v >= 1 && v <= 31
}

// time takes the time of day.
func (t *stamp) time(s *scanner) (ok bool) {
	zero := len(*s) > 0 && (*s)[0] == '0'
	var n int
	if t.hour, n, ok = s.number(1, 2); !ok || t.hour > 23 {
		return false
	}
	t.bareHour, t.fullHour = n == 1, n == 2 && zero
	if _, ok = s.one(":"); !ok {
		return false
	}
	if t.min, _, ok = s.number(2, 2); !ok || t.min > 59 {
		return false
	}
	if _, t.form.seconds = s.one(":"); !t.form.seconds {
		return true
	}
	if t.sec, _, ok = s.number(2, 2); !ok || t.sec > 59 {
		return false
	}
	if _, fraction := s.one(".,"); fraction {
		if t.nanos, t.form.digits, ok = s.number(1, 9); !ok {
			return false
		}
		for range 9 - t.form.digits {
			t.nanos *= 10
		}
	}
	return true
}

// zone takes the offset.
func (t *stamp) zone(s *scanner) bool {
	sign, ok := s.one("Z+-")
	if sign == 'Z' || !ok {
		t.form.zone = 'Z'
		return ok
	}
	hours, _, ok := s.number(2, 2)
	minutes := 0
	t.form.zone = '2'
	if _, colon := s.one(":"); colon {
		t.form.zone = ':'
	} else if *s != "" {
		t.form.zone = '4'
	}
	if t.form.zone != '2' && ok {
		minutes, _, ok = s.number(2, 2)
	}
	t.offset = 3600*hours + 60*minutes
	if sign == '-' {
		t.offset = -t.offset
	}
	return ok && hours <= 18 && minutes <= 59
}

// monthDay returns the month and the day, for an order that is known.
func (t *stamp) monthDay(order byte) (month, day int) {
	switch order {
	case dayMonthYear:
		return t.q, t.p
	case yearQuarter:
		return 3*t.q - 2, 1
	}
	return t.p, t.q
}

// local returns the time on the local clock in seconds since 1970, without the fraction. ok is false if there is no such day.
func (t *stamp) local(order byte) (seconds int64, ok bool) {
	month, day := t.monthDay(order)
	if month < 1 || month > 12 || day > daysIn(t.year, month) {
		return 0, false
	}
	return time.Date(t.year, time.Month(month), day, t.hour, t.min, t.sec, 0, time.UTC).Unix(), true
}

// daysIn returns how many days a month has.
func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// civil returns the date of a time in seconds since 1970.
func civil(seconds int64) (year int, month int, day int) {
	y, m, d := time.Unix(seconds, 0).UTC().Date()
	return y, int(m), d
}

// unixDay returns the number of days since 1970.
func unixDay(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}

// unixMonth returns the first day of a month, in days since 1970.
func unixMonth(month int64) int64 {
	year := floorDiv(month, 12)
	return unixDay(int(year), int(month-12*year)+1, 1)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
