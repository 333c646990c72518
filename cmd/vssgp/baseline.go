package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// baselineFlags are the flags of baseline.
type baselineFlags struct {
	columns               columns
	output                string
	lengthscales, periods []float64
	inducing, batch       int
	options               baseline.Options
}

// baselines are the names of the methods.
var baselines = []string{"gp", "fitc", "vfe", "svgp"}

func (a *app) baselineCommand() *cobra.Command {
	o := &baselineFlags{}
	cmd := a.command(&cobra.Command{
		Use:   "baseline METHOD DATA INPUTS.csv -o OUT.csv",
		Short: "Fit another kind of Gaussian process and predict, for comparison",
		Long: `Fits one of the comparison methods to DATA (read as by fit) and predicts at each
row of a table of inputs. The output is as predict's: the
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
	}, func(ctx context.Context, args []string) error { return a.baseline(ctx, args[0], args[1], args[2], o) },
		operand{"METHOD", value{words: baselines}}, dataOperand, input("INPUTS.csv", tableFiles))
	o.add(cmd.Flags())
	return cmd
}

func (o *baselineFlags) add(f *pflag.FlagSet) {
	o.columns.add(f)
	f.VarP(fileName(&o.output, file{written: true, needed: "-o OUT.csv", extensions: tableOutputs, only: true, stdout: true}), "output", "o", "`file` to write: .csv, .tsv, .npy or - for stdout (required)")
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

// baseline fits a method and writes its predictions.
func (a *app) baseline(ctx context.Context, name, dataPath, inputPath string, o *baselineFlags) error {
	bar := a.newMeter()
	o.options.Seed, o.options.Progress = a.seed, bar.progress
	if _, err := o.method(name); err != nil { // before anything is read
		return err
	}
	if a.computer.device.kind == "cuda" {
		return a.computer.unusable("baseline computes on the CPU alone")
	}
	if a.computer.precision.digits > 0 {
		return a.computer.precision.hostless(", and baseline on it alone")
	}
	read, err := a.readData(ctx, dataPath, o.columns, o.columns.split, nil)
	if err != nil {
		return err
	}
	data := read.Data
	out, columns, err := a.baselinePrediction(ctx, read, inputPath, o)
	if err != nil {
		return err
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
	noise, err := a.predictBaseline(fit, out)
	if err != nil {
		return err
	}
	components := mixture(fit.Covariance, data)
	if a.json {
		err = a.printJSON(object{
			{"method", name}, {"bound", fit.Bound}, {"iterations", fit.Iterations}, {"ended", fit.Ended}, {"seconds", fit.Elapsed}, {"rows", data.N},
			{"components", components}, {"noise_sd", noise}, // of each output, in its units
			{"predicted", out.at.rows}, {"columns", columns}, {"output", o.output}, {"interrupted,omitempty", interrupted},
		})
	} else if o.output != toStdout { // stdout is for the table alone
		a.say("%s: bound %.9g after %d iterations (%s), %.1f s", name, fit.Bound, fit.Iterations, fit.Ended, fit.Elapsed.Seconds())
		a.say("%s, noise sd %s", counted(data.N, "row"), row(noise))
		a.sayComponents(components, firstNumbers(len(components)))
		a.say("%d predictions in %s", out.at.rows, o.output)
	}
	if err == nil && interrupted {
		err = &interruption{fmt.Sprintf(" at iteration %d: the predictions of the best model so far are in %s", fit.Iterations, o.output)}
	}
	return err
}

// baselinePrediction reads where to predict, and makes the columns of the output: if two have
// the same name, the user should hear of it before the fit.
func (a *app) baselinePrediction(ctx context.Context, data *dataset, path string, o *baselineFlags) (*prediction, []string, error) {
	s, err := a.openTable(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	like := data.axes
	if like == nil { // of a recording
		like = []*table.Axis{{}}
	}
	at, err := tablePlaces(ctx, s, path, columns{}, data.Q, data.XNames, like)
	if err != nil {
		return nil, nil, err
	}
	r := &prediction{ctx: ctx, at: at, o: &predictFlags{output: o.output}, outputs: report.Names(data.YNames, data.D, "y")}
	_, names, err := r.files()
	return r, names, err
}

// predictBaseline writes the predictions at all places at once, and returns the
// noise's standard deviation in each output.
func (a *app) predictBaseline(fit *baseline.Fit, r *prediction) (noise []float64, err error) {
	var x []float64
	err = r.at.each(context.WithoutCancel(r.ctx), func(_ int, part []float64) error {
		x = append(x, part...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, err := fit.Model.Predict(mat.NewDense(r.at.rows, len(r.at.names), x))
	if err != nil {
		return nil, err
	}
	for _, v := range p.Noise {
		noise = append(noise, math.Sqrt(v))
	}
	r.each = func(context.Context, iter.Seq2[[]float64, error]) iter.Seq2[*vssgp.Part, error] {
		return func(yield func(*vssgp.Part, error) bool) { yield(&vssgp.Part{X: x, Prediction: p}, nil) }
	}
	files, _, err := r.files()
	if err != nil {
		return nil, err
	}
	return noise, a.writeLast([]atomicfile.File{r.file(files[0])}, r.meter.clear)
}

// mixture returns a covariance's components in the data's units.
func mixture(c baseline.Covariance, data *vssgp.Data) []vssgp.Component {
	_, y := data.Standardise()
	out := make([]vssgp.Component, c.L)
	for i := range out {
		for _, s := range y.Scale {
			out[i].SD = append(out[i].SD, math.Sqrt(c.Variance[i])*s)
		}
		for q := range c.Q {
			out[i].Lengthscale = append(out[i].Lengthscale, c.Lengthscale[i*c.Q+q])
			out[i].Period = append(out[i].Period, 1/math.Abs(c.Frequency[i*c.Q+q]))
		}
	}
	return out
}
