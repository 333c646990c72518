package audio

import (
	"fmt"
	"io"
	"math"
)

// A File is an audio file whose header has been read and whose samples are read in parts, for recordings that do not fit
// in memory. Its methods may be called from several goroutines at once if its io.ReaderAt may.
type File struct {
	layout
	container Container
	src       io.ReaderAt
	size      int64 // of the whole file in bytes
}

// NewFile reads the header of an audio file of size bytes, telling WAV from SPHERE by the first of them, and does not read
// beyond it. src must stay as it is while the File is in use. Memory is at most proportional to the header, which
// is within size, whatever it says. Errors that the contents cause wrap ErrFormat; others are src's.
func NewFile(src io.ReaderAt, size int64) (*File, error) {
	if src == nil {
		return nil, fmt.Errorf("audio: a file of nil: %w: want a reader", ErrArgument)
	}
	h := &head{src: src, size: size}
	magic, err := h.bytes(0, magicLen)
	if err != nil {
		return nil, err
	}
	f := &File{src: src, size: size}
	if f.container, err = sniff(magic); err != nil {
		return nil, err
	}
	if f.container == SPHERE {
		f.layout, err = parseSphere(h)
	} else {
		if size > maxFile {
			return nil, errTooLong
		}
		f.layout, err = parseWAV(h)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// check refuses a File that NewFile has not made.
func (f *File) check() error {
	if f == nil || f.src == nil {
		return fmt.Errorf("audio: this file or recording is empty: %w: want one from NewFile, Open, Read or New", ErrArgument)
	}
	return nil
}

// header is what the header says, or zero for a nil File.
func (f *File) header() layout {
	if f == nil {
		return layout{}
	}
	return f.layout
}

// Rate is the samples a second, per channel.
func (f *File) Rate() int { return f.header().rate }

// Channels is the number of channels: at least 1 in a File that NewFile has made.
func (f *File) Channels() int { return f.header().channels }

// Len is the number of samples in each channel, at least 1 where there are channels.
func (f *File) Len() int { return f.header().frames }

// Seconds is the duration.
func (f *File) Seconds() float64 {
	if f.Len() == 0 {
		return 0
	}
	return float64(f.frames) / float64(f.rate)
}

// Container is the file's own container.
func (f *File) Container() Container {
	if f == nil {
		return 0
	}
	return f.container
}

// Encoding is how the file holds a sample.
func (f *File) Encoding() Encoding { return f.header().encoding }

// Read is the samples [lo, hi) as [channels][hi-lo], full scale = 1. A sample that is not finite is an error, which wraps
// ErrFormat; samples outside [lo, hi) are not looked at. Samples that the file does not have are an ErrArgument.
func (f *File) Read(lo, hi int) ([][]float64, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if lo < 0 || hi > f.frames || lo > hi {
		return nil, fmt.Errorf("audio: samples %d:%d asked for; the recording has %d: %w", lo, hi, f.frames, ErrArgument)
	}
	samples := makePlanar(f.channels, hi-lo)
	width := f.encoding.Bytes
	err := f.tiles(lo, hi, func(n int, b []byte) error {
		for at := 0; at < len(b); n++ {
			for c := range samples {
				v := f.encoding.decode(b[at:])
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%w: offset %d: sample %d of channel %d is %v; want a finite number",
						ErrFormat, f.place(n)+int64(c*width), n, c, v)
				}
				samples[c][n-lo] = v
				at += width
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return samples, nil
}

// DetectZeros returns every run of at least minRun samples (at least 1) that are exactly zero in all channels, reading the
// file a tile at a time. Digital silence at either end of a recording, or in a gated pause, is a run like any other. In
// 8-bit recordings real silence gives long runs of zeros too: ask for a longer minRun there.
func (f *File) DetectZeros(minRun int) ([]Gap, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	minRun = max(minRun, 1)
	var gaps []Gap
	run := 0 // zeros up to the frame in hand
	end := func(n int) {
		if run >= minRun {
			gaps = append(gaps, Gap{n - run, n})
		}
		run = 0
	}
	frame := f.frameBytes()
	err := f.tiles(0, f.frames, func(n int, b []byte) error {
		for ; len(b) > 0; b, n = b[frame:], n+1 {
			if f.encoding.zero(b[:frame]) {
				run++
			} else if run > 0 {
				end(n)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	end(f.frames)
	return gaps, nil
}

// tileBytes is how much of a file is in memory at once while it is read or copied.
var tileBytes = 1 << 18

// tiles calls visit with the bytes of the frames [lo, hi), whole frames and about tileBytes of them at a time, n being the
// first one's number. The bytes are good until visit returns.
func (f *File) tiles(lo, hi int, visit func(n int, b []byte) error) error {
	frame := f.frameBytes()
	step := max(1, tileBytes/frame)
	tile := make([]byte, min(step, hi-lo)*frame)
	for n := lo; n < hi; n += step {
		b := tile[:min(step, hi-n)*frame]
		if err := f.readAt(b, f.place(n)); err != nil {
			return err
		}
		if err := visit(n, b); err != nil {
			return err
		}
	}
	return nil
}

// place is the offset of frame n.
func (f *File) place(n int) int64 { return f.offset + int64(n)*int64(f.frameBytes()) }

// readAt fills b with the file's bytes from an offset on.
func (f *File) readAt(b []byte, at int64) error { return readAt(f.src, f.size, b, at) }

func makePlanar(channels, n int) [][]float64 {
	all := make([]float64, channels*n)
	s := make([][]float64, channels)
	for c := range s {
		s[c] = all[c*n : (c+1)*n : (c+1)*n]
	}
	return s
}
