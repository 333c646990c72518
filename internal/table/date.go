package table

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// days are the layouts of days, months and quarters, as of package time. They read days and months with or without a zero before them.
// The 1 after a Q is the quarter.
var days = []string{
	"2006-1-2", "2006/1/2", "2006.1.2", "2006-1", "2006/1", "2006-Q1", "2006Q1", "2006 Q1",
	"2-1-2006", "2/1/2006", "2.1.2006", "1-2-2006", "1/2/2006", "1.2.2006",
	"2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 Jan 06", "2 January 2006", "Jan 2 2006", "January 2 2006", "Jan 2, 2006", "January 2, 2006",
}

// daysByShape are days by the shape of their texts: 2006-1-2, 2-1-2006 and 1-2-2006 have the shape 0-0-0.
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
	day   string // one of days
	clock string // 15:04 or 15:04:05 after a T or a space; "": there is no time of day
	zone  string // of the offset from UTC: Z07:00, -07:00, -0700 or -07, also after a space; "" for none
	read  string // all of it, as of package time; it also reads fractions of a second, and either Z or an offset

	// How dates are written, which layoutsOf leaves open.
	zeros  string // day, with the zeros before days and months
	hour   int    // digits of an hour below 10
	digits int    // of a fraction of a second
	trim   bool   // a fraction of zero is left out
}

// cutDate cuts a date into its day, its time of day with the T or the space before it, and its offset from UTC.
func cutDate(s string) (day, clock, zone string) {
	start := strings.LastIndexAny(s[:max(0, strings.IndexByte(s, ':'))], "T ")
	if start < 0 {
		return s, "", ""
	}
	day, clock = s[:start], s[start:]
	if i := 1 + strings.IndexAny(clock[1:], "Z+- "); i > 0 {
		clock, zone = clock[:i], clock[i:]
	}
	return day, clock, zone
}

// zones are the layouts of offsets from UTC by the length of their texts.
var zones = map[int]string{len("Z"): "Z07:00", len("-07"): "-07", len("-0700"): "-0700", len("-07:00"): "-07:00"}

// layoutsOf returns the layouts by which a text is a date: two for a text such as 1/2/2024 or 1 May 2024.
func layoutsOf(s string) (all []layout) {
	l := layout{hour: 2}
	day, clock, zone := cutDate(s)
	if clock != "" {
		if l.clock = clock[:1] + "15:04"; strings.Count(clock, ":") > 1 {
			l.clock += ":05"
		}
	}
	if number := strings.TrimPrefix(zone, " "); zone != "" {
		if zones[len(number)] == "" {
			return nil
		}
		l.zone = zone[:len(zone)-len(number)] + zones[len(number)]
	}
	var b [32]byte
	for _, l.day = range daysByShape[string(shape(b[:0], day))] {
		if l.clock != "" && (l.monthly() || l.quarterly()) {
			continue
		}
		l.zeros, l.read = l.day, l.day+l.clock+strings.Replace(l.zone, "-07", "Z07", 1)
		if _, ok := l.parse(s); ok {
			all = append(all, l)
		}
	}
	return all
}

func (l *layout) monthly() bool   { return l.day == "2006-1" || l.day == "2006/1" }
func (l *layout) quarterly() bool { return strings.Contains(l.day, "Q") }

// numeric reports whether numbers of the day and the month are before the year.
func (l *layout) numeric() bool {
	return len(l.day) == len("2.1.2006") && strings.HasSuffix(l.day, "2006")
}

// dayFirst reports which of them is first.
func (l *layout) dayFirst() bool { return l.day[0] == '2' }

// parse reads a text with this layout, in UTC unless it has an offset.
func (l *layout) parse(s string) (t time.Time, ok bool) {
	t, err := time.ParseInLocation(l.read, s, time.UTC)
	if err != nil || l.quarterly() && (t.Month() > 4 || s[len(s)-2] != 'Q') {
		return t, false
	}
	if l.quarterly() {
		t = t.AddDate(0, 2*int(t.Month()-1), 0)
	}
	return t, true
}

