package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// along reads the first column of a table of the given cells as an input.
func along(t testing.TB, cells ...string) (*Axis, []float64, error) {
	t.Helper()
	s := testkit.Must(tableOf(t, "t;y\n"+strings.Join(cells, ";1\n")+";1\n"))(t)
	return s.Input(0, nil)
}

// TestDatesBecomeNumbersAndBack checks that dates become numbers in the expected unit, are written in the layout of the column, and are continued by the grid.
func TestDatesBecomeNumbersAndBack(t *testing.T) {
	for name, c := range map[string]struct {
		cells string // with | between
		unit  string
		x     []float64
		hint  string
		next  string // two further rows
	}{
		"days":               {"2024-02-28|2024-02-29|2024-03-01", "days", []float64{0, 1, 2}, "day", "2024-03-02|2024-03-03"},
		"weeks":              {"2024-01-01|2024-01-08|2024-01-22", "days", []float64{0, 7, 21}, "week", "2024-01-29|2024-02-05"},
		"months":             {"2023-11|2023-12|2024-01", "months", []float64{0, 1, 2}, "month", "2024-02|2024-03"},
		"months by a slash":  {"2023/11|2023/12|2024/02", "months", []float64{0, 1, 3}, "month", "2024/03|2024/04"},
		"quarters":           {"2023-Q3|2023-Q4|2024-Q1", "months", []float64{0, 3, 6}, "quarter", "2024-Q2|2024-Q3"},
		"quarters of pandas": {"2023Q3|2023Q4|2024Q1", "months", []float64{0, 3, 6}, "quarter", "2024Q2|2024Q3"},
		"firsts of months":   {"2023-12-01|2024-01-01|2024-02-01", "months", []float64{0, 1, 2}, "month", "2024-03-01|2024-04-01"},
		"ends of months":     {"2023-12-31|2024-01-31|2024-02-29", "months", []float64{0, 1, 2}, "month", "2024-03-31|2024-04-30"},
		"ends of quarters":   {"2023-09-30|2023-12-31|2024-03-31", "months", []float64{0, 3, 6}, "quarter", "2024-06-30|2024-09-30"},
		"30ths of months": {"2023-11-30|2023-12-30|2024-01-30|2024-02-29", "months", []float64{0, 1, 2, 3}, "month",
			"2024-03-30|2024-04-30"},
		"29ths of months": {"2023-01-29|2023-02-28|2023-03-29", "months", []float64{0, 1, 2}, "month",
			"2023-04-29|2023-05-29"},
		"30ths of quarters": {"2023-05-30|2023-08-30|2023-11-30", "months", []float64{0, 3, 6}, "quarter",
			"2024-02-29|2024-05-30"},
		"last business days": {"2024-01-31|2024-02-29|2024-03-29|2024-04-30", "months", []float64{0, 1, 2, 3}, "month",
			"2024-05-31|2024-06-28"},
		"last business days, a gap": {"28.06.2024 16:00|31.07.2024 16:00|30.09.2024 16:00", "months", []float64{0, 1, 3}, "month",
			"31.10.2024 16:00|29.11.2024 16:00"},
		"first business days": {"2024-05-01|2024-06-03|2024-07-01|2024-08-01", "months", []float64{0, 1, 2, 3}, "month",
			"2024-09-02|2024-10-01"},
		"last business days of quarters": {"2023-12-29|2024-03-29|2024-06-28", "months", []float64{0, 3, 6}, "quarter",
			"2024-09-30|2024-12-31"},
		"last business days of years": {"2021-12-31|2022-12-30|2023-12-29", "years", []float64{0, 1, 2}, "year",
			"2024-12-31|2025-12-31"},
		"last Fridays": {"2023-01-27|2023-02-24|2023-03-31|2023-04-28", "months", []float64{0, 1, 2, 3}, "month",
			"2023-05-26|2023-06-30"},
		"third Fridays": {"20.01.2023 00:00|17.02.2023 00:00|17.03.2023 00:00|21.04.2023 00:00", "months",
			[]float64{0, 1, 2, 3}, "month", "19.05.2023 00:00|16.06.2023 00:00"},
		"third Fridays of quarters": {"2023-03-17|2023-06-16|2023-09-15|2023-12-15|2024-03-15|2024-06-21", "months",
			[]float64{0, 3, 6, 9, 12, 15}, "quarter", "2024-09-20|2024-12-20"},
		"first Mondays, a gap": {"2023-01-02|2023-02-06|2023-04-03|2023-05-01", "months", []float64{0, 1, 3, 4}, "month",
			"2023-06-05|2023-07-03"},
		"second Tuesdays": {"2024-01-09|2024-02-13|2024-03-12|2024-04-09", "months", []float64{0, 1, 2, 3}, "month",
			"2024-05-14|2024-06-11"},
		"second Sundays": {"2024-01-14T09:00+01:00|2024-02-11T09:00+01:00|2024-03-10T09:00+01:00|2024-04-14T09:00+02:00",
			"months", []float64{0, 1, 2, 3}, "month", "2024-05-12T09:00+02:00|2024-06-09T09:00+02:00"},
		"fourth Thursdays of November": {"2021-11-25|2022-11-24|2023-11-23|2024-11-28", "years",
			[]float64{0, 1, 2, 3}, "year", "2025-11-27|2026-11-26"},
		"every fourth Friday": {"2024-01-05|2024-02-02|2024-03-01|2024-03-29", "days", []float64{0, 28, 56, 84}, "",
			"2024-04-26|2024-05-24"},
		"every fourth Friday, the first of months": {"2024-01-05|2024-02-02|2024-03-01", "days", []float64{0, 28, 56}, "",
			"2024-03-29|2024-04-26"},
		"months and years":              {"Nov-23|Dec-23|Jan-24", "months", []float64{0, 1, 2}, "month", "Feb-24|Mar-24"},
		"months of one year, spelled":   {"Jan-22|Feb-22|Mar-22|May-22", "months", []float64{0, 1, 2, 4}, "month", "Jun-22|Jul-22"},
		"quarters by their last months": {"Sep-23|Dec-23|Mar-24", "months", []float64{0, 3, 6}, "quarter", "Jun-24|Sep-24"},
		"months by a dash and years":    {"Nov-2023|Dec-2023", "months", []float64{0, 1}, "month", "Jan-2024|Feb-2024"},
		"short months":                  {"May 2024|Jun 2024|Jul 2024", "months", []float64{0, 1, 2}, "month", "Aug 2024|Sep 2024"},
		"long months":                   {"April 2024|May 2024|June 2024", "months", []float64{0, 1, 2}, "month", "July 2024|August 2024"},
		"a month of years":              {"Mar 2021|Mar 2022|Mar 2024", "years", []float64{0, 1, 3}, "year", "Mar 2025|Mar 2026"},
		"quarters and years":            {"Q3 2023|Q4 2023|Q1 2024", "months", []float64{0, 3, 6}, "quarter", "Q2 2024|Q3 2024"},
		"quarters by a slash and years": {"Q3/2012|Q4/2012|Q1/2013", "months", []float64{0, 3, 6}, "quarter", "Q2/2013|Q3/2013"},
		"numbers of quarters and years": {"3Q2021|4Q2021|1Q2022", "months", []float64{0, 3, 6}, "quarter", "2Q2022|3Q2022"},
		"quarters and short years":      {"3Q21|4Q21|1Q22", "months", []float64{0, 3, 6}, "quarter", "2Q22|3Q22"},
		"short years and months":        {"19-Nov|19-Dec|20-Jan", "months", []float64{0, 1, 2}, "month", "20-Feb|20-Mar"},
		"quarters by a dash, years":     {"Q3-2023|Q4-2023|Q2-2024", "months", []float64{0, 3, 9}, "quarter", "Q3-2024|Q4-2024"},
		"ISO weeks":                     {"2020-W51|2020-W52|2020-W53|2021-W01", "days", []float64{0, 7, 14, 21}, "week", "2021-W02|2021-W03"},
		"ISO weeks of months":           {"2024-W01|2024-W14", "days", []float64{0, 91}, "", "2024-W27|2024-W40"},
		"29ths and 30ths":               {"2023-03-30|2023-04-29|2023-05-30", "days", []float64{0, 30, 61}, "", ""},
		"leap days": {"2023-02-28|2024-02-29|2025-02-28", "years", []float64{0, 1, 2}, "year",
			"2026-02-28|2027-02-28"},
		"plain months":     {"201811|201812|201901", "months", []float64{0, 1, 2}, "month", "201902|201903"},
		"plain quarters":   {"201809|201812|201903", "months", []float64{0, 3, 6}, "quarter", "201906|201909"},
		"months as floats": {"201811.0|201812.0|201901.0", "months", []float64{0, 1, 2}, "month", "201902.0|201903.0"},
		"plain days":       {"20190130|20190131|20190201", "days", []float64{0, 1, 2}, "day", "20190202|20190203"},
		"days as floats": {"20190130.0|20190131.0|20190201.0", "days", []float64{0, 1, 2}, "day",
			"20190202.0|20190203.0"},
		"plain weeks":        {"20190121|20190128|20190204", "days", []float64{0, 7, 14}, "week", "20190211|20190218"},
		"plain month ends":   {"20191130|20191231|20200131", "months", []float64{0, 1, 2}, "month", "20200229|20200331"},
		"months of one year": {"202301|202302|202303", "", []float64{202301, 202302, 202303}, "", "202304|202305"},
		"no months":          {"202311|202312|202313", "", []float64{202311, 202312, 202313}, "", "202314|202315"},
		"too early months":   {"100111|100112|100201", "", []float64{100111, 100112, 100201}, "", ""},
		"years":              {"1999-01-01|2000-01-01|2001-01-01", "years", []float64{0, 1, 2}, "year", "2002-01-01|2003-01-01"},
		"hours":              {"2024-03-05T22:00|2024-03-05T23:00|2024-03-06T00:00", "hours", []float64{22, 23, 24}, "hour", "2024-03-06T01:00|2024-03-06T02:00"},
		"quarters of hours":  {"2024-03-05 09:00:00|2024-03-05 09:15:00", "minutes", []float64{540, 555}, "", "2024-03-05 09:30:00|2024-03-05 09:45:00"},
		"seconds":            {"2024-03-05 00:00:01.250|2024-03-05 00:00:01.500", "seconds", []float64{1.25, 1.5}, "", "2024-03-05 00:00:01.750|2024-03-05 00:00:02.000"},
		"fractions or none":  {"2024-03-05T00:00:01|2024-03-05T00:00:01.5", "seconds", []float64{1, 1.5}, "", "2024-03-05T00:00:02|2024-03-05T00:00:02.5"},
		"fractions at first": {"2024-03-05T00:00:00.5|2024-03-05T00:00:01", "seconds", []float64{.5, 1}, "", "2024-03-05T00:00:01.5|2024-03-05T00:00:02"},
		"Greenwich":          {"2024-03-05T14:00:00Z|2024-03-06T14:00:00Z", "days", []float64{14. / 24, 1.5833333333333335}, "day", "2024-03-07T14:00:00Z|2024-03-08T14:00:00Z"},
		"an offset":          {"2024-03-05 23:00+0200|2024-03-06 00:00+0200", "hours", []float64{23, 24}, "hour", "2024-03-06 01:00+0200|2024-03-06 02:00+0200"},
		"an offset apart":    {"2024-03-05 23:00:00 -03:30|2024-03-06 00:00:00 -03:30", "hours", []float64{23, 24}, "hour", "2024-03-06 01:00:00 -03:30|2024-03-06 02:00:00 -03:30"},
		"summer time, hours": {"2024-03-31T01:00+01:00|2024-03-31T03:00+02:00|2024-03-31T04:00+02:00", "hours", []float64{1, 2, 3}, "hour", "2024-03-31T05:00+02:00|2024-03-31T06:00+02:00"},
		"winter time, hours": {"2024-10-27T02:00+02:00|2024-10-27T02:00+01:00|2024-10-27T03:00+01:00", "hours", []float64{2, 3, 4}, "hour", "2024-10-27T04:00+01:00|2024-10-27T05:00+01:00"},
		"summer time, days":  {"2024-03-30T00:00+01:00|2024-03-31T00:00+01:00|2024-04-01T00:00+02:00", "days", []float64{0, 1, 2}, "day", "2024-04-02T00:00+02:00|2024-04-03T00:00+02:00"},
		"far east, days":     {"2024-04-06T00:00+13:00|2024-04-07T00:00+13:00|2024-04-08T00:00+12:00", "days", []float64{0, 1, 2}, "day", "2024-04-09T00:00+12:00|2024-04-10T00:00+12:00"},
		"a day of 23 hours":  {"2024-03-31T00:00+01:00|2024-04-01T00:00+02:00", "days", []float64{0, 1}, "day", "2024-04-02T00:00+02:00|2024-04-03T00:00+02:00"},
		"day first":          {"13/01/2024|14/01/2024", "days", []float64{0, 1}, "day", "15/01/2024|16/01/2024"},
		"month first":        {"1/9/2024|1/13/2024|1/17/2024", "days", []float64{0, 4, 8}, "", "1/21/2024|1/25/2024"},
		"dots":               {"01.02.2024|02.02.2024", "days", []float64{0, 1}, "day", "03.02.2024|04.02.2024"},
		"day first, months":  {"31.12.2023 00:00|31.01.2024 00:00|29.02.2024 00:00", "months", []float64{0, 1, 2}, "month", "31.03.2024 00:00|30.04.2024 00:00"},
		"working days": {"2024-01-01|2024-01-02|2024-01-03|2024-01-04|2024-01-05|2024-01-08|2024-01-09|2024-01-10|2024-01-11|2024-01-12", "days",
			[]float64{0, 1, 2, 3, 4, 7, 8, 9, 10, 11}, "day", "2024-01-15|2024-01-16"},
		"zeros of months":   {"04/9/2021|04/16/2021|04/23/2021", "days", []float64{0, 7, 14}, "week", "04/30/2021|05/7/2021"},
		"names of months":   {"30-Jan-15|31-Jan-15", "days", []float64{0, 1}, "day", "01-Feb-15|02-Feb-15"},
		"month and day":     {"May 9 2024|May 10 2024", "days", []float64{0, 1}, "day", "May 11 2024|May 12 2024"},
		"long names, times": {"9 September 2024 9:05|9 September 2024 9:06", "minutes", []float64{545, 546}, "minute", "9 September 2024 9:07|9 September 2024 9:08"},
		"backwards":         {"2024-01-03|2024-01-02|2024-01-01", "days", []float64{0, -1, -2}, "day", "2024-01-04|2024-01-05"},
		"long ago":          {"0999-12-31|1000-01-01", "days", []float64{0, 1}, "day", "1000-01-02|1000-01-03"},
		"decimal years":     {"1958.17|1958.25|1958.33|1958.5|1958.58", "", []float64{1958.17, 1958.25, 1958.33, 1958.5, 1958.58}, "", "1958.66|1958.74"},
		"whole years":       {"1700|1701|1702", "", []float64{1700, 1701, 1702}, "", "1703|1704"},
		"decimals as given": {"0.10|0.20|0.30", "", []float64{.1, .2, .3}, "", "0.40|0.50"},
		"fewer at the end":  {"0.25|0.5|0.75|1", "", []float64{.25, .5, .75, 1}, "", "1.25|1.5"},
		"some decimals":     {"0|0.25|0.5|0.75", "", []float64{0, .25, .5, .75}, "", "1|1.25"},
	} {
		cells := strings.Split(c.cells, "|")
		axis, x, err := along(t, cells...)
		testkit.OK(t, err, name)
		if axis.Unit != c.unit || !slices.Equal(x, c.x) {
			t.Errorf("%s: %v in %q, want %v in %q", name, x, axis.Unit, c.x, c.unit)
		}
		checkInverse(t, axis, cells, x)
		g := axis.Grid(x)
		if c.next == "" { // the grid is not even
			continue
		}
		next := axis.Format(g.Next(1)) + "|" + axis.Format(g.Next(2))
		if next != c.next || g.Hint != c.hint || !g.Even {
			t.Errorf("%s: %s follow, steps of %q, %+v; want %s, %q", name, next, g.Hint, g, c.next, c.hint)
		}
		until := testkit.Must(axis.Parse(strings.Split(c.next, "|")[1]))(t)
		testkit.Equal(t, g.Steps(until), 2, name, ": steps until the second of ", c.next)
	}
}

