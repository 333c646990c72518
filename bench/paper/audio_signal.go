package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/score"
)

// signalRMS is what a signal is scaled to.
const signalRMS = 0.1

// A recording is the first channel of an audio file.
type recording struct {
	file, sum string
	rate      int
	samples   []float64
}

// A signal is a stretch of a recording, scaled to rms 0.1.
type signal struct {
	name      string // of the file without its ending, and the first sample's place: speech@9000
	file, sum string
	rate      int
	start     int // place of the first sample in the recording
	y         []float64
}

// recording reads an audio file from the folder of data; a quick run reads the
// speech of testdata whatever the name.
func (s *session) recording(name string) (*recording, error) {
	path, sum, err := s.file(name, "speech.wav")
	if err != nil {
		return nil, err
	}
	r, err := audio.Open(path)
	if err != nil {
		return nil, err
	}
	return &recording{file: filepath.Base(path), sum: sum, rate: r.Rate, samples: r.Samples[0]}, nil
}

// signals are the most voiced stretches of n samples, one of each recording; a
// quick run has one.
func (s *session) signals(n int, names ...string) ([]*signal, error) {
	if s.Quick {
		names = names[:1]
	}
	var out []*signal
	for _, name := range names {
		r, err := s.recording(name)
		if err != nil {
			return nil, err
		}
		g, err := r.at(r.voiced(n), n)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// voiced is where the most periodic stretch of n samples starts of those as
// loud as the recording: a vowel or a note where n is a thousand, as the paper's
// must be. In an utterance's loudest stretch, a burst of noise, nothing fills
// anything. No method is asked.
func (r *recording) voiced(n int) int {
	level := score.RMS(r.samples)
	return r.most(n, func(x []float64) float64 {
		if score.RMS(x) < level {
			return -1
		}
		return periodicity(x, r.rate/maxPitch, r.rate/minPitch)
	})
}

// minPitch and maxPitch bound a voice's or an instrument's pitch in hertz.
const (
	minPitch = 70
	maxPitch = 500
)

// most is where the stretch of n samples starts that has the most of
// something, of those that start at multiples of n/2.
func (r *recording) most(n int, of func(x []float64) float64) int {
	best, at := math.Inf(-1), 0
	for i := 0; i+n <= len(r.samples); i += max(1, n/2) {
		if v := of(r.samples[i : i+n]); v > best {
			best, at = v, i
		}
	}
	return at
}

// periodicity is the largest correlation of x with itself lo to hi samples
// later, 1 for a periodic signal.
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

// at is the stretch of n samples that starts at a place.
func (r *recording) at(start, n int) (*signal, error) {
	if start < 0 || n <= 0 || start+n > len(r.samples) {
		return nil, fmt.Errorf("%s: a stretch of %d samples from %d on, want one inside its %d", r.file, n, start, len(r.samples))
	}
	level := score.RMS(r.samples[start : start+n])
	if level == 0 {
		return nil, fmt.Errorf("%s: silence in the %d samples from %d on, want a sound", r.file, n, start)
	}
	name := strings.TrimSuffix(r.file, filepath.Ext(r.file))
	g := &signal{name: fmt.Sprintf("%s@%d", name, start), file: r.file, sum: r.sum, rate: r.rate, start: start, y: make([]float64, n)}
	for i := range g.y {
		g.y[i] = signalRMS / level * r.samples[start+i]
	}
	return g, nil
}

// gaps draws count gaps of a length, one in each of count equal cells, at
// random but half a length from the cell's ends at least: so far, too, from
// the ends of the signal, and a length from each other.
func (g *signal) gaps(seed uint64, count, length int) ([]audio.Gap, error) {
	n, margin := len(g.y), (length+1)/2
	if length < 1 || count < 1 || n/count < length+2*margin {
		return nil, fmt.Errorf("%d gaps of %d in %d samples: want a gap in each %d at least", count, length, n, length+2*margin)
	}
	const salt = 0x9a95 // tells this random stream from the fits'
	rng := rand.New(rand.NewPCG(seed, salt))
	var out []audio.Gap
	for i := range count {
		lo, hi := i*n/count+margin, (i+1)*n/count-margin-length
		at := lo + rng.IntN(hi-lo+1)
		out = append(out, audio.Gap{Start: at, End: at + length})
	}
	return out, nil
}

// observed are the samples outside the gaps, x counting samples from 0.
func (g *signal) observed(gaps []audio.Gap) (*vssgp.Data, error) {
	var x, y []float64
	for i, missing := range audio.Mask(gaps, len(g.y)) {
		if !missing {
			x, y = append(x, float64(i)), append(y, g.y[i])
		}
	}
	return vssgp.NewData(column(x), column(y))
}

// grid is the place of every sample, 0, 1, 2, …
func (g *signal) grid() []float64 {
	x := make([]float64, len(g.y))
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

// line begins the line of a fit to the signal with these gaps.
func (g *signal) line(k Key, gaps []audio.Gap) Line {
	k.Case = g.name
	return Line{Key: k, Data: g.file, SHA256: g.sum, N: len(g.y) - audio.Missing(gaps)}
}

// score takes into a line how well a fit over all samples does, mean and, if
// it has one, the standard deviation of a sample; silence's scores beside it.
// Observed samples for which a fit says nothing (NaN) do not count.
func (g *signal) score(l *Line, gaps []audio.Gap, mean, sd []float64) {
	n := len(g.y)
	missing, observed, said, silence := audio.Mask(gaps, n), make([]bool, n), make([]bool, n), make([]float64, n)
	for i, out := range missing {
		observed[i] = !out
		said[i] = !out && !math.IsNaN(mean[i])
	}
	l.Scores = map[Score]float64{
		TrainRMSE: audio.RMSE(g.y, mean, said),
		TestRMSE:  audio.RMSE(g.y, mean, missing),
		TrainSTFT: audio.STFTRMSE(g.y, mean, said, g.rate),
		TestSTFT:  audio.STFTRMSE(g.y, mean, missing, g.rate),
		ZeroTrain: audio.STFTRMSE(g.y, silence, observed, g.rate),
		ZeroTest:  audio.STFTRMSE(g.y, silence, missing, g.rate),
		ZeroRMSE:  audio.RMSE(g.y, silence, missing),
		SNR:       audio.SNR(g.y, mean, missing),
	}
	// Other samples as they are: only the gaps' frames tell.
	filled := make([]float64, n)
	var in, sdIn, yIn []float64
	for i, v := range g.y {
		filled[i] = v
		if !missing[i] {
			continue
		}
		filled[i] = mean[i]
		if sd != nil {
			in, sdIn, yIn = append(in, mean[i]), append(sdIn, sd[i]), append(yIn, v)
		}
	}
	l.Scores[LSD] = audio.LogSpectralDistance(g.y, filled, missing, g.rate)
	if sd != nil {
		l.Scores[Coverage], l.Scores[NLPD] = score.Coverage(in, sdIn, yIn), score.NLPD(in, sdIn, yIn)
	}
}
