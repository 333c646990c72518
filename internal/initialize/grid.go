package initialize

import (
	"math"
	"slices"
	"sort"
)

const (
	// evenTolerance is the maximum distance of a row from its grid point, in steps. The first days
	// of months are within 0.1 mean months of a grid. Only the initialization uses the grid;
	// features are evaluated at the actual x.
	evenTolerance = 0.25
	// evenExact is the same for a grid whose step is determined by the first and last row.
	evenExact = 1e-3
	// evenFewest is the minimum number of rows of a grid.
	evenFewest = 16
	// evenSparsest is the maximum number of grid points per row. A sparser grid does not determine
	// the spectrum.
	evenSparsest = 4
	// bandMost is the maximum frequency for uneven rows, in cycles per mean step. Rows in bursts
	// resolve higher frequencies than the mean step.
	bandMost = 16
	// clusterExtent is the maximum extent of times that count as one if most times are that close, in
	// mean steps. Within it even bandMost changes the phase by less than a radian, so the times only
	// distinguish the frequencies that the distances of the clusters distinguish.
	clusterExtent = 0.01
)

// A Grid describes the spacing of the rows along one input.
type Grid struct {
	// Step is the distance between the grid points, some of which may have no row. For uneven rows
	// it is the mean step. It is 0 if the rows have no extent or there are several inputs.
	Step float64
	// Band is the highest frequency that uneven rows resolve, in cycles per step, and 0 for even
	// rows.
	Band float64
}

// Even returns Step if the rows are on a grid, else 0.
func (g Grid) Even() float64 {
	if g.Band > 0 {
		return 0
	}
	return g.Step
}

// GridOf returns the grid of the rows of x [N,q].
func GridOf(x []float64, q int) Grid {
	if q != 1 || !varies(x) {
		return Grid{}
	}
	x = slices.Clone(x)
	sort.Float64s(x)
	gaps := make([]float64, len(x)-1)
	for i := range gaps {
		gaps[i] = x[i+1] - x[i]
	}
	slices.Sort(gaps)
	if step := evenStep(x, gaps); step > 0 {
		return Grid{Step: step}
	}
	step, median := spacing(x, 0)
	if extent := clusterExtent * step; median < extent {
		// A distance of up to two extents is inside a longer burst, not between repeated measurements.
		if mean, distance := spacing(x, extent); distance > 2*extent {
			step, median = mean, distance
		}
	}
	return Grid{step, min(max(0.5, 0.5*step/median), bandMost)}
}

// spacing returns the mean and the median distance of the sorted times x, where times within extent
// of the first of them count as one.
func spacing(x []float64, extent float64) (mean, median float64) {
	var gaps []float64
	last := x[0]
	for _, v := range x {
		if v-last > extent {
			gaps = append(gaps, v-last)
			last = v
		}
	}
	slices.Sort(gaps)
	return (x[len(x)-1] - x[0]) / float64(len(gaps)), gaps[len(gaps)/2]
}

// varies reports whether x has a finite, positive extent.
func varies(x []float64) bool {
	lo, hi := slices.Min(x), slices.Max(x)
	return hi > lo && !math.IsInf(hi-lo, 0)
}

// evenStep returns the step of the grid of x, given x and their differences, both sorted, or 0 if
// there is no grid. Grid points are counted from row to row, but the tolerance applies to the line
// fitted to all rows.
func evenStep(x, gaps []float64) float64 {
	n := len(x)
	if n < evenFewest || gaps[0] <= 0 {
		return 0
	}
	step := singleGap(gaps)
	at := make([]float64, n)
	for i := range n - 1 {
		points := math.Round((x[i+1] - x[i]) / step)
		if points < 1 {
			return 0
		}
		at[i+1] = at[i] + points
	}
	points := at[n-1]
	if points > evenSparsest*float64(n) {
		return 0
	}
	if ends := (x[n-1] - x[0]) / points; furthest(x, at, x[0], ends) <= evenExact*ends {
		return ends
	}
	if first, step := regression(at, x); furthest(x, at, first, step) <= evenTolerance*step {
		return step
	}
	return 0
}

// singleGap returns the mean of the sorted differences up to 1.5 medians, so that months of 28 to
// 31 days count as single steps.
func singleGap(gaps []float64) float64 {
	median, sum, n := gaps[len(gaps)/2], 0.0, 0
	for _, g := range gaps {
		if g > 1.5*median {
			break
		}
		sum += g
		n++
	}
	return sum / float64(n)
}

// furthest returns the largest distance of any x from its grid point, first + step·at.
func furthest(x, at []float64, first, step float64) (far float64) {
	for i, v := range x {
		far = max(far, math.Abs((v-x[0])-(first-x[0])-step*at[i]))
	}
	return far
}

// regression returns the least-squares line a + b·t for y.
func regression(t, y []float64) (a, b float64) {
	n := float64(len(t))
	var mt, my, tt, ty float64
	for i := range t {
		mt += t[i] / n
		my += (y[i] - y[0]) / n
	}
	for i := range t {
		tt += (t[i] - mt) * (t[i] - mt)
		ty += (t[i] - mt) * (y[i] - y[0] - my)
	}
	b = ty / tt
	return y[0] + my - b*mt, b
}

// offGrid returns the distance from lo to the nearest grid point, by the circular mean of the
// phases of x, or 0 if it is negligible.
func offGrid(x []float64, lo, step float64) float64 {
	var s, c float64
	for _, v := range x {
		sin, cos := math.Sincos(2 * math.Pi * math.Remainder((v-lo)/step, 1))
		s, c = s+sin, c+cos
	}
	if off := math.Atan2(s, c) / (2 * math.Pi); math.Abs(off) > evenExact {
		return off * step
	}
	return 0
}