// checkInverse checks that an axis, and a copy from its JSON, reproduce the cells of its column.
func checkInverse(t *testing.T, axis *Axis, cells []string, x []float64) {
	t.Helper()
	text := testkit.Must(json.Marshal(axis))(t)
	again := &Axis{}
	if err := json.Unmarshal(text, again); err != nil || again.Check() != nil {
		t.Errorf("%s: %v, %v", text, err, again.Check())
		return
	}
	for i, cell := range cells {
		for _, a := range []*Axis{axis, again} {
			testkit.Equal(t, testkit.Must(a.Parse(cell))(t), x[i], cell, " by ", string(text))
			back := a.Format(x[i])
			if _, own := axis.offsets[x[i]]; own && a == again { // JSON contains only the offset of the last row
				testkit.Equal(t, testkit.Must(a.Parse(back))(t), x[i], back, ", which was ", cell, ", by ", string(text))
			} else {
				testkit.Equal(t, back, cell, "a cell by ", string(text))
			}
		}
	}
}

// TestBadDates checks the errors for invalid columns of dates.
func TestBadDates(t *testing.T) {
	for cells, message := range map[string]string{
		"01/02/2024|02/02/2024":              `f:2: column "t" (0 from 0): "01/02/2024" is 1 February 2024 or 2 January 2024, and all dates of the column are ambiguous; use --dayfirst, --dayfirst=false or YYYY-MM-DD`,
		"01/01/2024|02/02/2024":              `"01/01/2024" may have the day or the month first, and all dates of the column are ambiguous`,
		"01/01/2024|02/03/2024|x|y":          `f:3: column "t" (0 from 0): "02/03/2024" is 2 March 2024 or 3 February 2024`,
		"01/02/2024|13/02/2024|02/14/2024":   `"02/14/2024" has the month first, but 13/02/2024 in an earlier row`,
		"13/02/2024|02/13/2024":              `f:3: column "t" (0 from 0): "02/13/2024" has the month first`,
		"2024-01-01|2024/01/02":              `f:3: column "t" (0 from 0): "2024/01/02" is a date in a different layout than 2024-01-01 in an earlier row`,
		"2024-01-01T10:00Z|2024-01-01T11:00": "only one of them has an offset from UTC",
		"2024-01-01|2024-02-30|2024-03-01": `"2024-02-30" is a date that does not exist; must be a date such as ` +
			"2024-01-01",
		"2024-01-01||2024-01-03":                  `f:3: column "t" (0 from 0): "" is missing; add a date`,
		"2024-01-01|2024-01-02|20240103":          "is a number, not a date",
		"2024-01-01|2024-01-02|Total":             "(a footer",
		"1|2|2024-01-01":                          "is a date among numbers",
		"2024-01-01 25:00|2024-01-01|2024-01-02":  `"2024-01-01 25:00" is not a date`,
		"2024-01-01 1:00 PM|2024-01-01|2024-01-2": `"2024-01-01 1:00 PM" is not a date`,
	} {
		_, _, err := along(t, strings.Split(cells, "|")...)
		oneLine(t, err, message)
	}
}

