package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/spectral"
)

const (
	// maxStems is the maximum number of features in a spectrum.
	maxStems = 400
	// maxLabels is the maximum number of labeled features.
	maxLabels = 8
	// minAmplitude is the minimum amplitude of shown features, as a share of the largest amplitude.
	minAmplitude = 1e-3
	// labelWidth is the width of a label as a share of the width of the chart.
	labelWidth = 0.16
	// densityBins is the number of bins of a plotted power spectrum.
	densityBins = 1024
	// narrowest is the smallest width of a component in such a plot, in bins.
	narrowest = 1e-3
	// roughTop is the largest plotted frequency of a rough component, in 1/length, where its density is a hundredth of the largest.
	roughTop = 1.6
)

// seconds is the name of the input of a recording.
const seconds = "seconds"

// Amplitudes returns |A1_k m_kd| [M,D], the amplitudes of the features' cosines in the units of y; for a model of a search, the amplitudes
// of the sums of a cosine and a sine. It returns nil before a fit.
func Amplitudes(m *vssgp.Model) []float64 {
	mean, _, err := m.Coefficients()
	if err != nil {
		return nil
	}
	f := m.Params.Features()
	out := make([]float64, m.Params.M()*m.Params.D)
	for i := range out {
		k, d := i/m.Params.D, i%m.Params.D
		out[i] = math.Abs(f.Amp[k]*mean[i]) * m.Y.Scale[d]
	}
	if Searched(m) {
		sums := slices.Clone(out)
		for i := range out {
			k, d := i/m.Params.D, i%m.Params.D
			sums[i] = math.Hypot(out[i], out[(k^1)*m.Params.D+d])
		}
		return sums
	}
	return out
}

// A line is a feature in the spectrum along one input.
type line struct {
	at, sd, amplitude float64 // sd is 0 if it is unknown
}

// larger orders lines by amplitude, the largest first.
func larger(a, b line) int { return cmp.Compare(b.amplitude, a.amplitude) }

