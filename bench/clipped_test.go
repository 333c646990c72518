package main

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestClipAt checks that clipping at full scale causes the ratio that is asked for.
func TestClipAt(t *testing.T) {
	x := testkit.Must(audio.Open("../testdata/speech.wav"))(t).Samples[0]
	for _, ratio := range []float64{1, 7, 15} {
		loud, y := clipAt(x, ratio)
		if got := audio.SNR(loud, y, nil); math.Abs(got-ratio) > 0.01 {
			t.Errorf("%v dB: got %v", ratio, got)
		}
		for i, v := range y {
			if v*32768 != math.Round(v*32768) || math.Abs(v) > fullScale || math.Abs(loud[i]) > 1 && math.Abs(v) != fullScale {
				t.Fatalf("%v dB: %v became %v", ratio, loud[i], v)
			}
		}
	}
}

// TestClippedTask checks that clipped sound is restored, that a line is written for it, and that a program that is missing has a
// row with the reason.
func TestClippedTask(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lines.jsonl")
	args := []string{"-sdr", "10", "-seconds", "0.3", "-method", "vssgp,spade", "-python", "missing-python", "-out", out}
	testkit.OK(t, bench("clipped", append(args, "../testdata/speech.wav")...))
	lines, err := jsonl.Read[clippedLine](out, nil)
	if err != nil || len(lines) != 2 {
		t.Fatal(len(lines), err)
	}
	l := lines[0]
	if !(l.All > 5 && math.Abs(l.All-l.Clipped) < 0.1 && l.Found > 0.95 && l.Wrong < 0.05 && l.Covered > 0.3 && l.Covered <= 1 && l.Missing > 0.01) {
		t.Errorf("%+v", l)
	}
	if !strings.HasPrefix(lines[1].Status, "failed") {
		t.Errorf("%+v", lines[1])
	}
	var shown bytes.Buffer
	showClipped(&shown, lines)
	testkit.Contains(t, shown.String(), "| 10 | vssgp | ", "| 10 | spade | failed: ")
}

// TestClippedPeers checks that the samples reach another program and come back, and that samples that it omits at the end are
// not changed.
func TestClippedPeers(t *testing.T) {
	clippedPeers["test"] = func(_ *clippedTask, _, in, out string, _ int, _ float64) []string {
		return []string{"sh", "-c", "head -c 16 " + in + " | tail -c 8 > " + out}
	}
	defer delete(clippedPeers, "test")
	z, _, err := (&clippedTask{}).restorePeer(t.Context(), "test", []float64{1, 2, 3}, 8000, 1)
	if err != nil || z[0] != 2 || z[1] != 2 || z[2] != 3 {
		t.Errorf("%v, %v", z, err)
	}
}
