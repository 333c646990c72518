package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
)

// modelInfo is what `info --json` prints: what a model has learnt, in the
// data's units. Frequencies are in cycles per unit of x.
type modelInfo struct {
	Model      string          `json:"model"`
	Inference  vssgp.Inference `json:"inference"`
	Fitted     bool            `json:"fitted"` // has a posterior over its coefficients
	Inputs     []string        `json:"inputs"`
	Outputs    []string        `json:"outputs"`
	Features   int             `json:"features"` // M
	Windows    *windowInfo     `json:"windows,omitempty"`
	NoiseSD    []number        `json:"noise_sd"`    // of each output
	Components []component     `json:"components"`  // in the file's order
	Confident  []frequency     `json:"frequencies"` // the most confident, best first
}

type windowInfo struct {
	Count  int    `json:"count"`
	Length number `json:"length"`
	Input  string `json:"input"`
}

type component struct {
	SD          []number `json:"sd"`          // σ_i of each output
	Lengthscale []number `json:"lengthscale"` // of each input
	Period      []number `json:"period"`      // null: none
	Window      *int     `json:"window,omitempty"`
}

type frequency struct {
	Feature   int      `json:"feature"`
	Location  []number `json:"location"`
	Frequency []number `json:"frequency"`
	SD        []number `json:"frequency_sd"`
	Period    []number `json:"period"`    // null where the frequency is 0
	PeriodSD  []number `json:"period_sd"` // to first order
	Reach     []number `json:"reach"`     // l/√Σ: how far from its location the feature lives; null: everywhere
	Amplitude []number `json:"amplitude"` // of its cosine, by output; null before a fit
}

func (a *app) infoCommand() *cobra.Command {
	top := 10
	cmd := &cobra.Command{
		Use:   "info MODEL",
		Short: "Say what a model has learnt: components, frequencies, noise, reach",
		Long: `Prints a model's components (standard deviation, length-scales, periods), its
noise, and its most confident frequencies: those with the smallest standard
deviation under the posterior, each with its period and its reach l/√Σ, how far
from its inducing input the feature lives. All are in the data's units.`,
		Example: `  vssgp info co2.safetensors
  vssgp info co2.safetensors --top 30 --json`,
		Args: arguments("MODEL"),
		RunE: a.do(func(_ context.Context, args []string) error {
			if top < 0 {
				return mistake("--top %d; want 0 or more", top)
			}
			m, err := readModel(args[0])
			if err != nil {
				return err
			}
			i := infoOf(m, top)
			i.Model = args[0]
			if a.json {
				return a.printJSON(i)
			}
			a.sayInfo(i, top)
			return nil
		}),
	}
	cmd.Flags().IntVar(&top, "top", top, "how many components and frequencies to `list` (--json has every component)")
	return cmd
}

func infoOf(m *vssgp.Model, top int) *modelInfo {
	p := m.Params
	i := &modelInfo{Inference: m.Inference, Inputs: inputNames(m), Outputs: outputNames(m), Features: p.M()}
	if n := len(p.Windows.Center); n > 0 {
		d := p.Windows.Dim
		i.Windows = &windowInfo{Count: n, Length: number(p.Windows.Length * m.X.Scale[d]), Input: i.Inputs[d]}
	}
	for _, s := range m.Y.Scale {
		i.NoiseSD = append(i.NoiseSD, number(s/math.Sqrt(p.NoisePrecision[0])))
	}
	for c := range p.L {
		i.Components = append(i.Components, componentOf(m, c))
	}
	amplitude := amplitudes(m)
	i.Fitted = amplitude != nil
	for _, k := range mostConfident(m, top) {
		i.Confident = append(i.Confident, frequencyOf(m, k, amplitude))
	}
	return i
}

func componentOf(m *vssgp.Model, i int) component {
	p := m.Params
	c := component{}
	for _, s := range m.Y.Scale {
		c.SD = append(c.SD, number(math.Sqrt(p.Variance[i])*s))
	}
	for q, s := range m.X.Scale {
		c.Lengthscale = append(c.Lengthscale, number(p.Lengthscale[i*p.Q+q]*s))
		c.Period = append(c.Period, number(s/math.Abs(p.Frequency[i*p.Q+q])))
	}
	if p.ComponentWindow != nil {
		c.Window = &p.ComponentWindow[i]
	}
	return c
}

// frequencySD is the standard deviation of feature k's frequency along input
// q, √Σ/(2πl), in cycles per unit of the data's x.
func frequencySD(m *vssgp.Model, k, q int) float64 {
	p := m.Params
	return math.Sqrt(p.FreqVar[k*p.Q+q]) / (2 * math.Pi * p.Lengthscale[k/p.K*p.Q+q] * m.X.Scale[q])
}

