package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// baselineFlags are baseline's own.
type baselineFlags struct {
	columns               columns
	output                string
	lengthscales, periods lengthsFlag
	precision             float64
	inducing, batch       int
	iterations            int
}

// baselineResult is what `baseline --json` prints.
type baselineResult struct {
	Method      string      `json:"method"`
	Bound       number      `json:"bound"`
	Iterations  int         `json:"iterations"`
	Ended       string      `json:"ended"`
	Seconds     number      `json:"seconds"` // of the fit
	Rows        int         `json:"rows"`
	Components  []component `json:"components"`
	NoiseSD     []number    `json:"noise_sd"` // of each output, in its units
	Predicted   int         `json:"predicted"`
	Columns     []string    `json:"columns"`
	Output      string      `json:"output"`
	Interrupted bool        `json:"interrupted,omitempty"`
}

func (a *app) baselineCommand() *cobra.Command {
	o := &baselineFlags{}
	cmd := &cobra.Command{
		Use:   "baseline METHOD DATA INPUTS.csv -o OUT.csv",
		Short: "Fit and predict with another Gaussian process, to compare with",
		Long: `Fits one of the methods that VSSGP is compared with to DATA (as fit reads it) and
predicts at each row of a table of inputs. The output is as predict's: the
input columns, then y_mean and y_sd for each output y.

  gp    the full Gaussian process, O(N³); at most 20000 rows
  fitc  inducing inputs, the FITC approximation, O(N·M²)
  vfe   inducing inputs, the variational bound, O(N·M²)
  svgp  inducing inputs on mini-batches, O(S·M² + M³) a step

All learn a covariance with as many components as --lengthscales has numbers,
those with a period as spectral mixtures. Interrupting writes the predictions
of the best model so far.`,
		Example: `  vssgp baseline gp co2.csv months.csv -o gp.csv --lengthscales 0.1,1000 --periods 5,0
  vssgp baseline svgp table.csv new.csv --x age,water --y strength --inducing 200 -o svgp.csv`,
		Args: arguments("METHOD", "DATA", "INPUTS.csv"),
		RunE: a.do(func(ctx context.Context, args []string) error { return a.baseline(ctx, args[0], args[1], args[2], o) }),
	}
	o.add(cmd.Flags())
	return cmd
}

func (o *baselineFlags) add(f *pflag.FlagSet) {
	addColumnFlags(f, &o.columns)
	f.StringVarP(&o.output, "output", "o", "", "`file` to write: .csv, .npy or - for stdout (required)")
	f.Var(&o.lengthscales, "lengthscales", "starting length-scales in units of x (of a recording seconds, or times such as 32ms), one a component, such as 0.1,1000 (default: one, a tenth of each input's range)")
	f.Var(&o.periods, "periods", "starting periods beside --lengthscales in units of x (of a recording seconds, or times), 0 for none, such as 5,0")
	f.Float64Var(&o.precision, "noise-precision", 0, "starting noise `precision` in 1/y² of the first output (default: a hundredth of its variance is noise)")
	f.IntVar(&o.inducing, "inducing", 0, "inducing `inputs` of fitc, vfe and svgp (default 100)")
	f.IntVar(&o.batch, "batch", 0, "`rows` of a mini-batch of svgp (default 512, or all)")
	f.IntVar(&o.iterations, "iterations", 0, "optimiser `steps` at most (default 300, svgp 2000)")
}

// method is the method of that name with the flags' options.
func (o *baselineFlags) method(name string, options baseline.Options) (baseline.Method, error) {
	for _, n := range []struct {
		flag  string
		value int
		takes bool
	}{{"iterations", o.iterations, true}, {"inducing", o.inducing, name != "gp"}, {"batch", o.batch, name == "svgp"}} {
		if n.value < 0 {
			return nil, mistake("--%s %d; want a positive number, or 0 for the default", n.flag, n.value)
		}
		if n.value != 0 && !n.takes {
			return nil, mistake("--%s %d: method %s has none", n.flag, n.value, name)
		}
	}
	switch name {
	case "gp":
		return baseline.GP{Options: options}, nil
	case "fitc":
		return baseline.SPGP{Options: options, Inducing: o.inducing, Bound: baseline.FITC}, nil
	case "vfe":
		return baseline.SPGP{Options: options, Inducing: o.inducing, Bound: baseline.VFE}, nil
	case "svgp":
		return baseline.SVGP{Options: options, Inducing: o.inducing, Batch: o.batch}, nil
	}
	return nil, mistake("method %.40q; want one of gp, fitc, vfe, svgp", name)
}

// options are the fit's, but for its covariance.
func (a *app) baselineOptions(o *baselineFlags, bar *meter) baseline.Options {
	return baseline.Options{
		NoisePrecision: o.precision, Iterations: o.iterations, Seed: a.seed,
		Progress: func(p vssgp.Progress) {
			bar.show(stageName(p), p.Iteration, p.Iterations, p.Bound, p.NoiseSD, p.Left)
		},
	}
}

