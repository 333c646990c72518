package main

import (
	"cmp"
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
	Model      string            `json:"model"`
	Inference  vssgp.Inference   `json:"inference"`
	Fitted     bool              `json:"fitted"` // has a posterior over its coefficients
	Inputs     []string          `json:"inputs"`
	Outputs    []string          `json:"outputs"`
	Features   int               `json:"features"` // M
	Windows    *windowInfo       `json:"windows,omitempty"`
	NoiseSD    []float64         `json:"noise_sd"`    // of each output
	Components []vssgp.Component `json:"components"`  // in the file's order
	Confident  []frequency       `json:"frequencies"` // the most confident, best first
}

type windowInfo struct {
	Count  int     `json:"count"`
	Length float64 `json:"length"`
	Input  string  `json:"input"`
}

// frequency is a feature's, with the amplitude of its cosine.
type frequency struct {
	vssgp.Frequency
	Amplitude []float64 `json:"amplitude"` // by output; NaN before a fit
}

func (a *app) infoCommand() *cobra.Command {
	top, plot := 10, ""
	cmd := a.command(&cobra.Command{
		Use:   "info MODEL",
		Short: "Show a model's components, frequencies, noise and reach",
		Long: `Prints a model's components (standard deviation, length-scales, periods), its
noise, and its most confident frequencies: those with the smallest standard
deviation under the posterior, each with its period and its reach l/√Σ, how far
from its inducing input the feature lives. All are in the data's units. --plot
draws them: the features' frequencies with their uncertainty, the largest with
their periods, and the covariance's power spectrum.`,
		Example: `  vssgp info co2.safetensors
  vssgp info co2.safetensors --plot co2-model.html
  vssgp info co2.safetensors --top 30 --json`,
	}, func(_ context.Context, args []string) error { return a.info(args[0], top, plot) }, modelOperand)
	cmd.Flags().Var(count(&top, unbounded), "top", "`number` of components and frequencies to list (--json lists every component)")
	cmd.Flags().Var(fileName(&plot, file{written: true, extensions: plotFiles, only: true}), "plot", "draw the frequencies and the spectrum to this `file`: .html, .png or .svg")
	return cmd
}

func (a *app) info(path string, top int, plot string) error {
	m, err := readModel(path)
	if err != nil {
		return err
	}
	if plot != "" {
		if err := a.write(reportFile(plot, report.Info(filepath.Base(path), m))); err != nil {
			return err
		}
	}
	i := infoOf(m, top)
	i.Model = path
	if a.json {
		return a.printJSON(i)
	}
	a.sayInfo(i, top)
	return nil
}

func infoOf(m *vssgp.Model, top int) *modelInfo {
	p, amplitude := m.Params, report.Amplitudes(m)
	i := &modelInfo{
		Inference: m.Inference, Fitted: amplitude != nil, Inputs: inputNames(m), Outputs: outputNames(m), Features: p.M(),
		NoiseSD: m.NoiseSD(), Components: m.Components(),
	}
	if n := len(p.Windows.Center); n > 0 {
		d := p.Windows.Dim
		i.Windows = &windowInfo{Count: n, Length: p.Windows.Length * m.X.Scale[d], Input: i.Inputs[d]}
	}
	all := m.Frequencies()
	for _, f := range all[:min(top, len(all))] {
		own := slices.Repeat([]float64{math.NaN()}, p.D)
		if i.Fitted {
			own = amplitude[f.Feature*p.D:][:p.D]
		}
		i.Confident = append(i.Confident, frequency{f, own})
	}
	return i
}

func (a *app) sayInfo(i *modelInfo, top int) {
	fitted := "fitted"
	if !i.Fitted {
		fitted = "no posterior over its coefficients"
	}
	a.say("%s: %s inference, %s", i.Model, i.Inference, fitted)
	a.say("%s -> %s, %s, %s", strings.Join(i.Inputs, ", "), strings.Join(i.Outputs, ", "),
		counted(len(i.Components), "component"), counted(i.Features, "feature"))
	if w := i.Windows; w != nil {
		a.say("windows: %d of length %.6g along %s", w.Count, w.Length, w.Input)
	}
	a.say("noise sd: %s", row(i.NoiseSD))
	order := firstNumbers(len(i.Components))
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(i.Components[y].SD[0], i.Components[x].SD[0]) })
	a.say("components, largest first:")
	a.sayComponents(i.Components, order[:min(top, len(order))])
	a.say("most confident frequencies:")
	a.say("  %9s  %-20s %-24s %-24s %-12s %-12s", "feature", "at", "frequency +- sd", "period +- sd", "reach", "amplitude")
	for _, f := range i.Confident {
		a.say("  %9d  %-20s %-24s %-24s %-12s %-12s",
			f.Feature, row(f.Location), pairs(f.Mean, f.SD), pairs(f.Period, f.PeriodSD), row(f.Reach), row(f.Amplitude))
	}
}

// sayComponents lists the components of these numbers.
func (a *app) sayComponents(all []vssgp.Component, order []int) {
	a.say("  %9s  %-20s %-20s %-20s", "component", "sd", "length-scale", "period")
	for _, i := range order {
		c, window := all[i], ""
		if c.Window != nil {
			window = fmt.Sprintf(" window %d", *c.Window)
		}
		a.say("  %9d  %-20s %-20s %-20s%s", i, row(c.SD), row(c.Lengthscale), row(c.Period), window)
	}
}
