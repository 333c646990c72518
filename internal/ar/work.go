package ar

import "github.com/vssgp/vssgp/internal/cost"

// Work is how many operations FillAround takes at most, and the largest of its excerpts; tiled, FillTiles.
func Work(n int, gaps [][2]int, order, reach, rounds int, tiled bool) (all, largest float64) {
	jobs := around
	if tiled {
		jobs = tiles
	}
	for _, j := range jobs(n, gaps, reach) {
		long, missing := j.excerpt[1]-j.excerpt[0], 0
		for _, g := range gapsIn(gaps, j.first, j.excerpt) {
			missing += min(g[1], j.excerpt[1]) - max(g[0], j.excerpt[0])
		}
		w := float64(rounds) * cost.Fill(float64(long), float64(missing), float64(min(order, (long-missing)/2)))
		all, largest = all+w, max(largest, w)
	}
	return all, largest
}

// ModelWork is the operations of a series' autocorrelation and model of an order.
func ModelWork(samples, order int) float64 {
	products := 2 * float64(samples) * float64(order+1)
	if byTransform(samples, order) {
		products = cost.Transform(float64(smooth(samples + order)))
	}
	return products + cost.Levinson(float64(order))
}

// DensitiesWork is the operations of a Transform's densities of one model.
func DensitiesWork(frequencies, order int) float64 {
	return 2 * cost.Transform(float64(smooth(frequencies+order)))
}

// PeriodogramWork is the operations of a periodogram and the bytes that it takes.
func PeriodogramWork(samples int) (flops, bytes float64) {
	n := float64(PeriodogramSize(samples))
	return cost.Transform(n) / 2, 8 * 5 * n // n samples, as many of the transform, and its tables
}
