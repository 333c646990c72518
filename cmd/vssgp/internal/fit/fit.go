// Package fit implements the commands fit, predict, evaluate and info.
package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
	"github.com/vssgp/vssgp/internal/fileio"
)

// fitFlags are the flags of fit.
type fitFlags struct {
	seriescmd.FitFlags
	model    ModelFlags
	ofSeries *pflag.FlagSet // flags of the structural model
	ofModel  *pflag.FlagSet // flags of the other methods
	priors   []string       // names in --prior
}

// checkpoint returns the checkpoint options of the fit.
func (o *fitFlags) checkpoint() checkpoint { return checkpoint{&o.model.o.Checkpoint} }

// structural is the method of package series. Package vssgp implements the others.
const structural = "structural"

// NewFit returns the command fit.
func NewFit(env *cli.Env) *cobra.Command {
	o := &fitFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "fit DATA -o MODEL.safetensors",
		Short: "Fit a model to a table or a recording",
		Long: `Fits a model and writes it to a safetensors file. DATA is a table (.csv, .tsv, .txt,
also .gz, .npy, or - for stdin) or a recording (WAV, FLAC, AIFF, SPHERE …), whose input
is the time in seconds. Rows with a missing output value are left out.

Methods:
  structural   trend, seasons, mean-reverting residual and noise, as in forecast; the
               default for a table with one input
  vssgp        the variational sparse spectrum GP; for one or two inputs, with components found
               by a search, unless flags describe features, windows, priors or the optimization
               ("vssgp help choosing" lists them); the default for recordings, several
               inputs, and if one of its flags is given
  ssgp         vssgp with point estimates of the frequencies
  rp           vssgp with random frequencies that are not optimized

An interrupted fit writes the best model so far. With --checkpoint FILE --resume, the same
command continues from the checkpoint, and the final model is identical bit for bit.

Details: "vssgp help choosing" (vssgp, ssgp, rp), "vssgp help series" (structural) and
"vssgp help priors".`,
		Example: `  vssgp fit co2.csv -o co2.safetensors
  vssgp fit co2.csv --method vssgp -o co2.safetensors --report co2.html
  vssgp fit load.csv --season 24 --season 168 --trend walk -o load.safetensors
  vssgp fit table.csv --x age,water --y strength --components 2 -o strength.safetensors
  vssgp fit solar.csv --init paper --lengthscales 10,1000 --periods 11,0 -o solar.safetensors
  vssgp fit long.wav --window 32ms --checkpoint long.part --every 5m --resume -o long.safetensors`,
	}, func(ctx context.Context, args []string) error { return runFit(ctx, env, args[0], o) }, cli.DataOperand)
	cmd.Annotations = cli.FlagGroups("Most used: output x y method report components window period season prior",
		"Input: names dayfirst decimal yerr", "Output: overwrite checkpoint every resume",
		"Model: method components features window init inference iterations restarts prior posterior",
		"Model, structural: period season trend short-memory log robust positive regressor holidays events "+
			"trading-days days-of-year")
	o.add(cmd.Flags())
	return cmd
}

// add defines the flags.
func (o *fitFlags) add(f *pflag.FlagSet) {
	o.Columns.Add(f)
	f.Var(cli.OneOf(&o.model.Method, structural, "vssgp", "ssgp", "rp"), "method",
		"structural, vssgp, ssgp or rp (default: depends on the data)")
	o.ofSeries, o.ofModel = pflag.NewFlagSet("series", pflag.ContinueOnError), pflag.NewFlagSet("model", pflag.ContinueOnError)
	o.Series.AddParts(o.ofSeries)
	o.model.AddMemory(o.ofModel)
	o.model.Add(o.ofModel, "auto")
	f.VarP(cli.FileName(&o.Output, cli.FileUse{Written: true, Needed: "-o MODEL.safetensors"}), "output", "o",
		"model `file` to write (required)")
	o.checkpoint().add(o.ofModel)
	o.ofModel.Var(cli.Count(&o.model.o.Posterior.Draws, cli.Unbounded), "posterior",
		"`number` of hyper-parameter draws to store (default: 20 or 0)")
	f.AddFlagSet(o.ofSeries)
	f.AddFlagSet(o.ofModel)
	f.Var(o.prior(), "prior",
		"log-normal `prior` NAME=MEDIAN,SD, NAME=none or none (vssgp help priors)")
	f.Var(cli.OutputFile(&o.Report, cli.PlotFiles...), "report",
		"plot fit, residuals and spectrum to this `file` (.html, .png, .svg)")
}

