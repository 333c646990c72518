package audio

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrFormat is wrapped by every error about the contents of an audio file. The message gives the byte offset, field or sample, the
// invalid value and the expected one.
var ErrFormat = fault.New("bad audio file")

// ErrArgument is wrapped by every error about an argument that is not a file or a gap: samples with a wrong shape or not finite, a setting
// that is not positive, a nil reader or writer, an empty File or Recording.
var ErrArgument = errors.New("bad argument")

// Container is a file format.
type Container int

// The supported containers, in the order in which messages list them.
const (
	WAV    Container = iota + 1 // RIFF WAVE
	FLAC                        // with 4 to 24 bits
	RF64                        // WAV with 64-bit sizes: RF64 and BW64
	W64                         // Sony Wave64
	AIFF                        // AIFF and AIFF-C
	SPHERE                      // NIST SPHERE, NIST_1A
)

// bad returns an ErrFormat about the contents of a file at an offset.
func bad[N int | int64](at N, format string, args ...any) error {
	return fmt.Errorf("%w: offset %d: "+format, append([]any{ErrFormat, at}, args...)...)
}

// A format describes a container.
type format struct {
	name       string
	extensions []string // without the dot
	parse      func(*head) (layout, error)
	header     func(layout) ([]byte, error) // of a plain file
	unsigned   bool                         // one-byte samples are unsigned
	bigEndian  bool
	align      int64 // the sample data is padded to a multiple of it
}

// containers contains the format of each container. A new container needs an entry here and a case in sniff.
var containers = map[Container]format{
	WAV:  {name: "WAV", extensions: []string{"wav", "wave"}, parse: parseWAV, header: layout.wavHeader, unsigned: true, align: 2},
	FLAC: {name: "FLAC", extensions: []string{"flac"}, parse: parseFLAC, header: layout.flacHeader, align: 1},
	RF64: {name: "RF64", extensions: []string{"rf64", "bw64"}, parse: parseRF64, header: layout.rf64Header, unsigned: true, align: 2},
	W64:  {name: "W64", extensions: []string{"w64"}, parse: parseW64, header: layout.w64Header, unsigned: true, align: 8},
	AIFF: {name: "AIFF", extensions: []string{"aif", "aiff", "aifc"}, parse: parseAIFF, header: layout.aiffHeader, bigEndian: true,
		align: 2},
	SPHERE: {name: "SPHERE", extensions: []string{"sph", "nist"}, parse: parseSphere, header: layout.sphereHeader, align: 1},
}

// Extensions returns the file name extensions of all containers, without the dot.
func Extensions() (all []string) {
	for _, c := range slices.Sorted(maps.Keys(containers)) {
		all = append(all, containers[c].extensions...)
	}
	return all
}

// names returns a list of the containers' names for messages. or separates the last two.
func names(or string) string {
	var all []string
	for _, c := range slices.Sorted(maps.Keys(containers)) {
		all = append(all, c.String())
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + or + all[last]
}

// String returns the container's name, such as "WAV".
func (c Container) String() string {
	if k, ok := containers[c]; ok {
		return k.name
	}
	return fmt.Sprintf("Container(%d)", int(c))
}

// ContainerOf returns the container for an output path's extension. Input files are recognized by their first bytes, not by their names.
func ContainerOf(path string) (Container, error) {
	ext := strings.ToLower(filepath.Ext(path))
	for c, k := range containers {
		if slices.Contains(k.extensions, strings.TrimPrefix(ext, ".")) {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%s: %w: unsupported output extension %q, must be .wav, .flac, .rf64, .w64, .aiff or .sph", path, ErrFormat, ext)
}

// forms are the containers that begin with a four-letter magic, a size and a four-letter form.
var forms = []struct {
	magic     string
	forms     []string
	container Container
}{{"RIFF", []string{"WAVE"}, WAV}, {"RF64", []string{"WAVE"}, RF64}, {"BW64", []string{"WAVE"}, RF64},
	{"FORM", []string{"AIFF", "AIFC"}, AIFF}}

// foreign lists unsupported formats that errors name, with their magic bytes at an offset.
var foreign = []struct {
	at          int
	magic, name string
}{
	{28, "OpusHead", "Ogg Opus"}, {28, "\x01vorbis", "Ogg Vorbis"}, {28, "\x7fFLAC", "Ogg FLAC"}, {0, "OggS", "Ogg"},
	{4, "ftyp", "M4A or MP4"},
	{0, "ID3", "MP3"}, {0, "\xff\xfb", "MP3"}, {0, "\xff\xfa", "MP3"}, {0, "\xff\xf3", "MP3"}, {0, "\xff\xf2", "MP3"}, {0, "\xff\xf1", "AAC"},
	{0, "\xff\xf9", "AAC"}, {0, "\x30\x26\xb2\x75", "WMA"}, {0, "\x1a\x45\xdf\xa3", "WebM or Matroska"}, {0, "wvpk", "WavPack"},
	{0, "MAC ", "Monkey's Audio"}, {0, "RIFX", "big-endian WAV (RIFX)"}, {0, ".snd", "Sun AU"}, {0, "ajkg", "shorten"},
	{0, "caff", "Core Audio"}, {0, "MThd", "MIDI"},
}

// A ForeignError is returned for a file in an unsupported format, such as "MP3". It wraps ErrFormat.
type ForeignError struct {
	Format string // name of the format
}

// Error returns a message with a command that converts the file.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%v: %s is not supported; convert it first: ffmpeg -i IN OUT.wav", ErrFormat, e.Format)
}

// Unwrap returns ErrFormat.
func (e *ForeignError) Unwrap() error { return ErrFormat }

// sniff recognizes the container by a file's first bytes.
func sniff(head []byte) (Container, error) {
	switch {
	case len(head) == 0:
		return 0, fmt.Errorf("%w: the file is empty, expected a %s file", ErrFormat, names(" or "))
	case bytes.HasPrefix(head, []byte("NIST_1A")):
		return SPHERE, nil
	case bytes.HasPrefix(head, []byte(w64Riff[:12])):
		return W64, nil
	case bytes.HasPrefix(head, []byte(flacMagic)):
		return FLAC, nil
	}
	for _, f := range forms {
		if !bytes.HasPrefix(head, []byte(f.magic)) {
			continue
		}
		if len(head) < magicLen {
			return 0, fmt.Errorf("%w: the file ends after %d bytes, inside the %s header of at least %d", ErrFormat, len(head), f.magic, magicLen)
		}
		if form := string(head[8:12]); !slices.Contains(f.forms, form) {
			return 0, bad(8, "%s form %q, expected %q", f.magic, form, f.forms[0])
		}
		return f.container, nil
	}
	for _, f := range foreign {
		if bytes.HasPrefix(head[min(f.at, len(head)):], []byte(f.magic)) {
			return 0, &ForeignError{f.name}
		}
	}
	return 0, bad(0, "the file begins with %q, so it is not a %s file", head[:min(len(head), 8)], names(" or "))
}

// maxFile is the size of the largest possible WAV file.
const maxFile = 1<<32 + 8

var errTooLong = fmt.Errorf("%w: the file is longer than 4 GiB, the maximum of a WAV file; split it into parts", ErrFormat)
