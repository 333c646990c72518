package fit

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
)

// predictFlags are the flags of predict.
type predictFlags struct {
	seriescmd.PredictFlags
	grid      string // "" to predict at the rows of INPUTS
	full      bool
	joint     string
	latent    bool
	drawsFile string // "" if the draws are columns of the output
}

// ofSeries are the flags that apply only to time-series models.
var ofSeries = []string{"level", "quantiles", "digits"}

// maxDraws is the maximum of --draws.
const maxDraws = 10000

// NewPredict returns the command predict.
func NewPredict(env *cli.Env) *cobra.Command {
	o := &predictFlags{}
	inputs := cli.InputFile("INPUTS", cli.DataOperand.File.Extensions)
	inputs.Optional = true
	cmd := env.Command(&cobra.Command{
		Use:   "predict MODEL [INPUTS] -o OUT",
		Short: "Predict the outputs at given inputs",
		Long: `Predicts at each row of INPUTS: a table, read as by fit, or the sample times of a recording.
With --grid it predicts at a grid, over the range of the data or given ranges, and INPUTS
are only marked in the maps of --plot.
The output has the input columns, then NAME_mean and NAME_sd for each output. With --draws
it also has NAME_draw1, NAME_draw2, …: functions drawn from the joint posterior, without
noise.

The extension of -o selects the format: .csv, .tsv (also .gz), .npy, .wav (the mean, one
channel per output; the inputs must be evenly spaced in seconds), or - for CSV on stdout.
Memory does not grow with the number of rows.

Predictions of a time-series model (forecast -m, fit --method structural) are identical to
its forecast; --full, --joint and --latent do not apply.
Details: "vssgp help forecasting", "vssgp help regression" and "vssgp help maps".`,
		Example: `  vssgp predict co2.safetensors months.csv -o forecast.csv
  vssgp predict co2.safetensors months.csv -o forecast.csv --plot forecast.png
  vssgp predict field.safetensors --grid 200x200 -o field.csv
  vssgp predict field.safetensors data.csv --grid 0:10:0.1,40:60:0.1 -o field.npy --plot field.png
  vssgp predict model.safetensors inputs.csv --latent --draws 5 -o -
  vssgp predict model.safetensors take.wav --draws 20 --draws-file draws.npy -o mean.wav`,
	}, func(ctx context.Context, args []string) error {
		inputs := append(args, "")[1] // "" if INPUTS is missing
		return runPredict(ctx, env, args[0], inputs, o)
	}, cli.ModelOperand, inputs)
	cmd.Annotations = cli.FlagGroups("Input: grid x dayfirst decimal",
		"Output: output plot draws draws-file level quantiles digits full joint overwrite", "Model: posterior latent")
	drawn := append(slices.Clone(cli.TableOutputs), "wav")
	f := cmd.Flags()
	f.StringSliceVar(&o.Columns.X, "x", nil, "input `columns`, by name or number from 0 (default: the model's names)")
	o.Columns.AddNotation(f)
	f.StringVar(&o.grid, "grid", "",
		"predict at a `grid`: 200x200, or START:STOP:STEP for each input")
	f.VarP(cli.FileName(&o.Output, cli.FileUse{Written: true, Needed: "-o OUT.csv", Extensions: drawn, Only: true, Stdout: true}), "output",
		"o", "`file` to write: .csv, .tsv, .npy, .wav or - for stdout (required)")
	f.BoolVar(&o.Posterior, "posterior", false,
		"average over the hyper-parameter draws of the fit; add 95 % intervals")
	o.Form.Add(f)
	for _, name := range ofSeries {
		f.Lookup(name).Usage += " (series)"
	}
	f.BoolVar(&o.full, "full", false, "add columns with the covariances of the outputs, A_B_cov")
	f.Var(cli.OutputFile(&o.joint, "npy"), "joint",
		"write the joint covariance of all rows to this `file` (.npy)")
	f.BoolVar(&o.latent, "latent", false, "exclude the noise from standard deviations and covariances")
	f.Var(cli.Count(&o.Draws, maxDraws), "draws", "`number` of functions to draw from the posterior")
	f.Var(cli.OutputFile(&o.drawsFile, drawn...), "draws-file", "write the draws to this separate `file` (.csv, .tsv, .npy, .wav)")
	f.Var(cli.OutputFile(&o.Plot, cli.PlotFiles...), "plot", "plot the prediction to this `file` (.html, .png, .svg)")
	return cmd
}

