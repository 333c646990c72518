package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// days are the layouts of days, weeks, months and quarters in the notation of package time. They parse days and months with or without a
// leading zero. The 1 next to a Q is the quarter, and the 2 after a W the ISO week.
var days = []string{
	"2006-1-2", "2006/1/2", "2006.1.2", "2006-1", "2006/1", "2006-Q1", "2006Q1", "2006 Q1", "Q1 2006", "Q1-2006",
	"Q1/2006", "1Q2006", "1Q06", week, monthYear, yearMonth, "Jan-2006", "Jan 2006", "January 2006",
	"2-1-2006", "2/1/2006", "2.1.2006", "1-2-2006", "1/2/2006", "1.2.2006",
	"2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 Jan 06", "2 January 2006", "Jan 2 2006", "January 2 2006", "Jan 2, 2006", "January 2, 2006",
}

// week is the layout of ISO weeks such as 2020-W53, which package time does not have. monthYear and yearMonth are the
// layouts of months such as Jan-22 and 22-Jan, which may also be days without a year.
const week, monthYear, yearMonth = "2006-W02", "Jan-06", "06-Jan"

// daysByShape maps the shape of a text to the layouts of days. For example, 2006-1-2, 2-1-2006 and 1-2-2006 have the shape 0-0-0.
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

// digits returns the number of ASCII digits of a text.
func digits(s string) (n int) {
	for i := range len(s) {
		if isDigit(s[i]) {
			n++
		}
	}
	return n
}

// A layout is the format of dates.
type layout struct {
	day   string // one of days
	clock string // 15:04 or 15:04:05 after a T or a space, "" without a time of day
	zone  string // the offset from UTC: Z07:00, -07:00, -0700 or -07, also after a space, or ""
	read  string // the complete layout for package time; it also parses fractions of a second, and either Z or an offset

	// Details of the output format, which observe determines.
	zeros  string // day, with leading zeros of days and months
	hour   int    // digits of an hour below 10
	digits int    // of a fraction of a second
	trim   bool   // a fraction of zero is omitted
}

// cutDate splits a date into its day, its time of day with the T or the space before it, and its offset from UTC.
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

// zones maps the length of a text to the layout of an offset from UTC.
var zones = map[int]string{len("Z"): "Z07:00", len("-07"): "-07", len("-0700"): "-0700", len("-07:00"): "-07:00"}

// layoutsOf returns the layouts that parse a text as a date. There are two for a text such as 1/2/2024 or 1 May 2024.
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
		if l.clock != "" && (l.monthly() || l.quarterly() || l.day == week) {
			continue
		}
		l.zeros, l.read = l.day, l.day+l.clock+strings.Replace(l.zone, "-07", "Z07", 1)
		if _, ok := l.parse(s); ok {
			all = append(all, l)
		}
	}
	return all
}

func (l *layout) monthly() bool {
	switch l.day {
	case "2006-1", "2006/1", "200601", "200601.0", monthYear, yearMonth, "Jan-2006", "Jan 2006", "January 2006":
		return true
	}
	return false
}

func (l *layout) quarterly() bool { return strings.Contains(l.day, "Q") }

// period returns the length of the period that a date names, in months and days: 0 and 0 for a time.
func (l *layout) period() (months, days int) {
	switch {
	case l.quarterly():
		return 3, 0
	case l.monthly():
		return 1, 0
	case l.day == week:
		return 0, 7
	case l.clock == "":
		return 0, 1
	}
	return 0, 0
}

// numeric reports whether the layout has the day and the month as numbers before the year.
func (l *layout) numeric() bool {
	return len(l.day) == len("2.1.2006") && isDigit(l.day[0]) && strings.HasSuffix(l.day, "2006")
}

// dayFirst reports whether the day is before the month in a numeric layout.
func (l *layout) dayFirst() bool { return l.day[0] == '2' }

// parse parses a text with this layout, in UTC unless it has an offset.
func (l *layout) parse(s string) (t time.Time, ok bool) {
	if l.day == week {
		return parseWeek(s)
	}
	t, err := time.ParseInLocation(l.read, s, time.UTC)
	notQuarter := l.quarterly() && (t.Month() > 4 || digits(s) != digits(l.day)) // Q01
	if err != nil || notQuarter || l.clock == "" && t.Nanosecond() > 0 {         // 201501.5
		return t, false
	}
	if l.quarterly() {
		t = t.AddDate(0, 2*int(t.Month()-1), 0)
	}
	return t, true
}

