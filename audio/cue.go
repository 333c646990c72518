package audio

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// mostCues bounds the bytes of a chunk of cue points that are read.
const mostCues = 1 << 24

// Cues returns the regions that a WAV, RF64 or BW64 file marks itself, in rising order: cue points to which the file gives a length. Cue
// points without a length, and regions that reach beyond the samples, are left out. Files of other containers have none.
func (f *File) Cues() ([]Gap, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	in := &head{src: f.src, size: f.size}
	next, at := riffChunks(in, binary.LittleEndian, nil), int64(magicLen)
	switch f.container {
	case WAV:
	case RF64:
		large, first, err := rf64Sizes(in)
		if err != nil {
			return nil, err
		}
		next, at = riffChunks(in, binary.LittleEndian, large), first
	default:
		return nil, nil
	}
	starts, lengths := map[uint32]uint32{}, map[uint32]uint32{}
	for {
		c, ok := next(at)
		if !ok {
			break
		}
		if at = c.next; c.body == f.offset { // a streamed file says nothing of its size
			at = f.end() + f.dataLen()&1
			continue
		}
		b := in.bytes(c.body, int(min(c.size, mostCues)))
		switch {
		case c.id == "cue ":
			readCues(b, starts)
		case c.id == "LIST" && len(b) >= 4 && string(b[:4]) == "adtl":
			readLengths(b[4:], lengths)
		}
	}
	if in.err != nil {
		return nil, fmt.Errorf("cue points: %w", in.err)
	}
	var gaps []Gap
	for id, start := range starts {
		if n := int(lengths[id]); n > 0 && int(start)+n <= f.frames {
			gaps = append(gaps, Gap{Start: int(start), End: int(start) + n})
		}
	}
	slices.SortFunc(gaps, Gap.compare)
	return gaps, nil
}

// readCues reads the body of a cue chunk: a count, and for each point a number and, last of 24 bytes, its sample.
func readCues(b []byte, starts map[uint32]uint32) {
	for b = b[min(4, len(b)):]; len(b) >= 24; b = b[24:] {
		starts[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[20:])
	}
}

// readLengths reads the chunks of a list of associated data: ltxt has a cue point's number and a length in samples.
func readLengths(b []byte, lengths map[uint32]uint32) {
	for len(b) >= 8 {
		id, size := string(b[:4]), int(binary.LittleEndian.Uint32(b[4:]))
		if b = b[8:]; id == "ltxt" && min(size, len(b)) >= 8 {
			lengths[binary.LittleEndian.Uint32(b)] = binary.LittleEndian.Uint32(b[4:])
		}
		b = b[min(len(b), size+size&1):]
	}
}
