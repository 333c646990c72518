package paper

import (
	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/bench/internal/baselines"
)

// speech lists utterances of two speakers, music is a trumpet. The first utterance is not a 1K signal because Σ was
// chosen on it.
var speech = []string{"arctic_aew_a0001.wav", "arctic_aew_a0002.wav", "speech_16k_be_mono.sph"}

const music = "music_trumpet_44k.wav"

// An audioSet is an experiment on recordings in which models fill random gaps in the most voiced excerpt of each.
type audioSet struct {
	name               string
	files              []string // files in the data folder; a quick run uses only the first
	n, gaps, gapLength int      // samples in an excerpt, number of gaps, samples in a gap
	counts             []int    // numbers of features to compare; K in the key
	repeats            int
}

// audioFits returns the fits of each signal, number of features and seed. first is true for the first seed of the first
// signal.
func (s *session) audioFits(a audioSet, fits func(t *task, first bool) []fit) (out []fit, err error) {
	for i, file := range a.files[:s.size(len(a.files), 1)] {
		r, err := s.recording(file)
		if err != nil {
			return nil, err
		}
		g, err := r.at(r.voiced(a.n), a.n)
		if err != nil {
			return nil, err
		}
		for _, k := range a.counts {
			for seed := range s.repeats(a.repeats) {
				gaps, err := g.drawGaps(seed, a.gaps, a.gapLength)
				if err != nil {
					return nil, err
				}
				t := s.task(a.name, *g, gaps, seed)
				t.key.K = k
				out = append(out, fits(t, i == 0 && seed == 0)...)
			}
		}
	}
	return out, nil
}

// audio1kFits returns the fits of the paper's comparison with SSGP and of the three bounds, with the paper's
// initialization and with ours.
func audio1kFits(s *session) ([]fit, error) {
	starts := []struct {
		name string
		vssgp.Options
	}{
		{paperStart, paperAudio(s.size(100, 10))},
		{spectrumStart, vssgp.Options{Init: vssgp.InitSpectrum, Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}}},
	}
	set := audioSet{
		name: "audio1k", files: []string{speech[1], speech[2], music}, n: s.size(1000, 400), gaps: s.size(5, 2), gapLength: 40,
		counts: []int{0}, repeats: 5,
	}
	return s.audioFits(set, func(t *task, first bool) (out []fit) {
		t.curve = first
		for _, start := range starts {
			o := start.Options
			o.Iterations = s.size(1000, 20)
			ssgp, factorized := o, o
			ssgp.Method = vssgp.SSGP
			factorized.Inference, factorized.Iterations = vssgp.Factorized, s.size(5000, 30)
			out = append(out, t.features("ssgp", start.name, ssgp), t.features("vssgp", start.name, o),
				t.features("fvssgp", start.name, factorized), t.stochastic(start.name, o, s.size(5000, 50), s.size(200, 100)))
		}
		return append(append(out, t.features("vssgp", keptStart, keptOptions)), t.references()...)
	})
}

// longStart is the paper's initialization with ten times as many steps.
const longStart = "paper, ten times the steps"

// audio4kFits returns the fits of the paper's trade-off between time and error, as a function of the number of
// features. sfVSSGP has 2K features: K for each of two components with the paper's initialization, or a cosine and a
// sine for each of K components with ours.
func audio4kFits(s *session) ([]fit, error) {
	set := audioSet{
		name: "audio4k", files: speech[1:2], n: s.size(4000, 1000), gaps: s.size(20, 5), gapLength: 40,
		counts: []int{50, 100, 200, 400, 800}, repeats: 5,
	}
	if s.Quick {
		set.counts = []int{5, 10, 20}
	}
	steps, batch := s.size(500, 60), s.size(512, 200)
	return s.audioFits(set, func(t *task, _ bool) []fit {
		paper := paperAudio(t.key.K)
		ours := vssgp.Options{Init: vssgp.InitSpectrum, Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}, Components: t.key.K,
			Features: 2}
		return []fit{
			t.stochastic(paperStart, paper, steps, batch), t.stochastic(spectrumStart, ours, steps, batch),
			t.stochastic(longStart, paper, 10*steps, batch),
		}
	})
}

