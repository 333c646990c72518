package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/report"
)

// inputNames are the model's, or x, or x0, x1, … where it has none.
func inputNames(m *vssgp.Model) []string { return report.Names(m.XNames, m.Params.Q, "x") }

// firstNumbers are 0 to n-1.
func firstNumbers(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// row shows numbers for people; those that are not finite as a dash.
func row(a []float64) string {
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = short(v)
	}
	return strings.Join(parts, " ")
}

func pairs(a, sd []float64) string {
	parts := make([]string, len(a))
	for i := range a {
		parts[i] = short(a[i]) + " +- " + short(sd[i])
	}
	return strings.Join(parts, "; ")
}

func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.5g", v)
}

// outputNames are the model's, or y, or y0, y1, … where it has none.
func outputNames(m *vssgp.Model) []string { return report.Names(m.YNames, m.Params.D, "y") }

// counted is a number of things, such as 1 gap or 3 gaps.
var counted = report.Counted
