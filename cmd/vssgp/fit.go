package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

func (a *app) fitCommand() *cobra.Command {
	o := &fitFlags{}
	cmd := a.command(&cobra.Command{
		Use:   "fit DATA -o MODEL.safetensors",
		Short: "Fit a model to a table (CSV, TSV, TXT, NPY) or a recording (WAV, FLAC, SPHERE …)",
		Long: `Fits a model to a table (.csv, .tsv, .txt, all also as .gz, .npy, or - for stdin) or
to a recording (WAV, FLAC, AIFF, SPHERE …; x is the time in seconds, each channel an output in
full scale 1) and writes it as a safetensors file.

A table may be separated by commas, semicolons, tabs or spaces, with or without a
line of names. --x and --y choose columns; others are not looked at. An input may hold
dates: by default the first such column is x. Rows without an output (empty, NA, NaN,
null, -) are left out.

--method structural is the default for a table with one input: a level and a slope that
wander, seasons, a short memory and noise, as forecast fits them, with the flags from
--period to --prior. The paper's method, vssgp, is the default for several inputs and for
recordings, and wherever a flag is given that belongs to it: --components, --features,
--init, --inference, --window, --lengthscales and the others from --inference on.

Interrupting a fit by the paper's methods (SIGINT, SIGTERM) writes the best model so
far to -o and says how to continue. --checkpoint saves the state of the fit in a second file, every 30
seconds and when it is interrupted. The same command with --resume continues from
there and ends with the same file, bit for bit; the first time, when there is no
checkpoint yet, it starts the fit. Data, options, device, instruction set and
build must be the same; if not, it says what differs. A checkpoint can be read as
a model too (info, evaluate, --init).`,
		Example: `  vssgp fit co2.csv -o co2.safetensors
  vssgp fit co2.csv --method vssgp -o co2.safetensors --report co2.html
  vssgp fit load.csv --season 24 --season 168 --trend walk -o load.safetensors
  vssgp fit table.csv --x age,water --y strength --components 2 --restarts 3 -o strength.safetensors
  vssgp fit solar.csv --init paper --lengthscales 10,1000 --periods 11,0 --features 50 --window none -o solar.safetensors
  vssgp fit long.wav --window 32ms --checkpoint long.part --every 5m --resume -o long.safetensors`,
	}, func(ctx context.Context, args []string) error { return a.fit(ctx, args[0], o) }, dataOperand)
	f := cmd.Flags()
	o.columns.add(f)
	f.Var(oneOf(&o.model.method, structural, "vssgp", "ssgp", "rp"), "method",
		"structural (parts that have names), vssgp, ssgp (point frequencies, optimised) or rp (random frequencies, kept) (default: structural for a table with one input, else vssgp)")
	o.ofSeries, o.ofModel = pflag.NewFlagSet("series", pflag.ContinueOnError), pflag.NewFlagSet("model", pflag.ContinueOnError)
	o.series.addParts(o.ofSeries)
	o.model.addMemory(o.ofModel)
	o.model.add(o.ofModel, "units of x (for recordings seconds; 32ms and 0.5s are understood)", "auto")
	f.VarP(fileName(&o.output, file{written: true, needed: "-o MODEL.safetensors"}), "output", "o", "model `file` to write (required)")
	o.checkpoint.add(o.ofModel)
	o.ofModel.Var(count(&o.model.o.Posterior, unbounded), "posterior",
		"`draws` from the posterior of the hyper-parameters to keep in the model, for predict --posterior; such as 30 (default 0: their standard deviations alone, if they cost little)")
	f.AddFlagSet(o.ofSeries)
	f.AddFlagSet(o.ofModel)
	f.Var(o.prior(), "prior", "log-normal `prior` NAME=MEDIAN,SD: median in the data's units, sd of the logarithm; of the structural model "+strings.Join(priorNames, ", ")+
		"; of the others amplitude, lengthscale, noise (as a standard deviation), NAME=none, or none for all (default: weak ones from the data)")
	f.BoolVar(&o.hmc, "hmc", false, "draw the hyper-parameters (of the methods but structural: --posterior's) by Hamiltonian Monte Carlo rather than from the Gaussian about the fit: ten to some hundred times as slow")
	f.Var(fileName(&o.report, file{written: true, extensions: plotFiles, only: true}), "report", "draw the fit, its residuals, spectrum and convergence to this `file`: .html, .png or .svg")
	return cmd
}

func (a *app) fit(ctx context.Context, dataPath string, o *fitFlags) error {
	if err := o.checkpoint.check(a.flags); err != nil {
		return err
	}
	a.computer.spread()
	if is, err := a.isStructural(ctx, dataPath, o); err != nil {
		return err
	} else if is {
		return a.fitStructural(ctx, dataPath, &o.seriesFitFlags)
	}
	return a.fitModel(ctx, dataPath, o)
}

