package fit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
	"github.com/vssgp/vssgp/internal/bayes"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	columns   datafile.Columns
	inference vssgp.Inference // "" for the model's inference
	gradient  bool
	rows      []int
}

// NewEvaluate returns the command evaluate.
func NewEvaluate(env *cli.Env) *cobra.Command {
	o := &evaluateFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "evaluate MODEL DATA",
		Short: "Evaluate a model on data",
		Long: `Prints the bound of a model on data and its terms, in the model's units, and the RMSE
and mean log predictive density of its predictions for the rows, in the data's units.
DATA is read as by fit. The model file is not changed.`,
		Example: `  vssgp evaluate co2.safetensors co2.csv
  vssgp evaluate model.safetensors data.csv --inference factorized --rows 0,5,10 --json
  vssgp evaluate model.safetensors data.csv --gradient --json`,
	}, func(ctx context.Context, args []string) error { return runEvaluate(ctx, env, args[0], args[1], o) }, cli.ModelOperand,
		cli.DataOperand)
	cmd.Annotations = cli.FlagGroups("Input: x y names dayfirst decimal yerr rows", "Model: inference gradient")
	f := cmd.Flags()
	o.columns.Add(f)
	f.StringSliceVar(&o.columns.Errors, "yerr", nil,
		"`columns` with standard deviations of the values (time-series models)")
	f.Var(cli.OneOf(&o.inference, "exact", "factorized"), "inference", "`bound` to evaluate: exact or factorized (default: the model's)")
	f.BoolVar(&o.gradient, "gradient", false, "also print the gradient of the bound")
	f.IntSliceVar(&o.rows, "rows", nil,
		"evaluate the factorized bound on a mini-batch of these `rows`, such as 0,5,10")
	return cmd
}

func runEvaluate(ctx context.Context, env *cli.Env, modelPath, dataPath string, o *evaluateFlags) error {
	env.Device.Spread()
	m, err := loadAny(env, modelPath)
	if err != nil {
		return err
	}
	if m.series != nil {
		if o.inference != "" || o.gradient || o.rows != nil {
			return cli.Mistake("%s is a time-series model; --inference, --gradient and --rows do not apply", modelPath)
		}
		return ofModel(modelPath, dataPath, seriescmd.Evaluate(ctx, env, m.series, dataPath, o.columns))
	}
	if o.columns.Errors != nil {
		return cli.Mistake("--yerr: %s is not a time-series model; omit the flag", modelPath)
	}
	return ofModel(modelPath, dataPath, evaluateVSSGP(ctx, env, m.model, dataPath, o))
}

// An evaluation is the output of evaluate --json.
type evaluation struct {
	Bound     float64         `json:"bound"`
	Terms     []vssgp.Term    `json:"terms"`
	Inference vssgp.Inference `json:"inference"`
	Rows      int             `json:"rows"`
	Batch     []int           `json:"batch,omitempty"` // of --rows
	RMSE      float64         `json:"rmse"`
	Density   float64         `json:"mean_log_predictive_density"`
	Jitter    float64         `json:"jitter"`
	Device    string          `json:"device"`
	Sums      string          `json:"sums"`
	Gradient  map[string]any  `json:"gradient,omitempty"` // nested lists of each tensor's shape
	Ranks     *cli.RankTimes  `json:"ranks,omitzero"`
}

// evaluateVSSGP evaluates a model of package vssgp.
func evaluateVSSGP(ctx context.Context, env *cli.Env, m *vssgp.Model, dataPath string, o *evaluateFlags) error {
	began := time.Now()
	read, err := readFor(ctx, env, m, dataPath, o.columns)
	if err != nil {
		return err
	}
	data := read.Data
	if i := slices.IndexFunc(o.rows, func(n int) bool { return n < 0 || n >= data.N }); i >= 0 {
		return cli.Mistake("--rows %d: must be from 0 to %d", o.rows[i], data.N-1)
	}
	inference := cmp.Or(o.inference, m.Inference)
	env.ShowProgress(0, "evaluating %s", cli.Counted(data.N, "row"))
	e, err := m.Evaluate(ctx, data, inference, o.rows, o.gradient)
	if err != nil {
		return err
	}
	var gradient []vssgp.Tensor
	if o.gradient {
		gradient = gradientOf(m.Params, e.Gradient, inference)
	}
	p, err := m.Predict(ctx, data.X)
	if errors.Is(err, vssgp.ErrUnfitted) { // the file has no posterior of the weights; condition the model on the data
		if _, err = m.Condition(ctx, data); err == nil {
			p, err = m.Predict(ctx, data.X)
		}
	}
	if err != nil {
		return err
	}
	density := math.NaN() // if a covariance is not positive definite
	if rows, err := p.LogDensity(ctx, data.Y); ctx.Err() != nil {
		return err
	} else if err == nil {
		density, _ = bayes.MeanSD(rows, 0, 1)
	}
	rmse, times := bayes.RMSE(p.Mean, data.Y), env.Device.RankTimes(time.Since(began))
	if err := cli.CheckScores(cli.InputName(dataPath), rmse, density); err != nil {
		return err
	}
	if env.JSON {
		g := map[string]any{}
		for _, t := range gradient {
			g[t.Name] = nested(t.Shape, *t.Data)
		}
		return env.PrintJSON(evaluation{
			Bound: e.Bound, Terms: e.Terms, Inference: inference, Rows: data.N, Batch: o.rows, RMSE: rmse, Density: density, Jitter: e.Jitter,
			Device: m.Backend.Name(), Sums: e.Sums, Gradient: g, Ranks: times,
		})
	}
	env.Print("%-28s %.9g   (%s, in the model's units)", "bound", e.Bound, inference)
	for _, t := range e.Terms {
		env.Print("  %-26s %.9g", t.Name, t.Value)
	}
	env.Print("%-28s %d", "rows", data.N)
	if o.rows != nil {
		env.Print("%-28s %d", "rows of the mini-batch", len(o.rows))
	}
	env.Print("%-28s %.6g", "RMSE", rmse)
	env.Print("%-28s %.6g", "mean log predictive density", density)
	env.Print("%-28s %s%s", "device", m.Backend.Name(), byTables(e.Sums))
	if times != nil {
		env.Print("%s", times)
	}
	if gradient != nil {
		env.Print("gradient: largest entry of each tensor (--json prints all)")
	}
	for _, t := range gradient {
		most := 0.0
		for _, v := range *t.Data {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
		env.Print("  %-26s %.6g", t.Name, most)
	}
	return nil
}

// gradientOf returns the tensors of the gradient g at p, with NaN for constants of the
// model. It omits tensors without free entries and, with the exact bound, the
// coefficients, which the bound solves for.
func gradientOf(p, g *vssgp.Params, inference vssgp.Inference) (list []vssgp.Tensor) {
	at := p.Tensors()
	for i, t := range g.Tensors() {
		free := 0
		for k := range *t.Data {
			if at[i].Constant(k) {
				(*t.Data)[k] = math.NaN()
			} else {
				free++
			}
		}
		if free > 0 && !(t.Optional() && inference == vssgp.Exact) {
			list = append(list, t)
		}
	}
	return list
}

// nested returns data as nested lists of a tensor's shape.
func nested(shape []int, data []float64) any {
	if len(shape) == 1 {
		return data
	}
	list, each := make([]any, shape[0]), len(data)/shape[0]
	for i := range list {
		list[i] = nested(shape[1:], data[i*each:][:each])
	}
	return list
}
