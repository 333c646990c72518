package audio

import (
	"fmt"
	"io"
	"math"
)

// A File is an audio file of which the header has been read and the samples are read in parts, for recordings that memory
// does not hold. Its methods may be called from several goroutines at once if its io.ReaderAt may.
type File struct {
	layout
	container Container
	src       io.ReaderAt
	size      int64 // of the whole file in bytes
}

// NewFile reads the header of an audio file of size bytes, telling WAV from SPHERE by the first of them, and nothing
// beyond the header. src must stay as it is while the File is in use. Memory is at most proportional to the header, which
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

// check reports a File that NewFile has not made.
func (f *File) check() error {
	if f == nil || f.src == nil {
		return fmt.Errorf("audio: nothing was read into this file or recording: %w: want one from NewFile, Open, Read or New", ErrArgument)
	}
	return nil
}

// told is what the header tells; of no file, nothing.
func (f *File) told() layout {
	if f == nil {
		return layout{}
	}
	return f.layout
}

// Rate is the samples a second, per channel.
func (f *File) Rate() int { return f.told().rate }

// Channels is the number of channels: at least 1, but for a File that NewFile has not made.
func (f *File) Channels() int { return f.told().channels }

// Len is the number of samples in each channel, at least 1 where there are channels.
func (f *File) Len() int { return f.told().frames }

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
func (f *File) Encoding() Encoding { return f.told().encoding }

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
	zero, frame := f.encoding.zeroFrame(), f.frameBytes()
	err := f.tiles(0, f.frames, func(n int, b []byte) error {
		for ; len(b) > 0; b, n = b[frame:], n+1 {
			if zero(b[:frame]) {
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

// readAt fills b from a file that had size bytes when it was opened, at least up to the end of b.
func readAt(src io.ReaderAt, size int64, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return fmt.Errorf("%w: offset %d: the file ends here; it had %d bytes when it was opened", ErrFormat, at+int64(n), size)
	}
	return fmt.Errorf("audio: read at offset %d: %w", at, err)
}

// layout is what a header tells: where the samples lie and how to read them.
type layout struct {
	rate, channels int
	encoding       Encoding
	offset         int64 // of the first sample; from there the file holds frames × channels samples
	frames         int
	streamed       bool // a WAV file whose sizes were never filled in
}

// maxRate is above any converter's; a larger rate is a damaged header.
const maxRate = 100_000_000

func (l layout) frameBytes() int { return l.channels * l.encoding.Bytes }

func (l layout) dataLen() int64 { return int64(l.frames) * int64(l.frameBytes()) }

// head reads a file's header for the parsers, a block at a time: a header may consist of many small chunks.
type head struct {
	src   io.ReaderAt
	size  int64
	block []byte
	at    int64 // of block in the file
}

// headBlock is how much of a header is read at once.
const headBlock = 1 << 12

// bytes is n bytes from an offset on, fewer only where the file ends before. They are good until the next call.
func (h *head) bytes(at int64, n int) ([]byte, error) {
	n = int(max(0, min(int64(n), h.size-at)))
	if at < h.at || at+int64(n) > h.at+int64(len(h.block)) {
		need := max(n, int(min(headBlock, h.size-at)))
		if cap(h.block) < need {
			h.block = make([]byte, need)
		}
		h.block, h.at = h.block[:need], at
		if err := readAt(h.src, h.size, h.block, at); err != nil {
			return nil, err
		}
	}
	return h.block[at-h.at:][:n], nil
}
