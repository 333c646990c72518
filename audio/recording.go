package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrFormat is wrapped by every error about the contents of an audio file. The message says what is wrong, at which byte
// offset or sample, and what would be right.
var ErrFormat = errors.New("bad audio file")

// ErrArgument is wrapped by every error about what a call is given besides files and gaps: samples of another shape or
// not finite, a setting that is not positive, a nil reader or writer, a File or Recording that nothing was read into.
var ErrArgument = errors.New("bad argument")

// Container is a file format.
type Container int

// The containers read and written.
const (
	WAV    Container = iota + 1 // RIFF WAVE
	SPHERE                      // NIST SPHERE, NIST_1A
)

// String is "WAV" or "SPHERE".
func (c Container) String() string {
	switch c {
	case WAV:
		return "WAV"
	case SPHERE:
		return "SPHERE"
	}
	return fmt.Sprintf("Container(%d)", int(c))
}

// ContainerOf is the container that an output path asks for: .wav and .wave are WAV, .sph and .nist are SPHERE. Input
// files are told by their first bytes and not by their names.
func ContainerOf(path string) (Container, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".wav", ".wave":
		return WAV, nil
	case ".sph", ".nist":
		return SPHERE, nil
	default:
		return 0, fmt.Errorf("%s: %w: cannot write %q; name it .wav or .sph", path, ErrFormat, ext)
	}
}

// A Recording is what an audio file holds. Samples is for reading: to change samples, use Fill, which keeps the bits of
// all others.
type Recording struct {
	Rate    int         // samples a second, per channel
	Samples [][]float64 // [channels][samples], full scale = 1; all channels are equally long

	in   *File  // reads from file
	file []byte // the whole file as it was read or made
}

// Channels is the number of channels: at least 1, but for a Recording that nothing was read into.
func (r *Recording) Channels() int {
	if r == nil {
		return 0
	}
	return len(r.Samples)
}

// Len is the number of samples in each channel, at least 1 where there are channels.
func (r *Recording) Len() int {
	if r.Channels() == 0 {
		return 0
	}
	return len(r.Samples[0])
}

// Seconds is the duration.
func (r *Recording) Seconds() float64 {
	if r.Len() == 0 {
		return 0
	}
	return float64(r.Len()) / float64(r.Rate)
}

// from is the file it was read from; where there is none, one that is empty.
func (r *Recording) from() *File {
	if r == nil || r.in == nil {
		return &File{}
	}
	return r.in
}

// Container is the container of the file it was read from.
func (r *Recording) Container() Container { return r.from().container }

// Encoding is how the file holds a sample.
func (r *Recording) Encoding() Encoding { return r.from().encoding }

// maxFile bounds what Read takes from a stream without a size; no WAV file can be larger.
const maxFile = 1<<32 + 8

var errTooLong = fmt.Errorf("%w: longer than 4 GiB; cut it into parts", ErrFormat)

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
		return nil, fmt.Errorf("%s: %w: this is a folder; want a WAV or SPHERE file", path, ErrFormat)
	}
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Read reads a whole audio file from a stream, telling WAV from SPHERE by the first bytes: where they are neither's, it
// reads no more than those. Memory is at most proportional to what the stream really holds, whatever its header says.
func Read(src io.Reader) (*Recording, error) {
	if src == nil {
		return nil, fmt.Errorf("audio: read from nil: %w: want a reader", ErrArgument)
	}
	head := make([]byte, magicLen)
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

// magicLen is how much of a file tells its format.
const magicLen = 12

// foreign names formats that are recognised only to be refused.
var foreign = []struct{ magic, name string }{
	{"RIFX", "big-endian WAV (RIFX)"}, {"RF64", "RF64 (64-bit WAV)"}, {"BW64", "BW64 (64-bit WAV)"}, {"riff", "Wave64"},
	{"FORM", "AIFF"}, {".snd", "Sun AU"}, {"fLaC", "FLAC"}, {"OggS", "Ogg"}, {"ID3", "MP3"}, {"\xff\xfb", "MP3"},
	{"\xff\xf3", "MP3"}, {"ajkg", "shorten"}, {"caff", "Core Audio"}, {"MThd", "MIDI"},
}

// sniff tells the container from a file's first bytes.
func sniff(head []byte) (Container, error) {
	switch {
	case len(head) == 0:
		return 0, fmt.Errorf("%w: empty; want a WAV or SPHERE file", ErrFormat)
	case bytes.HasPrefix(head, []byte("NIST_1A")):
		return SPHERE, nil
	case bytes.HasPrefix(head, []byte("RIFF")):
		if len(head) < 12 {
			return 0, fmt.Errorf("%w: ends after %d bytes, inside the RIFF header; want at least 12", ErrFormat, len(head))
		}
		if string(head[8:12]) != "WAVE" {
			return 0, fmt.Errorf("%w: offset 8: RIFF form %q; want \"WAVE\"", ErrFormat, head[8:12])
		}
		return WAV, nil
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return 0, fmt.Errorf("%w: offset 0: this is %s; convert it to PCM or float WAV first", ErrFormat, f.name)
		}
	}
	return 0, fmt.Errorf("%w: offset 0: starts with %q; want \"RIFF\" or \"NIST_1A\"", ErrFormat, head[:min(len(head), 8)])
}

// Decode is Read for a file already in memory. The recording keeps file and relies on it staying as it is.
func Decode(file []byte) (*Recording, error) {
	in, err := NewFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	samples, err := in.Read(0, in.Len())
	if err != nil {
		return nil, err
	}
	return &Recording{Rate: in.rate, Samples: samples, in: in, file: file}, nil
}

func makePlanar(channels, n int) [][]float64 {
	all := make([]float64, channels*n)
	s := make([][]float64, channels)
	for c := range s {
		s[c] = all[c*n : (c+1)*n : (c+1)*n]
	}
	return s
}

// Fill returns a copy of the recording in which the samples inside gaps are those of values [channels][samples], rounded
// to the nearest value of the file's encoding; values outside the gaps are not looked at. A value past full scale is
// clipped and counted. Errors wrap ErrArgument where values has another shape or a value is not finite, and ErrGaps where a
// gap is outside or overlaps another.
func (r *Recording) Fill(gaps []Gap, values [][]float64) (filled *Recording, clipped int, err error) {
	if err := r.from().check(); err != nil {
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
		if err := r.in.checkRange(g); err != nil {
			return nil, 0, err
		}
		changes[i] = Change{Start: g.Start}
		for _, v := range values {
			changes[i].Values = append(changes[i].Values, v[g.Start:g.End])
		}
	}
	p, clipped, err := r.in.Patch(changes)
	if err != nil {
		return nil, 0, err
	}
	file := slices.Clone(r.file)
	replace(file, 0, p.runs)
	filled, err = Decode(file)
	return filled, clipped, err
}

// DefaultZeroRun is the shortest run of zeros that counts as a gap by default. Where a waveform passes through zero,
// and in quiet 16-bit recordings, a handful of zeros in a row is common; a lost packet is longer: 2.5 ms, the shortest
// frame of the common codecs, is 20 samples at 8 kHz and 40 at 16 kHz.
const DefaultZeroRun = 16

// DetectZeros is File.DetectZeros; of a Recording that nothing was read into it is nil.
func (r *Recording) DetectZeros(minRun int) []Gap {
	gaps, _ := r.from().DetectZeros(minRun) // the file, if there is one, is in memory
	return gaps
}
