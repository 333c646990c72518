package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// quick are model flags for a small and fast model of a tone.
var quick = []string{"--components", "6", "--iterations", "8", "--context", "40ms"}

// damaged writes a recording of a tone and a copy with other samples in the gap 600:620.
func damaged(t *testing.T, dir string, with int16) (clean, cut string, samples []int16) {
	t.Helper()
	samples = tone(1200, 8000)
	clean = testkit.Put(t, dir, "clean.wav", string(wav(8000, 1, samples)))
	spoilt := slices.Clone(samples)
	for i := 600; i < 620; i++ {
		spoilt[i] = with
	}
	return clean, testkit.Put(t, dir, fmt.Sprintf("cut%d.wav", with), string(wav(8000, 1, spoilt))), samples
}

// imputed is the output of impute --json.
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

// TestImpute checks that a model fills a gap much better than silence, and that the outputs, scores, report and saved model are consistent.
func TestImpute(t *testing.T) {
	dir := t.TempDir()
	clean, cut, samples := damaged(t, dir, 0)
	in := func(name string) string { return filepath.Join(dir, name) }
	args := append([]string{"impute", cut, "--detect", "zeros", "--reference", clean, "--json", "-o", in("out.wav"),
		"--report", in("report.html"), "--model", in("m.safetensors")}, quick...)
	r := decode[imputed](t, succeed(t, args...).stdout)
	if r.Method != "vssgp" || r.Device != "cpu" || r.Rate != 8000 || len(r.Gaps) != 1 || r.Gaps[0] != [2]int{600, 620} || r.Iterations < 1 ||
		r.Seconds <= 0 || r.Bound == nil {
		t.Errorf("result %+v", r)
	}
	truth := testkit.Numbers(len(samples), func(i int) float64 { return float64(samples[i]) / (1 << 15) })
	gap := []audio.Gap{{Start: 600, End: 620}}
	ar := testkit.Must(restore.Fill(t.Context(), [][]float64{truth}, 8000, gap, restore.Options{Method: restore.AR}))(t)
	simple := map[string]float64{} // RMSE of the baselines
	for name, fill := range map[string][]float64{"silence": make([]float64, len(truth)), "linear": audio.FillLinear(truth, gap),
		"ar": ar.Apply([][]float64{truth}, -1)[0]} {
		simple[name] = audio.RMSE(truth, fill, audio.Mask(gap, len(truth)))
		testkit.Near(t, r.Scores[name]["test_rmse"], simple[name], 1e-9, name, ": test RMSE")
	}
	if c := r.Scores["vssgp"]["coverage95"]; !(c > 0.5 && c <= 1) {
		t.Errorf("coverage %v", c)
	}
	if v, s := r.Scores["vssgp"]["test_rmse"], r.Scores["silence"]["test_rmse"]; !(v < 0.2*s) {
		t.Errorf("test error %v, silence %v: want a fill much better than silence", v, s)
	}
	if n := changedInside(t, words(t, testkit.Read(t, cut)), words(t, testkit.Read(t, in("out.wav"))), [2]int{600, 620}); n < 18 {
		t.Errorf("%d samples are filled", n)
	}
	page := string(testkit.Read(t, in("report.html")))
	testkit.Contains(t, page, "coverage", "samples 600 to 620", "--detect", "cut0.wav", "Play gap 1", "Play the whole recording",
		"data:image/png;base64,")
	if i := decode[learned](t, succeed(t, "info", in("m.safetensors"), "--json").stdout); !i.Fitted || i.Inputs[0] != "seconds" {
		t.Errorf("saved model: %+v", i)
	}
	text := succeed(t, append([]string{"impute", cut, "--gap", "75ms:77.5ms", "--reference", clean, "-o", in("out2.wav")}, quick...)...).stdout
	testkit.Contains(t, text, "filled 1 gap (", "silence", "linear", "coverage95")
	for name, rmse := range simple {
		testkit.Contains(t, text, fmt.Sprintf("\n%-8s %12s ", name, cli.Short(rmse)))
	}
	if string(testkit.Read(t, in("out2.wav"))) != string(testkit.Read(t, in("out.wav"))) {
		t.Error("the same gap given as times gives a different fill")
	}
}

