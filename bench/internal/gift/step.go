package gift

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A step is the distance of a series' rows.
type step struct {
	column              string // name of the column of dates
	layout              string // of dates, as package time defines it
	months, days, hours int
}

var (
	numbers  = step{column: "row"}
	years    = step{column: "year", layout: "2006", months: 12}
	quarters = step{column: "quarter", layout: "2006Q1", months: 3}
	months   = step{column: "month", layout: "2006-01", months: 1}
	weeks    = step{column: "week", layout: time.DateOnly, days: 7}
	days     = step{column: "date", layout: time.DateOnly, days: 1}
	hours    = step{column: "time", layout: "2006-01-02 15:04", hours: 1}
)

// add returns the time of the row n steps after a start.
func (s step) add(start time.Time, n int) time.Time {
	return start.AddDate(0, n*s.months, n*s.days).Add(time.Duration(n*s.hours) * time.Hour)
}

// dates returns the texts of the first n rows. Without a start they are the numbers from 1.
func (s step) dates(start string, n int) (out []string, err error) {
	first, err := s.parse(start)
	if err != nil {
		return nil, err
	}
	for i := range n {
		if start == "" {
			out = append(out, strconv.Itoa(i+1))
		} else {
			out = append(out, s.format(s.add(first, i)))
		}
	}
	return out, nil
}

// parse returns the time of a start.
func (s step) parse(start string) (t time.Time, err error) {
	switch {
	case start == "":
	case s == quarters: // package time has no quarters
		var year, quarter int
		if _, err = fmt.Sscanf(start, "%dQ%d", &year, &quarter); err == nil && (quarter < 1 || quarter > 4) {
			err = errors.New("the quarter must be 1 to 4")
		}
		t = time.Date(year, time.Month(3*quarter-2), 1, 0, 0, 0, 0, time.UTC)
	default:
		t, err = time.Parse(s.layout, start)
	}
	if err != nil {
		err = fmt.Errorf("start %q: %w", start, err)
	}
	return t, err
}

// format returns the text of a time.
func (s step) format(t time.Time) string {
	if s == quarters {
		return fmt.Sprintf("%dQ%d", t.Year(), (int(t.Month())+2)/3)
	}
	return t.Format(s.layout)
}
