package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/spectral"
)

// sizes say how large a made problem is.
type sizes struct {
	N, Q, D  int     // rows, inputs, outputs
	Features int     // in each window; in all where there are none
	Window   float64 // length in samples; 0: none
	Uneven   bool    // rows are jittered off the grid
	Seed     uint64
}

// leastWindow is the shortest window, in samples: shorter ones would hold
// hardly a row.
const leastWindow = 4

func (s sizes) check() error {
	switch {
	case s.N < 1 || s.Q < 1 || s.D < 1 || s.Features < 1:
		return fmt.Errorf("%d rows, %d inputs, %d outputs, %d features: want at least one of each", s.N, s.Q, s.D, s.Features)
	case s.Window != 0 && !(s.Window >= leastWindow && s.Window <= float64(s.N)):
		return fmt.Errorf("-window %v: want 0 for none, or %d samples to the %d there are", s.Window, leastWindow, s.N)
	}
	return nil
}

// A problem is data and a model to evaluate on them.
type problem struct {
	sizes
	data  *vssgp.Data
	model *vssgp.Model
}

const (
	tones     = 8   // sinusoids in each made output
	toneNoise = 0.1 // standard deviation of what is added to them
	jitter    = 0.3 // of a sample, where rows are uneven
	highest   = 0.4 // frequency, in cycles per sample
)

// build makes the problem of a seed: sinusoids with noise at x = 0, 1, 2, …
// in samples, in the model's own units, and features all along them. Further
// inputs are drawn over the range of the first. Nothing depends on the machine.
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
	frequency, phase := uniform(rng, tones*s.D, 0, highest), uniform(rng, tones*s.D, 0, 2*math.Pi)
	for n := range s.N {
		for o := range s.D {
			y := toneNoise * rng.NormFloat64()
			for t := o * tones; t < (o+1)*tones; t++ {
				y += math.Sin(2*math.Pi*frequency[t]*d.X[n*s.Q]+phase[t]) / math.Sqrt(tones/2)
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

// mostComponents is how many components a window has at most.
const mostComponents = 16

// components divides the features of a window.
func (s sizes) components() int {
	l := min(mostComponents, s.Features)
	for s.Features%l != 0 {
		l--
	}
	return l
}

// windows are the model's, and the range of the first input that a window's
// features have.
func (s sizes) windows() (w spectral.Windows, reach float64) {
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

// params are the model of a made problem, such as a fit of audio has: in each
// window, or in all, some components with length-scales of a few samples and
// frequencies up to the highest; features that live over a good part of the
// window; uniform phases of every width, so that no term of the bound vanishes.
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
			sd := p.Lengthscale[i*s.Q+q] / (over * (0.25 + 0.75*rng.Float64()))
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

func uniform(rng *rand.Rand, n int, lo, hi float64) []float64 {
	a := make([]float64, n)
	for i := range a {
		a[i] = lo + (hi-lo)*rng.Float64()
	}
	return a
}

// A work is the floating-point operations of each pass over the rows.
type work struct {
	Moments    float64 `json:"moments,omitempty"`    // Σ_runs n·m² + 2·n·m·D
	Pullback   float64 `json:"pullback,omitempty"`   // Σ_runs 2·n·m²
	Factorised float64 `json:"factorised,omitempty"` // Σ_runs n·m·(6·D + 8·Q + 22)
	Predict    float64 `json:"predict,omitempty"`    // Σ_runs 2·n·m² + 2·n·m·D
	Algebra    float64 `json:"algebra,omitempty"`    // of windows: factor and stored blocks of the inverse
	products   float64 // Σ_runs n·m², of Moments
}

// work counts the passes of an inference by the formulas of package cost. A run
// is a stretch of n rows that meet the same m features: all of them without
// windows.
func (p *problem) work(inference string) work {
	offset := p.model.Params.Features().Offsets()
	d, q := float64(p.D), float64(p.Q)
	var w work
	if inference == "exact" && len(offset) > 2 {
		w.Algebra = cost.Factor(offset) + cost.Inverse(offset)
	}
	for _, r := range p.model.Params.Windows.NewLayout(p.data.X, p.N, p.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		switch inference {
		case "exact":
			w.Moments += cost.Moments(n, m, d)
			w.products += cost.Products(n, m)
			w.Pullback += cost.Pullback(n, m)
		case "factorised":
			w.Factorised += cost.Factorised(n, m, q, d)
		case "predict":
			w.Predict += cost.Predict(n, m, d)
		}
	}
	return w
}

// total is of the passes: where the host does the algebra it is time, not work.
func (w work) total() float64 { return w.Moments + w.Pullback + w.Factorised + w.Predict }