// given returns the first given flag of the structural model and of the other methods, "" if there is none.
func (o *fitFlags) given() (series, model string) {
	series, model = cli.FirstGiven(o.ofSeries), cli.FirstGiven(o.ofModel)
	for _, name := range o.priors {
		switch {
		case name == "noise":
		case slices.Contains(seriescmd.PriorNames, name):
			series = cmp.Or(series, "prior "+name)
		default:
			model = cmp.Or(model, "prior "+name)
		}
	}
	return series, model
}

func runFit(ctx context.Context, env *cli.Env, dataPath string, o *fitFlags) error {
	if err := o.checkpoint().check(env); err != nil {
		return err
	}
	env.Device.Spread()
	if is, err := isStructural(ctx, env, dataPath, o); err != nil {
		return err
	} else if is {
		return seriescmd.Fit(ctx, env, dataPath, &o.FitFlags)
	}
	return fitVSSGP(ctx, env, dataPath, o)
}

// isStructural reports whether to fit the structural model. --method decides, else a flag that applies to one of the models. The default
// for a table with one input is the structural model.
func isStructural(ctx context.Context, env *cli.Env, path string, o *fitFlags) (bool, error) {
	series, model := o.given()
	switch method := o.model.Method; {
	case series != "" && model != "":
		return false, cli.Mistake("--%s (--method structural) and --%s (--method vssgp) cannot be combined", series, model)
	case method == structural && model != "":
		return false, cli.Mistake("--%s applies to --method vssgp, not to structural; omit one of them", model)
	case method != "" && method != structural && series != "":
		return false, cli.Mistake("--%s applies to --method structural, not to %s; omit one of them", series, method)
	case method != "" || series != "":
		return method == structural || method == "", nil
	case model != "" || !datafile.IsTable(path):
		return false, nil
	}
	return o.Columns.HasOneInput(ctx, env, path)
}

// fitVSSGP fits with the methods of package vssgp and writes the model and its report.
func fitVSSGP(ctx context.Context, env *cli.Env, dataPath string, o *fitFlags) error {
	options, err := Options(env, o.model)
	if err != nil {
		return err
	}
	if env.Flags.Changed("posterior") && options.Posterior.Draws == 0 {
		options.Posterior.Draws = vssgp.NoPosterior
	}
	read, err := datafile.ReadData(ctx, env, dataPath, o.Columns, o.Columns.Split, nil)
	if err != nil {
		return err
	}
	data := read.Data
	if options.Batch.Rows > data.N {
		return cli.Mistake("--batch %d exceeds the number of rows, %d", options.Batch.Rows, data.N)
	}
	trace := &report.Trace{}
	options.Progress = func(p vssgp.Progress) {
		trace.Add(p)
		env.ShowFit(p.Stage, p)
	}
	if c := o.checkpoint(); c.Resume && !c.exists() {
		env.Note("there is no checkpoint %s; starting from the beginning", c.Path)
	}
	m, r, err := vssgp.Fit(ctx, data, options)
	interrupted := errors.Is(err, context.Canceled)
	switch {
	case interrupted && m == nil:
		return cli.Interrupted(" before there was a model; to continue, " + o.checkpoint().howToContinue("", nil))
	case err != nil && !interrupted:
		return o.checkpoint().hint(err)
	}
	if err := datafile.KeepAxes(m, read.Axes); err != nil {
		return err
	}
	if err := env.Write(fileio.File{Path: o.Output, Write: m.Write}); err != nil {
		return err
	}
	if o.Report != "" { // after the model, so that an error here does not lose the model
		d, err := report.Fit(filepath.Base(dataPath), m, r, data, trace, env.Settings())
		if err != nil {
			return fmt.Errorf("%s was written, but not its report: %w", o.Output, err)
		}
		if err := env.Write(env.ReportFile(o.Report, d)); err != nil {
			return err
		}
	}
	if err := reportFit(env, m, r, data, o, interrupted); err != nil {
		return err
	}
	if interrupted {
		return cli.Interrupted(fmt.Sprintf(" at iteration %d: the best model so far is in %s; to continue, %s",
			r.Iterations, o.Output, o.checkpoint().howToContinue(o.Output, r.Unsaved)))
	}
	if options.Posterior.Draws > 0 && r.NoPosterior != "" {
		env.Note("%s has no posterior over its hyper-parameters: %s", o.Output, r.NoPosterior)
	}
	if !env.Quiet {
		warnFit(env, m, r, data)
	}
	return nil
}