// runPredict predicts at the inputs of a file or, if inputPath is "", at the grid of --grid.
func runPredict(ctx context.Context, env *cli.Env, modelPath, inputPath string, o *predictFlags) error {
	if err := checkFormats(env, o); err != nil {
		return err
	}
	switch {
	case inputPath == "" && o.grid == "":
		return cli.Mistake("INPUTS is missing; give a table or recording with the inputs, or --grid, such as --grid 200x200")
	case inputPath == "" && o.Columns.X != nil:
		return cli.Mistake("--x selects columns of INPUTS, which are not given; omit the flag")
	case inputPath != "" && o.grid != "" && o.Plot == "":
		return cli.Mistake("INPUTS %s: with --grid, the rows of INPUTS are only marked in the plot; "+
			"give --plot FILE or omit INPUTS", cli.InputName(inputPath))
	}
	m, err := loadModel(env, modelPath)
	if err != nil {
		return err
	}
	env.Aside = o.Output == cli.ToStdout
	p, err := m.predict(ctx, env, inputPath, o)
	switch {
	case err != nil:
		return ofModel(modelPath, cmp.Or(inputPath, "--grid"), err)
	case env.JSON:
		return env.PrintJSON(p)
	case o.Plot != "":
		env.Print("wrote %s", o.Plot)
	}
	return nil
}

// predict implements model.
func (m vssgpModel) predict(ctx context.Context, env *cli.Env, path string, o *predictFlags) (*cli.Predicted, error) {
	for _, name := range ofSeries {
		if env.Flags.Changed(name) {
			return nil, cli.Mistake("--%s: %s is not a time-series model; omit the flag", name, m.Path)
		}
	}
	at, data, err := m.places(ctx, env, path, o)
	if err != nil {
		return nil, err
	}
	columns, err := predictAll(ctx, env, m.Model, at, data, o, filepath.Base(m.Path))
	return &cli.Predicted{
		Rows: at.Rows, Grid: spansOf(at), Columns: columns, Output: o.Output, Device: m.Backend.Name(),
	}, err
}

// places returns the inputs to predict at and, with --grid, the data to mark in the plot, nil if there are none.
func (m vssgpModel) places(
	ctx context.Context, env *cli.Env, path string, o *predictFlags,
) (at, data *datafile.Places, err error) {
	if path != "" {
		if data, err = datafile.ReadPlaces(ctx, env, path, o.Columns, m.Model); err != nil || o.grid == "" {
			return data, nil, err
		}
	}
	if at, err = datafile.ReadGrid(o.grid, m.Model); err == nil && data != nil && at.Varying() != 2 {
		err = cli.Mistake("INPUTS %s: rows are marked only in a map, in which two inputs vary; omit INPUTS",
			cli.InputName(path))
	}
	return at, data, err
}

// spansOf returns the values of each input of a grid for --json, nil if the inputs are not a grid.
func spansOf(at *datafile.Places) (all []cli.Span) {
	for q, s := range at.Grid {
		axis := at.Axes[q]
		all = append(all, cli.Span{First: valueOf(axis, s.First), Last: valueOf(axis, s.Last), Points: s.Points})
	}
	return all
}

// predict implements model.
func (m seriesModel) predict(ctx context.Context, env *cli.Env, path string, o *predictFlags) (*cli.Predicted, error) {
	if o.grid != "" {
		return nil, cli.Mistake("--grid: %s is a time-series model; give INPUTS, a table of times, or use vssgp forecast",
			m.Path)
	}
	if bad := o.notOfSeries(); bad != "" {
		return nil, cli.Mistake("%s: %s is a time-series model, which predicts only mean, sd and --draws as a table; omit the flag", bad,
			m.Path)
	}
	return seriescmd.Predict(ctx, env, m.Model, m.Path, path, &o.PredictFlags)
}

// notOfSeries returns a given flag that does not apply to time-series models, "" if there is none.
func (o *predictFlags) notOfSeries() string {
	switch {
	case o.full:
		return "--full"
	case o.joint != "":
		return "--joint " + o.joint
	case o.latent:
		return "--latent"
	case o.drawsFile != "":
		return "--draws-file " + o.drawsFile
	case cli.FormatOf(o.Output) == "wav":
		return "-o " + o.Output
	}
	return ""
}
