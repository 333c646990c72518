package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// stereo returns a recording of two colored noises. The second is clipped and has a dropout of zeros.
func stereo(t *testing.T) (file []byte, dropout [2]int, limit int16) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	samples, state := make([]int16, 2*16000), [2][2]float64{}
	dropout, limit = [2]int{9000, 9160}, 9000
	for i := range samples {
		c := i % 2
		s := &state[c]
		v := 1.6*s[0] - 0.8*s[1] + 1500*rng.NormFloat64()
		s[0], s[1] = v, s[0]
		samples[i] = int16(v)
		if c == 1 {
			samples[i] = int16(math.Max(-float64(limit), math.Min(float64(limit), v)))
		}
		if n := i / 2; c == 1 && n >= dropout[0] && n < dropout[1] {
			samples[i] = 0
		}
	}
	return wav(16000, 2, samples), dropout, limit
}

// TestRepair checks that damage is found in its channel, printed, written as labels and plotted, that a dry run fills nothing, that the
// other channel is bit-identical, and that clipped samples are filled at or above their limits.
func TestRepair(t *testing.T) {
	dir := t.TempDir()
	file, dropout, limit := stereo(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	take := testkit.Put(t, dir, "take.wav", string(file))
	args := []string{"impute", take, "--detect", "dropouts,clipped", "--labels", in("found.txt"), "--report", in("page.html")}

	r := decode[struct {
		Gaps     [][2]int
		Channels []int `json:"gap_channels"`
		Found    []struct {
			Start, End, Channel int
			Kind                string
		}
	}](t, succeed(t, append(args, "--dry-run", "--json")...).stdout)
	kinds := map[string]int{}
	for i, d := range r.Found {
		kinds[d.Kind]++
		if d.Channel != 2 || d.Start != r.Gaps[i][0] || d.End != r.Gaps[i][1] || r.Channels[i] != 2 {
			t.Fatalf("found %+v, gap %v of channel %d", d, r.Gaps[i], r.Channels[i])
		}
		if d.Kind == "dropouts" && [2]int{d.Start, d.End} != dropout {
			t.Errorf("a dropout at %d:%d, was made at %v", d.Start, d.End, dropout)
		}
	}
	if kinds["dropouts"] != 1 || kinds["clipped"] < 10 {
		t.Errorf("found %v", kinds)
	}
	labels := strings.Split(strings.TrimSpace(string(testkit.Read(t, in("found.txt")))), "\n")
	if len(labels) != len(r.Found) || !slices.Contains(labels, "0.562500000\t0.572500000\tdropouts 100% @2") {
		t.Errorf("%d labels of %d detections: %q", len(labels), len(r.Found), labels[0])
	}
	testkit.Contains(t, string(testkit.Read(t, in("page.html"))), "Damage found", "Nothing was filled")
	if files := listing(t, dir); len(files) != 4 {
		t.Errorf("a dry run left %v", files)
	}

	text := succeed(t, append(args, "-o", in("out.wav"))...).stdout
	testkit.Contains(t, text, "found ", "1 dropout", "found.txt")
	before, after := words(t, file), words(t, testkit.Read(t, in("out.wav")))
	changed, clipped := 0, 0
	for i, v := range before {
		switch n := i / 2; {
		case i%2 == 0 && after[i] != v:
			t.Fatalf("sample %d of the intact channel became %d, was %d", n, after[i], v)
		case n >= dropout[0] && n < dropout[1] && after[i] != 0:
			changed++
		case v == limit && after[i] < limit || v == -limit && after[i] > -limit:
			t.Fatalf("sample %d was clipped at %d and became %d", n, v, after[i])
		case (v == limit || v == -limit) && after[i] != v:
			clipped++
		}
	}
	if changed < 140 || clipped < 10 {
		t.Errorf("%d samples of the dropout and %d clipped ones are filled", changed, clipped)
	}
	for _, list := range []string{"found.txt", "found.csv"} { // a fill from the written list is identical
		succeed(t, append(args, "--dry-run", "--labels", in(list))...)
		text = succeed(t, "repair", take, "--gaps", in(list), "--labels", in("again"+filepath.Ext(list)), "-o", in("replayed.wav")).stdout
		if strings.Contains(text, "found 1") || !slices.Equal(testkit.Read(t, in("replayed.wav")), testkit.Read(t, in("out.wav"))) {
			t.Errorf("%s gives a different fill: %s", list, text)
		}
		testkit.Equal(t, string(testkit.Read(t, in("again"+filepath.Ext(list)))), string(testkit.Read(t, in(list))), list)
	}
}

// disc returns a recording of two channels with the same colored noise, the second with own and a click below the sound at sample 8000.
func disc(own float64) []byte {
	rng := rand.New(rand.NewPCG(6, 6))
	var samples []int16
	a, b := 0.0, 0.0
	for n := range 16000 {
		a, b = 1.6*a-0.8*b+1500*rng.NormFloat64(), a
		v := 0.9*a + own*rng.NormFloat64()
		if own > 0 && n >= 8000 && n < 8004 {
			v += 1500
		}
		samples = append(samples, int16(a), int16(v))
	}
	return wav(16000, 2, samples)
}

// TestMono checks the choice of --mono auto, its message, and that on and off overrule it.
func TestMono(t *testing.T) {
	dir := t.TempDir()
	two, _, _ := stereo(t)
	for name, file := range map[string][]byte{
		"disc.wav": disc(50), "stereo.wav": two, "same.wav": disc(0), "one.wav": wav(16000, 1, tone(16000, 16000)),
	} {
		testkit.Put(t, dir, name, string(file))
	}
	yes, no := true, false
	for _, c := range []struct {
		name, flags, message string
		mono                 *bool
		found                bool
	}{
		{"disc.wav", "", "a mono disc's", &yes, true}, {"disc.wav", "--mono off", "", nil, false}, {"disc.wav", "--mono on", "", &yes, true},
		{"stereo.wav", "", "", &no, false}, {"same.wav", "", "", &no, false},
		{"one.wav", "", "", nil, false}, {"one.wav", "--mono on", "", nil, false},
	} {
		args := append([]string{"repair", filepath.Join(dir, c.name), "--detect", "clicks", "--dry-run", "--json"}, strings.Fields(c.flags)...)
		o := succeed(t, args...)
		r := decode[struct {
			Gaps [][2]int
			Of   []int `json:"gap_channels"`
			Mono *struct{ Used bool }
		}](t, o.stdout)
		if (r.Mono == nil) != (c.mono == nil) || r.Mono != nil && r.Mono.Used != *c.mono {
			t.Errorf("%s %s: %s", c.name, c.flags, o.stdout)
		}
		if c.message == "" && strings.Contains(o.stderr, "--mono") || !strings.Contains(o.stderr, c.message) {
			t.Errorf("%s %s: message %q, want %q", c.name, c.flags, o.stderr, c.message)
		}
		if c.name == "disc.wav" {
			found := len(r.Gaps) == 1 && r.Gaps[0][0] <= 8000 && r.Gaps[0][1] >= 8004 && slices.Equal(r.Of, []int{2})
			if found != c.found || !c.found && len(r.Gaps) > 0 {
				t.Errorf("%s %s: found %v in channels %v", c.name, c.flags, r.Gaps, r.Of)
			}
		}
	}
}

// TestFromAndToLimitTheSearch checks that --from and --to limit the search, in samples and times, and that only damage inside the part
// is reported.
func TestFromAndToLimitTheSearch(t *testing.T) {
	dir := t.TempDir()
	file, dropout, _ := stereo(t)
	take := testkit.Put(t, dir, "take.wav", string(file))
	for flags, want := range map[string]int{
		"":                                1,
		"--from 9000 --to 9160":           1,
		"--from 0.5s --to 0:00.6":         1,
		"--from 9001":                     0,
		"--to 9159":                       0,
		"--to 562.5ms":                    0,
		"--from 9s --to 20s":              -1,
		"--from 9000 --to 9000":           -1,
		"--from -3":                       -1,
		"--to x":                          -1,
		"--sensitivity 0 --to 10s":        1,
		"--sensitivity -1":                -1,
		"--from 0.56s --removed none.wav": -1, // with --dry-run
	} {
		args := append([]string{"repair", take, "--detect", "dropouts", "--dry-run", "--json"}, strings.Fields(flags)...)
		if want < 0 {
			refuse(t, strings.Fields(flags)[len(strings.Fields(flags))-2], args...)
			continue
		}
		r := decode[imputed](t, succeed(t, args...).stdout)
		if len(r.Gaps) != want || want == 1 && r.Gaps[0] != dropout {
			t.Errorf("%q: found %v, want %d dropouts at %v", flags, r.Gaps, want, dropout)
		}
	}
}

// TestStrict checks that a recording that is cut short or has no or a wrong length in its header is repaired with a
// warning in plain terms, and refused with --strict. Samples with extreme values are refused.
func TestStrict(t *testing.T) {
	dir := t.TempDir()
	whole := wav(8000, 1, tone(4000, 8000))
	for name, file := range map[string][]byte{
		"cut.wav": whole[:7001], "unfinished.wav": patched(whole, 40, 0, 0, 0, 0),
		"pipe.wav":  patched(patched(whole, 4, 0xff, 0xff, 0xff, 0xff), 40, 0xff, 0xff, 0xff, 0xff),
		"zeros.wav": patched(patched(whole, 4, 0, 0, 0, 0), 40, 0, 0, 0, 0),
		"riff0.wav": patched(whole, 4, 0, 0, 0, 0), "riff.wav": patched(whole, 4, 0xff, 0xff, 0xff, 0xff),
		"short.wav": patched(whole, 4, byte(len(whole)-108), byte((len(whole)-108)>>8)),
		"long.wav":  patched(whole, 4, byte(len(whole)+92), byte((len(whole)+92)>>8)),
	} {
		in, out := testkit.Put(t, dir, name, string(file)), filepath.Join(dir, "out.wav")
		args := []string{"repair", in, "--gap", "300:310", "-o", out}
		o := succeed(t, args...)
		if strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, "warning: "+in+": the ") ||
			strings.Contains(o.stderr, "offset") {
			t.Errorf("%s: stderr %q, want a warning", name, o.stderr)
		}
		changedInside(t, words(t, whole)[:(len(file)-44)/2], words(t, testkit.Read(t, out)), [2]int{300, 310})
		refuse(t, name, append(args, "--strict")...)
	}
	for text, v := range map[string]float64{"1e+300": 1e300, "-1.1e+10": -1.1e10, "NaN": math.NaN(), "+Inf": math.Inf(1)} {
		var b bytes.Buffer
		w := testkit.Must(audio.NewWriter(&b, 8000, audio.Float64, 1, 2000))(t)
		testkit.OK(t, w.Write(testkit.Numbers(2000, func(i int) float64 { return math.Sin(float64(i) / 3) })))
		testkit.OK(t, w.Close())
		in := testkit.Put(t, dir, "far.wav",
			string(binary.LittleEndian.AppendUint64(b.Bytes()[:b.Len()-8*1600], math.Float64bits(v)))+
				string(b.Bytes()[b.Len()-8*1599:]))
		refuse(t, "sample 400 of channel 1 (from 1) is "+text+", must be finite and from -1e+10 to 1e+10, except in a gap",
			"repair", in, "--gap", "300:310", "-o",
			filepath.Join(dir, "x.wav"))
	}
}

