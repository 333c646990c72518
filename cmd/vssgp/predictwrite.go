package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// prediction is what predict writes. Each output is a pass of its own over the
// rows, of which a part is in memory at a time.
type prediction struct {
	ctx   context.Context
	m     *vssgp.Model
	at    *places
	o     *predictFlags
	p     *vssgp.Predictor
	draws *vssgp.Draws
	meter *meter
}

// predictAll writes every output together or none, and gives the columns of the
// table, none for a recording.
func (a *app) predictAll(ctx context.Context, m *vssgp.Model, at *places, o *predictFlags, model string) (columns []string, err error) {
	r := &prediction{ctx: ctx, m: m, at: at, o: o, meter: a.newMeter()}
	defer r.meter.clear()
	if r.p, err = m.Predictor(ctx); err != nil {
		return nil, err
	}
	if r.draws, err = m.Draws(a.seed); err != nil {
		return nil, err
	}
	files, columns, err := r.files()
	if err != nil {
		return nil, err
	}
	if o.plot != "" {
		plot, err := r.plot(model)
		if err != nil {
			return nil, err
		}
		files = append([]atomicfile.File{plot}, files...)
	}
	if o.output != toStdout {
		return columns, a.write(files...)
	}
	last := len(files) - 1
	s := &spool{}
	defer s.close()
	if err := files[last].Write(s); err != nil {
		return nil, err
	}
	if err := a.write(files[:last]...); err != nil {
		return nil, err
	}
	r.meter.clear()
	return columns, s.copyTo(a.stdout)
}

// files are the outputs, the prediction itself last.
func (r *prediction) files() (files []atomicfile.File, columns []string, err error) {
	own := *r.o // what the output itself has
	if path := r.o.drawsPath(); path != "" {
		own.draws = 0
		if files, err = r.drawFiles(path); err != nil {
			return nil, nil, err
		}
	}
	if formatOf(r.o.output) == wavFile {
		rate, err := r.sampleRate(r.o.output)
		mean := func(w io.Writer) error {
			return r.recording(w, rate, func(write func([]float64) error) error {
				return r.parts(func(p *vssgp.Part) error { return write(p.Mean) })
			})
		}
		return append(files, atomicfile.File{Path: r.o.output, Write: mean}), nil, err
	}
	columns, err = tableNames(r.at.names, outputNames(r.m), &own)
	whole := func(w io.Writer) error { return r.table(w, columns, &own) }
	return append(files, atomicfile.File{Path: r.o.output, Write: whole}), columns, err
}

// drawFiles are the draws by themselves: a table of the inputs and a column for
// each draw and output, an array [draws,N,D], or a recording each.
func (r *prediction) drawFiles(path string) ([]atomicfile.File, error) {
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
	case wavFile:
		rate, err := r.sampleRate(path)
		if err != nil {
			return nil, err
		}
		var files []atomicfile.File
		for i, name := range drawnFiles(path, r.o.draws) {
			files = append(files, atomicfile.File{Path: name, Write: func(w io.Writer) error {
				return r.recording(w, rate, func(write func([]float64) error) error { return one(i, write) })
			}})
		}
		return files, nil
	case npyFile:
		return []atomicfile.File{{Path: path, Write: func(w io.Writer) error {
			out, err := table.NewNPYWriter(w, []int{r.o.draws, r.at.rows, r.m.Params.D})
			for i := 0; i < r.o.draws && err == nil; i++ {
				err = one(i, out.Write)
			}
			if err != nil {
				return err
			}
			return out.Close()
		}}}, nil
	}
	names := append(append([]string(nil), r.at.names...), drawNames(outputNames(r.m), r.o.draws)...)
	return []atomicfile.File{{Path: path, Write: func(w io.Writer) error { return r.drawTable(w, names) }}}, distinct(names)
}

