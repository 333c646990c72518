package series

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// regressors are the values of --regressor, --holidays and --events. A model file contains them as a note.
type regressors struct {
	Columns  []string `json:"columns,omitempty"`
	Holidays []string `json:"holidays,omitempty"` // codes of calendars
	Events   []event  `json:"events,omitempty"`
	// TradingDays means that there are regressors of trading days.
	TradingDays bool `json:"trading_days,omitempty"`
	// YearDays are days of the year, such as 07-04.
	YearDays []string `json:"days_of_year,omitempty"`

	// The length of the period of a row, in whole days or calendar months. Both are 0 if it is one day.
	Days   int `json:"days,omitempty"`
	Months int `json:"months,omitempty"`

	eventFile string
	when      string // one of whens, for trading days
	yearDays  string // auto or never, for days of the year
}

// An event is a set of days, such as 2024-12-24, with a name.
type event struct {
	Name string   `json:"name"`
	Days []string `json:"days"`
}

// add defines the flags.
func (g *regressors) add(f *pflag.FlagSet) {
	f.StringSliceVar(&g.Columns, "regressor", nil, "`columns` that explain the outputs and have known future values")
	f.Var(&cli.Value{Kind: "codes", List: true, Words: calendarCodes(), Parse: g.addHolidays}, "holidays",
		"add regressors for the holidays of `codes` such as US or DE-BY")
	f.Var(cli.FileName(&g.eventFile, cli.FileUse{Extensions: cli.TableFiles}), "events",
		"add regressors for the days in a `file` with dates and names")
	g.when = auto
	f.Var(cli.OneOf(&g.when, whens...), "trading-days",
		"`when` to count weekdays: auto, always or never")
	g.yearDays = auto
	f.Var(cli.OneOf(&g.yearDays, auto, never), "days-of-year",
		"`when` to search for days such as 07-04: auto or never")
}

func (g *regressors) addHolidays(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		code := strings.ToUpper(strings.TrimSpace(one))
		if calendars[code] == nil {
			return fmt.Errorf("unknown calendar %.20q; must be one of %s, or a state of AU, CH or DE such as DE-BY", one, strings.Join(
				slices.DeleteFunc(calendarCodes(), func(code string) bool { return strings.Contains(code, "-") }), ", "))
		}
		g.Holidays = append(g.Holidays, code)
	}
	return nil
}

// none reports whether there are no regressors.
func (g *regressors) none() bool { return len(g.Columns) == 0 && !g.calendar() }

// calendar reports whether there are regressors that depend on dates.
func (g *regressors) calendar() bool { return g.named() || g.TradingDays || len(g.YearDays) > 0 }

// named reports whether there are holidays or events.
func (g *regressors) named() bool { return len(g.Holidays) > 0 || len(g.Events) > 0 }

// readEvents reads the file of --events.
func (g *regressors) readEvents(ctx context.Context, env *cli.Env, c *datafile.Columns) error {
	if g.eventFile == "" {
		return nil
	}
	g.Events = nil
	t, err := c.Read(ctx, env, g.eventFile)
	if err != nil {
		return err
	}
	dates, texts := t.OfKind(table.Dates), t.OfKind(table.Text)
	if len(dates) == 0 || len(texts) == 0 {
		return cli.Mistake("--events %s: the columns are %s; must be dates and their names", g.eventFile, datafile.Listed(t.Names))
	}
	axis, x, err := t.Input(dates[0], nil)
	if err != nil {
		return err
	}
	names, err := t.Words(texts[0])
	if err != nil {
		return err
	}
	if t.Cols > 2 {
		env.Note("--events %s: read %s and %s; left out the other columns", g.eventFile, t.Names[dates[0]], t.Names[texts[0]])
	}
	number := map[string]int{} // of an event
	for n, name := range names {
		i, known := number[name]
		if len(number) == maxRegressors && !known {
			return cli.Mistake("--events %s: more than %d names of events; the maximum is %[2]d; give events of one "+
				"kind the same name", g.eventFile, maxRegressors)
		}
		if !known {
			i, number[name] = len(g.Events), len(g.Events)
			g.Events = append(g.Events, event{Name: name})
		}
		g.Events[i].Days = append(g.Events[i].Days, time.Unix(secondsPerDay*dayOf(axis, x[n]), 0).UTC().Format(time.DateOnly))
	}
	return nil
}

// maxRegressors is the maximum number of regressors of a series and of names of events. The time of a fit grows
// with it.
const maxRegressors = 256

const secondsPerDay = 86400