// TestEmptyLabels checks that the list of gaps of a recording without damage, which --labels writes, is a valid --gaps:
// the output is a copy.
func TestEmptyLabels(t *testing.T) {
	dir := t.TempDir()
	file, _, _ := stereo(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	take := testkit.Put(t, dir, "take.wav", string(file))
	for _, list := range []string{"none.txt", "none.csv"} {
		succeed(t, "repair", take, "--detect", "zeros", "--from", "0s", "--to", "0.1s", "--dry-run", "--labels", in(list))
		run := succeed(t, "repair", take, "--gaps", in(list), "-o", in("copy.wav"))
		if out := run.stdout + run.stderr; !strings.Contains(out, list+" has no gaps") {
			t.Errorf("%s: %q", list, out)
		}
		if !bytes.Equal(testkit.Read(t, in("copy.wav")), file) {
			t.Errorf("%s: the output is not a copy of the input", list)
		}
		os.Remove(in("copy.wav"))
	}
}

// TestConfidence checks that detections with a low confidence are omitted, labels without a confidence are not, and adjacent detections are
// one gap.
func TestConfidence(t *testing.T) {
	dir := t.TempDir()
	take := testkit.Put(t, dir, "take.wav", string(wav(8000, 1, tone(4000, 8000))))
	list := testkit.Put(t, dir, "list.csv", "start,end,channel,label\n100,110,,clicks 97%\n110,120,,clicks 50%\n300,301,,clicks 0%\n")
	mixed := testkit.Put(t, dir, "mixed.csv", "start,end,channel,label\n100,110,,clicks 97%\n200,210,,clicks\n")
	for _, c := range []struct{ file, percent, want string }{
		{list, "0", "filled 2 gaps (21 of"}, {list, "50", "; adjacent detections are one gap\n"}, {list, "51", "filled 1 gap (10 of"},
		{list, "97", "filled 1 gap (10 of"}, {list, "98", "found nothing"}, {mixed, "98", "filled 1 gap (10 of"},
	} {
		args := []string{"impute", take, "--gaps", c.file, "--confidence", c.percent, "-o", filepath.Join(dir, "o.wav")}
		testkit.Contains(t, succeed(t, args...).stdout, c.want)
	}
}

// TestResume checks that --resume skips recordings whose repair is complete and repairs those with another setting
// or changed files.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	file, _, _ := stereo(t)
	quiet := string(wav(8000, 1, tone(4000, 8000)))
	testkit.Put(t, in("takes"), "a.wav", string(file))
	testkit.Put(t, in("takes"), "b.wav", quiet)
	line := []string{"impute", in("takes"), "--detect", "dropouts", "--out-dir", in("out"), "--labels",
		in("out", "{}.txt"), "--sd", in("out", "{}.csv"), "--json"}
	run := func(name, skipped string, args ...string) {
		t.Helper()
		r := decode[struct {
			Recordings []imputed
			Skipped    []string
		}](t, succeed(t, append(line, args...)...).stdout)
		if got := strings.Join(r.Skipped, " "); got != skipped ||
			len(r.Recordings)+len(r.Skipped) != len(listing(t, in("takes")))-1 {
			t.Errorf("%s: %q skipped, want %q; %d repaired", name, got, skipped, len(r.Recordings))
		}
	}
	run("the first time", "", "--resume")
	run("again", "a.wav b.wav", "--resume")
	run("with another setting", "", "--resume", "--sensitivity", "6")
	run("with it again", "a.wav b.wav", "--sensitivity", "6", "--quiet", "--resume")
	run("without --resume", "")
	testkit.Put(t, in("takes"), "c.wav", quiet)
	testkit.Put(t, in("out"), "a.wav", "RIFF")
	run("a new and a partial file", "b.wav", "--resume")
	testkit.OK(t, os.Remove(in("out", "b.txt")))
	testkit.Put(t, in("takes"), "a.wav", string(wav(8000, 1, tone(4001, 8000))))
	run("a missing output and a changed input", "c.wav", "--resume")
	testkit.Put(t, in("out"), ".vssgp-repair.json", "{")
	run("a damaged list", "", "--resume")
	refuse(t, "--out-dir", "impute", in("takes", "a.wav"), "--detect", "zeros", "-o", in("x.wav"), "--resume")
}

