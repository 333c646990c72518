package audio

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestParseGap(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Gap
	}{
		{"1200:1240", Gap{Start: 1200, End: 1240}}, {"0:1", Gap{Start: 0, End: 1}}, {" 5 : 6 ", Gap{Start: 5, End: 6}}, {"0.5s:0.52s", Gap{Start: 8000, End: 8320}},
		{"500ms:520ms", Gap{Start: 8000, End: 8320}}, {"0.5s:8040", Gap{Start: 8000, End: 8040}}, {".25s:1s", Gap{Start: 4000, End: 16000}},
		{"0.03ms:0.1ms", Gap{Start: 0, End: 2}}, // 0.48 and 1.6 samples
		{"1:02.500-1:02.540", Gap{Start: 1_000_000, End: 1_000_640}}, {"0:00.5-8040@2", Gap{Start: 8000, End: 8040, Channel: 2}},
		{"1:00:00 - 01:00:01.", Gap{Start: 57_600_000, End: 57_616_000}}, {"0:59-99:00", Gap{Start: 944_000, End: 95_040_000}},
		{"0.5s-520ms", Gap{Start: 8000, End: 8320}}, {"1200-1240", Gap{Start: 1200, End: 1240}},
	} {
		testkit.Equal(t, testkit.Must(ParseGap(c.in, 16000))(t), c.want, c.in)
	}
	for _, in := range []string{
		"", ":", "5", "5:", ":5", "5:5", "6:5", "-1:5", "1.5:2", "0x10:20", "+1:2", "1e3:2e3", "NaNs:1s", "infs:1s", "-1s:1s",
		"1h:2h", "1:2:3", "1:2:3:4", "0:60-1:05", "1:60:00-2:00:00", "1:2:3:4-5:0", "1:02s-1:03s", "0:5-", "0:-1-0:2", "0:1.2.3-0:2", "s:ms", "1e3s:2e3s", "0.1s:0.1s", "99999999999999999999:5", "1:9007199254740993", "1s:99999999999999s",
	} {
		testkit.Fails(t, testkit.Error(ParseGap(in, 16000)), ErrGaps, "", in)
	}
}

func TestCheckGaps(t *testing.T) {
	in := []Gap{{Start: 50, End: 60}, {Start: 10, End: 20}, {Start: 20, End: 30}, {Start: 99, End: 100}}
	before := slices.Clone(in)
	got := testkit.Must(CheckGaps(in, 100, 1))(t)
	testkit.Equal(t, got, []Gap{{Start: 10, End: 30}, {Start: 50, End: 60}, {Start: 99, End: 100}}, "gaps")
	apart := []Gap{{Start: 10, End: 20, Clipped: true}, {Start: 20, End: 30}, {Start: 30, End: 32, Click: true}, {Start: 32, End: 40}}
	testkit.Equal(t, testkit.Must(CheckGaps(apart, 100, 1))(t), apart, "clipped samples and a click next to missing ones")
	clicks := []Gap{{Start: 10, End: 12, Click: true}, {Start: 12, End: 15, Click: true}}
	testkit.Equal(t, testkit.Must(CheckGaps(clicks, 100, 1))(t), []Gap{{Start: 10, End: 15, Click: true}}, "adjacent clicks")
	testkit.Equal(t, in, before, "the argument")
	testkit.Equal(t, Missing(got), 31, "missing samples")
	mask := Mask(got, 100)
	if mask[9] || !mask[10] || !mask[29] || mask[30] || !mask[99] {
		t.Error("mask is off by one")
	}
	for _, bad := range []struct {
		gaps []Gap
		want string
	}{
		{nil, "list is empty"}, {[]Gap{{Start: 5, End: 5}}, "empty"}, {[]Gap{{Start: 6, End: 5}}, "before start"}, {[]Gap{{Start: -1, End: 5}}, "negative"},
		{[]Gap{{Start: 90, End: 101}}, "ends at sample 100"}, {[]Gap{{Start: 10, End: 20}, {Start: 19, End: 30}}, "overlaps"}, {[]Gap{{Start: 1, End: 2}, {Start: 1, End: 2}}, "overlaps"},
		{[]Gap{{Start: 0, End: 100}}, "cover all 100 samples"}, {[]Gap{{Start: 50, End: 100}, {Start: 0, End: 50}}, "cover all 100 samples"},
	} {
		testkit.Fails(t, testkit.Error(CheckGaps(bad.gaps, 100, 1)), ErrGaps, bad.want, bad.gaps)
	}
}

