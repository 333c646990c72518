package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// baselineFlags are the flags of baseline.
type baselineFlags struct {
	columns               columns
	output, keep          string
	lengthscales, periods []float64
	inducing, batch       int
	options               baseline.Options
}

// baselines are the names of the methods.
var baselines = []string{"gp", "fitc", "vfe", "svgp"}

func (a *app) baselineCommand() *cobra.Command {
	o := &baselineFlags{}
	inputs := input("INPUTS.csv", tableFiles)
	inputs.optional = true
	cmd := a.command(&cobra.Command{
		Use:   "baseline METHOD DATA [INPUTS.csv -o OUT.csv] [-m MODEL.safetensors]",
		Short: "Fit another kind of Gaussian process and predict, for comparison",
		Long: `Fits one of the comparison methods to DATA (read as by fit) and predicts at each
row of a table of inputs. The output is as predict's: the
input columns, then y_mean and y_sd for each output y.

  gp    the full Gaussian process, O(N³); at most 20000 rows
  fitc  inducing inputs, the FITC approximation, O(N·M²)
  vfe   inducing inputs, the variational bound, O(N·M²)
  svgp  inducing inputs on mini-batches, O(S·M² + M³) a step

All learn a covariance with as many components as --lengthscales has numbers,
those with a period as spectral mixtures. -m keeps the model of fitc, vfe or svgp, for
predict and info; INPUTS and -o may be left out then. Interrupting writes the predictions
of the best model so far, and the model.`,
		Example: `  vssgp baseline gp co2.csv months.csv -o gp.csv --lengthscales 0.1,1000 --periods 5,0
  vssgp baseline svgp table.csv new.csv --x age,water --y strength --inducing 200 -o svgp.csv
  vssgp baseline vfe table.csv -m vfe.safetensors`,
	}, func(ctx context.Context, args []string) error {
		at := ""
		if len(args) > 2 {
			at = args[2]
		}
		return a.baseline(ctx, args[0], args[1], at, o)
	}, operand{name: "METHOD", value: value{words: baselines}}, dataOperand, inputs)
	o.add(cmd.Flags())
	return cmd
}

func (o *baselineFlags) add(f *pflag.FlagSet) {
	o.columns.add(f)
	f.VarP(fileName(&o.output, file{written: true, needed: "-o OUT.csv", optional: true, extensions: tableOutputs, only: true, stdout: true}), "output", "o", "`file` to write: .csv, .tsv, .npy or - for stdout (required, unless there is -m)")
	f.VarP(fileName(&o.keep, file{written: true, extensions: modelFiles}), "model", "m", "keep the model of fitc, vfe or svgp in this `file`")
	f.Var(lengths(&o.lengthscales), "lengthscales", "starting length-scales in units of x (of a recording seconds, or times such as 32ms), one for each component, such as 0.1,1000 (default: one, a tenth of each input's range)")
	f.Var(lengths(&o.periods), "periods", "starting periods beside --lengthscales in units of x (of a recording seconds, or times), 0 for none, such as 5,0")
	f.Float64Var(&o.options.NoisePrecision, "noise-precision", 0, "starting noise `precision` in 1/y² of the first output (default: a hundredth of its variance is noise)")
	f.Var(count(&o.inducing, unbounded), "inducing", "inducing `inputs` of fitc, vfe and svgp (default 100)")
	f.Var(count(&o.batch, unbounded), "batch", "`rows` of a mini-batch of svgp (default 512, or all)")
	f.Var(count(&o.options.Iterations, unbounded), "iterations", "most optimiser `steps` (default 300, svgp 2000)")
}

// method returns the method of that name with the flags' options.
func (o *baselineFlags) method(name string) (baseline.Method, error) {
	switch {
	case o.inducing != 0 && name == "gp":
		return nil, mistake("--inducing %d: method gp does not use it; leave it out", o.inducing)
	case o.keep != "" && name == "gp":
		return nil, mistake("-m %s: the full Gaussian process is not kept, as it has a matrix of all rows; want fitc, vfe or svgp, or INPUTS -o OUT", o.keep)
	case o.batch != 0 && name != "svgp":
		return nil, mistake("--batch %d: method %s does not use it; leave it out", o.batch, name)
	}
	switch name {
	case "gp":
		return baseline.GP{Options: o.options}, nil
	case "fitc":
		return baseline.SPGP{Options: o.options, Inducing: o.inducing, Bound: baseline.FITC}, nil
	case "vfe":
		return baseline.SPGP{Options: o.options, Inducing: o.inducing, Bound: baseline.VFE}, nil
	case "svgp":
		return baseline.SVGP{Options: o.options, Inducing: o.inducing, Batch: o.batch}, nil
	}
	return nil, mistake("method %.40q; want one of %s", name, strings.Join(baselines, ", "))
}

