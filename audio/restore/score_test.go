package restore

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// tolerance allows for the rounding of a few hundred squares.
const tolerance = 1e-12

func near(a, b float64) bool { return math.Abs(a-b) <= tolerance*max(1e-3, math.Abs(b)) }

// scored returns the scores of a recording of two channels with error trainOff of the fit at the observed samples between 100 and
// 500, error testOff of the fill, and standard deviation sdValue.
func scored(trainOff, testOff, sdValue float64) (ref [][]float64, s Scores) {
	const n = 600
	gaps := []Gap{{Start: 200, End: 220}, {Start: 300, End: 310}}
	var filled, fit, sd [][]float64
	for c := range 2 {
		r, f, m, d := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range r {
			r[i] = math.Sin(0.1*float64(i)+float64(c)) + 0.5*math.Cos(0.37*float64(i))
			f[i], m[i], d[i] = r[i], math.NaN(), math.NaN()
			if i >= 100 && i < 500 {
				m[i], d[i] = r[i]+trainOff, sdValue
			}
		}
		for _, g := range gaps {
			for i := g.Start; i < g.End; i++ {
				f[i], m[i] = r[i]+testOff, r[i]+testOff
			}
		}
		ref, filled, fit, sd = append(ref, r), append(filled, f), append(fit, m), append(sd, d)
	}
	return ref, wholeScore(ref, filled, fit, sd, 8000, gaps)
}

// wholeScore returns the scores of a fill of whole recordings [channel][sample]: filled, and the model's mean and standard deviation, which
// are NaN outside the excerpts.
func wholeScore(reference, filled, fit, sd [][]float64, rate int, gaps []Gap) Scores {
	t := newTally(len(reference), len(reference[0]), rate)
	ar, _ := Fill(context.Background(), filled, rate, gaps, Options{Method: AR})
	for lo, hi := 0, 0; lo < len(fit[0]); lo = hi {
		for hi = lo + 1; hi < len(fit[0]) && math.IsNaN(fit[0][hi]) == math.IsNaN(fit[0][lo]); hi++ {
		}
		if math.IsNaN(fit[0][lo]) {
			continue
		}
		part := func(x [][]float64) (out [][]float64) {
			for _, x := range x {
				out = append(out, x[lo:hi])
			}
			return out
		}
		e := Excerpt{Start: lo, End: hi, Fit: part(fit), Gaps: overlapping(ar.Gaps, lo, hi, func(g Gap) Gap { return g })}
		fills := ar.inside(&e)
		for i, f := range fills {
			fills[i].Mean, fills[i].SD = filled[f.Channel][f.Gap.Start:f.Gap.End], sd[f.Channel][f.Gap.Start:f.Gap.End]
		}
		t.add(&e, part(filled), part(reference), fills, ar.inside(&e))
	}
	return t.scores()
}

func TestScoresMatchConstantErrors(t *testing.T) {
	ref, s := scored(0.01, -0.2, 0.15)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"train", s.Fill.TrainRMSE, 0.01}, {"test", s.Fill.TestRMSE, 0.2},
		{"train STFT", s.Fill.TrainSTFTRMSE, rms(stft, constant(0.01), observed)},
		{"test STFT", s.Fill.TestSTFTRMSE, rms(stft, constant(0.2), inGap)},
		{"silence's train", s.Silence.TrainRMSE, rms(audio.RMSE, ref, observed)},
		{"silence's test", s.Silence.TestRMSE, rms(audio.RMSE, ref, inGap)},
		{"silence's train STFT", s.Silence.TrainSTFTRMSE, rms(stft, ref, observed)},
		{"silence's test STFT", s.Silence.TestSTFTRMSE, rms(stft, ref, inGap)},
		{"linear's train", s.Linear.TrainRMSE, 0}, {"linear's train STFT", s.Linear.TrainSTFTRMSE, 0}, {"ar's train", s.AR.TrainRMSE, 0},
		{"coverage", s.Coverage95, 1},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s error %v, want %v", c.name, c.got, c.want)
		}
	}
	// For two sinusoids, the autoregressive fill is nearly exact; linear interpolation is not.
	if !(s.AR.TestRMSE < 0.01*s.Linear.TestRMSE) || !(s.Linear.TestRMSE > 0.1) {
		t.Errorf("test errors: ar %v, linear %v; want ar far below", s.AR.TestRMSE, s.Linear.TestRMSE)
	}
	// The STFT is linear, so the score is proportional to the error.
	_, twice := scored(0.02, -0.4, 0.15)
	if !near(twice.Fill.TestSTFTRMSE, 2*s.Fill.TestSTFTRMSE) || !near(twice.Fill.TrainSTFTRMSE, 2*s.Fill.TrainSTFTRMSE) || s.Fill.TestSTFTRMSE == 0 {
		t.Errorf("STFT errors %+v, of twice the error %+v", s.Fill, twice.Fill)
	}
	if _, wrong := scored(0, 0.2, 0.1); wrong.Coverage95 != 0 {
		t.Errorf("coverage %v of intervals of half-width 0.196 about an error of 0.2, want 0", wrong.Coverage95)
	}
}

// TestScoreSimple checks that the AR score equals the score of a fill by AR, with reused and new initial fills and with clipped
// samples or a click next to missing ones, and that progress counts the gaps.
func TestScoreSimple(t *testing.T) {
	clean := tones(4000, 2, 0.01)
	for _, kind := range []Gap{{}, {Clipped: true}, {Click: true}} {
		gaps := []Gap{{Start: 1000, End: 1040}, {Start: 1040, End: 1050, Clipped: kind.Clipped, Click: kind.Click}, {Start: 1070, End: 1130}}
		cut := whole(damage(clean, gaps, 0))
		score := func(r *Result, progress func(Progress)) Scores {
			return testkit.Must(r.Score(t.Context(), cut, whole(clean), progress))(t)
		}
		r := testkit.Must(FillFrom(t.Context(), cut, 4000, rate, gaps, Options{}))(t)
		told := 0
		first := score(r, func(Progress) { told++ })
		r.guesses = nil
		testkit.Equal(t, score(r, nil), first, "scores without guesses")
		gaps[1].Clipped, gaps[1].Click = false, false
		simple := testkit.Must(FillFrom(t.Context(), cut, 4000, rate, gaps, Options{Method: AR}))(t)
		testkit.Equal(t, first.AR, score(simple, nil).Fill, "scores of ar")
		testkit.Equal(t, told, 2, "calls of progress")
	}
}

func inGap(i int) bool { return i >= 200 && i < 220 || i >= 300 && i < 310 }

func observed(i int) bool { return i >= 100 && i < 500 && !inGap(i) }

func constant(v float64) [][]float64 {
	return slices.Repeat([][]float64{slices.Repeat([]float64{v}, 600)}, 2)
}

func stft(ref, est []float64, mask []bool) float64 { return audio.STFTRMSE(ref, est, mask, 8000) }

// rms returns the root mean square of errors at selected samples, with equal weights of the channels.
func rms(score func(ref, est []float64, mask []bool) float64, errors [][]float64, where func(int) bool) float64 {
	s := 0.0
	for _, e := range errors {
		mask := make([]bool, len(e))
		for i := range mask {
			mask[i] = where(i)
		}
		v := score(make([]float64, len(e)), e, mask)
		s += v * v / float64(len(errors))
	}
	return math.Sqrt(s)
}
