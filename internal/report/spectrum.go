package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
)

const (
	// mostStems bounds the features that a spectrum shows, the largest ones.
	mostStems = 400
	// mostLabels bounds the labeled ones.
	mostLabels = 8
	// leastAmplitude is the least that is shown, as a share of the largest.
	leastAmplitude = 1e-3
	// mostSeries bounds how many inputs or outputs have charts of their own.
	mostSeries = 4
	// interval is how many standard deviations on each side hold 95 %.
	interval = 1.96
)

// seconds is the name of the input of a recording.
const seconds = "seconds"

// Amplitudes returns |A1_k m_kd| [M,D] in the units of y: the height of each
// feature's cosine under the posterior mean; nil before a fit.
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
	return out
}

// line is a feature as a spectrum shows it along one input.
type line struct {
	at, sd, amplitude float64
	feature           int
}

// lines returns the features of one input and output that are worth showing, by frequency.
func lines(m *vssgp.Model, amplitude []float64, q, d int) []line {
	var all []line
	most := 0.0
	for _, f := range m.Frequencies() {
		a := amplitude[f.Feature*m.Params.D+d]
		sd := 0.0 // unknown
		if f.SD != nil {
			sd = f.SD[q]
		}
		all = append(all, line{f.Mean[q], sd, a, f.Feature})
		most = max(most, a)
	}
	all = slices.DeleteFunc(all, func(l line) bool { return l.amplitude <= leastAmplitude*most })
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(b.amplitude, a.amplitude) })
	all = all[:min(len(all), mostStems)]
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	return all
}

// peaks returns the lines to label, largest first, of lines by frequency. Their
// frequencies are distinct from 0 and at least least; they are two standard
// deviations, and a fiftieth of the range, away from larger ones.
func peaks(all []line, least float64) []line {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b line) int { return cmp.Compare(b.amplitude, a.amplitude) })
	var out []line
	for _, l := range order {
		near := func(o line) bool { return math.Abs(o.at-l.at) < max(all[len(all)-1].at/50, 2*o.sd, 2*l.sd) }
		if len(out) < mostLabels && l.at > 2*l.sd && l.at >= least && !slices.ContainsFunc(out, near) {
			out = append(out, l)
		}
	}
	return out
}

// spectra returns charts of the features' frequencies under the posterior, for each
// input and output, and tables of the labeled ones. A wave longer than reach, the
// range of the data along the input, is a trend and has no label. Without a
// posterior, spectra returns nil.
func spectra(m *vssgp.Model, reach []float64) []part {
	amplitude := Amplitudes(m)
	if amplitude == nil {
		return nil
	}
	var parts []part
	inputs, outputs := inputNames(m), outputNames(m)
	for q := range min(m.Params.Q, mostSeries) {
		for d := range min(m.Params.D, mostSeries) {
			all := lines(m, amplitude, q, d)
			if len(all) == 0 {
				continue
			}
			top := peaks(all, 1/reach[q])
			parts = append(parts, spectrum(all, top, inputs[q], outputs[d]))
			if len(top) > 0 {
				parts = append(parts, frequencyTable(top, inputs[q], outputs[d]))
			}
		}
	}
	return parts
}

// spectrum returns the chart of lines.
func spectrum(all, top []line, x, y string) *chart {
	l := layer{name: "features, frequency ± 2 sd", kind: asStems, ink: meanInk}
	for _, f := range all {
		l.x, l.y = append(l.x, f.at), append(l.y, f.amplitude)
		l.lo, l.hi = append(l.lo, max(0, f.at-interval*f.sd)), append(l.hi, f.at+interval*f.sd)
	}
	c := &chart{
		Title: "Spectrum of " + y + " along " + x,
		Text: fmt.Sprintf("The amplitude of %s against their frequency; bars span what the posterior leaves open (frequency.variance).",
			Counted(len(all), "feature")),
		XLabel: "frequency, " + perUnit(x), YLabel: "amplitude", logY: true, layers: []layer{l},
	}
	for _, p := range top {
		c.labels = append(c.labels, label{p.at, p.amplitude, p.label(x)})
	}
	if len(top) > 0 {
		c.Text += " The largest that repeats within the data: " + top[0].label(x) + "."
	}
	return c
}

// label writes a line's period, or in sound its frequency, with its standard
// deviation.
func (l line) label(x string) string {
	if x == seconds {
		return spread(l.at, l.sd) + " Hz"
	}
	return "period " + spread(1/l.at, l.sd/(l.at*l.at))
}

// spread writes a value with its standard deviation: to two digits of the latter,
// or to six digits of a value that is surer.
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

func frequencyTable(top []line, x, y string) Table {
	t := Table{
		Caption: "The labelled features of " + y + ", largest first",
		Head:    []string{"feature", "frequency, " + perUnit(x), "period, " + x, "amplitude"},
	}
	for _, l := range top {
		t.Rows = append(t.Rows, []string{fmt.Sprint(l.feature), spread(l.at, l.sd), spread(1/l.at, l.sd/(l.at*l.at)), short(l.amplitude)})
	}
	return t
}

// inputNames returns the model's names, or if it has none x, or x0, x1, ….
func inputNames(m *vssgp.Model) []string { return Names(m.XNames, m.Params.Q, "x") }

// outputNames returns the model's names, or if it has none y, or y0, y1, ….
func outputNames(m *vssgp.Model) []string { return Names(m.YNames, m.Params.D, "y") }

// Names returns the names given, or if there are not n of them: letter, or
// letter0, letter1, ….
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
