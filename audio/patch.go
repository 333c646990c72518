package audio

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Change replaces the n samples from Start on by Values [channels][n]. A channel with nil values does not change.
type Change struct {
	Start  int
	Values [][]float64
}

// A Patch is a file with some of its samples replaced. It keeps only the new samples in memory.
type Patch struct {
	f      *File
	pieces map[int][]piece // by channel, in increasing order
}

// A piece contains new samples [start, end) of a channel in the file's encoding.
type piece struct {
	start, end int
	bytes      []byte
}

// Patch replaces samples of the file. It rounds each new sample to the nearest value of the file's encoding, clips values beyond full scale,
// and returns the number of clipped values. The error wraps ErrArgument if the number of channels differs from the file's, if the values
// differ in length or if a value is not finite. It wraps ErrGaps if changes are outside the recording or overlap in a channel.
func (f *File) Patch(changes []Change) (p *Patch, clipped int, err error) {
	if err := f.check(); err != nil {
		return nil, 0, err
	}
	p = &Patch{f, map[int][]piece{}}
	for _, c := range changes {
		n, err := p.add(c)
		if err != nil {
			return nil, 0, err
		}
		clipped += n
	}
	for c := range f.channels {
		all := p.pieces[c]
		slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(all); i++ {
			if all[i].start < all[i-1].end {
				return nil, 0, fault.Errorf(ErrGaps, "changes overlap at sample %d", all[i].start)
			}
		}
	}
	return p, clipped, nil
}

// add adds a piece for each channel of a change.
func (p *Patch) add(c Change) (clipped int, err error) {
	f := p.f
	if len(c.Values) != f.channels {
		return 0, fmt.Errorf("a change has %d channels, but the recording has %d: %w", len(c.Values), f.channels, ErrArgument)
	}
	count, width := -1, f.encoding.Bytes
	for i, v := range c.Values {
		switch {
		case v == nil:
			continue
		case count < 0:
			if count = len(v); c.Start < 0 || c.Start > f.frames-count {
				return 0, fault.Errorf(ErrGaps, "samples %d:%d are outside the recording of %d samples", c.Start, c.Start+count, f.frames)
			}
		case len(v) != count:
			return 0, fmt.Errorf("channel %d of a change has %d samples, expected %d: %w", i, len(v), count, ErrArgument)
		}
		if count == 0 {
			continue
		}
		r := piece{c.Start, c.Start + count, make([]byte, count*width)}
		for n, v := range v {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("new sample %d of channel %d is %v, must be finite: %w", c.Start+n, i, v, ErrArgument)
			}
			if f.encoding.encode(r.bytes[n*width:], v) {
				clipped++
			}
		}
		p.pieces[i] = append(p.pieces[i], r)
	}
	return clipped, nil
}

// Write writes the file with its new samples in a container.
//
// In the file's own container, all other bytes are copied, with three exceptions. A streamed WAV file gets its missing
// sizes and ends with its last complete frame. A wrong RIFF size is corrected. A FLAC file with new samples is encoded
// again; its metadata except the seek table is kept.
//
// In another container, integers keep their width and value. It is an error if the container cannot represent the samples: SPHERE and
// FLAC support no floats, and FLAC supports up to 24 bits and 8 channels.
//
// FLAC output above 16 MiB is buffered in a temporary file. Write writes sequentially; the caller must replace existing files safely.
func (p *Patch) Write(w io.Writer, c Container) error {
	if p == nil || w == nil {
		return fmt.Errorf("write a patch: patch %v and writer %v must not be nil: %w", p, w, ErrArgument)
	}
	f, out := p.f, bufio.NewWriter(w) // out keeps the first error
	header, to, err := f.converted(c)
	if err == nil && f.source().tag != nil && f.target(c) == FLAC && f.keeps(c) {
		tag := f.source().tag
		_, err = io.Copy(w, io.NewSectionReader(tag, 0, tag.Size()))
	}
	if err != nil {
		return err
	}
	source := f.source()
	raw := func(from, to int64) error {
		return source.tiles(from, to, func(_ int64, b []byte) error {
			_, err := out.Write(b)
			return err
		})
	}
	own := f.keeps(c)
	switch {
	case f.target(c) == FLAC:
		return p.writeFLAC(w, to)
	case own && f.streamed:
		header = make([]byte, source.offset)
		err = readAt(source.src, source.size, header, 0)
		binary.LittleEndian.PutUint32(header[4:], uint32(source.riffSize()))
		binary.LittleEndian.PutUint32(header[source.offset-4:], uint32(f.dataLen()))
	case own && f.wrongRIFF:
		b := make([]byte, 8)
		err = readAt(source.src, source.size, b, 0)
		binary.LittleEndian.PutUint32(b[4:], uint32(min(source.size-8, math.MaxUint32)))
		out.Write(b)
		err = cmp.Or(err, raw(8, source.offset))
	case own:
		err = raw(0, source.offset)
	}
	out.Write(header)
	if err == nil {
		err = p.copy(out, to)
	}
	if own && !f.streamed && err == nil {
		err = raw(source.end(), source.size)
	} else {
		out.Write(make([]byte, -f.dataLen()&(containers[f.target(c)].align-1)))
	}
	return cmp.Or(err, out.Flush())
}

