package timewarp

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
	var sums [2][]float64
	sides := [2][2]*place{places[0].sides(), places[1].sides()}
	for k := range sums {
		sums[k] = make([]float64, len(recipes))
	}
	for _, d := range f.menu.Distances {
		for s := range sides[0] {
			var errors [2][]trialError
			fits := true
			for k := range sides {
				if err := ctx.Err(); err != nil {
					return 0, 0, err
				}
				if fits {
					errors[k], fits = f.trial(sides[k][s], samples(d, places[k].rate), end-start)
				}
			}
			if !fits {
				continue
			}
			trials++
			for k := range sums {
				for i, e := range errors[k] {
					sums[k][i] += math.Log(e.square + least)
				}
			}
			gain = (slices.Min(sums[0]) - slices.Min(sums[1])) / float64(trials)
		}
		if math.Abs(gain) > trialStop {
			break
		}
	}
	return gain, trials, nil
}