// TestImputeSameBytes checks that the fill depends neither on the samples in a gap nor on the number of threads.
func TestImputeSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, flags := range [][]string{nil, {"--method", "ar"}, quick} {
		dir, first := t.TempDir(), ""
		for _, c := range []struct {
			threads int
			with    int16
		}{{1, 0}, {4, 0}, {4, 31000}} {
			_, cut, _ := damaged(t, dir, c.with)
			out := filepath.Join(dir, fmt.Sprint(c, ".wav"))
			runtime.GOMAXPROCS(c.threads)
			succeed(t, append([]string{"impute", cut, "--gap", "600:620", "--gap", "100:110", "-o", out, "--seed", "3"}, flags...)...)
			got := string(testkit.Read(t, out))
			if first = cmp.Or(first, got); got != first {
				t.Errorf("%v, %d threads, %d in the gap: different bytes than with 1 and 0", flags, c.threads, c.with)
			}
		}
	}
}

// TestImputeStereo checks a fill of two channels and several excerpts with a SPHERE file as output.
func TestImputeStereo(t *testing.T) {
	dir := t.TempDir()
	in := testkit.Put(t, dir, "in.wav", string(wav(8000, 2, tone(4000, 8000))))
	gaps := testkit.Put(t, dir, "gaps.csv", "start,end\n300,310\n1700,1705\n")
	out := filepath.Join(dir, "out.sph")
	r := decode[imputed](t, succeed(t, append([]string{"impute", in, "--gaps", gaps, "-o", out, "--model",
		filepath.Join(dir, "m.safetensors"), "--sd", filepath.Join(dir, "sd.csv"), "--json"}, quick...)...).stdout)
	if len(r.Models) != 2 || len(r.Gaps) != 2 || r.Scores != nil {
		t.Errorf("result %+v: want two models, two gaps and no scores without a reference", r)
	}
	for _, m := range r.Models {
		if i := decode[learned](t, succeed(t, "info", m, "--json").stdout); len(i.Outputs) != 2 {
			t.Errorf("%s has outputs %v, want two channels", m, i.Outputs)
		}
	}
	sd := testkit.Must(matrix.ReadFull(filepath.Join(dir, "sd.csv")))(t)
	if sd.Rows != 2*15 {
		t.Errorf("%d standard deviations, want 30", sd.Rows)
	}
	before := testkit.Must(audio.Open(in))(t)
	after := testkit.Must(audio.Open(out))(t)
	for c := range before.Samples {
		if n := changedInside(t, before.Samples[c], after.Samples[c], [2]int{300, 310}, [2]int{1700, 1705}); n < 10 {
			t.Errorf("%d samples of channel %d are filled", n, c)
		}
	}
}

// TestImputeInterrupted checks that an interrupted fill writes no output and prints one line, which names --labels if
// damage that was found is lost.
func TestImputeInterrupted(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	before := listing(t, dir)
	const lost = "; to keep the damage found, use --labels FILE, then --gaps FILE"
	for _, c := range []struct {
		args []string
		hint string
	}{
		{[]string{cut, "--gap", "600:620", "--restarts", "100000"}, ""},
		{[]string{gapped, "--gaps", gapsCSV, "--method", "mixture"}, ""},
		{[]string{gapped, "--gaps", gapsCSV, "--method", "ar"}, ""}, {[]string{gapped, "--detect", "dropouts"}, lost},
	} {
		args := append(append([]string{"impute"}, c.args...), "--draws", "1", "-o", filepath.Join(dir, "out.wav"), "--sd",
			filepath.Join(dir, "sd.csv"))
		o, line := interrupted(t, args...)
		if o.code != cli.ExitInterrupted || line != cli.Prefix+"interrupted; the output was not written"+c.hint+"\n" {
			t.Errorf("%v: exit %d, %q; want %d and a line", args, o.code, line, cli.ExitInterrupted)
		}
		if after := listing(t, dir); !maps.Equal(before, after) {
			t.Errorf("%v: left %v", args, after)
		}
	}
	labels := filepath.Join(dir, "found.txt")
	o, line := interrupted(t, "impute", gapped, "--detect", "dropouts", "-o", filepath.Join(dir, "out.wav"), "--labels", labels)
	want := cli.Prefix + "interrupted; the output was not written; " + labels +
		" contains all gaps to fill (10 gaps); continue with --gaps " + labels + " instead of --detect and --labels\n"
	if o.code != cli.ExitInterrupted || line != want {
		t.Errorf("exit %d, %q; want the labels of 10 gaps", o.code, line)
	}
	testkit.Equal(t, strings.Count(string(testkit.Read(t, labels)), "dropouts 100%"), 10, "labels")

	out := filepath.Join(dir, "scored.wav") // only the scores are lost
	line = "impute " + gapped + " --gaps " + gapsCSV + " --reference " + spoken + " --report " + filepath.Join(dir, "r.html") + " -o "
	o, text := interruptedAt(t, []string{"scoring"}, strings.Fields(line+out)...)
	if o.code != cli.ExitInterrupted || !strings.Contains(text, "with --reference; "+out+" was written without scores\n") {
		t.Errorf("exit %d, %q", o.code, text)
	}
	succeed(t, "impute", gapped, "--gaps", gapsCSV, "-o", filepath.Join(dir, "plain.wav"))
	if !bytes.Equal(testkit.Read(t, out), testkit.Read(t, filepath.Join(dir, "plain.wav"))) {
		t.Error("the fill differs from an uninterrupted one")
	}
}

