package audio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// A Recording is an audio file in memory. Do not write to Samples: use Patch, which preserves the bits of all other samples.
type Recording struct {
	File                // source file
	Rate    int         // sample rate in Hz
	Samples [][]float64 // [channels][samples], full scale = 1; all channels have the same length
}

// Open reads the audio file at path. Errors caused by the contents wrap ErrFormat and contain the path; others come from the operating
// system.
func Open(path string) (*Recording, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: %w: is a directory, expected an audio file (%s)", path, ErrFormat, names(", "))
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Decode parses an audio file in memory. The recording refers to file, which must not change.
func Decode(file []byte) (*Recording, error) {
	in, err := NewFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	samples, err := in.Read(0, in.Len())
	if err != nil {
		return nil, err
	}
	return &Recording{*in, in.rate, samples}, nil
}

// A Writer writes a plain WAV file in parts.
type Writer struct {
	l     layout
	w     *bufio.Writer
	n     int // samples written, of all channels
	frame []byte
}

// NewWriter writes the header of a WAV file with n samples per channel. Write then adds the samples, rounded to the encoding and clipped at
// full scale. The error wraps ErrArgument for an invalid number of samples, sample rate or encoding, and ErrFormat if there are too many
// channels for a WAV file.
func NewWriter(w io.Writer, rate int, e Encoding, channels, n int) (*Writer, error) {
	if !slices.Contains([]Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64}, e) {
		return nil, fmt.Errorf("encoding %+v is not a plain WAV encoding: %w", e, ErrArgument)
	}
	if rate <= 0 || rate > maxRate || channels <= 0 || channels > math.MaxUint16 || n <= 0 {
		return nil, fmt.Errorf("%d samples in %d channels at %d Hz, must be at least 1 sample, 1 to %d channels and 1 to %d Hz: %w",
			n, channels, rate, math.MaxUint16, maxRate, ErrArgument)
	}
	l := layout{rate: rate, channels: channels, encoding: e, frames: n}
	header, err := l.wavHeader()
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(header) // b keeps an error until Flush
	return &Writer{l: l, w: b, frame: make([]byte, e.Bytes)}, nil
}

// Write adds interleaved samples [·,channels]. Samples must be finite.
func (w *Writer) Write(samples []float64) error {
	if w.n+len(samples) > w.l.frames*w.l.channels {
		return fmt.Errorf("too many samples, the file was created for %d in %d channels: %w", w.l.frames, w.l.channels, ErrArgument)
	}
	for _, v := range samples {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("sample %d of channel %d is %v, must be finite: %w",
				w.n/w.l.channels, w.n%w.l.channels, v, ErrArgument)
		}
		w.l.encoding.encode(w.frame, v)
		if _, err := w.w.Write(w.frame); err != nil {
			return err
		}
		w.n++
	}
	return nil
}

// Close completes the file. It returns an error if samples are missing.
func (w *Writer) Close() error {
	if w.n != w.l.frames*w.l.channels {
		return fmt.Errorf("%d samples written, expected %d in each of %d channels: %w", w.n, w.l.frames, w.l.channels, ErrArgument)
	}
	if w.l.dataLen()&1 == 1 { // chunks are padded to even length
		w.w.WriteByte(0)
	}
	return w.w.Flush()
}

// Write writes the recording in a container (see Patch.Write).
func (r *Recording) Write(w io.Writer, c Container) error { return (&Patch{f: &r.File}).Write(w, c) }
