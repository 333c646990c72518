package audio

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sort"
	"sync/atomic"

	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"

	"github.com/vssgp/vssgp/internal/parallel"
)

// flacBits is the maximum number of bits per sample, a limit of the library's decoder.
const flacBits = 24

// A flacFile is an io.ReaderAt for the decoded samples of a FLAC file. The samples are interleaved little-endian integers, left-justified.
// Only the parts decoded last and the offset of each part are kept in memory.
type flacFile struct {
	src    io.ReaderAt
	size   int64 // of the file
	info   *meta.StreamInfo
	blocks []chunk      // metadata copied to the output, including the 4-byte headers
	parts  []flacStart  // of the parts of at least flacPart samples, except the last part; then the end
	width  int          // bytes per sample
	kept   atomic.Value // map[int][]byte: the parts read last
}

// flacStart is the start of a part.
type flacStart struct {
	at    int64 // offset in the file
	first int   // index of the first sample
}

const (
	flacPart  = 1 << 14 // samples
	flacMagic = "fLaC"
)

// parseFLAC reads a FLAC file's metadata. It also decodes all frames once to find their offsets and to detect damage.
func parseFLAC(in *head) (l layout, err error) {
	s := &flacFile{src: in.src, size: in.size}
	at, err := s.metadata(in)
	if err != nil {
		return l, err
	}
	info, bits := s.info, int(s.info.BitsPerSample)
	if bits < 4 || bits > flacBits {
		return l, bad(8, "FLAC with %d bits per sample is not supported (4 to %d bits are): convert it to WAV first", bits, flacBits)
	}
	s.width = (bits + 7) / 8
	l.encoding = Encoding{Bytes: s.width, ValidBits: bits % (8 * s.width)}
	if l.frames, err = s.scan(in, at); err != nil {
		return l, err
	}
	l.streamed = in.damage != nil
	l.rate, l.channels, l.pcm = int(info.SampleRate), int(info.NChannels), s
	return l, nil
}

// metadata reads the metadata blocks and returns the offset of the first frame.
func (s *flacFile) metadata(in *head) (at int64, err error) {
	for at = int64(len(flacMagic)); ; {
		b := in.bytes(at, 4)
		if len(b) < 4 {
			return 0, bad(at, "truncated: the file ends in its metadata")
		}
		last, kind := b[0]&0x80 != 0, meta.Type(b[0]&0x7f)
		c := chunk{body: at, size: int64(b[1])<<16 | int64(b[2])<<8 | int64(b[3])}
		c.next = at + 4 + c.size
		switch {
		case c.next > in.size:
			return 0, bad(at, "a metadata block declares %d bytes, but only %d bytes remain in the file", c.size, in.size-at-4)
		case (s.info == nil) != (kind == meta.TypeStreamInfo) || kind == 127:
			return 0, bad(at, "unexpected metadata block of type %d, STREAMINFO (type 0) must come first and once, type 127 is invalid", kind)
		case kind == meta.TypeStreamInfo:
			block, err := meta.Parse(bytes.NewReader(in.bytes(at, 4+int(min(c.size, fmtMost)))))
			if err != nil || in.err != nil {
				return 0, cmp.Or(in.err, bad(at, "STREAMINFO: %v", err))
			}
			s.info = block.Body.(*meta.StreamInfo)
		case kind != meta.TypeSeekTable: // its offsets would be wrong in the output
			s.blocks = append(s.blocks, c)
		}
		if at = c.next; last {
			return at, nil
		}
	}
}

// scan decodes the frames from an offset to the end of the file and returns the number of samples. It checks the
// declared number of samples and MD5 sum. If the file is cut short, it returns the samples of the complete frames.
func (s *flacFile) scan(in *head, at int64) (samples int, err error) {
	sum, packed, declared := md5.New(), []byte(nil), int(s.info.NSamples)
	d := s.decoder(at, in.size)
	cut := false
	last := at // end of the last complete frame
	for declared == 0 || samples < declared {
		from := d.at
		f, err := d.frame()
		if err == io.EOF && declared == 0 {
			break
		}
		if err == io.EOF {
			in.damaged("the file is cut short: the header declares %d samples, but only %d follow", declared, samples)
			cut = true
			break
		}
		if packed, err = s.pack(packed[:0], f, 0, err); err != nil {
			if err = s.failed(d, from, samples, err); !errors.Is(err, errCut) {
				return 0, err
			}
			in.damaged("the file is cut short in the frame of sample %d", samples)
			cut = true
			break
		}
		last = d.at
		sum.Write(packed)
		if len(s.parts) == 0 || samples-s.parts[len(s.parts)-1].first >= flacPart {
			s.parts = append(s.parts, flacStart{from, samples})
		}
		samples += int(f.BlockSize)
	}
	switch got := [md5.Size]byte(sum.Sum(nil)); {
	case samples == 0:
		return 0, cmp.Or(in.damage, bad(at, "the file has no samples"))
	case declared > 0 && samples > declared:
		return 0, bad(at, "%d samples are declared, but the frames have %d", declared, samples)
	case !cut && s.info.MD5sum != got && s.info.MD5sum != [md5.Size]byte{}:
		return 0, bad(26, "the MD5 sum of the samples is %s, expected %s: the file is damaged",
			hex.EncodeToString(got[:]), hex.EncodeToString(s.info.MD5sum[:]))
	}
	s.parts = append(s.parts, flacStart{last, samples})
	return samples, nil
}