// parseWeek returns the Monday of an ISO week such as 2020-W53. ok is false if the text is not a week or the year does not have it.
func parseWeek(s string) (monday time.Time, ok bool) {
	year, number, found := strings.Cut(s, "-W")
	y, err := strconv.Atoi(year)
	n, failed := strconv.Atoi(number)
	if !found || len(year) != 4 || len(number) != 2 || err != nil || failed != nil {
		return monday, false
	}
	first := time.Date(y, 1, 4, 0, 0, 0, 0, time.UTC) // it is in the first week
	monday = first.AddDate(0, 0, 7*(n-1)-(int(first.Weekday())+6)%7)
	inYear, again := monday.AddDate(0, 0, 3).ISOWeek()
	return monday, inYear == y && again == n
}

// parseLike parses a text with this layout, or with another layout that has the same order of day and month. zoned reports whether the text
// has an offset from UTC. If the text is invalid, problem is the end of the error's text.
func (l *layout) parseLike(s string) (t time.Time, zoned bool, problem string) {
	if t, ok := l.parse(s); ok {
		return t, l.zone != "", ""
	}
	options := l.othersOf(s)
	switch {
	case Nonexistent(s) && (l.compact() || !isNumber(s)):
		return t, false, noSuchDate
	case len(options) == 0:
		return t, false, "is not a date"
	case len(options) > 1 && options[0].numeric():
		return t, false, "may be day/month or month/day"
	}
	t, _ = options[0].parse(s)
	return t, options[0].zone != "", ""
}

// othersOf returns the other layouts that parse a text and have the same order of day and month.
func (l *layout) othersOf(s string) []layout {
	options := layoutsOf(s)
	if o, _, ok := compactOf(s); ok && l.compact() {
		options = append(options, o)
	}
	if l.numeric() {
		options = slices.DeleteFunc(options, func(o layout) bool { return o.numeric() && o.dayFirst() != l.dayFirst() })
	}
	return options
}

// zeros convert layouts of days: leading zeros of months and days, no leading zeros, leading zeros of months only, or of days only.
var zeros = []*strings.Replacer{
	strings.NewReplacer("2006", "2006", "06", "06", "1", "01", "2", "02"), strings.NewReplacer(),
	strings.NewReplacer("2006", "2006", "06", "06", "1", "01"), strings.NewReplacer("2006", "2006", "06", "06", "2", "02"),
}

// observe sets the details of the output format so that the layout reproduces most of the dates.
func (l *layout) observe(dates []string) {
	l.digits = -1
	for _, s := range dates {
		_, clock, zone := cutDate(s)
		if strings.Count(clock, ":") > 1 {
			_, fraction, _ := strings.Cut(strings.Replace(clock, ",", ".", 1), ".")
			digits := min(len(fraction), 9) // the resolution of package time is a nanosecond
			l.trim = l.trim || l.digits >= 0 && digits != l.digits
			l.digits = max(l.digits, digits)
		}
		if all := layoutsOf(s); zone != "" && len(all) > 0 { // package time parses several spaces as one
			l.zone = all[0].zone
		}
	}
	l.digits = max(l.digits, 0)
	most, best := -1, *l
	for i := range 2 * len(zeros) {
		o, same := *l, 0
		o.zeros, o.hour = zeros[i/2].Replace(l.day), 2-i%2
		for _, s := range dates {
			if t, _, _ := l.parseLike(s); strings.EqualFold(string(o.write(nil, t)), s) { // MAY 1 2024
				same++
			}
		}
		if same > most {
			most, best = same, o
		}
	}
	*l = best
}

// resolution returns the smallest time step of a layout with a day.
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

// write appends a date, with the offset from UTC if the layout has one.
func (l *layout) write(b []byte, t time.Time) []byte {
	if l.day == week {
		year, n := t.ISOWeek()
		return fmt.Appendf(b, "%04d-W%02d", year, n)
	}
	if l.quarterly() {
		t = time.Date(t.Year(), (t.Month()+2)/3, 1, 0, 0, 0, 0, time.UTC)
	}
	if l.clock == "" {
		return t.Truncate(time.Second).AppendFormat(b, l.zeros) // the 0 in 200601.0 is a fraction of a second
	}
	b = t.AppendFormat(b, l.zeros)
	clock, hour := l.clock, len(b)+1
	if l.digits > 0 && !(l.trim && t.Nanosecond() == 0) {
		clock += "." + strings.Repeat("0", l.digits)
	}
	b = t.AppendFormat(b, clock+l.zone)
	if l.hour == 1 && b[hour] == '0' { // package time always writes the zero
		b = slices.Delete(b, hour, hour+1)
	}
	return b
}

