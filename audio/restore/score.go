package restore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Scores are the errors of a fill and of three that do not need a model.
//
// Train errors are over the observed samples of the excerpts, test errors over the gaps. The training error of method VSSGP is the
// error of its predictive mean. Silence predicts 0 there, so its training error is the size of the signal. All others return the
// observed samples, so their training error is 0 where the reference agrees with the recording outside the gaps.
type Scores struct {
	VSSGP   audio.Scores // the fill, by whatever method
	Silence audio.Scores // zeros everywhere
	Linear  audio.Scores // audio.FillLinear
	AR      audio.Scores // the best simple fill: method AR
	// Coverage95 is the share of the gaps' samples within 1.96 standard deviations of their fill.
	Coverage95 float64
}

// Score compares the fill with the undamaged recording. It reads the excerpts of both, and the samples of the recording around them that
// the autoregressive fill needs.
func (r *Result) Score(recording, reference Source) (Scores, error) {
	if r == nil || len(r.Excerpts) == 0 || recording == nil || reference == nil {
		return Scores{}, fmt.Errorf("restore: score: want the result of a fill, its recording and a reference: %w", vssgp.ErrData)
	}
	plain := slices.Clone(r.gaps) // a simple fill knows no limits
	for i := range plain {
		plain[i].Clipped = false
	}
	ar, err := FillFrom(context.Background(), recording, r.samples, r.rate, plain, Options{Method: AR})
	if err != nil {
		return Scores{}, err
	}
	observed, t := Around(recording, r.gaps), newTally(r.channels, r.samples, r.rate)
	for _, fitted := range r.Excerpts {
		e := Excerpt{Start: fitted.Start, End: fitted.End, Gaps: fitted.Gaps}
		var truth [][]float64
		if e.Filled, err = observed.Read(e.Start, e.End); err == nil {
			truth, err = reference.Read(e.Start, e.End)
		}
		if err != nil {
			return Scores{}, fmt.Errorf("restore: score samples %d:%d: %w", e.Start, e.End, err)
		}
		if !sameShape(e.Filled, truth) || len(truth) != r.channels {
			return Scores{}, fmt.Errorf("restore: score samples %d:%d: the recording has %d channels, the reference %d, the fill %d: %w",
				e.Start, e.End, len(e.Filled), len(truth), r.channels, vssgp.ErrData)
		}
		simple := &Excerpt{Start: e.Start, End: e.End, Filled: whole(e.Filled).clone()}
		e.Fit, e.SD = unknown(e.Filled), unknown(e.Filled)
		if r.fills != nil { // what is observed is reproduced
			e.Fit = whole(e.Filled).clone()
		}
		for c, fit := range fitted.Fit { // a model's predictions of what is observed
			copy(e.Fit[c], fit)
		}
		if err := cmp.Or(r.into(&e), ar.into(simple)); err != nil {
			return Scores{}, err
		}
		t.add(&e, truth, simple.Filled)
	}
	return t.scores(), nil
}

// sameShape reports whether two recordings have the same channels and samples.
func sameShape(a, b [][]float64) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y []float64) bool { return len(x) == len(y) && len(x) == len(a[0]) })
}

// tally adds up the scores of a fill, an excerpt at a time.
type tally struct {
	rate            int
	methods         [4][]residuals // VSSGP, silence, linear and AR, by channel
	missed          []bool         // by channel: it misses samples
	covered, filled int            // samples in gaps: within their intervals, all
}

// residuals are the errors of a method in a channel.
type residuals struct{ train, test *audio.Residual }

func newTally(channels, n, rate int) *tally {
	t := &tally{rate: rate, missed: make([]bool, channels)}
	for m := range t.methods {
		for range channels {
			t.methods[m] = append(t.methods[m], residuals{audio.NewResidual(n, rate), audio.NewResidual(n, rate)})
		}
	}
	return t
}

// add takes in a filled excerpt, its undamaged samples and its fill by AR.
func (t *tally) add(e *Excerpt, reference, ar [][]float64) {
	for c, ref := range reference {
		gaps := e.gapsInside(c)
		missing := audio.Mask(gaps, e.End-e.Start)
		trained := make([]bool, len(ref))
		mean := slices.Clone(e.Filled[c])
		for i, v := range e.Fit[c] {
			if trained[i] = !missing[i] && !math.IsNaN(v); trained[i] {
				mean[i] = v
			}
		}
		for m, estimate := range [][]float64{mean, make([]float64, len(ref)), audio.FillLinear(e.Filled[c], gaps), ar[c]} {
			t.methods[m][c].train.Add(e.Start, ref, estimate, trained)
			t.methods[m][c].test.Add(e.Start, ref, estimate, missing)
		}
		for i, m := range missing {
			if m {
				t.filled++
				t.missed[c] = true
				if math.Abs(ref[i]-e.Filled[c][i]) <= bayes.SD95*e.SD[c][i] {
					t.covered++
				}
			}
		}
	}
}

// scores returns the root mean squares over the channels that miss samples, which have equal weight.
func (t *tally) scores() Scores {
	s := Scores{Coverage95: float64(t.covered) / float64(t.filled)}
	for m, to := range []*audio.Scores{&s.VSSGP, &s.Silence, &s.Linear, &s.AR} {
		var train, test, trainSTFT, testSTFT []float64
		for c, e := range t.methods[m] {
			if !t.missed[c] {
				continue
			}
			train, test = append(train, e.train.RMSE()), append(test, e.test.RMSE())
			trainSTFT, testSTFT = append(trainSTFT, e.train.STFTRMSE()), append(testSTFT, e.test.STFTRMSE())
		}
		*to = audio.Scores{
			TrainRMSE: bayes.RMS(train), TestRMSE: bayes.RMS(test),
			TrainSTFTRMSE: bayes.RMS(trainSTFT), TestSTFTRMSE: bayes.RMS(testSTFT),
		}
	}
	return s
}
