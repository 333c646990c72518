package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestBadFiles(t *testing.T) {
	pcm := fmtBody(1, 1, 16000, 16)
	with := func(file []byte, at int, v uint32) []byte {
		file = slices.Clone(file)
		binary.LittleEndian.PutUint32(file[at:], v)
		return file
	}
	good := riff("fmt ", pcm, "data", "\x01\x02\x03\x04")
	nan := binary.LittleEndian.AppendUint32(nil, 0)
	nan = binary.LittleEndian.AppendUint32(nan, math.Float32bits(float32(math.NaN())))
	inf := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(-1)))
	badAlign := []byte(pcm)
	badAlign[12] = 4
	shorten := sph([]byte("ajkg\x02data"), "sample_rate -i 16000", "sample_coding -s26 pcm,embedded-shorten-v2.00")
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"text", []byte("hello, world"), `"hello, w"`},
		{"RIFF only", []byte("RIFF\x00\x00"), "inside the RIFF header"},
		{"AVI", []byte("RIFF\x00\x00\x00\x00AVI LIST"), `"AVI "`},
		{"RF64", []byte("RF64\xff\xff\xff\xffWAVEds64"), "ds64"},
		{"no chunks", good[:12], `before its "fmt " chunk`},
		{"no data", good[:36], `before its "data" chunk`},
		{"data first", riff("data", "\x01\x02", "fmt ", pcm), `before "fmt "`},
		{"two formats", riff("fmt ", pcm, "fmt ", pcm, "data", "\x01\x02"), "second"},
		{"short fmt", riff("fmt ", pcm[:14], "data", "\x01\x02"), "want at least 16"},
		{"fmt absurd", with(good, 16, 0xFFFFFFF0), "claims 4294967280 bytes"},
		{"data absurd", with(good, 40, 0xFFFFFFFF), "claims 4294967295 bytes"},
		{"data absurd 31", with(good, 40, 0x7FFFFFFF), "truncated"},
		{"truncated", good[:46], "truncated"},
		{"no samples", riff("fmt ", pcm, "data", ""), "no samples"},
		{"half a frame", riff("fmt ", pcm, "data", "\x01\x02\x03"), "whole frames of 2"},
		{"no channels", riff("fmt ", fmtBody(1, 0, 16000, 16), "data", "\x01\x02"), "0 channels"},
		{"no rate", riff("fmt ", fmtBody(1, 1, 0, 16), "data", "\x01\x02"), "0 samples a second"},
		{"rate absurd", riff("fmt ", fmtBody(1, 1, 0xFFFFFFFF, 16), "data", "\x01\x02"), "4294967295 samples a second"},
		{"12 bits", riff("fmt ", fmtBody(1, 1, 16000, 12), "data", "\x01\x02"), "want 8, 16, 24 or 32"},
		{"16-bit float", riff("fmt ", fmtBody(3, 1, 16000, 16), "data", "\x01\x02"), "want 32 or 64"},
		{"bad align", riff("fmt ", string(badAlign), "data", "\x01\x02"), "block align is 4; want 2"},
		{"A-law", riff("fmt ", fmtBody(6, 1, 8000, 8), "data", "\x01\x02"), "A-law"},
		{"ADPCM", riff("fmt ", fmtBody(0x11, 1, 8000, 8), "data", "\x01\x02"), "IMA ADPCM"},
		{"MP3", riff("fmt ", fmtBody(0x55, 1, 8000, 8), "data", "\x01\x02"), "MP3"},
		{"extensible mu-law", riff("fmt ", extensible(7, 1, 8000, 8, 8), "data", "\x01\x02"), "mu-law"},
		{"extensible short", riff("fmt ", fmtBody(codeExtensible, 1, 8000, 16), "data", "\x01\x02"), "want 40"},
		{"extensible GUID", riff("fmt ", extensible(1, 1, 8000, 16, 16)[:39]+"x", "data", "\x01\x02"), "GUID"},
		{"valid bits", riff("fmt ", extensible(1, 1, 8000, 16, 17), "data", "\x01\x02"), "17 valid bits"},
		{"NaN", riff("fmt ", fmtBody(3, 1, 8000, 32), "data", string(nan)), "offset 48: sample 1 of channel 0 is NaN"},
		{"infinite", riff("fmt ", fmtBody(3, 1, 8000, 64), "data", string(inf)), "sample 0 of channel 0 is -Inf"},
		{"sphere header length", []byte("NIST_1A\n  -1024\n          "), "header length"},
		{"sphere header absurd", []byte("NIST_1A\n9999999\nend_head\n"), "truncated"},
		{"sphere no end", []byte("NIST_1A\n     32\nsample_rate -i 16"), "no end_head"},
		{"sphere junk line", sph([]byte("ab"), "garbage"), "NAME -TYPE VALUE"},
		{"sphere no rate", sph([]byte("ab")), "sample_rate"},
		{"sphere rate 0", sph([]byte("ab"), "sample_rate -i 0"), "sample_rate is 0"},
		{"sphere rate half", sph([]byte("ab"), "sample_rate -r 0.5"), "whole number"},
		{"sphere no samples", sph(nil, "sample_rate -i 8000"), "sample_count"},
		{"sphere truncated", sph([]byte("ab"), "sample_rate -i 8000", "sample_count -i 2"), "truncated"},
		{"sphere count absurd", sph([]byte("ab"), "sample_rate -i 8000", "sample_count -i 9223372036854775807"), "truncated"},
		{"sphere channels", sph([]byte("ab"), "sample_rate -i 8000", "channel_count -i 0"), "channel_count is 0"},
		{"sphere width", sph([]byte("ab"), "sample_rate -i 8000", "sample_n_bytes -i 5"), "sample_n_bytes is 5"},
		{"sphere order", sph([]byte("ab"), "sample_rate -i 8000", "sample_byte_format -s2 11"), "sample_byte_format"},
		{"sphere order long", sph([]byte("ab"), "sample_rate -i 8000", "sample_byte_format -s8 shortpack"), "sample_n_bytes"},
		{"sphere ulaw", sph([]byte("ab"), "sample_rate -i 8000", "sample_coding -s4 ulaw"), "ulaw"},
		{"sphere channels apart", sph([]byte("ab"), "sample_rate -i 8000", "channels_interleaved -s5 FALSE"), "channels_interleaved \"FALSE\"; want TRUE"},
		{"sphere shorten", shorten, "shorten"},
		{"sphere bare shorten", sph([]byte("ajkg\x02data"), "sample_rate -i 16000"), "shorten"},
	} {
		_, err := Decode(c.file)
		if !errors.Is(err, ErrFormat) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v; want an ErrFormat with %q", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: message of more than one line: %v", c.name, err)
		}
	}
}
