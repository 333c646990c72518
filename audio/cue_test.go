package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// cueBody is the body of a cue chunk with points at samples, numbered from 7.
func cueBody(samples ...uint32) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(samples)))
	for i, s := range samples {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(7+i)), uint32(i))
		b = append(b, "data\x00\x00\x00\x00\x00\x00\x00\x00"...)
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return string(b)
}

// adtl is the body of a list of associated data with lengths of the points from 7 on, 0 for none, and labels of all.
func adtl(lengths ...uint32) string {
	b := []byte("adtl")
	for i, n := range lengths {
		id := binary.LittleEndian.AppendUint32(nil, uint32(7+i))
		b = append(append(append(b, "labl\x07\x00\x00\x00"...), id...), "ab\x00\x00"...)
		if n > 0 {
			b = append(append(b, "ltxt\x14\x00\x00\x00"...), id...)
			b = append(binary.LittleEndian.AppendUint32(b, n), "rgn \x00\x00\x00\x00\x00\x00\x00\x00"...)
		}
	}
	return string(b)
}

// TestCues: regions are read before and behind the samples, of points without lengths or outside there is nothing.
func TestCues(t *testing.T) {
	pcm, data := fmtBody(1, 1, 8000, 16), strings.Repeat("\x01\x02", 101)
	want := []Gap{{Start: 10, End: 20}, {Start: 90, End: 101}}
	points, list := cueBody(90, 10, 50, 95), adtl(11, 10, 0, 7)
	long := riff("ds64", ds64(len(data), "JUNK", 1), "fmt ", pcm, "data", data, "cue ", points, "LIST", list)
	copy(long, "RF64")
	binary.LittleEndian.PutUint32(long[bytes.Index(long, []byte("data"))+4:], unknownSize)
	streamed := riff("cue ", points, "LIST", list, "fmt ", pcm, "data", data)
	binary.LittleEndian.PutUint32(streamed[4:], unknownSize)
	binary.LittleEndian.PutUint32(streamed[bytes.LastIndex(streamed, []byte("data"))+4:], unknownSize)
	for name, c := range map[string]struct {
		file []byte
		want []Gap
	}{
		"behind":   {riff("fmt ", pcm, "data", data, "LIST", "INFOodd", "cue ", points, "LIST", list), want},
		"before":   {riff("LIST", list, "cue ", points, "fmt ", pcm, "data", data), want},
		"RF64":     {long, want},
		"streamed": {streamed, want},
		"none":     {riff("fmt ", pcm, "data", data), nil},
		"no list":  {riff("fmt ", pcm, "data", data, "cue ", points), nil},
		"cut":      {riff("fmt ", pcm, "data", data, "cue ", points[:50], "LIST", list[:60]), want[:0]},
		"W64":      {w64("fmt ", pcm, "data", data, "cue ", points, "LIST", list), nil},
	} {
		f, err := NewFile(bytes.NewReader(c.file), int64(len(c.file)))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := f.Cues()
		if name == "cut" {
			got = got[:0]
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	if _, err := (&File{}).Cues(); !errors.Is(err, ErrArgument) {
		t.Errorf("cues of nothing: %v", err)
	}
}
