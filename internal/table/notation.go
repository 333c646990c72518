package table

import (
	"fmt"
	"strings"
	"time"
)

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
func (n *notation) write(b []byte, local int64, nanos int, offset int) []byte {
	t := time.Unix(local, int64(nanos)).UTC()
	two := "%02d"
	if n.bare {
		two = "%d"
	}
	year, month, day := t.Date()
	date := func(format string, parts ...any) { b = fmt.Appendf(b, format, parts...) }
	sep := string(n.sep)
	switch n.order {
	case yearQuarter:
		if n.sep == 0 {
			sep = ""
		}
		date("%04d%sQ%d", year, sep, (int(month)+2)/3)
	case yearMonth:
		date("%04d%s"+two, year, sep, int(month))
	case dayMonthYear:
		date(two+"%s"+two+"%s%04d", day, sep, int(month), sep, year)
	case monthDayYear:
		date(two+"%s"+two+"%s%04d", int(month), sep, day, sep, year)
	default:
		date("%04d%s"+two+"%s"+two, year, sep, int(month), sep, day)
	}
	if n.clock == 0 {
		return b
	}
	two = "%02d"
	if n.bareHour {
		two = "%d"
	}
	date("%c"+two+":%02d", n.clock, t.Hour(), t.Minute())
	if n.seconds {
		date(":%02d", t.Second())
		if n.digits > 0 && !(n.trim && nanos == 0) {
			date(".%s", fmt.Sprintf("%09d", nanos)[:n.digits])
		}
	}
	return n.writeZone(b, offset)
}

// writeZone appends the offset.
func (n *notation) writeZone(b []byte, offset int) []byte {
	if n.zone == 0 {
		return b
	}
	if n.gap {
		b = append(b, ' ')
	}
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	hours, minutes := offset/3600, offset/60%60
	switch n.zone {
	case 'Z':
		return append(b, 'Z')
	case '2':
		return fmt.Appendf(b, "%c%02d", sign, hours)
	case '4':
		return fmt.Appendf(b, "%c%02d%02d", sign, hours, minutes)
	}
	return fmt.Appendf(b, "%c%02d:%02d", sign, hours, minutes)
}

// reference is the time that shows a notation, as in Go's package time: 2 February 2001 would leave open which number is the day.
var reference = time.Date(2001, 2, 3, 4, 5, 6, 789123456, time.UTC)

// MarshalText writes the notation as it writes 3 February 2001 at 04:05:06.789123456, two hours east. A fraction in brackets is left
// out where it is zero.
func (n notation) MarshalText() ([]byte, error) {
	b := n.write(nil, reference.Unix(), reference.Nanosecond(), 7200)
	if n.trim && n.digits > 0 {
		clock := strings.LastIndexByte(string(b), '.')
		b = []byte(string(b[:clock]) + "[" + string(b[clock:clock+1+n.digits]) + "]" + string(b[clock+1+n.digits:]))
	}
	return b, nil
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
