package paper

import (
	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/impute"
)

// An audioSet is an experiment on recordings: models fill gaps drawn in the most voiced excerpt of each.
type audioSet struct {
	name        string
	files       []string // of the data folder; a quick run takes its own
	repeats     int
	curves      bool // of the first signal's first seed
	full, quick audioSizes
	models      func(z *audioSizes, k int) []model
	others      func(t *task, z *audioSizes, first bool) []fit // of the first signal's first seed, or another; nil: none
}

// audioSizes are what a quick run makes smaller.
type audioSizes struct {
	n, gaps, gapLength  int
	counts              []int   // features to compare; nil: one size alone
	features, inducing  int     // per component, and in all
	exact, factorised   int     // iterations
	steps, inducedSteps int     // on mini-batches
	shortSteps          int     // where the start is good
	longSteps           int     // where the paper's are too few
	batch               int     // rows
	fewWindow           float64 // samples
	fewComponents       int     // in a window
}

// A model is package vssgp with a start.
type model struct {
	variant
	options vssgp.Options
}

// speech are utterances of two speakers, music a trumpet. The starting Σ was chosen on the first utterance, which the 1K signals
// therefore leave out.
var speech = []string{"arctic_aew_a0001.wav", "arctic_aew_a0002.wav", "speech_16k_be_mono.sph"}

const music = "music_trumpet_44k.wav"

// The sets on recordings: the paper's comparison with SSGP and of its three bounds, its trade-off of time and error in the number of
// features, and its comparison with a sparse Gaussian process on mini-batches.
var (
	audio1k = audioSet{
		name: "audio1k", files: []string{speech[1], speech[2], music}, repeats: 5, curves: true,
		full:   audioSizes{n: 1000, gaps: 5, gapLength: 40, features: 100, exact: 1000, factorised: 5000, steps: 5000, batch: 200},
		quick:  audioSizes{n: 400, gaps: 2, gapLength: 40, features: 10, exact: 20, factorised: 30, steps: 50, batch: 100},
		models: audio1kModels,
		others: func(t *task, _ *audioSizes, _ bool) []fit { return t.references() },
	}
	audio4k = audioSet{
		name: "audio4k", files: speech[1:2], repeats: 5,
		full:   audioSizes{n: 4000, gaps: 20, gapLength: 40, counts: []int{50, 100, 200, 400, 800}, steps: 500, longSteps: 5000, batch: 512},
		quick:  audioSizes{n: 1000, gaps: 5, gapLength: 40, counts: []int{5, 10, 20}, steps: 60, longSteps: 600, batch: 200},
		models: audio4kModels,
	}
	audio16k = audioSet{
		name: "audio16k", files: speech, repeats: 3,
		full: audioSizes{n: 16000, gaps: 25, gapLength: 80, features: 400, inducing: 800, steps: 5000, shortSteps: 1000, inducedSteps: 150,
			batch: 512, fewWindow: 1024, fewComponents: 13},
		quick: audioSizes{n: 1000, gaps: 3, gapLength: 40, features: 20, inducing: 30, steps: 40, shortSteps: 20, inducedSteps: 5,
			batch: 200, fewWindow: 250, fewComponents: 5},
		models: audio16kModels,
		others: func(t *task, z *audioSizes, first bool) (out []fit) {
			if first { // minutes, and the paper has one run of each
				out = append(out, t.svgp(z))
			}
			fill := gapfill.Impute(impute.Options{Model: vssgp.Options{Seed: t.key.Seed}})
			return append(append(out, t.fill("impute", keptStart, fill)), t.references()...)
		},
	}
)

func (a audioSet) fits(s *session) (out []fit, err error) {
	z, files := a.full, a.files
	if s.Quick {
		z, files = a.quick, a.files[:1]
	}
	if z.counts == nil {
		z.counts = []int{0}
	}
	for i, file := range files {
		r, err := s.recording(file)
		if err != nil {
			return nil, err
		}
		g, err := r.at(r.voiced(z.n), z.n)
		if err != nil {
			return nil, err
		}
		for _, k := range z.counts {
			for seed := range s.repeats(a.repeats) {
				gaps, err := g.drawGaps(seed, z.gaps, z.gapLength)
				if err != nil {
					return nil, err
				}
				t, first := s.task(a.name, *g, gaps, seed), i == 0 && seed == 0
				t.curve = a.curves && first
				for _, m := range a.models(&z, k) {
					out = append(out, t.features(m.variant, m.options, k))
				}
				if a.others != nil {
					out = append(out, a.others(t, &z, first)...)
				}
			}
		}
	}
	return out, nil
}

