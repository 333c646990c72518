package fit

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// prediction is what predict writes. Each file takes a separate pass over the rows, of which one part is in memory at a time.
type prediction struct {
	ctx     context.Context
	at      *datafile.Places
	o       *predictFlags
	outputs []string // their names [D]
	each    func(ctx context.Context, rows iter.Seq2[[]float64, error]) iter.Seq2[*vssgp.Part, error]
	draws   *vssgp.Draws
	rate    int       // of recordings
	table   []float64 // rows of a table that are being written
	env     *cli.Env
}

// A writer writes the next numbers of an output.
type writer = func(a []float64) error

// predictAll writes every output together or none, and returns the columns of the
// table, nil for a recording.
func predictAll(
	ctx context.Context, env *cli.Env, m *vssgp.Model, at *datafile.Places, o *predictFlags, model string,
) (columns []string, err error) {
	r := &prediction{ctx: ctx, at: at, o: o, outputs: datafile.OutputNames(m), env: env}
	predictor, draws := m.Predictor, m.Draws
	if o.Posterior {
		if h := m.Posterior(); h == nil || len(h.Draws) == 0 {
			return nil, cli.Mistake("--posterior: %s has no draws of its hyper-parameters; want a model of fit --posterior 30", model)
		}
		predictor, draws = m.PosteriorPredictor, m.PosteriorDraws
	}
	p, err := predictor(ctx)
	if err != nil {
		return nil, err
	}
	r.each = p.Each
	if r.draws, err = draws(env.Seed); err != nil {
		return nil, err
	}
	files, columns, err := r.files()
	if err != nil {
		return nil, err
	}
	if o.joint != "" {
		files = slices.Insert(files, 0, jointFile(ctx, at, m, o.joint, o.latent))
	}
	if o.Plot != "" {
		plot, err := plot(env, r, m, p, model)
		if err != nil {
			return nil, err
		}
		files = slices.Insert(files, 0, plot)
	}
	return columns, env.Write(files...)
}

