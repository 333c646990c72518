package initialize

import (
	"math"
	"sort"

	"github.com/vssgp/vssgp/backend"
)

const (
	heldOutShare = 0.1 // fraction of the rows
	// HeldFewest is the minimum number of rows for a comparison on held-out rows.
	HeldFewest = 20
)

// HeldOut splits the rows of a series into known and held-out rows, both sorted by x, and predicts
// the latter by linear interpolation between known neighbors. The held-out intervals have the
// length of the data's gaps. They are spaced by the golden ratio to avoid any period.
func HeldOut(data backend.Data, grid Grid) (known, asked backend.Data, line []float64) {
	length := typicalGap(data, grid)
	known, asked = split(data, inOrder(data.X), func(i int) bool {
		_, part := math.Modf(float64(i/length) * (math.Sqrt(5) - 1) / 2)
		return i > 0 && i < data.N-1 && part >= 1-heldOutShare
	})
	for _, x := range asked.X {
		b := sort.SearchFloat64s(known.X, x)
		a := max(0, b-1) // the first and the last row are known; x may equal the first
		share := 0.0
		if d := known.X[b] - known.X[a]; d > 0 {
			share = (x - known.X[a]) / d
		}
		for j := range data.D {
			line = append(line, (1-share)*known.Y[a*data.D+j]+share*known.Y[b*data.D+j])
		}
	}
	return known, asked, line
}

// split divides rows, in the given order, into known and held-out ones. hide reports for an index
// in the order whether the row is held out.
func split(data backend.Data, order []int, hide func(i int) bool) (known, asked backend.Data) {
	var rows [2][]int
	for i, n := range order {
		of := &rows[0]
		if hide(i) {
			of = &rows[1]
		}
		*of = append(*of, n)
	}
	return data.Some(rows[0]), data.Some(rows[1])
}

// typicalGap returns the median length of the gaps in grid points, between 1 and a fraction of the
// rows, or 1 for uneven rows.
func typicalGap(data backend.Data, grid Grid) int {
	if grid.Even() == 0 {
		return 1
	}
	data.D, data.Y = 0, nil
	gap := NewSeries(data, grid).medianGap()
	return max(1, min(gap, max(1, data.N/HeldFewest)))
}
