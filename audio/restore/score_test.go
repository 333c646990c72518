package restore

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
)

// tolerance: sums of some hundred squares.
const tolerance = 1e-12

func near(a, b float64) bool { return math.Abs(a-b) <= tolerance*max(1e-3, math.Abs(b)) }

// scored is a recording of two channels whose errors are known: the fit is off
// by trainOff on what is observed between 100 and 500, the fill by testOff, and
// the standard deviation is sd.
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
	ar, err := Fill(context.Background(), filled, rate, gaps, Options{Method: AR})
	if err != nil {
		panic(err)
	}
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
		e := Excerpt{Start: lo, End: hi, Fit: part(fit)}
		var fills, simple []GapFill
		for i, g := range ar.Gaps {
			if g.Start < lo || g.Start >= hi {
				continue
			}
			e.Gaps, simple = append(e.Gaps, g), append(simple, ar.Fills[i]...)
			for _, f := range ar.Fills[i] {
				f.Mean, f.SD = filled[f.Channel][g.Start:g.End], sd[f.Channel][g.Start:g.End]
				fills = append(fills, f)
			}
		}
		t.add(&e, part(filled), part(reference), fills, simple)
	}
	return t.scores()
}

func TestScore(t *testing.T) {
	ref, s := scored(0.01, -0.2, 0.15)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"train", s.VSSGP.TrainRMSE, 0.01}, {"test", s.VSSGP.TestRMSE, 0.2},
		{"train STFT", s.VSSGP.TrainSTFTRMSE, rms(stft, constant(ref, 0.01), observed)},
		{"test STFT", s.VSSGP.TestSTFTRMSE, rms(stft, constant(ref, 0.2), inGap)},
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
	// Two sinusoids: an autoregressive fill is near exact, a line is not.
	if !(s.AR.TestRMSE < 0.01*s.Linear.TestRMSE) || !(s.Linear.TestRMSE > 0.1) {
		t.Errorf("test errors: ar %v, linear %v; want ar far below", s.AR.TestRMSE, s.Linear.TestRMSE)
	}
	// The transform is linear: twice the error, twice the score.
	_, twice := scored(0.02, -0.4, 0.15)
	if !near(twice.VSSGP.TestSTFTRMSE, 2*s.VSSGP.TestSTFTRMSE) || !near(twice.VSSGP.TrainSTFTRMSE, 2*s.VSSGP.TrainSTFTRMSE) || s.VSSGP.TestSTFTRMSE == 0 {
		t.Errorf("STFT errors %+v, of twice the error %+v", s.VSSGP, twice.VSSGP)
	}
	if _, wrong := scored(0, 0.2, 0.1); wrong.Coverage95 != 0 {
		t.Errorf("coverage %v of intervals of half-width 0.196 about an error of 0.2, want 0", wrong.Coverage95)
	}
	if s.VSSGP != (audio.Scores{TrainRMSE: s.VSSGP.TrainRMSE, TestRMSE: s.VSSGP.TestRMSE, TrainSTFTRMSE: s.VSSGP.TrainSTFTRMSE, TestSTFTRMSE: s.VSSGP.TestSTFTRMSE}) {
		t.Error("a score that is not a number") // NaN differs from itself
	}
}

func inGap(i int) bool { return i >= 200 && i < 220 || i >= 300 && i < 310 }

func observed(i int) bool { return i >= 100 && i < 500 && !inGap(i) }

func constant(like [][]float64, v float64) [][]float64 {
	a := make([][]float64, len(like))
	for c := range a {
		a[c] = slices.Repeat([]float64{v}, len(like[c]))
	}
	return a
}

func stft(ref, est []float64, mask []bool) float64 { return audio.STFTRMSE(ref, est, mask, 8000) }

// rms is a score of errors where they count, channels weighing the same.
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
