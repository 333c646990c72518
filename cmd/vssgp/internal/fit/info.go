package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
)

// NewInfo returns the command info.
func NewInfo(env *cli.Env) *cobra.Command {
	top, plot := 10, ""
	cmd := env.Command(&cobra.Command{
		Use:   "info MODEL",
		Short: "Describe a fitted model",
		Long: `Prints the ranges of a model's inputs, its components (standard deviation, length-scales,
periods), its noise, and its most certain frequencies with their standard deviations. For a
model without a posterior of its hyper-parameters, it prints the frequencies with the largest
amplitudes.

For a time-series model, it prints the parts, the seasons, the effects of regressors, the
hyper-parameters with their 95 % intervals, and the end of the forecast range.`,
		Example: `  vssgp info co2.safetensors
  vssgp info co2.safetensors --plot co2-model.html
  vssgp info co2.safetensors --top 30 --json`,
	}, func(ctx context.Context, args []string) error { return runInfo(ctx, env, args[0], top, plot) }, cli.ModelOperand)
	cmd.Annotations = cli.FlagGroups("Output: top plot overwrite")
	cmd.Flags().Var(cli.Count(&top, cli.Unbounded), "top", "`number` of components and frequencies to list")
	cmd.Flags().Var(cli.OutputFile(&plot, cli.PlotFiles...), "plot",
		"plot the frequencies or parts to this `file` (.html, .png, .svg)")
	return cmd
}

func runInfo(ctx context.Context, env *cli.Env, path string, top int, plot string) error {
	m, err := readModel(env, path, nil)
	if err != nil {
		return err
	}
	if err = m.info(ctx, env, top, plot); err == nil && plot != "" {
		env.Print("wrote %s", plot)
	}
	return err
}

// info implements model.
func (m seriesModel) info(ctx context.Context, env *cli.Env, _ int, plot string) error {
	return seriescmd.Info(ctx, env, m.ModelFile, m.Model, plot)
}

// A description is the output of info --json.
type description struct {
	cli.ModelFile
	Inference   vssgp.Inference   `json:"inference"`
	Fitted      bool              `json:"fitted"` // the model has a posterior of the coefficients
	Inputs      []string          `json:"inputs"`
	Units       []string          `json:"units,omitempty"` // of dates
	Outputs     []string          `json:"outputs"`
	Ranges      [][2]any          `json:"ranges,omitempty"` // of the data by input, numbers or dates
	Features    int               `json:"features"`
	Windows     *windowing        `json:"windows,omitzero"`
	NoiseSD     []float64         `json:"noise_sd"`   // by output
	Components  []vssgp.Component `json:"components"` // in the file's order
	Posterior   bool              `json:"posterior"`  // of the hyper-parameters, so frequencies have standard deviations
	Frequencies []frequency       `json:"frequencies"`
}

// windowing describes the windows of a model.
type windowing struct {
	Count  int     `json:"count"`
	Length float64 `json:"length"`
	Input  string  `json:"input"`
}

// info implements model.
func (m vssgpModel) info(_ context.Context, env *cli.Env, top int, plot string) error {
	if plot != "" {
		if err := env.Write(env.ReportFile(plot, report.Info(filepath.Base(m.Path), m.Model))); err != nil {
			return err
		}
	}
	d, err := describe(m.ModelFile, m.Model, top)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(d)
	}
	state := "fitted"
	if !d.Fitted {
		state = "no posterior of the coefficients"
	}
	env.Print("%s: %s inference, %s", m.Path, m.Inference, state)
	env.Print("%s -> %s, %s, %s", strings.Join(d.Inputs, ", "), strings.Join(d.Outputs, ", "),
		cli.Counted(len(d.Components), "component"), cli.Counted(d.Features, "feature"))
	for _, unit := range d.Units {
		env.Print("%s", unit)
	}
	if d.Ranges != nil {
		all := make([]string, len(d.Ranges))
		for i, ends := range d.Ranges {
			all[i] = fmt.Sprintf("%s %v to %v", d.Inputs[i], ends[0], ends[1])
		}
		env.Print("ranges: %s", strings.Join(all, ", "))
	}
	if w := d.Windows; w != nil {
		env.Print("windows: %d of length %.6g along %s", w.Count, w.Length, w.Input)
	}
	env.Print("noise sd: %s", cli.Row(d.NoiseSD))
	env.Print("components, largest first:")
	printComponents(env, d.Components, d.Inputs, top)
	if len(d.Frequencies) > 0 {
		printFrequencies(env, d.Frequencies, d.Posterior)
	}
	return nil
}

