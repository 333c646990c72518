package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestClippedSoundIsRestored clips a sound of 16 bits at full scale and repairs it by the command. The output must be closer to the
// undamaged sound, at a level that the printed gain reproduces: lowered by default, with peaks above full scale as floats, and
// with the peaks clipped again at the input's level.
func TestClippedSoundIsRestored(t *testing.T) {
	dir, rate, over := t.TempDir(), 16_000, 4.0
	in := func(name string) string { return filepath.Join(dir, name) }
	speech := testkit.Must(audio.Open("../../testdata/speech.wav"))(t)
	x := speech.Samples[0][8000:14_000]
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	samples, loud := make([]int16, len(x)), make([]float64, len(x))
	for i, v := range x {
		loud[i] = v / top * over
		samples[i] = int16(math.RoundToEven(max(-32768, min(32767, 32768*loud[i]))))
	}
	take := testkit.Put(t, dir, "take.wav", string(wav(rate, 1, samples)))
	damaged := testkit.Must(audio.Open(take))(t).Samples[0]
	before := audio.SNR(loud, damaged, nil)
	for _, c := range []struct {
		flags string
		least float64 // increase of the signal-to-error ratio in decibels
		peak  float64 // the largest magnitude must be at least this
		most  float64
	}{
		{"", 8, 0.95, 1},
		{"--format float", 8, 1.5, over * 2},
		{"--format float --gain -6dB", 8, 0.75, over},
		{"--gain 0", -0.1, 0.99, 1}, // full scale clips the peaks again
	} {
		out := in("out.wav")
		o := succeed(t, append([]string{"repair", take, "--detect", "clipped", "--json", "--overwrite", "-o", out},
			strings.Fields(c.flags)...)...)
		gain := decode[struct {
			Gain float64 `json:"gain_db"`
		}](t, o.stdout).Gain
		y, peak := testkit.Must(audio.Open(out))(t).Samples[0], 0.0
		for i := range y {
			peak = max(peak, math.Abs(y[i]))
			y[i] /= math.Pow(10, gain/20)
		}
		if more := audio.SNR(loud, y, nil) - before; !(more > c.least) {
			t.Errorf("%q: the ratio of %.1f dB increases by %.2f dB, want more than %v", c.flags, before, more, c.least)
		}
		if !(peak >= c.peak && peak <= c.most) {
			t.Errorf("%q: the peak is %v, want %v to %v", c.flags, peak, c.peak, c.most)
		}
	}
}
