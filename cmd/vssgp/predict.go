package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// predictFlags are predict's own.
type predictFlags struct {
	columns   columns
	output    string
	full      bool
	latent    bool
	draws     int
	drawsFile string
	plot      string
	plan      bool
	set       func() []report.Setting // the flags as given, for the plot
}

// predictDone is what `predict --json` prints.
type predictDone struct {
	Rows    int      `json:"rows"`
	Columns []string `json:"columns"` // null: a recording
	Output  string   `json:"output"`
	Device  string   `json:"device"`
}

func (a *app) predictCommand() *cobra.Command {
	o := &predictFlags{}
	cmd := &cobra.Command{
		Use:   "predict MODEL INPUTS -o OUT",
		Short: "Predict the outputs at given inputs, with standard deviations",
		Long: `Predicts at each row of a table (CSV or NPY). The output has the input columns,
then for each output y its predictive mean y_mean and standard deviation y_sd;
with --full a_b_cov, the predictive covariance of outputs a and b (a before or
equal to b), and with --draws y_draw1, y_draw2, …: functions drawn from the
joint posterior, without noise. A recording (WAV or SPHERE) in place of the table
stands for the times of its samples in seconds.

The extension of -o is the format: .csv, .npy (the same columns as one array),
.wav (the mean alone, an output a channel, in 32-bit floats; the inputs must
rise evenly in seconds), - for CSV on stdout. --draws-file puts the draws in a
file of their own instead: .csv, .npy (an array [draws, rows, outputs]) or .wav
(one each, FILE-1.wav and so on, as they go beside -o OUT.wav without it). --plot draws
the mean with a 95 % band, and draws, along the input or, of several inputs, along
the rows.

The inputs are read, predicted and written part by part, in memory that does not
grow with their number: an hour of audio takes that of a minute. --plan says what
the prediction would compute, hold and write, and ends there.`,
		Example: `  vssgp predict co2.safetensors months.csv -o forecast.csv
  vssgp predict co2.safetensors months.csv -o forecast.csv --plot forecast.png
  vssgp predict model.safetensors inputs.csv --latent --draws 5 -o -
  vssgp predict model.safetensors take.wav --draws 20 --draws-file draws.npy -o mean.wav`,
		Args: arguments("MODEL", "INPUTS"),
		RunE: a.do(func(ctx context.Context, args []string) error { return a.predict(ctx, args[0], args[1], o) }),
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.columns.x, "x", nil, "input `columns`, by name or by number from 0 (default: those with the model's names, or all)")
	f.StringVarP(&o.output, "output", "o", "", "`file` to write: .csv, .npy, .wav or - for stdout (required)")
	f.BoolVar(&o.full, "full", false, "add the covariances of the outputs")
	f.BoolVar(&o.latent, "latent", false, "predict the function itself: leave the noise out of y_sd and the covariances")
	f.IntVar(&o.draws, "draws", 0, "add this many `functions` drawn from the joint posterior")
	f.StringVar(&o.drawsFile, "draws-file", "", "`file` for the draws instead: .csv, .npy or .wav")
	f.StringVar(&o.plot, "plot", "", "draw the prediction to this `file`: .html, .png or .svg")
	f.BoolVar(&o.plan, "plan", false, "print what would be computed, held and written (rows, features, operations, bytes) and end without doing it")
	o.set = func() []report.Setting { return given(cmd) }
	return cmd
}

func (a *app) predict(ctx context.Context, modelPath, inputPath string, o *predictFlags) error {
	if o.draws < 0 || o.draws > maxDraws {
		return mistake("--draws %d; want 0 to %d", o.draws, maxDraws)
	}
	if err := checkPlot("--plot", o.plot); err != nil {
		return err
	}
	if o.output == "" && o.plan {
		o.output = toStdout
	}
	if err := a.checkFormats(o); err != nil {
		return err
	}
	m, err := a.load(modelPath)
	if err != nil {
		return err
	}
	at, err := readPlaces(ctx, inputPath, o.columns, m)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return &interruption{": nothing was written"}
	}
	if err != nil {
		return err
	}
	if o.plan {
		return a.planPrediction(m, at, o)
	}
	names, err := a.predictAll(ctx, m, at, o, filepath.Base(modelPath))
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return &interruption{": nothing was written"}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(predictDone{Rows: at.rows, Columns: names, Output: o.output, Device: m.Backend.Name()})
	}
	return nil
}