// TestStreams checks a recording from stdin to stdout with messages on stderr.
func TestStreams(t *testing.T) {
	dir := t.TempDir()
	file, _, _ := stereo(t)
	out := filepath.Join(dir, "out.wav")
	succeed(t, "impute", testkit.Put(t, dir, "take.wav", string(file)), "--detect", "dropouts", "-o", out)
	o := fromStdinRun(t, string(file), "impute", "-", "--detect", "dropouts", "-o", "-")
	if o.code != cli.ExitDone || o.stdout != string(testkit.Read(t, out)) || !strings.Contains(o.stderr, "filled 1 gap") {
		t.Errorf("exit %d, %d bytes, stderr %q", o.code, len(o.stdout), o.stderr)
	}
	for _, args := range [][]string{{"--json"}, {"--draws", "2"}} {
		args = append([]string{"impute", "-", "--detect", "dropouts", "-o", "-"}, args...)
		fromStdinRun(t, string(file), args...).fails(t, strings.Join(args, " "), cli.ExitMistake)
	}
}

const spoken = "../../testdata/speech.wav"

// TestMainJob checks that the default method is the mixture, with a smaller error than ar and calibrated intervals.
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
		t.Errorf("the fill scores %v, ar %v; want it better, with intervals that cover about 95 %%", ours, ar)
	}
	sd := testkit.Must(matrix.ReadFull(in("sd.csv")))(t)
	if sd.Rows != 2000 || sd.Data[0] != 3200 || !(sd.Data[2] > 0) {
		t.Errorf("%d standard deviations, the first %v", sd.Rows, sd.Data[:3])
	}
	before := words(t, testkit.Read(t, gapped))
	for _, name := range []string{"out.wav", "out-1.wav", "out-2.wav"} {
		if n := changedInside(t, before, words(t, testkit.Read(t, in(name))), r.Gaps...); n < 1800 {
			t.Errorf("%s: %d of 2000 samples are filled", name, n)
		}
	}
	if bytes.Equal(testkit.Read(t, in("out-1.wav")), testkit.Read(t, in("out-2.wav"))) {
		t.Error("two draws are equal")
	}
	page := string(testkit.Read(t, in("page.html")))
	for word, want := range map[string]bool{"by mixture on cpu": true, "may be unreliable;": len(r.Doubts) > 0,
		"Play the whole recording": true} {
		if strings.Contains(page, word) != want {
			t.Errorf("the page has %q: %v, want %v", word, !want, want)
		}
	}
	o := succeed(t, append(args, "--progress", "always")...)
	testkit.Contains(t, o.stderr, "\rgap 1 of", "\rscoring, gap 1 of")
	text := o.stdout
	testkit.Contains(t, text, "filled 12 gaps (2000 of 46400 samples, 16000 Hz) in ", " s by mixture\n",
		fmt.Sprintf("\nmixture  %12s ", cli.Short(ours["test_rmse"])), "\nar  ")
	for _, d := range r.Doubts {
		testkit.Contains(t, text, fmt.Sprintf("\nunreliable: gap %d:%d: %s\n", d.Start, d.End, d.Reason))
	}
}

// TestWarningsPrinted checks that warnings name the channel, that at most ten are printed, and that the others are counted.
func TestWarningsPrinted(t *testing.T) {
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
		t.Errorf("warnings %+v, want one for the left channel of each gap", r.Doubts)
	}
	text := succeed(t, args...).stdout
	if n := strings.Count(text, "unreliable: gap "); n != 10 || !strings.Contains(text, "unreliable: gap 1000:1020 in channel 1: ") ||
		!strings.Contains(text, "unreliable: 1 more") {
		t.Errorf("%d warnings are printed:\n%s", n, text)
	}
}

