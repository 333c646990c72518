package impute

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
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
// are as audio.CheckGaps returns them; the scores of others, or of arrays of
// different shape, are NaN.
func Score(reference, filled, fit, sd [][]float64, rate int, gaps []Gap) Scores {
	if !sameShape(reference, filled) || !sameShape(reference, fit) || !sameShape(reference, sd) || !fits(gaps, reference) {
		return newTally(0, 0, rate).scores()
	}
	n := len(reference[0])
	t := newTally(len(reference), n, rate)
	t.add(&stretch{Excerpt: Excerpt{Start: 0, End: n, Gaps: gaps, Filled: filled, Fit: fit, SD: sd}, reference: reference})
	return t.scores()
}

// Score holds the fill against the undamaged recording, of both of which it
// reads the excerpts and what the autoregressive fill looks at: the numbers of
// the function of the same name.
func (r *Result) Score(recording, reference Source) (Scores, error) {
	if r == nil || len(r.Excerpts) == 0 || recording == nil || reference == nil {
		return Scores{}, fmt.Errorf("impute: score: want the result of a fill, its recording and a reference: %w", vssgp.ErrData)
	}
	context := audio.DefaultAR(r.rate).Context
	observed := Around(recording, r.gaps)
	t := newTally(len(r.Excerpts[0].Filled), r.samples, r.rate)
	filled := r.Excerpts
	for _, s := range r.stretches(context) {
		var err error
		if s.Filled, err = observed.Read(s.Start, s.End); err == nil {
			s.reference, err = reference.Read(s.Start, s.End)
		}
		if err != nil {
			return Scores{}, fmt.Errorf("impute: score samples %d:%d: %w", s.Start, s.End, err)
		}
		if !sameShape(s.Filled, s.reference) || len(s.Filled) != len(r.Excerpts[0].Filled) {
			return Scores{}, fmt.Errorf("impute: score samples %d:%d: the recording has %d channels there, the reference %d, the fill %d: %w",
				s.Start, s.End, len(s.Filled), len(s.reference), len(r.Excerpts[0].Filled), vssgp.ErrData)
		}
		s.Fit, s.SD = unknown(s.Filled), unknown(s.Filled)
		for ; len(filled) > 0 && filled[0].End <= s.End; filled = filled[1:] {
			e, at := &filled[0], filled[0].Start-s.Start
			for c := range e.Filled {
				copy(s.Filled[c][at:], e.Filled[c])
				copy(s.Fit[c][at:], e.Fit[c])
				copy(s.SD[c][at:], e.SD[c])
			}
		}
		t.add(&s)
	}
	return t.scores(), nil
}

// sameShape says whether two recordings have as many channels and samples.
func sameShape(a, b [][]float64) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y []float64) bool { return len(x) == len(y) && len(x) == len(a[0]) })
}

// fits says whether gaps are of a recording as audio.CheckGaps returns them.
func fits(gaps []Gap, recording [][]float64) bool {
	checked, err := audio.CheckGaps(gaps, len(recording[0]))
	return err == nil && slices.Equal(checked, gaps)
}

// stretches are the excerpts, wider where they must be to hold the context on
// each side of every gap, and joined where they then touch.
func (r *Result) stretches(context int) []stretch {
	var out []stretch
	for _, e := range r.Excerpts {
		s := Excerpt{Start: e.Start, End: e.End, Gaps: e.Gaps}
		s.Start = min(s.Start, max(0, s.Gaps[0].Start-context))
		s.End = max(s.End, min(r.samples, s.Gaps[len(s.Gaps)-1].End+context))
		if k := len(out); k > 0 && s.Start <= out[k-1].End {
			out[k-1].End = s.End
			out[k-1].Gaps = append(slices.Clone(out[k-1].Gaps), s.Gaps...)
			continue
		}
		out = append(out, stretch{Excerpt: s})
	}
	return out
}

// stretch is an excerpt, or what is around it as well, beside the truth.
type stretch struct {
	Excerpt
	reference [][]float64
}

// tally takes the scores of a fill together, a stretch at a time.
type tally struct {
	rate            int
	methods         [4][]residuals // VSSGP's, silence's, linear's, AR's in each channel
	covered, filled int            // samples of gaps within their intervals, and all
}

// residuals are those of a method in a channel.
type residuals struct{ train, test *audio.Residual }

func newTally(channels, n, rate int) *tally {
	t := &tally{rate: rate}
	for m := range t.methods {
		for range channels {
			t.methods[m] = append(t.methods[m], residuals{audio.NewResidual(n, rate), audio.NewResidual(n, rate)})
		}
	}
	return t
}

func (t *tally) add(s *stretch) {
	missing := s.inGap()
	gaps := make([]Gap, len(s.Gaps))
	for i, g := range s.Gaps {
		gaps[i] = Gap{Start: g.Start - s.Start, End: g.End - s.Start}
	}
	for c, ref := range s.reference {
		trained := make([]bool, len(ref))
		mean := slices.Clone(s.Filled[c])
		for i, v := range s.Fit[c] {
			if trained[i] = !missing[i] && !math.IsNaN(v); trained[i] {
				mean[i] = v
			}
		}
		ar, err := audio.FillAR(s.Filled[c], gaps, audio.DefaultAR(t.rate))
		if err != nil {
			panic("impute: " + err.Error())
		}
		for m, estimate := range [][]float64{mean, make([]float64, len(ref)), audio.FillLinear(s.Filled[c], gaps), ar} {
			t.methods[m][c].train.Add(s.Start, ref, estimate, trained)
			t.methods[m][c].test.Add(s.Start, ref, estimate, missing)
		}
		for i, m := range missing {
			if m {
				t.filled++
				if math.Abs(ref[i]-s.Filled[c][i]) <= score.SD95*s.SD[c][i] {
					t.covered++
				}
			}
		}
	}
}

// scores are the root mean squares over the channels, which have equal weight.
func (t *tally) scores() Scores {
	s := Scores{Coverage95: float64(t.covered) / float64(t.filled)}
	for m, to := range []*audio.Scores{&s.VSSGP, &s.Silence, &s.Linear, &s.AR} {
		channels := float64(len(t.methods[m]))
		for _, e := range t.methods[m] {
			add := func(to *float64, v float64) { *to += v * v }
			add(&to.TrainRMSE, e.train.RMSE())
			add(&to.TestRMSE, e.test.RMSE())
			add(&to.TrainSTFTRMSE, e.train.STFTRMSE())
			add(&to.TestSTFTRMSE, e.test.STFTRMSE())
		}
		for _, v := range []*float64{&to.TrainRMSE, &to.TestRMSE, &to.TrainSTFTRMSE, &to.TestSTFTRMSE} {
			*v = math.Sqrt(*v / channels)
		}
	}
	return s
}
