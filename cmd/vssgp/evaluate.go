package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/score"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	columns   columns
	inference vssgp.Inference // "": the model's
	gradient  bool
	rows      []int
}

// evaluation is what `evaluate --json` prints.
type evaluation struct {
	Bound     float64         `json:"bound"`
	Terms     []vssgp.Term    `json:"terms"`
	Inference vssgp.Inference `json:"inference"`
	Rows      int             `json:"rows"`
	Batch     []int           `json:"batch,omitempty"` // --rows
	RMSE      float64         `json:"rmse"`
	Density   float64         `json:"mean_log_predictive_density"`
	Jitter    float64         `json:"jitter"`
	Device    string          `json:"device"`
	Gradient  map[string]any  `json:"gradient,omitempty"` // nested lists by tensor
	Ranks     *rankTimes      `json:"ranks,omitempty"`    // under mpirun
}

func (a *app) evaluateCommand() *cobra.Command {
	o := &evaluateFlags{}
	cmd := a.command(&cobra.Command{
		Use:   "evaluate MODEL DATA",
		Short: "Print a model's bound on data, its terms, RMSE and mean log predictive density",
		Long: `Prints the bound of a model's parameters on data (CSV, NPY, WAV or SPHERE) with
its named terms, and how well the model predicts the data's rows: RMSE and mean
log predictive density, in the data's units. The model file does not change.
A model without a weight posterior is conditioned on the data first, to predict.

Bound and gradient are in the model's units (x.scale, y.scale of the file).`,
		Example: `  vssgp evaluate co2.safetensors co2.csv
  vssgp evaluate model.safetensors data.csv --inference factorised --rows 0,5,10 --json
  vssgp evaluate model.safetensors data.csv --gradient --json`,
	}, func(ctx context.Context, args []string) error { return a.evaluate(ctx, args[0], args[1], o) }, modelOperand, dataOperand)
	f := cmd.Flags()
	o.columns.add(f)
	f.Var(oneOf(&o.inference, "exact", "factorised"), "inference", "bound to evaluate: exact or factorised (default: the model's)")
	f.BoolVar(&o.gradient, "gradient", false, "also print the gradient of the bound by every tensor of the model file")
	f.Var(rowNumbers(&o.rows), "rows", "evaluate the factorised bound on these `rows` only, such as 0,5,10, with the data term scaled by N/|S|")
	return cmd
}

func (a *app) evaluate(ctx context.Context, modelPath, dataPath string, o *evaluateFlags) error {
	a.computer.spread()
	began := time.Now()
	m, err := a.load(modelPath)
	if err != nil {
		return err
	}
	data, err := a.readFor(ctx, m, dataPath, o.columns)
	if err != nil {
		return err
	}
	inference := cmp.Or(o.inference, m.Inference)
	e, err := m.EvaluateContext(ctx, data, inference, o.rows, o.gradient)
	if err != nil {
		return err
	}
	p, err := predictRows(ctx, m, data)
	if err != nil {
		return err
	}
	density, err := meanLogDensity(ctx, p, data.Y)
	if err != nil {
		return err
	}
	out := evaluation{
		Bound: e.Bound, Terms: e.Terms, Inference: inference, Rows: data.N, Batch: o.rows, RMSE: score.RMSE(p.Mean, data.Y), Density: density,
		Jitter: e.Jitter, Device: m.Backend.Name(), Ranks: a.rankTimes(time.Since(began)),
	}
	var gradient []vssgp.Tensor
	if o.gradient {
		gradient = gradientOf(m.Params, e.Gradient, inference)
	}
	if !a.json {
		a.sayEvaluation(&out, gradient)
		return nil
	}
	out.Gradient = map[string]any{}
	for _, t := range gradient {
		out.Gradient[t.Name] = nested(t.Shape, *t.Data)
	}
	return a.printJSON(out)
}

// predictRows predicts the rows of the data by the posterior of the model. A model
// without one is copied, and the copy conditioned on the data.
func predictRows(ctx context.Context, m *vssgp.Model, data *vssgp.Data) (*vssgp.Prediction, error) {
	x := mat.NewDense(data.N, data.Q, data.X)
	p, err := m.PredictContext(ctx, x)
	if !errors.Is(err, vssgp.ErrUnfitted) {
		return p, err
	}
	c := *m
	c.Params = m.Params.Clone()
	if _, err := c.ConditionContext(ctx, data); err != nil {
		return nil, err
	}
	return c.PredictContext(ctx, x)
}

// meanLogDensity is the mean over the rows of log N(y_n; mean_n, Cov_n), the
// outputs of a row jointly; NaN where a covariance is not positive definite.
func meanLogDensity(ctx context.Context, p *vssgp.Prediction, y []float64) (float64, error) {
	rows, err := p.LogDensityContext(ctx, y)
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

// gradientOf are the tensors of the gradient g at p that have entries, with NaN
// for entries that are constants of the model. The coefficients have none under
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

// nested are numbers as nested lists of a tensor's shape.
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

func (a *app) sayEvaluation(e *evaluation, gradient []vssgp.Tensor) {
	a.say("%-28s %.9g   (%s, in the model's units)", "bound", e.Bound, e.Inference)
	for _, t := range e.Terms {
		a.say("  %-26s %.9g", t.Name, t.Value)
	}
	a.say("%-28s %d", "rows", e.Rows)
	if e.Batch != nil {
		a.say("%-28s %d of them", "mini-batch", len(e.Batch))
	}
	a.say("%-28s %.6g", "RMSE", e.RMSE)
	a.say("%-28s %.6g", "mean log predictive density", e.Density)
	a.say("%-28s %s", "device", e.Device)
	if e.Ranks != nil {
		a.say("%s", e.Ranks)
	}
	if gradient == nil {
		return
	}
	a.say("gradient: largest entry by tensor (--json prints all)")
	for _, t := range gradient {
		most := 0.0
		for _, v := range *t.Data {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
		a.say("  %-26s %.6g", t.Name, most)
	}
}
