package audio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Change replaces the n samples from Start on by Values [channels][n].
type Change struct {
	Start  int
	Values [][]float64
}

// A Patch is a file with some of its samples replaced. In memory it holds only the new samples.
type Patch struct {
	f    *File
	runs []run // rising, not overlapping
}

// run holds bytes that replace the file's from an offset on.
type run struct {
	at    int64
	bytes []byte
}

// Patch replaces samples of the file, each new one rounded to the nearest value of the file's encoding. A value past full
// scale is clipped and counted. Errors wrap ErrArgument where a change has another shape than the file or a value is not
// finite, and ErrGaps where one reaches outside or overlaps another.
func (f *File) Patch(changes []Change) (p *Patch, clipped int, err error) {
	if err := f.check(); err != nil {
		return nil, 0, err
	}
	p = &Patch{f: f}
	for _, c := range changes {
		r, n, err := f.encode(c)
		if err != nil {
			return nil, 0, err
		}
		p.runs = append(p.runs, r)
		clipped += n
	}
	slices.SortFunc(p.runs, func(a, b run) int { return int(a.at - b.at) })
	for i := 1; i < len(p.runs); i++ {
		if a, b := p.runs[i-1], p.runs[i]; a.at+int64(len(a.bytes)) > b.at {
			return nil, 0, fmt.Errorf("audio: samples from %d on: %w: changed twice", (b.at-f.offset)/int64(f.frameBytes()), ErrGaps)
		}
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

// encode turns a change into bytes of the file.
func (f *File) encode(c Change) (r run, clipped int, err error) {
	if len(c.Values) != f.channels {
		return r, 0, fmt.Errorf("audio: a change has %d channels, the recording %d: %w", len(c.Values), f.channels, ErrArgument)
	}
	count := len(c.Values[0])
	for i, v := range c.Values {
		if len(v) != count {
			return r, 0, fmt.Errorf("audio: channel %d of a change has %d samples, channel 0 has %d: %w", i, len(v), count, ErrArgument)
		}
	}
	if err := f.checkRange(Gap{Start: c.Start, End: c.Start + count}); err != nil {
		return r, 0, err
	}
	r = run{f.place(c.Start), make([]byte, count*f.frameBytes())}
	b := r.bytes
	for n := range count {
		for i := range c.Values {
			v := c.Values[i][n]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return r, 0, fmt.Errorf("audio: sample %d of channel %d of the fill is %v; want a finite number: %w",
					c.Start+n, i, v, ErrArgument)
			}
			if f.encoding.encode(b, v) {
				clipped++
			}
			b = b[f.encoding.Bytes:]
		}
	}
	return r, clipped, nil
}

// replace copies the runs' bytes into b, the part of the file from offset at on. It returns the runs that reach beyond b.
func replace(b []byte, at int64, runs []run) []run {
	end := at + int64(len(b))
	for len(runs) > 0 && runs[0].at < end {
		r := runs[0]
		from, to := max(at, r.at), min(end, r.at+int64(len(r.bytes)))
		if from < to {
			copy(b[from-at:to-at], r.bytes[from-r.at:])
		}
		if r.at+int64(len(r.bytes)) > end {
			break
		}
		runs = runs[1:]
	}
	return runs
}

// Write writes the file with its new samples, a tile at a time. In the file's own container all other bytes come out as
// they are (a WAV file streamed without sizes gets them, and ends with its last whole frame). In the other container,
// integers keep their width and value; SPHERE has no floats, which is an error. Writing is sequential; replacing a file
// safely is the caller's task.
func (p *Patch) Write(w io.Writer, c Container) error {
	if p == nil || w == nil {
		return fmt.Errorf("audio: write a patch %v to %v: %w: want one from File.Patch and a writer", p, w, ErrArgument)
	}
	f, runs := p.f, p.runs
	header, to, err := f.converted(c)
	if err != nil {
		return err
	}
	from, end, pad := f.offset, f.end(), c == WAV && f.dataLen()&1 == 1
	switch {
	case c == f.container && f.streamed:
		from = 0
		riff := binary.LittleEndian.AppendUint32(nil, uint32(f.riffSize()))
		data := binary.LittleEndian.AppendUint32(nil, uint32(f.dataLen()))
		runs = append([]run{{4, riff}, {f.offset - 4, data}}, runs...)
	case c == f.container:
		from, end, pad = 0, f.size, false
	default:
		if _, err := w.Write(header); err != nil {
			return err
		}
	}
	err = f.tiles(from, end, func(at int64, b []byte) error {
		runs = replace(b, at, runs)
		f.encoding.recode(b, to)
		_, err := w.Write(b)
		return err
	})
	if err == nil && pad {
		_, err = w.Write([]byte{0})
	}
	return err
}

// CheckWrite says whether the file can be written in a container. It returns Write's error without reading samples.
func (f *File) CheckWrite(c Container) error {
	_, _, err := f.converted(c)
	return err
}

// converted returns the header and the encoding of the file in another container. In its own, the encoding is the same and
// the header is nil.
func (f *File) converted(c Container) (header []byte, to Encoding, err error) {
	if err := f.check(); err != nil {
		return nil, to, err
	}
	l := f.layout
	l.encoding.BigEndian = false
	switch {
	case c == f.container && f.streamed && f.riffSize() > math.MaxUint32:
		err = errTooLong
	case c == f.container:
		l.encoding = f.encoding
	case c == WAV:
		l.encoding.Unsigned = l.encoding.Bytes == 1
		header, err = l.wavHeader()
	case c == SPHERE:
		l.encoding.Unsigned = false
		header, err = l.sphereHeader()
	default:
		err = fmt.Errorf("audio: no such container: %v: %w", c, ErrFormat)
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
