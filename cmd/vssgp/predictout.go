package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// predictFlags are the flags of predict.
type predictFlags struct {
	seriesPredictFlags
	full      bool
	joint     string
	latent    bool
	drawsFile string // "": the draws are columns of the output
}

// checkFormats checks the flags for predict's outputs against each other. Draws beside
// a recording go into recordings of their own.
func (a *app) checkFormats(o *predictFlags) error {
	recording := formatOf(o.output) == "wav"
	switch {
	case recording && o.full:
		return mistake("--full: a recording cannot hold covariances; want -o with .csv or .npy")
	case o.joint != "" && o.posterior:
		return mistake("--joint %s: it is of the model itself, without --posterior; leave one of them out", o.joint)
	case o.drawsFile != "" && o.draws == 0:
		return mistake("--draws-file %s needs --draws N", o.drawsFile)
	case o.drawsFile == "" && o.draws > 0 && recording:
		o.drawsFile = o.output
	}
	if formatOf(o.drawsFile) == "wav" {
		return a.checkOutputs(numberedFiles(o.drawsFile, o.draws)...)
	}
	return nil
}

// columnDraws returns how many draws are columns of the output.
func (o *predictFlags) columnDraws() int {
	if o.drawsFile != "" {
		return 0
	}
	return o.draws
}

// tableNames returns the columns of a table: the inputs, and the predictions of the outputs y.
func (o *predictFlags) tableNames(inputs, y []string) ([]string, error) {
	names := predictedNames(inputs, y, o.posterior)
	if o.full {
		for i := range y {
			for j := i; j < len(y); j++ {
				names = append(names, y[i]+"_"+y[j]+"_cov")
			}
		}
	}
	return withDraws(names, y, o.columnDraws())
}

// spreads are a prediction's standard deviations and, of one over a posterior, quantiles [N,D].
type spreads struct{ sd, lower, upper []float64 }

// spreads are those that the table has of a prediction.
func (o *predictFlags) spreads(p *vssgp.Prediction) (s spreads) {
	s.sd = p.SD(!o.latent)
	if o.posterior {
		s.lower, s.upper = p.Quantile(0.025, !o.latent), p.Quantile(0.975, !o.latent)
	}
	return s
}