// lines returns the features to show for input q and output d, sorted by frequency.
func lines(m *vssgp.Model, amplitude []float64, q, d int) []line {
	var all []line
	for _, f := range m.Frequencies() {
		l := line{at: f.Mean[q], amplitude: amplitude[f.Feature*m.Params.D+d]}
		if f.SD != nil {
			l.sd = f.SD[q]
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, larger)
	least := minAmplitude * all[0].amplitude
	all = slices.DeleteFunc(all, func(l line) bool { return l.amplitude <= least })
	all = all[:min(len(all), maxStems)]
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	return all
}

// peaks returns the lines to label, largest first. all is sorted by frequency. The frequencies of peaks are at least least and differ from
// 0 by two standard deviations. Their distance from larger lines is at least two standard deviations and a fiftieth of the range.
func peaks(all []line, least float64) []line {
	var out []line
	for _, l := range slices.SortedStableFunc(slices.Values(all), larger) {
		near := func(o line) bool { return math.Abs(o.at-l.at) < max(all[len(all)-1].at/50, 2*o.sd, 2*l.sd) }
		if len(out) < maxLabels && l.at > 2*l.sd && l.at >= least && !slices.ContainsFunc(out, near) {
			out = append(out, l)
		}
	}
	return out
}

// frequencies returns the charts of the features' frequencies for each input and output. Features with a period longer than
// reach, the range of the data along the input, represent a trend and have no label.
func frequencies(m *vssgp.Model, reach []float64) section {
	s := section{Title: "Frequencies"}
	amplitude := Amplitudes(m)
	if amplitude == nil {
		s.Text = []string{"The model has no posterior of its coefficients, so the amplitudes of its features are unknown."}
		return s
	}
	inputs, outputs := inputNames(m), outputNames(m)
	for q := range min(m.Params.Q, maxSeries) {
		for d := range min(m.Params.D, maxSeries) {
			all := lines(m, amplitude, q, d)
			if len(all) == 0 {
				continue
			}
			top := peaks(all, 1/reach[q])
			s.Charts = append(s.Charts, spectrum(all, top, inputs[q], outputs[d]))
		}
	}
	return s
}

// spectrum returns the chart of lines, with labels for the lines in top.
func spectrum(all, top []line, x, y string) *chart {
	text := fmt.Sprintf("Amplitude of %s over frequency; bars are 95 %% intervals of the frequencies (frequency.variance).",
		Counted(len(all), "feature"))
	if len(top) > 0 {
		text += " The largest feature with a period within the range of the data: " + top[0].label(x) + "."
	}
	c := newChart("Spectrum of "+y+" along "+x, text, "frequency, "+perUnit(x), "amplitude")
	var at, amplitude, lower, upper []float64
	for _, f := range all {
		at, amplitude = append(at, f.at), append(amplitude, f.amplitude)
		lower, upper = append(lower, max(0, f.at-bayes.SD95*f.sd)), append(upper, f.at+bayes.SD95*f.sd)
	}
	c.stems(Blue, at, amplitude, lower, upper)
	width := labelWidth * at[len(at)-1]
	for _, p := range top { // the label is to the right of the line; it is omitted if a larger line or its label overlaps
		crosses := func(o line) bool {
			return o.amplitude > p.amplitude && o.at < p.at+width && (o.at > p.at || o.at > p.at-width && o.amplitude < 2*p.amplitude)
		}
		if !slices.ContainsFunc(all, crosses) {
			c.label(p.at, p.amplitude, p.label(x))
		}
	}
	return c
}

// label formats a line's period, or its frequency in a recording, with its standard deviation.
func (l line) label(x string) string {
	if x == seconds {
		return spread(l.at, l.sd) + " Hz"
	}
	return "period " + spread(1/l.at, l.sd/(l.at*l.at))
}

// spread formats a value with its standard deviation, to two digits of the standard deviation but at most about six digits of the value.
func spread(v, sd float64) string {
	decimals := 1 - int(math.Floor(math.Log10(sd)))
	switch {
	case !(sd > 0):
		return fmt.Sprintf("%.6g", v)
	case sd < 1e-5*math.Abs(v):
		return fmt.Sprintf("%.6g ± %.1g", v, sd)
	case decimals < 0:
		return fmt.Sprintf("%.0f ± %.0f", v, sd)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, v, decimals, sd)
}

// perUnit returns the unit of a frequency along an input.
func perUnit(x string) string {
	if x == seconds {
		return "Hz"
	}
	return "cycles per " + x
}

// inputNames returns the names of the model's inputs, by default x, or x0, x1, ….
func inputNames(m *vssgp.Model) []string { return Names(m.XNames, m.Params.Q, "x") }

// outputNames returns the names of the model's outputs, by default y, or y0, y1, ….
func outputNames(m *vssgp.Model) []string { return Names(m.YNames, m.Params.D, "y") }

// Names returns given if it has n names. Otherwise it returns letter if n is 1, else letter0, letter1, ….
func Names(given []string, n int, letter string) []string {
	switch {
	case len(given) == n:
		return given
	case n == 1:
		return []string{letter}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", letter, i)
	}
	return names
}

// density returns the one-sided power spectrum of a model's covariance along input q for the first output, in units of y² per unit of
// frequency. The spectra of other outputs differ by a factor. The result is the mean in each of n equal bins from 0 to top:
//
//	S(f) = (1/V) Σ_i σ²_i [N(f; p_i, s_i²) + N(f; −p_i, s_i²)],   s_i = 1/(2π l_i)
//
// The sum is over the components of all V windows. It is the mean over the recording, because the squares of the windows sum to one.
// The rough components of a search have another density.
func density(m *vssgp.Model, q int, top float64, n int) []float64 {
	out := make([]float64, n)
	width, windows := top/float64(n), float64(max(1, len(m.Params.Windows.Center)))
	for _, c := range m.Components() {
		if rough, ok := rough(c); ok {
			for b := range out {
				out[b] += rough.Density((float64(b) + 0.5) * width)
			}
			continue
		}
		power := c.SD[0] * c.SD[0] / windows
		at, sd := 1/c.Period[q], max(1/(2*math.Pi*c.Lengthscale[q]), narrowest*width)
		below := func(f float64) float64 { // the share of the component's power, folded at 0, below f
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

// rough returns a rough component of a search for the first output in the data's units, and whether c is one.
func rough(c vssgp.Component) (rough spectral.Component, ok bool) {
	kind := spectral.Kind(c.Kind)
	return spectral.Component{Kind: kind, SD: c.SD[0], Frequency: 1 / c.Period[0], Length: c.Lengthscale[0]}, kind.Rough()
}

// topFrequency returns the largest frequency of a plot of the density. It is above all components with at least a millionth of the largest
// variance.
func topFrequency(m *vssgp.Model, q int) float64 {
	most, top := 0.0, 0.0
	for _, c := range m.Components() {
		most = max(most, c.SD[0])
	}
	for _, c := range m.Components() {
		reach := 3 / (2 * math.Pi)
		if _, ok := rough(c); ok {
			reach = roughTop
		}
		if c.SD[0] >= 1e-3*most {
			top = max(top, 1.05/c.Period[q]+reach/c.Lengthscale[q])
		}
	}
	return top
}

// densities returns the charts of a model's covariance along each input.
func densities(m *vssgp.Model) (charts []*chart) {
	y := outputNames(m)[0]
	for q, x := range inputNames(m)[:min(m.Params.Q, maxSeries)] {
		top := topFrequency(m, q)
		if !(top > 0) || math.IsInf(top, 1) {
			continue
		}
		frequency, power := make([]float64, densityBins), density(m, q, top, densityBins)
		most := floats.MaxIdx(power)
		least := power[most] * 1e-8
		for i, v := range power {
			frequency[i], power[i] = (float64(i)+0.5)*top/densityBins, max(v, least)
		}
		c := newChart("Power spectrum of the covariance along "+x, fmt.Sprintf(
			"Power spectral density of the covariance, in %s² per unit of frequency; the maximum is at %s %s.",
			y, short(frequency[most]), perUnit(x)), "frequency, "+perUnit(x), "power density")
		c.logY = true
		c.line("power density", Blue, frequency, power)
		charts = append(charts, c)
	}
	return charts
}
