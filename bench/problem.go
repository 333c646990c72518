package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// sizes describes a synthetic problem.
type sizes struct {
	N, Q, D  int     // rows, inputs, outputs
	Features int     // features in each window, or in total without windows
	Window   float64 // length of the windows in samples; 0: no windows
	Map      bool    // the two inputs have the same range and frequencies, which do not depend on the number of rows
	Uneven   bool    // rows are jittered off the grid, or scattered over a map
	Fitted   bool    // features extend over all rows, and half of them have low frequencies
	Short    float64 // share of the features that reach over 1/20 of the rows, or of a window
	Seed     uint64
}

// minWindow is the minimum length of a window in samples. Shorter windows would have very few rows.
const minWindow = 4

func (s *sizes) flags(set *flag.FlagSet, n, features int, seed uint64) {
	s.Q, s.D = 1, 1
	set.IntVar(&s.N, "n", n, "number of rows")
	set.IntVar(&s.Features, "features", features, "number of features, or with windows the number in each window")
	set.Float64Var(&s.Window, "window", 0, "length of the windows in samples; 0: no windows")
	set.BoolVar(&s.Uneven, "uneven", false, "jitter the rows off the even grid; scatter the rows of a map")
	set.Uint64Var(&s.Seed, "seed", seed, "random seed of the synthetic problem")
}

func (s sizes) check() error {
	return cmp.Or(
		demand(!s.Map || s.Q == 2 && s.Window == 0, "a map has two inputs and no windows"),
		demand(min(s.N, s.Q, s.D, s.Features) >= 1, "%d rows, %d inputs, %d outputs, %d features: each must be at least 1",
			s.N, s.Q, s.D, s.Features),
		demand(s.Short >= 0 && s.Short <= 1, "-short %v: must be from 0 to 1", s.Short),
		demand(s.Window == 0 || s.Window >= minWindow && s.Window <= float64(s.N),
			"-window %v: must be from %d to %d samples, or 0 for no windows", s.Window, minWindow, s.N))
}

// A problem consists of data and a model to evaluate on them.
type problem struct {
	sizes
	data  *vssgp.Data
	model *vssgp.Model
}

const (
	tones     = 8    // number of sinusoids in each output
	toneNoise = 0.1  // standard deviation of the noise added to them
	jitter    = 0.3  // maximum shift of uneven rows, in samples
	highest   = 0.4  // highest frequency, in cycles per sample
	low       = 0.05 // upper limit of the low frequencies of Fitted, in cycles per sample
	cut       = 16   // number of standard deviations over which a short feature reaches, so that it is negligible elsewhere
	mapCycles = 40   // highest frequency of each input of a map, in cycles over its range
)

// span returns the length of the range of each input. The rows of a map are one per unit of area, as a series has one
// row per sample.
func (s sizes) span() float64 {
	if s.Map {
		return math.Ceil(math.Sqrt(float64(s.N)))
	}
	return float64(s.N)
}

// highest returns the highest frequency, in cycles per sample.
func (s sizes) highest() float64 {
	if s.Map {
		return min(highest, mapCycles/s.span())
	}
	return highest
}

// build returns the problem of the seed, in the model's units. The outputs are sinusoids with noise at x = 0, 1, 2, …
// samples. The features cover the whole range. Further inputs are drawn uniformly over the range of the first. The rows
// of a map are on a square grid, or scattered uniformly over the square. The problem does not depend on the machine.
func (s sizes) build() (*problem, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	d := &vssgp.Data{N: s.N, Q: s.Q, D: s.D, X: make([]float64, s.N*s.Q), Y: make([]float64, s.N*s.D)}
	for n := range s.N {
		s.place(d.X[n*s.Q:(n+1)*s.Q], n, rng)
	}
	waves := 1 // inputs along which the outputs vary
	if s.Map {
		waves = 2
	}
	tone := make([][2]float64, tones*s.D*waves) // frequency and phase
	for i := range tone {
		tone[i][0] = s.highest() * rng.Float64()
	}
	for i := range tone {
		tone[i][1] = 2 * math.Pi * rng.Float64()
	}
	for n := range s.N {
		for o := range s.D {
			y := toneNoise * rng.NormFloat64()
			for wave := range slices.Chunk(tone[o*tones*waves:(o+1)*tones*waves], waves) {
				angle := 0.0
				for q, t := range wave {
					angle += 2*math.Pi*t[0]*d.X[n*s.Q+q] + t[1]
				}
				y += math.Sin(angle) / math.Sqrt(tones/2)
			}
			d.Y[n*s.D+o] = y
		}
	}
	m, err := vssgp.NewModel(s.params(rng))
	if err != nil {
		return nil, err
	}
	return &problem{sizes: s, data: d, model: m}, nil
}

