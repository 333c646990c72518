package ar

import "github.com/vssgp/vssgp/internal/cost"

// ModelWork returns the operations of a series' autocorrelation and model of an order.
func ModelWork(samples, order int) float64 {
	products := 2 * float64(samples) * float64(order+1)
	if byTransform(samples, order) {
		products = cost.Transform(float64(smooth(samples + order)))
	}
	return products + cost.Levinson(float64(order))
}

// DensitiesWork returns the operations of a Transform's densities of one model.
func DensitiesWork(frequencies, order int) float64 {
	return 2 * cost.Transform(float64(smooth(frequencies+order)))
}

// PeriodogramWork returns the operations of a periodogram and the bytes that it takes.
func PeriodogramWork(samples int) (flops, bytes float64) {
	n := float64(PeriodogramSize(samples))
	return cost.Transform(n) / 2, 8 * 5 * n // n samples, n numbers of the transform, and its tables
}
