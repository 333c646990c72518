package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/score"
)

// evaluateFlags are evaluate's own.
type evaluateFlags struct {
	columns   columns
	inference choice
	gradient  bool
	rows      string
}

// evaluation is what `evaluate --json` prints.
type evaluation struct {
	Bound     number              `json:"bound"`
	Terms     terms               `json:"terms"`
	Inference vssgp.Inference     `json:"inference"`
	Rows      int                 `json:"rows"`
	Batch     []int               `json:"batch,omitempty"` // --rows
	RMSE      number              `json:"rmse"`
	Density   number              `json:"mean_log_predictive_density"`
	Jitter    number              `json:"jitter"`
	Device    string              `json:"device"`
	Gradient  map[string]nullable `json:"gradient,omitempty"`
	Ranks     *rankTimes          `json:"ranks,omitempty"` // under mpirun
}

func (a *app) evaluateCommand() *cobra.Command {
	o := &evaluateFlags{inference: choice{allowed: []string{"exact", "factorised"}}}
	cmd := &cobra.Command{
		Use:   "evaluate MODEL DATA",
		Short: "Print a model's bound on data, its terms, RMSE and mean log predictive density",
		Long: `Prints the bound of a model's parameters on data (CSV, NPY, WAV or SPHERE) with
its named terms, and how well the model predicts the data's rows: RMSE and mean
log predictive density, in the data's units. The model stays as it is; one
without a posterior over its coefficients is conditioned on the data to predict.

Bound and gradient are in the model's units (x.scale, y.scale of the file).`,
		Example: `  vssgp evaluate co2.safetensors co2.csv
  vssgp evaluate model.safetensors data.csv --inference factorised --rows 0,5,10 --json
  vssgp evaluate model.safetensors data.csv --gradient --json`,
		Args: arguments("MODEL", "DATA"),
		RunE: a.do(func(ctx context.Context, args []string) error { return a.evaluate(ctx, args[0], args[1], o) }),
	}
	f := cmd.Flags()
	addColumnFlags(f, &o.columns)
	f.Var(&o.inference, "inference", "bound to evaluate: exact or factorised (default: the model's)")
	f.BoolVar(&o.gradient, "gradient", false, "also print the bound's gradient by every tensor of the model file")
	f.StringVar(&o.rows, "rows", "", "evaluate the factorised bound on these `rows` alone, such as 0,5,10, their data term scaled by N/|S|")
	return cmd
}

func (a *app) evaluate(ctx context.Context, modelPath, dataPath string, o *evaluateFlags) error {
	err := a.evaluateOn(ctx, modelPath, dataPath, o)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return &interruption{" before there was a result"}
	}
	return err
}

func (a *app) evaluateOn(ctx context.Context, modelPath, dataPath string, o *evaluateFlags) error {
	rows, err := parseRows(o.rows)
	if err != nil {
		return err
	}
	a.computer.spread()
	began := time.Now()
	m, err := a.load(modelPath)
	if err != nil {
		return err
	}
	data, err := readFor(ctx, m, dataPath, o.columns)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r >= data.N {
			return mistake("--rows: no row %d; the data have rows 0 to %d", r, data.N-1)
		}
	}
	inference := m.Inference
	if o.inference.value != "" {
		inference = vssgp.Inference(o.inference.value)
	}
	e, err := m.EvaluateContext(ctx, data, inference, rows, o.gradient)
	if err != nil {
		return err
	}
	out := evaluation{
		Bound: number(e.Bound), Terms: e.Terms, Inference: inference, Rows: data.N, Batch: rows,
		Jitter: number(e.Jitter), Device: m.Backend.Name(),
	}
	p, err := predictRows(ctx, m, data)
	if err != nil {
		return err
	}
	density, err := meanLogDensity(ctx, p, data.Y)
	if err != nil {
		return err
	}
	out.RMSE, out.Density = number(score.RMSE(p.Mean, data.Y)), number(density)
	if o.gradient {
		out.Gradient = gradientOf(m.Params, e.Gradient, inference)
	}
	out.Ranks = a.rankTimes(time.Since(began))
	if a.json {
		return a.printJSON(out)
	}
	a.sayEvaluation(out)
	return nil
}

// predictRows predicts the data's own rows by the model's posterior, or, where
// it has none, by that of a copy conditioned on the data.
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

func (a *app) sayEvaluation(e evaluation) {
	a.say("%-28s %.9g   (%s, in the model's units)", "bound", float64(e.Bound), e.Inference)
	for _, t := range e.Terms {
		a.say("  %-26s %.9g", t.Name, t.Value)
	}
	a.say("%-28s %d", "rows", e.Rows)
	if e.Batch != nil {
		a.say("%-28s %d of them", "mini-batch", len(e.Batch))
	}
	a.say("%-28s %.6g", "RMSE", float64(e.RMSE))
	a.say("%-28s %.6g", "mean log predictive density", float64(e.Density))
	a.say("%-28s %s", "device", e.Device)
	if e.Ranks != nil {
		a.say("%s", e.Ranks)
	}
	if e.Gradient == nil {
		return
	}
	a.say("gradient: largest entry by tensor (--json prints all)")
	for _, t := range (&vssgp.Params{}).Tensors() {
		if g, ok := e.Gradient[t.Name]; ok {
			a.say("  %-26s %.6g", t.Name, g.largest())
		}
	}
}

// parseRows reads --rows; nil where it is not given.
func parseRows(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var rows []int
	for _, field := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 0 {
			return nil, mistake("--rows: %.40q is no row number; want numbers from 0 on, such as 0,5,10", field)
		}
		rows = append(rows, n)
	}
	return rows, nil
}

// load reads a model file and gives it the backend of --device.
func (a *app) load(path string) (*vssgp.Model, error) {
	b, err := a.computer.get()
	if err != nil {
		return nil, err
	}
	m, err := readModel(path)
	if err != nil {
		return nil, err
	}
	m.Backend = b
	return m, nil
}

// readModel reads a model file; what it computes, it computes on the CPU.
func readModel(path string) (*vssgp.Model, error) {
	m, err := vssgp.Load(path)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}
