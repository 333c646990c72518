package audio

import (
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/ar"
)

// AROptions are the settings of FillAR; DefaultAR gives the ones to compare with.
type AROptions struct {
	Order      int // p, coefficients of the model; lowered where an excerpt has fewer than 2p samples left
	Context    int // samples on each side of a gap that the model is fitted to; the recording's length or more: all
	Iterations int // rounds of fitting and filling
}

// DefaultAR is the setting a practitioner would take for speech: order 9 ms, context 25 ms, three rounds.
//
// An order that reaches back over a pitch period lets the model carry the voice's harmonics through a gap, which an
// order for the formants alone (2 to 4 ms) cannot. Measured on gaps of 2.5 ms in 16 kHz speech of three speakers scaled
// to rms 0.1, thirty vowels of 1000 samples and eighteen passages of 4000 (a fifth of the samples missing in each), mean
// test RMSE:
//
//	order  context  rounds  vowel   running
//	   64      480      10  0.0486  0.0467
//	   96      480      10  0.0447  0.0452
//	  128      480      10  0.0238  0.0401
//	  128      400       3  0.0216  0.0342
//	  144      400       3  0.0183  0.0349
//	  160      400       3  0.0188  0.0350
//	  160      400      10  0.0197  0.0396
//	  160     1000      10  0.0195  0.0416
//	  160      480      25  0.0209  0.0422
//
// Silence leaves 0.10 and a straight line 0.11 there. More than a few rounds over-fit: the model starts to believe its
// own fill, which has no excitation of its own.
func DefaultAR(rate int) AROptions {
	ms := func(t float64) int { return max(1, int(math.Round(t*float64(rate)/1000))) }
	return AROptions{Order: ms(9), Context: ms(25), Iterations: 3}
}

// FillAR fills the gaps of one channel by autoregressive interpolation after Janssen, Veldhuis and Vries (1986). For
// each gap it takes the excerpt that reaches Context samples to either side, sets all samples missing there to zero (be
// they this gap's or another's), and in turn
//
//   - fits a_1 … a_p to the excerpt by least squares of the prediction error, forward and backward (the modified
//     covariance method, which unlike the autocorrelation method has no window and is exact for sinusoids), and
//   - takes for all missing samples jointly those that make the same sum of squares least, a banded positive definite
//     system that a Cholesky factor solves.
//
// The gap then keeps its samples. Gaps whose excerpts are the same share one solution. A starting fill from linear
// interpolation or from models of rising order is no better than zeros. The cost for each gap and round is about
// n·p + p³/3 for an excerpt of n samples, and u·p² for u missing ones; memory p² + u·p. The result is
// deterministic. An excerpt too short for any model is filled by FillLinear. The error wraps ErrGaps where the gaps do
// not fit x; options that are not positive are an ErrArgument.
func FillAR(x []float64, gaps []Gap, opt AROptions) ([]float64, error) {
	if opt.Order <= 0 || opt.Context <= 0 || opt.Iterations <= 0 {
		return nil, fmt.Errorf("audio: order, context and iterations must be positive: %+v: %w", opt, ErrArgument)
	}
	gaps, err := CheckGaps(gaps, len(x))
	if err != nil {
		return nil, err
	}
	y := FillLinear(x, gaps)
	runs := make([][2]int, len(gaps))
	for i, g := range gaps {
		runs[i] = [2]int{g.Start, g.End}
	}
	ar.FillAround(context.Background(), y, runs, opt.Order, opt.Context, opt.Iterations)
	return y, nil
}