// file returns a file to write: a recording, an array of the shape or a table with columns of these names.
func (r *prediction) file(path string, shape []int, names []string, fill func(write writer) error) (f fileio.File, err error) {
	if cli.FormatOf(path) != "wav" {
		return datafile.TableFile(path, shape, names, r.at.Axes, fill), nil
	}
	if r.rate == 0 {
		if r.rate, err = sampleRate(r.ctx, r.at); err != nil {
			return f, fmt.Errorf("%s: %w", path, err)
		}
	}
	return fileio.File{Path: path, Write: func(w io.Writer) error { // of 32-bit floats, which clip only numbers beyond the range of float32
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

// files returns the files of the draws, the prediction itself last, and its columns.
func (r *prediction) files() (files []fileio.File, columns []string, err error) {
	if r.o.drawsFile != "" {
		if files, err = r.drawFiles(r.o.drawsFile, r.o.Draws); err != nil {
			return nil, nil, err
		}
	}
	fill := func(write writer) error { return r.parts(func(p *vssgp.Part) error { return write(p.Mean) }) }
	if cli.FormatOf(r.o.Output) != "wav" {
		if columns, err = r.o.tableNames(r.at.Names, r.outputs); err != nil {
			return nil, nil, err
		}
		fill = func(write writer) error {
			return r.parts(func(p *vssgp.Part) error { return r.tabulate(p.X, p.Prediction, r.o.columnDraws(), write) })
		}
	}
	f, err := r.file(r.o.Output, []int{r.at.Rows, len(columns)}, columns, fill)
	return append(files, f), columns, err
}

// drawFiles returns files of n draws alone: a table of the inputs and a column for
// each draw and output, an array [n,N,D], or n recordings.
func (r *prediction) drawFiles(path string, n int) (files []fileio.File, err error) {
	one := func(i int, write writer) error {
		return r.eachPlace(func(x []float64) error {
			y, err := r.draws.At(r.ctx, i, x)
			if err != nil {
				return err
			}
			return write(y)
		})
	}
	var f fileio.File
	switch cli.FormatOf(path) {
	case "wav":
		for i, name := range cli.NumberedFiles(path, n) {
			if f, err = r.file(name, nil, nil, func(write writer) error { return one(i, write) }); err != nil {
				return nil, err
			}
			files = append(files, f)
		}
		return files, nil
	case "npy":
		f, err = r.file(path, []int{n, r.at.Rows, len(r.outputs)}, nil, func(write writer) (err error) {
			for i := 0; i < n && err == nil; i++ {
				err = one(i, write)
			}
			return err
		})
		return []fileio.File{f}, err
	}
	names, err := datafile.WithDraws(slices.Clone(r.at.Names), r.outputs, n)
	if err == nil {
		f, err = r.file(path, nil, names, func(write writer) error {
			return r.eachPlace(func(x []float64) error { return r.tabulate(x, nil, n, write) })
		})
	}
	return []fileio.File{f}, err
}

// mostNumbers bounds how many numbers of the draws, or of the rows of the output, are
// in memory at a time.
const mostNumbers = 1 << 21

// tabulate writes rows of a table: the inputs x [N,Q], the prediction there unless p is
// nil, and n draws. It makes as many rows at a time as mostNumbers allows.
func (r *prediction) tabulate(x []float64, p *vssgp.Prediction, n int, write writer) (err error) {
	q, d := len(r.at.Names), len(r.outputs)
	var s spreads
	if p != nil {
		s = r.o.spreads(p)
	}
	rows, step := len(x)/q, max(1, mostNumbers/(q+d*(2+d+n)))
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
			r.table = append(r.table, x[row*q:][:q]...)
			if p != nil {
				r.table = r.o.appendPrediction(r.table, p, s, row)
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

// parts visits the predictions.
func (r *prediction) parts(visit func(p *vssgp.Part) error) error {
	for p, err := range r.each(r.ctx, r.at.Parts(r.ctx)) {
		if err == nil {
			err = visit(p)
		}
		if err != nil {
			return err
		}
		r.show("predicting", p.First+p.N)
	}
	return nil
}

// show shows how many rows are done.
func (r *prediction) show(what string, rows int) {

	r.env.ShowProgress(float64(rows)/float64(r.at.Rows), "%s %s", what, cli.Counted(r.at.Rows, "row"))
}

// eachPlace visits the inputs.
func (r *prediction) eachPlace(visit func(x []float64) error) error {
	return r.at.Each(r.ctx, func(n int, x []float64) error {
		if err := visit(x); err != nil {
			return err
		}
		r.show("drawing", n+len(x)/len(r.at.Names))
		return nil
	})
}

// plot draws the first rows.
func plot(env *cli.Env, r *prediction, m *vssgp.Model, predictor *vssgp.Predictor, model string) (f fileio.File, err error) {
	most := min(r.at.Rows, report.MostRows) * len(r.at.Names)
	var x []float64
	for part, err := range r.at.Parts(r.ctx) {
		if err != nil {
			return f, err
		}
		if x = append(x, part...); len(x) >= most {
			x = x[:most]
			break
		}
	}
	p, err := predictor.Predict(r.ctx, x)
	if err != nil {
		return f, err
	}
	var draws [][]float64
	for i := range min(r.o.Draws, report.MostDraws) {
		y, err := r.draws.At(r.ctx, i, x)
		if err != nil {
			return f, err
		}
		draws = append(draws, y)
	}
	plot := report.Predict(m, x, p, draws, !r.o.latent, env.Settings(), r.at.Rows, r.o.Draws)
	plot.Title = "Prediction by " + model
	return env.ReportFile(r.o.Plot, plot), nil
}

// checkFormats checks the flags for predict's outputs against each other. With a recording as the output, draws
// are recordings, too.
func checkFormats(env *cli.Env, o *predictFlags) error {
	recording := cli.FormatOf(o.Output) == "wav"
	switch {
	case recording && o.full:
		return cli.Mistake("--full: a recording cannot hold covariances; want -o with .csv or .npy")
	case o.joint != "" && o.Posterior:
		return cli.Mistake("--joint %s: it is of the model itself, without --posterior; leave one of them out", o.joint)
	case o.drawsFile != "" && o.Draws == 0:
		return cli.Mistake("--draws-file %s needs --draws N", o.drawsFile)
	case o.drawsFile == "" && o.Draws > 0 && recording:
		o.drawsFile = o.Output
	}
	if cli.FormatOf(o.drawsFile) == "wav" {
		return env.CheckOutputs(cli.NumberedFiles(o.drawsFile, o.Draws)...)
	}
	return nil
}

// mostJoint bounds the rows times outputs of a joint covariance, which has their square of numbers: 2 GiB.
const mostJoint = 1 << 14

// jointFile is the output of --joint: [N,D,N,D], with the variance of the outputs' noise on the diagonal unless latent.
func jointFile(ctx context.Context, at *datafile.Places, m *vssgp.Model, path string, latent bool) fileio.File {
	noiseSD := m.NoiseSD()
	n, d := at.Rows, len(noiseSD)
	return datafile.TableFile(path, []int{n, d, n, d}, nil, nil, func(write func([]float64) error) error {
		if n*d > mostJoint {
			return cli.Mistake("--joint %s: %s of %s; want at most %d of both together",
				path, cli.Counted(n, "row"), cli.Counted(d, "output"), mostJoint)
		}
		x, err := at.All(ctx)
		if err != nil {
			return err
		}
		_, cov, err := m.PredictJoint(ctx, x)
		if err != nil {
			return err
		}
		row := make([]float64, n*d)
		for i := range row {
			for j := range row {
				row[j] = cov.At(i, j)
			}
			if !latent {
				row[i] += noiseSD[i%d] * noiseSD[i%d]
			}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// sampleRate returns how many of the inputs, which rise evenly, make one unit.
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
		return 0, cli.Mistake("a recording needs one input that rises evenly in seconds; the inputs have %d columns and %d rows: want .csv or "+
			".npy",
			len(at.Names), at.Rows)
	}
	rate := math.Round(float64(at.Rows-1) / (last - first))
	const tolerance = 0.01 // in samples, for the rounding of the inputs
	err = at.Each(ctx, func(n int, x []float64) error {
		for i, v := range x {
			if off := (v-first)*rate - float64(n+i); !(math.Abs(off) <= tolerance) || rate < 1 || rate > math.MaxInt32 {
				return cli.Mistake("a recording needs inputs that rise by 1/rate seconds; input %d (%v) is not a sample time at %.0f samples a "+
					"second: want .csv or .npy", n+i, v, rate)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(rate), nil
}

// columnDraws returns how many draws are columns of the output.
func (o *predictFlags) columnDraws() int {
	if o.drawsFile != "" {
		return 0
	}
	return o.Draws
}

// tableNames returns the columns of a table: the inputs, and the predictions of the outputs y.
func (o *predictFlags) tableNames(inputs, y []string) ([]string, error) {
	names := datafile.PredictedNames(inputs, y, o.Posterior)
	if o.full {
		for i := range y {
			for j := i; j < len(y); j++ {
				names = append(names, y[i]+"_"+y[j]+"_cov")
			}
		}
	}
	return datafile.WithDraws(names, y, o.columnDraws())
}

// spreads are a prediction's standard deviations and, of one over a posterior, quantiles [N,D].
type spreads struct{ sd, lower, upper []float64 }

// spreads are those that the table has of a prediction.
func (o *predictFlags) spreads(p *vssgp.Prediction) (s spreads) {
	s.sd = p.SD(!o.latent)
	if o.Posterior {
		s.lower, s.upper = p.Quantile(0.025, !o.latent), p.Quantile(0.975, !o.latent)
	}
	return s
}

// appendPrediction appends the columns that a table has for row n of a prediction.
func (o *predictFlags) appendPrediction(out []float64, p *vssgp.Prediction, s spreads, n int) []float64 {
	for d := range p.D {
		i := n*p.D + d
		if out = append(out, p.Mean[i], s.sd[i]); o.Posterior {
			out = append(out, s.lower[i], s.upper[i])
		}
	}
	for i := 0; o.full && i < p.D; i++ {
		for j := i; j < p.D; j++ {
			v := p.Cov[(n*p.D+i)*p.D+j]
			if o.latent && i == j {
				v = max(0, v-p.Noise[i])
			}
			out = append(out, v)
		}
	}
	return out
}
