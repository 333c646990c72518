package audio

import "fmt"

// A scaledFile is an io.ReaderAt for the samples of a file after multiplication by a gain, in another encoding.
type scaledFile struct {
	from *File
	gain float64
	to   Encoding
}

// Scaled returns the file with its samples multiplied by a gain from 0 to 1 and stored in an encoding, which must
// be the file's own or a float encoding. Samples are rounded to the nearest value of the encoding, without dither.
// The file is read again with every read of the result. In the same container and encoding, Patch.Write copies all
// other bytes of the file; in another encoding, it writes a plain file. The error wraps ErrArgument.
func (f *File) Scaled(gain float64, to Encoding) (*File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if !(gain >= 0 && gain <= 1) || to != f.encoding && to != Float32 && to != Float64 {
		return nil, fmt.Errorf("gain %v to %v, must be a gain from 0 to 1 to %v or a float encoding: %w", gain, to,
			f.encoding, ErrArgument)
	}
	s := &scaledFile{f, gain, to}
	out := &File{layout: f.layout, src: s}
	out.encoding, out.offset, out.pcm = to, 0, s
	out.size = out.dataLen()
	return out, nil
}

// ReadAt implements io.ReaderAt for whole samples inside the recording.
func (s *scaledFile) ReadAt(b []byte, at int64) (int, error) {
	f, width := s.from, s.to.Bytes
	n, own := len(b)/width, f.encoding.Bytes
	samples := make([]byte, n*own)
	if err := readAt(f.src, f.size, samples, f.offset+at/int64(width)*int64(own)); err != nil {
		return 0, err
	}
	for i := range n {
		v := f.encoding.decode(samples[i*own:])
		if s.gain == 0 {
			v = 0 // also for values that are not finite
		}
		s.to.encode(b[i*width:], s.gain*v)
	}
	return len(b), nil
}

// source returns the file from which bytes other than samples are copied.
func (f *File) source() *File {
	if s, ok := f.pcm.(*scaledFile); ok {
		return s.from
	}
	return f
}
