package fit

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/fileio"
)

// prediction writes the outputs of predict. Each file takes a separate pass over the rows, with one block of rows in
// memory at a time. If the plot shows all rows, their prediction is reused.
type prediction struct {
	ctx       context.Context
	env       *cli.Env
	m         *vssgp.Model
	at        *datafile.Places
	data      *datafile.Places // to mark in the plot, nil for none
	o         *predictFlags
	outputs   []string // names of the outputs [D]
	predictor *vssgp.Predictor
	draws     *vssgp.Draws
	beyond    func(x []float64) // warns of rows outside the range of the data
	rate      int               // sample rate of recordings; 0 if not yet computed
	table     []float64         // buffer for rows of a table

	x     []float64         // inputs of all rows [N,Q], if the plot shows them
	whole *vssgp.Prediction // at x
}

// A writer appends numbers to an output.
type writer = func(a []float64) error

// predictAll writes all outputs or, if one of them fails, none. It returns the columns of
// the table, nil for a recording.
func predictAll(
	ctx context.Context, env *cli.Env, m *vssgp.Model, at, data *datafile.Places, o *predictFlags, model string,
) (columns []string, err error) {
	r := &prediction{
		ctx: ctx, env: env, m: m, at: at, data: data, o: o,
		outputs: datafile.OutputNames(m), beyond: beyondWarner(env, m, at.Names, at.Axes),
	}
	predictor, draws := m.Predictor, m.Draws
	if o.Posterior {
		if h := m.Posterior(); h == nil || len(h.Draws) == 0 {
			return nil, cli.Mistake("--posterior: %s has no draws of its hyper-parameters; fit the model with --posterior 30", model)
		}
		predictor, draws = m.PosteriorPredictor, m.PosteriorDraws
	}
	if r.predictor, err = predictor(ctx); err != nil {
		return nil, err
	}
	if r.draws, err = draws(env.Seed); err != nil {
		return nil, err
	}
	files, columns, err := r.files()
	if err != nil {
		return nil, err
	}
	if o.joint != "" {
		files = slices.Insert(files, 0, r.jointFile())
	}
	if o.Plot != "" {
		plot, err := r.plot(model)
		if err != nil {
			return nil, err
		}
		files = slices.Insert(files, 0, plot)
	}
	return columns, env.Write(files...)
}

