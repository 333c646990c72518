package impute

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/score"
)

// Scores are the errors of a fill and of three that need no model.
//
// Train errors are over the observed samples of the excerpts, test errors over
// the gaps. VSSGP's training error is that of its predictive mean; silence
// predicts 0 there, so its own is the size of the signal; linear and
// autoregressive fills give the observed samples back, so theirs is 0 where the
// reference agrees with the recording outside the gaps.
type Scores struct {
	VSSGP   audio.Scores
	Silence audio.Scores // zeros everywhere
	Linear  audio.Scores // audio.FillLinear
	AR      audio.Scores // audio.FillAR as audio.DefaultAR sets it
	// Coverage95 is the share of the gaps' samples within 1.96 standard
	// deviations of their fill.
	Coverage95 float64
}

// Score holds a fill against the undamaged recording, all [channel][sample]:
// filled is the recording with its gaps filled; fit the model's mean and sd its
// standard deviation, NaN outside the excerpts (Result.Filled, Fit, SD). gaps
// are as audio.CheckGaps returns them; it panics on others.
func Score(reference, filled, fit, sd [][]float64, rate int, gaps []Gap) Scores {
	missing := audio.Mask(gaps, len(reference[0]))
	var s Scores
	inside := 0
	for c, ref := range reference {
		trained := make([]bool, len(ref))
		for i, v := range fit[c] {
			trained[i] = !missing[i] && !math.IsNaN(v)
		}
		mean := slices.Clone(filled[c])
		for i, w := range trained {
			if w {
				mean[i] = fit[c][i]
			}
		}
		ar, err := audio.FillAR(filled[c], gaps, audio.DefaultAR(rate))
		if err != nil {
			panic("impute: " + err.Error())
		}
		for _, m := range []struct {
			scores   *audio.Scores
			estimate []float64
		}{{&s.VSSGP, mean}, {&s.Silence, make([]float64, len(ref))}, {&s.Linear, audio.FillLinear(filled[c], gaps)}, {&s.AR, ar}} {
			addSquares(m.scores, ref, m.estimate, trained, missing, rate)
		}
		for i, m := range missing {
			if m && math.Abs(ref[i]-filled[c][i]) <= score.SD95*sd[c][i] {
				inside++
			}
		}
	}
	channels := float64(len(reference))
	for _, m := range []*audio.Scores{&s.VSSGP, &s.Silence, &s.Linear, &s.AR} {
		for _, v := range []*float64{&m.TrainRMSE, &m.TestRMSE, &m.TrainSTFTRMSE, &m.TestSTFTRMSE} {
			*v = math.Sqrt(*v / channels)
		}
	}
	s.Coverage95 = float64(inside) / (channels * float64(audio.Missing(gaps)))
	return s
}

// addSquares adds a channel's squared errors: channels have equal weight.
func addSquares(s *audio.Scores, ref, estimate []float64, train, test []bool, rate int) {
	add := func(to *float64, v float64) { *to += v * v }
	add(&s.TrainRMSE, audio.RMSE(ref, estimate, train))
	add(&s.TestRMSE, audio.RMSE(ref, estimate, test))
	add(&s.TrainSTFTRMSE, audio.STFTRMSE(ref, estimate, train, rate))
	add(&s.TestSTFTRMSE, audio.STFTRMSE(ref, estimate, test, rate))
}
