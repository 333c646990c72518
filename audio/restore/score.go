package restore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Scores contains the errors of a fill and of three baselines.
//
// Training errors are computed over the observed samples of the excerpts, test errors over the gaps. The training error of method VSSGP
// is the error of its predictive mean. Silence predicts 0 everywhere, so its training error is the level of the signal. All other fills
// keep the observed samples, so their training error is 0 if the reference equals the recording outside the gaps.
type Scores struct {
	Fill    audio.Scores // the fill, for any method
	Silence audio.Scores // zeros everywhere
	Linear  audio.Scores // audio.FillLinear
	AR      audio.Scores // the best simple fill: method AR
	// Coverage95 is the fraction of missing samples within 1.96 standard deviations of their fill.
	Coverage95 float64
}

// Score compares the fill with the undamaged reference. It reads the excerpts of both. Unless r is a fill by AR, Score also computes this
// fill, which takes about as long as the fill itself and calls progress, which may be nil. Errors wrap vssgp.ErrData or the error of a
// Source or of ctx.
func (r *Result) Score(ctx context.Context, recording, reference Source, progress func(Progress)) (Scores, error) {
	if r == nil || len(r.Excerpts) == 0 || recording == nil || reference == nil {
		return Scores{}, fault.Errorf(vssgp.ErrData, "score: result, recording and reference must not be nil or empty")
	}
	ar, err := r.simple(ctx, recording, progress)
	if err != nil {
		return Scores{}, err
	}
	observed, t := Around(recording, r.Gaps), newTally(r.channels, r.samples, r.rate)
	for _, e := range r.Excerpts {
		known, err := observed.Read(e.Start, e.End)
		truth, e2 := Around(reference, nil).Read(e.Start, e.End)
		if err = cmp.Or(err, e2); err != nil {
			return Scores{}, fmt.Errorf("score samples %d:%d: %w", e.Start, e.End, err)
		}
		if len(known) != r.channels || len(truth) != r.channels {
			return Scores{}, fault.Errorf(vssgp.ErrData, "score samples %d:%d: the recording has %d channels, the reference %d, the fill %d",
				e.Start, e.End, len(known), len(truth), r.channels)
		}
		t.add(&e, known, truth, r.inside(&e), ar.inside(&e))
	}
	return t.scores(), nil
}

// simple returns the fill by AR, which treats clipped samples and clicks as missing. It returns r if r is this fill, and otherwise reuses the
// initial fills of r.
func (r *Result) simple(ctx context.Context, recording Source, progress func(Progress)) (*Result, error) {
	plain, o := slices.Clone(r.Gaps), Options{Method: AR, Progress: progress}
	for i := range plain {
		plain[i].Clipped, plain[i].Click = false, false
	}
	if slices.Equal(plain, r.Gaps) {
		if r.Method == AR {
			return r, nil
		}
		o.guesses = r.guesses
	}
	return FillFrom(ctx, recording, r.samples, r.rate, plain, o)
}

// inside returns the fills of the gaps in an excerpt.
func (r *Result) inside(e *Excerpt) []GapFill {
	return slices.Concat(r.Fills[r.before(e.Start):r.before(e.End)]...)
}

func (r *Result) before(sample int) int {
	return sort.Search(len(r.Gaps), func(i int) bool { return r.Gaps[i].Start >= sample })
}

// A tally accumulates the scores of a fill over the excerpts.
type tally struct {
	rate            int
	methods         [4][]residuals // VSSGP, silence, linear and AR, by channel
	missed          []bool         // [channel] whether it has missing samples
	covered, filled int            // missing samples inside their intervals, and in total
}

// residuals contains the errors of a method in a channel.
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

// add adds an excerpt, given its known samples, the reference, and the fills of its gaps by the method and by AR.
func (t *tally) add(e *Excerpt, known, reference [][]float64, fills, ar []GapFill) {
	for c, ref := range reference {
		gaps := e.gapsInside(c)
		missing := audio.Mask(gaps, len(ref))
		trained := make([]bool, len(ref))
		for i, m := range missing {
			trained[i] = !m
		}
		fill, simple := slices.Clone(known[c]), slices.Clone(known[c])
		if e.Fit != nil { // predictions of the known samples
			copy(fill, e.Fit[c])
		}
		for _, f := range fills {
			if lo := f.Gap.Start - e.Start; f.Channel == c {
				copy(fill[lo:], f.Values(-1))
				t.cover(&f, ref[lo:])
			}
		}
		for _, f := range ar {
			if f.Channel == c {
				copy(simple[f.Gap.Start-e.Start:], f.Mean)
			}
		}
		for m, estimate := range [][]float64{fill, make([]float64, len(ref)), audio.FillLinear(known[c], gaps), simple} {
			t.methods[m][c].train.Add(e.Start, ref, estimate, trained)
			t.methods[m][c].test.Add(e.Start, ref, estimate, missing)
		}
	}
}

// cover counts the samples of a fill and those inside their intervals, given the reference from the start of the gap on.
func (t *tally) cover(f *GapFill, reference []float64) {
	t.missed[f.Channel] = true
	t.filled += len(f.Mean)
	for i, m := range f.Mean {
		if math.Abs(reference[i]-m) <= bayes.SD95*f.SD[i] {
			t.covered++
		}
	}
}

// scores returns the root mean squares over the channels with missing samples, with equal weights.
func (t *tally) scores() Scores {
	s := Scores{Coverage95: float64(t.covered) / float64(t.filled)}
	for m, to := range []*audio.Scores{&s.Fill, &s.Silence, &s.Linear, &s.AR} {
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
