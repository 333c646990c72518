package datafile

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
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
)

// ReadData reads a recording or a table. The input of a recording is the time in seconds, and its outputs
// are the channels. choose selects the columns of a table, and like are the axes of its inputs, nil without a model.
func ReadData(ctx context.Context, env *cli.Env, path string, c Columns, choose chooser, like []*table.Axis) (data *Dataset, err error) {
	switch {
	case IsTable(path):
		if err = cli.WithoutTimes(env.Flags); err == nil {
			data, err = readTable(ctx, env, path, c, choose, like)
		}
	case (c.X != nil || c.Y != nil) && IsRecording(path):
		return nil, cli.Mistake("%s: --x and --y select columns of a table (.%s), but this file is a recording", path,
			strings.Join(cli.TableFiles, ", ."))
	default:
		data = &Dataset{}
		data.Data, err = ReadAudio(ctx, env, path)
	}
	return data, WhileReading(path, err)
}

// WhileReading adds the name of the file to an interruption. It returns other errors unchanged.
func WhileReading(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return cli.Interrupted(" while reading " + cli.InputName(path))
	}
	return err
}

// IsRecording reports whether a path has a recording's extension.
func IsRecording(path string) bool { return slices.Contains(cli.RecordingFiles, cli.FormatOf(path)) }

// ReadAudio reads a recording as data. x is the time in seconds, and y are the
// channels with full scale 1.
func ReadAudio(ctx context.Context, env *cli.Env, path string) (*vssgp.Data, error) {
	r, file, err := OpenRecording(ctx, env, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d := &vssgp.Data{N: r.Len(), Q: 1, D: r.Channels(), XNames: []string{SecondsName}}
	for c := range d.D {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	d.X, d.Y = make([]float64, 0, d.N), make([]float64, 0, d.N*d.D)
	return d, SecondsOf(d.N, r.Rate()).Each(ctx, func(lo int, x []float64) error {
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

// OpenRecording opens a recording and reads its header. Later reads fail after
// ctx is canceled or the file is closed.
func OpenRecording(ctx context.Context, env *cli.Env, path string) (*audio.File, io.Closer, error) {
	if info, err := os.Stat(path); env.Served == nil && err == nil && info.IsDir() {
		return nil, nil, cli.Mistake("%s is a folder; must be a recording (repair --out-dir repairs all recordings of a folder)", path)
	}
	f, size, err := env.Served.Open(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := salvage(ctx, env, path, f, size)
	if err != nil {
		defer f.Close()
		return nil, nil, notRecording(path, f, err)
	}
	return r, f, nil
}

// salvage parses the header of a recording. It warns if the recording is cut short or its header is wrong; with
// --strict, this is an error.
func salvage(ctx context.Context, env *cli.Env, path string, f io.ReaderAt, size int64) (*audio.File, error) {
	r, damage, err := audio.Salvage(&interruptible{ctx, f}, size)
	if err != nil || damage == nil {
		return r, err
	}
	if strict, err := env.Flags.GetBool("strict"); err == nil && strict { // commands without this flag are not strict
		return nil, damage
	}
	env.Note("warning: %s: %w; the %d samples that exist are read", path, damage, r.Len())
	return r, nil
}

// OpenInput opens a recording like OpenRecording. The path may be stdin, which is copied to a temporary file.
func OpenInput(ctx context.Context, env *cli.Env, path string) (*audio.File, io.Closer, error) {
	if path != cli.FromStdin {
		return OpenRecording(ctx, env, path)
	}
	f, size, err := env.StdinFile(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := salvage(ctx, env, cli.InputName(path), f, size)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", cli.InputName(path), err)
	}
	return r, io.NopCloser(nil), nil
}

// notRecording returns the error for a file that cannot be read as a recording.
func notRecording(path string, f io.ReaderAt, err error) error {
	tables, recordings := "."+strings.Join(cli.TableFiles, ", ."), "."+strings.Join(cli.RecordingFiles, ", .")
	head := make([]byte, 512)
	n, _ := f.ReadAt(head, 0)
	text := n > 0 && !bytes.HasPrefix(head, []byte("NIST_1A")) && !bytes.ContainsFunc(head[:n], func(r rune) bool {
		return r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\t\r\n", r)
	})
	var foreign *audio.ForeignError
	switch {
	case errors.As(err, &foreign):
		out := strings.TrimSuffix(path, filepath.Ext(path)) + ".wav"
		if out == path {
			out = "OUT.wav"
		}
		return cli.Mistake("%s is %s, which is not supported; convert it first: ffmpeg -i %s %s", path, foreign.Format, path, out)
	case !errors.Is(err, audio.ErrFormat):
	case IsTable(path):
		return cli.Mistake("%s is a table; must be a recording (%s)", path, recordings)
	case !IsRecording(path):
		return cli.Mistake("%s: the extension %q is neither a table's (%s; text also as .gz) nor a recording's (%s)%s",
			path, filepath.Ext(path), tables, recordings, table.Convert(cli.FormatOf(path)))
	case text:
		return cli.Mistake("%s is text, not a recording: it begins with %q; the name of a table must end in %s", path,
			head[:min(n, 16)], tables)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// FromFile adds the name of the file to an error in its content.
func FromFile(path string, err error) error {
	if errors.Is(err, audio.ErrFormat) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// interruptible is a file whose reads fail after ctx is canceled, so that an interruption
// ends long reads and copies.
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
