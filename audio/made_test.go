package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// randomData returns count random samples of an encoding, with all finite bit patterns possible.
func randomData(e Encoding, count int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(e.Bytes)))
	b := make([]byte, count*e.Bytes)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if e.Float {
		for i := range count {
			v := r.NormFloat64() / 3
			w := math.Float64bits(v)
			if e.Bytes == 4 {
				w = uint64(math.Float32bits(float32(v)))
			}
			e.putWord(b[i*e.Bytes:], w)
		}
	}
	return b
}

// riff wraps chunks, given as id, body, id, body …, padding each.
func riff(chunks ...string) []byte {
	var b []byte
	for i := 0; i < len(chunks); i += 2 {
		b = append(b, chunks[i]...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(chunks[i+1])))
		b = append(b, chunks[i+1]...)
		if len(chunks[i+1])%2 == 1 {
			b = append(b, 0)
		}
	}
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(b)))
	return append(append(head, "WAVE"...), b...)
}

// fmtBody returns the body of a fmt chunk.
func fmtBody(code, channels, rate, bits int) string {
	align := channels * bits / 8
	b := binary.LittleEndian.AppendUint16(nil, uint16(code))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*align))
	b = binary.LittleEndian.AppendUint16(b, uint16(align))
	return string(binary.LittleEndian.AppendUint16(b, uint16(bits)))
}

// extensible returns the body of an extensible fmt chunk.
func extensible(code, channels, rate, bits, valid int) string {
	b := []byte(fmtBody(codeExtensible, channels, rate, bits))
	b = append(b, 22, 0, byte(valid), 0, 0, 0, 0, 0, byte(code), byte(code>>8))
	return string(b) + guidTail
}

// sph returns a SPHERE file with the given header lines.
func sph(data []byte, lines ...string) []byte {
	h := "NIST_1A\n   1024\n" + strings.Join(lines, "\n") + "\nend_head\n"
	return append([]byte(h+strings.Repeat(" ", 1024-len(h))), data...)
}

type goodFile struct {
	name     string
	file     []byte
	encoding Encoding
	channels int
	data     []byte
}

func goodFiles() []goodFile {
	var out []goodFile
	const frames = 37
	for _, ch := range []int{1, 2, 5} {
		for _, e := range []Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64} {
			code := codePCM
			if e.Float {
				code = codeFloat
			}
			data := randomData(e, ch*frames)
			out = append(out,
				goodFile{fmt.Sprintf("wav %v %d channels", e, ch), riff("fmt ", fmtBody(code, ch, 16000, 8*e.Bytes), "data", string(data)), e, ch, data},
				goodFile{fmt.Sprintf("extensible %v %d channels", e, ch), riff("JUNK", "odd", "fmt ", extensible(code, ch, 44100, 8*e.Bytes, 8*e.Bytes),
					"data", string(data), "LIST", "INFOodd"), e, ch, data})
		}
		out = append(out, more(ch, frames)...)
		for width := 1; width <= 4; width++ {
			for _, order := range []string{"0123"[:width], "3210"[4-width:], "01", "10"} { // the last two as sox writes them
				e := Encoding{Bytes: width, BigEndian: width > 1 && order[0] != '0'}
				data := randomData(e, ch*frames)
				out = append(out, goodFile{fmt.Sprintf("sphere %d bytes order %s %d channels", width, order, ch),
					sph(data, "sample_rate -i 16000", fmt.Sprintf("channel_count -i %d", ch), fmt.Sprintf("sample_n_bytes -i %d", width),
						fmt.Sprintf("sample_byte_format -s%d %s", len(order), order), fmt.Sprintf("sample_count -i %d", frames)), e, ch, data})
			}
		}
	}
	return out
}