// MarshalText returns 3 February 2001, 04:05:06.789123456, in the layout, two hours east of UTC unless the layout has a Z. Brackets mark a
// fraction that is omitted if it is zero.
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

// UnmarshalText parses the output of MarshalText.
func (l *layout) UnmarshalText(b []byte) error {
	plain := strings.NewReplacer("[", "", "]", "").Replace(string(b))
	options := layoutsOf(plain)
	if o, _, ok := compactOf(plain); ok {
		options = append(options, o)
	}
	for _, *l = range options {
		l.observe([]string{plain})
		l.trim = plain != string(b)
		if again, _ := l.MarshalText(); string(again) == string(b) {
			return nil
		}
	}
	return fmt.Errorf("invalid layout of dates %.40q; must be 3 February 2001, 04:05:06.789123456, in the layout of the column", b)
}

const noSuchDate = "is a date that does not exist"

// Nonexistent reports whether a text is a date in a layout that is read, except that the day or the month is too large
// or zero, as in 2025-02-29 and 201713.
func Nonexistent(s string) bool {
	day, _, _ := cutDate(s)
	wrong := false
	for _, layout := range slices.Concat(daysByShape[string(shape(nil, day))], compacts) {
		if len(layout) != len(day) && slices.Contains(compacts, layout) {
			continue
		}
		if _, isWeek := parseWeek(day); isWeek {
			return false
		}
		_, err := time.Parse(layout, day)
		if err == nil && layout != week {
			return false
		}
		wrong = wrong || layout == week || strings.HasSuffix(err.Error(), "out of range")
	}
	return wrong
}

// spelledPeriod reports whether a text is a month or quarter such as Jan-15, 15-Jan, Q1 2010, Q1-2010 or 2015M01.
func spelledPeriod(s string) bool {
	letters := strings.ToLower(strings.Trim(s, "0123456789 -"))
	switch string(shape(nil, s)) {
	case "A-0", "0-A", "A0", "0 A":
		_, err := time.Parse("Jan", letters)
		_, long := time.Parse("January", letters)
		return err == nil || long == nil
	case "A0 0", "A0-0", "A0/0":
		return s[0]|0x20 == 'q'
	case "0A0":
		return len(s) >= len("2015M1") && s[:2] >= "17" && s[:2] <= "21" && isDigit(s[3]) &&
			strings.ContainsAny(s[4:5], "mMqQwW")
	}
	return false
}

// months are the short names of months, in lower case.
var months = func() map[string]bool {
	names := map[string]bool{}
	for m := time.January; m <= time.December; m++ {
		names[strings.ToLower(m.String()[:3])] = true
	}
	return names
}()

// looksLikeDate returns false only for texts that are not dates. It is a fast test.
func looksLikeDate(s string) bool {
	if len(s) < len("2006Q1") {
		return len(s) == len("1Q06") && s[1] == 'Q'
	}
	if isLetter(s[0]) { // the name of a month, or a quarter
		start := strings.IndexByte(s, ' ') >= len("Jan") || s[0] == 'Q' && isDigit(s[1]) ||
			s[3] == '-' && months[strings.ToLower(s[:3])]
		return start && (isDigit(s[len(s)-1]) || s[len(s)-1] == 'Z')
	}
	i := strings.IndexAny(s[:6], "-/. Q")
	return isDigit(s[0]) && i > 0 && (s[i] != '.' || strings.IndexByte(s[i+1:], '.') > 0)
}

// monthLayout returns the layout of a text such as Jan-22 or 22-Jan, which may be a month or a day without a year.
func monthLayout(s string) (l layout, ok bool) {
	for _, day := range []string{monthYear, yearMonth} {
		l = layout{day: day, read: day, zeros: day}
		if _, ok = l.parse(s); ok {
			break
		}
	}
	return l, ok
}

