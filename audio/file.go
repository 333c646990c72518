package audio

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Source is a recording that is read in parts, such as a File. Several goroutines may read at once.
type Source interface {
	// Read returns the samples [lo, hi) as [channel][hi-lo], for the caller to keep.
	Read(lo, hi int) ([][]float64, error)
}

// Samples is a Source in memory, [channel][sample].
type Samples [][]float64

// Read copies the samples.
func (s Samples) Read(lo, hi int) ([][]float64, error) {
	out := make([][]float64, len(s))
	for c, x := range s {
		out[c] = slices.Clone(x[lo:hi])
	}
	return out, nil
}

// A File is an audio file with its header read. Its samples are read in parts, so that a recording need not fit in memory.
// Several goroutines may call its methods at once if its io.ReaderAt allows that.
type File struct {
	layout
	src  io.ReaderAt
	size int64 // of the whole file in bytes
}

// NewFile reads the header of an audio file of size bytes, telling its container by the first of them. It reads the header alone, but all
// of a FLAC file, once: it must be sound, with the MD5 sum that it names. src must stay as it is while the File is in use. Memory is at
// most proportional to the header, which is never longer than size, and to a FLAC file's length by 16 bytes for 16 384 samples. Errors that
// the contents cause wrap ErrFormat; others are src's.
func NewFile(src io.ReaderAt, size int64) (*File, error) {
	if src == nil {
		return nil, fmt.Errorf("audio: a file of nil: %w: want a reader", ErrArgument)
	}
	f := &File{src: src, size: size}
	in := &head{src: src, size: size}
	c, err := sniff(in.bytes(0, sniffLen))
	switch {
	case err != nil:
	case c == WAV && size > maxFile:
		err = errTooLong
	default:
		f.layout, err = containers[c].parse(in)
	}
	f.container = c
	if err = cmp.Or(in.err, err); err != nil {
		return nil, err
	}
	if f.pcm != nil {
		f.src, f.size = f.pcm, f.dataLen()
	}
	return f, nil
}

// check refuses a File that NewFile did not make.
func (f *File) check() error {
	if f == nil || f.src == nil {
		return fmt.Errorf("audio: this file or recording is empty: %w: want one from NewFile, Open or Decode", ErrArgument)
	}
	return nil
}

// Rate returns the samples per second of each channel.
func (f *File) Rate() int { return f.rate }

// Channels returns the number of channels: at least 1 in a File that NewFile has made.
func (f *File) Channels() int { return f.channels }

// Len returns the number of samples in each channel: at least 1 where there are channels.
func (f *File) Len() int { return f.frames }

// Container returns the file's own container.
func (f *File) Container() Container { return f.container }

// Encoding returns how the file stores a sample.
func (f *File) Encoding() Encoding { return f.encoding }

// Read returns the samples [lo, hi) as [channels][hi-lo], full scale = 1. A sample that is not finite is an error, which wraps
// ErrFormat; samples outside [lo, hi) are not read. A range that is not in the file is an ErrArgument.
func (f *File) Read(lo, hi int) ([][]float64, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if lo < 0 || hi > f.frames || lo > hi {
		return nil, fmt.Errorf("audio: samples %d:%d asked for; the recording has %d: %w", lo, hi, f.frames, ErrArgument)
	}
	samples := makePlanar(f.channels, hi-lo)
	n, width := 0, f.encoding.Bytes
	err := f.tiles(f.place(lo), f.place(hi), func(at int64, b []byte) error {
		for i := 0; i < len(b); n++ {
			for c := range samples {
				v := f.encoding.decode(b[i:])
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return bad(at+int64(i), "sample %d of channel %d is %v; want a finite number", lo+n, c,
						v)
				}
				samples[c][n] = v
				i += width
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return samples, nil
}

// tileBytes is how much of a file is in memory at once while it is read or copied.
var tileBytes = 1 << 18

// tiles calls visit with the file's bytes [from, to), about tileBytes of them at a time, and with the offset of the first.
// Where from is the first byte of a frame, each tile holds whole frames. The bytes are good until visit returns.
func (f *File) tiles(from, to int64, visit func(at int64, b []byte) error) error {
	frame := f.frameBytes()
	tile := make([]byte, min(int64(max(frame, tileBytes-tileBytes%frame)), to-from))
	for at := from; at < to; at += int64(len(tile)) {
		b := tile[:min(int64(len(tile)), to-at)]
		if err := readAt(f.src, f.size, b, at); err != nil {
			return err
		}
		if err := visit(at, b); err != nil {
			return err
		}
	}
	return nil
}

// place returns the offset of frame n.
func (f *File) place(n int) int64 { return f.offset + int64(n)*int64(f.frameBytes()) }

// makePlanar makes an array [channels][n].
func makePlanar(channels, n int) [][]float64 {
	all := make([]float64, channels*n)
	s := make([][]float64, channels)
	for c := range s {
		s[c] = all[c*n : (c+1)*n : (c+1)*n]
	}
	return s
}

// layout says where the samples lie and how to read them.
type layout struct {
	container      Container
	rate, channels int
	encoding       Encoding
	offset         int64 // of the first sample; from there the file has frames × channels samples
	frames         int
	streamed       bool        // a WAV file whose sizes were never filled in
	speakers       uint32      // as WAVE numbers the channels' positions; 0: not given
	pcm            io.ReaderAt // the samples from offset 0 on, where the file does not hold them as such
}

// maxRate is above any converter's; a larger rate is a damaged header.
const maxRate = 100_000_000

func (l layout) frameBytes() int { return l.channels * l.encoding.Bytes }

func (l layout) dataLen() int64 { return int64(l.frames) * int64(l.frameBytes()) }

// end returns the offset of the byte after the last sample.
func (l layout) end() int64 { return l.offset + l.dataLen() }

// head reads a file's header for the parsers, a block at a time because a header may consist of many small chunks. It keeps
// its first read error: the parsers see a file that ends there, and their caller reports err instead.
type head struct {
	src   io.ReaderAt
	size  int64
	block []byte
	at    int64 // of block in the file
	err   error
}

// headBlock is how much of a header is read at once.
const headBlock = 1 << 12

// bytes returns n bytes from an offset on, and fewer only where the file ends before. They are good until the next call.
func (h *head) bytes(at int64, n int) []byte {
	n = int(max(0, min(int64(n), h.size-at)))
	if at < h.at || at+int64(n) > h.at+int64(len(h.block)) {
		h.block, h.at = make([]byte, max(n, int(min(headBlock, h.size-at)))), at
		h.err = cmp.Or(h.err, readAt(h.src, h.size, h.block, at))
	}
	if h.err != nil {
		return nil
	}
	return h.block[at-h.at:][:n]
}

// readAt fills b from a file that had size bytes when it was opened, at least up to the end of b.
func readAt(src io.ReaderAt, size int64, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return bad(at+int64(n), "the file ends here; it had %d bytes when it was opened", size)
	}
	return fmt.Errorf("audio: read at offset %d: %w", at, err)
}

const (
	// magicLen is how many bytes of a file identify its format if it is read.
	magicLen = 12
	// sniffLen is how many bytes identify a format that is not read.
	sniffLen = 36
)