// TestFolderInterrupted checks that an interruption at the second recording of a folder keeps the first, and that the
// advised --resume skips it and ends with the same files as an uninterrupted run. --dry-run cannot be resumed.
func TestFolderInterrupted(t *testing.T) {
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	file, _, _ := stereo(t)
	testkit.Put(t, in("takes"), "a.wav", string(wav(8000, 1, tone(4000, 8000)))) // without damage
	testkit.Put(t, in("takes"), "b.wav", string(testkit.Read(t, gapped)))
	testkit.Put(t, in("takes"), "c.wav", string(file))
	line := func(out string, more ...string) []string {
		return append([]string{"impute", in("takes"), "--detect", "dropouts", "--out-dir", in(out)}, more...)
	}
	succeed(t, line("whole")...)
	for _, labels := range [][]string{nil, {"--labels", in("out", "{}.txt")}} {
		testkit.OK(t, os.RemoveAll(in("out")))
		o, text := interruptedAt(t, []string{"gap 1 "}, line("out", labels...)...)
		want := cli.Prefix + "interrupted; finished 1 of 3 recordings; to continue, run the same command with --resume\n"
		if text != want || o.code != cli.ExitInterrupted {
			t.Errorf("%q: exit %d, %q; want %q", labels, o.code, text, want)
		}
		testkit.Contains(t, succeed(t, line("out", append(labels, "--resume")...)...).stdout, "a.wav was repaired before")
		for _, name := range []string{"a.wav", "b.wav", "c.wav"} {
			if !bytes.Equal(testkit.Read(t, in("out", name)), testkit.Read(t, in("whole", name))) {
				t.Errorf("%q: %s differs from an uninterrupted run", labels, name)
			}
		}
	}
	o, text := interrupted(t, "impute", in("takes"), "--detect", "dropouts", "--dry-run")
	if text != cli.Prefix+"interrupted; searched 1 of 3 recordings\n" || o.code != cli.ExitInterrupted {
		t.Errorf("--dry-run: exit %d, %q", o.code, text)
	}
}