// TestDayFirst checks the order of day and month if it is given or follows from dots, other dates or a model, and the century of years with
// two digits.
func TestDayFirst(t *testing.T) {
	yes, no := true, false
	like, _, err := along(t, "13/01/2024", "14/01/2024")
	testkit.OK(t, err)
	if x, err := like.Parse("02/13/2024"); err == nil {
		t.Errorf("02/13/2024 is %v where the day is first", x)
	}
	american, _, err := along(t, "01/13/2024", "01/14/2024")
	testkit.OK(t, err)
	for _, c := range []struct {
		cells    string
		dayFirst *bool
		like     *Axis
		want     string // the first day; "" for an error
	}{
		{"01/02/2024|02/03/2024", &yes, nil, "2024-02-01"}, {"01/02/2024|02/03/2024", &no, nil, "2024-01-02"}, {"01/02/2024|02/03/2024", nil, nil, ""},
		{"01/02/2024|13/02/2024", &no, nil, ""}, {"01.02.2024|02.03.2024", nil, nil, "2024-02-01"}, {"01.02.2024|02.03.2024", &no, nil, "2024-01-02"},
		{"1-2-2024|1-13-2024", nil, nil, "2024-01-02"}, {"01/02/2024|02/03/2024", nil, like, "2024-02-01"}, {"2024-01-02|2024-01-03", &yes, nil, "2024-01-02"},
		{"01/02/2024|02/03/2024", nil, american, "2024-01-02"},
		{"1-May-68|2-May-68", nil, nil, "2068-05-01"}, {"1-May-69|2-May-69", nil, nil, "1969-05-01"},
	} {
		x := testkit.Must(tableOf(t, "t\n"+strings.ReplaceAll(c.cells, "|", "\n")))(t)
		x.DayFirst = c.dayFirst
		axis, read, err := x.Input(0, c.like)
		if c.want == "" {
			oneLine(t, err, "--dayfirst")
			continue
		}
		testkit.OK(t, err, c.cells)
		testkit.Equal(t, utc(int64(axis.Seconds(read[0]))).Format(time.DateOnly), c.want, c.cells)
	}
}