// A fitResult is the output of fit --json.
type fitResult struct {
	Bound            float64             `json:"bound"`
	LogPrior         float64             `json:"log_prior"`
	Terms            []vssgp.Term        `json:"terms"`
	Init             vssgp.Init          `json:"init"`
	Iterations       int                 `json:"iterations"`
	Starts           []vssgp.StartResult `json:"starts"`
	Kept             int                 `json:"kept"` // index in Starts
	Took             time.Duration       `json:"seconds"`
	Device           string              `json:"device"`
	Sums             string              `json:"sums"`
	Rows             int                 `json:"rows"`
	Components       int                 `json:"components"`
	Features         int                 `json:"features"`
	PerComponent     int                 `json:"features_per_component"`
	PointFrequencies bool                `json:"point_frequencies"`
	NoiseSD          []float64           `json:"noise_sd"` // [D], in units of the outputs
	Posterior        string              `json:"posterior"`
	Jitter           float64             `json:"jitter"`
	NoiseFloor       float64             `json:"noise_floor"`
	Model            string              `json:"model"`
	Ranks            *cli.RankTimes      `json:"ranks,omitzero"`
	Interrupted      bool                `json:"interrupted,omitzero"`
	Resumed          *int                `json:"resumed,omitzero"` // iterations at the checkpoint
}

func reportFit(env *cli.Env, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o *fitFlags, interrupted bool) error {
	for _, s := range r.Starts {
		if strings.HasPrefix(s.Ended, "collapsed") {
			env.Note("the initialization with seed %d %s", s.Seed, s.Ended)
		}
	}
	points, posterior := m.Params.FreqVar[0] == 0, "computed"
	if r.NoPosterior != "" {
		posterior = "not computed: " + r.NoPosterior
	}
	times := env.Device.RankTimes(r.Elapsed)
	if times != nil && (env.JSON || env.Quiet) && env.Progress == "always" {
		fmt.Fprintln(env.Stderr, cli.Prefix+times.String())
	}
	if env.JSON {
		var resumed *int
		if r.Resumed >= 0 {
			resumed = &r.Resumed
		}
		return env.PrintJSON(fitResult{
			Bound: r.Bound, LogPrior: r.LogPrior, Terms: r.Terms, Init: r.Init, Iterations: r.Iterations, Starts: r.Starts, Kept: r.Kept,
			Took: r.Elapsed, Device: r.Device, Sums: r.Sums, Rows: data.N, Components: len(m.Components()), Features: m.Params.M(), PerComponent: m.Params.K,
			PointFrequencies: points, NoiseSD: m.NoiseSD(), Posterior: posterior, Jitter: r.Jitter,
			NoiseFloor: r.NoiseFloor, Model: o.Output, Ranks: times, Interrupted: interrupted, Resumed: resumed,
		})
	}
	env.Print("bound %.9g %s, %.1f s on %s%s", r.Bound, report.Effort(r), r.Elapsed.Seconds(), r.Device, cli.ByTables(r.Sums))
	if r.Resumed >= 0 {
		env.Print("  resumed from a checkpoint at iteration %d", r.Resumed)
	}
	for _, t := range r.Terms {
		if t.Value != 0 { // point estimates have no KL terms
			env.Print("  %-16s %.9g", t.Name, t.Value)
		}
	}
	if r.LogPrior != 0 {
		env.Print("log prior %.9g", r.LogPrior)
	}
	components, features := m.Components(), ", "+cli.Counted(m.Params.M(), "feature")
	switch {
	case report.Searched(m):
		features = ""
	case points:
		features += " with point frequencies"
	}
	env.Print("%s, %s%s, noise sd %s",
		cli.Counted(data.N, "row"), cli.Counted(len(components), "component"), features, cli.Row(m.NoiseSD()))
	if report.Searched(m) {
		printComponents(env, components, datafile.InputNames(m), math.MaxInt)
	}
	if times != nil {
		env.Print("%s", times)
	}
	written := o.Output
	if o.Report != "" {
		written += ", " + o.Report
	}
	env.Print("wrote %s", written)
	return nil
}