// references are the fills that need no model: silence, straight lines, and an autoregressive fill. Silence predicts observed samples
// too, so that its errors on them are the signal's size.
func (t *task) references() []fit {
	return []fit{
		t.fill("silence", "", gapfill.Zeros), t.fill("linear", "", gapfill.Linear), t.fill("ar", "", gapfill.AR(audio.DefaultAR)),
	}
}

// audioVariance is the starting Σ, which the paper leaves open: features reach over ten length-scales.
const audioVariance = 0.01

// paperAudio is the paper's start for audio: two squared exponentials of 2 and 10 samples, τ = 1000. rate is how many samples there
// are in a unit of x.
func paperAudio(features int, rate float64) vssgp.Options {
	return vssgp.Options{
		Init: vssgp.InitPaper, Lengthscales: []float64{2 / rate, 10 / rate}, Features: features, NoisePrecision: 1000,
		FrequencyVariance: audioVariance,
	}
}

// stochastic is o by mini-batches.
func stochastic(o vssgp.Options, z *audioSizes, steps int) vssgp.Options {
	o.Inference, o.Iterations, o.Batch = vssgp.Stochastic, steps, z.batch
	return o
}

// audio1kModels are the paper's methods, each from the paper's start and from ours.
func audio1kModels(z *audioSizes, _ int) (out []model) {
	for _, start := range []model{
		{variant{start: paperStart}, paperAudio(z.features, 1)},
		{variant{start: spectrumStart}, vssgp.Options{Init: vssgp.InitSpectrum, Window: vssgp.WindowNone}},
	} {
		add := func(method string, o vssgp.Options) { out = append(out, model{variant{method, start.start}, o}) }
		o := start.options
		o.Iterations = z.exact
		ssgp, factorised := o, o
		ssgp.Method = vssgp.SSGP
		factorised.Inference, factorised.Iterations = vssgp.Factorised, z.factorised
		add("ssgp", ssgp)
		add("vssgp", o)
		add("fvssgp", factorised)
		add("sfvssgp", stochastic(o, z, z.steps))
	}
	return append(out, model{variant{"vssgp", keptStart}, keptOptions})
}

// keptOptions keep the starting values, from the spectrum with windows.
var keptOptions = vssgp.Options{Init: vssgp.InitSpectrum, Iterations: vssgp.NoIterations, Window: vssgp.WindowAuto}

// longStart is the paper's start with more steps than the paper takes, for what they leave to be learnt.
const longStart = "paper, ten times the steps"

// audio4kModels are sfVSSGP with 2K features: K for each of two components from the paper's start, and a cosine and a sine for each of
// K components from ours.
func audio4kModels(z *audioSizes, k int) []model {
	ours := vssgp.Options{Init: vssgp.InitSpectrum, Window: vssgp.WindowNone, Components: k, Features: 2}
	return []model{
		{variant{"sfvssgp", paperStart}, stochastic(paperAudio(k, 1), z, z.steps)},
		{variant{"sfvssgp", spectrumStart}, stochastic(ours, z, z.steps)},
		{variant{"sfvssgp", longStart}, stochastic(paperAudio(k, 1), z, z.longSteps)},
	}
}

// audio16kModels are sfVSSGP from the paper's start and from ours, there with as many features as the paper has and with as many as the
// start lays, and exact inference in windows, which 16000 samples do not hinder.
func audio16kModels(z *audioSizes, _ int) []model {
	few := keptOptions
	few.Window, few.Components, few.Features = z.fewWindow, z.fewComponents, 2
	return []model{
		{variant{"sfvssgp", paperStart}, stochastic(paperAudio(z.features, 1), z, z.steps)},
		{variant{"sfvssgp", "spectrum, few features"}, stochastic(few, z, z.shortSteps)},
		{variant{"sfvssgp", "spectrum, few features, kept"}, stochastic(few, z, vssgp.NoIterations)},
		{variant{"sfvssgp", "spectrum, windows"}, stochastic(keptOptions, z, z.shortSteps)},
		{variant{"sfvssgp", keptStart}, stochastic(keptOptions, z, vssgp.NoIterations)},
		{variant{"vssgp", keptStart}, keptOptions},
	}
}

// svgpRate is Adam's: faster than by default, for hundreds of steps rather than thousands.
const svgpRate = 0.1

// svgp is the sparse Gaussian process on mini-batches with the covariance and the noise that sfVSSGP starts from.
func (t *task) svgp(z *audioSizes) fit {
	p := paperAudio(0, 1)
	return t.model("svgp", paperStart, 0, func(report func(vssgp.Progress)) baseline.Method {
		return baseline.SVGP{Inducing: z.inducing, Batch: z.batch, Rate: svgpRate, Options: baseline.Options{
			Covariance: baseline.SE(1, p.Lengthscales...), NoisePrecision: p.NoisePrecision, Iterations: z.inducedSteps, Seed: t.key.Seed,
			Progress: report,
		}}
	})
}
