package table

import (
	"math"
	"slices"
	"time"
)

// Minimum evidence that rows follow opening hours or weekdays. Fewer rows may lack an hour or a weekday by chance.
const (
	fewestOpenRows = 10  // rows, for opening hours
	fewestOpenDays = 3   // days with rows
	fewestTimes    = 2   // times of a weekday, so that its rows or their absence repeat
	fewestClosed   = 4   // times of a closed weekday if open days are missing, fewer if less than two are
	fewestWorkdays = 10  // days with rows, for a closed weekend if the other days are irregular
	openShare      = 0.8 // share with rows, of the open hours of days with rows and of the open days
	finestOpenStep = 60  // seconds

	mostByChance = 0.01 // expected number of open hours of a weekday that seem closed because all their rows are missing
)

// openingHours counts the rows of an even grid in local time. Days and steps count from the first row.
type openingHours struct {
	perDay  int          // steps
	offset  int          // step of the first row in its day
	weekday time.Weekday // of the first row
	last    int          // step of the last row
	rows    int
	used    []bool    // steps of a day with rows
	days    []bool    // days with rows
	seen    [7]bool   // weekdays with rows, from the weekday of the first row
	own     [7][]bool // steps with rows, by weekday
	times   [7]int    // numbers of days with rows, by weekday
}

// setOpen sets the steps after Last that can have rows, if the rows follow opening hours or weekdays.
func (g *Grid) setOpen(x []float64) {
	h := g.openingHours(x)
	if h == nil {
		return
	}
	hourly, weekly, closed := h.hourly(), h.weekly(), h.closed()
	var open []int
	for k := 1; k <= 7*h.perDay; k++ {
		day, step := h.at(h.last + k)
		has := (h.used[step] || !hourly) && !closed[day%7]
		if weekday := day % 7; weekly && h.seen[weekday] {
			has = h.own[weekday][step]
		}
		if has {
			open = append(open, k)
		}
	}
	if len(open) < 7*h.perDay {
		g.week, g.open = 7*h.perDay, open
	}
}

// openingHours returns the counts of sorted x, nil if the steps do not divide a day.
func (g *Grid) openingHours(x []float64) *openingHours {
	const rounding = 1e-6
	step := g.Step * float64(unitSeconds[g.axis.Unit])
	perDay := math.Round(secondsPerDay / step)
	if !g.Even || !g.axis.Dates() || !(step >= finestOpenStep) ||
		math.Abs(perDay*step-secondsPerDay) > rounding*secondsPerDay {
		return nil
	}
	first := g.axis.Seconds(x[0])
	midnight := math.Floor(first/secondsPerDay) * secondsPerDay
	place := func(v float64) int { return int(math.Round((g.axis.Seconds(v) - first) / step)) }
	h := &openingHours{perDay: int(perDay), rows: len(x), last: place(x[len(x)-1])}
	h.weekday, h.offset = utc(int64(midnight)).Weekday(), int((first-midnight)/step+rounding)
	days, _ := h.at(h.last)
	h.used, h.days = make([]bool, h.perDay), make([]bool, days+1)
	for i := range h.own {
		h.own[i] = make([]bool, h.perDay)
	}
	for _, v := range x {
		day, step := h.at(place(v))
		if !h.days[day] {
			h.times[day%7]++
		}
		h.used[step], h.days[day], h.seen[day%7], h.own[day%7][step] = true, true, true, true
	}
	return h
}

// at returns the day of a step, and its step in the day.
func (h *openingHours) at(step int) (day, inDay int) {
	step += h.offset
	return step / h.perDay, step % h.perDay
}

// hourly reports whether days with rows have rows at the same times. The first and the last day may be incomplete.
func (h *openingHours) hourly() bool {
	days := count(h.days)
	_, end := h.at(h.last)
	open := days*count(h.used) - count(h.used[:h.offset]) - count(h.used[end+1:])
	return h.rows >= fewestOpenRows && days >= fewestOpenDays && float64(h.rows) >= openShare*float64(open)
}

// weekly reports whether each weekday with rows regularly has its own hours, such as shorter ones on Saturday. Each
// hour without rows must be closed on at least two days, and missing rows must be too rare to close an hour by chance.
func (h *openingHours) weekly() bool {
	lastDay, end := h.at(h.last)
	open := -count(h.own[0][:h.offset]) - count(h.own[lastDay%7][end+1:])
	for weekday, own := range h.own {
		open += h.times[weekday] * count(own)
	}
	// The first and the last day may be incomplete, unless they begin and end like other ones.
	begins, ends := slices.Index(h.own[0], true) == h.offset, !slices.Contains(h.own[lastDay%7][end+1:], true)
	missing, byChance := float64(open-h.rows)/float64(open), 0.0
	for weekday, own := range h.own {
		for step := range own {
			days := h.times[weekday] // that could have a row
			if weekday == 0 && step < h.offset && !begins {
				days--
			}
			if weekday == lastDay%7 && step > end && !ends {
				days--
			}
			if h.seen[weekday] && !own[step] && days < fewestTimes {
				return false
			}
			if h.seen[weekday] {
				byChance += math.Pow(missing, float64(days))
			}
		}
	}
	return h.rows >= fewestOpenRows && byChance <= mostByChance
}

// closed returns the weekdays without rows, from the weekday of the first row. If the days with rows are irregular,
// these are Saturday and Sunday or none.
func (h *openingHours) closed() [7]bool {
	closed, regular := h.weekdays()
	if regular {
		return closed
	}
	saturday, sunday := h.weekend()
	weekend := count(h.days) >= fewestWorkdays && closed[saturday] && closed[sunday]
	closed = [7]bool{}
	closed[saturday], closed[sunday] = weekend, weekend
	return closed
}

// weekdays returns the weekdays without rows, from the weekday of the first row, and reports whether the others
// regularly have rows.
func (h *openingHours) weekdays() (closed [7]bool, regular bool) {
	var times [7]int // in the range of the data
	open := 0
	for day := range h.days {
		times[day%7]++
		if h.seen[day%7] {
			open++
		}
	}
	saturday, sunday := h.weekend()
	days, gaps := count(h.days), len(h.days)-open
	least := min(fewestTimes+open-days, fewestClosed) // several missing days may share a weekday by chance
	regular = days >= fewestOpenDays && float64(days) >= openShare*float64(open)
	for i, seen := range h.seen {
		closed[i] = !seen
		switch {
		case seen:
			regular = regular && times[i] >= fewestTimes
		case days == open && (gaps > 1 || i == saturday || i == sunday):
			// Two closed days, or one on a weekend, are unlikely by chance if no other day is missing.
		default:
			regular = regular && times[i] >= least
		}
	}
	return closed, regular
}

// weekend returns Saturday and Sunday, from the weekday of the first row.
func (h *openingHours) weekend() (saturday, sunday int) {
	saturday = int(time.Saturday-h.weekday+7) % 7
	return saturday, (saturday + 1) % 7
}

// count returns the number of true values.
func count(all []bool) (n int) {
	for _, v := range all {
		if v {
			n++
		}
	}
	return n
}
