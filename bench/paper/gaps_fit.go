package paper

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// A gapTask is a recording with single gaps of one length.
type gapTask struct {
	*task
	ms    int // length of a gap, as it was asked for
	sizes gapsSizes
}

// The starts of package impute.
const (
	withWindows    = ", windows"
	withoutWindows = ", no windows"
)

// Windows' lengths in seconds.
const (
	paperWindow = 0.048 // for the paper's start, which chooses none: the middle of impute's
)

// An arSetting is an autoregressive fill: order and context to either side in
// ms, and rounds.
type arSetting struct {
	order, context float64
	rounds         int
}

// arSettings are fills beside the default, by the length of the gap in ms.
// They were chosen from 4 orders × 4 contexts × 3 rounds and some longer ones
// on these recordings at other places, each the one with the least geometric
// mean of the RMSE over gaps: the first of three speech recordings, the second
// of the music. The third, an order of 32 ms and eight times that of context,
// is what is common for music in the literature.
var arSettings = []struct {
	method  string
	setting func(ms int) arSetting
}{
	{"ar, for speech", func(ms int) arSetting {
		switch {
		case ms > 40:
			return arSetting{6, 60, 2}
		case ms == 5 || ms == 20:
			return arSetting{12, 18, 2}
		}
		return arSetting{9, 18, 2}
	}},
	{"ar, for music", func(ms int) arSetting {
		if ms > 20 {
			return arSetting{9, 25, 2}
		}
		return arSetting{16, 40, 3}
	}},
	{"ar, 32 ms", func(int) arSetting { return arSetting{32, 256, 3} }},
}

func (a arSetting) options(rate int) audio.AROptions {
	samples := func(ms float64) int { return int(math.Round(ms * float64(rate) / 1000)) }
	return audio.AROptions{Order: samples(a.order), Context: samples(a.context), Iterations: a.rounds}
}

// fast are the methods that fill every gap: references, and package impute with
// the spectrum start.
func (t *gapTask) fast() []fit {
	masked := audio.FillSilence(t.y, t.gaps)
	out := []fit{
		t.reference("silence", func() ([]float64, error) { return masked, nil }),
		t.reference("linear", func() ([]float64, error) { return audio.FillLinear(masked, t.gaps), nil }),
		t.reference("ar", func() ([]float64, error) { return audio.FillAR(masked, t.gaps, audio.DefaultAR(t.rate)) }),
	}
	for _, a := range arSettings {
		o := a.setting(t.ms).options(t.rate)
		out = append(out, t.reference(a.method, func() ([]float64, error) { return audio.FillAR(masked, t.gaps, o) }))
	}
	return append(out,
		t.imputed(spectrumStart+withWindows, vssgp.Options{}),
		t.imputed(spectrumStart+withoutWindows, vssgp.Options{Window: vssgp.WindowNone}))
}

// slow are those that are given a few gaps only.
func (t *gapTask) slow() []fit {
	step := func(samples float64) float64 { return samples / 16000 } // the paper's rate
	o := vssgp.Options{
		Init: vssgp.InitPaper, Lengthscales: []float64{step(2), step(10)}, NoisePrecision: 1000, FrequencyVariance: audioVariance,
		Features: t.sizes.paper.features, Iterations: t.sizes.paper.iterations,
	}
	windows, none := o, o
	windows.Window, none.Window = paperWindow, vssgp.WindowNone
	return []fit{t.imputed(paperStart+withWindows, windows), t.imputed(paperStart+withoutWindows, none), t.gp()}
}

// reference is a fill that needs no model.
func (t *gapTask) reference(method string, run func() ([]float64, error)) fit {
	return t.fit(method, "", func(context.Context, *Line) ([]float64, []float64, error) {
		mean, err := run()
		return mean, nil, err
	})
}

// imputed is package impute's fill.
func (t *gapTask) imputed(start string, o vssgp.Options) fit {
	return t.fit("vssgp", start, func(ctx context.Context, l *Line) (mean, sd []float64, err error) {
		o := o
		o.Seed = l.Seed
		r, err := impute.Fill(ctx, [][]float64{audio.FillSilence(t.y, t.gaps)}, t.rate, t.gaps, impute.Options{Model: o})
		if err != nil {
			return nil, nil, err
		}
		l.Iterations, l.N, l.Bound = r.Iterations, 0, &r.Bound
		for _, e := range r.Excerpts {
			l.M += e.Model.Params.M()
			l.N += e.End - e.Start - audio.Missing(e.Gaps)
		}
		return r.Fit[0], r.SD[0], nil
	})
}

// fit is the line of a fill: the mean and, of some, standard deviation of every
// sample of the signal, NaN where it says nothing.
func (t *gapTask) fit(method, start string, fill func(context.Context, *Line) (mean, sd []float64, err error)) fit {
	l := t.line(t.named(method, start), t.gaps)
	l.Rate = t.rate
	return fit{line: l, run: func(ctx context.Context, l *Line) error {
		mean, sd, err := fill(ctx, l)
		if err != nil {
			return err
		}
		t.score(l, t.gaps, mean, sd)
		l.PerGap = t.perGap(mean, sd)
		return nil
	}}
}

// perGap scores the gaps one by one.
func (t *gapTask) perGap(mean, sd []float64) []GapScore {
	var out []GapScore
	for _, g := range t.gaps {
		was := t.y[g.Start:g.End]
		s := GapScore{Start: g.Start, RMS: score.RMS(was), RMSE: score.RMSE(mean[g.Start:g.End], was)}
		if sd != nil {
			at, spread := mean[g.Start:g.End], sd[g.Start:g.End]
			coverage, nlpd := score.Coverage(at, spread, was), score.NLPD(at, spread, was)
			s.Coverage, s.NLPD = &coverage, &nlpd
		}
		out = append(out, s)
	}
	return out
}

func sortGaps(gaps []audio.Gap) {
	slices.SortFunc(gaps, func(a, b audio.Gap) int { return cmp.Compare(a.Start, b.Start) })
}
