package audio

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
)

// New makes a recording of samples [channels][samples] as a WAV file of that encoding would hold them: rounded, and clipped
// at full scale. It returns how many were clipped. Errors wrap ErrArgument (no samples, an impossible rate or shape, a
// sample that is not finite), or ErrFormat where a WAV file cannot hold so many.
func New(rate int, e Encoding, samples [][]float64) (r *Recording, clipped int, err error) {
	n := 0
	if len(samples) > 0 {
		n = len(samples[0])
	}
	l, header, err := plain(rate, e, len(samples), n)
	if err != nil {
		return nil, 0, err
	}
	silence, err := Decode(append(header, make([]byte, l.dataLen()+l.dataLen()&1)...))
	if err != nil {
		return nil, 0, err
	}
	return silence.Fill([]Gap{{Start: 0, End: n}}, samples)
}

// plain returns the layout of a plain WAV file, and its header.
func plain(rate int, e Encoding, channels, n int) (l layout, header []byte, err error) {
	if !slices.Contains([]Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64}, e) {
		return l, nil, fmt.Errorf("audio: no plain WAV encoding: %+v: %w", e, ErrArgument)
	}
	if rate <= 0 || rate > maxRate || channels <= 0 || channels > math.MaxUint16 || n <= 0 {
		return l, nil, fmt.Errorf("audio: %d channels at %d samples a second; want samples in 1 to %d channels, 1 to %d a second: %w",
			channels, rate, math.MaxUint16, maxRate, ErrArgument)
	}
	l = layout{rate: rate, channels: channels, encoding: e, frames: n}
	header, err = l.wavHeader()
	return l, header, err
}

// A Writer writes a plain WAV file part by part.
type Writer struct {
	l     layout
	w     *bufio.Writer
	n     int // samples written, of all channels
	frame []byte
}

// NewWriter begins the WAV file that New makes of [channels][n] samples; the samples follow by Write. Its errors are New's and
// w's.
func NewWriter(w io.Writer, rate int, e Encoding, channels, n int) (*Writer, error) {
	l, header, err := plain(rate, e, channels, n)
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
func (r *Recording) Write(w io.Writer, c Container) error { return (&Patch{f: r.own()}).Write(w, c) }
