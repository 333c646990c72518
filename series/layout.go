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

// Check returns an error if the prior is not proper.
func (p Prior) Check() error { return bayes.Prior(p).Check() }

// or returns the prior in the model's units, given the unit of θ, or the default prior usual if p is zero.
func (p Prior) or(usual Prior, unit float64) Prior {
	if p.Median == 0 {
		return usual
	}
	return Prior{Median: p.Median / unit, SD: p.SD}
}

// A Part is one of the terms whose sum is the series: Constant, Slope, SmoothTrend, RandomWalk, ShortMemory, LevelShift, Season or Noise.
type Part interface {
	// name returns the unique name of the part for reports and model files.
	name() string
	// given returns the priors in the part's fields.
	given() []Prior
	// addTo adds the part's features and hyper-parameters to a layout.
	addTo(l *layout)
}

// A layout contains the features of all parts and maps hyper-parameters to their amplitudes. Frequencies are in cycles per step.
type layout struct {
	frame      *frame
	reach      float64        // R, in steps: the features are valid on [0, R]
	trendRange float64        // a little more than R: the expansion of the smooth trend is exact on [0, trendRange]
	sides      map[string]int // maximum number of sidebands by amplitude name; missing: the default
	peak       func(f float64) float64

	parts      []Part
	blocks     []block
	names      []string      // [θ]
	priors     []bayes.Prior // [θ] in the model's units
	most       []float64     // [θ] upper bounds of the logarithms
	deviations []bool        // [θ] whether it is a standard deviation
	noise      int           // index of the noise sd
	index      stateIndex

	part int // index of the part that newLayout is adding
}

// A stateIndex contains the indices of the hyper-parameters of the short memory, the random walk and the damped trend; −1
// if there is none.
type stateIndex struct{ sd, length, quality, walk, rise, back int }

// in reports whether set contains every index that is not −1.
func (m stateIndex) in(set []bool) bool {
	return !slices.ContainsFunc([]int{m.sd, m.length, m.quality, m.walk, m.rise, m.back}, func(i int) bool { return i >= 0 && !set[i] })
}

// A block is a set of features with the same hyper-parameters: a cosine, or a cosine and a sine, at each frequency.
type block struct {
	component string // name of the component that the features belong to
	amp       amplitude
	cos       []float64 // frequencies; 0: the constant
	offset    []float64 // offset of each frequency from its carrier; nil: there is no carrier
	start     bool      // phases are relative to the first observation, and there are only cosines
	line      bool      // the slope, a single sine
	known     bool      // a regressor instead of cosines
	from      *float64  // time of a level shift; nil: not a level shift

	lo, hi int // range of feature indices
}

// An amplitude computes d_k = exp(v_sd)·factor·shape(f, exp(v_length)). An index is −1 if there is no such hyper-parameter.
type amplitude struct {
	sd, length int
	factor     float64
	trend      func(c float64) float64 // shape of a smooth trend, with c = π(j − ½)
	shape      func(f, length float64) (value float64, by slope)
}

// A slope is the derivative of log d_k with respect to the log length of its block.
type slope float64

func fixed(a float64) amplitude { return amplitude{sd: -1, length: -1, factor: a} }

// newLayout returns the layout of ordered parts. It stops once there are more than most features (0: no limit).
func newLayout(f *frame, parts []Part, reach float64, sides map[string]int, most int, peak func(float64) float64) *layout {
	l := &layout{frame: f, reach: reach, trendRange: 1.02 * reach, sides: sides, peak: peak, parts: parts, noise: -1}
	l.index = stateIndex{-1, -1, -1, -1, -1, -1}
	for i, p := range parts {
		l.part = i
		if p.addTo(l); most > 0 && l.size() > most {
			break
		}
	}
	return l
}

// period returns the length P such that the sidebands of a season are 1/P apart.
func (l *layout) period() float64 { return 1.6 * l.reach }

// epsilon returns the angular frequency of the sine that represents the slope. The sine deviates from a line by 2e-5; a smaller frequency
// would lose digits of G.
func (l *layout) epsilon() float64 { return 1e-2 / l.reach }

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