// appendPrediction appends the columns that a table has for row n of a prediction.
func (o *predictFlags) appendPrediction(out []float64, p *vssgp.Prediction, s spreads, n int) []float64 {
	for d := range p.D {
		i := n*p.D + d
		if out = append(out, p.Mean[i], s.sd[i]); o.posterior {
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

// prediction holds what predict writes. Each file takes a separate pass over the rows, of which one part is in memory at a time.
type prediction struct {
	ctx     context.Context
	at      *places
	o       *predictFlags
	outputs []string // their names [D]
	each    func(ctx context.Context, rows iter.Seq2[[]float64, error]) iter.Seq2[*vssgp.Part, error]
	draws   *vssgp.Draws
	rate    int       // of recordings
	table   []float64 // rows of a table that are being written
	meter   *meter
}

// An output is a file to write: a WAV file, an array or a table.
type output struct {
	path    string
	shape   []int    // of an array
	names   []string // of a table's columns
	columns int      // how many numbers belong to a row of the inputs
	fill    func(write writer) error
}

// A writer writes the next numbers of an output.
type writer func(a []float64) error

// predictAll writes every output together or none, and returns the columns of the
// table, nil for a recording.
func (a *app) predictAll(ctx context.Context, m *vssgp.Model, at *places, o *predictFlags, model string) (columns []string, err error) {
	r := &prediction{ctx: ctx, at: at, o: o, outputs: outputNames(m), meter: a.newMeter()}
	defer r.meter.clear()
	predictor, draws := m.Predictor, m.Draws
	if o.posterior {
		if h := m.Posterior(); h == nil || len(h.Draws) == 0 {
			return nil, mistake("--posterior: %s has no draws of its hyper-parameters; want a model of fit --posterior 30", model)
		}
		predictor, draws = m.PosteriorPredictor, m.PosteriorDraws
	}
	p, err := predictor(ctx)
	if err != nil {
		return nil, err
	}
	r.each = p.Each
	if r.draws, err = draws(a.seed); err != nil {
		return nil, err
	}
	all, columns, err := r.files()
	if err != nil {
		return nil, err
	}
	var files []fileio.File
	for _, out := range all {
		if formatOf(out.path) == "wav" && r.rate == 0 {
			if r.rate, err = sampleRate(ctx, at); err != nil {
				return nil, fmt.Errorf("%s: %w", out.path, err)
			}
		}
		files = append(files, r.file(out))
	}
	if o.joint != "" {
		files = slices.Insert(files, 0, jointFile(ctx, at, m, o.joint, o.latent))
	}
	if o.plot != "" {
		plot, err := a.plot(r, m, p, model)
		if err != nil {
			return nil, err
		}
		files = slices.Insert(files, 0, plot)
	}
	return columns, a.writeLast(files, r.meter.clear)
}

// file returns an output as a file to write.
func (r *prediction) file(out output) fileio.File {
	return fileio.File{Path: out.path, Write: func(w io.Writer) (err error) {
		var to table.Writer
		switch formatOf(out.path) {
		case "wav": // of 32-bit floats, which clip only numbers beyond the range of float32
			to, err = audio.NewWriter(w, r.rate, audio.Float32, len(r.outputs), r.at.rows)
		default:
			to, err = newTable(w, out.path, out.shape, out.names, r.at.axes)
		}
		if err == nil {
			err = out.fill(to.Write)
		}
		if err != nil {
			return err
		}
		return to.Close()
	}}
}

// files returns the outputs, the prediction itself last, and its columns.
func (r *prediction) files() (files []output, columns []string, err error) {
	if r.o.drawsFile != "" {
		if files, err = r.drawFiles(r.o.drawsFile, r.o.draws); err != nil {
			return nil, nil, err
		}
	}
	if formatOf(r.o.output) == "wav" {
		return append(files, output{path: r.o.output, columns: len(r.outputs), fill: func(write writer) error {
			return r.parts(func(p *vssgp.Part) error { return write(p.Mean) })
		}}), nil, nil
	}
	columns, err = r.o.tableNames(r.at.names, r.outputs)
	n := len(columns)
	return append(files, output{r.o.output, []int{r.at.rows, n}, columns, n, func(write writer) error {
		return r.parts(func(p *vssgp.Part) error { return r.tabulate(p.X, p.Prediction, r.o.columnDraws(), write) })
	}}), columns, err
}

// drawFiles returns files of n draws alone: a table of the inputs and a column for
// each draw and output, an array [n,N,D], or n recordings.
func (r *prediction) drawFiles(path string, n int) (files []output, err error) {
	d := len(r.outputs)
	one := func(i int, write writer) error {
		return r.eachPlace(func(x []float64) error {
			y, err := r.draws.At(r.ctx, i, x)
			if err != nil {
				return err
			}
			return write(y)
		})
	}
	switch formatOf(path) {
	case "wav":
		for i, name := range numberedFiles(path, n) {
			files = append(files, output{path: name, columns: d, fill: func(write writer) error { return one(i, write) }})
		}
		return files, nil
	case "npy":
		return []output{{path: path, shape: []int{n, r.at.rows, d}, columns: n * d, fill: func(write writer) (err error) {
			for i := 0; i < n && err == nil; i++ {
				err = one(i, write)
			}
			return err
		}}}, nil
	}
	names, err := withDraws(slices.Clone(r.at.names), r.outputs, n)
	return []output{{path: path, names: names, columns: len(names), fill: func(write writer) error {
		return r.eachPlace(func(x []float64) error { return r.tabulate(x, nil, n, write) })
	}}}, err
}

// mostNumbers bounds how many numbers of the draws, or of the rows of the output, are
// in memory at a time.
const mostNumbers = 1 << 21

// tabulate writes rows of a table: the inputs x [N,Q], the prediction there unless p is
// nil, and n draws. It makes as many rows at a time as mostNumbers allows.
func (r *prediction) tabulate(x []float64, p *vssgp.Prediction, n int, write writer) (err error) {
	q, d := len(r.at.names), len(r.outputs)
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
	began := time.Now()
	for p, err := range r.each(r.ctx, r.at.parts(r.ctx)) {
		if err == nil {
			err = visit(p)
		}
		if err != nil {
			return err
		}
		r.meter.showRows("predict", p.First+p.N, r.at.rows, began)
	}
	return nil
}

// eachPlace visits the inputs.
func (r *prediction) eachPlace(visit func(x []float64) error) error {
	began := time.Now()
	return r.at.each(r.ctx, func(n int, x []float64) error {
		if err := visit(x); err != nil {
			return err
		}
		r.meter.showRows("draw", n+len(x)/len(r.at.names), r.at.rows, began)
		return nil
	})
}

// plot draws the first rows.
func (a *app) plot(r *prediction, m *vssgp.Model, predictor *vssgp.Predictor, model string) (f fileio.File, err error) {
	most := min(r.at.rows, report.MostRows) * len(r.at.names)
	var x []float64
	for part, err := range r.at.parts(r.ctx) {
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
	var draws []*mat.Dense
	for i := range min(r.o.draws, report.MostDraws) {
		y, err := r.draws.At(r.ctx, i, x)
		if err != nil {
			return f, err
		}
		draws = append(draws, mat.NewDense(p.N, p.D, y))
	}
	plot := report.Predict(m, x, p, draws, !r.o.latent, a.settings(), r.at.rows, r.o.draws)
	plot.Title = "Prediction by " + model
	return a.reportFile(r.o.plot, plot), nil
}