// fitModel fits by the methods of package vssgp.
func (a *app) fitModel(ctx context.Context, dataPath string, o *fitFlags) error {
	options, err := a.options(o.model)
	if err != nil {
		return err
	}
	read, err := a.readData(ctx, dataPath, o.columns, o.columns.split, nil)
	if err != nil {
		return err
	}
	data := read.Data
	if options.Batch > data.N {
		return mistake("--batch %d: the data have only %d rows; want at most as many", options.Batch, data.N)
	}
	bar := a.newMeter()
	trace := &report.Trace{}
	options.Progress = func(p vssgp.Progress) {
		trace.Add(p)
		bar.progress(p)
	}
	a.apply(&o.checkpoint, &options)
	m, r, err := vssgp.Fit(ctx, data, options)
	bar.clear()
	interrupted := errors.Is(err, context.Canceled)
	switch {
	case interrupted && m == nil:
		return cutShort(" before there was a model; to continue, " + o.checkpoint.goOn("", nil))
	case err != nil && !interrupted:
		return o.checkpoint.hint(err)
	}
	if err := keepAxes(m, read.axes); err != nil {
		return err
	}
	if err := a.write(fileio.File{Path: o.output, Write: m.Write}); err != nil {
		return err
	}
	if o.report != "" { // after the model, so that an error here does not keep it from being saved
		d, err := report.Fit(filepath.Base(dataPath), m, r, data, trace, a.settings())
		if err != nil {
			return fmt.Errorf("%s is written, its report is not: %w", o.output, err)
		}
		if err := a.write(a.reportFile(o.report, d)); err != nil {
			return err
		}
	}
	if err := a.reportFit(m, r, data, o, interrupted); err != nil {
		return err
	}
	if interrupted {
		return cutShort(fmt.Sprintf(" at iteration %d: the best model so far is in %s; to continue, %s",
			r.Iterations, o.output, o.checkpoint.goOn(o.output, r.Unsaved)))
	}
	if options.Posterior > 0 && r.NoPosterior != "" {
		a.note("%s has no posterior of its hyper-parameters: %s", o.output, r.NoPosterior)
	}
	if !a.quiet {
		a.warnFit(m, r, data, options)
	}
	return nil
}

// posteriorStanding says whether the model has a posterior of its hyper-parameters, or why not.
func posteriorStanding(r *vssgp.Result) string {
	if r.NoPosterior == "" {
		return "computed"
	}
	return "not computed: " + r.NoPosterior
}

// byTables adds to a device how the sums over rows were taken, unless by passes over the rows.
func byTables(sums string) string {
	if sums == "tables" {
		return ", sums over rows from tables"
	}
	return ""
}

// features counts a model's features, and says if their frequencies are points.
func features(m *vssgp.Model) string {
	if m.Params.FreqVar[0] == 0 {
		return counted(m.Params.M(), "feature") + " of point frequencies"
	}
	return counted(m.Params.M(), "feature")
}

func (a *app) reportFit(m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o *fitFlags, interrupted bool) error {
	for _, s := range r.Starts {
		if strings.HasPrefix(s.Ended, "collapsed") {
			a.note("the start with seed %d %s", s.Seed, s.Ended)
		}
	}
	times := a.computer.rankTimes(r.Elapsed)
	if times != nil && (a.json || a.quiet) && a.progress == "always" {
		fmt.Fprintln(a.stderr, prefix+times.String())
	}
	if a.json {
		var resumed *int // iterations that the start had taken at the checkpoint
		if r.Resumed >= 0 {
			resumed = &r.Resumed
		}
		return a.printJSON(object{
			"bound", r.Bound, "log_prior", r.LogPrior, "terms", r.Terms, "iterations", r.Iterations, "starts", r.Starts,
			"kept", r.Kept, // index in starts
			"seconds", r.Elapsed, "device", r.Device, "sums", r.Sums, "rows", data.N, "components", m.Params.L, "features", m.Params.M(),
			"features_per_component", m.Params.K, "point_frequencies", m.Params.FreqVar[0] == 0,
			"noise_sd", m.NoiseSD(), // of each output, in its units
			"posterior", posteriorStanding(r),
			"jitter", r.Jitter, "noise_floor", r.NoiseFloor, "model", o.output,
			"ranks,omitempty", times, "interrupted,omitempty", interrupted, "resumed,omitempty", resumed,
		})
	}
	a.say("bound %.9g after %s, %s, %.1f s on %s%s",
		r.Bound, counted(r.Iterations, "iteration"), counted(len(r.Starts), "start"), r.Elapsed.Seconds(), r.Device, byTables(r.Sums))
	if r.Resumed >= 0 {
		a.say("  resumed from a checkpoint at iteration %d", r.Resumed)
	}
	for _, t := range r.Terms {
		a.say("  %-16s %.9g", t.Name, t.Value)
	}
	if r.LogPrior != 0 {
		a.say("and a log prior of %.9g", r.LogPrior)
	}
	a.say("%s, %s, %s, noise sd %s",
		counted(data.N, "row"), counted(m.Params.L, "component"), features(m), row(m.NoiseSD()))
	if times != nil {
		a.say("%s", times)
	}
	written := o.output
	if o.report != "" {
		written += ", " + o.report
	}
	a.say("wrote %s", written)
	return nil
}