// place sets the inputs of row n.
func (s sizes) place(x []float64, n int, rng *rand.Rand) {
	side := int(s.span())
	switch {
	case s.Map && s.Uneven:
		x[0], x[1] = s.span()*rng.Float64(), s.span()*rng.Float64()
		return
	case s.Map:
		x[0], x[1] = float64(n/side), float64(n%side)
		return
	}
	x[0] = float64(n)
	if s.Uneven {
		x[0] += jitter * (2*rng.Float64() - 1)
	}
	for q := 1; q < s.Q; q++ {
		x[q] = s.span() * rng.Float64()
	}
}

// components returns the number of components in each window. It is at most 16 and divides the number of features.
func (s sizes) components() int {
	l := min(16, s.Features)
	for s.Features%l != 0 {
		l--
	}
	return l
}

// windows returns the model's windows and the length of the interval of the first input over which a window's features
// are spread.
func (s sizes) windows() (w backend.Windows, reach float64) {
	if s.Window == 0 {
		return w, s.span()
	}
	w.Length = s.Window
	for c := 0.0; ; c += s.Window / 2 {
		w.Center = append(w.Center, c)
		if c >= float64(s.N-1) {
			return w, s.Window
		}
	}
}

// params returns the parameters of a synthetic problem, which are similar to a fit of audio. The components of each
// window have length-scales of 10 to 30 samples and frequencies up to highest. The features extend over at least a
// quarter of the window. The phases are uniform on intervals of various widths, so that no term of the bound vanishes.
// With Fitted, the parameters are similar to a fit without windows: features extend over 1 to 10 times the range of the
// rows, and half of the components have frequencies up to low. Short features reach over 1/20 of the range.
//
// The features of a map have length-scales of 0.1 to 0.3 ranges and frequencies up to mapCycles in each input. With
// Fitted, they are in pairs of the same frequency and location, as the cosines and sines of a default fit.
func (s sizes) params(rng *rand.Rand) *vssgp.Params {
	w, reach := s.windows()
	each := s.components()
	p := vssgp.NewParams(w.Count()*each, s.Features/each, s.Q, s.D)
	p.Windows = w
	for i := range p.L {
		if s.Window > 0 {
			p.ComponentWindow = append(p.ComponentWindow, i/each)
		}
		p.Variance[i] = (1 + rng.Float64()) / float64(each)
		for q := range s.Q {
			p.Lengthscale[i*s.Q+q] = 10 + 20*rng.Float64()
			if s.Map {
				p.Lengthscale[i*s.Q+q] *= s.span() / 100
			}
		}
		s.frequency(p.Frequency[i*s.Q:(i+1)*s.Q], s.Fitted && i%2 == 0, rng)
	}
	for k := range p.M() {
		i, first := k/p.K, 0.0
		if s.Window > 0 {
			first = w.Center[i/each] - reach/2
		}
		for q := range s.Q {
			at, over := k*s.Q+q, s.span()
			if q == 0 {
				over = reach
			}
			p.Location[at] = over * rng.Float64()
			p.FreqMean[at] = rng.NormFloat64()
			part := rng.Float64()
			sd := p.Lengthscale[i*s.Q+q] / (over * (0.25 + 0.75*part))
			if s.Fitted {
				sd = p.Lengthscale[i*s.Q+q] / (over * (1 + 9*part))
			}
			p.FreqVar[at] = sd * sd
		}
		if s.Short > 0 && rng.Float64() < s.Short {
			sd := p.Lengthscale[i*s.Q] / (reach / 20 / cut)
			p.FreqVar[k*s.Q] = sd * sd
		}
		p.Location[k*s.Q] += first
		if s.Map && s.Fitted && k%p.K%2 == 1 {
			for _, a := range [][]float64{p.Location, p.FreqMean, p.FreqVar} {
				copy(a[k*s.Q:(k+1)*s.Q], a[(k-1)*s.Q:])
			}
		}
		p.PhaseLower[k] = 2 * math.Pi * rng.Float64()
		p.PhaseUpper[k] = p.PhaseLower[k] + 0.2 + 2*rng.Float64()
	}
	p.NoisePrecision[0] = 1 / (toneNoise * toneNoise)
	for i := range p.CoefMean {
		p.CoefMean[i], p.CoefVar[i] = 0.1*rng.NormFloat64(), 0.01+0.1*rng.Float64()
	}
	return p
}