// trendCosines is the number of cosines of a smooth trend per data range, and fewestCosines the minimum for few values.
const trendCosines, fewestCosines = 30, 8

// parameter returns the index of a hyper-parameter. It adds the parameter, with a prior in the model's units, if the name is new.
func (l *layout) parameter(name string, p Prior) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	l.names, l.priors, l.most = append(l.names, name), append(l.priors, bayes.Prior(p)), append(l.most, math.Inf(1))
	l.deviations = append(l.deviations, !strings.HasSuffix(name, ".length") && !strings.HasSuffix(name, ".quality"))
	return len(l.names) - 1
}

// amplitude adds an sd hyper-parameter whose given prior is in units of the output.
func (l *layout) amplitude(name string, given, usual Prior) amplitude {
	return amplitude{sd: l.parameter(name, given.or(usual, l.frame.Scale[0])), length: -1, factor: 1}
}

// cosines returns the features at unit amplitude, without the regressors, which are the last features.
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

// variance returns λ at coordinates v, and the derivative of log λ with respect to the noise coordinate.
func (l *layout) variance(v []float64) (lambda, rate float64) {
	s := math.Exp(2 * v[l.noise])
	return s + minNoise, 2 * s / (s + minNoise)
}

// stateSpaceAt returns the state-space model at coordinates v.
func (l *layout) stateSpaceAt(v []float64) stateSpace {
	at, m := stateSpace{Length: 1, Return: 1, start: l.reach / 2, span: l.frame.Range}, l.index
	lambda, _ := l.variance(v)
	if active(v, m.sd) {
		at.Ratio, at.Length = math.Exp(v[m.sd])/math.Sqrt(lambda), math.Exp(v[m.length])
		if active(v, m.quality) {
			at.Quality = math.Exp(v[m.quality])
		}
	}
	if active(v, m.walk) {
		at.Walk = math.Exp(v[m.walk]) / math.Sqrt(lambda*l.frame.Range)
	}
	if active(v, m.rise) {
		at.Rise, at.Return = math.Exp(v[m.rise])/math.Sqrt(lambda), math.Exp(v[m.back])
	}
	return at
}

// active reports whether coordinate i exists and its amplitude is not absent.
func active(v []float64, i int) bool { return i >= 0 && v[i] > absent }

// amplitudes fills d [M] and, if slopes is not nil, the derivatives of log d.
func (l *layout) amplitudes(d, v []float64, slopes []slope) {
	for _, b := range l.blocks {
		a, scale, length := b.amp, b.amp.factor, 0.0
		if a.sd >= 0 {
			scale *= math.Exp(v[a.sd])
		}
		if a.length >= 0 {
			length = math.Exp(v[a.length])
		}
		each := (b.hi - b.lo) / max(1, len(b.cos)) // 1 or 2 features per frequency
		for i := range max(1, len(b.cos)) {
			size, by := scale, slope(0)
			switch {
			case a.shape != nil:
				size, by = a.shape(b.offset[i], length)
				size *= scale
			case a.trend != nil:
				size *= a.trend(math.Pi * (float64(i) + 0.5))
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

// pull adds ∂L/∂v to gradient, given bar = d∘∂L/∂d [M] and the slopes of the amplitudes.
func (l *layout) pull(gradient, bar []float64, slopes []slope) {
	for _, b := range l.blocks {
		for k := b.lo; k < b.hi; k++ {
			l.chain(&b.amp, slopes[k], func(i int, by float64) { gradient[i] += bar[k] * by })
		}
	}
}

// chain calls add with ∂log d/∂v_i for each coordinate i of an amplitude.
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
	sums := make([]float64, len(l.names)) // Σ_l w_kl s_jl for one k
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

func (l *layout) medians() []float64 {
	v := make([]float64, len(l.priors))
	for i, p := range l.priors {
		v[i] = math.Log(p.Median)
	}
	return v
}

func (l *layout) scale() []float64 {
	s := make([]float64, len(l.priors))
	for i, p := range l.priors {
		s[i] = p.SD
	}
	return s
}