// TestMixtureFlags checks that the seed affects only the draws, and that a message reports an unused GPU.
func TestMixtureFlags(t *testing.T) {
	dir := t.TempDir()
	_, cut, _ := damaged(t, dir, 0)
	for _, seed := range []string{"1", "2"} {
		o := succeed(t, "impute", cut, "--gap", "600:620", "--draws", "1", "--seed", seed, "--device", "cuda:7", "-o",
			filepath.Join(dir, seed+".wav"))
		testkit.Equal(t, o.stderr, cli.Prefix+"--device cuda:7: --method mixture runs on the CPU\n", "stderr")
	}
	same := func(name string) bool {
		return bytes.Equal(testkit.Read(t, filepath.Join(dir, "1"+name)), testkit.Read(t, filepath.Join(dir, "2"+name)))
	}
	if !same(".wav") || same("-1.wav") {
		t.Errorf("two seeds give the same fill: %v, the same draw: %v", same(".wav"), same("-1.wav"))
	}
}

// colored returns channels of colored noise, rounded to a number of bits.
func colored(channels, n, bits int) [][]float64 {
	rng, step := rand.New(rand.NewPCG(3, 4)), math.Ldexp(1, 1-bits)
	x := make([][]float64, channels)
	for c := range x {
		var a, b float64
		x[c] = testkit.Numbers(n, func(int) float64 {
			a, b = 1.7*a-0.85*b+0.02*rng.NormFloat64(), a
			return math.Round(a/step) * step
		})
	}
	return x
}

// inFormat writes samples to a file in the format of its extension.
func inFormat(t *testing.T, dir, name string, rate int, e audio.Encoding, x [][]float64) string {
	t.Helper()
	var wav, out bytes.Buffer
	w := testkit.Must(audio.NewWriter(&wav, rate, e, len(x), len(x[0])))(t)
	for i := range x[0] {
		for _, v := range x {
			testkit.OK(t, w.Write(v[i:i+1]))
		}
	}
	testkit.OK(t, w.Close())
	testkit.OK(t, testkit.Must(audio.Decode(wav.Bytes()))(t).Write(&out, testkit.Must(audio.ContainerOf(name))(t)))
	return testkit.Put(t, dir, name, out.String())
}

// TestFormats checks that the fill is the same in all file formats and that other samples are unchanged, for 24 bits at 96 kHz with 5.1
// channels and a gap in one of them, and for 16 bits in stereo. Floats are not rounded.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		rate, channels, bits int
		of                   audio.Encoding
		gap                  string
	}{{44100, 2, 16, audio.PCM16, "2000:2040"}, {96000, 6, 24, audio.PCM24, "2000:2040@4"}}[:slow.Pick(2, 1)] {
		dir, x := t.TempDir(), colored(c.channels, 4000, c.bits)
		var first [][]float64
		for _, f := range []struct {
			name string
			e    audio.Encoding
		}{
			{"a.wav", c.of}, {"b.rf64", c.of}, {"c.w64", c.of}, {"d.aiff", c.of}, {"e.flac", c.of}, {"f.sph", c.of},
			{"g.wav", audio.Float32}, {"h.aifc", audio.Float32}, {"i.w64", audio.Float64},
		} {
			in, out := inFormat(t, dir, f.name, c.rate, f.e, x), filepath.Join(dir, "out-"+f.name)
			succeed(t, "impute", in, "--gap", c.gap, "-o", out)
			r := testkit.Must(audio.Open(out))(t)
			if want, _ := audio.ContainerOf(f.name); r.Container() != want || r.Encoding().Step() != f.e.Step() || r.Channels() != c.channels {
				t.Errorf("%s was written as a %v of %v in %d channels", f.name, r.Container(), r.Encoding(), r.Channels())
			}
			if first == nil {
				first = r.Samples
				if slices.Equal(first[c.channels/2][2000:2040], x[c.channels/2][2000:2040]) {
					t.Error("nothing is filled")
				}
			}
			within := math.Ldexp(1, 1-c.bits) // tolerance in the gap, because integers are rounded
			if !f.e.Float {
				within = 0
			}
			for ch := range first {
				for n, v := range r.Samples[ch] {
					gap := n >= 2000 && n < 2040 && (c.channels == 2 || ch == 3)
					if math.Abs(v-first[ch][n]) > within || !gap && v != x[ch][n] {
						t.Fatalf("%s: sample %d of channel %d is %v; want %v", f.name, n, ch, v, first[ch][n])
					}
				}
			}
		}
		checkConversions(t, dir, c.gap)
	}
}