// TestOldAxis checks that axes in model files of earlier versions read and write dates as before.
func TestOldAxis(t *testing.T) {
	for text, date := range map[string]string{
		`{"unit":"days","origin":1704067200,"local":true,"notation":"03.02.2001"}`:                              "14.02.2024",
		`{"unit":"hours","origin":1711843200,"notation":"2001-02-03T04:05:06+02:00","offset":3600,"earlier":1}`: "2024-03-31T04:00:00+01:00",
		`{"unit":"seconds","origin":1704067200,"notation":"2/3/2001 4:05:06[.78]"}`:                             "1/9/2024 9:05:06",
		`{"unit":"days","origin":1709596800,"local":true,"notation":"2001-02-03T04:05:06Z"}`:                    "2024-03-07T14:00:00Z",
		`{"unit":"months","origin":1688169600,"local":true,"day":1,"notation":"2001Q1"}`:                        "2024Q2",
		`{"unit":"months","origin":1688169600,"local":true,"day":1,"notation":"1Q01"}`:                          "2Q24",
		`{"unit":"months","origin":1688169600,"local":true,"day":1,"notation":"01-Feb"}`:                        "24-May",
		`{"unit":"months","origin":1688169600,"local":true,"day":1,"notation":"200102"}`:                        "202402",
		`{"unit":"days","origin":1709596800,"local":true,"notation":"20010203.0"}`:                              "20240307.0",
		`{"unit":"","decimals":4,"fixed":true}`:                                                                 "1958.2083",
	} {
		axis := &Axis{}
		testkit.OK(t, json.Unmarshal([]byte(text), axis), text)
		testkit.OK(t, axis.Check(), text)
		testkit.Equal(t, axis.Format(testkit.Must(axis.Parse(date))(t)), date, text)
	}
	if err := json.Unmarshal([]byte(`{"unit":"days","notation":"2001-02-04"}`), &Axis{}); err == nil {
		t.Error("the layout of another date is accepted")
	}
}

// TestAxisLike checks that another file is read with the unit and origin of an axis and in its own layout.
func TestAxisLike(t *testing.T) {
	like, _, err := along(t, "13/01/2024", "14/01/2024")
	testkit.OK(t, err)
	for text, want := range map[string]string{"2024-02-01": "19", "01/02/2024": "19",
		"2024-02-01 12:00": "19.5", "5": "not a date",
		"2024-02-01T00:00Z": "has an offset"} {
		s := testkit.Must(tableOf(t, "t;y\n"+text+";1\n"))(t)
		axis, x, err := s.Input(0, like)
		if err != nil {
			oneLine(t, err, want)
			continue
		}
		if fmt.Sprint(x[0]) != want || axis.Format(x[0]) != text {
			t.Errorf("%s: %v, %v, written %s; want %s", text, x, err, axis.Format(x[0]), want)
		}
	}
}

// TestBadDateLike checks that an error about the dates of another file names the first cell that is not a date in the
// layout of the axis.
func TestBadDateLike(t *testing.T) {
	like, _, err := along(t, "201711", "201712", "201801")
	testkit.OK(t, err)
	for cells, want := range map[string]string{
		"201805|201813":         `f:3: column "t" (0 from 0): "201813" is a date that does not exist; must be a date`,
		"201805||201813":        `f:3: column "t" (0 from 0): "" is missing`,
		"201805|2018":           `f:3: column "t" (0 from 0): "2018" is a number, not a date; must be a date such as 201711`,
		"201805|total":          `f:3: column "t" (0 from 0): "total" is not a date; must be a date such as 201711`,
		"201805|201806|2018-07": "",
	} {
		s := testkit.Must(tableOf(t, "t;y\n"+strings.ReplaceAll(cells, "|", ";1\n")+";1\n"))(t)
		if _, x, err := s.Input(0, like); want != "" {
			oneLine(t, err, want)
		} else if err != nil || x[2] != 8 {
			t.Errorf("%s: %v, %v", cells, x, err)
		}
	}
}

// TestEarlyFraction checks that a column's dates keep the fraction of a second that only an early one has.
func TestEarlyFraction(t *testing.T) {
	cells := slices.Repeat([]string{"2024-03-05 00:00:01"}, 2*observedDates)
	cells[5] = "2024-03-05 00:00:01.25"
	axis, x, err := along(t, cells...)
	testkit.OK(t, err)
	testkit.Equal(t, axis.Format(x[5])+" "+axis.Format(x[6]), cells[5]+" "+cells[6], "two dates")
}

// TestOffsets checks that a row's date has its own offset from UTC, and other dates the offset of the last row in time.
func TestOffsets(t *testing.T) {
	axis, x, err := along(t, "2024-03-30T00:00+01:00", "2024-03-30T06:00+01:00", "2024-03-30T12:00+01:00", "2024-10-30T00:00+01:00", "2024-10-30T12:00+01:00", "2024-04-02T00:00+02:00")
	testkit.OK(t, err)
	for hours, want := range map[float64]string{-24: "2024-03-29T00:00+01:00", 10: "2024-03-30T10:00+01:00", 71: "2024-04-02T00:00+02:00", 72: "2024-04-02T00:00+01:00", 24 * 365: "2025-03-30T00:00+01:00"} {
		testkit.Equal(t, axis.Format(x[0]+hours), want, hours, " hours after the first row")
	}
	if east, _, err := along(t, "2024-10-27T01:00+02:00", "2024-10-27T02:00+02:00", "2024-10-27T02:00+01:00"); err != nil || east.Since() != "2024-10-27" {
		t.Errorf("since %s, %v; want 2024-10-27", east.Since(), err)
	}
	testkit.Equal(t, testkit.Must(axis.Parse("2024-04-01T13:00"))(t), x[0]+61, "with the last row's offset")
	later := testkit.Must(tableOf(t, "t;y\n2024-07-01T00:00+02:00;1\n2024-07-01T06:00+02:00;2\n"))(t)
	testkit.Equal(t, testkit.Must(later.Axis(0, axis))(t).Format(0), "2024-03-30T01:00+02:00", "with another file's offset")
}

// FuzzDates checks that a text is a date only if package time can parse it, and that a column of it reproduces the text.
func FuzzDates(f *testing.F) {
	for _, s := range []string{"2024-03-05", "2024-03-05T14:00:00.250+02:00", "5/13/2024 9:05", "2024Q3", "2024-02", "29.02.2023", "2024-03-05 14:00 -0330",
		"2024-03-05 14:00:00.0000000001", "Jan-22", "May 2024", "Q3 2024", "Q1-2020", "2020-W53",
		"Q1/2012", "4Q2021", "4Q21", "19-Jan", "MAY 1 2024"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		layouts := layoutsOf(s)
		if len(layouts) == 0 {
			return
		}
		if strings.ContainsAny(s, ";\"\n\r") || !looksLikeDate(s) || strings.TrimSpace(s) != s {
			t.Fatalf("%q is a date", s)
		}
		axis, x, err := along(t, s)
		if err != nil {
			return // day and month can be exchanged
		}
		back := axis.Format(x[0])
		again, err := axis.Parse(back)
		if err != nil || math.Abs(again-x[0]) > 1e-9*(1+math.Abs(x[0])) || len(back) < len("1Q06") {
			t.Fatalf("%q is %v, written %q, read as %v, %v", s, x[0], back, again, err)
		}
		// Days and months are written in a consistent format, and fractions with nine digits at most.
		mixed := regexp.MustCompile(`(^|[-/.])0[1-9]([-/. T]|$)|\.\d{10}`).MatchString(s)
		greenwich := strings.HasSuffix(s, "-00:00") || strings.HasSuffix(s, "-0000") || strings.HasSuffix(s, "-00")
		if !mixed && !greenwich && !strings.Contains(s, ",") && !strings.EqualFold(back, s) {
			t.Fatalf("%q comes back as %q", s, back)
		}
	})
}

