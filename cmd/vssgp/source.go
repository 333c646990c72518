package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/table"
)

// load reads a model file and gives it the backend of --device.
func (a *app) load(path string) (*vssgp.Model, error) {
	b, err := a.computer.get()
	if err != nil {
		return nil, err
	}
	m, err := readModel(path)
	if err == nil {
		m.Backend = b
	}
	return m, err
}

// readModel reads a model file. The model computes on the CPU.
func readModel(path string) (*vssgp.Model, error) {
	m, err := vssgp.Load(path)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}

// isTable reports whether a path names a table, by its extension.
func isTable(path string) bool {
	return path != toStdout && slices.Contains(tableFiles, formatOf(path))
}

// readFor reads a table or a recording to evaluate a model on. If nothing in the model
// file says how many outputs the model has (no coefficients, names or maps), it gets as
// many as the data have.
func (a *app) readFor(ctx context.Context, m *vssgp.Model, path string, c columns) (*vssgp.Data, error) {
	p := m.Params
	open := p.D == 1 && len(p.CoefMean) == 0 && len(m.YNames) == 0 && m.Y.Offset[0] == 0 && m.Y.Scale[0] == 1 && !m.Fitted()
	data, err := a.readData(ctx, path, c, func(t *table.Table, _ string) (*vssgp.Data, error) {
		d := p.D
		switch {
		case open && c.y != nil:
			d = len(c.y)
		case open && c.x != nil:
			d = max(d, t.Cols-len(c.x))
		case open:
			d = max(d, t.Cols-p.Q)
		}
		return c.match(t, path, m, d)
	})
	if err != nil || !open {
		return data, err
	}
	p.D = data.D
	m.Y = vssgp.Affine{Offset: make([]float64, p.D), Scale: slices.Repeat([]float64{1}, p.D)}
	return data, nil
}

// A picker makes data of a table, which comes from the path.
type picker func(t *table.Table, path string) (*vssgp.Data, error)

// readData reads a recording, whose input is the time in seconds and whose outputs are the
// channels, or a table, whose columns pick chooses.
func (a *app) readData(ctx context.Context, path string, c columns, pick picker) (data *vssgp.Data, err error) {
	var t *table.Table
	switch {
	case isTable(path):
		if err = withoutTimes(a.flags); err == nil {
			t, err = table.OpenContext(ctx, path)
		}
		if err == nil {
			data, err = pick(t, path)
		}
	case c.x != nil || c.y != nil:
		return nil, mistake("%s: --x and --y choose columns of a table, but this file is read as a recording (want .csv or .npy)", path)
	default:
		data, err = readAudio(ctx, path)
	}
	if errors.Is(err, context.Canceled) {
		return nil, &interruption{" while reading " + path}
	}
	if errors.Is(err, audio.ErrFormat) {
		return nil, fmt.Errorf("%w (a table's name ends in .csv or .npy)", err)
	}
	return data, err
}

// readAudio reads a recording as data: x is the time in seconds, y the
// channels in full scale 1.
func readAudio(ctx context.Context, path string) (*vssgp.Data, error) {
	r, file, err := openRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d := &vssgp.Data{N: r.Len(), Q: 1, D: r.Channels(), XNames: []string{secondsName}}
	for c := range d.D {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	d.X, d.Y = make([]float64, 0, d.N), make([]float64, 0, d.N*d.D)
	return d, secondsOf(d.N, r.Rate()).each(ctx, func(lo int, x []float64) error {
		part, err := r.Read(lo, lo+len(x))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		d.X = append(d.X, x...)
		for i := range x {
			for _, s := range part {
				d.Y = append(d.Y, s[i])
			}
		}
		return nil
	})
}

// places are the rows to predict at. They are read part by part for each pass over them:
// memory does not grow with their number.
type places struct {
	names []string // of the inputs [Q]
	rows  int
	parts func(ctx context.Context) iter.Seq2[[]float64, error] // [·,Q], whole rows
}

// each visits the parts, n being the number of the first row of x.
func (p *places) each(ctx context.Context, visit func(n int, x []float64) error) error {
	n := 0
	for x, err := range p.parts(ctx) {
		if err == nil {
			err = visit(n, x)
		}
		if err != nil {
			return err
		}
		n += len(x) / len(p.names)
	}
	return nil
}

// readPlaces finds where to predict: at the rows of a table or, for a model of a
// recording, at the times of a recording's samples in seconds.
func readPlaces(ctx context.Context, path string, c columns, m *vssgp.Model) (*places, error) {
	if isTable(path) {
		return tablePlaces(ctx, path, c, m.Params.Q, m.XNames)
	}
	if c.x != nil {
		return nil, mistake("%s: --x chooses columns of a table, but this file is read as a recording (want .csv or .npy)", path)
	}
	if own := inputNames(m); len(own) != 1 || len(m.XNames) == 1 && own[0] != secondsName {
		return nil, mistake("%s: read as a recording, whose input is time in seconds, but the model's input is %s: want a table, .csv or .npy",
			path, listed(own))
	}
	r, file, err := openRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return secondsOf(r.Len(), r.Rate()), nil
}

// secondsName is the input of a model of a recording.
const secondsName = "seconds"

// secondsOf returns the times of n samples as places.
func secondsOf(n, rate int) *places {
	return &places{[]string{secondsName}, n, func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			const most = 1 << 15 // samples in a part
			x := make([]float64, 0, min(n, most))
			for lo := 0; lo < n; lo += most {
				x = x[:0]
				for i := lo; i < min(n, lo+most); i++ {
					x = append(x, float64(i)/float64(rate))
				}
				if !yield(x, ctx.Err()) {
					return
				}
			}
		}
	}}
}

// tablePlaces returns the rows of the table's columns that are the q inputs of a model.
// own are the model's names for them, if it has names.
func tablePlaces(ctx context.Context, path string, c columns, q int, own []string) (*places, error) {
	s, err := table.OpenStream(ctx, path)
	if err != nil {
		return nil, err
	}
	names, err := c.inputs(&table.Table{Names: s.Names, Cols: s.Cols}, path, q, own)
	if err != nil {
		return nil, err
	}
	from := make([]int, len(names))
	for i, n := range names {
		from[i] = slices.Index(s.Names, n)
	}
	return &places{names, s.Rows, func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			var x []float64
			for part, err := range s.Parts(ctx) {
				x = x[:0]
				for ; len(part) > 0; part = part[s.Cols:] {
					for _, i := range from {
						x = append(x, part[i])
					}
				}
				if !yield(x, err) {
					return
				}
			}
		}
	}}, nil
}

// openRecording opens a WAV or SPHERE file and reads its header. Later reads fail once
// ctx has ended, or the file is closed.
func openRecording(ctx context.Context, path string) (*audio.File, io.Closer, error) {
	f, size, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := audio.NewFile(&interruptible{ctx, f}, size)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, f, nil
}

// fromFile adds the name of the file to an error in its contents.
func fromFile(path string, err error) error {
	if errors.Is(err, audio.ErrFormat) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// interruptible is a file that cannot be read once ctx has ended, so that an interruption
// ends long reading and copying.
type interruptible struct {
	ctx  context.Context
	file io.ReaderAt
}

// ReadAt reads from the file.
func (i *interruptible) ReadAt(b []byte, at int64) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.file.ReadAt(b, at)
}