// dayOf returns the day of x in days since 1970, in the local time of the column.
func dayOf(axis *table.Axis, x float64) int64 {
	return int64(math.Floor(axis.Seconds(x) / secondsPerDay))
}

// dayNumber returns the day of a date in days since 1970.
func dayNumber(at time.Time) int64 {
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}

// The groups of day regressors. Each group has a prior and a component.
const (
	holidays, dayBefore, dayAfter, events = "holidays", "days before holidays", "days after holidays", "events"
	onWeekends                            = "holidays on weekends"
)

// minOnWeekends is the minimum number of rows of a holiday on weekends, and on other days, at which their effects differ.
const minOnWeekends = 3

// setPeriod sets the length of the period of a row from the step of the rows. It reports whether holidays can be counted in such periods.
func (g *regressors) setPeriod(axis *table.Axis, step float64) bool {
	g.Days, g.Months = 0, 0
	if unit := units[axis.Unit]; unit >= units["mo"] {
		g.Months = int(math.Round(step * unit / units["mo"]))
		return g.Months > 0 && 12%g.Months == 0
	} else if days := math.Round(step * unit / secondsPerDay); days > 1 {
		g.Days = int(days)
	}
	return true
}

// period returns the first day of the period of the row at x and the day after it, in days since 1970. Months, quarters and years are those
// of the calendar that contain the date. Weeks begin on the date.
func (g *regressors) period(axis *table.Axis, x float64) (first, end int64) {
	day := dayOf(axis, x)
	if g.Months == 0 {
		return day, day + int64(max(1, g.Days))
	}
	at := time.Unix(day*secondsPerDay, 0).UTC()
	month := (int(at.Month())-1)/g.Months*g.Months + 1
	start := time.Date(at.Year(), time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	return dayNumber(start), dayNumber(start.AddDate(0, g.Months, 0))
}

// daily reports whether the period of a row is at most one day.
func (g *regressors) daily() bool { return g.Months == 0 && g.Days == 0 }

// A counter counts the days of each regressor in the periods of rows.
type counter struct {
	rows        map[int64][]int // by day since 1970
	first, last int64           // days
	count       int             // of rows
	all         []series.Regressor
	marked      map[markedDay]bool
}

// A markedDay is a day of the regressor with the given index.
type markedDay struct {
	regressor int
	day       int64
}

// counter returns a counter of the rows at x.
func (g *regressors) counter(axis *table.Axis, x []float64) *counter {
	c := &counter{rows: map[int64][]int{}, marked: map[markedDay]bool{}, count: len(x)}
	c.first, c.last = math.MaxInt64, math.MinInt64
	for n, v := range x {
		first, end := g.period(axis, v)
		for d := first; d < end; d++ {
			c.rows[d] = append(c.rows[d], n)
		}
		c.first, c.last = min(c.first, first), max(c.last, end-1)
	}
	return c
}

// mark counts a day of a regressor, at most once.
func (c *counter) mark(group, name string, day int64) {
	i := slices.IndexFunc(c.all, func(r series.Regressor) bool { return r.Name == name && r.Group == group })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, series.Regressor{Name: name, Group: group, Values: make([]float64, c.count)})
	}
	if at := (markedDay{i, day}); !c.marked[at] {
		c.marked[at] = true
		for _, n := range c.rows[day] {
			c.all[i].Values[n]++
		}
	}
}

// markWeekend counts a day of a holiday or of the year if it is a Saturday or a Sunday, on which its effect may differ.
func (c *counter) markWeekend(name string, day int64) {
	if at := time.Unix(day*secondsPerDay, 0).UTC().Weekday(); at == time.Saturday || at == time.Sunday {
		c.mark(onWeekends, name+" on a weekend", day)
	}
}

// days returns the regressors at x of holidays, of the days before and after them if rows are at most a day apart, and of events. The
// value of a regressor is the number of its days in the period of the row.
func (g *regressors) days(axis *table.Axis, x []float64) []series.Regressor {
	if !g.calendar() || len(x) == 0 {
		return nil
	}
	c := g.counter(axis, x)
	for _, code := range g.Holidays {
		g.markHolidays(c, code)
	}
	for _, e := range g.Events {
		for _, text := range e.Days {
			if at, err := time.Parse(time.DateOnly, text); err == nil {
				c.mark(events, e.Name, dayNumber(at))
			}
		}
	}
	for day := c.first; day <= c.last && len(g.YearDays) > 0; day++ {
		if name := time.Unix(day*secondsPerDay, 0).UTC().Format(yearDay); slices.Contains(g.YearDays, name) {
			c.mark(yearDays, name, day)
			c.markWeekend(name, day)
		}
	}
	if g.TradingDays {
		c.all = append(c.all, g.tradingDays(axis, x)...)
	}
	return c.all
}

