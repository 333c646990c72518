package main

import (
	"context"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// sparseFile is the output of baseline --model: the model with the names and axes of its data.
func sparseFile(path string, fit *baseline.Fit, data *dataset) (atomicfile.File, error) {
	m := fit.Model.(*baseline.SparseModel)
	m.XNames, m.YNames = data.XNames, data.YNames
	text, err := axesText(data.axes)
	if text != "" {
		m.Notes = map[string]string{axisNote: text}
	}
	return atomicfile.File{Path: path, Write: m.Write}, err
}

// axesOfSparse returns the axes of the inputs of a model of baseline.
func axesOfSparse(m *baseline.SparseModel) ([]*table.Axis, error) {
	q, _, _ := m.Sizes()
	return axesFrom(m.Notes[axisNote], "note "+axisNote, q)
}

// predictSparse predicts by a model of baseline.
func (a *app) predictSparse(ctx context.Context, m *baseline.SparseModel, modelPath, inputPath string, o *predictFlags) error {
	if bad := o.notOfSparse(); bad != "" {
		return mistake("%s: %s is a model of vssgp baseline, which predicts a table of mean and sd; leave the flag out", bad, modelPath)
	}
	q, d, _ := m.Sizes()
	like, err := axesOfSparse(m)
	if err != nil {
		return err
	}
	s, err := a.openTable(ctx, inputPath)
	if err != nil {
		return err
	}
	at, err := tablePlaces(ctx, s, inputName(inputPath), o.columns, q, m.XNames, like)
	if err != nil {
		return err
	}
	r := &prediction{ctx: ctx, at: at, o: o, outputs: report.Names(m.YNames, d, "y"), meter: a.newMeter()}
	defer r.meter.clear()
	var files []atomicfile.File
	if o.joint != "" {
		files = append(files, jointFile(ctx, at, m, m.NoiseSD(), o.joint, o.latent))
	}
	columns, err := a.writeBaseline(m, r, files...)
	if err != nil || !a.json {
		return err
	}
	return a.printJSON(object{{"rows", at.rows}, {"columns", columns}, {"output", o.output}, {"device", "cpu"}})
}

// notOfSparse is a flag that a model of baseline cannot follow; "" if there is none.
func (o *predictFlags) notOfSparse() string {
	switch {
	case o.full:
		return "--full"
	case o.posterior:
		return "--posterior"
	case o.draws > 0:
		return "--draws"
	case o.plot != "":
		return "--plot " + o.plot
	case o.plan:
		return "--plan"
	case formatOf(o.output) == "wav":
		return "-o " + o.output
	}
	return ""
}

// writeBaseline writes a model's predictions after other files, and returns the columns of their table.
func (a *app) writeBaseline(m baseline.Model, r *prediction, before ...atomicfile.File) (columns []string, err error) {
	r.each = batches(m, len(r.at.names))
	files, columns, err := r.files()
	if err != nil {
		return nil, err
	}
	return columns, a.writeLast(append(before, r.file(files[0])), r.meter.clear)
}

// batchRows are predicted at a time by a model of baseline: a signal is heeded between batches.
const batchRows = 2048

// batches predicts at rows of q inputs, some at a time.
func batches(m baseline.Model, q int) func(context.Context, iter.Seq2[[]float64, error]) iter.Seq2[*vssgp.Part, error] {
	return func(ctx context.Context, rows iter.Seq2[[]float64, error]) iter.Seq2[*vssgp.Part, error] {
		return func(yield func(*vssgp.Part, error) bool) {
			first := 0
			for x, err := range rows {
				if err != nil {
					yield(nil, err)
					return
				}
				for batch := range slices.Chunk(x, batchRows*q) {
					p, err := m.Predict(mat.NewDense(len(batch)/q, q, batch))
					if err == nil {
						err = ctx.Err()
					}
					if !yield(&vssgp.Part{First: first, X: batch, Prediction: p}, err) || err != nil {
						return
					}
					first += p.N
				}
			}
		}
	}
}

// infoSparse prints a model of baseline.
func (a *app) infoSparse(path string, m *baseline.SparseModel, plot string) error {
	if plot != "" {
		return mistake("--plot %s: %s is a model of vssgp baseline, which it does not draw; leave the flag out", plot, path)
	}
	q, d, inducing := m.Sizes()
	inputs, outputs := report.Names(m.XNames, q, "x"), report.Names(m.YNames, d, "y")
	components := mixture(m.Covariance(), m.Scale())
	if a.json {
		return a.printJSON(object{
			{"model", path}, {"inputs", inputs}, {"outputs", outputs}, {"inducing", inducing}, {"noise_sd", m.NoiseSD()}, {"components", components},
		})
	}
	a.say("%s: a sparse Gaussian process of vssgp baseline", filepath.Base(path))
	a.say("%s -> %s, %s, %s", strings.Join(inputs, ", "), strings.Join(outputs, ", "), counted(len(components), "component"), counted(inducing, "inducing input"))
	a.say("noise sd: %s", row(m.NoiseSD()))
	a.sayComponents(components, firstNumbers(len(components)))
	return nil
}

// mixture returns a covariance's components in the data's units; scale is the outputs'.
func mixture(c baseline.Covariance, scale []float64) []vssgp.Component {
	out := make([]vssgp.Component, c.L)
	for i := range out {
		for _, s := range scale {
			out[i].SD = append(out[i].SD, math.Sqrt(c.Variance[i])*s)
		}
		for q := range c.Q {
			out[i].Lengthscale = append(out[i].Lengthscale, c.Lengthscale[i*c.Q+q])
			out[i].Period = append(out[i].Period, 1/math.Abs(c.Frequency[i*c.Q+q]))
		}
	}
	return out
}
