package audio

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseGap(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Gap
	}{
		{"1200:1240", Gap{Start: 1200, End: 1240}}, {"0:1", Gap{Start: 0, End: 1}}, {" 5 : 6 ", Gap{Start: 5, End: 6}}, {"0.5s:0.52s", Gap{Start: 8000, End: 8320}},
		{"500ms:520ms", Gap{Start: 8000, End: 8320}}, {"0.5s:8040", Gap{Start: 8000, End: 8040}}, {".25s:1s", Gap{Start: 4000, End: 16000}},
		{"0.03ms:0.1ms", Gap{Start: 0, End: 2}}, // 0.48 and 1.6 samples
	} {
		if got, err := ParseGap(c.in, 16000); err != nil || got != c.want {
			t.Errorf("%q: %v, %v; want %v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", ":", "5", "5:", ":5", "5:5", "6:5", "-1:5", "1.5:2", "0x10:20", "+1:2", "1e3:2e3", "NaNs:1s", "infs:1s", "-1s:1s",
		"1h:2h", "1:2:3", "s:ms", "1e3s:2e3s", "0.1s:0.1s", "99999999999999999999:5", "1:9007199254740993", "1s:99999999999999s",
	} {
		if got, err := ParseGap(in, 16000); !errors.Is(err, ErrGaps) {
			t.Errorf("%q: %v, %v; want ErrGaps", in, got, err)
		}
	}
}

func TestCheckGaps(t *testing.T) {
	in := []Gap{{Start: 50, End: 60}, {Start: 10, End: 20}, {Start: 20, End: 30}, {Start: 99, End: 100}}
	before := slices.Clone(in)
	got, err := CheckGaps(in, 100, 1)
	if want := []Gap{{Start: 10, End: 30}, {Start: 50, End: 60}, {Start: 99, End: 100}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	apart := []Gap{{Start: 10, End: 20, Clipped: true}, {Start: 20, End: 30}}
	if got, err := CheckGaps(apart, 100, 1); err != nil || !slices.Equal(got, apart) {
		t.Errorf("clipped samples beside missing ones: %v, %v; want %v", got, err, apart)
	}
	if !slices.Equal(in, before) {
		t.Error("the argument was changed")
	}
	if n := Missing(got); n != 31 {
		t.Errorf("%d missing, want 31", n)
	}
	mask := Mask(got, 100)
	if mask[9] || !mask[10] || !mask[29] || mask[30] || !mask[99] {
		t.Error("mask is off by one")
	}
	for _, bad := range []struct {
		gaps []Gap
		want string
	}{
		{nil, "none"}, {[]Gap{{Start: 5, End: 5}}, "empty"}, {[]Gap{{Start: 6, End: 5}}, "before start"}, {[]Gap{{Start: -1, End: 5}}, "negative"},
		{[]Gap{{Start: 90, End: 101}}, "ends at sample 100"}, {[]Gap{{Start: 10, End: 20}, {Start: 19, End: 30}}, "overlaps"}, {[]Gap{{Start: 1, End: 2}, {Start: 1, End: 2}}, "overlaps"},
		{[]Gap{{Start: 0, End: 100}}, "nothing is left"}, {[]Gap{{Start: 50, End: 100}, {Start: 0, End: 50}}, "nothing is left"},
	} {
		if got, err := CheckGaps(bad.gaps, 100, 1); !errors.Is(err, ErrGaps) || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v: %v, %v; want an ErrGaps with %q", bad.gaps, got, err, bad.want)
		}
	}
}

func TestGapsCSV(t *testing.T) {
	for _, in := range []string{"start,end\n1,5\n9,12\n", "\ufeffstart, end\r\n 1 , 5\r\n\r\n9,12", "\"start\",\"end\"\n1,5\n9,12\n"} {
		got, err := ReadGaps(strings.NewReader(in), 8000)
		if want := []Gap{{Start: 1, End: 5}, {Start: 9, End: 12}}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"", "line 1"}, {"start,end\n", "no gap"}, {"1,2\n", "header"}, {"end,start\n1,2\n", "header"}, {"start,end\n1,5\n1;2\n", "line 3"},
		{"start,end\n1,2,3\n", "line 2"}, {"start,end\n5,2\n", "line 2"}, {"start,end\n1,x\n", "line 2"}, {"start,end\n1,2.5\n", "line 2"},
		{"start,end\n\"1,2\n", "line"}, {"start,end\n-1,2\n", "negative"}, {"start,end\n1,9223372036854775807\n", "line 2"},
	} {
		if got, err := ReadGaps(strings.NewReader(c.in), 8000); !errors.Is(err, ErrGaps) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want an ErrGaps with %q", c.in, got, err, c.want)
		}
	}
}