// more returns files of the other containers, including unknown chunks.
func more(ch, frames int) (out []goodFile) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24, Float32, Float64} {
		code := codePCM
		if e.Float {
			code = codeFloat
		}
		data, body := randomData(e, ch*frames), fmtBody(code, ch, 96_000, 8*e.Bytes)
		long := riff("ds64", ds64(len(data), "LIST", 5), "bext", "odd", "fmt ", body, "data", string(data), "LIST", "title")
		at := bytes.Index(long, []byte("data"))
		binary.LittleEndian.PutUint32(long[at+4:], unknownSize)
		for _, magic := range []string{"RF64\xff\xff\xff\xff", "BW64\xff\xff\xff\xff"} {
			copy(long, magic)
			out = append(out, goodFile{fmt.Sprintf("%.4s %v %d channels", magic, e, ch), bytes.Clone(long), e, ch, data})
		}
		out = append(out, goodFile{fmt.Sprintf("w64 %v %d channels", e, ch), w64("junk", "odd", "fmt ", body, "data", string(data), "levl", "12345"), e, ch, data})
	}
	for _, c := range []struct {
		coding string
		bits   int
		e      Encoding
	}{
		{"", 8, Encoding{Bytes: 1, BigEndian: true}}, {"", 16, Encoding{Bytes: 2, BigEndian: true}}, {"", 24, Encoding{Bytes: 3, BigEndian: true}},
		{"NONE", 32, Encoding{Bytes: 4, BigEndian: true}}, {"sowt", 16, PCM16}, {"fl32", 32, Encoding{Bytes: 4, Float: true, BigEndian: true}},
		{"FL64", 64, Encoding{Bytes: 8, Float: true, BigEndian: true}},
	} {
		data := randomData(c.e, ch*frames)
		comm, sound := comm(ch, frames, c.bits, c.coding), "\x00\x00\x00\x02\x00\x00\x00\x00xx"+string(data)
		name := fmt.Sprintf("aiff %s %d bits %d channels", c.coding, c.bits, ch)
		out = append(out, goodFile{name, aiff(c.coding != "", "MARK", "odd", "COMM", comm, "SSND", sound, "NAME", "title"), c.e, ch, data},
			goodFile{name + ", samples first", aiff(c.coding != "", "SSND", sound, "COMM", comm), c.e, ch, data})
	}
	return out
}

// ds64 returns the body of a ds64 chunk with the size of the data and of another chunk.
func ds64(data int, id string, size int) string {
	b := make([]byte, 8, 40)
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(data)), 0)
	b = append(binary.LittleEndian.AppendUint32(b, 1), id...)
	return string(binary.LittleEndian.AppendUint64(b, uint64(size)))
}

// w64 returns a Wave64 file of chunks.
func w64(chunks ...string) []byte {
	b := append(make([]byte, 24), "wave"+w64Tail...)
	for i := 0; i < len(chunks); i += 2 {
		b = append(b, chunks[i]+w64Tail...)
		b = binary.LittleEndian.AppendUint64(b, uint64(24+len(chunks[i+1])))
		b = append(b, chunks[i+1]...)
		b = append(b, make([]byte, -len(b)&7)...)
	}
	copy(b, w64Riff)
	binary.LittleEndian.PutUint64(b[16:], uint64(len(b)))
	return b
}

// comm returns the body of a COMM chunk, at 44 100 Hz.
func comm(channels, frames, bits int, coding string) string {
	b := binary.BigEndian.AppendUint16(nil, uint16(channels))
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(b, uint32(frames)), uint16(bits))
	b = append(b, 0x40, 0x0e, 0xac, 0x44, 0, 0, 0, 0, 0, 0)
	if coding != "" {
		b = append(b, coding+"\x04name\x00"...)
	}
	return string(b)
}

// aiff returns an AIFF or AIFF-C file of chunks.
func aiff(packed bool, chunks ...string) []byte {
	b := []byte("FORM\x00\x00\x00\x00AIFF")
	if packed {
		b[11] = 'C'
	}
	for i := 0; i < len(chunks); i += 2 {
		b = binary.BigEndian.AppendUint32(append(b, chunks[i]...), uint32(len(chunks[i+1])))
		b = append(b, chunks[i+1]...)
		b = append(b, make([]byte, len(b)&1)...)
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}
