package audio

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Source is a recording that is read in parts, such as a File. It is safe for concurrent use.
type Source interface {
	// Read returns the samples [lo, hi) as [channel][hi-lo]. The caller owns the result.
	Read(lo, hi int) ([][]float64, error)
}

// Samples is a Source in memory: [channel][sample].
type Samples [][]float64

// Read returns a copy of the samples [lo, hi).
func (s Samples) Read(lo, hi int) ([][]float64, error) {
	out := make([][]float64, len(s))
	for c, x := range s {
		out[c] = slices.Clone(x[lo:hi])
	}
	return out, nil
}

// A File is an audio file with a parsed header. Its samples are read in parts, so the recording need not fit in memory. Its methods may
// be called concurrently if its io.ReaderAt allows that.
type File struct {
	layout
	src  io.ReaderAt
	size int64             // of the whole file in bytes
	tag  *io.SectionReader // ID3v2 tags in front of the file; nil: none
}

// NewFile parses the header of an audio file of size bytes. It detects the container by the first bytes. It reads only the header, except
// for FLAC: there it decodes the whole file once and checks the MD5 sum. src must not change while the File is in use. The memory used is
// proportional to the header, whose length is at most size, plus 16 bytes for every 16 384 samples of a FLAC file. Errors caused by the
// contents wrap ErrFormat; others are src's.
func NewFile(src io.ReaderAt, size int64) (*File, error) {
	f, damage, err := Salvage(src, size)
	if err == nil && damage != nil {
		err = fmt.Errorf("%w: %w", ErrFormat, damage)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Salvage is like NewFile, but also accepts a file that is cut short or whose header declares no or a wrong number
// of samples or a wrong RIFF size, such as a WAV file that was written to a pipe. The result has the complete samples
// that exist. damage describes the error, without an offset; it wraps ErrFormat, and NewFile returns it as an
// error. Patch.Write writes such a file with the right sizes.
func Salvage(src io.ReaderAt, size int64) (f *File, damage, err error) {
	if src == nil {
		return nil, nil, fmt.Errorf("the reader is nil: %w", ErrArgument)
	}
	tag, err := tagLen(&head{src: src, size: size})
	if err != nil {
		return nil, nil, err
	}
	f = &File{src: src, size: size}
	if tag > 0 {
		f.src, f.size = io.NewSectionReader(src, tag, size-tag), size-tag
	}
	in := &head{src: f.src, size: f.size}
	c, err := sniff(in.bytes(0, sniffLen))
	switch {
	case err != nil:
	case c == WAV && f.size > maxFile:
		err = errTooLong
	default:
		f.layout, err = containers[c].parse(in)
	}
	f.container = c
	if err = cmp.Or(in.err, err); err != nil {
		return nil, nil, err
	}
	if f.pcm != nil {
		f.src, f.size = f.pcm, f.dataLen()
	}
	if tag > 0 {
		f.tag = io.NewSectionReader(src, 0, tag)
	}
	return f, in.damage, nil
}

// tagLen returns the length of the ID3v2 tags in front of a supported file, else 0. Some programs write such tags
// into FLAC files, and some add another one.
func tagLen(in *head) (n int64, err error) {
	for {
		b := in.bytes(n, id3Len)
		if len(b) < id3Len || string(b[:3]) != "ID3" || (b[6]|b[7]|b[8]|b[9])&0x80 != 0 {
			break
		}
		n += id3Len + (int64(b[6])<<21 | int64(b[7])<<14 | int64(b[8])<<7 | int64(b[9]))
		if b[5]&0x10 != 0 { // a copy of the header at the end
			n += id3Len
		}
	}
	if _, err := sniff(in.bytes(n, sniffLen)); err != nil { // an MP3 file
		return 0, in.err
	}
	return n, in.err
}

// id3Len is the length of the header of an ID3v2 tag.
const id3Len = 10

// check returns an error if the File was not created by NewFile.
func (f *File) check() error {
	if f == nil || f.src == nil {
		return fmt.Errorf("the file or recording is empty, must come from NewFile, Open or Decode: %w", ErrArgument)
	}
	return nil
}

// Rate returns the sample rate in Hz.
func (f *File) Rate() int { return f.rate }

// Channels returns the number of channels, which is at least 1 for a File from NewFile.
func (f *File) Channels() int { return f.channels }

// Len returns the number of samples in each channel, which is at least 1 for a File from NewFile.
func (f *File) Len() int { return f.frames }

// Container returns the file's container.
func (f *File) Container() Container { return f.container }

// Encoding returns the encoding of the file's samples.
func (f *File) Encoding() Encoding { return f.encoding }

// Read returns the samples [lo, hi) as [channels][hi-lo], full scale = 1. It does not read other samples. The error wraps ErrFormat if a
// sample is not finite or exceeds 1e10, and ErrArgument if the range is outside the file.
func (f *File) Read(lo, hi int) ([][]float64, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if lo < 0 || hi > f.frames || lo > hi {
		return nil, fmt.Errorf("samples %d:%d are outside the recording of %d samples: %w", lo, hi, f.frames, ErrArgument)
	}
	samples := makePlanar(f.channels, hi-lo)
	n, width := 0, f.encoding.Bytes
	err := f.tiles(f.frameOffset(lo), f.frameOffset(hi), func(at int64, b []byte) error {
		for i := 0; i < len(b); n++ {
			for c := range samples {
				v := f.encoding.decode(b[i:])
				if !(math.Abs(v) <= maxSample) {
					return bad(at+int64(i), "sample %d of channel %d (from 1) is %v, must be finite and from %v to %v, "+
						"except in a gap", lo+n, c+1, v, -maxSample, maxSample)
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

// maxSample is the largest magnitude of a sample. It exceeds the values of 32-bit integers, which some programs store
// as floats. From 1e12 on, a click is not always found in soft sound, because the sound is lost in the rounding errors
// of sums of squares.
const maxSample = 1e10

// tileBytes is the approximate number of bytes of a file in memory while it is read or copied.
var tileBytes = 1 << 18

// tiles passes the file's bytes [from, to) to visit in tiles of about tileBytes bytes, with the offset of each tile's first byte. If from
// is the first byte of a frame, each tile consists of whole frames. The bytes are valid until visit returns.
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

// frameOffset returns the byte offset of frame n.
func (f *File) frameOffset(n int) int64 { return f.offset + int64(n)*int64(f.frameBytes()) }

// makePlanar returns a zero array [channels][n].
func makePlanar(channels, n int) [][]float64 {
	all := make([]float64, channels*n)
	s := make([][]float64, channels)
	for c := range s {
		s[c] = all[c*n : (c+1)*n : (c+1)*n]
	}
	return s
}

// layout is the position and the encoding of the samples in a file.
type layout struct {
	container      Container
	rate, channels int
	encoding       Encoding
	offset         int64 // of the first sample; frames × channels samples follow
	frames         int
	streamed       bool        // the sizes in the header are wrong: they were never filled in, or the file is cut short
	wrongRIFF      bool        // the RIFF size is wrong, but not the length of the samples
	speakers       uint32      // WAVE channel mask; 0: not given
	pcm            io.ReaderAt // decoded samples from offset 0, if the file is compressed
}

// maxRate is the maximum sample rate. It exceeds the rate of any converter, so a larger rate means that the header is damaged.
const maxRate = 100_000_000

func (l layout) frameBytes() int { return l.channels * l.encoding.Bytes }

func (l layout) dataLen() int64 { return int64(l.frames) * int64(l.frameBytes()) }

// end returns the offset of the byte after the last sample.
func (l layout) end() int64 { return l.offset + l.dataLen() }

// head reads a file's header for the parsers. It reads whole blocks because a header may consist of many small chunks. After a read error,
// the parsers see the end of the file, and their caller must report err instead.
type head struct {
	src   io.ReaderAt
	size  int64
	block []byte
	at    int64 // of block in the file
	err   error
	// damage is the first error in the contents that leaves readable samples.
	damage error
}

// damaged records an error in the contents that leaves readable samples.
func (h *head) damaged(format string, args ...any) {
	h.damage = cmp.Or[error](h.damage, damageError(fmt.Sprintf(format, args...)))
}

// A damageError describes an error in the contents that leaves readable samples. It wraps ErrFormat.
type damageError string

func (e damageError) Error() string { return string(e) }

func (damageError) Unwrap() error { return ErrFormat }

// headBlock is the number of header bytes read at once.
const headBlock = 1 << 12

// bytes returns the n bytes that start at an offset, or fewer if the file ends before. They are valid until the next call.
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

// readAt fills b from a file that had size bytes when it was opened. A file that has become shorter is an ErrFormat.
func readAt(src io.ReaderAt, size int64, b []byte, at int64) error {
	n, err := src.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return bad(at+int64(n), "the file ends here, but it had %d bytes when it was opened", size)
	}
	return fmt.Errorf("read at offset %d: %w", at, err)
}

const (
	// magicLen is the number of bytes that identify a supported format.
	magicLen = 12
	// sniffLen is the number of bytes that identify an unsupported format.
	sniffLen = 36
)
