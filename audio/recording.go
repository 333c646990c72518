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

// A Recording is an audio file in memory. Do not write to Samples: to change samples, use Patch, which keeps the bits of all others.
type Recording struct {
	File                // as it was read
	Rate    int         // samples a second, per channel
	Samples [][]float64 // [channels][samples], full scale = 1; all channels are equally long
}

// Open reads the audio file at path. Errors that the contents cause wrap ErrFormat and name the path; others are the
// operating system's.
func Open(path string) (*Recording, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: %w: this is a folder; want a recording (%s)", path, ErrFormat, names(", "))
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

// Decode reads an audio file in memory. The recording keeps file, which must not change.
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

// A Writer writes a plain WAV file part by part.
type Writer struct {
	l     layout
	w     *bufio.Writer
	n     int // samples written, of all channels
	frame []byte
}

// NewWriter begins a WAV file of n samples in each channel; the samples follow by Write. They are rounded to the encoding, and clipped at
// full scale. Errors wrap ErrArgument (no samples, an impossible rate or encoding), ErrFormat where a WAV file cannot hold so many
// channels, or are w's.
func NewWriter(w io.Writer, rate int, e Encoding, channels, n int) (*Writer, error) {
	if !slices.Contains([]Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64}, e) {
		return nil, fmt.Errorf("audio: no plain WAV encoding: %+v: %w", e, ErrArgument)
	}
	if rate <= 0 || rate > maxRate || channels <= 0 || channels > math.MaxUint16 || n <= 0 {
		return nil, fmt.Errorf("audio: %d channels at %d samples a second; want samples in 1 to %d channels, 1 to %d a second: %w",
			channels, rate, math.MaxUint16, maxRate, ErrArgument)
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

// Write adds samples, [·,channels]: the channels of one moment follow each other. A sample that is not finite is an error.
func (w *Writer) Write(samples []float64) error {
	if w.n+len(samples) > w.l.frames*w.l.channels {
		return fmt.Errorf("audio: more samples than the %d in %d channels that were announced: %w", w.l.frames, w.l.channels, ErrArgument)
	}
	for _, v := range samples {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("audio: sample %d of channel %d is %v; want a finite number: %w",
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

// Close ends the file. It is an error if samples are missing.
func (w *Writer) Close() error {
	if w.n != w.l.frames*w.l.channels {
		return fmt.Errorf("audio: %d samples of %d in %d channels; want all: %w", w.n, w.l.frames, w.l.channels, ErrArgument)
	}
	if w.l.dataLen()&1 == 1 { // chunks are padded to even length
		w.w.WriteByte(0)
	}
	return w.w.Flush()
}

// Write writes the recording: see Patch.Write.
func (r *Recording) Write(w io.Writer, c Container) error { return (&Patch{f: &r.File}).Write(w, c) }
