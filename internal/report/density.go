package report

import (
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/figure"
)

// densityBins is how fine a power spectrum is drawn.
const densityBins = 1024

// Density is the power spectrum of a model's covariance along input q for
// output d, the mean of it in each of n equal bins from 0 to top, in units of y²
// per unit of frequency, one-sided:
//
//	S(f) = (1/V) Σ_i σ²_i [N(f; p_i, s_i²) + N(f; −p_i, s_i²)],   s_i = 1/(2π l_i)
//
// over the components of all V windows: the mean over the recording, since the
// squares of the windows add up to one.
func Density(m *vssgp.Model, q, d int, top float64, n int) []float64 {
	p := m.Params
	out := make([]float64, n)
	width := top / float64(n)
	unit := m.X.Scale[q]
	for i := range p.L {
		power := p.Variance[i] * m.Y.Scale[d] * m.Y.Scale[d] / float64(max(1, len(p.Windows.Center)))
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

// topFrequency is where a drawing of the density may end: past the lines of all
// components with a millionth of the largest variance or more.
func topFrequency(m *vssgp.Model, q int) float64 {
	p := m.Params
	most, top := 0.0, 0.0
	for _, v := range p.Variance {
		most = max(most, v)
	}
	for i, v := range p.Variance {
		if v >= 1e-6*most {
			top = max(top, (1.05*math.Abs(p.Frequency[i*p.Q+q])+3/(2*math.Pi*p.Lengthscale[i*p.Q+q]))/m.X.Scale[q])
		}
	}
	return top
}

// densityFigure is the chart of a density in equal bins up to top.
func densityFigure(density []float64, top float64, title, x, y string) *figure.Figure {
	l := figure.Layer{Name: "power density", Kind: figure.Line, Ink: figure.Mean}
	most, at := 0.0, 0
	for i, v := range density {
		if v > most {
			most, at = v, i
		}
	}
	frequency := func(i int) float64 { return (float64(i) + 0.5) * top / float64(len(density)) }
	for i, v := range density {
		l.X, l.Y = append(l.X, frequency(i)), append(l.Y, max(v, most*1e-8))
	}
	return &figure.Figure{
		Title: title, Text: "What the covariance expects at each frequency, in " + y + "² per unit of frequency; the most at " + short(frequency(at)) + " " + perUnit(x) + ".",
		XLabel: "frequency, " + perUnit(x), YLabel: "power density", LogY: true, Layers: []figure.Layer{l},
	}
}

// densities are the charts of a model's covariance along each input, for its
// first output: the others' differ by a factor.
func densities(m *vssgp.Model) []*figure.Figure {
	var out []*figure.Figure
	inputs, y := inputNames(m), outputNames(m)[0]
	for q := range min(m.Params.Q, mostSeries) {
		top := topFrequency(m, q)
		if !(top > 0) || math.IsInf(top, 1) {
			continue
		}
		density := Density(m, q, 0, top, densityBins)
		out = append(out, densityFigure(density, top, "Power spectrum of the covariance along "+inputs[q], inputs[q], y))
	}
	return out
}
