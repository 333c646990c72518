package warp

import (
	"context"
	"math"
	"slices"
)

// Compare returns by how much the mean squared errors of fills of b are below those of a: the mean difference of their logarithms over
// trial gaps of the length of gap number which, by the recipe that is best for each. Both series have the same gaps, as in Fill. Without
// space for a trial, of which it returns the number, it is 0. Errors are ctx's.
func (f *Filler) Compare(ctx context.Context, a, b []float64, gaps [][2]int, which int) (gain float64, trials int, err error) {
	recipes := f.menu.Recipes
	var places []*place
	for _, z := range [][]float64{a, b} {
		p, _ := f.placed(z, gaps, which)
		places = append(places, p.prefilled(recipes[0].Trial.Prefill))
	}
	places = slowest(places...)
	start, end := places[0].gap()
	least := max(trialFloor*meanSquare(places[0].z), math.SmallestNonzeroFloat64) // errors of both are of the same samples
	sums := [2][]float64{make([]float64, len(recipes)), make([]float64, len(recipes))}
	sides := [2][2]*place{places[0].sides(), places[1].sides()}
	for _, d := range f.menu.Distances {
		for s := range 2 {
			var errors [2][]float64
			ok := true
			for k := range sides {
				if err := ctx.Err(); err != nil {
					return 0, 0, err
				}
				var fits bool
				errors[k], fits = f.trial(sides[k][s], samples(d, places[k].rate), end-start, least)
				ok = ok && fits
			}
			if !ok {
				continue
			}
			trials++
			for k := range sums {
				for i, e := range errors[k] {
					sums[k][i] += e
				}
			}
		}
	}
	if trials == 0 {
		return 0, 0, nil
	}
	return (slices.Min(sums[0]) - slices.Min(sums[1])) / float64(trials), trials, nil
}