// drawTable writes the inputs with the draws beside them.
func (r *prediction) drawTable(w io.Writer, names []string) error {
	out, err := table.NewCSVWriter(w, names)
	if err != nil {
		return err
	}
	q := len(r.at.names)
	var data []float64
	err = r.eachPlace(func(x []float64) error {
		return r.drawn(x, r.o.draws, func(lo, hi int, draws [][]float64) error {
			data = data[:0]
			for n := lo; n < hi; n++ {
				data = append(data, x[n*q:][:q]...)
				for _, y := range draws {
					data = append(data, y[(n-lo)*r.m.Params.D:][:r.m.Params.D]...)
				}
			}
			return out.Write(data)
		})
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// table writes the prediction in the format that the output's extension asks
// for.
func (r *prediction) table(w io.Writer, names []string, o *predictFlags) (err error) {
	var out table.Writer
	if formatOf(o.output) == npyFile {
		out, err = table.NewNPYWriter(w, []int{r.at.rows, len(names)})
	} else {
		out, err = table.NewCSVWriter(w, names)
	}
	if err != nil {
		return err
	}
	var data []float64
	err = r.parts(func(p *vssgp.Part) error {
		sd := p.SD(!o.latent)
		return r.drawn(p.X, o.draws, func(lo, hi int, draws [][]float64) error {
			data = tabulate(data[:0], p.Prediction, p.X, sd, lo, hi, draws, o)
			return out.Write(data)
		})
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// mostNumbers bounds what is held of the draws at some rows, or of the rows of
// the output.
const mostNumbers = 1 << 21

// drawn visits the rows of x [N,Q], so many at a time as memory bears, with n
// draws at them.
func (r *prediction) drawn(x []float64, n int, visit func(lo, hi int, draws [][]float64) error) error {
	d, rows := r.m.Params.D, len(x)/len(r.at.names)
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
	for p, err := range r.p.Each(r.ctx, r.at.parts(r.ctx)) {
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

func (r *prediction) sampleRate(path string) (int, error) {
	rate, err := sampleRate(r.ctx, r.at)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return rate, nil
}

// recording writes values [N,D] at evenly spaced inputs as a WAV file of 32-bit
// floats, an output a channel: they clip only what float32 cannot hold.
func (r *prediction) recording(w io.Writer, rate int, values func(write func([]float64) error) error) error {
	out, err := audio.NewWriter(w, rate, audio.Float32, r.m.Params.D, r.at.rows)
	if err != nil {
		return err
	}
	if err := values(out.Write); err != nil {
		return err
	}
	return out.Close()
}

// plot draws the first rows.
func (r *prediction) plot(model string) (f atomicfile.File, err error) {
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
	p, err := r.p.Predict(r.ctx, x)
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
	plot := report.Predict(r.m, x, p, draws, !r.o.latent, r.o.set(), r.at.rows, r.o.draws)
	plot.Page.Title = "Prediction by " + model
	plot.Page.Foot = append(plot.Page.Foot, readVersion().String())
	return reportFile(r.o.plot, plot), nil
}

// spoolMemory is how much of what goes to stdout is in memory.
const spoolMemory = 1 << 24

// spool holds what is to appear on stdout whole or not at all: in memory, and in
// a temporary file what is too much for it.
type spool struct {
	b    bytes.Buffer
	file *os.File
}

// Write adds to the spool.
func (s *spool) Write(b []byte) (int, error) {
	if s.b.Len()+len(b) > spoolMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	return s.b.Write(b)
}

// spill empties the memory into the file.
func (s *spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "vssgp-*"); err != nil {
			return fmt.Errorf("hold what goes to stdout: %w", err)
		}
		os.Remove(s.file.Name()) // where an open file may go its space is freed however this ends
	}
	if _, err = s.b.WriteTo(s.file); err != nil {
		return fmt.Errorf("hold what goes to stdout: %w", err)
	}
	return nil
}

// copyTo writes all of it.
func (s *spool) copyTo(w io.Writer) error {
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("hold what goes to stdout: %w", err)
		}
		if _, err := io.Copy(w, s.file); err != nil {
			return fmt.Errorf("write to stdout: %w", err)
		}
	}
	if _, err := s.b.WriteTo(w); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

func (s *spool) close() {
	if s.file == nil {
		return
	}
	s.file.Close()
	os.Remove(s.file.Name()) // where that could not be done while it was open
}
