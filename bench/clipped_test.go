package main

import (
	"io"
	"math"
	"testing"
)

// TestClippedTask: the level that is searched gives the distortion asked for, the restored sound is better, and bad flags are refused.
func TestClippedTask(t *testing.T) {
	x := make([]float64, 4000)
	for i := range x {
		x[i] = 0.5*math.Sin(0.05*float64(i)) + 0.2*math.Sin(0.31*float64(i)+0.00002*float64(i*i))
	}
	o := &clippedTask{}
	for _, want := range []float64{5, 15} {
		level := o.level(x, want)
		line, err := restoreClipped(t.Context(), x, level, 8000)
		if err != nil || math.Abs(line.Input-want) > 1e-6 || !(line.Gain > 10) || !(line.Missing > 0 && line.Missing < 1) || !(line.Coverage > 0.8) {
			t.Errorf("%v dB: %+v, %v", want, line, err)
		}
	}
	o.peak = 6
	if level := o.level(x, 6); math.Abs(level/0.7-0.5) > 0.02 {
		t.Errorf("6 dB below the peak is %v", level)
	}
	for _, args := range [][]string{{"-sdr", "x", "a.wav"}, {"-sdr", "-1", "a.wav"}, {}, {"-from", "1", "a.wav"}, {"-peak", "-6", "a.wav"}} {
		if _, err := parse("clipped", args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