// copy writes all samples, including the replaced ones, in an encoding.
func (p *Patch) copy(w io.Writer, to Encoding) error {
	f := p.f
	frame, width := f.frameBytes(), f.encoding.Bytes
	return f.tiles(f.offset, f.end(), func(at int64, b []byte) error {
		first := int((at - f.offset) / int64(frame))
		last := first + len(b)/frame
		for c, all := range p.pieces {
			from := sort.Search(len(all), func(i int) bool { return all[i].end > first })
			to := sort.Search(len(all), func(i int) bool { return all[i].start >= last })
			for _, r := range all[from:to] {
				for n := max(first, r.start); n < min(last, r.end); n++ {
					copy(b[(n-first)*frame+c*width:][:width], r.bytes[(n-r.start)*width:])
				}
			}
		}
		f.encoding.recode(b, to)
		_, err := w.Write(b)
		return err
	})
}

// writeFLAC writes a FLAC file. It copies the source if that is a FLAC file without changes.
func (p *Patch) writeFLAC(w io.Writer, to Encoding) error {
	f := p.f
	if from, ok := f.pcm.(*flacFile); ok && len(p.pieces) == 0 && !f.streamed {
		_, err := io.Copy(w, io.NewSectionReader(from.src, 0, from.size))
		return err
	}
	l := f.layout
	l.encoding = to
	coder, err := l.flacWriter()
	if err != nil {
		return err
	}
	defer coder.frames.Close()
	if err := p.copy(coder, to); err != nil {
		return err
	}
	return coder.finish(w)
}

// CheckWrite returns the error that Write would return if the file cannot be written in a container. It reads no samples.
func (f *File) CheckWrite(c Container) error {
	_, _, err := f.converted(c)
	return err
}

// target returns the container used to write the file if c is requested. An RF64 file requested as WAV remains RF64.
func (f *File) target(c Container) Container {
	if c == WAV && f.container == RF64 {
		return RF64
	}
	return c
}

// keeps reports whether writing the file in a container keeps all bytes of its source except the samples.
func (f *File) keeps(c Container) bool {
	return f.target(c) == f.container && f.encoding == f.source().encoding &&
		(!f.streamed || c == WAV && f.container == WAV || c == FLAC)
}

// converted returns the header and the encoding of the file in a container. For the file's own container, the header is nil and the
// encoding does not change.
func (f *File) converted(c Container) (header []byte, to Encoding, err error) {
	if err := f.check(); err != nil {
		return nil, to, err
	}
	l, k := f.layout, containers[f.target(c)]
	switch {
	case f.keeps(c) && f.streamed && f.container == WAV && f.source().riffSize() > math.MaxUint32:
		err = errTooLong
	case f.keeps(c):
	case k.header == nil:
		err = fmt.Errorf("unknown container %v: %w", c, ErrFormat)
	default:
		l.encoding.BigEndian, l.encoding.Unsigned = k.bigEndian && l.encoding.Bytes > 1, k.unsigned && l.encoding.Bytes == 1
		header, err = k.header(l)
	}
	return header, l.encoding, err
}

// riffSize returns the RIFF size of a streamed file that ends with its data, padded to even length.
func (f *File) riffSize() int64 { return f.end() + f.dataLen()&1 - 8 }

// recode changes the byte order and signedness of the samples in b.
func (e Encoding) recode(b []byte, to Encoding) {
	if e.BigEndian == to.BigEndian && e.Unsigned == to.Unsigned {
		return
	}
	for ; len(b) > 0; b = b[e.Bytes:] {
		w := e.word(b)
		if to.Unsigned != e.Unsigned {
			w ^= 1 << (8*e.Bytes - 1)
		}
		to.putWord(b, w)
	}
}
