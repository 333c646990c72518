package cli

import (
	"math"

	"github.com/vssgp/vssgp"
)

// An Evaluation is the result of evaluate. The fields without a value do not apply to the model.
type Evaluation struct {
	Bound     float64         `json:"bound"`
	Terms     []vssgp.Term    `json:"terms,omitempty"`
	Inference vssgp.Inference `json:"inference,omitzero"`
	Rows      int             `json:"rows"`            // with a value
	Batch     []int           `json:"batch,omitempty"` // of --rows
	RMSE      float64         `json:"rmse"`
	Density   float64         `json:"mean_log_predictive_density"`
	Coverage  *float64        `json:"coverage,omitempty"` // share of the values inside of their 95 % intervals
	Jitter    *float64        `json:"jitter,omitempty"`
	Device    string          `json:"device"`
	Sums      string          `json:"sums,omitzero"`
	Gradient  map[string]any  `json:"gradient,omitempty"` // nested lists of each tensor's shape
	Ranks     *RankTimes      `json:"ranks,omitzero"`

	Tensors []vssgp.Tensor `json:"-"` // the gradient
}

// Print prints the evaluation of a model on the rows of the named input. It returns an error if a score is not finite.
func (e *Evaluation) Print(env *Env, input string) error {
	if err := checkScores(input, e.RMSE, e.Density); err != nil {
		return err
	}
	if env.JSON {
		e.Gradient = map[string]any{}
		for _, t := range e.Tensors {
			e.Gradient[t.Name] = nested(t.Shape, *t.Data)
		}
		return env.PrintJSON(e)
	}
	units := "in the model's units"
	if e.Inference != "" {
		units = string(e.Inference) + ", " + units
	}
	env.Print("%-28s %.9g   (%s)", "bound", e.Bound, units)
	for _, t := range e.Terms {
		env.Print("  %-26s %.9g", t.Name, t.Value)
	}
	env.Print("%-28s %d", "rows", e.Rows)
	if e.Batch != nil {
		env.Print("%-28s %d", "rows of the mini-batch", len(e.Batch))
	}
	env.Print("%-28s %.6g", "RMSE", e.RMSE)
	env.Print("%-28s %.6g", "mean log predictive density", e.Density)
	if e.Coverage != nil {
		env.Print("%-28s %.4g", "coverage of 95 % intervals", *e.Coverage)
	}
	env.Print("%-28s %s%s", "device", e.Device, ByTables(e.Sums))
	if e.Ranks != nil {
		env.Print("%s", e.Ranks)
	}
	if e.Tensors != nil {
		env.Print("gradient: largest entry of each tensor (--json prints all)")
	}
	for _, t := range e.Tensors {
		largest := 0.0
		for _, v := range *t.Data {
			if !math.IsNaN(v) {
				largest = max(largest, math.Abs(v))
			}
		}
		env.Print("  %-26s %.6g", t.Name, largest)
	}
	return nil
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

// checkScores returns an error if a score is not finite.
func checkScores(path string, rmse, density float64) error {
	if v := rmse + density; math.IsNaN(v) || math.IsInf(v, 0) {
		return Mistake("%s: the RMSE is %v and the mean log predictive density is %v; the values must have the scale of the model's data",
			path, rmse, density)
	}
	return nil
}

// ByTables returns a remark if the sums over rows were computed from tables instead of passes over the rows.
func ByTables(sums string) string {
	if sums == "tables" {
		return ", sums over rows from tables"
	}
	return ""
}
