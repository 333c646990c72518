package audio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Change replaces the n samples from Start on by Values [channels][n]. A channel that is nil stays as it is, bit for bit.
type Change struct {
	Start  int
	Values [][]float64
}

// A Patch is a file with some of its samples replaced. In memory it holds only the new samples.
type Patch struct {
	f    *File
	runs []run // rising, not overlapping
}

// run holds bytes that replace the file's from an offset on: a number of them every so many, one sample of a channel in each frame, or all
// of them.
type run struct {
	at         int64
	bytes      []byte
	each, step int
}

// end returns the offset of the byte after the last that it replaces.
func (r *run) end() int64 { return r.at + int64(len(r.bytes)/r.each-1)*int64(r.step) + int64(r.each) }

// replace copies the run's bytes into b, the part of the file from offset at on.
func (r *run) replace(b []byte, at int64) {
	first := max(0, (at-r.at-int64(r.each)+1)/int64(r.step))
	for k := int(first); k*r.each < len(r.bytes); k++ {
		from := r.at + int64(k)*int64(r.step)
		if from >= at+int64(len(b)) {
			return
		}
		lo, hi := max(at, from), min(at+int64(len(b)), from+int64(r.each))
		if lo < hi {
			copy(b[lo-at:hi-at], r.bytes[k*r.each+int(lo-from):])
		}
	}
}

// Patch replaces samples of the file, each new one rounded to the nearest value of the file's encoding. A value past full
// scale is clipped and counted. Errors wrap ErrArgument where a change has another shape than the file or a value is not
// finite, and ErrGaps where one reaches outside or overlaps another in a channel.
func (f *File) Patch(changes []Change) (p *Patch, clipped int, err error) {
	if err := f.check(); err != nil {
		return nil, 0, err
	}
	p = &Patch{f: f}
	for _, c := range changes {
		runs, n, err := f.encode(c)
		if err != nil {
			return nil, 0, err
		}
		p.runs = append(p.runs, runs...)
		clipped += n
	}
	slices.SortFunc(p.runs, func(a, b run) int { return cmp.Compare(a.at, b.at) })
	ends := make([]int64, f.channels)
	for _, r := range p.runs {
		c := int((r.at - f.offset) % int64(f.frameBytes()) / int64(f.encoding.Bytes))
		if r.at < ends[c] {
			return nil, 0, fmt.Errorf("audio: samples from %d on: %w: changed twice", (r.at-f.offset)/int64(f.frameBytes()), ErrGaps)
		}
		ends[c] = r.end()
	}
	return p, clipped, nil
}

// checkRange refuses a gap with samples that the file does not have.
func (f *File) checkRange(g Gap) error {
	if g.Start < 0 || g.End > f.frames || g.Start > g.End {
		return fmt.Errorf("gap %v: %w: the recording has %d samples", g, ErrGaps, f.frames)
	}
	return nil
}

// encode turns a change into bytes of the file, a run for each channel.
func (f *File) encode(c Change) (runs []run, clipped int, err error) {
	if len(c.Values) != f.channels {
		return nil, 0, fmt.Errorf("audio: a change has %d channels, the recording %d: %w", len(c.Values), f.channels, ErrArgument)
	}
	count, width := -1, f.encoding.Bytes
	for i, v := range c.Values {
		switch {
		case v == nil:
			continue
		case count < 0:
			count = len(v)
			if err := f.checkRange(Gap{Start: c.Start, End: c.Start + count}); err != nil {
				return nil, 0, err
			}
		case len(v) != count:
			return nil, 0, fmt.Errorf("audio: channel %d of a change has %d samples, another %d: %w", i, len(v), count, ErrArgument)
		}
		if count == 0 {
			continue
		}
		r := run{f.place(c.Start) + int64(i*width), make([]byte, count*width), width, f.frameBytes()}
		for n, v := range v {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, 0, fmt.Errorf("audio: sample %d of channel %d of the fill is %v; want a finite number: %w", c.Start+n, i, v,
					ErrArgument)
			}
			if f.encoding.encode(r.bytes[n*width:], v) {
				clipped++
			}
		}
		runs = append(runs, r)
	}
	return runs, clipped, nil
}

// A cursor follows the tiles of a file with the runs that replace its bytes.
type cursor struct{ open, later []run } // those that were begun, and the rest, rising

