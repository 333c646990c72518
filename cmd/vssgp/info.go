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

func (a *app) infoCommand() *cobra.Command {
	top, plot := 10, ""
	cmd := a.command(&cobra.Command{
		Use:   "info MODEL",
		Short: "Show a model's components, frequencies, noise and reach",
		Long: `Prints a model's components (standard deviation, length-scales, periods), its
noise, and its most confident frequencies: those with the smallest standard
deviation under the posterior of the hyper-parameters, each with its period and
its reach l/√Σ, how far from its inducing input the feature lives. A model without
that posterior (see fit --posterior) has its largest frequencies listed instead,
without standard deviations. All are in the data's units. --plot draws them: the
features' frequencies with their uncertainty, the largest with their periods, and
the covariance's power spectrum.

Of a series' model (forecast -m, fit --method structural) it prints the parts, the
seasons' periods, the hyper-parameters with their central 95 % intervals, the noise,
and how far the model reaches; --plot draws its parts.`,
		Example: `  vssgp info co2.safetensors
  vssgp info co2.safetensors --plot co2-model.html
  vssgp info co2.safetensors --top 30 --json`,
	}, func(ctx context.Context, args []string) error { return a.info(ctx, args[0], top, plot) }, modelOperand)
	cmd.Flags().Var(count(&top, unbounded), "top", "`number` of components and frequencies to list (--json lists every component)")
	cmd.Flags().Var(fileName(&plot, file{written: true, extensions: plotFiles, only: true}), "plot", "draw the frequencies and the spectrum to this `file`: .html, .png or .svg")
	return cmd
}

func (a *app) info(ctx context.Context, path string, top int, plot string) error {
	m, err := a.readAny(path)
	switch {
	case err != nil:
		return err
	case m.series != nil:
		return a.infoSeries(ctx, path, m.series, plot)
	}
	return a.infoModel(path, m.model, top, plot)
}

// infoModel prints a model of package vssgp.
func (a *app) infoModel(path string, m *vssgp.Model, top int, plot string) error {
	if plot != "" {
		if err := a.write(a.reportFile(plot, report.Info(filepath.Base(path), m))); err != nil {
			return err
		}
	}
	p, inputs, outputs, noise, components := m.Params, inputNames(m), outputNames(m), m.NoiseSD(), m.Components()
	frequencies, fitted := confident(m, top)
	axes, err := axesOfModel(m)
	if err != nil {
		return err
	}
	var units []string // of the inputs that are dates
	for i, axis := range axes {
		if axis.Dates() {
			units = append(units, fmt.Sprintf("%s: %s since %s", inputs[i], axis.Unit, axis.Since()))
		}
	}
	windows, length, along := len(p.Windows.Center), p.Windows.Length*m.X.Scale[p.Windows.Dim], inputs[p.Windows.Dim]
	if a.json {
		var w object
		if windows > 0 {
			w = object{"count", windows, "length", length, "input", along}
		}
		return a.printJSON(object{
			"model", path, "inference", m.Inference, "fitted", fitted, // has a posterior over its coefficients
			"inputs", inputs, "units,omitempty", units, "outputs", outputs, "features", p.M(), "windows,omitempty", w,
			"noise_sd", noise, // of each output
			"components", components, // in the file's order
			"posterior", knownFrequencies(m), // of the hyper-parameters: whether frequencies have standard deviations
			"frequencies", frequencies,
		})
	}
	state := "fitted"
	if !fitted {
		state = "no posterior over its coefficients"
	}
	a.say("%s: %s inference, %s", path, m.Inference, state)
	a.say("%s -> %s, %s, %s", strings.Join(inputs, ", "), strings.Join(outputs, ", "),
		counted(len(components), "component"), counted(p.M(), "feature"))
	for _, unit := range units {
		a.say("%s", unit)
	}
	if windows > 0 {
		a.say("windows: %d of length %.6g along %s", windows, length, along)
	}
	a.say("noise sd: %s", row(noise))
	order := firstNumbers(len(components))
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(components[y].SD[0], components[x].SD[0]) })
	a.say("components, largest first:")
	a.sayComponents(components, order[:min(top, len(order))])
	a.sayFrequencies(frequencies, knownFrequencies(m))
	return nil
}

// knownFrequencies reports whether frequencies have standard deviations: those under the posterior of the hyper-parameters.
func knownFrequencies(m *vssgp.Model) bool {
	h := m.Posterior()
	return h != nil && h.Features != nil
}

// sayFrequencies lists frequencies, with standard deviations if the model has a posterior of its hyper-parameters.
func (a *app) sayFrequencies(frequencies []frequency, sure bool) {
	title, frequency, period := "most confident frequencies:", "frequency +- sd", "period +- sd"
	if !sure {
		title, frequency, period = "largest frequencies (no posterior of the hyper-parameters, so no standard deviations):", "frequency", "period"
	}
	a.say("%s", title)
	a.say("  %9s  %-20s %-24s %-24s %-12s %-12s", "feature", "at", frequency, period, "reach", "amplitude")
	for _, f := range frequencies {
		frequency, period := row(f.Mean), row(f.Period)
		if sure {
			frequency, period = pairs(f.Mean, f.SD), pairs(f.Period, f.PeriodSD)
		}
		a.say("  %9d  %-20s %-24s %-24s %-12s %-12s", f.Feature, row(f.Location), frequency, period, row(f.Reach), row(f.Amplitude))
	}
}

// frequency is a feature's frequency with the amplitude of its cosine.
type frequency struct {
	vssgp.Frequency
	Amplitude []float64 `json:"amplitude"` // by output; NaN before a fit
}

// confident returns the top most confident frequencies, best first, or if the model has no posterior of its hyper-parameters those with the
// largest amplitudes, and whether the model is fitted.
func confident(m *vssgp.Model, top int) (list []frequency, fitted bool) {
	all, amplitude, d := m.Frequencies(), report.Amplitudes(m), m.Params.D
	if !knownFrequencies(m) && amplitude != nil {
		slices.SortStableFunc(all, func(x, y vssgp.Frequency) int { return cmp.Compare(amplitude[y.Feature*d], amplitude[x.Feature*d]) })
	}
	for _, f := range all[:min(top, len(all))] {
		own := slices.Repeat([]float64{math.NaN()}, d)
		if amplitude != nil {
			own = amplitude[f.Feature*d:][:d]
		}
		list = append(list, frequency{f, own})
	}
	return list, amplitude != nil
}
