package baselines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp"
)

// usualInducing is M if the options do not set it.
const usualInducing = 100

// inducing reads the options that SPGP and SVGP share.
func (p *problem) inducing(m int, given []float64, fixed bool) (*coordinates, error) {
	if m < 0 {
		return nil, fmt.Errorf("baselines: %d inducing inputs; want a positive number, or 0 for the default: %w", m, vssgp.ErrOptions)
	}
	start := p.start
	if given == nil {
		var err error
		start.z, err = p.spread(m)
		return newCoordinates(start, fixed), err
	}
	if len(given) == 0 || len(given)%p.q != 0 || m != 0 && m*p.q != len(given) {
		return nil, fmt.Errorf("baselines: Locations has %d numbers; want %d inducing inputs with %d coordinates each: %w",
			len(given), m, p.q, vssgp.ErrOptions)
	}
	for i, v := range given {
		if !finite(v) {
			return nil, fmt.Errorf("baselines: Locations[%d] is %v; want a finite number: %w", i, v, vssgp.ErrOptions)
		}
	}
	start.z = slices.Clone(given)
	return newCoordinates(start, fixed), nil
}

// spread lays m inducing inputs over the data. With one input they are evenly
// spread quantiles of its distinct values, with several they are distinct rows,
// drawn with the seed.
func (p *problem) spread(m int) ([]float64, error) {
	rows := slices.SortedFunc(slices.Chunk(p.x, p.q), slices.Compare)
	rows = slices.CompactFunc(rows, slices.Equal)
	if m == 0 {
		m = min(usualInducing, len(rows))
	}
	if m > len(rows) {
		return nil, fmt.Errorf("baselines: %d inducing inputs for data with %d different inputs; want no more than that, or Locations: %w",
			m, len(rows), vssgp.ErrOptions)
	}
	if p.q > 1 {
		order := rand.New(rand.NewPCG(p.o.Seed, inducingSalt)).Perm(len(rows))[:m]
		z := make([]float64, 0, m*p.q)
		for _, i := range order {
			z = append(z, rows[i]...)
		}
		return z, nil
	}
	z := make([]float64, m)
	for j := range z {
		at := 0.5 * float64(len(rows)-1)
		if m > 1 {
			at = float64(j) * float64(len(rows)-1) / float64(m-1)
		}
		i, f := math.Modf(at)
		z[j] = rows[int(i)][0]
		if f > 0 {
			z[j] += f * (rows[int(i)+1][0] - z[j])
		}
	}
	return z, nil
}

// inducingSalt gives the inducing inputs a random stream of their own.
const inducingSalt = 0x1d0c