// replace copies the runs' bytes into b, the part of the file from offset at on.
func (c *cursor) replace(b []byte, at int64) {
	end := at + int64(len(b))
	for len(c.later) > 0 && c.later[0].at < end {
		c.open, c.later = append(c.open, c.later[0]), c.later[1:]
	}
	left := c.open[:0]
	for _, r := range c.open {
		r.replace(b, at)
		if r.end() > end {
			left = append(left, r)
		}
	}
	c.open = left
}

// Write writes the file with its new samples, a tile at a time. In the file's own container all other bytes come out as
// they are (a WAV file streamed without sizes gets them, and ends with its last whole frame), but for FLAC: all frames are
// coded anew, if a sample is new, and only the other metadata stay. In another container, integers keep their width and value; SPHERE and
// FLAC have no floats, FLAC has no more than 24 bits and 8 channels, which are errors. FLAC output beyond 16 MiB is held in a temporary
// file. Writing is sequential; replacing a file safely is the caller's task.
func (p *Patch) Write(w io.Writer, c Container) error {
	if p == nil || w == nil {
		return fmt.Errorf("audio: write a patch %v to %v: %w: want one from File.Patch and a writer", p, w, ErrArgument)
	}
	f, runs := p.f, &cursor{later: p.runs}
	header, to, err := f.converted(c)
	if err != nil {
		return err
	}
	if c = f.target(c); c == FLAC {
		return p.writeFLAC(w, to)
	}
	from, end := f.offset, f.end()
	pad := make([]byte, -f.dataLen()&(containers[c].align-1))
	switch {
	case c == f.container && f.streamed:
		from = 0
		riff := binary.LittleEndian.AppendUint32(nil, uint32(f.riffSize()))
		data := binary.LittleEndian.AppendUint32(nil, uint32(f.dataLen()))
		runs.open = []run{{4, riff, 4, 4}, {f.offset - 4, data, 4, 4}}
	case c == f.container:
		from, end, pad = 0, f.size, nil
	default:
		if _, err := w.Write(header); err != nil {
			return err
		}
	}
	if err = p.copy(w, from, end, to, runs); err == nil && len(pad) > 0 {
		_, err = w.Write(pad)
	}
	return err
}

// copy writes bytes of the file with the runs that replace some, in an encoding.
func (p *Patch) copy(w io.Writer, from, end int64, to Encoding, runs *cursor) error {
	return p.f.tiles(from, end, func(at int64, b []byte) error {
		runs.replace(b, at)
		p.f.encoding.recode(b, to)
		_, err := w.Write(b)
		return err
	})
}

// writeFLAC writes a FLAC file: as it is, if it was one and no sample is new.
func (p *Patch) writeFLAC(w io.Writer, to Encoding) error {
	f := p.f
	if from, ok := f.pcm.(*flacFile); ok && len(p.runs) == 0 {
		return from.copy(w)
	}
	l := f.layout
	l.encoding = to
	coder, err := l.flacWriter()
	if err != nil {
		return err
	}
	defer coder.frames.Close()
	if err := p.copy(coder, f.offset, f.end(), to, &cursor{later: p.runs}); err != nil {
		return err
	}
	return coder.finish(w)
}

// CheckWrite says whether the file can be written in a container. It returns Write's error without reading samples.
func (f *File) CheckWrite(c Container) error {
	_, _, err := f.converted(c)
	return err
}

// target returns the container that the file is written in where one is asked for: a WAV file with sizes of 64 bits stays one.
func (f *File) target(c Container) Container {
	if c == WAV && f.container == RF64 {
		return RF64
	}
	return c
}

// converted returns the header and the encoding of the file in another container. In its own, the encoding is the same and
// the header is nil.
func (f *File) converted(c Container) (header []byte, to Encoding, err error) {
	if err := f.check(); err != nil {
		return nil, to, err
	}
	l, k := f.layout, containers[f.target(c)]
	switch {
	case f.target(c) == f.container && f.streamed && f.riffSize() > math.MaxUint32:
		err = errTooLong
	case f.target(c) == f.container:
	case k.header == nil:
		err = fmt.Errorf("audio: no such container: %v: %w", c, ErrFormat)
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