// parseLike reads a text with this layout, or with another one but the same order of day and month. zoned reports whether it has an
// offset from UTC.
func (l *layout) parseLike(s string) (t time.Time, zoned bool, problem string) {
	if t, ok := l.parse(s); ok {
		return t, l.zone != "", ""
	}
	options := layoutsOf(s)
	if l.numeric() {
		options = slices.DeleteFunc(options, func(o layout) bool { return o.numeric() && o.dayFirst() != l.dayFirst() })
	}
	switch {
	case len(options) == 0:
		return t, false, "is not a date"
	case len(options) > 1 && options[0].numeric():
		return t, false, "may be day/month or month/day"
	}
	t, _ = options[0].parse(s)
	return t, options[0].zone != "", ""
}

// zeros write months (1) and days (2) with zeros before them, without, or one with and the other without.
var zeros = []*strings.Replacer{
	strings.NewReplacer("2006", "2006", "06", "06", "1", "01", "2", "02"), strings.NewReplacer(),
	strings.NewReplacer("2006", "2006", "06", "06", "1", "01"), strings.NewReplacer("2006", "2006", "06", "06", "2", "02"),
}

// observe completes the layout as most of some dates that parseLike reads are written.
func (l *layout) observe(dates []string) {
	l.digits = -1
	for _, s := range dates {
		_, clock, zone := cutDate(s)
		if strings.Count(clock, ":") > 1 {
			_, fraction, _ := strings.Cut(strings.Replace(clock, ",", ".", 1), ".")
			digits := min(len(fraction), 9) // package time has nanoseconds
			l.trim = l.trim || l.digits >= 0 && digits != l.digits
			l.digits = max(l.digits, digits)
		}
		if all := layoutsOf(s); zone != "" && len(all) > 0 { // package time reads several spaces as one
			l.zone = all[0].zone
		}
	}
	l.digits = max(l.digits, 0)
	most, best := -1, *l
	for i := range 2 * len(zeros) {
		o, same := *l, 0
		o.zeros, o.hour = zeros[i/2].Replace(l.day), 2-i%2
		for _, s := range dates {
			if t, _, _ := l.parseLike(s); string(o.write(nil, t)) == s {
				same++
			}
		}
		if same > most {
			most, best = same, o
		}
	}
	*l = best
}

// resolution returns the step of the layout, for layouts with a day.
func (l *layout) resolution() time.Duration {
	switch {
	case l.clock == "":
		return secondsPerDay * time.Second
	case !strings.HasSuffix(l.clock, ":05"):
		return time.Minute
	}
	step := time.Second
	for range l.digits {
		step /= 10
	}
	return step
}

// write appends a date, with the offset of its zone if the layout has one.
func (l *layout) write(b []byte, t time.Time) []byte {
	if l.quarterly() {
		t = time.Date(t.Year(), (t.Month()+2)/3, 1, 0, 0, 0, 0, time.UTC)
	}
	b = t.AppendFormat(b, l.zeros)
	if l.clock == "" {
		return b
	}
	clock, hour := l.clock, len(b)+1
	if l.digits > 0 && !(l.trim && t.Nanosecond() == 0) {
		clock += "." + strings.Repeat("0", l.digits)
	}
	b = t.AppendFormat(b, clock+l.zone)
	if l.hour == 1 && b[hour] == '0' { // which package time always writes
		b = slices.Delete(b, hour, hour+1)
	}
	return b
}

// MarshalText writes 3 February 2001, 04:05:06.789123456, two hours east of UTC unless the layout has a Z. A fraction in brackets is left
// out if it is zero.
func (l layout) MarshalText() ([]byte, error) {
	zone := time.FixedZone("", 7200)
	if strings.HasSuffix(l.zone, "Z07:00") {
		zone = time.UTC
	}
	s := string(l.write(nil, time.Date(2001, 2, 3, 4, 5, 6, 789123456, zone)))
	if l.trim && l.digits > 0 {
		dot := strings.LastIndexByte(s, '.')
		s = s[:dot] + "[" + s[dot:dot+1+l.digits] + "]" + s[dot+1+l.digits:]
	}
	return []byte(s), nil
}

// UnmarshalText reads what MarshalText has written.
func (l *layout) UnmarshalText(b []byte) error {
	plain := strings.NewReplacer("[", "", "]", "").Replace(string(b))
	for _, *l = range layoutsOf(plain) {
		l.observe([]string{plain})
		l.trim = plain != string(b)
		if again, _ := l.MarshalText(); string(again) == string(b) {
			return nil
		}
	}
	return fmt.Errorf("the layout %.40q of dates; want 3 February 2001, 04:05:06.789123456, as the column has dates", b)
}

