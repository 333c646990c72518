package audio

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestLabels: labels as Audacity writes them are gaps, and what is none is told by its line.
func TestLabels(t *testing.T) {
	want := []Gap{{Start: 4000, End: 4160}, {Start: 12_000, End: 16_000, Channel: 2}, {Start: 1, End: 2}}
	for _, in := range []string{
		"0.5\t0.52\tclick\n1.5\t2.0\tdrop @2\n0.000125\t0.00025\t\n",
		"\ufeff0,5\t0,52\tclick\r\n\\\t100.0\t200.0\r\n1,5\t2,0\tdrop@2\r\n0,000125\t0,00025\r\n",
		"0.5\t0.52\ta@b @x\n\n1.5\t2.0\t @2 \n0.000125\t0.00025\tmail@home",
	} {
		if got, err := ReadGaps(strings.NewReader(in), 8000); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"1\t1\tpoint\n", "region"}, {"0.5\t0.6\n1\t0.5\tback\n", "line 2"}, {"1\tx\t\n", "line 1"}, {"0.5\t0.6\nend\n", "line 2"},
		{"1\tNaN\t\n", "NaN"}, {"1\t1e300\t\n", "1e300"}, {"-1\t2\t\n", "negative"}, {"1\t2\t" + strings.Repeat("x", 1<<17), "too long"},
	} {
		if got, err := ReadGaps(strings.NewReader(c.in), 8000); !errors.Is(err, ErrGaps) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, %v; want an ErrGaps with %q", c.in, got, err, c.want)
		}
	}
}

// TestGapsInTimes: positions of a CSV may be times, and a gap one channel's.
func TestGapsInTimes(t *testing.T) {
	got, err := ReadGaps(strings.NewReader("start,end,channel\n5ms,0.01s,\n100,12.5ms,2\n"), 8000)
	if want := []Gap{{Start: 40, End: 80}, {Start: 100, End: 100, Channel: 2}}; err == nil || got != nil {
		t.Errorf("an empty gap is read as %v, want an error, not %v", got, want)
	}
	got, err = ReadGaps(strings.NewReader("start,end,channel\n5ms,0.01s,\n100,25ms, 2\n"), 8000)
	if want := []Gap{{Start: 40, End: 80}, {Start: 100, End: 200, Channel: 2}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"start,end,channel\n1,2,0\n", "start,end,channel\n1,2,x\n", "start,end,channel\n1,2\n"} {
		if got, err := ReadGaps(strings.NewReader(bad), 8000); !errors.Is(err, ErrGaps) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

// TestLabelsRoundTrip: labels come back as the same samples at any rate, ten hours into a recording.
func TestLabelsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rate := range []int{1, 8000, 11_025, 22_050, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000} {
		var labels []Label
		var want []Gap
		for i := range 2000 {
			start := rng.IntN(36_000 * rate)
			g := Gap{Start: start, End: start + 1 + rng.IntN(100), Channel: i % 3}
			want, labels = append(want, g), append(labels, Label{g, "a click\tor\ntwo"})
		}
		var b bytes.Buffer
		if err := WriteLabels(&b, rate, labels); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadGaps(&b, rate); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d Hz: other gaps, %v", rate, err)
		}
	}
	if err := WriteLabels(nil, 8000, nil); !errors.Is(err, ErrArgument) {
		t.Errorf("labels to nil: %v", err)
	}
}