// wantTable reports a command line whose -o is no place for a table.
func (a *app) wantTable(output string) error {
	if err := a.wantOutput(output, "OUT.csv"); err != nil {
		return err
	}
	if output != toStdout && !isTable(output) {
		return mistake("-o %s: the extension is no table's; want .csv, .npy or - for stdout", output)
	}
	return nil
}

// readInputs reads the table of inputs that predictions are made at.
func readInputs(path string, c columns, q int, own []string) (*table.Table, error) {
	if !isTable(path) {
		return nil, mistake("%s: the extension is no table's; want .csv or .npy", path)
	}
	t, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	x, err := c.inputs(t, path, q, own)
	if err != nil {
		return nil, err
	}
	return t.Select(x...)
}

// maxDraws bounds how many functions one command draws.
const maxDraws = 10000

// writeTable writes in the format that the path's extension asks for.
func writeTable(w io.Writer, path string, t *table.Table) error {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		return table.WriteNPY(w, []int{t.Rows, t.Cols}, t.Data)
	}
	return table.WriteCSV(w, t.Names, t.Data)
}

// tabulate appends rows [lo, hi) of a prediction beside their inputs x [N,Q],
// with the draws of these rows [hi-lo,D].
func tabulate(out []float64, p *vssgp.Prediction, x, sd []float64, lo, hi int, draws [][]float64, o *predictFlags) []float64 {
	q := len(x) / p.N
	for n := lo; n < hi; n++ {
		out = append(out, x[n*q:][:q]...)
		for d := range p.D {
			out = append(out, p.Mean[n*p.D+d], sd[n*p.D+d])
		}
		if o.full {
			out = appendCovariance(out, p, n, o.latent)
		}
		for _, f := range draws {
			out = append(out, f[(n-lo)*p.D:][:p.D]...)
		}
	}
	return out
}

// tableNames are the columns of a table of predictions of the outputs y.
func tableNames(inputs, y []string, o *predictFlags) ([]string, error) {
	names := append(append([]string(nil), inputs...), predictionNames(y, o)...)
	return names, distinct(names)
}

// predictionNames are the names of the columns after the inputs.
func predictionNames(y []string, o *predictFlags) []string {
	var names []string
	for _, d := range y {
		names = append(names, d+"_mean", d+"_sd")
	}
	if o.full {
		for i := range y {
			for j := i; j < len(y); j++ {
				names = append(names, y[i]+"_"+y[j]+"_cov")
			}
		}
	}
	return append(names, drawNames(y, o.draws)...)
}

// drawNames are the columns of n draws.
func drawNames(y []string, n int) (names []string) {
	for i := range n {
		for _, d := range y {
			names = append(names, fmt.Sprintf("%s_draw%d", d, i+1))
		}
	}
	return names
}

// appendCovariance appends the upper triangle of row n's covariance.
func appendCovariance(out []float64, p *vssgp.Prediction, n int, latent bool) []float64 {
	for i := range p.D {
		for j := i; j < p.D; j++ {
			v := p.Cov[(n*p.D+i)*p.D+j]
			if latent && i == j {
				v = max(0, v-p.Noise[i])
			}
			out = append(out, v)
		}
	}
	return out
}

// outputNames are the model's, or y, or y0, y1, … where it has none.
func outputNames(m *vssgp.Model) []string { return report.Names(m.YNames, m.Params.D, "y") }

// distinct reports a column of the prediction with the name of an input.
func distinct(names []string) error {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return mistake("the output would have two columns named %.40q; want other names for the inputs", n)
		}
		seen[n] = true
	}
	return nil
}
