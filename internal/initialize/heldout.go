package initialize

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
)

const (
	// heldOutShare is the fraction of the rows that is held out, and heldOutFewest the minimum number of rows.
	heldOutShare  = 0.1
	heldOutFewest = 20
	// Windows are at least windowGaps times as long as the longest gap, and the data at least windowSpans times as long as the shortest.
	windowGaps, windowSpans = 2, 4
)

// HeldOut splits the rows of a series into known and held-out rows, both sorted by x. The held-out intervals have the length of the data's
// gaps. They are spaced by the golden ratio to avoid any period. There are none if there are few rows.
func HeldOut(data backend.Data, grid Grid) (known, asked backend.Data) {
	length := typicalGap(data, grid)
	return split(data, inOrder(data.X), func(i int) bool {
		_, part := math.Modf(float64(i/length) * (math.Sqrt(5) - 1) / 2)
		return i > 0 && i < data.N-1 && part >= 1-heldOutShare && data.N >= heldOutFewest
	})
}

// typicalGap returns the length in grid points such that half of the missing points are in gaps at least as long, between 1 and a fraction
// of the rows, or 1 for uneven rows.
func typicalGap(data backend.Data, grid Grid) int {
	if grid.Even() == 0 {
		return 1
	}
	data.D, data.Y = 0, nil
	gaps := runs(NewSeries(data, grid).missing, true)
	slices.SortFunc(gaps, func(a, b [2]int) int { return (b[1] - b[0]) - (a[1] - a[0]) })
	missing := 0
	for _, g := range gaps {
		missing += g[1] - g[0]
	}
	length, sum := 1, 0
	for _, g := range gaps {
		length = g[1] - g[0]
		if sum += length; 2*sum >= missing {
			break
		}
	}
	return max(1, min(length, max(1, data.N/heldOutFewest)))
}

// WindowLengths returns the lengths of windows that may be chosen for a series, which may be none.
func WindowLengths(data backend.Data, grid Grid) (lengths []float64) {
	lo, hi := data.Extent(0)
	longest := 0.0
	order := inOrder(data.X)
	for i, n := range order[1:] {
		longest = max(longest, data.X[n]-data.X[order[i]])
	}
	for _, w := range spectrumWindows {
		if w *= grid.Step; w >= windowGaps*longest && hi-lo >= windowSpans*w {
			lengths = append(lengths, w)
		}
	}
	return lengths
}
