package table

import (
	"fmt"
	"strings"
	"time"
)

// A stamp is the text of a date, with or without a time of day and an offset, cut into its parts.
type stamp struct {
	form       form
	year, p, q int  // the year and the other parts in the order in which they are written
	bare       bool // a day or month below 10 without a zero before it
	bareHour   bool
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
	for _, c := range []byte(s[1:6]) {
		if c == '-' || c == '/' || c == '.' || c == 'Q' || c == ' ' {
			return true
		}
	}
	return false
}

// scanner reads parts from the front of a text. It is bad once a part was not there.
type scanner struct {
	rest string
	bad  bool
}

// number takes least to most digits of a number of at most limit. It returns how many there are, too.
func (s *scanner) number(least, most, limit int) (v, n int) {
	for n < len(s.rest) && n < most && s.rest[n] >= '0' && s.rest[n] <= '9' {
		v = 10*v + int(s.rest[n]-'0')
		n++
	}
	s.rest = s.rest[n:]
	s.bad = s.bad || n < least || v > limit
	return v, n
}

// one takes a byte if it is one of the set; 0 if not.
func (s *scanner) one(set string) byte {
	if s.rest == "" || strings.IndexByte(set, s.rest[0]) < 0 {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

// need is one for a byte that must be there.
func (s *scanner) need(set string) byte {
	c := s.one(set)
	s.bad = s.bad || c == 0
	return c
}

// parseStamp cuts a text such as 2024-03-05T14:00+02:00 into its parts. All but the order of day and month is checked.
func parseStamp(text string) (t stamp, ok bool) {
	s := scanner{rest: text}
	t.date(&s)
	if !s.bad && s.rest != "" {
		s.bad = t.form.order == yearMonth || t.form.order == yearQuarter
		t.form.clock = s.need("T ")
		t.time(&s)
		t.form.gap = s.one(" ") != 0
		if t.form.gap || s.rest != "" {
			t.zone(&s)
		}
	}
	return t, !s.bad && s.rest == ""
}

// date takes the date.
func (t *stamp) date(s *scanner) {
	f, before := &t.form, *s
	first, n := s.number(1, 4, 9999)
	if n < 3 { // a day or a month
		*s = before
		f.order, t.p = yearLast, t.part(s)
		f.sep = s.need("-/.")
		t.q = t.part(s)
		s.bad = s.bad || s.one("-/.") != f.sep
		t.year, _ = s.number(4, 4, 9999)
		dayFirst := t.q <= 12 && t.p <= daysIn(t.year, t.q)
		s.bad = s.bad || !dayFirst && (t.p > 12 || t.q > daysIn(t.year, t.p))
		return
	}
	t.year, t.p = first, 1
	f.sep = s.one("-/. ")
	s.bad = s.bad || n == 3
	if s.one("Q") != 0 {
		f.order = yearQuarter
		t.q, _ = s.number(1, 1, 4)
		s.bad = s.bad || t.q < 1 || f.sep == '/' || f.sep == '.'
		return
	}
	t.p = t.part(s)
	s.bad = s.bad || f.sep == 0 || f.sep == ' ' || t.p > 12
	if f.order, t.q = yearMonth, 1; s.rest == "" {
		s.bad = s.bad || f.sep == '.'
		return
	}
	s.bad = s.bad || s.one("-/.") != f.sep
	f.order, t.q = yearMonthDay, t.part(s)
	s.bad = s.bad || t.q > daysIn(t.year, t.p)
}

// part takes a day or a month, of one digit or two.
func (t *stamp) part(s *scanner) int {
	v, n := s.number(1, 2, 31)
	t.bare = t.bare || n == 1
	s.bad = s.bad || v < 1
	return v
}

// time takes the time of day.
func (t *stamp) time(s *scanner) {
	var n int
	t.hour, n = s.number(1, 2, 23)
	t.bareHour = n == 1
	s.need(":")
	t.min, _ = s.number(2, 2, 59)
	if t.form.seconds = s.one(":") != 0; !t.form.seconds {
		return
	}
	t.sec, _ = s.number(2, 2, 59)
	if s.one(".,") != 0 {
		t.nanos, t.form.digits = s.number(1, 9, 999999999)
		for range 9 - t.form.digits {
			t.nanos *= 10
		}
	}
}

// zone takes the offset.
func (t *stamp) zone(s *scanner) {
	sign := s.need("Z+-")
	if t.form.zone = 'Z'; sign == 'Z' {
		return
	}
	hours, _ := s.number(2, 2, 18)
	minutes := 0
	t.form.zone = '2'
	if s.one(":") != 0 {
		t.form.zone = ':'
	} else if s.rest != "" {
		t.form.zone = '4'
	}
	if t.form.zone != '2' {
		minutes, _ = s.number(2, 2, 59)
	}
	t.offset = 3600*hours + 60*minutes
	if sign == '-' {
		t.offset = -t.offset
	}
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

// A notation is how the dates of a column are written.
type notation struct {
	form
	bare     bool // days and months below 10 have no zero before them
	bareHour bool
	trim     bool // a fraction of zero is left out
}

// add takes in how a further date is written, or says what does not go together with those before.
func (n *notation) add(t *stamp, first bool) (problem string) {
	f := t.form
	if first {
		n.form = f
	}
	n.bare, n.bareHour = n.bare || t.bare, n.bareHour || t.bareHour
	switch {
	case n.order != f.order || n.sep != f.sep:
		return "is a date in another notation"
	case n.clock == 0:
		n.clock, n.seconds, n.digits = f.clock, f.seconds, f.digits
	case f.clock != 0 && f.clock != n.clock:
		return "is a date in another notation"
	case f.clock != 0:
		n.trim = n.trim || f.digits != n.digits
		n.seconds, n.digits = n.seconds || f.seconds, max(n.digits, f.digits)
	}
	switch {
	case f.zone == n.zone:
	case f.zone == 0 || n.zone == 0:
		return "is a time without an offset among times with one"
	default:
		n.zone = ':'
	}
	return ""
}

// resolution is the step of the notation in nanoseconds, for notations with a day.
func (n *notation) resolution() int64 {
	switch {
	case n.clock == 0:
		return secondsPerDay * 1e9
	case !n.seconds:
		return 60e9
	}
	step := int64(1e9)
	for range n.digits {
		step /= 10
	}
	return step
}

// write appends a time on the local clock that is offset seconds ahead of Greenwich.
func (n *notation) write(b []byte, local, nanos int64, offset int) []byte {
	t := time.Unix(local-int64(offset), nanos).In(time.FixedZone("", offset))
	sep, day, month, hour := strings.Trim(string(n.sep), "\x00"), "02", "01", "%c%02d"
	if n.bare {
		day, month = "2", "1"
	}
	if n.bareHour {
		hour = "%c%d"
	}
	parts := []string{"2006", month, day}
	switch n.order {
	case yearQuarter:
		return fmt.Appendf(b, "%04d%sQ%d", t.Year(), sep, (int(t.Month())+2)/3)
	case yearMonth:
		parts = parts[:2]
	case dayMonthYear:
		parts = []string{day, month, "2006"}
	case monthDayYear:
		parts = []string{month, day, "2006"}
	}
	b = t.AppendFormat(b, strings.Join(parts, sep))
	if n.clock == 0 {
		return b
	}
	b = fmt.Appendf(b, hour, n.clock, t.Hour()) // Go has no layout for an hour of one digit
	layout := ":04"
	if n.seconds {
		if layout += ":05"; n.digits > 0 && !(n.trim && nanos == 0) {
			layout += "." + strings.Repeat("0", n.digits)
		}
	}
	if n.gap {
		layout += " "
	}
	return t.AppendFormat(b, layout+map[byte]string{'Z': "Z", '2': "-07", '4': "-0700", ':': "-07:00"}[n.zone])
}

// reference is the time that shows a notation, as in Go's package time: 2 February 2001 would leave open which number is the day.
var reference = time.Date(2001, 2, 3, 4, 5, 6, 789123456, time.UTC)

// MarshalText writes the notation as it writes 3 February 2001 at 04:05:06.789123456, two hours east. A fraction in brackets is left
// out where it is zero.
func (n notation) MarshalText() ([]byte, error) {
	text := string(n.write(nil, reference.Unix(), int64(reference.Nanosecond()), 7200))
	if n.trim && n.digits > 0 {
		dot := strings.LastIndexByte(text, '.')
		end := dot + 1 + n.digits
		text = text[:dot] + "[" + text[dot:end] + "]" + text[end:]
	}
	return []byte(text), nil
}

// UnmarshalText reads what MarshalText has written.
func (n *notation) UnmarshalText(b []byte) error {
	plain := strings.NewReplacer("[", "", "]", "").Replace(string(b))
	t, ok := parseStamp(plain)
	*n = notation{trim: plain != string(b)}
	if ok && t.form.order == yearLast {
		if t.form.order = dayMonthYear; t.p == 2 {
			t.form.order = monthDayYear
		}
	}
	n.add(&t, true)
	if again, _ := n.MarshalText(); !ok || string(again) != string(b) {
		return fmt.Errorf("the notation %.40q; want 3 February 2001, 04:05:06.789123456, as the column has dates", b)
	}
	return nil
}