// audio16kFits returns the fits of the paper's comparison with a sparse Gaussian process on mini-batches: sfVSSGP with
// the paper's initialization and with ours, and exact inference, which is feasible for 16000 samples because of the
// windows. With our initialization, sfVSSGP has either as many features as in the paper or the default number.
func audio16kFits(s *session) ([]fit, error) {
	set := audioSet{
		name: "audio16k", files: speech, n: s.size(16000, 1000), gaps: s.size(25, 3), gapLength: s.size(80, 40), counts: []int{0},
		repeats: 3,
	}
	few := keptOptions
	few.Windows.Length, few.Components, few.Features = float64(s.size(1024, 250)), s.size(13, 5), 2
	short, batch := s.size(1000, 20), s.size(512, 200)
	return s.audioFits(set, func(t *task, first bool) []fit {
		out := []fit{
			t.stochastic(paperStart, paperAudio(s.size(400, 20)), s.size(5000, 40), batch),
			t.stochastic("spectrum, few features", few, short, batch),
			t.stochastic("spectrum, few features, kept", few, vssgp.NoIterations, batch),
			t.stochastic("spectrum, windows", keptOptions, short, batch),
			t.stochastic(keptStart, keptOptions, vssgp.NoIterations, batch),
			t.features("vssgp", keptStart, keptOptions),
		}
		if first { // it takes minutes, and the paper has only one run
			out = append(out, t.svgp(s.size(800, 30), s.size(150, 5), batch))
		}
		fill := fillBy(restore.Options{Method: restore.VSSGP, Model: vssgp.Options{Seed: t.key.Seed}})
		return append(append(out, t.fill("impute", keptStart, fill)), t.references()...)
	})
}

// references returns the fills for comparison: silence, linear interpolation, and method ar of package restore. Silence
// also predicts the observed samples, so that its errors are the rms of the signal.
func (t *task) references() []fit {
	return []fit{
		t.fill("silence", "", fillZeros),
		t.fill("linear", "", fillLinear),
		t.fill("ar", "", fillBy(restore.Options{Method: restore.AR})),
	}
}

// paperAudio returns the paper's initialization for audio: two squared exponentials with length-scales of 2 and 10
// samples, and τ = 1000. The paper does not specify Σ. Here features extend over ten length-scales.
func paperAudio(features int) vssgp.Options {
	return vssgp.Options{
		Init: vssgp.InitPaper, Features: features, NoisePrecision: 1000,
		Paper: vssgp.PaperOptions{Lengthscales: []float64{2, 10}, FrequencyVariance: 0.01},
	}
}

// keptOptions initializes from the spectrum with windows and does not optimize.
var keptOptions = vssgp.Options{Init: vssgp.InitSpectrum, Iterations: vssgp.NoIterations,
	Windows: vssgp.WindowOptions{Length: vssgp.WindowAuto}}

// stochastic returns the fit of sfVSSGP with the given options, steps, and rows per mini-batch.
func (t *task) stochastic(start string, o vssgp.Options, steps, batch int) fit {
	o.Inference, o.Iterations, o.Batch.Rows = vssgp.Stochastic, steps, batch
	return t.features("sfvssgp", start, o)
}

// svgp returns the fit of the sparse Gaussian process on mini-batches, with the same initial covariance and noise as
// sfVSSGP.
func (t *task) svgp(inducing, steps, batch int) fit {
	const rate = 0.1 // Adam's learning rate; larger than usual because there are hundreds of steps instead of thousands
	p := paperAudio(0)
	return t.model("svgp", paperStart, func(report func(vssgp.Progress)) baselines.Method {
		return baselines.SVGP{Inducing: inducing, Batch: batch, Rate: rate, Seed: t.key.Seed, Progress: report, Options: baselines.Options{
			Covariance: baselines.SE(p.Paper.Lengthscales...), NoisePrecision: p.NoisePrecision, Iterations: steps,
		}}
	})
}