// looksLikeDate is a quick test that all dates pass.
func looksLikeDate(s string) bool {
	if len(s) < len("2006Q1") {
		return false
	}
	if isLetter(s[0]) { // the name of a month
		return strings.IndexByte(s, ' ') >= len("Jan") && (isDigit(s[len(s)-1]) || s[len(s)-1] == 'Z')
	}
	i := strings.IndexAny(s[:6], "-/. Q")
	return isDigit(s[0]) && i > 0 && (s[i] != '.' || strings.IndexByte(s[i+1:], '.') > 0)
}

// observedDates is how many of the last dates of a column show how it writes them.
const observedDates = 200

// readDates reads the dates of a column that has some. like is the axis of dates with which they are used, or nil.
func (t *Table) readDates(col int, like *Axis) (l layout, times []time.Time, err error) {
	var options []layout // that suit all dates so far
	var dates []string
	decided := 0 // the row with fewer options than those before
	for row := range t.Rows {
		s := t.text(row, col)
		if len(options) == 1 {
			if at, ok := options[0].parse(s); ok {
				dates, times = append(dates, s), append(times, at)
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
		kept, problem := narrow(options, here, t.text(decided, col))
		if len(here) == 0 {
			problem = fmt.Sprintf("is not a date in the order of --dayfirst=%v", *t.DayFirst)
		}
		if problem != "" {
			return l, nil, t.wrong(row, col, problem)
		}
		if options == nil || len(kept) < len(options) {
			decided = row
		}
		options, dates, times = kept, append(dates, s), append(times, time.Time{})
	}
	if len(options) == 2 && options[0].numeric() { // the day first, and the month
		switch {
		case like.Dates() && like.Layout.numeric():
			if !like.Layout.dayFirst() {
				options = options[1:]
			}
		case options[0].day != "2.1.2006": // with dots, the day is first
			return l, nil, t.ambiguous(col)
		}
	}
	l = options[0]
	for i, s := range dates {
		if times[i].IsZero() { // it could not be read before all were seen
			times[i], _, _ = l.parseLike(s)
		}
	}
	l.observe(dates[max(0, len(dates)-observedDates):])
	for _, at := range times { // an earlier date may have more digits
		for n := time.Duration(at.Nanosecond()); n != 0 && n%l.resolution() != 0; {
			l.digits, l.trim = l.digits+1, true
		}
	}
	return l, times, nil
}

// narrow returns the options that suit a text of the layouts here, too, or what does not go together with an earlier date. Without
// options it returns here.
func narrow(options, here []layout, earlier string) (kept []layout, problem string) {
	if len(options) == 0 || len(here) == 0 {
		return here, ""
	}
	another := "is a date in another layout than " + earlier + " in an earlier row"
	for _, o := range options {
		for _, l := range here {
			switch {
			case l.day != o.day:
				continue
			case l.clock != "" && o.clock != "" && l.clock[0] != o.clock[0]:
				return nil, another
			case (l.zone == "") != (o.zone == ""):
				return nil, "is a time with an offset from UTC among times without one, or the other way round: an earlier row has " + earlier
			case len(l.clock) > len(o.clock):
				o = l
			}
			kept = append(kept, o)
		}
	}
	a, b := &options[0], &here[0]
	switch order := map[bool]string{true: "day", false: "month"}; {
	case kept != nil:
		return kept, ""
	case a.numeric() && b.numeric() && a.day[1] == b.day[1]:
		return nil, fmt.Sprintf("has the %s first, but %s in an earlier row has the %s first; want one order, such as YYYY-MM-DD",
			order[b.dayFirst()], earlier, order[a.dayFirst()])
	}
	return nil, another
}

// ambiguous is the error of a column of dates that may have the day or the month first. It shows a date whose readings differ.
func (t *Table) ambiguous(col int) (err error) {
	for row := range t.Rows {
		s := t.text(row, col)
		here := layoutsOf(s)
		if len(here) < 2 {
			continue
		}
		one, _ := here[0].parse(s)
		other, _ := here[1].parse(s)
		differ, spelled := !one.Equal(other), "2 January 2006"
		if err == nil || differ {
			err = t.wrong(row, col, fmt.Sprintf("is %s or %s, and no date of the column decides which; "+
				"want --dayfirst, --dayfirst=false, or YYYY-MM-DD", one.Format(spelled), other.Format(spelled)))
		}
		if differ {
			break
		}
	}
	return err
}
