package audio

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrFormat is wrapped by every error about the contents of an audio file. The message says what is wrong, at which byte
// offset or sample, and what would be right.
var ErrFormat = errors.New("bad audio file")

// ErrArgument is wrapped by every error about an argument that is not a file or a gap: samples of another shape or
// not finite, a setting that is not positive, a nil reader or writer, a File or Recording that nothing was read into.
var ErrArgument = errors.New("bad argument")

// Container is a file format.
type Container int

// The containers read and written.
const (
	WAV    Container = iota + 1 // RIFF WAVE
	SPHERE                      // NIST SPHERE, NIST_1A
)

// String returns "WAV" or "SPHERE".
func (c Container) String() string {
	switch c {
	case WAV:
		return "WAV"
	case SPHERE:
		return "SPHERE"
	}
	return fmt.Sprintf("Container(%d)", int(c))
}

// ContainerOf returns the container that an output path asks for: .wav and .wave are WAV, .sph and .nist are SPHERE. Input
// files are recognised by their first bytes, not by their names.
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

// magicLen is how many bytes of a file identify its format.
const magicLen = 12

// foreign lists formats that are recognised only to be refused by name.
var foreign = []struct{ magic, name string }{
	{"RIFX", "big-endian WAV (RIFX)"}, {"RF64", "RF64 (64-bit WAV)"}, {"BW64", "BW64 (64-bit WAV)"}, {"riff", "Wave64"},
	{"FORM", "AIFF"}, {".snd", "Sun AU"}, {"fLaC", "FLAC"}, {"OggS", "Ogg"}, {"ID3", "MP3"}, {"\xff\xfb", "MP3"},
	{"\xff\xf3", "MP3"}, {"ajkg", "shorten"}, {"caff", "Core Audio"}, {"MThd", "MIDI"},
}

// sniff recognises the container by a file's first bytes.
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

// maxFile is the size of the largest possible WAV file, and the most that Read takes from a stream.
const maxFile = 1<<32 + 8

var errTooLong = fmt.Errorf("%w: longer than 4 GiB; cut it into parts", ErrFormat)
