package paper

import (
	"fmt"
	"io"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
)

// audio16kSet is the paper's comparison with a sparse Gaussian process on
// mini-batches.
var audio16kSet = set{name: audio16k, title: "Audio 16K: sfVSSGP against sSPGP", fits: audio16kFits, table: audio16kTables}

func audio16kSizes(quick bool) audioSizes {
	if quick {
		return audioSizes{n: 1000, gaps: 3, gapLength: 40, features: 20, inducing: 30, steps: 40, shortSteps: 20, inducedSteps: 5, batch: 200, fewWindow: 250, fewComponents: 5}
	}
	return audioSizes{n: 16000, gaps: 25, gapLength: 80, features: 400, inducing: 800, steps: 5000, shortSteps: 1000, inducedSteps: 150, batch: 512, fewWindow: 1024, fewComponents: 13}
}

// audio16kVariants are sfVSSGP from the paper's start and from ours, there with
// as many features as the paper has and with as many as the start lays, and
// exact inference in windows, which 16000 samples do not hinder.
func audio16kVariants(z audioSizes) []variant {
	paper := paperAudio(z.features)
	paper.Inference, paper.Iterations, paper.Batch = vssgp.Stochastic, z.steps, z.batch
	ours := vssgp.Options{Inference: vssgp.Stochastic, Init: vssgp.InitSpectrum, Window: vssgp.WindowAuto, Iterations: z.shortSteps, Batch: z.batch}
	kept := ours
	kept.Iterations = vssgp.NoIterations
	exact := kept
	exact.Inference = vssgp.Exact
	few := ours
	few.Window = z.fewWindow
	few.Components, few.Features = z.fewComponents, 2
	fewKept := few
	fewKept.Iterations = vssgp.NoIterations
	return []variant{
		{"sfvssgp", paperStart, paper},
		{"sfvssgp", "spectrum, few features", few},
		{"sfvssgp", "spectrum, few features, kept", fewKept},
		{"sfvssgp", "spectrum, windows", ours},
		{"sfvssgp", keptStart, kept},
		{"vssgp", keptStart, exact},
	}
}

func audio16kFits(s *session) ([]fit, error) {
	z := audio16kSizes(s.Quick)
	signals, err := s.signals(z.n, speech...)
	if err != nil {
		return nil, err
	}
	var out []fit
	for i, g := range signals {
		for seed := range s.repeats(3) {
			t, err := s.task(audio16k, g, seed, z.gaps, z.gapLength)
			if err != nil {
				return nil, err
			}
			for _, v := range audio16kVariants(z) {
				out = append(out, t.features(v, 0))
			}
			if i == 0 && seed == 0 { // minutes, and the paper has one run of each
				out = append(out, t.svgp(z))
			}
			out = append(append(out, t.impute()), t.fills()...)
		}
	}
	return out, nil
}

// svgpRate is Adam's: faster than by default, for hundreds of steps rather than
// thousands.
const svgpRate = 0.1

// svgp is the sparse Gaussian process on mini-batches with the covariance and
// the noise that sfVSSGP starts from.
func (t *task) svgp(z audioSizes) fit {
	p := paperAudio(0)
	return t.model(t.named("svgp", paperStart), func(report func(vssgp.Progress)) baseline.Method {
		return baseline.SVGP{Inducing: z.inducing, Batch: z.batch, Rate: svgpRate, Options: baseline.Options{
			Covariance: baseline.SE(1, p.Lengthscales...), NoisePrecision: p.NoisePrecision, Iterations: z.inducedSteps, Seed: t.key.Seed, Progress: report,
		}}
	})
}

// audio16kPaper are the paper's numbers; it calls svgp sSPGP.
var audio16kPaper = map[string]map[Score]quoted{
	"svgp":    {TrainRMSE: {0.043, 0}, TestRMSE: {0.034, 0}, TrainSTFT: {0.54, 0}, TestSTFT: {0.43, 0}},
	"sfvssgp": {TrainRMSE: {0.016, 0}, TestRMSE: {0.034, 0}, TrainSTFT: {0.18, 0}, TestSTFT: {0.30, 0}},
	"silence": {TrainSTFT: {0.52, 0}, TestSTFT: {0.62, 0}},
}

// audio16kMinutes are the paper's training times.
var audio16kMinutes = map[string]float64{"svgp": 133, "sfvssgp": 48}

func audio16kTables(w io.Writer, lines []Line) {
	audioTable(w, lines, audio16kPaper)
	rows := [][]string{{"method", "start", "features or inducing inputs", "iterations", "seconds a step", "minutes", "paper", "paper's time / ours"}}
	for _, v := range variantsOf(methods(lines, "sfvssgp", "svgp", "vssgp", "impute")) {
		here := ok(v.of(lines))
		if len(here) == 0 {
			continue
		}
		took := seconds(here)
		for i := range took {
			took[i] /= 60
		}
		row := []string{v.method, v.start, fmt.Sprint(here[0].M), fmt.Sprint(here[0].Iterations), spread(values(here, StepTime)), spread(took), "–", "–"}
		if minutes, have := audio16kMinutes[v.method]; have {
			row[6], row[7] = digits(minutes), digits(minutes/stat.Mean(took, nil))
		}
		rows = append(rows, row)
	}
	writeTable(w, rows)
	fmt.Fprintf(w, "The paper's relative STFT RMSE on the gaps is %s for sfVSSGP, %s for sSPGP.\n\n", toSilence(audio16kPaper, "sfvssgp", TestSTFT), toSilence(audio16kPaper, "svgp", TestSTFT))
	fmt.Fprintf(w, "STFT RMSE on the gaps by signal, silence = 1.\n\n")
	bySignal(w, lines, func(l []Line) []float64 { return relative(l, TestSTFT, ZeroTest) })
	collapses(w, lines)
}
