package report

import (
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/restore"
)

// densityBins is the number of bins of a power spectrum that is drawn.
const densityBins = 1024

// density returns the power spectrum of a model's covariance along input q for the
// first output (the others' differ by a factor): its mean in each of n equal bins
// from 0 to top, in units of y² per unit of frequency, one-sided:
//
//	S(f) = (1/V) Σ_i σ²_i [N(f; p_i, s_i²) + N(f; −p_i, s_i²)],   s_i = 1/(2π l_i)
//
// over the components of all V windows: the mean over the recording, since the
// squares of the windows add up to one.
func density(m *vssgp.Model, q int, top float64, n int) []float64 {
	p := m.Params
	out := make([]float64, n)
	width := top / float64(n)
	unit := m.X.Scale[q]
	for i := range p.L {
		power := p.Variance[i] * m.Y.Scale[0] * m.Y.Scale[0] / float64(max(1, len(p.Windows.Center)))
		at, sd := math.Abs(p.Frequency[i*p.Q+q])/unit, 1/(2*math.Pi*p.Lengthscale[i*p.Q+q]*unit)
		below := func(f float64) float64 { // the share of the line, folded at 0, below f
			return 0.5 * (math.Erf((f-at)/(sd*math.Sqrt2)) + math.Erf((f+at)/(sd*math.Sqrt2)))
		}
		last := below(0)
		for b := range out {
			next := below(float64(b+1) * width)
			out[b] += power * (next - last) / width
			last = next
		}
	}
	return out
}

// topFrequency returns the frequency at which a drawing of the density may end: past
// the lines of all components with a millionth of the largest variance or more.
func topFrequency(m *vssgp.Model, q int) float64 {
	p := m.Params
	most, top := slices.Max(p.Variance), 0.0
	for i, v := range p.Variance {
		if v >= 1e-6*most {
			top = max(top, (1.05*math.Abs(p.Frequency[i*p.Q+q])+3/(2*math.Pi*p.Lengthscale[i*p.Q+q]))/m.X.Scale[q])
		}
	}
	return top
}

// densityChart returns the chart of a density in equal bins up to top.
func densityChart(density []float64, top float64, title, x, y string) *chart {
	l := layer{name: "power density", kind: asLine, ink: meanInk}
	most := floats.MaxIdx(density)
	frequency := func(i int) float64 { return (float64(i) + 0.5) * top / float64(len(density)) }
	for i, v := range density {
		l.x, l.y = append(l.x, frequency(i)), append(l.y, max(v, density[most]*1e-8))
	}
	return &chart{
		Title: title,
		Text: "What the covariance expects at each frequency, in " + y + "² per unit of frequency; the most at " +
			short(frequency(most)) + " " + perUnit(x) + ".",
		XLabel: "frequency, " + perUnit(x), YLabel: "power density", logY: true, layers: []layer{l},
	}
}

// densities returns the charts of a model's covariance along each input.
func densities(m *vssgp.Model) []part {
	var out []part
	inputs, y := inputNames(m), outputNames(m)[0]
	for q := range min(m.Params.Q, mostSeries) {
		if top := topFrequency(m, q); top > 0 && !math.IsInf(top, 1) {
			out = append(out, densityChart(density(m, q, top, densityBins), top,
				"Power spectrum of the covariance along "+inputs[q], inputs[q], y))
		}
	}
	return out
}

// Densities collects the power spectra of the excerpts' models; the models
// themselves are not kept. Its methods may be called from several goroutines.
type Densities struct {
	mu   sync.Mutex
	rate int
	of   map[int][]float32 // by the excerpt's start
}

// NewDensities returns an empty collection for a recording with so many samples a second.
func NewDensities(rate int) *Densities { return &Densities{rate: rate, of: map[int][]float32{}} }

// Add takes in an excerpt that has its model.
func (s *Densities) Add(e *restore.Excerpt) {
	density := density(e.Model, 0, float64(s.rate)/2, densityBins/2)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range density {
		s.of[e.Start] = append(s.of[e.Start], float32(v))
	}
}

// mean returns the mean over the excerpts, added in their order; nil if there are none.
func (s *Densities) mean() []float64 {
	if s == nil {
		return nil
	}
	var out []float64
	for _, at := range slices.Sorted(maps.Keys(s.of)) {
		if out == nil {
			out = make([]float64, len(s.of[at]))
		}
		for i, v := range s.of[at] {
			out[i] += float64(v) / float64(len(s.of))
		}
	}
	return out
}
