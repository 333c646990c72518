package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// A fitted is a model of a file: one of the two is not nil.
type fitted struct {
	model  *vssgp.Model
	series *series.Model
}

// load reads a model file of package vssgp and gives it the backend of --device.
func (a *app) load(path string) (*vssgp.Model, error) {
	f, err := a.loadAny(path)
	switch {
	case err != nil:
		return nil, err
	case f.series != nil:
		return nil, mistake("read model: %s: its format is %s; want a model of --method vssgp, ssgp or rp", path, series.FileFormat)
	}
	return f.model, nil
}

// readAny reads a model file of any kind. The model computes on the CPU.
func (a *app) readAny(path string) (m fitted, err error) {
	f, size, err := a.memory.open(path)
	if err != nil {
		return m, fmt.Errorf("read model: %w", err)
	}
	defer f.Close()
	metadata, err := safetensors.Metadata(f, size)
	if err == nil {
		switch metadata["format"] {
		case series.FileFormat:
			if m.series, err = series.Read(f, size); err == nil {
				_, err = axisOfSeries(m.series)
			}
		default:
			if m.model, err = vssgp.Read(f, size); err == nil {
				_, err = axesOfModel(m.model)
			}
		}
	}
	if err != nil {
		return m, fmt.Errorf("read model: %s: %w", path, err)
	}
	return m, nil
}

