package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/table"
)

const spoken = "../../testdata/speech.wav"

// TestMainJob: without a method gaps are filled by the mixture, ahead of the best simple fill, with honest bands.
func TestMainJob(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"impute", gapped, "--gaps", gapsCSV, "--reference", spoken, "-o", in("out.wav")}
	r := decode[imputed](t, succeed(t, append(args, "--json", "--sd", in("sd.csv"), "--report", in("page.html"), "--draws", "2")...).stdout)
	ours, ar := r.Scores["vssgp"], r.Scores["ar"]
	if r.Method != "mixture" || r.Bound != nil || r.Iterations != 0 || r.Device != "cpu" || len(r.Gaps) != 12 || ours["train_rmse"] != 0 {
		t.Errorf("result %+v", r)
	}
	if !(ours["test_rmse"] < 0.85*ar["test_rmse"]) || !(ours["coverage95"] > 0.9 && ours["coverage95"] < 0.995) {
		t.Errorf("the fill scores %v, ar %v; want it ahead, with bands that cover about 95 %%", ours, ar)
	}
	sd, err := table.Open(in("sd.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if sd.Rows != 2000 || sd.Data[0] != 3200 || !(sd.Data[2] > 0) {
		t.Errorf("%d standard deviations, the first %v", sd.Rows, sd.Data[:3])
	}
	before := words(t, testkit.Read(t, gapped))
	filled := map[string]int{} // samples that each output has otherwise
	for _, name := range []string{"out.wav", "out-1.wav", "out-2.wav"} {
		for i, v := range words(t, testkit.Read(t, in(name))) {
			if v == before[i] {
				continue
			}
			if filled[name]++; !isIn(r.Gaps, i) {
				t.Fatalf("%s: sample %d changed outside the gaps", name, i)
			}
		}
		if filled[name] < 1800 {
			t.Errorf("%s: %d of 2000 samples are filled", name, filled[name])
		}
	}
	if bytes.Equal(testkit.Read(t, in("out-1.wav")), testkit.Read(t, in("out-2.wav"))) {
		t.Error("two draws are the same")
	}
	page := string(testkit.Read(t, in("page.html")))
	for word, want := range map[string]bool{"by mixture on cpu": true, "should not be trusted;": len(r.Doubts) > 0, "Learnt": false, "Play the whole recording": true} {
		if strings.Contains(page, word) != want {
			t.Errorf("the page has %q: %v, want %v", word, !want, want)
		}
	}
	text := succeed(t, args...).stdout
	for _, want := range []string{"filled 12 gaps (2000 of 46400 samples, 16000 Hz) in ", " s by mixture\n", fmt.Sprintf("\nmixture  %12s ", cli.Short(ours["test_rmse"])), "\nar  "} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	for _, d := range r.Doubts {
		if want := fmt.Sprintf("\ndo not trust: gap %d:%d: %s\n", d.Start, d.End, d.Reason); !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
}

func isIn(gaps [][2]int, i int) bool {
	for _, g := range gaps {
		if g[0] <= i && i < g[1] {
			return true
		}
	}
	return false
}

// TestImputeAR: ar fills as the row of its name in the scores says.
func TestImputeAR(t *testing.T) {
	r := decode[imputed](t, succeed(t, "impute", gapped, "--gaps", gapsCSV, "--reference", spoken, "--method", "ar", "--json", "-o", filepath.Join(t.TempDir(), "o.wav")).stdout)
	if ours, ar := r.Scores["vssgp"]["test_rmse"], r.Scores["ar"]["test_rmse"]; r.Method != "ar" || r.Bound != nil || ours != ar || !(ar < r.Scores["silence"]["test_rmse"]) {
		t.Errorf("%s: error %v, its row %v", r.Method, ours, ar)
	}
}

// TestDoubtsTold: a channel where nothing is known is named, ten are at most, and the rest is counted.
func TestDoubtsTold(t *testing.T) {
	dir := t.TempDir()
	rng, hiss := rand.New(rand.NewPCG(1, 2)), make([]int16, 2*16000)
	for i := range hiss { // white noise on the left, silence on the right
		if i%2 == 0 {
			hiss[i] = int16(rng.IntN(20000) - 10000)
		}
	}
	args := []string{"impute", testkit.Put(t, dir, "hiss.wav", string(wav(8000, 2, hiss))), "-o", filepath.Join(dir, "o.wav")}
	for i := range 11 {
		args = append(args, "--gap", fmt.Sprintf("%d:%d", 1000*(i+1), 1000*(i+1)+20))
	}
	r := decode[imputed](t, succeed(t, append(args, "--json")...).stdout)
	if len(r.Doubts) != 11 || r.Doubts[10].Start != 11000 || r.Doubts[10].End != 11020 || r.Doubts[10].Channel != 1 {
		t.Errorf("doubts %+v, want one for the left channel of each gap", r.Doubts)
	}
	text := succeed(t, args...).stdout
	if n := strings.Count(text, "do not trust: gap "); n != 10 || !strings.Contains(text, "do not trust: gap 1000:1020 in channel 1: ") || !strings.Contains(text, "do not trust: 1 more") {
		t.Errorf("%d doubts are told:\n%s", n, text)
	}
}

// TestDeviceOfMixture: a card is neither needed nor looked for, and that it is not used is said.
func TestDeviceOfMixture(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	o := succeed(t, "impute", cut, "--gap", "600:620", "--device", "cuda:7", "-o", filepath.Join(dir, "o.wav"))
	if o.stderr != cli.Prefix+"--device cuda:7: --method mixture computes on the CPU\n" {
		t.Errorf("stderr %q", o.stderr)
	}
}

// TestSeedOfDraws: the seed decides the draws and not the fill.
func TestSeedOfDraws(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	for _, seed := range []string{"1", "2"} {
		succeed(t, "impute", cut, "--gap", "600:620", "--draws", "1", "--seed", seed, "-o", filepath.Join(dir, seed+".wav"))
	}
	same := func(name string) bool {
		return bytes.Equal(testkit.Read(t, filepath.Join(dir, "1"+name)), testkit.Read(t, filepath.Join(dir, "2"+name)))
	}
	if !same(".wav") || same("-1.wav") {
		t.Errorf("two seeds give the same fill: %v, the same draw: %v", same(".wav"), same("-1.wav"))
	}
}
