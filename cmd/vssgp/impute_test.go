package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/table"
)

// quick are model flags that make a small and fast model of a tone.
var quick = []string{"--components", "6", "--iterations", "8", "--context", "40ms"}

// damaged is a recording of a tone and the same with other samples in the gap
// 600:620.
func damaged(t *testing.T, dir string, with int16) (clean, cut string, samples []int16) {
	t.Helper()
	samples = tone(1200, 8000)
	clean = testkit.Put(t, dir, "clean.wav", string(wav(8000, 1, samples)))
	spoilt := append([]int16(nil), samples...)
	for i := 600; i < 620; i++ {
		spoilt[i] = with
	}
	return clean, testkit.Put(t, dir, fmt.Sprintf("cut%d.wav", with), string(wav(8000, 1, spoilt))), samples
}

// imputed is what impute --json prints, as another program would read it.
type imputed struct {
	Method     string
	Device     string
	Seconds    float64
	Iterations int
	Bound      *float64
	Rate       int
	Gaps       [][2]int
	Doubts     []struct {
		Start, End, Channel int
		Reason              string
	}
	Models []string
	Scores map[string]map[string]float64
}

func TestImpute(t *testing.T) {
	dir := t.TempDir()
	clean, cut, samples := damaged(t, dir, 0)
	in := func(name string) string { return filepath.Join(dir, name) }
	args := append([]string{"impute", cut, "--detect", "zeros", "--reference", clean, "--json", "-o", in("out.wav"),
		"--sd", in("sd.csv"), "--report", in("report.html"), "--draws", "2", "--model", in("m.safetensors")}, quick...)
	r := decode[imputed](t, succeed(t, args...).stdout)
	if r.Method != "vssgp" || r.Device != "cpu" || r.Rate != 8000 || len(r.Gaps) != 1 || r.Gaps[0] != [2]int{600, 620} || r.Iterations < 1 || r.Seconds <= 0 || r.Bound == nil {
		t.Errorf("result %+v", r)
	}
	truth := make([]float64, len(samples))
	for i, v := range samples {
		truth[i] = float64(v) / (1 << 15)
	}
	gap := []audio.Gap{{Start: 600, End: 620}}
	ar, err := restore.Fill(t.Context(), [][]float64{truth}, 8000, gap, restore.Options{Method: restore.AR})
	if err != nil {
		t.Fatal(err)
	}
	simple := map[string]float64{} // RMSE of the methods without a model
	for name, fill := range map[string][]float64{"silence": audio.FillSilence(truth, gap), "linear": audio.FillLinear(truth, gap), "ar": ar.Filled[0]} {
		simple[name] = audio.RMSE(truth, fill, audio.Mask(gap, len(truth)))
		if got := r.Scores[name]["test_rmse"]; math.Abs(got-simple[name]) > 1e-9 {
			t.Errorf("%s: test RMSE %v, want %v", name, got, simple[name])
		}
	}
	for _, method := range []string{"vssgp", "silence", "linear", "ar"} {
		for _, score := range []string{"train_rmse", "test_rmse", "train_stft_rmse", "test_stft_rmse"} {
			if _, ok := r.Scores[method][score]; !ok {
				t.Errorf("no score %s of %s", score, method)
			}
		}
	}
	if c := r.Scores["vssgp"]["coverage95"]; !(c > 0.5 && c <= 1) {
		t.Errorf("coverage %v", c)
	}
	if v, s := r.Scores["vssgp"]["test_rmse"], r.Scores["silence"]["test_rmse"]; !(v < 0.2*s) {
		t.Errorf("test error %v, silence %v: want a fill far better than none", v, s)
	}
	for _, name := range []string{"out.wav", "out-1.wav", "out-2.wav"} {
		checkFilled(t, testkit.Read(t, cut), testkit.Read(t, in(name)), samples)
	}
	if string(testkit.Read(t, in("out-1.wav"))) == string(testkit.Read(t, in("out-2.wav"))) {
		t.Error("two draws are the same")
	}
	sd, err := table.Open(in("sd.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if sd.Rows != 20 || strings.Join(sd.Names, ",") != "sample,channel,sd" || sd.Data[0] != 600 || !(sd.Data[2] > 0) {
		t.Errorf("standard deviations: %d rows of %v, first %v", sd.Rows, sd.Names, sd.Data[:3])
	}
	page := string(testkit.Read(t, in("report.html")))
	for _, word := range []string{"coverage", "samples 600 to 620", "--detect", "cut0.wav", "Play gap 1", "Play the whole recording", "data:image/png;base64,", "Learnt power spectrum"} {
		if !strings.Contains(page, word) {
			t.Errorf("the report lacks %q", word)
		}
	}
	if i := decode[learnt](t, succeed(t, "info", in("m.safetensors"), "--json").stdout); !i.Fitted || i.Inputs[0] != "seconds" {
		t.Errorf("saved model: %+v", i)
	}
	text := succeed(t, append([]string{"impute", cut, "--gap", "75ms:77.5ms", "--reference", clean, "-o", in("out2.wav")}, quick...)...).stdout
	for _, word := range []string{"filled 1 gap (", "silence", "linear", "coverage95"} {
		if !strings.Contains(text, word) {
			t.Errorf("the summary lacks %q:\n%s", word, text)
		}
	}
	for name, rmse := range simple {
		if line := fmt.Sprintf("\n%-8s %12s ", name, cli.Short(rmse)); !strings.Contains(text, line) {
			t.Errorf("the summary lacks %q:\n%s", line, text)
		}
	}
	if string(testkit.Read(t, in("out2.wav"))) != string(testkit.Read(t, in("out.wav"))) {
		t.Error("the same gap given as times gives another fill")
	}
}

// checkFilled compares a filled file with the damaged one byte for byte outside
// the gap, and loosely with the undamaged samples inside.
func checkFilled(t *testing.T, cut, out []byte, samples []int16) {
	t.Helper()
	if len(cut) != len(out) {
		t.Fatalf("%d bytes, want %d", len(out), len(cut))
	}
	const gapFrom, gapTo = 44 + 2*600, 44 + 2*620
	for i := range cut {
		if cut[i] != out[i] && (i < gapFrom || i >= gapTo) {
			t.Fatalf("byte %d changed outside the gap", i)
		}
	}
	for i := 600; i < 620; i++ {
		if d := float64(words(t, out)[i]) - float64(samples[i]); math.Abs(d) > 6000 {
			t.Errorf("sample %d is off by %v", i, d)
		}
	}
}

// What stands in a gap must not matter, nor must the number of threads.
func TestImputeSameBytes(t *testing.T) {
	for _, flags := range [][]string{nil, {"--method", "ar"}, quick} {
		sameBytes(t, flags)
	}
}

func sameBytes(t *testing.T, flags []string) {
	dir := t.TempDir()
	var first string
	for i, c := range []struct {
		threads int
		with    int16
	}{{1, 0}, {4, 0}, {4, 31000}} {
		_, cut, _ := damaged(t, dir, c.with)
		out := filepath.Join(dir, fmt.Sprintf("out%d.wav", i))
		old := runtime.GOMAXPROCS(c.threads)
		o := vssgpRun(t, append([]string{"impute", cut, "--gap", "600:620", "--gap", "100:110", "-o", out, "--seed", "3"}, flags...)...)
		runtime.GOMAXPROCS(old)
		if o.code != cli.ExitDone {
			t.Fatalf("exit %d: %s", o.code, o.stderr)
		}
		got := string(testkit.Read(t, out))
		if i == 0 {
			first = got
		}
		if got != first {
			t.Errorf("%v, %d threads, %d in the gap: other bytes than with 1 and 0", flags, c.threads, c.with)
		}
	}
}

// Two channels, several excerpts, a SPHERE file out of a WAV file.
func TestImputeStereo(t *testing.T) {
	dir := t.TempDir()
	in := testkit.Put(t, dir, "in.wav", string(wav(8000, 2, tone(4000, 8000))))
	gaps := testkit.Put(t, dir, "gaps.csv", "start,end\n300,310\n1700,1705\n")
	out := filepath.Join(dir, "out.sph")
	r := decode[imputed](t, succeed(t, append([]string{"impute", in, "--gaps", gaps, "-o", out, "--model", filepath.Join(dir, "m.safetensors"), "--sd",
		filepath.Join(dir, "sd.csv"), "--json"}, quick...)...).stdout)
	if len(r.Models) != 2 || len(r.Gaps) != 2 || r.Scores != nil {
		t.Errorf("result %+v: want two models, two gaps and no scores without a reference", r)
	}
	for _, m := range r.Models {
		if i := decode[learnt](t, succeed(t, "info", m, "--json").stdout); len(i.Outputs) != 2 {
			t.Errorf("%s has outputs %v, want two channels", m, i.Outputs)
		}
	}
	sd, err := table.Open(filepath.Join(dir, "sd.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if sd.Rows != 2*15 {
		t.Errorf("%d standard deviations, want 30", sd.Rows)
	}
	before, err := audio.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	after, err := audio.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	for c := range before.Samples {
		for i, v := range before.Samples[c] {
			if gap := i >= 300 && i < 310 || i >= 1700 && i < 1705; !gap && after.Samples[c][i] != v {
				t.Fatalf("sample %d of channel %d changed", i, c)
			}
		}
	}
}

// TestImputeInterrupted: an interrupted fill writes nothing, and prints one line.
func TestImputeInterrupted(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	before := listing(t, dir)
	for _, args := range [][]string{
		{cut, "--gap", "600:620", "--restarts", "100000"}, {gapped, "--gaps", gapsCSV, "--method", "mixture"}, {gapped, "--gaps", gapsCSV, "--method", "ar"},
	} {
		args = append(append([]string{"impute"}, args...), "--draws", "1", "-o", filepath.Join(dir, "out.wav"), "--sd", filepath.Join(dir, "sd.csv"))
		o, line := interrupted(t, args...)
		if o.code != cli.ExitInterrupted || line != cli.Prefix+"interrupted: the output is not written\n" {
			t.Errorf("%v: exit %d, %q; want %d and a line", args, o.code, line, cli.ExitInterrupted)
		}
		if after := listing(t, dir); !same(before, after) {
			t.Errorf("%v: left %v", args, after)
		}
	}
}

// With --overwrite the output may replace the input.
func TestImputeInPlace(t *testing.T) {
	dir := t.TempDir()
	_, cut, samples := damaged(t, dir, 0)
	before := testkit.Read(t, cut)
	succeed(t, append([]string{"impute", cut, "--detect", "zeros", "-o", cut, "--overwrite"}, quick...)...)
	after := testkit.Read(t, cut)
	checkFilled(t, before, after, samples)
	if bytes.Equal(before, after) {
		t.Error("nothing was filled")
	}
}