// frequency draws the frequency of a component. Only the first input has one, or both inputs of a map, with any sign.
func (s sizes) frequency(p []float64, isLow bool, rng *rand.Rand) {
	top := s.highest()
	p[0] = top * rng.Float64()
	if s.Map {
		p[1] = top * (2*rng.Float64() - 1)
	}
	for q := range p {
		if isLow {
			p[q] *= low / highest
		}
	}
}

// readSeries reads the first channel of a recording, or the first two columns of a table, which contain a number or
// date and a value. Rows without a value are left out.
func readSeries(path string) (*vssgp.Data, error) {
	d := &vssgp.Data{Q: 1, D: 1}
	if _, err := audio.ContainerOf(path); err == nil {
		r, err := audio.Open(path)
		if err != nil {
			return nil, err
		}
		d.Y = r.Samples[0]
		for n := range d.Y {
			d.X = append(d.X, float64(n)/float64(r.Rate))
		}
		d.N = len(d.X)
		return d, nil
	}
	t, err := matrix.Read(path)
	if err != nil {
		return nil, err
	}
	if t.Cols < 2 {
		return nil, fmt.Errorf("%s: the table has one column, must have two: times and values", path)
	}
	for row := range slices.Chunk(t.Data, t.Cols) {
		if !math.IsNaN(row[1]) {
			d.X, d.Y = append(d.X, row[0]), append(d.Y, row[1])
		}
	}
	d.N = len(d.X)
	return d, demand(d.N > 0, "%s: no row has a value of %s", path, t.Names[1])
}

// work returns the number of floating-point operations of the parts of an evaluation, without sines, cosines and
// exponentials. A run consists of n rows with the same m features. Without windows, there is one run with all rows.
// Accumulating is part of moments. It sums each entry of the symmetric E[ΦᵀΦ] once. For each row and feature, the
// factorized bound takes 2·d operations for the residual, 2·d for its product with the mean, 2·d for its product with
// the feature, 4 for the squares, and 18 plus 8 per input for the contraction with the feature's derivatives. The count
// of the algebra does not depend on the device.
func (p *problem) work(inference string) times {
	offset := p.model.Params.Features().Offsets()
	d, q := float64(p.D), float64(p.Q)
	w := times{}
	if inference == "exact" {
		w[algebra] = blocktri.Flops(offset)
	}
	for _, r := range p.model.Params.Windows.NewLayout(p.data.X, p.N, p.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		switch inference {
		case "exact":
			w[moments] += n*m*m + 2*n*m*d
			w[accumulating] += n * m * m
			w[pullback] += 2 * n * m * m
		case "factorized":
			w[factorized] += n * m * (6*d + 8*q + 22)
		case "predict":
			w[predicted] += 2*n*m*m + 2*n*m*d
		}
	}
	return w
}

// total returns the work of the passes over the rows, without the algebra.
func total(work times) float64 { return work.sum(moments, pullback, factorized, predicted) }

// write writes the problem, its bound and its gradient to a folder, for peers. The files are problem.json, x.npy [N,Q],
// y.npy [N,D], and for each tensor of the model file NAME.npy and the bound's gradient gradient.NAME.npy.
func (p *problem) write(dir, inference string, e *vssgp.Evaluation) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var failed error
	save := func(name string, shape []int, data []float64) {
		if failed == nil {
			failed = matrix.WriteNPY(filepath.Join(dir, name+".npy"), shape, data)
		}
	}
	save("x", []int{p.N, p.Q}, p.data.X)
	save("y", []int{p.N, p.D}, p.data.Y)
	m := p.model.Params
	var names []string
	for i, gradient := range e.Gradient.Tensors() {
		t := m.Tensors()[i]
		if len(*t.Data) == 0 { // the coefficients are not parameters of the exact bound
			continue
		}
		names = append(names, t.Name)
		save(t.Name, t.Shape, *t.Data)
		save("gradient."+t.Name, t.Shape, *gradient.Data)
	}
	terms := map[string]float64{}
	for _, t := range e.Terms {
		terms[t.Name] = t.Value
	}
	text, err := json.MarshalIndent(map[string]any{
		"n": p.N, "inputs": p.Q, "outputs": p.D, "components": m.L, "features_per_component": m.K, "features": m.M(),
		"windows": len(m.Windows.Center), "seed": p.Seed, "inference": inference, "device": p.model.Backend.Name(),
		"bound": e.Bound, "terms": terms, "tensors": names,
	}, "", "  ")
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "problem.json"), append(text, '\n'), 0o666)
}
