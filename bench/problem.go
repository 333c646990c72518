package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/table"
)

// sizes are the sizes of a synthetic problem.
type sizes struct {
	N, Q, D  int     // rows, inputs, outputs
	Features int     // in each window; without windows in all
	Window   float64 // length in samples; 0: none
	Uneven   bool    // rows are jittered off the grid
	Fitted   bool    // features reach over all rows, and half of them have low frequencies
	Seed     uint64
}

// leastWindow is the shortest window, in samples: shorter ones would have hardly a row.
const leastWindow = 4

func (s *sizes) flags(set *flag.FlagSet, n, features int, seed uint64) {
	s.Q, s.D = 1, 1
	set.IntVar(&s.N, "n", n, "rows")
	set.IntVar(&s.Features, "features", features, "features: in all, or in each window")
	set.Float64Var(&s.Window, "window", 0, "length of the windows in samples; 0: none")
	set.BoolVar(&s.Uneven, "uneven", false, "jitter the rows off the even grid")
	set.Uint64Var(&s.Seed, "seed", seed, "of the made problem")
}

func (s sizes) check() error {
	return cmp.Or(
		demand(min(s.N, s.Q, s.D, s.Features) >= 1, "%d rows, %d inputs, %d outputs, %d features: each must be at least 1",
			s.N, s.Q, s.D, s.Features),
		demand(s.Window == 0 || s.Window >= leastWindow && s.Window <= float64(s.N),
			"-window %v: must be 0 for none, or from %d to %d samples", s.Window, leastWindow, s.N))
}

// A problem is data and a model to evaluate on them.
type problem struct {
	sizes
	data  *vssgp.Data
	model *vssgp.Model
}

const (
	tones     = 8    // sinusoids in each made output
	toneNoise = 0.1  // standard deviation of the noise added to them
	jitter    = 0.3  // of a sample, where rows are uneven
	highest   = 0.4  // frequency, in cycles per sample
	low       = 0.05 // the highest of the low frequencies of Fitted
)