// TestFolder checks that all recordings of a folder are repaired with separate output files, and that an unreadable recording is reported
// at the end and does not affect the others.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	file, _, _ := stereo(t)
	testkit.Put(t, in("takes"), "a.wav", string(file))
	testkit.Put(t, in("takes"), "b.wav", string(wav(8000, 1, tone(4000, 8000))))
	testkit.Put(t, in("takes"), "notes.txt", "no recording")
	line := []string{"impute", in("takes"), "--detect", "dropouts", "--out-dir", in("out"), "--labels", in("out", "{}.txt")}
	repaired := succeed(t, line...)
	testkit.Contains(t, repaired.stderr, "1 file not read, such as notes.txt", "ffmpeg")
	dry := succeed(t, "impute", in("takes"), "--detect", "dropouts", "--dry-run").stdout
	for text, wrote := range map[string]int{repaired.stdout: 2, dry: 0} {
		if strings.Count(text, "wrote ") != wrote || !strings.Contains(text, "found nothing") || !strings.Contains(text, "1 dropout") {
			t.Errorf("the summary is %q", text)
		}
	}
	alone := in("alone.wav")
	succeed(t, "impute", in("takes", "a.wav"), "--detect", "dropouts", "-o", alone)
	if !bytes.Equal(testkit.Read(t, alone), testkit.Read(t, in("out", "a.wav"))) ||
		!bytes.Equal(testkit.Read(t, in("takes", "b.wav")), testkit.Read(t, in("out", "b.wav"))) {
		t.Error("a recording of a folder is repaired differently than alone")
	}
	if len(testkit.Read(t, in("out", "a.txt"))) == 0 || len(testkit.Read(t, in("out", "b.txt"))) != 0 {
		t.Error("the labels belong to other recordings")
	}
	testkit.Put(t, in("takes"), "aa.wav", "RIFF")
	o := vssgpRun(t, append(line, "--json")...)
	r := decode[struct {
		Recordings []imputed
		Failed     []string
	}](t, o.stdout)
	if o.code != cli.ExitMistake || len(r.Recordings) != 2 || !slices.Equal(r.Failed, []string{"aa.wav"}) ||
		len(r.Recordings[0].Gaps) != 1 || len(r.Recordings[1].Gaps) != 0 ||
		!strings.Contains(o.stderr, "1 of 3 recordings") {
		t.Errorf("exit %d, %d repaired, failed %q, stderr %q", o.code, len(r.Recordings), r.Failed, o.stderr)
	}
	for word, args := range map[string][]string{
		"{}":  {"--out-dir", in("out"), "--report", in("page.html")},
		"-o ": {"--out-dir", in("out"), "-o", in("x.wav")},
		" is the folder of the recordings; use another folder": {"--out-dir", in("out", "..", "takes")},
		"a folder":     {"-o", in("x.wav")},
		"no recording": nil,
	} {
		folder := in("takes")
		if args == nil {
			folder, args = in("out", "none"), []string{"--out-dir", in("more")}
			testkit.OK(t, os.Mkdir(folder, 0o777))
		}
		if o := vssgpRun(t, append([]string{"impute", folder, "--detect", "zeros"}, args...)...); o.code != cli.ExitMistake ||
			!strings.Contains(o.stderr, word) || strings.Contains(word, "folder of") &&
			strings.Count(o.stderr, cli.Prefix) != 2 {
			t.Errorf("%v: exit %d, %q; want %d and %q", args, o.code, o.stderr, cli.ExitMistake, word)
		}
	}
}

