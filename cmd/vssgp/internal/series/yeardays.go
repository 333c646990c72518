package series

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/vssgp/vssgp/internal/bayes"
)

// yearDays is the group of the regressors of days of the year.
const yearDays = "days of the year"

const (
	minYears     = 3     // minimum number of years of a series with days of the year, and of values on such a day
	maxYearDays  = 40    // the time of a fit grows with it
	falseDays    = 0.001 // expected share of days without an effect (Benjamini & Hochberg 1995)
	largestScore = 3     // limit of the standardized deviation of one value, which bounds the influence of outliers
)

// yearDay is the layout of a day of the year.
const yearDay = "01-02"

// setYearDays finds the days of the year, such as 07-04, on which the values of a daily series differ from those around them.
func (r *timeSeries) setYearDays() {
	g, day := r.known.regressors, secondsPerDay/units[r.axis.Unit]
	if !r.axis.Dates() || !g.daily() || math.Abs(r.grid.Step-day) > 1e-6*day {
		return
	}
	var outputs [][]float64
	first, last := dayOf(r.axis, r.grid.First), dayOf(r.axis, r.grid.Last)
	if last-first < minYears*365 {
		return
	}
	explained := g.days(r.axis, r.X)
	for _, values := range r.untested() {
		y := slices.Repeat([]float64{math.NaN()}, int(last-first)+1)
		positive := !slices.ContainsFunc(values, func(v float64) bool { return v <= 0 })
		for n, v := range values {
			i := dayOf(r.axis, r.X[n]) - first
			for _, c := range explained {
				if c.Values[n] != 0 {
					v = math.NaN()
				}
			}
			if y[i] = v; positive {
				y[i] = math.Log(v)
			}
		}
		outputs = append(outputs, y)
	}
	names := make([]string, last-first+1)
	for i := range names {
		names[i] = time.Unix((first+int64(i))*secondsPerDay, 0).UTC().Format(yearDay)
	}
	room := maxRegressors - len(r.Regressors) - len(explained) // each day may have a second regressor for weekends
	g.YearDays = unusualDays(outputs, names, min(maxYearDays, room/2))
}

// unusualDays returns the days of the year, sorted, whose values differ from those around them. names are the days of the year of the
// values, one per day; missing values are NaN. It adds the days with the largest deviations first, because they also change the deviations
// of the days around them. It returns at most the given number of days.
func unusualDays(outputs [][]float64, names []string, limit int) []string {
	found := map[string]bool{}
	for len(found) < limit {
		all := significantDays(outputs, names, found)
		if len(all) == 0 {
			break
		}
		most := slices.MaxFunc(all, func(a, b unusualDay) int { return cmp.Compare(a.size, b.size) }).size
		for _, day := range all {
			const similar = 0.7
			if day.size >= similar*most && len(found) < limit {
				found[day.name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// An unusualDay is a day of the year with the median magnitude of its deviations, and the probability of its mean deviation by chance.
type unusualDay struct {
	name    string
	size, p float64
}

// significantDays returns the days that are not in found and differ from the others by the procedure of Benjamini and Hochberg, the most
// significant first.
func significantDays(outputs [][]float64, names []string, found map[string]bool) (all []unusualDay) {
	for _, y := range outputs {
		all = append(all, yearScores(deviations(y, names, found), names)...)
	}
	slices.SortFunc(all, func(a, b unusualDay) int { return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.name, b.name)) })
	count := 0
	for i, day := range all {
		if day.p*float64(len(all)) <= falseDays*float64(i+1) {
			count = i + 1
		}
	}
	return slices.DeleteFunc(all[:count], func(day unusualDay) bool { return found[day.name] })
}

// deviations returns the difference of each value from the median of the values one and two weeks before and after it or, if their median
// magnitude is smaller, one and two days. Values on the days in found are not compared with. The differences are standardized by the median
// magnitude.
func deviations(y []float64, names []string, found map[string]bool) (least []float64) {
	smallest := math.Inf(1)
	for _, lag := range []int{7, 1} {
		d := make([]float64, len(y))
		var sizes []float64
		for n, v := range y {
			var around []float64
			for _, i := range []int{n - 2*lag, n - lag, n + lag, n + 2*lag} {
				if i >= 0 && i < len(y) && !math.IsNaN(y[i]) && !found[names[i]] {
					around = append(around, y[i])
				}
			}
			d[n] = math.NaN()
			if len(around) >= 2 && !math.IsNaN(v) {
				d[n] = v - bayes.Median(around)
				sizes = append(sizes, math.Abs(d[n]))
			}
		}
		if len(sizes) == 0 {
			continue
		}
		if size := bayes.Median(sizes); size > 0 && size < smallest {
			smallest, least = size, d
		}
	}
	floats.Scale(1/(bayes.PerMedian*smallest), least)
	return least
}

// yearScores tests the mean deviation on each day of the year, relative to the median of the days around it.
func yearScores(d []float64, names []string) (all []unusualDay) {
	byName, seen := map[string][]float64{}, []float64(nil)
	sizes := map[string]float64{}
	for n, v := range d {
		if !math.IsNaN(v) {
			byName[names[n]] = append(byName[names[n]], v)
		}
	}
	for name, values := range byName {
		sizes[name] = math.Abs(bayes.Median(values))
		for i, v := range values {
			values[i] = min(max(v, -largestScore), largestScore)
		}
	}
	var means []float64
	for at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == 2000; at = at.AddDate(0, 0, 1) {
		name := at.Format(yearDay)
		values := byName[name]
		seen = append(seen, values...)
		if len(values) >= minYears {
			all, means = append(all, unusualDay{name: name, size: sizes[name]}), append(means, stat.Mean(values, nil))
		}
	}
	sd := stat.StdDev(seen, nil)
	const around = 10 // days; longer changes belong to the yearly season
	if len(all) <= 2*around {
		return nil
	}
	for i, day := range all {
		var near []float64
		for j := i - around; j <= i+around; j++ {
			near = append(near, means[(j+len(means))%len(means)])
		}
		score := (means[i] - bayes.Median(near)) * math.Sqrt(float64(len(byName[day.name]))) / sd
		all[i].p = 2 * distuv.UnitNormal.Survival(math.Abs(score))
	}
	return all
}
