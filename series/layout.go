package series

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
)

// A Prior is the log-normal prior of a positive hyper-parameter θ: log θ ~ N(log Median, SD²). The zero value is a weak prior chosen from
// the data.
type Prior struct {
	Median float64 // of θ, in the data's units
	SD     float64 // of log θ
}

// Check reports a prior that is not proper.
func (p Prior) Check() error { return bayes.Prior(p).Check() }

// A Part is one of the terms whose sum is the series: Constant, Slope, SmoothTrend, RandomWalk, ShortMemory, Season or Noise.
type Part interface {
	// name says which part it is, for reports and model files.
	name() string
	// given are the priors that its fields can set.
	given() []Prior
	// lay adds the part's features and hyper-parameters to a layout.
	lay(l *layout)
}

// A layout is the features of all parts and the amplitudes that hyper-parameters give them. Frequencies are in cycles per step.
type layout struct {
	frame  *frame
	reach  float64 // R, in steps: what the features are laid out on
	wander float64 // R and a little: the walks' expansion is exact inside
	memory int     // the most frequencies of the short memory
	sines  int     // of the random walk, over a range of the data
	peak   func(f float64) float64

	parts  []Part
	blocks []block
	names  []string      // [θ]
	priors []bayes.Prior // [θ] in the model's units
	most   []float64     // [θ] logarithms that are not exceeded
	noise  int           // which θ is the noise's sd; −1: none

	part int // that is being laid
}

// A block is features under the same hyper-parameters: a cosine, or a cosine and a sine, at each frequency.
type block struct {
	part   int
	amp    amplitude
	cos    []float64 // frequencies; 0: the constant
	offset []float64 // of each frequency from its carrier; nil: there is no carrier
	start  bool      // phases count from the first row, and there are cosines (or sines) only
	sine   bool      // with start: sines
	line   bool      // the slope, a single sine
	nested bool      // the last block, of which fewer features may be taken

	lo, hi int // its features
}

// An amplitude is d_k = exp(v_sd)·factor·shape(f, exp(v_length), exp(v_quality)). Indices are −1 where there is no such hyper-parameter.
type amplitude struct {
	sd, length, quality int
	factor              float64
	walk                func(c float64) float64 // of a walk's c = π(j − ½)
	shape               func(f, length, quality float64) (value float64, by slope)
}

// A slope is the derivative of log d_k by the logarithms of its block's length and quality.
type slope struct{ length, quality float64 }

func fixed(a float64) amplitude { return amplitude{sd: -1, length: -1, quality: -1, factor: a} }

// newLayout lays ordered parts out, up to where there are more than most features (0: any number).
func newLayout(f *frame, parts []Part, reach float64, memory, sines, most int, peak func(float64) float64) *layout {
	l := &layout{frame: f, reach: reach, wander: 1.02 * reach, memory: memory, sines: sines, peak: peak, parts: parts, noise: -1}
	for i, p := range parts {
		l.part = i
		if p.lay(l); most > 0 && l.features() > most {
			break
		}
	}
	return l
}

// period is the length P that the lines of a spectrum are 1/P apart for.
func (l *layout) period() float64 { return 1.6 * l.reach }

// epsilon is the angular frequency of the slope's sine: a line but for 2e-5 of it. A smaller one would cost digits of G.
func (l *layout) epsilon() float64 { return 1e-2 / l.reach }

// features is M.
func (l *layout) features() int {
	if len(l.blocks) == 0 {
		return 0
	}
	return l.blocks[len(l.blocks)-1].hi
}

func (l *layout) add(b block) {
	b.part, b.lo = l.part, l.features()
	n := len(b.cos)
	switch {
	case b.line:
		n = 1
	case !b.start && !(n == 1 && b.cos[0] == 0):
		n *= 2
	}
	b.hi = b.lo + n
	l.blocks = append(l.blocks, b)
}

// walkSines is the number of sines (cosines) of a walk over a range of the data, and wildSines that of a walk in logarithms whose standard
// deviation is above 1: with fewer its evidence is too small compared with a short memory's, and 95 % bands of exponential random walks
// contain 86 % instead of 92 %. Other series are forecast better with walkSines (docs/experiments.md, "Random walks").
const (
	walkSines = 30
	wildSines = 60
)

// walk adds the cosines or sines of a walk's Karhunen–Loève expansion on [0, wander], none faster than a step shows.
func (l *layout) walk(sine bool, count int, a amplitude, factor func(c float64) float64) {
	b := block{amp: a, start: true, sine: sine}
	b.amp.walk = factor
	most := math.Ceil(float64(count) * l.reach / l.frame.Range)
	if count > walkSines {
		most = max(min(most, l.wander), math.Ceil(walkSines*l.reach/l.frame.Range))
	}
	for j := 1; j <= int(most); j++ {
		b.cos = append(b.cos, (float64(j)-0.5)/(2*l.wander))
	}
	l.add(b)
}