// failed adds the offset and the first sample of a frame to its decoding error. It wraps the error of the reader, if there was one.
func (s *flacFile) failed(d *flacDecoder, at int64, first int, err error) error {
	switch {
	case d.err != nil:
		return fmt.Errorf("read at offset %d: %w", d.at, d.err)
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return fmt.Errorf("%w: %w", bad(at, "truncated: the file ends inside the frame of sample %d", first), errCut)
	}
	return bad(at, "the frame of sample %d: %v", first, err)
}

// errCut is wrapped by the error for a file that ends inside a frame.
var errCut = errors.New("cut short")

// A flacDecoder reads frames sequentially.
type flacDecoder struct {
	from *bufio.Reader
	at   int64 // offset of the next byte
	err  error // first read error other than io.EOF
	info *meta.StreamInfo
}

func (s *flacFile) decoder(at, end int64) *flacDecoder {
	return &flacDecoder{from: bufio.NewReaderSize(io.NewSectionReader(s.src, at, end-at), 1<<16), at: at, info: s.info}
}

// Read reads bytes and updates the offset and the error.
func (d *flacDecoder) Read(b []byte) (int, error) {
	n, err := d.from.Read(b)
	d.at += int64(n)
	if err != nil && err != io.EOF {
		d.err = cmp.Or(d.err, err)
	}
	return n, err
}

// frame decodes the next frame. The error is io.EOF after the last frame. A panic of the library becomes an error.
func (d *flacDecoder) frame() (f *frame.Frame, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be decoded: %v", r)
		}
	}()
	if f, err = frame.New(d); err != nil {
		return nil, err
	}
	want := d.info
	f.BitsPerSample, f.SampleRate = cmp.Or(f.BitsPerSample, want.BitsPerSample), cmp.Or(f.SampleRate, want.SampleRate)
	if n := uint8(f.Channels.Count()); n != want.NChannels || f.BitsPerSample != want.BitsPerSample || f.SampleRate != want.SampleRate {
		return nil, fmt.Errorf("%d channels, %d bits per sample and %d Hz contradict STREAMINFO (%d, %d and %d)",
			n, f.BitsPerSample, f.SampleRate, want.NChannels, want.BitsPerSample, want.SampleRate)
	}
	if f.BlockSize == 0 {
		return nil, errors.New("65536 samples, the maximum is 65535")
	}
	if err = f.Parse(); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// pack appends a frame's samples to b, interleaved and shifted left by shift bits. It returns err, the decoder's error, if there is one.
func (s *flacFile) pack(b []byte, f *frame.Frame, shift int, err error) ([]byte, error) {
	if err != nil {
		return b, err
	}
	limit := int32(1) << (f.BitsPerSample - 1)
	for n := range int(f.BlockSize) {
		for c, sub := range f.Subframes {
			v := sub.Samples[n]
			if v < -limit || v >= limit {
				return b, fmt.Errorf("sample %d of channel %d (from 1) is %d, which exceeds %d bits", n, c+1, v, f.BitsPerSample)
			}
			for v, i := v<<shift, 0; i < s.width; i++ {
				b, v = append(b, byte(v)), v>>8
			}
		}
	}
	return b, nil
}

// frameBytes returns the number of bytes per sample of all channels.
func (s *flacFile) frameBytes() int { return s.width * int(s.info.NChannels) }

// decode returns the samples of a part.
func (s *flacFile) decode(part int) ([]byte, error) {
	from, to := s.parts[part], s.parts[part+1]
	b := make([]byte, 0, (to.first-from.first)*s.frameBytes())
	d, n := s.decoder(from.at, to.at), from.first
	for n < to.first {
		at := d.at
		f, err := d.frame()
		if b, err = s.pack(b, f, 8*s.width-int(s.info.BitsPerSample), err); err != nil {
			return nil, s.failed(d, at, n, err)
		}
		n += int(f.BlockSize)
	}
	if n != to.first {
		return nil, bad(from.at, "the file has changed since it was opened")
	}
	return b, nil
}

// ReadAt implements io.ReaderAt for the decoded samples.
func (s *flacFile) ReadAt(b []byte, at int64) (n int, err error) {
	frame := int64(s.frameBytes())
	end := int64(s.parts[len(s.parts)-1].first) * frame
	if at >= end {
		return 0, io.EOF
	}
	to := min(at+int64(len(b)), end)
	partOf := func(at int64) int {
		return sort.Search(len(s.parts), func(i int) bool { return int64(s.parts[i].first)*frame > at }) - 1
	}
	first, last := partOf(at), partOf(max(at, to-1))
	kept, _ := s.kept.Load().(map[int][]byte)
	read := make([][]byte, last-first+1)
	err = parallel.Try(len(read), runtime.GOMAXPROCS(0), func(i int) (err error) {
		if read[i] = kept[first+i]; read[i] == nil {
			read[i], err = s.decode(first + i)
		}
		begin := int64(s.parts[first+i].first) * frame
		if lo, hi := max(at, begin), min(to, begin+int64(len(read[i]))); lo < hi {
			copy(b[lo-at:hi-at], read[i][lo-begin:])
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	kept = map[int][]byte{}
	for i, samples := range read {
		kept[first+i] = samples
	}
	s.kept.Store(kept)
	if to-at < int64(len(b)) {
		err = io.EOF
	}
	return int(to - at), err
}
