package baseline

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// usualInducing is M where the options leave it open.
const usualInducing = 100

// inducing reads the options that SPGP and SVGP share.
func (p *problem) inducing(m int, given []float64, fixed bool) (*coordinates, error) {
	if m < 0 {
		return nil, fmt.Errorf("baseline: %d inducing inputs; want a positive number, or 0 for the default: %w", m, ErrOptions)
	}
	if given == nil {
		z, err := p.spread(m)
		return newCoordinates(p.start, z, fixed), err
	}
	if len(given) == 0 || len(given)%p.q != 0 || m != 0 && m*p.q != len(given) {
		return nil, fmt.Errorf("baseline: Locations has %d numbers; want %d inducing inputs with %d coordinates each: %w",
			len(given), m, p.q, ErrOptions)
	}
	for i, v := range given {
		if !finite(v) {
			return nil, fmt.Errorf("baseline: Locations[%d] is %v; want a finite number: %w", i, v, ErrOptions)
		}
	}
	return newCoordinates(p.start, slices.Clone(given), fixed), nil
}

// spread lays m inducing inputs over the data: at evenly spread quantiles of
// the distinct values of one input, at distinct rows drawn by the seed of
// several.
func (p *problem) spread(m int) ([]float64, error) {
	rows := make([][]float64, p.n)
	for i := range rows {
		rows[i] = p.x[i*p.q:][:p.q]
	}
	slices.SortFunc(rows, slices.Compare[[]float64])
	rows = slices.CompactFunc(rows, slices.Equal[[]float64])
	if m == 0 {
		m = min(usualInducing, len(rows))
	}
	if m > len(rows) {
		return nil, fmt.Errorf("baseline: %d inducing inputs for data with %d different inputs; want no more than that, or Locations: %w",
			m, len(rows), ErrOptions)
	}
	z := make([]float64, 0, m*p.q)
	if p.q == 1 {
		for j := range m {
			at := 0.5 * float64(len(rows)-1)
			if m > 1 {
				at = float64(j) * float64(len(rows)-1) / float64(m-1)
			}
			i := min(int(at), len(rows)-1)
			v := rows[i][0]
			if f := at - float64(i); f > 0 && i+1 < len(rows) {
				v += f * (rows[i+1][0] - v)
			}
			z = append(z, v)
		}
		return z, nil
	}
	rng := rand.New(rand.NewPCG(p.o.Seed, inducingSalt))
	for _, i := range rng.Perm(len(rows))[:m] {
		z = append(z, rows[i]...)
	}
	return z, nil
}

// inducingSalt gives the inducing inputs a random stream of their own.
const inducingSalt = 0x1d0c
