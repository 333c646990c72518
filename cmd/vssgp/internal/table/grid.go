package table

import (
	"math"
	"slices"
)

// A Grid describes the spacing of a series' rows along its input.
type Grid struct {
	First, Last float64 // the smallest and the largest x
	// Step is the distance between neighboring rows, 0 if all rows have the same x.
	Step float64
	// Even means that every row is at a different multiple of Step from First, within a tenth of a step.
	Even bool
	// Hint is the name of Step if it is a second, minute, hour, day, week, month, quarter or year, else "".
	Hint string

	axis *Axis
	week int   // steps in a week if some are closed, else 0
	open []int // steps after Last within a week that are not closed, increasing
}

// evenly is the tolerated distance of a row from an even grid, in steps. For decimal years with two digits, it is a twentieth.
const evenly = 0.1

// Grid returns the grid of x, in any order.
func (a *Axis) Grid(x []float64) Grid {
	g := Grid{axis: a}
	if len(x) == 0 {
		return g
	}
	x = slices.Clone(x)
	slices.Sort(x)
	g.First, g.Last = x[0], x[len(x)-1]
	var steps []float64
	for i := range x[1:] {
		if d := x[i+1] - x[i]; d > 0 {
			steps = append(steps, d)
		}
	}
	if len(steps) == 0 {
		return g
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual, least := sorted[(len(sorted)-1)/2], sorted[0]
	for _, step := range []float64{usual, least, usual} { // least is the step of an even grid with many gaps
		if g.along(x, steps, step); g.Even {
			break
		}
	}
	g.setOpen(x)
	if seconds := unitSeconds[a.Unit]; seconds > 0 {
		g.setWeekdays(x, steps, secondsPerDay/float64(seconds))
	}
	g.Hint = a.hint(g.Step)
	return g
}

// setWeekdays replaces a grid without a step of whole days by days if the rows regularly follow weekdays. Monday,
// Wednesday and Friday have steps of two and three days.
func (g *Grid) setWeekdays(x, steps []float64, day float64) {
	if g.Even && math.Mod(g.Step, day) == 0 {
		return
	}
	days := Grid{First: g.First, Last: g.Last, axis: g.axis}
	days.along(x, steps, day)
	if h := days.openingHours(x); h != nil {
		if _, regular := h.weekdays(); regular {
			days.setOpen(x)
			*g = days
		}
	}
}

// along fits a grid with approximately the given step to sorted x.
func (g *Grid) along(x, steps []float64, step float64) {
	count := 0.0 // number of steps from First to Last, rounded per gap so that rounding errors of x do not accumulate
	for _, d := range steps {
		count += max(1, math.Round(d/step))
	}
	g.Step = (g.Last - g.First) / count
	if whole := math.Round(g.Step); math.Abs(g.Step-whole) < 1e-9*whole {
		g.Step = whole
	}
	largest := max(math.Abs(g.First), math.Abs(g.Last))
	resolution := math.Nextafter(largest, math.Inf(1)) - largest
	g.Even = len(steps) == len(x)-1 && g.Step >= resolution // every number is a multiple of smaller steps
	for _, v := range x {
		k := math.Round((v - g.First) / g.Step)
		g.Even = g.Even && math.Abs(v-g.First-k*g.Step) <= evenly*g.Step
	}
}

// Next returns x of the n-th row after the last row, with n from 1.
func (g *Grid) Next(n int) float64 {
	if g.week > 0 {
		n = (n-1)/len(g.open)*g.week + g.open[(n-1)%len(g.open)]
	}
	return g.Last + float64(n)*g.Step
}

// Steps returns the number of rows after the last row up to and including until.
func (g *Grid) Steps(until float64) int {
	if !(until > g.Last) || g.Step == 0 {
		return 0
	}
	n := int(min(math.Floor((until-g.Last)/g.Step+evenly), math.MaxInt32))
	if g.week == 0 {
		return n
	}
	rest := slices.IndexFunc(g.open, func(step int) bool { return step > n%g.week })
	if rest < 0 {
		rest = len(g.open)
	}
	return n/g.week*len(g.open) + rest
}

// Share returns the share of grid points that can have a row: 5/7 for days from Monday to Friday.
func (g *Grid) Share() float64 {
	if g.week == 0 {
		return 1
	}
	return float64(len(g.open)) / float64(g.week)
}

// hint returns the name of a step, "" if it has none.
func (a *Axis) hint(step float64) string {
	if !a.Dates() {
		return ""
	}
	length, names := step*unitMonths[a.Unit], map[string]float64{"month": 1, "quarter": 3, "year": 12}
	if seconds := unitSeconds[a.Unit]; seconds > 0 {
		length, names = step*float64(seconds), map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": secondsPerDay,
			"week": 7 * secondsPerDay}
	}
	for name, want := range names {
		if math.Abs(length-want) <= 1e-3*want {
			return name
		}
	}
	return ""
}