// parameter adds a hyper-parameter with a prior in the model's units, unless there is one of that name.
func (l *layout) parameter(name string, p Prior) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	l.names, l.priors, l.most = append(l.names, name), append(l.priors, bayes.Prior(p)), append(l.most, math.Inf(1))
	return len(l.names) - 1
}

// amplitude adds a hyper-parameter in units of the output, whose prior is given in the data's units or left to the default.
func (l *layout) amplitude(name string, given, usual Prior) amplitude {
	if given.Median != 0 {
		usual = Prior{Median: given.Median / l.frame.Scale[0], SD: given.SD}
	}
	return amplitude{sd: l.parameter(name, usual), length: -1, quality: -1, factor: 1}
}

// lengthscale adds a hyper-parameter in units of the input.
func (l *layout) lengthscale(name string, given, usual Prior) int {
	if given.Median != 0 {
		usual = Prior{Median: given.Median / l.frame.Step, SD: given.SD}
	}
	return l.parameter(name, usual)
}

// spectral returns all features at unit amplitude.
func (l *layout) spectral() *backend.Features {
	f := backend.NewFeatures(l.features(), 1)
	for k := range f.M {
		f.Amp[k], f.Power[k], f.Ripple[k] = 1, 0.5, 0.5
	}
	middle := l.frame.Range / 2
	for _, b := range l.blocks {
		k := b.lo
		put := func(freq, center, phase float64) {
			f.Freq[k], f.Center[k], f.Phase[k] = 2*math.Pi*freq, center, phase
			k++
		}
		switch {
		case b.line:
			epsilon := l.epsilon()
			put(epsilon/(2*math.Pi), middle, -math.Pi/2)
			a := 1 / (epsilon * l.frame.Range)
			f.Amp[b.lo], f.Power[b.lo], f.Ripple[b.lo] = a, a*a/2, a*a/2
		case b.start && b.sine:
			for _, c := range b.cos {
				put(c, 0, -math.Pi/2)
			}
		case b.start:
			for _, c := range b.cos {
				put(c, 0, 0)
			}
		default:
			for _, c := range b.cos {
				put(c, middle, 0)
				if k < b.hi {
					put(c, middle, -math.Pi/2)
				}
			}
		}
	}
	return f
}

// amplitudes fills d [M] and, if slopes is not nil, the derivatives of log d.
func (l *layout) amplitudes(d, v []float64, slopes []slope) {
	value := func(i int) float64 {
		if i < 0 {
			return 0
		}
		return math.Exp(v[i])
	}
	for _, b := range l.blocks {
		a, scale := b.amp, b.amp.factor
		if a.sd >= 0 {
			scale = math.Exp(v[a.sd])
		}
		length, quality := value(a.length), value(a.quality)
		each := (b.hi - b.lo) / max(1, len(b.cos)) // 1 or 2 features a frequency
		for i := range max(1, len(b.cos)) {
			size, by := scale, slope{}
			switch {
			case a.shape != nil:
				size, by = a.shape(b.offset[i], length, quality)
				size *= scale
			case a.walk != nil:
				size *= a.walk(math.Pi * (float64(i) + 0.5))
			}
			for k := b.lo + i*each; k < b.lo+(i+1)*each; k++ {
				d[k] = size
				if slopes != nil {
					slopes[k] = by
				}
			}
		}
	}
}

// pull adds the gradient by v, given d∘∂L/∂d = bar [M] and the slopes of amplitudes.
func (l *layout) pull(gradient, bar []float64, slopes []slope) {
	for _, b := range l.blocks {
		for k := b.lo; k < b.hi; k++ {
			l.chain(&b.amp, slopes[k], func(i int, by float64) { gradient[i] += bar[k] * by })
		}
	}
}

// chain calls add with ∂log d/∂v_i of every coordinate i of an amplitude.
func (l *layout) chain(a *amplitude, s slope, add func(i int, by float64)) {
	if a.sd >= 0 {
		add(a.sd, 1)
	}
	if a.length >= 0 {
		add(a.length, s.length)
	}
	if a.quality >= 0 {
		add(a.quality, s.quality)
	}
}

// inform adds scale·Σ_kl s_ik w_kl s_jl to the information, where s_ik = ∂log d_k/∂v_i and w is [M,M].
func (l *layout) inform(e *bayes.Evaluation, w []float64, slopes []slope, scale float64) {
	m := l.features()
	sums := make([]float64, len(l.names)) // Σ_l w_kl s_jl of a k
	for _, b := range l.blocks {
		for k := b.lo; k < b.hi; k++ {
			clear(sums)
			l.pull(sums, w[k*m:(k+1)*m], slopes)
			l.chain(&b.amp, slopes[k], func(i int, by float64) {
				for j, v := range sums {
					e.AddTo(i, j, scale*v*by)
				}
			})
		}
	}
}

// scale is the priors' standard deviations.
func (l *layout) scale() []float64 {
	s := make([]float64, len(l.priors))
	for i, p := range l.priors {
		s[i] = p.SD
	}
	return s
}
