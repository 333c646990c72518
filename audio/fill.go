package audio

import (
	"context"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

// FillLinear returns a copy of the channel x in which a straight line joins the samples on either side of each gap. At the start or the
// end of the recording it repeats the one neighboring sample. Samples inside the gaps are not used.
func FillLinear(x []float64, gaps []Gap) []float64 {
	y := slices.Clone(x)
	for _, g := range gaps {
		from, to := g.Start-1, g.End
		switch {
		case from < 0 && to >= len(x), from >= len(x), to < 0:
			clear(y)
			continue
		case from < 0:
			from = to
		case to >= len(x):
			to = from
		}
		for n := max(0, g.Start); n < min(g.End, len(x)); n++ {
			t := float64(n-g.Start+1) / float64(g.Len()+1)
			y[n] = (1-t)*x[from] + t*x[to]
		}
	}
	return y
}

// FillAR fills the gaps of one channel by autoregressive interpolation after Janssen, Veldhuis and Vries (1986), at the settings that a
// practitioner would take for speech. For each gap it takes the excerpt that reaches 25 ms to either side, sets all missing samples there
// to zero (those of other gaps too), and three times fits a model of order 9 ms to the excerpt by the modified covariance method, which has
// no window and is exact for sinusoids, and sets all missing samples jointly to the values with the least sum of squared prediction errors,
// forward and backward. The result is deterministic. An excerpt too short for any model is filled by FillLinear. The error wraps ErrGaps if
// the gaps do not fit x.
//
// An order that reaches back over a pitch period lets the model carry the voice's harmonics through a gap; an order for the formants alone
// (2 to 4 ms) cannot. More than a few rounds over-fit: the model starts to fit its own fill, which has no excitation.
func FillAR(x []float64, gaps []Gap, rate int) ([]float64, error) {
	gaps, err := CheckGaps(gaps, len(x), 1)
	if err != nil {
		return nil, err
	}
	y, runs := FillLinear(x, gaps), make([][2]int, len(gaps))
	for i, g := range gaps {
		runs[i] = [2]int{g.Start, g.End}
	}
	ar.Filling{Order: SamplesIn(0.009, rate), Reach: SamplesIn(0.025, rate), Rounds: 3}.Fill(context.Background(), y, runs)
	return y, nil
}