// pass calls visit for each block of rows with their inputs [N,Q] and the prediction, nil if drawing is set.
func (r *prediction) pass(drawing bool, visit func(x []float64, p *vssgp.Prediction) error) error {
	what, done := "predicting", 0
	one := func(x []float64, p *vssgp.Prediction) error {
		if err := visit(x, p); err != nil {
			return err
		}
		done += len(x) / len(r.at.Names)
		r.env.ShowProgress(float64(done)/float64(r.at.Rows), "%s %s", what, cli.Counted(r.at.Rows, "row"))
		return nil
	}
	if drawing {
		what = "drawing"
		return r.at.Each(r.ctx, func(_ int, x []float64) error { return one(x, nil) })
	}
	if r.whole != nil {
		r.beyond(r.x)
		return one(r.x, r.whole)
	}
	for p, err := range r.predictor.Each(r.ctx, r.at.Parts(r.ctx)) {
		if err == nil {
			r.beyond(p.X)
			err = one(p.X, p.Prediction)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file returns a file to write: a recording, an array of the given shape or a table with the named columns.
func (r *prediction) file(path string, shape []int, names []string, fill func(write writer) error) (f fileio.File, err error) {
	if cli.FormatOf(path) != "wav" {
		return datafile.TableFile(path, shape, names, r.at.Axes, fill), nil
	}
	if r.rate == 0 {
		if r.rate, err = sampleRate(r.ctx, r.at); err != nil {
			return f, fmt.Errorf("%s: %w", path, err)
		}
	}
	return fileio.File{Path: path, Write: func(w io.Writer) error { // 32-bit floats do not clip values above full scale
		to, err := audio.NewWriter(w, r.rate, audio.Float32, len(r.outputs), r.at.Rows)
		if err == nil {
			err = fill(to.Write)
		}
		if err != nil {
			return err
		}
		return to.Close()
	}}, nil
}

// shape returns the shape of an array with columns for each row: [N, columns] or, for a grid, a size for each input
// before the columns.
func (r *prediction) shape(columns int) []int {
	if r.at.Grid == nil {
		return []int{r.at.Rows, columns}
	}
	return append(r.at.Sizes(), columns)
}

// inputs returns the names of the inputs in the rows of a file. An array of a grid omits them, because its indices
// determine them.
func (r *prediction) inputs(path string) []string {
	if r.at.Grid != nil && cli.FormatOf(path) == "npy" {
		return nil
	}
	return r.at.Names
}

// files returns the files of the draws, then the file of the prediction, and its columns.
func (r *prediction) files() (files []fileio.File, columns []string, err error) {
	o, inColumns := r.o, r.o.Draws
	if o.drawsFile != "" {
		inColumns = 0
		if files, err = r.drawFiles(o.drawsFile, o.Draws); err != nil {
			return nil, nil, err
		}
	}
	fill := func(write writer) error {
		return r.pass(false, func(_ []float64, p *vssgp.Prediction) error { return write(p.Mean) })
	}
	if cli.FormatOf(o.Output) != "wav" {
		inputs := r.inputs(o.Output)
		columns = datafile.PredictedNames(inputs, r.outputs, o.Posterior)
		for i := 0; o.full && i < len(r.outputs); i++ {
			for _, y := range r.outputs[i:] {
				columns = append(columns, r.outputs[i]+"_"+y+"_cov")
			}
		}
		if columns, err = datafile.WithDraws(columns, r.outputs, inColumns); err != nil {
			return nil, nil, err
		}
		fill = func(write writer) error {
			return r.pass(false, func(x []float64, p *vssgp.Prediction) error {
				return r.tabulate(x, len(inputs), p, inColumns, write)
			})
		}
	}
	f, err := r.file(o.Output, r.shape(len(columns)), columns, fill)
	return append(files, f), columns, err
}

// drawFiles returns files with only the n draws: a table of the inputs and a column for
// each draw and output, an array [n,N,D] (for a grid [n,n_1,…,n_Q,D]), or n recordings.
func (r *prediction) drawFiles(path string, n int) (files []fileio.File, err error) {
	// add adds a file: a table of all draws if names is not nil, else the draws from lo to hi-1 in sequence.
	add := func(path string, lo, hi int, names []string) error {
		shape := append([]int{hi - lo}, r.shape(len(r.outputs))...)
		f, err := r.file(path, shape, names, func(write writer) (err error) {
			if names != nil {
				return r.pass(true, func(x []float64, _ *vssgp.Prediction) error {
					return r.tabulate(x, len(r.at.Names), nil, n, write)
				})
			}
			for i := lo; i < hi && err == nil; i++ {
				err = r.pass(true, func(x []float64, _ *vssgp.Prediction) error {
					y, err := r.draws.At(r.ctx, i, x)
					if err != nil {
						return err
					}
					return write(y)
				})
			}
			return err
		})
		files = append(files, f)
		return err
	}
	switch cli.FormatOf(path) {
	case "wav":
		for i, path := range cli.NumberedFiles(path, n) {
			if err = add(path, i, i+1, nil); err != nil {
				break
			}
		}
	case "npy":
		err = add(path, 0, n, nil)
	default:
		var names []string
		if names, err = datafile.WithDraws(slices.Clone(r.at.Names), r.outputs, n); err == nil {
			err = add(path, 0, n, names)
		}
	}
	return files, err
}

// maxNumbers is the maximum number of values of draws or output rows in memory at a
// time.
const maxNumbers = 1 << 21

// tabulate writes rows of a table: the first inputs of x [N,Q], the prediction unless p is nil, and
// n draws. It processes blocks of at most maxNumbers values.
func (r *prediction) tabulate(x []float64, inputs int, p *vssgp.Prediction, n int, write writer) (err error) {
	q, d := len(r.at.Names), len(r.outputs)
	var columns [][]float64 // of each output, [N,D]
	if p != nil {
		noise := !r.o.latent
		if columns = [][]float64{p.Mean, p.SD(noise)}; r.o.Posterior {
			columns = append(columns, p.Quantile(0.025, noise), p.Quantile(0.975, noise))
		}
	}
	rows, step := len(x)/q, max(1, maxNumbers/(q+d*(2+d+n)))
	draws := make([][]float64, n)
	for lo := 0; lo < rows; lo += step {
		hi := min(rows, lo+step)
		for i := range draws {
			if draws[i], err = r.draws.At(r.ctx, i, x[lo*q:hi*q]); err != nil {
				return err
			}
		}
		r.table = r.table[:0]
		for row := lo; row < hi; row++ {
			r.table = append(r.table, x[row*q:][:inputs]...)
			for i := row * d; i < (row+1)*d; i++ {
				for _, column := range columns {
					r.table = append(r.table, column[i])
				}
			}
			for i := 0; p != nil && r.o.full && i < d; i++ {
				for j := i; j < d; j++ {
					v := p.Cov[(row*d+i)*d+j]
					if r.o.latent && i == j {
						v = max(0, v-p.Noise[i])
					}
					r.table = append(r.table, v)
				}
			}
			for _, y := range draws {
				r.table = append(r.table, y[(row-lo)*d:][:d]...)
			}
		}
		if err := write(r.table); err != nil {
			return err
		}
	}
	return nil
}

// plot returns the file of --plot. It shows the first rows, or a grid over two inputs with at most report.MapSide
// values of each.
func (r *prediction) plot(model string) (f fileio.File, err error) {
	at, rows := r.at, min(r.at.Rows, report.MaxRows)
	if r.at.Varying() == 2 {
		at = r.at.Thinned(report.MapSide)
		rows = at.Rows
	}
	v := report.Predicted{
		Sizes: at.Sizes(), Rows: r.at.Rows, Drawn: r.o.Draws, Noise: !r.o.latent, Settings: r.env.Settings(),
		Value: func(q int, x float64) any { return valueOf(at.Axes[q], x) },
	}
	if v.X, err = at.First(r.ctx, rows); err != nil {
		return f, err
	}
	r.env.ShowProgress(0, "predicting %s", cli.Counted(rows, "row"))
	if v.P, err = r.predictor.Predict(r.ctx, v.X); err != nil {
		return f, err
	}
	if v.P.N == r.at.Rows {
		r.x, r.whole = v.X, v.P
	}
	if report.IsMap(v.X, len(at.Names)) {
		err = r.mark(&v)
	} else {
		v.Draws, err = r.someDraws(v.X)
	}
	if err != nil {
		return f, err
	}
	plot := report.Predict(r.m, v)
	plot.Title = "Prediction by " + model
	return r.env.ReportFile(r.o.Plot, plot), nil
}

// someDraws returns the first draws at x [N,Q] for a plot.
func (r *prediction) someDraws(x []float64) (draws [][]float64, err error) {
	draws = make([][]float64, min(r.o.Draws, report.MaxDraws))
	for i := range draws {
		if draws[i], err = r.draws.At(r.ctx, i, x); err != nil {
			return nil, err
		}
	}
	return draws, nil
}

// mark adds the rows of the data to a plot, unless there are too many.
func (r *prediction) mark(v *report.Predicted) (err error) {
	switch {
	case r.data == nil:
		return nil
	case r.data.Rows > report.MaxMarks:
		v.DataShare = fmt.Sprintf("The %d rows of the data are not marked, because there are more than %d.",
			r.data.Rows, report.MaxMarks)
		return nil
	}
	v.DataShare = "The dots are the rows of the data."
	v.Data, err = r.data.First(r.ctx, r.data.Rows)
	return err
}

// checkFormats returns an error if the flags for the outputs of predict are inconsistent. If the output is a recording,
// it sets the draws to be recordings, too.
func checkFormats(env *cli.Env, o *predictFlags) error {
	recording := cli.FormatOf(o.Output) == "wav"
	switch {
	case recording && o.full:
		return cli.Mistake("--full: a recording cannot contain covariances; -o must be .csv or .npy")
	case o.joint != "" && o.Posterior:
		return cli.Mistake("--joint %s cannot be combined with --posterior", o.joint)
	case o.drawsFile != "" && o.Draws == 0:
		return cli.Mistake("--draws-file %s requires --draws N", o.drawsFile)
	case o.drawsFile == "" && o.Draws > 0 && recording:
		o.drawsFile = o.Output
	}
	if cli.FormatOf(o.drawsFile) == "wav" {
		return env.CheckOutputs(cli.NumberedFiles(o.drawsFile, o.Draws)...)
	}
	return nil
}

// maxJoint is the maximum number of rows times outputs of a joint covariance. The matrix then has 2 GiB.
const maxJoint = 1 << 14

// jointFile returns the file of --joint with shape [N,D,N,D]. Unless --latent is given, the diagonal includes the noise variance.
func (r *prediction) jointFile() fileio.File {
	n, d := r.at.Rows, len(r.m.NoiseSD())
	return datafile.TableFile(r.o.joint, []int{n, d, n, d}, nil, nil, func(write func([]float64) error) error {
		if n*d > maxJoint {
			return cli.Mistake("--joint %s: %s with %s; the maximum of rows times outputs is %d",
				r.o.joint, cli.Counted(n, "row"), cli.Counted(d, "output"), maxJoint)
		}
		x, err := r.at.First(r.ctx, n)
		if err != nil {
			return err
		}
		_, cov, err := r.m.PredictJoint(r.ctx, x)
		if err != nil {
			return err
		}
		first, err := r.predictor.Predict(r.ctx, x[:len(x)/n]) // for its noise, which may be a mean over draws
		if err != nil {
			return err
		}
		row := make([]float64, n*d)
		for i := range row {
			for j := range row {
				row[j] = cov.At(i, j)
			}
			if !r.o.latent {
				row[i] += first.Noise[i%d]
			}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// sampleRate returns the sample rate of evenly spaced inputs in seconds. It returns an error if they are not sample times.
func sampleRate(ctx context.Context, at *datafile.Places) (int, error) {
	var first, last float64
	err := at.Each(ctx, func(n int, x []float64) error {
		if n == 0 {
			first = x[0]
		}
		last = x[len(x)-1]
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(at.Names) != 1 || at.Rows < 2 || !(last > first) {
		return 0, cli.Mistake("a recording requires one evenly spaced input in seconds; the inputs have %s and %s; -o must be .csv or .npy",
			cli.Counted(len(at.Names), "column"), cli.Counted(at.Rows, "row"))
	}
	rate := math.Round(float64(at.Rows-1) / (last - first))
	const tolerance = 0.01 // in samples, for rounded inputs
	err = at.Each(ctx, func(n int, x []float64) error {
		for i, v := range x {
			if off := (v-first)*rate - float64(n+i); !(math.Abs(off) <= tolerance) || rate < 1 || rate > math.MaxInt32 {
				return cli.Mistake("a recording requires inputs with a step of 1/rate seconds; input %d (%v) is not a sample time at %.0f Hz; "+
					"-o must be .csv or .npy", n+i, v, rate)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(rate), nil
}
