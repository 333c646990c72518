package audio

import "errors"

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
	RF64                        // WAV with sizes of 64 bits: RF64 and BW64
	W64                         // Sony Wave64
	AIFF                        // AIFF and AIFF-C
	FLAC                        // of 4 to 24 bits
)
