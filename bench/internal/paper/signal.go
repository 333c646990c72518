package paper

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/baselines"
	"github.com/vssgp/vssgp/internal/bayes"
)

// A signal is the first channel of a recording or an excerpt of it, with gaps. Its name is the file name without
// extension, followed for an excerpt by the index of its first sample, as in speech@9000.
type signal struct {
	Name string
	Rate int // samples per second
	Y    []float64
	Gaps []audio.Gap
	Source
}

// excerptLevel is the rms to which excerpts are scaled.
const excerptLevel = 0.1

// recording reads an audio file from the folder of data. A quick run always reads speech.wav in testdata.
func (s *session) recording(name string) (*signal, error) {
	path, from, err := s.file(name, "speech.wav")
	if err != nil {
		return nil, err
	}
	r, err := audio.Open(path)
	if err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(from.Data, filepath.Ext(from.Data))
	return &signal{Name: stem, Rate: r.Rate, Y: r.Samples[0], Source: from}, nil
}

// voiced returns the start of the most periodic excerpt of n samples, among those with at least the rms of the
// recording. For n = 1000 it is a vowel or a note, as the paper's excerpt must be. The loudest excerpt of an utterance
// would be a burst of noise, which no method can fill. The choice does not depend on any method.
func (g *signal) voiced(n int) int {
	level := bayes.RMS(g.Y)
	return g.most(n, func(x []float64) float64 {
		if bayes.RMS(x) < level {
			return -1
		}
		return periodicity(x, g.Rate/maxPitch, g.Rate/minPitch)
	})
}

// minPitch and maxPitch are the limits of the pitch in hertz.
const (
	minPitch = 70
	maxPitch = 500
)

// most returns the start of the excerpt of n samples that maximizes of, among those that start at multiples of n/2.
func (g *signal) most(n int, of func(x []float64) float64) int {
	best, at := math.Inf(-1), 0
	for i := 0; i+n <= len(g.Y); i += max(1, n/2) {
		if v := of(g.Y[i : i+n]); v > best {
			best, at = v, i
		}
	}
	return at
}

// periodicity returns the maximum of the autocorrelation of x at lags from lo to hi samples. It is 1 for a periodic
// signal.
func periodicity(x []float64, lo, hi int) float64 {
	best := -1.0
	for lag := lo; lag <= min(hi, len(x)-2); lag++ {
		a, b := x[:len(x)-lag], x[lag:]
		if s := floats.Dot(a, a) * floats.Dot(b, b); s > 0 {
			best = max(best, floats.Dot(a, b)/math.Sqrt(s))
		}
	}
	return best
}

// at returns the excerpt of n samples from start on, scaled to excerptLevel.
func (g *signal) at(start, n int) (*signal, error) {
	if start < 0 || n <= 0 || start+n > len(g.Y) {
		return nil, fmt.Errorf("%s: excerpt of %d samples from sample %d on exceeds the recording of %d samples", g.Data, n, start, len(g.Y))
	}
	x := g.Y[start : start+n]
	level, y := bayes.RMS(x), make([]float64, n)
	if level == 0 {
		return nil, fmt.Errorf("%s: %d samples from sample %d on are silent", g.Data, n, start)
	}
	floats.ScaleTo(y, excerptLevel/level, x)
	return &signal{Name: fmt.Sprintf("%s@%d", g.Name, start), Rate: g.Rate, Y: y, Source: g.Source}, nil
}

// drawGaps draws count gaps of length samples, one in each of count equal cells. Each gap is at a random position, at
// least half a length from the ends of its cell. Gaps are therefore at least one length apart.
func (g *signal) drawGaps(seed uint64, count, length int) ([]audio.Gap, error) {
	n, margin := len(g.Y), (length+1)/2
	if length < 1 || count < 1 || n/count < length+2*margin {
		return nil, fmt.Errorf("%d gaps of %d samples in %d samples: there must be at least %d samples per gap", count, length, n, length+2*margin)
	}
	const salt = 0x9a95 // distinguishes this random stream from the streams of the fits
	rng := rand.New(rand.NewPCG(seed, salt))
	var out []audio.Gap
	for i := range count {
		lo, hi := i*n/count+margin, (i+1)*n/count-margin-length
		at := lo + rng.IntN(hi-lo+1)
		out = append(out, audio.Gap{Start: at, End: at + length})
	}
	return out, nil
}

// traces returns the samples outside the gaps and the samples in the gaps. x is the index of a sample.
func (g *signal) traces() (observed, missing *Trace) {
	return (&Trace{g.grid(), g.Y}).split(g.missing())
}

// fit fits a model to the samples outside the gaps and predicts all samples.
func (g *signal) fit(ctx context.Context, m baselines.Method) (*baselines.Fit, *Curve, error) {
	observed, _ := g.traces()
	f, err := observed.fit(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	c, err := predict(ctx, f.Model, g.grid())
	return f, c, err
}

// grid returns the indices of all samples: 0, 1, 2, …
func (g *signal) grid() []float64 { return grid(0, float64(len(g.Y)-1), 1) }

// score adds the scores of a fill and of predicting 0 to a line. Observed samples without a prediction (NaN) are
// ignored.
func (g *signal) score(l *Line, f *filling) {
	n, missing := len(g.Y), g.missing()
	observed, predicted, silence := make([]bool, n), make([]bool, n), make([]float64, n)
	for i, out := range missing {
		observed[i] = !out
		predicted[i] = !out && !math.IsNaN(f.Mean[i])
	}
	if l.Scores == nil {
		l.Scores = map[Score]float64{}
	}
	maps.Copy(l.Scores, map[Score]float64{
		TrainRMSE: audio.RMSE(g.Y, f.Mean, predicted),
		TestRMSE:  audio.RMSE(g.Y, f.Mean, missing),
		TrainSTFT: audio.STFTRMSE(g.Y, f.Mean, predicted, g.Rate),
		TestSTFT:  audio.STFTRMSE(g.Y, f.Mean, missing, g.Rate),
		ZeroTrain: audio.STFTRMSE(g.Y, silence, observed, g.Rate),
		ZeroTest:  audio.STFTRMSE(g.Y, silence, missing, g.Rate),
		ZeroRMSE:  audio.RMSE(g.Y, silence, missing),
		SNR:       audio.SNR(g.Y, f.Mean, missing),
	})
	if coverage, nlpd, ok := g.intervals(f); ok {
		l.Scores[Coverage], l.Scores[NLPD] = coverage, nlpd
	}
}