// markHolidays counts the holidays of a calendar.
func (g *regressors) markHolidays(c *counter, code string) {
	year := func(day int64) int { return time.Unix(day*secondsPerDay, 0).UTC().Year() }
	for _, h := range calendars[code] {
		name := h.Name
		if len(g.Holidays) > 1 { // holidays of the same name differ between countries
			name += " (" + code + ")"
		}
		for y := year(c.first) - 1; y <= year(c.last)+1; y++ {
			actual, observed := h.Calc(y)
			if actual.IsZero() {
				continue
			}
			day := dayNumber(actual)
			c.mark(holidays, name, day)
			if g.daily() {
				c.markWeekend(name, day)
				c.mark(dayBefore, "day before "+name, day-1)
				c.mark(dayAfter, "day after "+name, day+1)
			}
			if other := dayNumber(observed); other != day {
				c.mark(holidays, name+" (observed)", other)
			}
		}
	}
}

// regressorsNote is the key of the model file's note with its regressors as JSON.
const regressorsNote = "regressors"

// regressorsOf returns the regressors of a model.
func regressorsOf(m *series.Model) (g *regressors, err error) {
	g = &regressors{}
	if text := m.Notes[regressorsNote]; text != "" {
		if err := json.Unmarshal([]byte(text), g); err != nil {
			return nil, cli.Mistake("the model's note %s is %.60q; must be regressors as JSON", regressorsNote, text)
		}
	}
	for _, code := range g.Holidays {
		if calendars[code] == nil {
			return nil, cli.Mistake("the model's note %s has the calendar %.20q, which this version does not support", regressorsNote, code)
		}
	}
	return g, nil
}

// A known contains the values of regressor columns by time.
type known struct {
	*regressors
	path   string
	axis   *table.Axis
	step   float64             // of the series
	values map[int64][]float64 // [columns] by place(x)
}

// place returns a key for x. Values of x that differ only by rounding have the same key.
func (k *known) place(x float64) int64 { return int64(math.Round(1000 * x / cmp.Or(k.step, 1))) }

// take adds the values of the columns at x.
func (k *known) take(x []float64, columns [][]float64) {
	if k.values == nil {
		k.values = map[int64][]float64{}
	}
	for i := 0; i < len(x) && len(columns) > 0; i++ {
		var row []float64
		for _, c := range columns {
			row = append(row, c[i])
		}
		k.values[k.place(x[i])] = row
	}
}

// at returns the values of a model's regressors at x.
func (k *known) at(m *series.Model, x []float64) (z [][]float64, err error) {
	values, err := k.columns(x)
	if err != nil {
		return nil, err
	}
	for _, r := range k.days(k.axis, x) {
		values[r.Name] = r.Values
	}
	for _, r := range inOrder(m, values, len(x)) {
		z = append(z, r.Values)
	}
	return z, nil
}

// columns returns the values of the columns at x. The error names the first time at which a value is missing.
func (k *known) columns(x []float64) (values map[string][]float64, err error) {
	values = map[string][]float64{}
	missing, where := "", math.Inf(1)
	for j, name := range k.Columns {
		values[name] = make([]float64, len(x))
		for i, v := range x {
			row := k.values[k.place(v)]
			if row != nil && !math.IsNaN(row[j]) {
				values[name][i] = row[j]
			} else if v < where {
				missing, where = name, v
			}
		}
	}
	if missing != "" {
		return nil, cli.Mistake("%s: the column %.40q has no value at %s, which the prediction requires", k.path, missing, k.axis.Format(where))
	}
	return values, nil
}

// inOrder returns the regressors in the model's order from their values by name. Regressors without values are 0 at all n times, such as
// holidays outside of the range.
func inOrder(m *series.Model, values map[string][]float64, n int) (all []series.Regressor) {
	for _, name := range m.Regressors() {
		if values[name] == nil {
			values[name] = make([]float64, n)
		}
		all = append(all, series.Regressor{Name: name, Values: values[name]})
	}
	return all
}

