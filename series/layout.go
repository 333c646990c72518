package series

import (
	"cmp"
	"math"
	"slices"
	"strings"

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

// or is the prior in the model's units, given the unit of θ, or the usual one if it is left to the default.
func (p Prior) or(usual Prior, unit float64) Prior {
	if p.Median == 0 {
		return usual
	}
	return Prior{Median: p.Median / unit, SD: p.SD}
}

// A Part is one of the terms whose sum is the series: Constant, Slope, SmoothTrend, RandomWalk, ShortMemory, LevelShift, Season or Noise.
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
	reach  float64        // R, in steps: the range that the features cover
	wander float64        // R and a little: the walks' expansion is exact inside
	sides  map[string]int // the most lines on each side of a season's, by the name of their amplitude; none: the usual number
	peak   func(f float64) float64

	parts      []Part
	blocks     []block
	names      []string      // [θ]
	priors     []bayes.Prior // [θ] in the model's units
	most       []float64     // [θ] logarithms that are not exceeded
	deviations []bool        // [θ] whether it is a standard deviation
	noise      int           // which θ is the noise's sd
	memory     memoryIndex

	part int // that newLayout is at
}

// A memoryIndex says which θ are the short memory's and the random walk's; −1: none.
type memoryIndex struct{ sd, length, quality, walk int }

// in reports whether a set of θ has all that there are.
func (m memoryIndex) in(set []bool) bool {
	return !slices.ContainsFunc([]int{m.sd, m.length, m.quality, m.walk}, func(i int) bool { return i >= 0 && !set[i] })
}

// A block is features under the same hyper-parameters: a cosine, or a cosine and a sine, at each frequency.
type block struct {
	component string // that the features belong to
	amp       amplitude
	cos       []float64 // frequencies; 0: the constant
	offset    []float64 // of each frequency from its carrier; nil: there is no carrier
	start     bool      // phases count from the first row, and there are cosines only
	line      bool      // the slope, a single sine
	known     bool      // a regressor, whose values are known: no cosine
	from      *float64  // of a level shift, which is 0 before; nil: none

	lo, hi int // its features
}

// An amplitude is d_k = exp(v_sd)·factor·shape(f, exp(v_length)). Indices are −1 where there is no such hyper-parameter.
type amplitude struct {
	sd, length int
	factor     float64
	walk       func(c float64) float64 // of a walk's c = π(j − ½)
	shape      func(f, length float64) (value float64, by slope)
}

// A slope is the derivative of log d_k by the logarithm of its block's length.
type slope float64

func fixed(a float64) amplitude { return amplitude{sd: -1, length: -1, factor: a} }

// newLayout lays ordered parts out, up to where there are more than most features (0: any number).
func newLayout(f *frame, parts []Part, reach float64, sides map[string]int, most int, peak func(float64) float64) *layout {
	l := &layout{frame: f, reach: reach, wander: 1.02 * reach, sides: sides, peak: peak, parts: parts, noise: -1}
	l.memory = memoryIndex{-1, -1, -1, -1}
	for i, p := range parts {
		l.part = i
		if p.lay(l); most > 0 && l.size() > most {
			break
		}
	}
	return l
}

// period is the length P that the lines of a spectrum are 1/P apart for.
func (l *layout) period() float64 { return 1.6 * l.reach }

// epsilon is the angular frequency of the slope's sine: a line but for 2e-5 of it. A smaller one would cost digits of G.
func (l *layout) epsilon() float64 { return 1e-2 / l.reach }

// size is the number M of features.
func (l *layout) size() int {
	if len(l.blocks) == 0 {
		return 0
	}
	return l.blocks[len(l.blocks)-1].hi
}

func (l *layout) add(b block) {
	b.component, b.lo = cmp.Or(b.component, component(l.parts[l.part])), l.size()
	n := len(b.cos)
	switch {
	case b.line, b.known:
		n = 1
	case !b.start && !(n == 1 && b.cos[0] == 0):
		n *= 2
	}
	b.hi = b.lo + n
	l.blocks = append(l.blocks, b)
}

// trendCosines is the number of cosines of a smooth trend over a range of the data.
const trendCosines = 30

