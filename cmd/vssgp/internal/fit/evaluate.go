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
and mean log predictive density of its predictions for the rows, in the data's units, and
the share of the values inside of their 95 % intervals (coverage; not of time series).
DATA is read as by fit. The model file is not changed.`,
		Example: `  vssgp evaluate co2.safetensors co2.csv
  vssgp evaluate model.safetensors data.csv --inference factorized --rows 0,5,10 --json
  vssgp evaluate model.safetensors data.csv --gradient --json`,
	}, func(ctx context.Context, args []string) error { return runEvaluate(ctx, env, args[0], args[1], o) }, cli.ModelOperand,
		cli.DataOperand)
	cmd.Annotations = cli.FlagGroups("Input: x y names dayfirst decimal yerr rows", "Model: inference gradient")
	f := cmd.Flags()
	o.columns.Add(f)
	f.Lookup("x").Usage = "input `columns`, by name or number from 0 (default: the model's names)"
	f.Lookup("y").Usage = "output `columns` (default: the model's names)"
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
	m, err := loadModel(env, modelPath)
	if err != nil {
		return err
	}
	e, err := m.evaluate(ctx, env, dataPath, o)
	if err == nil {
		err = e.Print(env, cli.InputName(dataPath))
	}
	return ofModel(modelPath, dataPath, err)
}

// evaluate implements model.
func (m vssgpModel) evaluate(ctx context.Context, env *cli.Env, path string, o *evaluateFlags) (*cli.Evaluation, error) {
	if o.columns.Errors != nil {
		return nil, cli.Mistake("--yerr: %s is not a time-series model; omit the flag", m.Path)
	}
	began := time.Now()
	data, err := m.read(ctx, env, path, o.columns)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(o.rows, func(n int) bool { return n < 0 || n >= data.N }); i >= 0 {
		return nil, cli.Mistake("--rows %d: must be from 0 to %d", o.rows[i], data.N-1)
	}
	inference := cmp.Or(o.inference, m.Inference)
	env.ShowProgress(0, "evaluating %s", cli.Counted(data.N, "row"))
	e, err := m.Evaluate(ctx, data.Data, inference, o.rows, o.gradient)
	if err != nil {
		return nil, err
	}
	out := &cli.Evaluation{
		Bound: e.Bound, Terms: e.Terms, Inference: inference, Rows: data.N, Batch: o.rows, Jitter: &e.Jitter,
		Device: m.Backend.Name(), Sums: e.Sums,
	}
	if o.gradient {
		out.Tensors = gradientOf(m.Params, e.Gradient, inference)
	}
	coverage := 0.0
	if out.RMSE, out.Density, coverage, err = m.scores(ctx, data.Data); err != nil {
		return nil, err
	}
	beyondWarner(env, m.Model, data.XNames, data.Axes)(data.X)
	out.Coverage = &coverage
	out.Ranks = env.Device.RankTimes(time.Since(began))
	return out, nil
}

// scores returns the RMSE, the mean log predictive density and the coverage of the 95 % intervals of the rows. The
// density is NaN if a covariance is not positive definite. A model without a posterior of the weights is conditioned on
// the data.
func (m vssgpModel) scores(ctx context.Context, data *vssgp.Data) (rmse, density, coverage float64, err error) {
	p, err := m.Predict(ctx, data.X)
	if errors.Is(err, vssgp.ErrUnfitted) {
		if _, err = m.Condition(ctx, data); err == nil {
			p, err = m.Predict(ctx, data.X)
		}
	}
	if err != nil {
		return 0, 0, 0, err
	}
	density = math.NaN()
	if rows, err := p.LogDensity(ctx, data.Y); ctx.Err() != nil {
		return 0, 0, 0, err
	} else if err == nil {
		density, _ = bayes.MeanSD(rows, 0, 1)
	}
	return bayes.RMSE(p.Mean, data.Y), density, bayes.Coverage(p.Mean, p.SD(true), data.Y), nil
}

// evaluate implements model.
func (m seriesModel) evaluate(ctx context.Context, env *cli.Env, path string, o *evaluateFlags) (*cli.Evaluation, error) {
	if o.inference != "" || o.gradient || o.rows != nil {
		return nil, cli.Mistake("%s is a time-series model; --inference, --gradient and --rows do not apply", m.Path)
	}
	return seriescmd.Evaluate(ctx, env, m.Model, path, o.columns)
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