// baseline fits a method, and writes its predictions and its model.
func (a *app) baseline(ctx context.Context, name, dataPath, inputPath string, o *baselineFlags) error {
	bar := a.newMeter()
	o.options.Seed, o.options.Progress = a.seed, bar.progress
	if _, err := o.method(name); err != nil { // before anything is read
		return err
	}
	switch {
	case inputPath == "" && (o.keep == "" || o.output != ""):
		return mistake("INPUTS.csv is missing: where to predict; want it with -o OUT.csv, or -m MODEL.safetensors alone")
	case inputPath != "" && o.output == "":
		return mistake("the output file is missing; want -o OUT.csv")
	case a.computer.device.kind == "cuda":
		return a.computer.unusable("baseline computes on the CPU alone")
	case a.computer.precision.digits > 0:
		return a.computer.precision.hostless(", and baseline on it alone")
	}
	read, err := a.readData(ctx, dataPath, o.columns, o.columns.split, nil)
	if err != nil {
		return err
	}
	data := read.Data
	var out *prediction
	if inputPath != "" {
		if out, err = a.baselinePrediction(ctx, read, inputPath, o); err != nil {
			return err
		}
	}
	if o.lengthscales != nil || o.periods != nil { // else the default
		if o.options.Covariance, err = baseline.SpectralMixture(data.Q, o.lengthscales, o.periods); err != nil {
			return err
		}
	}
	method, err := o.method(name)
	if err != nil {
		return err
	}
	fit, err := method.Fit(ctx, data)
	bar.clear()
	interrupted := fit != nil && errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return err
	}
	columns, err := a.writeFit(fit, read, out, o)
	if err == nil {
		err = a.reportBaseline(name, fit, data, out, columns, interrupted, o)
	}
	if err == nil && interrupted {
		err = &interruption{fmt.Sprintf(" at iteration %d: %s", fit.Iterations, o.kept())}
	}
	return err
}

// kept says where what an interrupted fit has found is.
func (o *baselineFlags) kept() string {
	if o.output == "" {
		return "the best model so far is in " + o.keep
	}
	kept := "the predictions of the best model so far are in " + o.output
	if o.keep != "" {
		kept += ", the model in " + o.keep
	}
	return kept
}

// writeFit writes the model and the predictions, and returns the columns of these.
func (a *app) writeFit(fit *baseline.Fit, data *dataset, out *prediction, o *baselineFlags) (columns []string, err error) {
	var files []atomicfile.File
	if o.keep != "" {
		f, err := sparseFile(o.keep, fit, data)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if out == nil {
		return nil, a.write(files...)
	}
	out.ctx = context.WithoutCancel(out.ctx) // a fit that was interrupted predicts, too
	return a.writeBaseline(fit.Model, out, files...)
}

// reportBaseline prints how a fit went.
func (a *app) reportBaseline(name string, fit *baseline.Fit, data *vssgp.Data, out *prediction, columns []string, interrupted bool, o *baselineFlags) error {
	_, scale := data.Standardise()
	components, predicted := mixture(fit.Covariance, scale.Scale), 0
	var noise []float64
	for _, s := range scale.Scale { // fit.NoiseSD is the first output's
		noise = append(noise, fit.NoiseSD*(s/scale.Scale[0]))
	}
	if out != nil {
		predicted = out.at.rows
	}
	if a.json {
		return a.printJSON(object{
			{"method", name}, {"bound", fit.Bound}, {"iterations", fit.Iterations}, {"ended", fit.Ended}, {"seconds", fit.Elapsed}, {"rows", data.N},
			{"components", components}, {"noise_sd", noise}, // of each output, in its units
			{"predicted", predicted}, {"columns", columns}, {"output", o.output}, {"model,omitempty", o.keep}, {"interrupted,omitempty", interrupted},
		})
	}
	if o.output == toStdout { // which is for the table alone
		return nil
	}
	a.say("%s: bound %.9g after %d iterations (%s), %.1f s", name, fit.Bound, fit.Iterations, fit.Ended, fit.Elapsed.Seconds())
	a.say("%s, noise sd %s", counted(data.N, "row"), row(noise))
	a.sayComponents(components, firstNumbers(len(components)))
	if out != nil {
		a.say("%d predictions in %s", predicted, o.output)
	}
	if o.keep != "" {
		a.say("wrote %s", o.keep)
	}
	return nil
}

// baselinePrediction reads where to predict, and makes the columns of the output: if two have
// the same name, the user should hear of it before the fit.
func (a *app) baselinePrediction(ctx context.Context, data *dataset, path string, o *baselineFlags) (*prediction, error) {
	s, err := a.openTable(ctx, path)
	if err != nil {
		return nil, err
	}
	like := data.axes
	if like == nil { // of a recording
		like = []*table.Axis{{}}
	}
	at, err := tablePlaces(ctx, s, path, columns{}, data.Q, data.XNames, like)
	if err != nil {
		return nil, err
	}
	r := &prediction{ctx: ctx, at: at, o: &predictFlags{output: o.output}, outputs: report.Names(data.YNames, data.D, "y")}
	_, _, err = r.files()
	return r, err
}