// TestAxisCheck checks that Check rejects invalid axes.
func TestAxisCheck(t *testing.T) {
	good, _, err := along(t, "2024-03-05T14:00:00Z", "2024-03-06T15:00:00Z")
	if err != nil || good.Check() != nil {
		t.Fatal(err, good.Check())
	}
	for name, change := range map[string]func(a *Axis){
		"unit":     func(a *Axis) { a.Unit = "weeks" },
		"origin":   func(a *Axis) { a.Origin = 1e13 },
		"decimals": func(a *Axis) { a.Decimals = -1 },
		"day":      func(a *Axis) { a.Unit, a.Day = "months", 32 },
		"clock":    func(a *Axis) { a.Unit, a.Day, a.Clock = "years", 1, -1 },
		"layout":   func(a *Axis) { a.Layout = nil },
		"business": func(a *Axis) { a.Unit, a.Day, a.Business = "months", 15, true },
		"weekday":  func(a *Axis) { a.Unit, a.Day, a.Weekday = "months", 1, 8 },
		"week":     func(a *Axis) { a.Unit, a.Day, a.Weekday = "months", 29, 5 },
		"both":     func(a *Axis) { a.Unit, a.Day, a.Business, a.Weekday = "months", 1, true, 5 },
	} {
		a := *good
		if change(&a); a.Check() == nil {
			t.Errorf("%s: %+v is accepted", name, a)
		}
	}
}

// TestGridGaps checks that a grid with gaps is even, and that time counts from the first row's own day.
func TestGridGaps(t *testing.T) {
	axis, x, err := along(t, "2024-03-05T00:30+02:00", "2024-03-05T01:30+02:00", "2024-03-05T04:30+02:00", "2024-03-05T05:30+02:00")
	testkit.OK(t, err)
	if g := axis.Grid(x); !g.Even || axis.Since() != "2024-03-05" {
		t.Errorf("%+v, since %s; want an even grid, since 2024-03-05", g, axis.Since())
	}
}

// TestOpeningHours checks that a grid continues with the hours of the day and the weekdays that the rows have, and that it needs evidence.
func TestOpeningHours(t *testing.T) {
	const minute = "2006-01-02T15:04"
	monday := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	weekday := func(at time.Time) bool { return at.Weekday() > 0 && at.Weekday() < 6 }
	open := func(at time.Time) bool { return at.Hour() >= 10 && at.Hour() < 20 }
	for name, c := range map[string]struct {
		layout string
		step   time.Duration
		days   int
		has    func(at time.Time) bool // whether there is a row
		next   string                  // three rows
		until  string                  // a time and the number of rows until then
		rows   int
	}{
		"hours": {minute, time.Hour, 4, open, "2024-01-05T10:00|2024-01-05T11:00|2024-01-05T12:00", "2024-01-07T09:30", 20},
		"hours, an incomplete last day": {minute, time.Hour, 4, func(at time.Time) bool {
			return open(at) && !(at.Day() == 4 && at.Hour() > 18)
		}, "2024-01-04T19:00|2024-01-05T10:00|2024-01-05T11:00", "2024-01-05T10:00", 2},
		"hours, incomplete first and last days": {minute, time.Hour, 3, func(at time.Time) bool {
			return open(at) && !(at.Day() == 1 && at.Hour() < 15) && !(at.Day() == 3 && at.Hour() > 12)
		}, "2024-01-03T13:00|2024-01-03T14:00|2024-01-03T15:00", "2024-01-04T10:00", 8},
		"hours from Monday to Friday": {minute, time.Hour, 12, func(at time.Time) bool { return open(at) && weekday(at) },
			"2024-01-15T10:00|2024-01-15T11:00|2024-01-15T12:00", "2024-01-22T10:00", 51},
		"half-hours with a break": {"02.01.2006 15:04", 30 * time.Minute, 6, func(at time.Time) bool { return open(at) && at.Hour() != 12 },
			"07.01.2024 10:00|07.01.2024 10:30|07.01.2024 11:00", "08.01.2024 00:00", 18},
		"a tenth of the rows are missing": {minute, time.Hour, 20, func(at time.Time) bool { return open(at) && (at.Hour()+10*at.Day())%11 != 3 },
			"2024-01-21T10:00|2024-01-21T11:00|2024-01-21T12:00", "2024-01-21T23:00", 10},
		"all hours from Monday to Friday": {minute, time.Hour, 12, weekday, "2024-01-15T00:00|2024-01-15T01:00|2024-01-15T02:00",
			"2024-01-20T23:00", 120},
		"an offset from UTC": {"2006-01-02T15:04Z07:00", time.Hour, 4, open,
			"2024-01-05T10:00Z|2024-01-05T11:00Z|2024-01-05T12:00Z", "2024-01-05T10:00Z", 1},
		"Tuesday to Saturday": {time.DateOnly, 24 * time.Hour, 34, func(at time.Time) bool { return at.Weekday() > 1 },
			"2024-02-06|2024-02-07|2024-02-08", "2024-02-12", 5},
		"Monday to Friday": {time.DateOnly, 24 * time.Hour, 12, weekday, "2024-01-15|2024-01-16|2024-01-17", "2024-01-21", 5},
		"three weeks without Sunday": {time.DateOnly, 24 * time.Hour, 20, func(at time.Time) bool { return at.Weekday() > 0 },
			"2024-01-22|2024-01-23|2024-01-24", "2024-01-28", 6},
		"hours on Tuesday and Thursday": {minute, time.Hour, 11, func(at time.Time) bool {
			return open(at) && weekday(at) && at.Weekday()%2 == 0
		}, "2024-01-16T10:00|2024-01-16T11:00|2024-01-16T12:00", "2024-01-20T00:00", 20},
		"shorter on Saturday": {minute, time.Hour, 13, func(at time.Time) bool {
			return open(at) && at.Weekday() > 0 && (at.Weekday() < 6 || at.Hour() < 16)
		}, "2024-01-15T10:00|2024-01-15T11:00|2024-01-15T12:00", "2024-01-22T00:00", 56},
		"shorter on Saturday, at a weekend": {minute, time.Hour, 19, func(at time.Time) bool {
			return open(at) && at.Weekday() > 0 && (at.Weekday() < 6 || at.Hour() < 16)
		}, "2024-01-20T10:00|2024-01-20T11:00|2024-01-20T12:00", "2024-01-22T10:00", 7},
		"shorter on Saturday, an incomplete last day": {minute, time.Hour, 20, func(at time.Time) bool {
			return open(at) && at.Weekday() > 0 && (at.Weekday() < 6 || at.Hour() < 16) && !(at.Day() == 20 && at.Hour() > 13)
		}, "2024-01-20T14:00|2024-01-20T15:00|2024-01-22T10:00", "2024-01-22T10:00", 3},
		"shorter on Saturday, a holiday and a missing row": {minute, time.Hour, 27, func(at time.Time) bool {
			return open(at) && at.Weekday() > 0 && (at.Weekday() < 6 || at.Hour() < 16) && at.Day() != 10 &&
				!(at.Day() == 18 && at.Hour() == 12)
		}, "2024-01-29T10:00|2024-01-29T11:00|2024-01-29T12:00", "2024-02-05T00:00", 56},
		"a break except on Friday": {minute, time.Hour, 14, func(at time.Time) bool {
			return open(at) && weekday(at) && (at.Hour() != 12 || at.Weekday() == 5)
		}, "2024-01-15T10:00|2024-01-15T11:00|2024-01-15T13:00", "2024-01-22T00:00", 46},
		"shorter on Saturday, seen once": {minute, time.Hour, 12, func(at time.Time) bool {
			return open(at) && at.Weekday() > 0 && (at.Weekday() < 6 || at.Hour() < 16)
		}, "2024-01-13T10:00|2024-01-13T11:00|2024-01-13T12:00", "2024-01-14T00:00", 10},
		// Too little evidence.
		"two days":                     {minute, time.Hour, 2, open, "2024-01-02T20:00|2024-01-02T21:00|2024-01-02T22:00", "2024-01-03T00:00", 5},
		"a week from Monday to Friday": {minute, time.Hour, 5, open, "2024-01-06T10:00|2024-01-06T11:00|2024-01-06T12:00", "2024-01-07T12:00", 13},
		"irregular hours": {minute, time.Hour, 20, func(at time.Time) bool { return open(at) && (37*at.Hour()+53*at.YearDay())%11 < 5 },
			"", "", 0},
	} {
		var cells []string
		for at := monday; at.Before(monday.AddDate(0, 0, c.days)); at = at.Add(c.step) {
			if c.has(at) {
				cells = append(cells, at.Format(c.layout))
			}
		}
		axis, x, err := along(t, cells...)
		testkit.OK(t, err, name)
		g := axis.Grid(x)
		if c.next == "" {
			testkit.Equal(t, g.Share(), 1, name, ": share")
			continue
		}
		testkit.Equal(t, axis.Format(g.Next(1))+"|"+axis.Format(g.Next(2))+"|"+axis.Format(g.Next(3)), c.next, name)
		testkit.Equal(t, g.Steps(testkit.Must(axis.Parse(c.until))(t)), c.rows, name, ": rows until ", c.until)
		for n := range 500 { // Steps is the inverse of Next
			testkit.Equal(t, g.Steps(g.Next(n+1)), n+1, name, ": rows until the next row ", n+1)
		}
	}
}