// checkConversions checks fills with conversion between WAV and FLAC, with files and streams. The bytes depend only on the samples and the
// output format.
func checkConversions(t *testing.T, dir, gap string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct{ from, to, like string }{
		{"a.wav", "1.flac", "out-e.flac"}, {"e.flac", "2.wav", "out-a.wav"}, {"d.aiff", "3.flac", "out-e.flac"},
	} {
		succeed(t, "impute", in(c.from), "--gap", gap, "-o", in(c.to))
		if !bytes.Equal(testkit.Read(t, in(c.to)), testkit.Read(t, in(c.like))) {
			t.Errorf("%s as %s is a different file than %s", c.from, c.to, c.like)
		}
	}
	o := fromStdinRun(t, string(testkit.Read(t, in("e.flac"))), "impute", "-", "--gap", gap, "-o", "-")
	if o.code != cli.ExitDone || o.stdout != string(testkit.Read(t, in("out-e.flac"))) {
		t.Errorf("a stream: exit %d, %d bytes, %s", o.code, len(o.stdout), o.stderr)
	}
	bad := testkit.Put(t, dir, "bad.flac", string(testkit.Read(t, in("e.flac")))[:5000])
	for want, args := range map[string][]string{
		"cannot store 32-bit float samples":                       {in("g.wav"), "-o", in("none.flac")},
		"bad.flac: the file is cut short in the frame of sample ": {bad, "-o", in("none.flac")},
	} {
		refuse(t, want, append([]string{"impute", "--gap", gap}, args...)...)
	}
}

// TestFillCues checks that the regions of cue points are filled, also in a folder, where a file without regions is reported.
func TestFillCues(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	takes := in("takes")
	file := wav(8000, 1, tone(4000, 8000))
	point, text := make([]byte, 0, 28), make([]byte, 0, 32)
	for _, v := range []uint32{1, 7, 0, binary.LittleEndian.Uint32([]byte("data")), 0, 0, 600} {
		point = binary.LittleEndian.AppendUint32(point, v)
	}
	text = append(text, "adtlltxt\x14\x00\x00\x00\x07\x00\x00\x00\x14\x00\x00\x00rgn \x00\x00\x00\x00\x00\x00\x00\x00"...) // 20 samples
	marked := append(append(append(bytes.Clone(file), "cue \x1c\x00\x00\x00"...), point...), "LIST\x20\x00\x00\x00"...)
	marked = append(marked, text...)
	binary.LittleEndian.PutUint32(marked[4:], uint32(len(marked)-8))
	testkit.Put(t, takes, "marked.wav", string(marked))
	testkit.Put(t, takes, "plain.wav", string(file))
	succeed(t, "impute", filepath.Join(takes, "marked.wav"), "--gap", "600:620", "-o", in("by-hand.wav"))
	line := []string{"impute", filepath.Join(takes, "marked.wav"), "--cues", "-o", in("by-cues.wav"), "--labels", in("cues.txt"), "--json"}
	r := decode[imputed](t, succeed(t, line...).stdout)
	if !slices.Equal(r.Gaps, [][2]int{{600, 620}}) || !bytes.Equal(testkit.Read(t, in("by-hand.wav")), testkit.Read(t, in("by-cues.wav"))) {
		t.Errorf("gaps %v, or a different fill than by --gap", r.Gaps)
	}
	if labels := string(testkit.Read(t, in("cues.txt"))); labels != "0.075000000\t0.077500000\tgap\n" {
		t.Errorf("labels %q", labels)
	}
	o := vssgpRun(t, "impute", takes, "--cues", "--out-dir", in("out"))
	if o.code != cli.ExitMistake || !strings.Contains(o.stderr, "plain.wav (4000 samples) has no regions") ||
		!bytes.Equal(testkit.Read(t, filepath.Join(in("out"), "marked.wav")), testkit.Read(t, in("by-cues.wav"))) {
		t.Errorf("a folder: exit %d, %q", o.code, o.stderr)
	}
}
