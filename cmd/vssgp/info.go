package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/report"
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
	top, plot := 10, ""
	cmd := &cobra.Command{
		Use:   "info MODEL",
		Short: "Say what a model has learnt: components, frequencies, noise, reach",
		Long: `Prints a model's components (standard deviation, length-scales, periods), its
noise, and its most confident frequencies: those with the smallest standard
deviation under the posterior, each with its period and its reach l/√Σ, how far
from its inducing input the feature lives. All are in the data's units. --plot
draws them: the features' frequencies with their uncertainty, the largest with
their periods, and the covariance's power spectrum.`,
		Example: `  vssgp info co2.safetensors
  vssgp info co2.safetensors --plot co2-model.html
  vssgp info co2.safetensors --top 30 --json`,
		Args: arguments("MODEL"),
		RunE: a.do(func(_ context.Context, args []string) error {
			if top < 0 {
				return mistake("--top %d; want 0 or more", top)
			}
			if err := checkPlot("--plot", plot); err != nil {
				return err
			}
			m, err := readModel(args[0])
			if err != nil {
				return err
			}
			if plot != "" {
				if err := a.writeReport(plot, report.Info(filepath.Base(args[0]), m)); err != nil {
					return err
				}
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
	cmd.Flags().IntVar(&top, "top", top, "how `many` components and frequencies to list (--json has every component)")
	cmd.Flags().StringVar(&plot, "plot", "", "draw the frequencies and the spectrum to this `file`: .html, .png or .svg")
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
	amplitude := report.Amplitudes(m)
	i.Fitted = amplitude != nil
	all := m.Frequencies()
	for _, f := range all[:min(top, len(all))] {
		i.Confident = append(i.Confident, frequencyOf(f, p.D, amplitude))
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

// frequencyOf is a feature's frequency and, if there are any, its amplitudes.
func frequencyOf(of vssgp.Frequency, outputs int, amplitude []float64) frequency {
	f := frequency{Feature: of.Feature}
	for q, hz := range of.Mean {
		f.Location = append(f.Location, number(of.Location[q]))
		f.Frequency = append(f.Frequency, number(hz))
		f.SD = append(f.SD, number(of.SD[q]))
		f.Period = append(f.Period, number(1/hz))
		f.PeriodSD = append(f.PeriodSD, number(of.SD[q]/(hz*hz)))
		f.Reach = append(f.Reach, number(of.Reach[q]))
	}
	for d := range outputs {
		v := math.NaN()
		if amplitude != nil {
			v = amplitude[of.Feature*outputs+d]
		}
		f.Amplitude = append(f.Amplitude, number(v))
	}
	return f
}

// inputNames are the model's, or x, or x0, x1, … where it has none.
func inputNames(m *vssgp.Model) []string { return report.Names(m.XNames, m.Params.Q, "x") }

func (a *app) sayInfo(i *modelInfo, top int) {
	fitted := "fitted"
	if !i.Fitted {
		fitted = "no posterior over its coefficients"
	}
	a.say("%s: %s inference, %s", i.Model, i.Inference, fitted)
	a.say("%s -> %s, %s, %s", strings.Join(i.Inputs, ", "), strings.Join(i.Outputs, ", "), report.Counted(len(i.Components), "component"), report.Counted(i.Features, "feature"))
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
