package audio

import (
	"encoding/binary"
	"fmt"
	"math"
)

// parseWAV walks the chunks up to the data chunk. Chunks that it does not know are skipped (and, as the whole file is
// copied, written back); the bytes after the data are not read. A data chunk that claims more than the file holds is a
// truncated file, except for the sizes that a program writes when it streams into a pipe and cannot go back: those mean
// "to the end of the file".
func parseWAV(in *head) (l layout, err error) {
	riff := int64(binary.LittleEndian.Uint32(in.bytes(0, magicLen)[4:]))
	return l.withChunks(in, magicLen, riffChunks(in, binary.LittleEndian, nil), riff)
}

// wavHeader returns a plain WAV file up to its samples; an RF64 file where they do not fit.
func (l layout) wavHeader() ([]byte, error) {
	frame, size := l.frameBytes(), l.dataLen()
	if frame > math.MaxUint16 {
		return nil, fmt.Errorf("audio: frames of %d bytes do not fit a WAV file (64 KiB): %w", frame, ErrFormat)
	}
	if size > math.MaxUint32-64 {
		return l.rf64Header()
	}
	format, le := l.waveFormat(), binary.LittleEndian
	fact := 0
	if l.encoding.Float { // all formats but PCM have a chunk with the length
		fact = 12
	}
	b := le.AppendUint32([]byte("RIFF"), uint32(int64(4+8+len(format)+fact+8)+size+size&1))
	b = append(le.AppendUint32(append(b, "WAVEfmt "...), uint32(len(format))), format...)
	if l.encoding.Float {
		b = le.AppendUint32(le.AppendUint32(append(b, "fact"...), 4), uint32(l.frames))
	}
	return le.AppendUint32(append(b, "data"...), uint32(size)), nil
}
