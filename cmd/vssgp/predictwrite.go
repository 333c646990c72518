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
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// prediction is what predict and baseline write. Each file is a pass of its own
// over the rows, of which a part is in memory at a time.
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

// An output is a file that is written: a WAV file, an array or a table.
type output struct {
	path    string
	shape   []int    // of an array
	names   []string // of a table's columns
	columns int      // how many numbers belong to a row of the inputs
	fill    func(write func([]float64) error) error
}

// predictAll writes every output together or none, and gives the columns of the
// table, none for a recording.
func (a *app) predictAll(ctx context.Context, m *vssgp.Model, at *places, o *predictFlags, model string) (columns []string, err error) {
	r := &prediction{ctx: ctx, at: at, o: o, outputs: outputNames(m), meter: a.newMeter()}
	defer r.meter.clear()
	p, err := m.Predictor(ctx)
	if err != nil {
		return nil, err
	}
	r.each = p.Each
	if r.draws, err = m.Draws(a.seed); err != nil {
		return nil, err
	}
	all, columns, err := r.files()
	if err != nil {
		return nil, err
	}
	var files []atomicfile.File
	for _, out := range all {
		if formatOf(out.path) == "wav" && r.rate == 0 {
			if r.rate, err = sampleRate(ctx, at); err != nil {
				return nil, fmt.Errorf("%s: %w", out.path, err)
			}
		}
		files = append(files, r.file(out))
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

// file is an output as a file to write.
func (r *prediction) file(out output) atomicfile.File {
	return atomicfile.File{Path: out.path, Write: func(w io.Writer) (err error) {
		var to table.Writer
		switch formatOf(out.path) {
		case "wav": // of 32-bit floats, which clip only what float32 cannot hold
			to, err = audio.NewWriter(w, r.rate, audio.Float32, len(r.outputs), r.at.rows)
		case "npy":
			to, err = table.NewNPYWriter(w, out.shape)
		default:
			to, err = table.NewCSVWriter(w, out.names)
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

// files are the outputs, the prediction itself last, and the columns of that.
func (r *prediction) files() (files []output, columns []string, err error) {
	if path := r.o.drawsPath(); path != "" {
		if files, err = r.drawFiles(path); err != nil {
			return nil, nil, err
		}
	}
	if formatOf(r.o.output) == "wav" {
		return append(files, output{path: r.o.output, columns: len(r.outputs), fill: func(write func([]float64) error) error {
			return r.parts(func(p *vssgp.Part) error { return write(p.Mean) })
		}}), nil, nil
	}
	columns, err = r.o.tableNames(r.at.names, r.outputs)
	n := len(columns)
	return append(files, output{r.o.output, []int{r.at.rows, n}, columns, n, func(write func([]float64) error) error {
		return r.parts(func(p *vssgp.Part) error { return r.tabulate(p.X, p.Prediction, r.o.columnDraws(), write) })
	}}), columns, err
}

// drawFiles are the draws by themselves: a table of the inputs and a column for
// each draw and output, an array [draws,N,D], or a recording each.
func (r *prediction) drawFiles(path string) (files []output, err error) {
	d, n := len(r.outputs), r.o.draws
	one := func(i int, write func([]float64) error) error {
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
		for i, name := range drawnFiles(path, n) {
			files = append(files, output{path: name, columns: d, fill: func(write func([]float64) error) error { return one(i, write) }})
		}
		return files, nil
	case "npy":
		return []output{{path: path, shape: []int{n, r.at.rows, d}, columns: n * d, fill: func(write func([]float64) error) (err error) {
			for i := 0; i < n && err == nil; i++ {
				err = one(i, write)
			}
			return err
		}}}, nil
	}
	names := append(slices.Clone(r.at.names), drawNames(r.outputs, n)...)
	return []output{{path: path, names: names, columns: len(names), fill: func(write func([]float64) error) error {
		return r.eachPlace(func(x []float64) error { return r.tabulate(x, nil, n, write) })
	}}}, distinct(names)
}

// tabulate writes rows of a table: the inputs x [N,Q], what is predicted there, if
// it is asked for, and n draws.
func (r *prediction) tabulate(x []float64, p *vssgp.Prediction, n int, write func([]float64) error) error {
	q, d := len(r.at.names), len(r.outputs)
	var sd []float64
	if p != nil {
		sd = p.SD(!r.o.latent)
	}
	return r.drawn(x, n, func(lo, hi int, draws [][]float64) error {
		r.table = r.table[:0]
		for row := lo; row < hi; row++ {
			r.table = append(r.table, x[row*q:][:q]...)
			if p != nil {
				r.table = r.o.appendPrediction(r.table, p, sd, row)
			}
			for _, y := range draws {
				r.table = append(r.table, y[(row-lo)*d:][:d]...)
			}
		}
		return write(r.table)
	})
}

// mostNumbers bounds how many numbers of the draws, or of the rows of the output, are
// in memory at a time.
const mostNumbers = 1 << 21

// drawn visits the rows of x [N,Q], so many at a time as memory bears, with n
// draws at them.
func (r *prediction) drawn(x []float64, n int, visit func(lo, hi int, draws [][]float64) error) error {
	d, rows := len(r.outputs), len(x)/len(r.at.names)
	step := max(1, mostNumbers/(len(r.at.names)+d*(2+d+n)))
	draws := make([][]float64, n)
	for lo := 0; lo < rows; lo += step {
		hi := min(rows, lo+step)
		for i := range draws {
			var err error
			if draws[i], err = r.draws.At(r.ctx, i, x[lo*len(r.at.names):hi*len(r.at.names)]); err != nil {
				return err
			}
		}
		if err := visit(lo, hi, draws); err != nil {
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
func (a *app) plot(r *prediction, m *vssgp.Model, predictor *vssgp.Predictor, model string) (f atomicfile.File, err error) {
	most, q := min(r.at.rows, report.MostRows), len(r.at.names)
	var x []float64
	for part, err := range r.at.parts(r.ctx) {
		if err != nil {
			return f, err
		}
		if x = append(x, part...); len(x) >= most*q {
			x = x[:most*q]
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
	return reportFile(r.o.plot, plot), nil
}