// setCalendar sets the regressors that depend on dates. It copies r.known.regressors first, because they differ between the series of --by.
func (r *timeSeries) setCalendar() error {
	g := *r.known.regressors
	r.known.regressors = &g
	if g.named() && !r.axis.Dates() {
		return cli.Mistake("--holidays and --events require dates, but the input %s of %s has numbers", r.xName, r.path)
	}
	if whole := g.setPeriod(r.axis, r.grid.Step); g.named() && !whole {
		return cli.Mistake("--holidays and --events require a step of days, weeks, or 1, 2, 3, 4, 6 or 12 months, "+
			"but the step of %s is %s", r.path, spanOf(r.grid.Step, r.axis))
	}
	if g.yearDays == auto {
		r.setYearDays()
	}
	return r.setTradingDays(g.when)
}

// explain sets the regressors of the series: the columns and, of the day regressors, those that vary. If m is not nil,
// they are the regressors of the model.
func (r *timeSeries) explain(env *cli.Env, m *series.Model) error {
	if m == nil {
		if err := r.setCalendar(); err != nil {
			return err
		}
	}
	g := r.known.regressors
	if g.none() {
		return nil
	}
	for _, c := range r.Regressors {
		for n, v := range c.Values {
			if math.IsNaN(v) && r.seen(n) {
				return cli.Mistake("%s: row %d (from 1) has a value of %s but no value of the regressor %.40q; must have both or neither", r.path,
					r.rows[n]+1, datafile.Listed(r.yNames), c.Name)
			}
		}
	}
	days := g.days(r.axis, r.X)
	if m != nil {
		values := map[string][]float64{}
		for _, c := range slices.Concat(r.Regressors, days) {
			values[c.Name] = c.Values
		}
		r.Regressors = inOrder(m, values, len(r.X))
		return nil
	}
	var left []string
	for _, c := range days {
		if slices.ContainsFunc(r.Regressors, func(other series.Regressor) bool { return other.Name == c.Name }) {
			return cli.Mistake("the regressor %.40q of %s has the name of another regressor; names must be different", c.Name, c.Group)
		}
		if r.varies(c.Values) && (c.Group != onWeekends || r.bothOften(days, c)) {
			r.Regressors = append(r.Regressors, c)
		} else if c.Group == events {
			left = append(left, c.Name)
		}
	}
	if n := len(r.Regressors); n > maxRegressors {
		return cli.Mistake("%s: %d regressors (columns, holidays and the days around them, events); the maximum is %d",
			r.path, n, maxRegressors)
	}
	if left != nil {
		env.Note("%s: left out the events %s, because no row with a value is on their days, or all are", r.path,
			strings.Join(left, ", "))
	}
	return nil
}

// bothOften reports whether a holiday is on weekends, and on other days, in at least minOnWeekends rows with a value of an output.
func (r *timeSeries) bothOften(days []series.Regressor, weekend series.Regressor) bool {
	all := days[slices.IndexFunc(days, func(c series.Regressor) bool { return c.Name+" on a weekend" == weekend.Name })]
	on, off := 0, 0
	for n, v := range all.Values {
		switch {
		case !r.seen(n):
		case weekend.Values[n] != 0:
			on++
		case v != 0:
			off++
		}
	}
	return on >= minOnWeekends && off >= minOnWeekends
}

// varies reports whether a regressor differs between rows with a value of an output.
func (r *timeSeries) varies(values []float64) bool {
	first := -1
	for n := range values {
		switch {
		case !r.seen(n):
		case first < 0:
			first = n
		case values[n] != values[first]:
			return true
		}
	}
	return false
}

// seen reports whether a row has a value of an output.
func (r *timeSeries) seen(n int) bool {
	return slices.ContainsFunc(r.Y, func(y []float64) bool { return !math.IsNaN(y[n]) })
}

// latest returns the last value of each regressor, repeated count times.
func (r *timeSeries) latest(count int) (z [][]float64) {
	for _, c := range r.Regressors {
		last := 0.0
		for _, v := range c.Values {
			if !math.IsNaN(v) {
				last = v
			}
		}
		z = append(z, slices.Repeat([]float64{last}, count))
	}
	return z
}

// past returns the rows up to the last value of an output, all rows if there is no value. It adds the times of
// later rows to r.future.
func (r *timeSeries) past(x []float64, outputs [][]float64) (rows []int) {
	last := math.Inf(-1)
	for _, y := range outputs {
		for n, v := range y {
			if !math.IsNaN(v) {
				last = max(last, x[n])
			}
		}
	}
	for n, v := range x {
		if v <= last || math.IsInf(last, -1) {
			rows = append(rows, n)
		} else {
			r.future = append(r.future, v)
		}
	}
	return rows
}

// calendarCodes returns the codes of the calendars, sorted.
func calendarCodes() []string { return slices.Sorted(maps.Keys(calendars)) }
