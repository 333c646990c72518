package audio

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"

	"github.com/vssgp/vssgp/internal/fileio"
)

// flacBlock is the number of samples per channel in a written frame.
const flacBlock = 4096

// flacHeader returns an error if FLAC cannot represent the samples. It returns no bytes because the header depends on all samples.
func (l layout) flacHeader() ([]byte, error) {
	switch e := l.encoding; {
	case e.Float || 8*e.Bytes > flacBits:
		return nil, fmt.Errorf("%w: FLAC cannot store %v samples, only integers of up to %d bits; write a .wav", ErrFormat, e, flacBits)
	case l.channels > 8 || l.rate >= 1<<20 || l.frames >= 1<<36:
		return nil, fmt.Errorf("%w: %d samples of %d channels at %d Hz exceed the limits of FLAC (8 channels, 1048575 Hz); write a .wav",
			ErrFormat, l.frames, l.channels, l.rate)
	}
	return nil, nil
}

// A flacWriter encodes samples, given as bytes in a layout's encoding, as a FLAC file. It buffers all frames because the header precedes
// them and depends on them.
type flacWriter struct {
	layout
	bits        int
	from        *flacFile // source of the metadata, or nil
	pending     []byte    // samples of the incomplete frame
	frames      fileio.Spool
	coder       *flac.Encoder
	coded       flacSink
	least, most int // smallest and largest frame in bytes
}

// flacSink receives the output of the library's encoder. It has a Seek method because the encoder reports the MD5 sum only to a seeker.
type flacSink struct{ bytes.Buffer }

// Seek does nothing, because the bytes written after it are not used.
func (*flacSink) Seek(int64, int) (int64, error) { return 0, nil }

// flacWidths are the bits per sample that the library's encoder supports.
var flacWidths = []int{8, 12, 16, 20, flacBits}

func (l layout) flacWriter() (*flacWriter, error) {
	w := &flacWriter{layout: l, bits: 8 * l.encoding.Bytes}
	pcm := l.pcm
	if s, ok := pcm.(*scaledFile); ok {
		pcm = s.from.pcm
	}
	if w.from, _ = pcm.(*flacFile); w.from != nil { // in other containers, unused bits may be nonzero
		w.bits = int(w.from.info.BitsPerSample)
	}
	w.bits = flacWidths[slices.IndexFunc(flacWidths, func(b int) bool { return b >= w.bits })]
	var err error
	w.coder, err = flac.NewEncoder(&w.coded, &meta.StreamInfo{
		BlockSizeMin: flacBlock, BlockSizeMax: flacBlock, SampleRate: uint32(l.rate), NChannels: uint8(l.channels),
		BitsPerSample: uint8(w.bits),
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Write adds samples.
func (w *flacWriter) Write(b []byte) (int, error) {
	w.pending = append(w.pending, b...)
	for size := flacBlock * w.frameBytes(); len(w.pending) >= size; w.pending = w.pending[size:] {
		if err := w.code(w.pending[:size]); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// code encodes samples as a frame. The library's encoder chooses the predictors.
func (w *flacWriter) code(samples []byte) error {
	x := w.unpack(samples)
	f := &frame.Frame{Header: frame.Header{
		HasFixedBlockSize: true, BlockSize: uint16(len(x[0])), Channels: frame.Channels(len(x) - 1), BitsPerSample: uint8(w.bits),
	}}
	if r := w.rate; r <= 65535 || r <= 255000 && r%1000 == 0 || r <= 655350 && r%10 == 0 { // other rates are only in STREAMINFO
		f.SampleRate = uint32(r)
	}
	for _, v := range x {
		f.Subframes = append(f.Subframes, &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, Samples: v,
			NSamples: len(v)})
	}
	w.coded.Reset()
	if err := w.coder.WriteFrame(f); err != nil {
		return fmt.Errorf("FLAC: %w", err)
	}
	n := w.coded.Len()
	w.least, w.most = min(cmp.Or(w.least, n), n), max(w.most, n)
	_, err := w.coded.WriteTo(&w.frames)
	return err
}

// unpack returns the samples as integers [channels][·].
func (w *flacWriter) unpack(b []byte) [][]int32 {
	width, n := w.encoding.Bytes, len(b)/w.frameBytes()
	x := make([][]int32, w.channels)
	for c := range x {
		x[c] = make([]int32, n)
		for i := range x[c] {
			at := (i*w.channels + c) * width
			x[c][i] = int32(w.encoding.word(b[at:])<<(32-8*width)) >> (32 - w.bits)
		}
	}
	return x
}

// finish encodes the last samples and writes the file.
func (w *flacWriter) finish(to io.Writer) error {
	if len(w.pending) > 0 {
		if err := w.code(w.pending); err != nil {
			return err
		}
	}
	if err := w.coder.Close(); err != nil {
		return fmt.Errorf("FLAC: %w", err)
	}
	info := w.coder.Info
	info.BlockSizeMin, info.BlockSizeMax = flacBlock, flacBlock // the last frame does not count
	info.FrameSizeMin, info.FrameSizeMax = uint32(w.least), uint32(w.most)
	var header bytes.Buffer
	if _, err := flac.NewEncoder(&header, info); err != nil {
		return fmt.Errorf("FLAC: %w", err)
	}
	if err := w.metadata(to, header.Bytes()); err != nil {
		return err
	}
	return w.frames.CopyTo(to)
}

// metadata writes the header with STREAMINFO, followed by the other blocks.
func (w *flacWriter) metadata(to io.Writer, header []byte) error {
	var blocks []chunk
	if w.from != nil {
		blocks = w.from.blocks
	}
	const last = 0x80 // flag in a block's first byte
	if len(blocks) > 0 {
		header[len(flacMagic)] &^= last
	}
	if _, err := to.Write(header); err != nil {
		return err
	}
	for i, c := range blocks {
		b := make([]byte, c.next-c.body)
		if err := readAt(w.from.src, c.next, b, c.body); err != nil {
			return err
		}
		if b[0] &^= last; i == len(blocks)-1 {
			b[0] |= last
		}
		if _, err := to.Write(b); err != nil {
			return err
		}
	}
	return nil
}