// TestWeekdays checks that a series on some weekdays continues with them from two weeks on, also without a holiday, and
// that its step is a day.
func TestWeekdays(t *testing.T) {
	monday := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, open := range map[string]string{ // from Sunday
		"Mon Wed Fri": ".#.#.#.", "Tue Thu": "..#.#..", "Tue Thu Sat": "..#.#.#", "Mon Thu": ".#..#..", "Mon Fri": ".#...#.",
		"Wed Sun": "#..#...", "Sat Sun": "#.....#", "Mon-Sat": ".######", "Sun-Fri": "######.", "Tue-Sat": "..#####",
		"Mon-Thu": ".####..", "Mon-Fri": ".#####.",
	} {
		has := func(at time.Time) bool { return open[at.Weekday()] == '#' }
		first := monday // the day after a closed one: two weeks have every weekday twice
		for !has(first) {
			first = first.AddDate(0, 0, 1)
		}
		for _, weeks := range []int{2, 4, 12, 30} {
			for _, holiday := range []bool{false, true} {
				for _, layout := range []string{time.DateOnly, "02.01.2006 15:04", time.RFC3339} {
					if holiday && weeks == 2 { // too little evidence
						continue
					}
					var days, next []string
					for at := first; len(next) < 10; at = at.AddDate(0, 0, 1) {
						switch date := at.Format(layout); {
						case !has(at):
						case at.Before(first.AddDate(0, 0, 7*weeks)):
							days = append(days, date)
						default:
							next = append(next, date)
						}
					}
					if holiday {
						days = slices.Delete(days, len(days)/2, len(days)/2+1)
					}
					axis, x, err := along(t, days...)
					testkit.OK(t, err, name)
					g := axis.Grid(x)
					var got []string
					for n := range next {
						got = append(got, axis.Format(g.Next(n+1)))
					}
					what := fmt.Sprintf("%s, %d weeks, holiday %v", name, weeks, holiday)
					testkit.Equal(t, strings.Join(got, "|"), strings.Join(next, "|"), what)
					testkit.Equal(t, fmt.Sprintf("%v %s", g.Step, g.Hint), "1 day", what)
					testkit.Equal(t, g.Steps(x[len(x)-1]+14), 2*strings.Count(open, "#"), what, ": rows in two weeks")
				}
			}
		}
	}
}