// ofModel names the model's file in an error of computing with it, unless the error names a file.
func ofModel(path, data string, err error) error {
	switch {
	case err == nil || strings.Contains(err.Error(), path):
		return err
	case errors.Is(err, vssgp.ErrBound):
		return mistake("%s: the bound cannot be evaluated on %s: they are of other sizes than the model's data, or its file is damaged", path, inputName(data))
	case errors.Is(err, series.ErrFile), errors.Is(err, vssgp.ErrUnfitted), (errors.Is(err, vssgp.ErrData) || errors.Is(err, table.ErrFormat)) && !strings.Contains(err.Error(), data):
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// loadAny is readAny with the backend of --device.
func (a *app) loadAny(path string) (m fitted, err error) {
	b, err := a.computer.get()
	if err != nil {
		return m, err
	}
	if m, err = a.readAny(path); err != nil {
		return m, err
	}
	if m.model != nil {
		m.model.Backend = b
	}
	if m.series != nil {
		m.series.SetBackend(b)
	}
	return m, nil
}

// readFor reads a table or a recording to evaluate a model on. If nothing in the model
// file says how many outputs the model has (no coefficients, names or maps), it gets as
// many as the data have.
func (a *app) readFor(ctx context.Context, m *vssgp.Model, path string, c columns) (*dataset, error) {
	p := m.Params
	open := p.D == 1 && len(p.CoefMean) == 0 && len(m.YNames) == 0 && m.Y.Offset[0] == 0 && m.Y.Scale[0] == 1 && !m.Fitted()
	like, err := axesOfModel(m)
	if err != nil {
		return nil, err
	}
	data, err := a.readData(ctx, path, c, func(s *table.Stream, _ string) (choice, error) {
		d, usable := p.D, len(ofKind(s, table.Numbers, table.Dates))
		switch {
		case open && c.y != nil:
			d = len(c.y)
		case open && c.x != nil:
			d = max(d, usable-len(c.x))
		case open:
			d = max(d, usable-p.Q)
		}
		return c.match(s, path, m, d)
	}, like)
	if err != nil || !open {
		return data, err
	}
	p.D = data.D
	m.Y = vssgp.Affine{Offset: make([]float64, p.D), Scale: slices.Repeat([]float64{1}, p.D)}
	return data, nil
}

// readData reads a recording, whose input is the time in seconds and whose outputs are the
// channels, or a table, whose columns choose chooses and whose inputs are on the axes like, if there are any.
func (a *app) readData(ctx context.Context, path string, c columns, choose chooser, like []*table.Axis) (data *dataset, err error) {
	switch {
	case isTable(path):
		if err = withoutTimes(a.flags); err == nil {
			data, err = a.readTable(ctx, path, c, choose, like)
		}
	case (c.x != nil || c.y != nil) && isRecording(path):
		return nil, mistake("%s: --x and --y choose columns of a table, but this file is read as a recording (want .%s)", path, strings.Join(tableFiles, ", ."))
	default:
		data = &dataset{}
		data.Data, err = a.readAudio(ctx, path)
	}
	return data, whileReading(path, err)
}

// whileReading says of an interruption that the file was being read.
func whileReading(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return cutShort(" while reading " + inputName(path))
	}
	return err
}

// isRecording reports whether a path has a recording's extension.
func isRecording(path string) bool { return slices.Contains(recordingFiles, formatOf(path)) }

// readAudio reads a recording as data: x is the time in seconds, y the
// channels in full scale 1.
func (a *app) readAudio(ctx context.Context, path string) (*vssgp.Data, error) {
	r, file, err := a.openRecording(ctx, path)
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

// readPlaces finds where to predict: at the rows of a table or, for a model of a
// recording, at the times of a recording's samples in seconds.
func (a *app) readPlaces(ctx context.Context, path string, c columns, m *vssgp.Model) (*places, error) {
	if isTable(path) {
		like, err := axesOfModel(m)
		if err != nil {
			return nil, err
		}
		s, err := a.openTable(ctx, path)
		if err != nil {
			return nil, err
		}
		return tablePlaces(ctx, s, path, c, m.Params.Q, m.XNames, like)
	}
	if c.x != nil && isRecording(path) {
		return nil, mistake("%s: --x chooses columns of a table, but this file is read as a recording (want .%s)", path, strings.Join(tableFiles, ", ."))
	}
	if own := inputNames(m); len(own) != 1 || len(m.XNames) == 1 && own[0] != secondsName {
		return nil, mistake("%s: read as a recording, whose input is time in seconds, but the model's input is %s: want a table, such as .csv or .npy",
			path, listed(own))
	}
	r, file, err := a.openRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return secondsOf(r.Len(), r.Rate()), nil
}

// openRecording opens a recording and reads its header. Later reads fail once
// ctx has ended, or the file is closed.
func (a *app) openRecording(ctx context.Context, path string) (*audio.File, io.Closer, error) {
	if info, err := os.Stat(path); a.memory == nil && err == nil && info.IsDir() {
		return nil, nil, mistake("%s: a folder; want a recording, or impute with --out-dir for all that are in it", path)
	}
	f, size, err := a.memory.open(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := audio.NewFile(&interruptible{ctx, f}, size)
	if err != nil {
		defer f.Close()
		return nil, nil, notRecording(path, f, err)
	}
	return r, f, nil
}

// openInput is openRecording for a path that may stand for stdin, which is held in a file.
func (a *app) openInput(ctx context.Context, path string) (*audio.File, io.Closer, error) {
	if path != fromStdin {
		return a.openRecording(ctx, path)
	}
	var err error
	if a.held, err = hold(ctx, a.stdin); err != nil {
		return nil, nil, err
	}
	info, err := a.held.Stat()
	if err != nil {
		return nil, nil, err
	}
	r, err := audio.NewFile(&interruptible{ctx, a.held}, info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", inputName(path), err)
	}
	return r, io.NopCloser(nil), nil
}

// notRecording says what a file is that cannot be read as a recording.
func notRecording(path string, f io.ReaderAt, err error) error {
	tables, recordings := "."+strings.Join(tableFiles, ", ."), "."+strings.Join(recordingFiles, ", .")
	head := make([]byte, 512)
	n, _ := f.ReadAt(head, 0)
	text := n > 0 && !bytes.HasPrefix(head, []byte("NIST_1A")) && !bytes.ContainsFunc(head[:n], func(r rune) bool {
		return r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\t\r\n", r)
	})
	switch {
	case !errors.Is(err, audio.ErrFormat):
	case isTable(path):
		return mistake("%s: a table, not a recording (%s)", path, recordings)
	case !isRecording(path):
		return mistake("%s: the extension %q is neither a table's (%s; text also as .gz) nor a recording's (%s)%s",
			path, filepath.Ext(path), tables, recordings, table.Convert(formatOf(path)))
	case text:
		return mistake("%s: the file is text, not a recording; a table's name ends in %s", path, tables)
	}
	return fmt.Errorf("%s: %w", path, err)
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
