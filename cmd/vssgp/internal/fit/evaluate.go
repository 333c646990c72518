package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	inference vssgp.Inference // "": the model's
	gradient  bool
	rows      []int
}

// NewEvaluate returns the command evaluate.
func NewEvaluate(env *cli.Env) *cobra.Command {
	o := &evaluateFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "evaluate MODEL DATA",
		Short: "Print a model's bound on data, its terms, RMSE and mean log predictive density",
		Long: `Prints the bound of a model's parameters on data (read as by fit) with
its named terms, and how well the model predicts the data's rows: RMSE and mean
log predictive density, in the data's units. The model file does not change.
A model without a weight posterior is conditioned on the data first, to predict.

Bound and gradient are in the model's units (x.scale, y.scale of the file).`,
		Example: `  vssgp evaluate co2.safetensors co2.csv
  vssgp evaluate model.safetensors data.csv --inference factorised --rows 0,5,10 --json
  vssgp evaluate model.safetensors data.csv --gradient --json`,
	}, func(ctx context.Context, args []string) error { return runEvaluate(ctx, env, args[0], args[1], o) }, cli.ModelOperand,
		cli.DataOperand)
	f := cmd.Flags()
	o.columns.Add(f)
	f.StringSliceVar(&o.columns.Errors, "yerr", nil,
		"`columns` of the known standard deviations, for the model of a series that was fitted with such")
	f.Var(cli.OneOf(&o.inference, "exact", "factorised"), "inference", "bound to evaluate: exact or factorised (default: the model's)")
	f.BoolVar(&o.gradient, "gradient", false, "also print the gradient of the bound by every tensor of the model file")
	f.Var(rowNumbers(&o.rows), "rows",
		"evaluate the factorised bound on these `rows` only, such as 0,5,10, with the data term scaled by N/|S|")
	return cmd
}

// rowNumbers takes numbers of rows, with commas between.
func rowNumbers(to *[]int) *cli.Value {
	return &cli.Value{Kind: "rows", List: true, Parse: func(s string) error {
		for field := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(field))
			if err != nil || n < 0 {
				return fmt.Errorf("%.40q is not a row number; want numbers from 0 on, such as 0,5,10", field)
			}
			*to = append(*to, n)
		}
		return nil
	}}
}

func runEvaluate(ctx context.Context, env *cli.Env, modelPath, dataPath string, o *evaluateFlags) error {
	env.Device.Spread()
	m, err := loadAny(env, modelPath)
	if err != nil {
		return err
	}
	if m.series != nil {
		if o.inference != "" || o.gradient || o.rows != nil {
			return cli.Mistake("%s is the model of a series; leave --inference, --gradient and --rows out", modelPath)
		}
		return ofModel(modelPath, dataPath, seriescmd.Evaluate(ctx, env, m.series, dataPath, o.columns))
	}
	if o.columns.Errors != nil {
		return cli.Mistake("--yerr: %s is no model of a series; leave the flag out", modelPath)
	}
	return ofModel(modelPath, dataPath, evaluateVSSGP(ctx, env, m.model, dataPath, o))
}

// evaluateVSSGP evaluates a model of package vssgp.
func evaluateVSSGP(ctx context.Context, env *cli.Env, m *vssgp.Model, dataPath string, o *evaluateFlags) error {
	began := time.Now()
	read, err := readFor(ctx, env, m, dataPath, o.columns)
	if err != nil {
		return err
	}
	data := read.Data
	inference := cmp.Or(o.inference, m.Inference)
	e, err := m.Evaluate(ctx, data, inference, o.rows, o.gradient)
	if err != nil {
		return err
	}
	var gradient []vssgp.Tensor
	if o.gradient {
		gradient = gradientOf(m.Params, e.Gradient, inference)
	}
	p, err := predictRows(ctx, m, data)
	if err != nil {
		return err
	}
	density, err := meanLogDensity(ctx, p, data.Y)
	if err != nil {
		return err
	}
	rmse, times := bayes.RMSE(p.Mean, data.Y), env.Device.RankTimes(time.Since(began))
	if err := cli.CheckScores(cli.InputName(dataPath), rmse, density); err != nil {
		return err
	}
	if env.JSON {
		var g cli.Object
		for _, t := range slices.SortedFunc(slices.Values(gradient), func(s, t vssgp.Tensor) int { return cmp.Compare(s.Name, t.Name) }) {
			g = append(g, t.Name, nested(t.Shape, *t.Data))
		}
		return env.PrintJSON(cli.Object{
			"bound", e.Bound, "terms", e.Terms, "inference", inference, "rows", data.N, "batch,omitempty", o.rows, "rmse", rmse,
			"mean_log_predictive_density", density, "jitter", e.Jitter, "device", m.Backend.Name(), "sums", e.Sums,
			"gradient,omitempty", g, "ranks,omitempty", times,
		})
	}
	env.Print("%-28s %.9g   (%s, in the model's units)", "bound", e.Bound, inference)
	for _, t := range e.Terms {
		env.Print("  %-26s %.9g", t.Name, t.Value)
	}
	env.Print("%-28s %d", "rows", data.N)
	if o.rows != nil {
		env.Print("%-28s %d of them", "mini-batch", len(o.rows))
	}
	env.Print("%-28s %.6g", "RMSE", rmse)
	env.Print("%-28s %.6g", "mean log predictive density", density)
	env.Print("%-28s %s%s", "device", m.Backend.Name(), byTables(e.Sums))
	if times != nil {
		env.Print("%s", times)
	}
	if gradient != nil {
		printGradient(env, gradient)
	}
	return nil
}

// predictRows predicts the rows of the data by the model's weight posterior. A model without
// one is conditioned on the data first.
func predictRows(ctx context.Context, m *vssgp.Model, data *vssgp.Data) (*vssgp.Prediction, error) {
	p, err := m.Predict(ctx, data.X)
	if !errors.Is(err, vssgp.ErrUnfitted) {
		return p, err
	}
	if _, err := m.Condition(ctx, data); err != nil {
		return nil, err
	}
	return m.Predict(ctx, data.X)
}

// meanLogDensity returns the mean over the rows of log N(y_n; mean_n, Cov_n), jointly
// over the outputs of a row; NaN if a covariance is not positive definite.
func meanLogDensity(ctx context.Context, p *vssgp.Prediction, y []float64) (float64, error) {
	rows, err := p.LogDensity(ctx, y)
	if ctx.Err() != nil {
		return 0, err
	}
	if err != nil {
		return math.NaN(), nil
	}
	sum := 0.0
	for _, v := range rows {
		sum += v
	}
	return sum / float64(p.N), nil
}

// gradientOf returns the tensors of the gradient g at p that have entries, with NaN
// for entries that are constants of the model. It leaves out the coefficients under
// the exact bound, which has solved for them.
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

func printGradient(env *cli.Env, gradient []vssgp.Tensor) {
	env.Print("gradient: largest entry by tensor (--json prints all)")
	for _, t := range gradient {
		most := 0.0
		for _, v := range *t.Data {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
		env.Print("  %-26s %.6g", t.Name, most)
	}
}