// TestGainRestoresPeaksAtFullScale checks the level of restored peaks at full scale: by default the output is lowered by what the fills
// need, --gain 0 keeps the level and reports what it clips, and --format float needs no gain. --removed is always
// the input minus the output.
func TestGainRestoresPeaksAtFullScale(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	file, _, _ := stereo(t)
	samples := words(t, file)[:2*2500]
	for i := range samples {
		samples[i] = int16(max(-32768, min(32767, 4*int(samples[i]))))
	}
	take := testkit.Put(t, dir, "loud.wav", string(wav(16000, 2, samples)))
	args := []string{"repair", take, "--detect", "clipped", "--json", "--removed", in("removed.wav"), "--sd", in("sd.npy")}
	unit := 0.0 // a standard deviation at the level of the input
	for _, c := range []struct {
		flags, note string
		gain        float64 // -1: any below
	}{
		{"", " dB softer than the input, because fills exceed full scale; --gain 0 keeps", -1},
		{"--gain auto --draws 1", " dB softer than the input", -1},
		{"--gain 0", "filled samples that exceeded full scale by up to ", 0},
		{"--gain -0.5dB", "; --gain auto or --format float keeps them", -0.5},
		{"--gain -12", "", -12},
		{"--format float", "", 0},
		{"--format float --gain -2", "", -2},
	} {
		out := in("out.wav")
		o := succeed(t, append(append(args, "-o", out), strings.Fields(c.flags)...)...)
		r := decode[struct {
			Gain    float64 `json:"gain_db"`
			Clipped int
			Gaps    [][2]int
		}](t, o.stdout)
		if c.gain == -1 && !(r.Gain < -1) || c.gain != -1 && r.Gain != c.gain {
			t.Errorf("%q: a gain of %v dB, want %v", c.flags, r.Gain, c.gain)
		}
		if !strings.Contains(o.stderr, c.note) || c.note == "" && o.stderr != "" ||
			(r.Clipped > 0) != strings.Contains(o.stderr, "clipped") {
			t.Errorf("%q: %d clipped, stderr %q, want %q", c.flags, r.Clipped, o.stderr, c.note)
		}
		before, after := testkit.Must(audio.Open(take))(t), testkit.Must(audio.Open(out))(t)
		removed := testkit.Must(audio.Open(in("removed.wav")))(t)
		by, e, peak, changed := math.Pow(10, r.Gain/20), after.Encoding(), 0.0, 0
		file := testkit.Read(t, in("sd.npy"))
		sd := math.Float64frombits(binary.LittleEndian.Uint64(file[len(file)-8:])) / by
		if unit = cmp.Or(unit, sd); math.Abs(sd/unit-1) > 1e-9 {
			t.Errorf("%q: the standard deviations are not at the level of the output", c.flags)
		}
		if e.Float != strings.Contains(c.flags, "float") || removed.Encoding() != e {
			t.Errorf("%q: the output has %v, the removed sound %v", c.flags, e, removed.Encoding())
		}
		for channel, x := range before.Samples {
			for n, v := range x {
				quiet := e.Nearest(by * v)
				if math.Abs(after.Samples[channel][n]+removed.Samples[channel][n]-quiet) > 1e-6 {
					t.Fatalf("%q: sample %d: output %v and removed %v of %v", c.flags, n, after.Samples[channel][n],
						removed.Samples[channel][n], quiet)
				}
				if after.Samples[channel][n] != quiet {
					changed++
				}
				peak = max(peak, math.Abs(after.Samples[channel][n]))
			}
		}
		if c.gain == -1 && (changed < 100 || r.Clipped > 0 || peak >= 1 || peak < 0.99 && c.flags == "") {
			t.Errorf("%q: %d samples differ, the peak is %v; want restored peaks just below full scale", c.flags, changed, peak)
		}
	}
	wrong := tone(8000, 8000) // an unreliable fill does not lower the output
	for i := range wrong {
		wrong[i] /= 8
	}
	copy(wrong[4000:], []int16{32767, 32767, 32767})
	labels := testkit.Put(t, dir, "clipped.csv", "start,end,channel,label\n4000,4003,,clipped\n")
	o := succeed(t, "repair", testkit.Put(t, dir, "wrong.wav", string(wav(8000, 1, wrong))), "--gaps", labels, "-o",
		in("o.wav"))
	testkit.Contains(t, o.stdout+o.stderr, "unreliable: gap 4000:4003", "o.wav: clipped 3 filled samples")
	still := in("still.wav") // a given gain also applies if there is no damage
	succeed(t, "repair", take, "--detect", "zeros", "--to", "0.5s", "--gain", "-6", "-o", still)
	for i, v := range words(t, testkit.Read(t, still)) {
		if want := math.RoundToEven(math.Pow(10, -0.3) * float64(samples[i])); float64(v) != want {
			t.Fatalf("sample %d became %d, want %v", i, v, want)
		}
	}
	again := in("again.wav") // other damage does not change the level
	succeed(t, "repair", take, "--gap", "600:610", "-o", again)
	if changedInside(t, samples, words(t, testkit.Read(t, again)), [2]int{1200, 1220}) == 0 {
		t.Error("a gap is not filled")
	}
	refuse(t, "32-bit float", append(args, "--format", "float", "-o", in("x.flac"))...)
	refuse(t, "--gain", append(args, "--gain", "3", "-o", in("x.wav"))...)
}