func frequencyOf(m *vssgp.Model, k int, amplitude []float64) frequency {
	p := m.Params
	f := frequency{Feature: k}
	for q, s := range m.X.Scale {
		at, l := k*p.Q+q, p.Lengthscale[k/p.K*p.Q+q]
		hz := math.Abs(p.FreqMean[at]/l/(2*math.Pi)+p.Frequency[k/p.K*p.Q+q]) / s
		sd := frequencySD(m, k, q)
		f.Location = append(f.Location, number(m.X.Offset[q]+s*p.Location[at]))
		f.Frequency = append(f.Frequency, number(hz))
		f.SD = append(f.SD, number(sd))
		f.Period = append(f.Period, number(1/hz))
		f.PeriodSD = append(f.PeriodSD, number(sd/(hz*hz)))
		f.Reach = append(f.Reach, number(s*l/math.Sqrt(p.FreqVar[at])))
	}
	for d := range p.D {
		v := math.NaN()
		if amplitude != nil {
			v = amplitude[k*p.D+d]
		}
		f.Amplitude = append(f.Amplitude, number(v))
	}
	return f
}

// amplitudes are |A1_k m_kd| [M,D] in the units of y: the height of each
// feature's cosine under the posterior mean; nil before a fit.
func amplitudes(m *vssgp.Model) []float64 {
	mean, _, err := m.Coefficients()
	if err != nil {
		return nil
	}
	f := m.Params.Features()
	out := make([]float64, m.Params.M()*m.Params.D)
	for i := range out {
		k, d := i/m.Params.D, i%m.Params.D
		out[i] = math.Abs(f.Amp[k]*mean.At(k, d)) * m.Y.Scale[d]
	}
	return out
}

// mostConfident are the features with the smallest standard deviation of their
// frequency (over the inputs, its length), at most n.
func mostConfident(m *vssgp.Model, n int) []int {
	p := m.Params
	spread := make([]float64, p.M())
	order := make([]int, p.M())
	for k := range order {
		order[k] = k
		for q := range p.Q {
			s := frequencySD(m, k, q)
			spread[k] += s * s
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case spread[a] < spread[b]:
			return -1
		case spread[a] > spread[b]:
			return 1
		}
		return 0
	})
	return order[:min(n, len(order))]
}

// inputNames are the model's, or x, or x0, x1, … where it has none.
func inputNames(m *vssgp.Model) []string { return namesOr(m.XNames, m.Params.Q, "x") }

func (a *app) sayInfo(i *modelInfo, top int) {
	fitted := "fitted"
	if !i.Fitted {
		fitted = "no posterior over its coefficients"
	}
	a.say("%s: %s inference, %s", i.Model, i.Inference, fitted)
	a.say("%s -> %s, %d components, %d features", strings.Join(i.Inputs, ", "), strings.Join(i.Outputs, ", "), len(i.Components), i.Features)
	if w := i.Windows; w != nil {
		a.say("windows: %d of length %.6g along %s", w.Count, float64(w.Length), w.Input)
	}
	a.say("noise sd: %s", row(i.NoiseSD))
	order := make([]int, len(i.Components))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(x, y int) int {
		if i.Components[x].SD[0] > i.Components[y].SD[0] {
			return -1
		}
		if i.Components[x].SD[0] < i.Components[y].SD[0] {
			return 1
		}
		return 0
	})
	a.say("components, largest first:")
	a.say("  %9s  %-20s %-20s %-20s", "component", "sd", "length-scale", "period")
	for _, c := range order[:min(top, len(order))] {
		k := i.Components[c]
		window := ""
		if k.Window != nil {
			window = fmt.Sprintf("window %d", *k.Window)
		}
		a.say("  %9d  %-20s %-20s %-20s %s", c, row(k.SD), row(k.Lengthscale), row(k.Period), window)
	}
	a.say("most confident frequencies:")
	a.say("  %9s  %-20s %-24s %-24s %-12s %-12s", "feature", "at", "frequency +- sd", "period +- sd", "reach", "amplitude")
	for _, f := range i.Confident {
		a.say("  %9d  %-20s %-24s %-24s %-12s %-12s", f.Feature, row(f.Location), pairs(f.Frequency, f.SD), pairs(f.Period, f.PeriodSD), row(f.Reach), row(f.Amplitude))
	}
}

// row shows numbers for people; those that are not finite as a dash.
func row(a []number) string {
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = short(v)
	}
	return strings.Join(parts, " ")
}

func pairs(a, sd []number) string {
	parts := make([]string, len(a))
	for i := range a {
		parts[i] = short(a[i]) + " +- " + short(sd[i])
	}
	return strings.Join(parts, "; ")
}

func short(v number) string {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return "-"
	}
	return fmt.Sprintf("%.5g", float64(v))
}
