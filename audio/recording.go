package audio

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// A Recording is an audio file in memory. Do not write to Samples: to change samples, use Fill, which keeps the bits of
// all others.
type Recording struct {
	Rate    int         // samples a second, per channel
	Samples [][]float64 // [channels][samples], full scale = 1; all channels are equally long

	file *File // in memory; nil in a Recording that was not read or made here
}

// own returns the file that the recording was read or made from, or nil.
func (r *Recording) own() *File {
	if r == nil {
		return nil
	}
	return r.file
}

// Channels returns the number of channels: at least 1 in a Recording that Open, Read, Decode or New has made, else 0.
func (r *Recording) Channels() int { return r.own().Channels() }

// Len returns the number of samples in each channel: at least 1 where there are channels.
func (r *Recording) Len() int { return r.own().Len() }

// Seconds returns the duration.
func (r *Recording) Seconds() float64 { return r.own().Seconds() }

// Container returns the container of the file that the recording was read from.
func (r *Recording) Container() Container { return r.own().Container() }

// Encoding says how the file holds a sample.
func (r *Recording) Encoding() Encoding { return r.own().Encoding() }

// Open reads the audio file at path. Errors that the contents cause wrap ErrFormat and name the path; others are the
// operating system's.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, fmt.Errorf("%s: %w: this is a folder; want a recording (%s)", path, ErrFormat, names(", "))
	}
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Read reads a whole audio file from a stream. It tells the container by the first bytes, and stops there if it is none. Memory is at most
// proportional to the bytes that the stream really holds, for FLAC to the samples that they decode to, whatever the header says.
func Read(src io.Reader) (*Recording, error) {
	if src == nil {
		return nil, fmt.Errorf("audio: read from nil: %w: want a reader", ErrArgument)
	}
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(src, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if _, err := sniff(head[:n]); err != nil {
		return nil, err
	}
	file := bytes.NewBuffer(head[:n])
	if m, err := file.ReadFrom(io.LimitReader(src, maxFile)); err != nil {
		return nil, err
	} else if m == maxFile {
		return nil, errTooLong
	}
	return Decode(file.Bytes())
}

// Decode is Read for a file already in memory. The recording keeps file, which must not change.
func Decode(file []byte) (*Recording, error) {
	in, err := NewFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	samples, err := in.Read(0, in.Len())
	if err != nil {
		return nil, err
	}
	return &Recording{Rate: in.rate, Samples: samples, file: in}, nil
}

// Fill returns a copy of the recording in which the samples inside gaps, of their channels, come from values [channels][samples], rounded
// to the nearest value of the file's encoding; values outside the gaps are ignored. A value past full scale is clipped
// and counted. Errors wrap ErrArgument where values has another shape or a value is not finite, and ErrGaps where a gap is
// outside or overlaps another.
func (r *Recording) Fill(gaps []Gap, values [][]float64) (filled *Recording, clipped int, err error) {
	if err := r.own().check(); err != nil {
		return nil, 0, err
	}
	if len(values) != r.Channels() {
		return nil, 0, fmt.Errorf("audio: fill has %d channels, the recording %d: %w", len(values), r.Channels(), ErrArgument)
	}
	for c, v := range values {
		if len(v) != r.Len() {
			return nil, 0, fmt.Errorf("audio: channel %d of the fill has %d samples, the recording %d: %w", c, len(v), r.Len(), ErrArgument)
		}
	}
	changes := make([]Change, len(gaps))
	for i, g := range gaps {
		if err := r.file.checkRange(g); err != nil {
			return nil, 0, err
		}
		changes[i] = Change{Start: g.Start}
		for c, v := range values {
			if !g.In(c) {
				v = nil
			}
			changes[i].Values = append(changes[i].Values, v[min(g.Start, len(v)):min(g.End, len(v))])
		}
	}
	p, clipped, err := r.file.Patch(changes)
	if err != nil {
		return nil, 0, err
	}
	var file bytes.Buffer
	if err := p.Write(&file, r.Container()); err != nil {
		return nil, 0, err
	}
	filled, err = Decode(file.Bytes())
	return filled, clipped, err
}
