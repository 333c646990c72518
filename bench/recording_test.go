package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecordingMistakes(t *testing.T) {
	for _, args := range []string{
		"", "none.wav", "a.wav b.wav", "-minutes 0 a.wav", "-minutes NaN a.wav", "-gap 0 a.wav", "-gap 9 -every 9 a.wav", "-components 0 a.wav", "-window -1 a.wav", "-iterations -2 a.wav",
	} {
		if err := bench("recording", strings.Fields(args)...); err == nil || exitCode(err) != 2 {
			t.Errorf("%q: exit %d, %v", args, exitCode(err), err)
		}
	}
}

// TestRecording: a short one, filled better than by silence; its line has the
// bound as it rises to where the fit ended.
func TestRecording(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := bench("recording", "-minutes", "0.02", "-every", "3000", "-iterations", "4", "-out", out, "../testdata/speech.wav"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var l recordingLine
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	const rows, gaps, gap = 19200, 6, 80
	if l.N != rows-gaps*gap || l.Gaps != gaps || l.GapRows != gaps*gap || l.M != 2*20*l.V || len(l.Trace) == 0 {
		t.Errorf("%+v", l)
	}
	for i := 1; i < len(l.Trace); i++ {
		if l.Trace[i].Bound < l.Trace[i-1].Bound || l.Trace[i].Iteration <= l.Trace[i-1].Iteration {
			t.Errorf("the trace falls: %+v", l.Trace)
		}
	}
	if last := l.Trace[len(l.Trace)-1].Bound; math.Abs(last-l.Bound) > 1e-9*math.Abs(l.Bound) { // blocks in another order
		t.Errorf("the trace ends at %v, the fit at %v", last, l.Bound)
	}
	if !(l.RMSE < l.Silence) || !(l.AR < l.Silence) {
		t.Errorf("RMSE %v, autoregressive %v, silence %v", l.RMSE, l.AR, l.Silence)
	}
}