// parameter adds a hyper-parameter with a prior in the model's units, unless there is one of that name.
func (l *layout) parameter(name string, p Prior) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	l.names, l.priors, l.most = append(l.names, name), append(l.priors, bayes.Prior(p)), append(l.most, math.Inf(1))
	l.deviations = append(l.deviations, !strings.HasSuffix(name, ".length") && !strings.HasSuffix(name, ".quality"))
	return len(l.names) - 1
}

// amplitude adds a hyper-parameter in units of the output.
func (l *layout) amplitude(name string, given, usual Prior) amplitude {
	return amplitude{sd: l.parameter(name, given.or(usual, l.frame.Scale[0])), length: -1, factor: 1}
}

// cosines returns the features at unit amplitude but for the regressors, which come last.
func (l *layout) cosines() []cosine {
	var all []cosine
	middle := l.frame.Range / 2
	for _, b := range l.blocks {
		for _, c := range b.cos {
			switch freq := 2 * math.Pi * c; {
			case b.start:
				all = append(all, cosine{amp: 1, freq: freq})
			case b.from != nil:
				all = append(all, cosine{amp: 1, from: b.from})
			default:
				if all = append(all, cosine{amp: 1, freq: freq, center: middle}); len(all) < b.hi && b.hi-b.lo > 1 {
					all = append(all, cosine{amp: 1, freq: freq, center: middle, phase: -math.Pi / 2})
				}
			}
		}
		if epsilon := l.epsilon(); b.line {
			all = append(all, cosine{amp: 1 / (epsilon * l.frame.Range), freq: epsilon, center: middle, phase: -math.Pi / 2})
		}
	}
	return all
}

// variance returns λ at coordinates v, and ∂log λ/∂v of the noise's coordinate.
func (l *layout) variance(v []float64) (lambda, rate float64) {
	s := math.Exp(2 * v[l.noise])
	return s + leastNoise, 2 * s / (s + leastNoise)
}

// memoryAt returns the memory at coordinates v.
func (l *layout) memoryAt(v []float64) memory {
	at, m := memory{Length: 1, start: l.reach / 2}, l.memory
	lambda, _ := l.variance(v)
	if there(v, m.sd) {
		at.Ratio, at.Length = math.Exp(v[m.sd])/math.Sqrt(lambda), math.Exp(v[m.length])
		if there(v, m.quality) {
			at.Quality = math.Exp(v[m.quality])
		}
	}
	if there(v, m.walk) {
		at.Walk = math.Exp(v[m.walk]) / math.Sqrt(lambda*l.frame.Range)
	}
	return at
}

// there reports whether coordinate i exists and is not absent.
func there(v []float64, i int) bool { return i >= 0 && v[i] > absent }

// amplitudes fills d [M] and, if slopes is not nil, the derivatives of log d.
func (l *layout) amplitudes(d, v []float64, slopes []slope) {
	for _, b := range l.blocks {
		a, scale, length := b.amp, b.amp.factor, 0.0
		if a.sd >= 0 {
			scale = math.Exp(v[a.sd])
		}
		if a.length >= 0 {
			length = math.Exp(v[a.length])
		}
		each := (b.hi - b.lo) / max(1, len(b.cos)) // 1 or 2 features a frequency
		for i := range max(1, len(b.cos)) {
			size, by := scale, slope(0)
			switch {
			case a.shape != nil:
				size, by = a.shape(b.offset[i], length)
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
		add(a.length, float64(s))
	}
}

// inform adds scale·Σ_kl s_ik w_kl s_jl to the information, where s_ik = ∂log d_k/∂v_i and w is [M,M].
func (l *layout) inform(e *bayes.Evaluation, w []float64, slopes []slope, scale float64) {
	m := l.size()
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

// medians are the logarithms of the hyper-parameters' prior medians.
func (l *layout) medians() []float64 {
	v := make([]float64, len(l.priors))
	for i, p := range l.priors {
		v[i] = math.Log(p.Median)
	}
	return v
}

// scale is the priors' standard deviations.
func (l *layout) scale() []float64 {
	s := make([]float64, len(l.priors))
	for i, p := range l.priors {
		s[i] = p.SD
	}
	return s
}