func (a *app) baseline(ctx context.Context, name, dataPath, inputPath string, o *baselineFlags) error {
	bar := a.newMeter()
	options := a.baselineOptions(o, bar)
	if _, err := o.method(name, options); err != nil { // before anything is read
		return err
	}
	if err := a.computer.hostOnly("baseline"); err != nil {
		return err
	}
	if err := a.wantTable(o.output); err != nil {
		return err
	}
	if err := a.checkOutputs(o.output); err != nil {
		return err
	}
	data, inputs, err := o.read(ctx, dataPath, inputPath)
	if err != nil {
		return err
	}
	if options.Covariance, err = o.covariance(data.Q); err != nil {
		return err
	}
	method, err := o.method(name, options)
	if err != nil {
		return err
	}
	fit, err := method.Fit(ctx, data)
	bar.clear()
	interrupted := err != nil && errors.Is(err, context.Canceled) && fit != nil
	if err != nil && !interrupted {
		return err
	}
	result, err := a.predictBaseline(fit, data, inputs, o)
	if err != nil {
		return err
	}
	result.Method, result.Interrupted = name, interrupted
	if err := a.reportBaseline(result); err != nil {
		return err
	}
	if interrupted {
		return &interruption{fmt.Sprintf(" at iteration %d: the predictions of the best model so far are in %s", fit.Iterations, o.output)}
	}
	return nil
}

// read reads the data and the inputs to predict at.
func (o *baselineFlags) read(ctx context.Context, dataPath, inputPath string) (*vssgp.Data, *table.Table, error) {
	data, rate, err := readToFit(ctx, dataPath, o.columns)
	if err != nil {
		return nil, nil, err
	}
	if rate == 0 {
		if err := cmp.Or(o.lengthscales.inTable("lengthscales"), o.periods.inTable("periods")); err != nil {
			return nil, nil, err
		}
	}
	if o.batch > data.N {
		return nil, nil, mistake("--batch %d: the data have %d rows; want at most that", o.batch, data.N)
	}
	inputs, err := readInputs(inputPath, columns{}, data.Q, data.XNames)
	if err != nil {
		return nil, nil, err
	}
	// Before the fit: columns of the same name would be found out after it.
	names := append(append([]string(nil), inputs.Names...), predictionNames(report.Names(data.YNames, data.D, "y"), &predictFlags{})...)
	return data, inputs, distinct(names)
}

// covariance is what the fit starts from; its zero value is the default.
func (o *baselineFlags) covariance(q int) (baseline.Covariance, error) {
	if o.lengthscales.values == nil && o.periods.values == nil {
		return baseline.Covariance{}, nil
	}
	if o.lengthscales.values == nil {
		return baseline.Covariance{}, mistake("--periods without --lengthscales; want one of each for every component")
	}
	return baseline.SpectralMixture(q, o.lengthscales.values, o.periods.values)
}

// predictBaseline writes the predictions.
func (a *app) predictBaseline(fit *baseline.Fit, data *vssgp.Data, inputs *table.Table, o *baselineFlags) (*baselineResult, error) {
	p, err := fit.Model.Predict(mat.NewDense(inputs.Rows, inputs.Cols, inputs.Data))
	if err != nil {
		return nil, err
	}
	names, err := tableNames(inputs.Names, report.Names(data.YNames, data.D, "y"), &predictFlags{})
	if err != nil {
		return nil, err
	}
	rows := tabulate(nil, p, inputs.Data, p.SD(true), 0, p.N, nil, &predictFlags{})
	out := &table.Table{Names: names, Rows: p.N, Cols: len(names), Data: rows}
	if err := a.writeOutput(o.output, func(w io.Writer) error { return writeTable(w, o.output, out) }); err != nil {
		return nil, err
	}
	r := &baselineResult{
		Bound: number(fit.Bound), Iterations: fit.Iterations, Ended: fit.Ended, Seconds: number(fit.Elapsed.Seconds()),
		Rows: data.N, Components: mixture(fit.Covariance, data), Predicted: out.Rows, Columns: out.Names, Output: o.output,
	}
	for _, v := range p.Noise {
		r.NoiseSD = append(r.NoiseSD, number(math.Sqrt(v)))
	}
	return r, nil
}

// mixture is a covariance's components in the data's units.
func mixture(c baseline.Covariance, data *vssgp.Data) []component {
	_, y := data.Standardise()
	out := make([]component, c.L)
	for i := range out {
		for _, s := range y.Scale {
			out[i].SD = append(out[i].SD, number(math.Sqrt(c.Variance[i])*s))
		}
		for q := range c.Q {
			out[i].Lengthscale = append(out[i].Lengthscale, number(c.Lengthscale[i*c.Q+q]))
			out[i].Period = append(out[i].Period, number(1/math.Abs(c.Frequency[i*c.Q+q])))
		}
	}
	return out
}

func (a *app) reportBaseline(r *baselineResult) error {
	if a.json {
		return a.printJSON(r)
	}
	if r.Output == toStdout { // the table has it for itself
		return nil
	}
	a.say("%s: bound %.9g after %d iterations (%s), %.1f s", r.Method, float64(r.Bound), r.Iterations, r.Ended, float64(r.Seconds))
	a.say("%s, noise sd %s", report.Counted(r.Rows, "row"), row(r.NoiseSD))
	a.say("  %9s  %-20s %-20s %-20s", "component", "sd", "length-scale", "period")
	for i, c := range r.Components {
		a.say("  %9d  %-20s %-20s %-20s", i, row(c.SD), row(c.Lengthscale), row(c.Period))
	}
	a.say("%d predictions in %s", r.Predicted, r.Output)
	return nil
}