// build returns the problem of a seed: sinusoids with noise at x = 0, 1, 2, … in samples, in the model's units, and features over the whole
// range. Further inputs are drawn over the range of the first. Nothing depends on the machine.
func (s sizes) build() (*problem, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	d := &vssgp.Data{N: s.N, Q: s.Q, D: s.D, X: make([]float64, s.N*s.Q), Y: make([]float64, s.N*s.D)}
	for n := range s.N {
		d.X[n*s.Q] = float64(n)
		if s.Uneven {
			d.X[n*s.Q] += jitter * (2*rng.Float64() - 1)
		}
		for q := 1; q < s.Q; q++ {
			d.X[n*s.Q+q] = float64(s.N) * rng.Float64()
		}
	}
	tone := make([][2]float64, tones*s.D) // frequency and phase
	for i := range tone {
		tone[i][0] = highest * rng.Float64()
	}
	for i := range tone {
		tone[i][1] = 2 * math.Pi * rng.Float64()
	}
	for n := range s.N {
		for o := range s.D {
			y := toneNoise * rng.NormFloat64()
			for _, t := range tone[o*tones : (o+1)*tones] {
				y += math.Sin(2*math.Pi*t[0]*d.X[n*s.Q]+t[1]) / math.Sqrt(tones/2)
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

// components divides the features of a window.
func (s sizes) components() int {
	l := min(16, s.Features)
	for s.Features%l != 0 {
		l--
	}
	return l
}

// windows returns the model's windows, and the range of the first input over which the features of one are spread.
func (s sizes) windows() (w backend.Windows, reach float64) {
	if s.Window == 0 {
		return w, float64(s.N)
	}
	w.Length = s.Window
	for c := 0.0; ; c += s.Window / 2 {
		w.Center = append(w.Center, c)
		if c >= float64(s.N-1) {
			return w, s.Window
		}
	}
}

// params returns the model of a synthetic problem, similar to a fit of audio: in each window, or in total, some components with length-scales of a
// few samples and frequencies up to the highest; features that live over a good part of the window; uniform phases of every width, so that
// no term of the bound vanishes. Fitted ones are like the models that fits without windows end in: features reach over 1 to 10 times the
// range of the rows, and half of the components have frequencies up to low.
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
		}
		p.Frequency[i*s.Q] = highest * rng.Float64()
		if s.Fitted && i%2 == 0 {
			p.Frequency[i*s.Q] *= low / highest
		}
	}
	for k := range p.M() {
		i, first := k/p.K, 0.0
		if s.Window > 0 {
			first = w.Center[i/each] - reach/2
		}
		for q := range s.Q {
			at, over := k*s.Q+q, float64(s.N)
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
		p.Location[k*s.Q] += first
		p.PhaseLower[k] = 2 * math.Pi * rng.Float64()
		p.PhaseUpper[k] = p.PhaseLower[k] + 0.2 + 2*rng.Float64()
	}
	p.NoisePrecision[0] = 1 / (toneNoise * toneNoise)
	for i := range p.CoefMean {
		p.CoefMean[i], p.CoefVar[i] = 0.1*rng.NormFloat64(), 0.01+0.1*rng.Float64()
	}
	return p
}

// readSeries reads the first channel of a recording, or the first two columns of a table: a number or date, and a value. Rows without
// a value are left out.
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
	file, err := table.At(path)
	if err != nil {
		return nil, err
	}
	t, err := table.Read(context.Background(), file)
	if err != nil {
		return nil, err
	}
	if t.Cols < 2 {
		return nil, fmt.Errorf("%s: the table has one column, must have two: times and values", path)
	}
	_, x, err := t.Input(0, nil)
	if err != nil {
		return nil, err
	}
	y, err := t.Numbers(1)
	if err != nil {
		return nil, err
	}
	for n, v := range y {
		if !math.IsNaN(v) {
			d.X, d.Y = append(d.X, x[n]), append(d.Y, v)
		}
	}
	d.N = len(d.X)
	return d, demand(d.N > 0, "%s: no row has a value of %s", path, t.Names[1])
}

// work counts the floating-point operations of the parts of an evaluation; sines, cosines and exponentials come on top. A run is n rows
// with the same m features: without windows, all rows. Accumulating is a part of moments: each entry of E[ΦᵀΦ] is summed once for
// its two places. The factorized bound takes for each feature that a row meets the residual 2·d, its product with the mean 2·d and with the
// feature 2·d, the squares 4, the contraction with the feature's derivatives 18 and 8 for each input. The algebra counts the same wherever
// it runs.
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
		case "factorised":
			w[factorized] += n * m * (6*d + 8*q + 22)
		case "predict":
			w[predicted] += 2*n*m*m + 2*n*m*d
		}
	}
	return w
}

// total is the work of the passes: the host's algebra is time, not work.
func total(work times) float64 { return work.sum(moments, pullback, factorized, predicted) }

// write puts the problem, its bound and its gradient into a folder, for peers: problem.json, x.npy [N,Q], y.npy [N,D], NAME.npy for
// each tensor of the model file and gradient.NAME.npy for the bound's gradient by it.
func (p *problem) write(dir, inference string, e *vssgp.Evaluation) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var failed error
	save := func(name string, shape []int, data []float64) {
		if failed == nil {
			failed = fileio.Write(filepath.Join(dir, name+".npy"), func(w io.Writer) error { return table.WriteNPY(w, shape, data) })
		}
	}
	save("x", []int{p.N, p.Q}, p.data.X)
	save("y", []int{p.N, p.D}, p.data.Y)
	m := p.model.Params
	var names []string
	for i, gradient := range e.Gradient.Tensors() {
		t := m.Tensors()[i]
		if len(*t.Data) == 0 { // coefficients, which a fit of the exact bound has elsewhere
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
