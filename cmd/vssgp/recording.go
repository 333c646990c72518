package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// recordingFile is a WAV or SPHERE file that is read in parts.
type recordingFile struct {
	*audio.File
	io.Closer
}

// openRecording opens a WAV or SPHERE file and reads its header. Once ctx has
// ended, reading on fails.
func openRecording(ctx context.Context, path string) (*recordingFile, error) {
	f, size, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	r, err := audio.NewFile(&interruptible{ctx, f}, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &recordingFile{r, f}, nil
}

// interruptible is a file that cannot be read any more once ctx has ended: long
// reading and copying end with it.
type interruptible struct {
	ctx  context.Context
	file io.ReaderAt
}

// ReadAt is the file's.
func (i *interruptible) ReadAt(b []byte, at int64) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.file.ReadAt(b, at)
}

// secondsName is the input of a model of a recording.
const secondsName = "seconds"

// readAudio reads a recording as data: x is the time in seconds, y the
// channels in full scale 1.
func readAudio(ctx context.Context, path string) (*vssgp.Data, error) {
	r, err := openRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := &vssgp.Data{N: r.Len(), Q: 1, D: r.Channels(), XNames: []string{secondsName}}
	for c := range d.D {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	d.X, d.Y = make([]float64, 0, d.N), make([]float64, 0, d.N*d.D)
	const most = 1 << 15 // samples at a time
	for lo := 0; lo < d.N; lo += most {
		part, err := r.Read(lo, min(d.N, lo+most))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for i := range part[0] {
			d.X = append(d.X, float64(lo+i)/float64(r.Rate()))
			for _, s := range part {
				d.Y = append(d.Y, s[i])
			}
		}
	}
	return d, nil
}

// checkWritable checks, before long work, that a recording can be written under that
// name: its extension, and the sample formats of the container.
func checkWritable(r *audio.File, path string) error {
	if path == "" { // with --plan
		return nil
	}
	c, err := audio.ContainerOf(path)
	if err != nil {
		return err
	}
	if err := r.CheckWrite(c); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
