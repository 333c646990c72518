package main

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestMatches checks that a segment is hit if half of its damage's energy is found, and that a detection is right if it
// overlaps a segment.
func TestMatches(t *testing.T) {
	gap := func(start, end int) audio.Gap { return audio.Gap{Start: start, End: end} }
	x, y := make([]float64, 100), slices.Repeat([]float64{1}, 100)
	y[16], y[17], y[18], y[19] = 2, 2, 2, 2
	damaged := []audio.Gap{gap(10, 20), gap(30, 34), gap(50, 60)}
	for _, c := range []struct {
		found      []audio.Gap
		hit, right int
	}{
		{nil, 0, 0},
		{[]audio.Gap{gap(10, 20), gap(30, 34), gap(50, 60)}, 3, 3},
		{[]audio.Gap{gap(5, 40)}, 2, 1},               // one detection, two segments
		{[]audio.Gap{gap(10, 16), gap(17, 19)}, 1, 2}, // most of the damage, in two detections
		{[]audio.Gap{gap(16, 25)}, 1, 1},              // the loudest four of ten samples
		{[]audio.Gap{gap(10, 16)}, 0, 1},              // the other six samples
		{[]audio.Gap{gap(20, 30), gap(70, 80)}, 0, 0},
	} {
		var found []detect.Found
		for _, g := range c.found {
			found = append(found, detect.Found{Gap: g})
		}
		if hit, right := matches(x, y, damaged, found); hit != c.hit || right != c.right {
			t.Errorf("%v: %d hit, %d right; want %d, %d", c.found, hit, right, c.hit, c.right)
		}
	}
}

// TestRepair checks that damage of one kind is made, found and filled, and that lines and tables are written.
func TestRepair(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lines.jsonl")
	o := &repairTask{seconds: 2, sensitivity: detect.DefaultSensitivity, seed: 1, only: string(detect.Dropouts), out: out}
	o.files = []string{"../testdata/speech.wav"}
	testkit.OK(t, o.run())
	lines, err := jsonl.Read[repairLine](out, nil)
	if err != nil || len(lines) != 6 {
		t.Fatal(len(lines), err)
	}
	for _, l := range lines {
		if l.Made == "nothing" {
			if l.Found != 0 {
				t.Errorf("%d detections in undamaged sound", l.Found)
			}
		} else if !(l.Places == 8 && l.Hit > 4 && l.Right == l.Found && l.After > l.Before+2) {
			t.Errorf("%+v", l)
		}
	}
	var shown bytes.Buffer
	showRepairs(&shown, lines)
	if n := strings.Count(shown.String(), "\n"); n != 2+6 || !strings.Contains(shown.String(), "| dropouts | zeros ±1 | 0 | 8 | ") {
		t.Errorf("%d rows:\n%s", n, &shown)
	}
	x := make([][]float64, 2)
	for i := range 16000 {
		v := math.Sin(float64(i * i % 9973)) // unpredictable from the same channel
		x[0], x[1] = append(x[0], v), append(x[1], 0.5*v)
	}
	l, err := channelLine(t.Context(), x, 8000, 0.1)
	if err != nil || l.Places != 2 || l.Joint != 2 || !(l.After > l.Before+10) || !(l.Coverage > 0.9) {
		t.Errorf("scaled copy of a channel: %+v, %v", l, err)
	}
}