// describe returns the description of a model with its top frequencies.
func describe(file cli.ModelFile, m *vssgp.Model, top int) (*description, error) {
	p := m.Params
	d := &description{
		ModelFile: file, Inference: m.Inference, Inputs: datafile.InputNames(m), Outputs: datafile.OutputNames(m), Features: p.M(),
		NoiseSD: m.NoiseSD(), Components: m.Components(), Posterior: knownFrequencies(m),
	}
	d.Frequencies, d.Fitted = topFrequencies(m, top)
	if n := len(p.Windows.Center); n > 0 {
		d.Windows = &windowing{n, p.Windows.Length * m.X.Scale[p.Windows.Dim], d.Inputs[p.Windows.Dim]}
	}
	axes, err := datafile.AxesOfModel(m)
	if err != nil {
		return nil, err
	}
	for i, axis := range axes {
		if len(m.Range) > 0 {
			d.Ranges = append(d.Ranges, [2]any{valueOf(axis, m.Range[i][0]), valueOf(axis, m.Range[i][1])})
		}
		if axis.Dates() {
			d.Units = append(d.Units, fmt.Sprintf("%s: %s since %s", d.Inputs[i], axis.Unit, axis.Since()))
		}
	}
	return d, nil
}

// knownFrequencies reports whether the model has standard deviations of its frequencies from the posterior of its hyper-parameters.
func knownFrequencies(m *vssgp.Model) bool {
	h := m.Posterior()
	return h != nil && h.Features != nil
}

// printFrequencies prints frequencies, with standard deviations if sure is set.
func printFrequencies(env *cli.Env, frequencies []frequency, sure bool) {
	title, head := "most confident frequencies:", []string{"feature", "at", "frequency +- sd", "period +- sd", "reach", "amplitude"}
	if !sure {
		title = "frequencies with the largest amplitudes (without a posterior of the hyper-parameters):"
		head[2], head[3] = "frequency", "period"
	}
	env.Print("%s", title)
	rows := [][]string{head}
	for _, f := range frequencies {
		frequency, period := cli.Row(f.Mean), cli.Row(f.Period)
		if sure {
			frequency, period = pairs(f.Mean, f.SD), pairs(f.Period, f.PeriodSD)
		}
		rows = append(rows, []string{strconv.Itoa(f.Feature), cli.Row(f.Location), frequency, period, cli.Row(f.Reach), cli.Row(f.Amplitude)})
	}
	printColumns(env, []int{9, 20, 24, 24, 12, 12}, rows)
}

// printColumns prints rows in columns with at least the given widths. The first column is right-aligned. A row may have entries after the
// last column.
func printColumns(env *cli.Env, widths []int, rows [][]string) {
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], len(row[i]))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("  %*s ", widths[0], row[0])
		for i, width := range widths[1:] {
			line += fmt.Sprintf(" %-*s", width, row[i+1])
		}
		env.Print("%s", line+strings.Join(row[len(widths):], ""))
	}
}

// frequency is a feature's frequency with the amplitude of its cosine.
type frequency struct {
	vssgp.Frequency `json:",embed"`
	Amplitude       []float64 `json:"amplitude"` // [D], NaN before a fit
}

// topFrequencies returns the most confident frequencies, best first. Without a posterior of the hyper-parameters, it returns the
// frequencies with the largest amplitudes. fitted reports whether the model is fitted.
func topFrequencies(m *vssgp.Model, top int) (list []frequency, fitted bool) {
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

// pairs formats numbers with their standard deviations.
func pairs(a, sd []float64) string {
	parts := make([]string, len(a))
	for i := range a {
		parts[i] = cli.Short(a[i]) + " +- " + cli.Short(sd[i])
	}
	return strings.Join(parts, "; ")
}

// printComponents prints the components with the largest standard deviations in the first output. If there are several
// inputs, the head gives their order, because a component has a length-scale and a period for each.
func printComponents(env *cli.Env, all []vssgp.Component, inputs []string, top int) {
	if len(all) == 0 {
		env.Print("  none: the search has found a constant and noise")
		return
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(all[y].SD[0], all[x].SD[0]) })
	of := ""
	if len(inputs) > 1 {
		of = " (" + datafile.Listed(inputs) + ")"
	}
	rows, widths := [][]string{{"component", "sd", "length-scale" + of, "period"}}, []int{9, 20, 20, 20}
	found := all[0].Kind != ""
	if found {
		rows[0], widths = slices.Insert(rows[0], 1, "kind"), slices.Insert(widths, 1, 8)
	}
	for _, i := range order[:min(top, len(order))] {
		c, window := all[i], ""
		if c.Window != nil {
			window = fmt.Sprintf(" window %d", *c.Window)
		}
		row := []string{strconv.Itoa(i), cli.Row(c.SD), cli.Row(c.Lengthscale), cli.Row(c.Period), window}
		if found {
			row = slices.Insert(row, 1, c.Kind)
		}
		rows = append(rows, row)
	}
	printColumns(env, widths, rows)
}