// TestVinyl checks that ticks in noise are reported with the reason of the mode, that off and on overrule it, and that
// near misses are listed.
func TestVinyl(t *testing.T) {
	const rate, n = 16000, 8 * 16000
	rng, dir := rand.New(rand.NewPCG(5, 5)), t.TempDir()
	ticking, hiss := make([]int16, n), make([]int16, n)
	for i := range ticking {
		hiss[i] = int16(100 * rng.NormFloat64())
		ticking[i] = hiss[i]
		if rng.IntN(rate/30) == 0 {
			ticking[i] += int16(500 + rng.IntN(2000))
		}
	}
	testkit.Put(t, dir, "ticks.wav", string(wav(rate, 1, ticking)))
	testkit.Put(t, dir, "hiss.wav", string(wav(rate, 1, hiss)))
	type result struct {
		Found, Near []struct{ Confidence float64 }
		Vinyl       struct {
			Used  bool
			Ticks float64 `json:"quiet_ticks_per_second"`
		}
	}
	for _, c := range []struct {
		name, flags, message string
		used                 bool
		least, most          int // clicks
	}{
		{"ticks.wav", "", "as on a record: vinyl mode", true, 150, 300},
		{"ticks.wav", "--vinyl off", "", false, 0, 300},
		{"hiss.wav", "", "", false, 0, 0},
		{"hiss.wav", "--vinyl on", "", true, 0, 8},
	} {
		args := append([]string{"repair", filepath.Join(dir, c.name), "--detect", "clicks", "--dry-run", "--json"}, strings.Fields(c.flags)...)
		o := succeed(t, args...)
		r := decode[result](t, o.stdout)
		if n := len(r.Found); r.Vinyl.Used != c.used || n < c.least || n > c.most {
			t.Errorf("%s %s: vinyl %+v, %d clicks", c.name, c.flags, r.Vinyl, n)
		}
		if c.message == "" && strings.Contains(o.stderr, "vinyl mode") || !strings.Contains(o.stderr, c.message) {
			t.Errorf("%s %s: message %q, want %q", c.name, c.flags, o.stderr, c.message)
		}
	}
	page := filepath.Join(dir, "page.html")
	o := succeed(t, "repair", filepath.Join(dir, "ticks.wav"), "--detect", "clicks", "--vinyl", "off", "--sensitivity", "1", "--dry-run", "--report", page)
	testkit.Contains(t, o.stderr, "--sensitivity 4 finds them")
	testkit.Contains(t, string(testkit.Read(t, page)), "only a higher sensitivity finds")
}