// TestNoWeekdays checks that days with gaps are not a series on some weekdays.
func TestNoWeekdays(t *testing.T) {
	for name, days := range map[string]string{ // from Monday; the last one has a row
		"a week with a gap":                "##.####",
		"a gap, more than a week":          "#####.######",
		"a gap in two weeks":               "######.#######",
		"one gap, not on a weekend":        ".######.######",
		"the same day twice, two others":   "##.#####..##.#",
		"twice, another once":              "##.######.#.##",
		"14 of 30":                         "#..##.#...##...#.##...#...##.#",
		"a weekly day, once shifted":       "#......#.......#.....#......#......#",
		"weekly on different weekdays":     strings.Repeat("#.......#.....#.......#.....", 6) + "#",
		"two days of one week and a third": "#..#...#",
		"Mondays, Wednesdays, a Saturday":  "#.#....#.#....#.##...#.#",
		"three weeks, many missing":        "#.#.#..#......#.#",
	} {
		var cells []string
		for i, c := range days {
			if c == '#' {
				cells = append(cells, time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
			}
		}
		axis, x, err := along(t, cells...)
		testkit.OK(t, err, name)
		g := axis.Grid(x)
		testkit.Equal(t, g.Share(), 1, name, ": share")
	}
}

// TestSeconds checks local times in seconds, and NaN out of range.
func TestSeconds(t *testing.T) {
	for unit, want := range map[string]float64{"days": 3 * secondsPerDay, "hours": 3 * 3600, "months": 92 * secondsPerDay} { // October, November, December
		a := &Axis{Unit: unit, Origin: time.Date(2023, 10, 1, 0, 0, 0, 0, time.UTC).Unix(), Day: 1, Layout: &layout{}}
		testkit.Equal(t, a.Seconds(3)-float64(a.Origin), want, "3 ", unit)
		if got := a.Seconds(1e300); !math.IsNaN(got) {
			t.Errorf("1e300 %s are %v seconds", unit, got)
		}
	}
}

// TestFineGrid checks that a step below the resolution of x, of which every number is a multiple, is not the step
// of an even grid.
func TestFineGrid(t *testing.T) {
	if g := (&Axis{}).Grid([]float64{0, 0x1p-990, 1, 2, 3, 4}); g.Even || g.Step < 0.5 {
		t.Errorf("%+v", g)
	}
	one := math.Nextafter(1, 2) - 1
	if g := (&Axis{}).Grid([]float64{1, 1 + one, 1 + 3*one}); !g.Even || g.Step != one {
		t.Errorf("%+v; want steps of %v", g, one)
	}
}

// TestQuarters checks that x is rounded to the nearest quarter whatever the month of the origin, which comes from a
// model.
func TestQuarters(t *testing.T) {
	for _, first := range []string{"2023-10", "2023-11", "2023-12"} {
		like, _, err := along(t, first, "2024-01")
		testkit.OK(t, err)
		axis, x, err := testkit.Must(tableOf(t, "t;y\n2023-Q4;1\n2024-Q1;1\n"))(t).Input(0, like)
		testkit.OK(t, err)
		for quarter := -9; quarter < 9; quarter++ {
			start := time.Date(2024, time.Month(1+3*quarter), 1, 0, 0, 0, 0, time.UTC)
			for _, off := range []float64{-1.25, -0.25, 0, 0.25, 1.25} {
				at := x[1] + 3*float64(quarter) + off
				testkit.Equal(t, axis.Seconds(at), float64(start.Unix()), first, ": time of ", at)
				testkit.Equal(t, axis.Format(at), fmt.Sprintf("%d-Q%d", start.Year(), (start.Month()+2)/3), first,
					": quarter of ", at)
			}
		}
	}
}

// TestReading checks which columns of numbers are read as dates, and the remark about it.
func TestReading(t *testing.T) {
	days := func(name, step string, n int) string {
		for i := range n {
			name += "\n" + time.Date(2019, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(step)
		}
		return name + "\n"
	}
	for text, c := range map[string]struct {
		kind    Kind
		reading string // a warning begins with !
	}{
		days("x", "20060102", 60): {Dates, "column x is read as dates, YYYYMMDD"},
		days("x", "20060102", 31): {Numbers, "column x is read as numbers, not as dates (YYYYMMDD), because the " +
			"steps are as even"},
		days("Day", "20060102", 31):        {Dates, "column Day is read as dates"},
		days("ds", "20060102", 1):          {Dates, "column ds is read as dates"},
		days("Tag_1", "20060102", 31):      {Dates, "column Tag_1 is read as dates"},
		days("percentage", "20060102", 31): {Numbers, "column percentage is read as numbers"},
		days("x", "20060102", 60) + "20190230\n": {Numbers,
			`!f:62: column "x" (0 from 0): "20190230" is not a date (YYYYMMDD), so the ` +
				"column is read as numbers; if its cells are dates, correct this one and write them as 2015-01-31"},
		"x\n201813\n201811\n201812\n201901\n201902\n201903\n": {Numbers,
			`!f:2: column "x" (0 from 0): "201813" is`},
		"month\n202307\n202308\n202309\n202310\n202311\n202312\n202313\n": {Numbers,
			`!f:8: column "month" (0 from 0): "202313" is`},
		"id\n202307\n202308\n202309\n202310\n202311\n202312\n202313\n": {Numbers,
			"f: column id is read as numbers, not as dates (YYYYMM), because 202313 is not a date"},
		"id\n202308\n202309\n202310\n202311\n202316\n":      {Numbers, ""},
		days("day", "20060102", 8) + "20190140\n20190150\n": {Numbers, "such as 20190101, not as dates"},
		days("day", "20060102", 60) + "total\n":             {Numbers, "such as 20190101, not as dates"},
		days("day", "20060102", 60) + "201903\n": {Numbers,
			`!f:62: column "day" (0 from 0): "201903" is not a date (YYYYMMDD)`},
		days("day", "2006", 60):                   {Numbers, ""},
		"t\n202001.5\n202002.5\n":                 {Numbers, ""},
		"month\n202001\n\n202002\n202003\n":       {Dates, "YYYYMM"},
		"month\n202102\n202009\n202001\n202010\n": {Dates, "YYYYMM"}, // in any order
		"price\n199901\n200105\n199812\n200012\n199912\n200110\n200003\n199911\n200201\n200211\n": {Numbers,
			"f: column price is read as numbers, not as dates (YYYYMM), because the steps between dates are irregular"},
		"price\n199811\n199812\n199901\n199912\n200003\n200012\n200105\n200110\n200201\n200211\n": {Numbers,
			"steps between dates are irregular"},
		"population\n19871203\n18120905\n20010411\n17990208\n19450530\n18700101\n19991130\n": {Numbers,
			"steps between numbers are more even"},
		"date\n20190103\n20190117\n20190120\n20190306\n20190331\n20190402\n":                  {Dates, ""}, // irregular, but named
		"x\n201901\n201902\n201903\n201812\n201901\n201902\n201903\n":                         {Dates, ""}, // two series
		"x\n201901\n201901\n201902\n201902\n201812\n201812\n":                                 {Dates, ""},
		"x\n201902\n201901\n201812\n201811\n201807\n":                                         {Dates, ""}, // decreasing, with a gap
		"x\n20181130\n20181231\n20190131\n20190228\n20190329\n20190430\n20190531\n20190628\n": {Dates, ""}, // the last working days
		"x\n201803\n201806\n201809\n201812\n201903\n":                                         {Dates, ""},
		"x\n20181217\n20181224\n20190107\n20190114\n":                                         {Dates, ""},
		"day\n1234567\n1234568\n":                                                             {Numbers, ""},
		"day\n22001231\n22001230\n":                                                           {Numbers, "such as 22001231, not as dates"},
	} {
		s, err := tableOf(t, text)
		if err != nil { // a blank line
			s = testkit.Must(tableOf(t, strings.ReplaceAll(text, "\n\n", "\nNA\n")))(t)
		}
		got, typo := s.Reading(0, true)
		if typo {
			got = "!" + got
		}
		if s.Kind(0) != c.kind || !strings.Contains(got, c.reading) || (got == "") != (c.reading == "") && c.kind != Dates {
			t.Errorf("%.40q: kind %d, %q; want %d, %q", text, s.Kind(0), got, c.kind, c.reading)
		}
	}
	for like, kind := range map[string]string{"2023-11-01|2023-12-01": "months", "7|8": ""} { // the model decides
		model, _, err := along(t, strings.Split(like, "|")...)
		testkit.OK(t, err)
		axis, x, err := testkit.Must(tableOf(t, "t;y\n202401;1\n202402;1\n"))(t).Input(0, model)
		testkit.OK(t, err)
		if axis.Unit != kind || x[1]-x[0] != 1 || axis.Format(x[1]) != "202402" {
			t.Errorf("like %s: %v in %q", like, x, axis.Unit)
		}
	}
	for text, want := range map[string]string{"202403": "202403", "202403.0": "202403", "2024-03-01": "202403",
		"20240301": "202403"} {
		axis, _, err := along(t, "202311", "202312", "202401")
		testkit.OK(t, err)
		testkit.Equal(t, axis.Format(testkit.Must(axis.Parse(text))(t)), want, text)
	}
}

// TestNonexistent checks which texts are dates that do not exist, and which look like dates that are not read.
func TestNonexistent(t *testing.T) {
	for s, want := range map[string]bool{"2020-W53": false, "2021-W53": true, "2020-W54": true, "2020-W00": true, "2024-W31": false,
		"Jan-22": false, "Q1 2020": false, "2025-02-29": true, "4Q21": false, "31-Feb": false, "201713": true, "20250229": true, "2025-13": true,
		"29/02/2025": true, "31.04.2024 12:00": true, "2024-02-29": false, "201712": false, "12/13/2024": false,
		"2024": false, "12": false, "soon": false, "": false} {
		testkit.Equal(t, Nonexistent(s), want, s)
	}
	axis, _, err := along(t, "202311", "202312", "202401")
	testkit.OK(t, err)
	if _, err := axis.Parse("202413"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("202413: %v", err)
	}
	for s, want := range map[string]bool{"Jan-15": true, "15-Jan": true, "Q5 2010": true, "Q1 10": true, "2015M01": true,
		"2015W07": true, "SKU-15": false, "A1 10": false, "3B": false, "9001m5": false, "Jan": false} {
		tab := testkit.Must(tableOf(t, "a;b\n"+s+";1\n"))(t)
		testkit.Equal(t, tab.DateLike(0) == s, want, s)
	}
	for s, want := range map[string]bool{"01.01.24": true, "20240101T00": true, "KW01/2024": true, "Mon 01 Jan": true,
		"Mon": false} { // the name of the column decides
		for _, name := range []string{"date", "shop"} {
			tab := testkit.Must(tableOf(t, name+";b\n"+s+";1\n"))(t)
			testkit.Equal(t, tab.DateLike(0) == s, want && name == "date", name, " ", s)
		}
	}
}

// TestMonthsWithoutDays checks that a column such as Jan-22 has months of years only if most steps are the same number of months, and that
// a day of a month without a year is never a date. A column that is read like another one needs no such steps.
func TestMonthsWithoutDays(t *testing.T) {
	for cells, want := range map[string]Kind{
		"Jan-22|Feb-22|Mar-22":        Dates,
		"Mar-22|Feb-22|Jan-22":        Dates,
		"Oct-22|Jan-23|Apr-23|Oct-23": Dates,
		"Jan-22|Jan-22|Feb-22|Feb-22": Dates,
		"Jan-22|Feb-22||Mar-22":       Dates,
		"Jan-22|Jan-23|Jan-24":        Text, // days
		"Jan-30|Jan-31|Feb-01|Feb-02": Text,
		"Jan-22":                      Text,
		"Jan-22|Mar-17|Feb-19|May-11": Text,
		"Jan 22|Feb 22|Mar 22":        Text,
		"22-Jan|22-Feb|22-Mar":        Dates, // ambiguous
		"22-Nov|22-Dec|23-Jan":        Dates,
		"22-Jan|23-Jan|24-Jan":        Text, // days
		"30-Jan|31-Jan|01-Feb":        Text,
		"22-Jan":                      Text,
		"22-Jan|17-Mar|19-Feb|11-May": Text,
		"22 Jan|23 Jan|24 Jan":        Text,
		"Q1 20|Q2 20|Q3 20":           Text,
		"q1 2020|q2 2020":             Text,
		"01Q2021|02Q2021":             Text,
		"5Q21|6Q21":                   Text,
		"Q5/2021|Q6/2021":             Text,
		"W01 2020|W02 2020":           Text,
	} {
		s := testkit.Must(tableOf(t, "t;y\n"+strings.ReplaceAll(cells, "|", ";1\n")+";1\n"))(t)
		testkit.Equal(t, s.Kind(0), want, cells)
	}
	like, _, err := along(t, "Nov-22", "Dec-22", "Jan-23")
	testkit.OK(t, err)
	for cell, want := range map[string]float64{"Jan-24": 14, "Jan 2024": 14, "2024-01": 14} {
		axis, x, err := testkit.Must(tableOf(t, "t;y\n"+cell+";1\n"))(t).Input(0, like)
		testkit.OK(t, err, cell)
		testkit.Equal(t, x[0], want, cell)
		if cell != "Jan-24" {
			testkit.Equal(t, axis.Format(x[0]), cell, "written")
		}
	}
	for cells, want := range map[string]string{
		"22-Jan|22-Feb|22-Mar": `"22-Jan" is January 2022 or day 22 of January without a year`,
		"31-Jan|31-Mar|31-May": `"31-Jan" is January 2031 or day 31 of January without a year`,
		"22-Nov|22-Dec|23-Jan": "", "00-Jan|00-Feb|00-Mar": "", "32-Jan|32-Feb": "",
		"30-Jan|30-Feb|30-Mar": "",
	} {
		_, _, err := along(t, strings.Split(cells, "|")...)
		if want == "" {
			testkit.OK(t, err, cells)
			continue
		}
		oneLine(t, err, want)
	}
	like, _, err = along(t, "22-Nov", "22-Dec", "23-Jan")
	testkit.OK(t, err)
	for cell, want := range map[string]float64{"24-Jan": 14, "24-Feb": 15, "2024-01": 14} {
		_, x, err := testkit.Must(tableOf(t, "t;y\n"+cell+";1\n"))(t).Input(0, like)
		testkit.OK(t, err, cell)
		testkit.Equal(t, x[0], want, cell)
	}
	_, x, err := testkit.Must(tableOf(t, "t;y\n24-Jan;1\n24-Feb;1\n24-Mar;1\n"))(t).Input(0, like)
	testkit.OK(t, err)
	testkit.Equal(t, x, []float64{14, 15, 16}, "months of one year like a model's")
	wide := testkit.Must(tableOf(t, "item,Jan 2022,Feb-22,Q3 2022\na,1,2,3\nb,4,5,6\n"))(t)
	testkit.Equal(t, strings.Join(wide.Names, "|"), "item|Jan 2022|Feb-22|Q3 2022", "names of columns")
}

// TestUndated checks the remark about columns with the name of a date that have numbers in a layout that is not read.
func TestUndated(t *testing.T) {
	for text, cell := range map[string]string{
		"month\n2015.01\n2015.02\n2015.1\n2015.11\n":              "2015.01",
		"month;y\n2015,01;1\n2015,02;2\n":                         "2015,01",
		"date\n202401010000\n202401010100\n":                      "202401010000",
		"time\n2024010100\n2024010101\n":                          "2024010100",
		"Datum\n20240101000000\n20240101000100\n":                 "20240101000000",
		"date\n000101\n000102\n":                                  "000101",
		"week\n201549\n201550\n201551\n201552\n201601\n":          "201549",
		"month\n165001\n165002\n165003\n":                         "165001",
		"day\n20230226\n20230227\n20230228\n20230229\n20230301\n": "20230226",
		"month\n201503\n201504.5\n201505\n":                       "201503",
		"month\n1510\n1511\n1512\n1601\n":                         "1510",
		"date\n0911\n0912\n1001\n":                                "0911",
		"Monat\n2001\n2002\n2003\n":                               "2001",
		"month\n1510\n1511\n1512\n1613\n":                         "",
		"month\n1510\n1511\n1512\n1600\n":                         "",
		"date\n2001\n2002\n2003\n":                                "",
		"x\n1511\n1512\n1601\n":                                   "",
		"month\n101\n102\n":                                       "",
		"x\n2015.01\n2015.02\n":                                   "",
		"month\n1\n2\n12\n":                                       "",
		"day\n1\n31\n":                                            "",
		"time\n0.5\n1.0\n1.5\n":                                   "",
		"time\n0\n100000\n200000\n":                               "",
		"date\n1990\n1991\n":                                      "",
		"date\n2015.1\n2015.2\n2015.3\n":                          "", // years
		"date\n2015.04\n2015.12\n2015.21\n":                       "",
		"date\n1958.2027\n1958.2877\n":                            "",
	} {
		s := testkit.Must(tableOf(t, text))(t)
		want := ""
		if cell != "" {
			want = "f: column " + s.Names[0] + " is read as numbers, such as " + cell + ", not as dates; write dates as " +
				"2015-01 or 2015-01-31"
		}
		got, typo := s.Reading(0, true)
		if got != want || typo {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
		if got, _ := s.Reading(0, false); got != "" {
			t.Errorf("%q is the output: %q", text, got)
		}
	}
}

// TestFarDates checks that dates that cannot be read again are not written.
func TestFarDates(t *testing.T) {
	for cells, step := range map[string]float64{
		"9999-12-30|9999-12-31": 1, "9999-12-31T22:00|9999-12-31T23:00": 1, "9999-11|9999-12": 1, "9999-Q3|9999-Q4": 3,
		"30.12.9999|31.12.9999": 1, "0000-01-02|0000-01-01": -1, "9999-W51|9999-W52": 7, "Nov 9999|Dec 9999": 1,
	} {
		axis, x, err := along(t, strings.Split(cells, "|")...)
		testkit.OK(t, err)
		write := func(x float64) error {
			w := testkit.Must(NewTextWriter(io.Discard, []string{"d"}, ',', []*Axis{axis}))(t)
			return w.Write([]float64{x})
		}
		testkit.OK(t, write(x[1]), cells)
		if far := x[1] + step; !errors.Is(write(far), ErrFormat) || !strings.Contains(write(far).Error(), axis.Format(far)) {
			t.Errorf("%s: %s is written: %v", cells, axis.Format(far), write(far))
		}
	}
}