// TestReadGaps checks CSV files with gaps in samples or times, and Audacity labels. Errors must name the line.
func TestReadGaps(t *testing.T) {
	plain := []Gap{{Start: 1, End: 5}, {Start: 9, End: 12}}
	labels := []Gap{{Start: 4000, End: 4160}, {Start: 12_000, End: 16_000, Channel: 2}, {Start: 1, End: 2}}
	for in, want := range map[string][]Gap{
		"":                                       nil,
		"start,end\n":                            nil,
		"start,end\n1,5\n9,12\n":                 plain,
		"\ufeffstart, end\r\n 1 , 5\r\n\r\n9,12": plain,
		"\"start\",\"end\"\n1,5\n9,12\n":         plain,
		"start,end,channel,label\n4000,4160,,clicks 97%\n12000,16000,2, clipped \n": {
			{Start: 4000, End: 4160, Click: true}, {Start: 12_000, End: 16_000, Channel: 2, Clipped: true}},
		"0.5\t0.52\tclipped 99% @1\n": {{Start: 4000, End: 4160, Channel: 1, Clipped: true}},
		"start,end,channel\n5ms,0.01s,\n100,25ms, 2\n": {
			{Start: 40, End: 80}, {Start: 100, End: 200, Channel: 2}},
		"0.5\t0.52\tclick\n1.5\t2.0\tdrop @2\n0.000125\t0.00025\t\n":                              labels,
		"0.5\t0.52\ta@b @x\n\n1.5\t2.0\t @2 \n0.000125\t0.00025\tmail@home":                       labels,
		"start,end\n0:00.5,0:00.52\n0:01.5,0:00:02\n":                                             {{Start: 4000, End: 4160}, {Start: 12_000, End: 16_000}},
		"\ufeff0,5\t0,52\tclick\r\n\\\t100.0\t200.0\r\n1,5\t2,0\tdrop@2\r\n0,000125\t0,00025\r\n": labels,
	} {
		testkit.Equal(t, testkit.Must(ReadGaps(strings.NewReader(in), 8000))(t), want, in)
	}
	for _, c := range []struct{ in, want string }{
		{"1,2\n", "header"}, {"end,start\n1,2\n", "header"}, {"start,end\n1,5\n1;2\n", "line 3"},
		{"start,end\n1,2,3\n", "line 2"}, {"start,end\n5,2\n", "line 2"}, {"start,end\n1,x\n", "line 2"}, {"start,end\n1,2.5\n", "line 2"},
		{"start,end\n\"1,2\n", "line"}, {"start,end\n-1,2\n", "negative"}, {"start,end\n1,9223372036854775807\n", "line 2"},
		{"start,end,channel\n5ms,0.01s,\n100,12.5ms,2\n", "empty"}, {"start,end,channel\n1,2,0\n", "line 2"},
		{"start,end,channel\n1,2,x\n", "line 2"}, {"start,end,channel\n1,2\n", "line 2"},
		{"1\t1\tpoint\n", "region"}, {"0.5\t0.6\n1\t0.5\tback\n", "line 2"}, {"1\tx\t\n", "line 1"}, {"0.5\t0.6\nend\n", "line 2"},
		{"1\tNaN\t\n", "NaN"}, {"1\t1e300\t\n", "1e300"}, {"-1\t2\t\n", "negative"}, {"1\t2\t" + strings.Repeat("x", 1<<17), "too long"},
	} {
		testkit.Fails(t, testkit.Error(ReadGaps(strings.NewReader(c.in), 8000)), ErrGaps, c.want, c.in)
	}
}

// TestLabelsRoundTrip checks that labels preserve sample positions at any rate, ten hours into a recording.
func TestLabelsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rate := range []int{1, 8000, 11_025, 22_050, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000} {
		var labels []Label
		var want []Label
		for i := range 2000 {
			start := rng.IntN(36_000 * rate)
			g := Gap{Start: start, End: start + 1 + rng.IntN(100), Channel: i % 3}
			want, labels = append(want, Label{g, "click  97%", i + 1}), append(labels, Label{Gap: g, Text: "click\t\n97%"})
		}
		var b bytes.Buffer
		testkit.OK(t, WriteLabels(&b, rate, labels))
		testkit.Equal(t, testkit.Must(ReadLabels(&b, rate))(t), want, rate, " Hz")
	}
	testkit.Fails(t, WriteLabels(nil, 8000, nil), ErrArgument, "", "labels to nil")
}

// cueBody returns the body of a cue chunk with points at samples, numbered from 7.
func cueBody(samples ...uint32) string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(samples)))
	for i, s := range samples {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(7+i)), uint32(i))
		b = append(b, "data\x00\x00\x00\x00\x00\x00\x00\x00"...)
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return string(b)
}

// adtl returns the body of an associated data list with labels for all points from 7 on, and with their lengths except if 0.
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

// TestRegionsAreReadFromCues checks that regions are read from chunks before and after the samples. Points without length or out of range are ignored.
func TestRegionsAreReadFromCues(t *testing.T) {
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
		"after":         {riff("fmt ", pcm, "data", data, "LIST", "INFOodd", "cue ", points, "LIST", list), want},
		"before":        {riff("LIST", list, "cue ", points, "fmt ", pcm, "data", data), want},
		"RF64":          {long, want},
		"streamed":      {streamed, want},
		"list is empty": {riff("fmt ", pcm, "data", data), nil},
		"no list":       {riff("fmt ", pcm, "data", data, "cue ", points), nil},
		"cut":           {riff("fmt ", pcm, "data", data, "cue ", points[:50], "LIST", list[:60]), want[:0]},
		"W64":           {w64("fmt ", pcm, "data", data, "cue ", points, "LIST", list), nil},
	} {
		f, _ := salvaged(t, c.file) // a streamed file is damaged
		got, err := f.Cues()
		if name == "cut" {
			got = got[:0]
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	testkit.Fails(t, testkit.Error((&File{}).Cues()), ErrArgument, "", "cues of nothing")
}
