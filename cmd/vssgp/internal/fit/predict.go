package fit

import (
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
	full      bool
	joint     string
	latent    bool
	drawsFile string // "": the draws are columns of the output
}

// ofSeries are the flags for the models of series alone.
var ofSeries = []string{"level", "digits"}

// maxDraws bounds how many functions one command draws.
const maxDraws = 10000

// NewPredict returns the command predict.
func NewPredict(env *cli.Env) *cobra.Command {
	o := &predictFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "predict MODEL INPUTS -o OUT",
		Short: "Predict the outputs at given inputs, with standard deviations",
		Long: `Predicts at each row of a table (as fit reads it). The output has the input columns,
then for each output y its predictive mean y_mean and standard deviation y_sd;
with --full a_b_cov, the predictive covariance of outputs a and b (a before or
equal to b), and with --draws y_draw1, y_draw2, …: functions drawn from the
joint posterior, without noise. A recording may replace the table:
it stands for the times of its samples, in seconds.

The extension of -o is the format: .csv, .tsv (also .gz), .npy (one array),
.wav (the mean alone, an output a channel, in 32-bit floats; the inputs must
rise evenly in seconds), - for CSV on stdout. --draws-file puts the draws in a
file of their own instead: .csv, .npy (an array [draws, rows, outputs]) or .wav
(one each, FILE-1.wav and so on, as they go beside -o OUT.wav without it). --plot draws
the mean with a 95 % band, and draws, along the input or, of several inputs, along
the rows. The model of a series (forecast -m, fit --method structural) predicts at a
table, always averaged over its hyper-parameters, with draws as columns of the output;
--full, --joint and --latent are for the other models.

The inputs are read, predicted and written part by part, in memory that does not
grow with their number: an hour of audio takes as much memory as a minute.`,
		Example: `  vssgp predict co2.safetensors months.csv -o forecast.csv
  vssgp predict co2.safetensors months.csv -o forecast.csv --plot forecast.png
  vssgp predict model.safetensors inputs.csv --latent --draws 5 -o -
  vssgp predict model.safetensors take.wav --draws 20 --draws-file draws.npy -o mean.wav`,
	}, func(ctx context.Context, args []string) error { return runPredict(ctx, env, args[0], args[1], o) },
		cli.ModelOperand, cli.InputFile("INPUTS", cli.DataOperand.File.Extensions))
	drawn := append(slices.Clone(cli.TableOutputs), "wav")
	f := cmd.Flags()
	f.StringSliceVar(&o.Columns.X, "x", nil, "input `columns`, by name or by number from 0 (default: those with the model's names, or all)")
	o.Columns.AddDayFirst(f)
	f.VarP(cli.FileName(&o.Output, cli.FileUse{Written: true, Needed: "-o OUT.csv", Extensions: drawn, Only: true, Stdout: true}), "output",
		"o", "`file` to write: .csv, .tsv, .npy, .wav or - for stdout (required)")
	f.BoolVar(&o.Posterior, "posterior", false,
		"average over the model's draws of its hyper-parameters (fit --posterior N), and add y_lower and y_upper, between which 95 % lie")
	o.Form.Add(f)
	for _, name := range ofSeries {
		f.Lookup(name).Usage += " (of a series)"
	}
	f.BoolVar(&o.full, "full", false, "add the covariances of the outputs")
	f.Var(cli.OutputFile(&o.joint, "npy"), "joint",
		"write the joint covariance of all rows and outputs to this `file`: .npy, an array [rows, outputs, rows, outputs]")
	f.BoolVar(&o.latent, "latent", false, "predict the function itself: leave the noise out of y_sd and the covariances")
	f.Var(cli.Count(&o.Draws, maxDraws), "draws", "add this many `functions` drawn from the joint posterior")
	f.Var(cli.OutputFile(&o.drawsFile, drawn...), "draws-file", "write the draws to this `file` instead: .csv, .tsv, .npy or .wav")
	f.Var(cli.OutputFile(&o.Plot, cli.PlotFiles...), "plot", "draw the prediction to this `file`: .html, .png or .svg")
	return cmd
}

func runPredict(ctx context.Context, env *cli.Env, modelPath, inputPath string, o *predictFlags) error {
	if err := checkFormats(env, o); err != nil {
		return err
	}
	file, err := loadAny(env, modelPath)
	switch {
	case err != nil:
		return err
	case file.series != nil:
		if bad := o.notOfSeries(); bad != "" {
			return ofModel(modelPath, inputPath, cli.Mistake(
				"%s: %s is the model of a series, which predicts a table of mean, sd and --draws; leave the flag out", bad, modelPath))
		}
		return ofModel(modelPath, inputPath, seriescmd.Predict(ctx, env, file.series, modelPath, inputPath, &o.PredictFlags))
	}
	for _, name := range ofSeries {
		if env.Flags.Changed(name) {
			return cli.Mistake("--%s: %s is not the model of a series; must be left out", name, modelPath)
		}
	}
	m := file.model
	at, err := datafile.ReadPlaces(ctx, env, inputPath, o.Columns, m)
	if err != nil {
		return err
	}
	warnBeyond(env, m, at)
	names, err := predictAll(ctx, env, m, at, o, filepath.Base(modelPath))
	if err != nil {
		return ofModel(modelPath, inputPath, err)
	}
	if env.JSON {
		return env.PrintJSON(cli.Object{"rows", at.Rows, "columns", names, "output", o.Output, "device", m.Backend.Name()})
	}
	return nil
}

// notOfSeries is a flag that the model of a series cannot follow; "" if there is none.
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