// supportsMonths returns false for a column of dates such as Jan-22 that may be days without a year: unless most steps between successive
// rows with different dates are the same number of months, below a year. The days Jan-22 and Jan-23 would be months a year apart.
func (t *Table) supportsMonths(col int) bool {
	l, ok := monthLayout(t.text(t.first(col, date, true), col))
	if !ok {
		return true
	}
	counts, steps, most := map[int64]int{}, 0, 0
	last, known := int64(0), false
	for row := range t.Rows {
		at, ok := l.parse(t.text(row, col))
		if !ok {
			continue
		}
		month := monthNumber(at)
		if step := month - last; known && step != 0 {
			steps++
			if counts[step]++; max(step, -step) < 12 {
				most = max(most, counts[step])
			}
		}
		last, known = month, true
	}
	return 2*most > steps
}

// mayBeDays returns a remark about a column of dates such as 22-Jan if all of them may be the same day of different
// months as well as months of the same year, else "".
func mayBeDays(l layout, dates []string) string {
	const day = "02-Jan" // without a year
	number := dates[0][:len("02")]
	if l.day != yearMonth || slices.ContainsFunc(dates, func(s string) bool {
		_, err := time.Parse(day, s)
		return err != nil || !strings.HasPrefix(s, number)
	}) {
		return ""
	}
	t, _ := l.parse(dates[0])
	return fmt.Sprintf("is %s or day %s of %s without a year, and all dates of the column are ambiguous; "+
		"use dates such as %s", t.Format("January 2006"), number, t.Format("January"), t.Format("2006-01"))
}

// observedDates is the number of dates at the end of a column that determine the output format.
const observedDates = 200

// readDates parses the dates of a column, which has at least one date, and returns their layout. like is a model's axis of dates, or nil.
func (t *Table) readDates(col int, like *Axis) (l layout, times []time.Time, err error) {
	if c := t.column(col).compact; c != nil {
		return c.layout, c.times, nil
	}
	var options []layout // layouts that parse all dates so far
	var dates []string
	decided := 0 // the last row that reduced the options
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
			problem = fmt.Sprintf("is not a date with --dayfirst=%v", *t.DayFirst)
		}
		if problem != "" {
			return l, nil, t.wrong(row, col, problem)
		}
		if options == nil || len(kept) < len(options) {
			decided = row
		}
		options, dates, times = kept, append(dates, s), append(times, time.Time{})
	}
	if len(options) == 2 && options[0].numeric() { // day first and month first
		switch {
		case like.Dates() && like.Layout.numeric():
			if !like.Layout.dayFirst() {
				options = options[1:]
			}
		case options[0].day != "2.1.2006": // in dates with dots, the day is first
			return l, nil, t.ambiguous(col)
		}
	}
	l = options[0]
	if problem := mayBeDays(l, dates); problem != "" && !like.Dates() {
		return l, nil, t.wrong(t.first(col, date, true), col, problem)
	}
	for i, s := range dates {
		if times[i].IsZero() { // the layout was not yet known
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

// narrow returns the options that are also layouts of a text, which are given by here. If there are none, problem describes the conflict
// with an earlier date. Without options, narrow returns here.
func narrow(options, here []layout, earlier string) (kept []layout, problem string) {
	if len(options) == 0 || len(here) == 0 {
		return here, ""
	}
	another := "is a date in a different layout than " + earlier + " in an earlier row"
	for _, o := range options {
		for _, l := range here {
			switch {
			case l.day != o.day:
				continue
			case l.clock != "" && o.clock != "" && l.clock[0] != o.clock[0]:
				return nil, another
			case (l.zone == "") != (o.zone == ""):
				return nil, "differs from " + earlier + " in an earlier row: only one of them has an offset from UTC"
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
		return nil, fmt.Sprintf("has the %s first, but %s in an earlier row has the %s first; the order must be the same, as in YYYY-MM-DD",
			order[b.dayFirst()], earlier, order[a.dayFirst()])
	}
	return nil, another
}

// ambiguous returns the error for a column of dates in which the day or the month may be first. It contains an ambiguous date.
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
		which := "may have the day or the month first"
		if differ {
			which = fmt.Sprintf("is %s or %s", one.Format(spelled), other.Format(spelled))
		}
		if err == nil || differ {
			err = t.wrong(row, col, which+", and all dates of the column are ambiguous; "+
				"use --dayfirst, --dayfirst=false or YYYY-MM-DD")
		}
		if differ {
			break
		}
	}
	return err
}
