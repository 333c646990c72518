package report

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
)

// tone returns n samples of a sine. The frequency is relative to the sample rate.
func tone(n int, frequency float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 * math.Sin(2*math.Pi*frequency*float64(i))
	}
	return x
}

// made returns a fill of n samples with a gap of 10 samples every so many samples. Later gaps have larger expected errors.
func made(n, every, channels int) *Fill {
	f := &Fill{Name: "long.wav", Output: "out.wav", Samples: n, Rate: 8000, Channels: channels, Method: "mixture",
		Result: &restore.Result{Method: restore.Mixture}}
	input := make(audio.Samples, channels)
	for c := range input {
		input[c] = tone(n, 0.02)
	}
	f.Input = input
	for at := every / 2; at+20 < n; at += every {
		g := restore.Gap{Start: at, End: at + 10}
		f.Gaps = append(f.Gaps, g)
		var fills []restore.GapFill
		for c := range channels {
			sd := slices.Repeat([]float64{float64(at) / float64(n)}, 10)
			fills = append(fills, restore.GapFill{Gap: g, Channel: c, Mean: tone(15, 0.1)[5:], SD: sd, Level: 0.1})
		}
		f.Result.Gaps, f.Result.Fills = append(f.Result.Gaps, g), append(f.Result.Fills, fills)
	}
	return f
}

// damaged returns a recording with n detections of three kinds in alternating channels. Detections of different channels overlap.
func damaged(n, channels int) *Fill {
	f := made(40*n+100, 1<<40, channels)
	f.Result = nil
	for i := range n {
		g := audio.Gap{Start: 40*i + 20, End: 40*i + 65, Channel: (i + 1) % (channels + 1)}
		if g.Channel == 0 || channels == 1 {
			g.End = g.Start + 3 + i%2
		}
		f.Found = append(f.Found, detect.Found{Gap: g, Kind: detect.Kinds[:3][i%3], LogOdds: float64(i * (i % 2))})
	}
	return f
}

// embeddedIn returns the embedded part of a fill.
func embeddedIn(t *testing.T, f *Fill) *embedded {
	t.Helper()
	return testkit.Must(newEmbedded(f))(t)
}

// TestPlayerLowersAllSounds checks that the player lowers all sounds by the gain that the fills need.
func TestPlayerLowersAllSounds(t *testing.T) {
	f := made(2000, 500, 1)
	testkit.Equal(t, embeddedIn(t, f).player.Gain, 0, "without a gain")
	f.Gain = -6
	testkit.Near(t, embeddedIn(t, f).player.Gain, 0.501187, 1e-6, "player")
	testkit.Contains(t, strings.Join(testkit.Must(Impute(f))(t).Lead, " "), "all sounds 6.00 dB softer")
}

// TestEmbedded checks that the size of the page is limited, that it contains every gap with charts, and that it lists its limits.
func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		n, every, channels int
		whole              bool
		charted            int
		limits             []string
	}{
		{20000, 5000, 1, true, 4, nil},
		{200000, 1000, 1, true, maxCharted, []string{"Of 200 gaps, it lists 200 and plots the 40 with the least certain fills"}},
		{6_000_000, 100_000, 1, false, maxCharted, []string{"within 0.3 s of the listed gaps", "Of 60 gaps"}},
		{3_000_000, 600_000, 2, false, 5, []string{"within 0.3 s of the listed gaps"}},
		{50_000, 10_000, 6, true, 5, []string{"Of 6 channels, it plots the first 4."}},
		{1_000_000, 2000, 6, false, maxCharted, []string{"within 0.3 s", "Of 500 gaps, it lists 300", "Of 6 channels"}}, // clips overlap
	} {
		f := made(c.n, c.every, c.channels)
		p := embeddedIn(t, f)
		size, numbers := 0, map[int]bool{}
		for _, s := range p.player.Clips {
			size += len(s.PCM)
		}
		for _, g := range p.player.Gaps {
			size, numbers[g.Number] = size+len(g.Mean), true
			testkit.Equal(t, p.gaps[g.Number-1].Start, g.Start, c, ": gap ", g.Number)
		}
		if p.whole != c.whole || size > maxSound || len(numbers) != len(p.player.Gaps) || p.charted != c.charted || p.listed[0].number != len(f.Gaps) {
			t.Errorf("%v: whole %v, %d bytes, %d gaps have charts, gap %d is the first listed", c, p.whole, size, p.charted, p.listed[0].number)
		}
		for i, g := range p.listed {
			if i > 0 && g.relative > p.listed[i-1].relative {
				t.Errorf("%v: gap %d, expected error %v, is listed after one of %v", c, g.number, g.relative, p.listed[i-1].relative)
			}
			inside := slices.ContainsFunc(p.player.Clips, func(c clip) bool { return c.Start <= g.lo && g.hi <= c.End })
			if g.charted && (!inside || !g.embedded) {
				t.Errorf("%v: gap %v has charts and is not in the page", c, g.Gap)
			}
		}
		limits := p.limits()
		testkit.Equal(t, len(limits), len(c.limits), c, ": sentences about limits")
		testkit.Contains(t, strings.Join(limits, " "), c.limits...)
	}
	f := damaged(300, 1)
	f.Samples, f.Input = 40_000_000, long{f.Input}
	for i := range f.Found { // each detection is too long for a page
		f.Found[i].Start, f.Found[i].End = 40*i, 40*i+30_000_000
	}
	counted(t, f, map[string]int{`id="player"`: 0, "Gap 300": 1, "#gap300": 0, "it lists 300 and plots the 0": 1})
}

// A long recording returns an error for each read.
type long struct{ restore.Source }

func (long) Read(lo, hi int) ([][]float64, error) { return nil, fmt.Errorf("read %d to %d", lo, hi) }

// pageOf returns the page of a fill or of detections.
func pageOf(t *testing.T, f *Fill) string {
	t.Helper()
	return written(t, testkit.Must(Impute(f))(t))
}

// counted checks how often texts occur in a fill's page, which it returns.
func counted(t *testing.T, f *Fill, want map[string]int) (page string) {
	t.Helper()
	page = pageOf(t, f)
	for text, times := range want {
		testkit.Equal(t, strings.Count(page, text), times, "times of ", text)
	}
	return page
}

// TestFilledPage checks that the page has all sections with content and no others.
func TestFilledPage(t *testing.T) {
	text := counted(t, made(30000, 1000, 2), map[string]int{
		`" open>`: openGaps, `<details id="gap`: 30, `<button class="play`: 31, `id="player"`: 1, `value="difference"`: 1, `value="reference"`: 0,
		`<div class="wide"`: 62 + 2*(1+maxSpectrograms), "data:image/png;base64,": 2 * 2 * (1 + maxSpectrograms),
		"▶ Play the whole recording": 1, "▶ Play gap 30<": 1, `<a href="#gap30">Gap 30</a>`: 1, "Gap 30: 1.25 ms at 3.688 s, samples 29500 to 29510": 1,
		"<b>Waveform of gap 2, channel 2<": 1, "30 gaps filled (300 of 30000 samples": 1, "Only the first 16 have spectrograms": 1, "may be unreliable": 0,
		">Scores<": 0, ">Settings<": 0, "Damage found": 0, ">kind<": 0, ">warning<": 0, ">channel<": 1,
	})
	if len(text) > 5<<20 {
		t.Errorf("the page takes %d bytes", len(text))
	}
	text = pageOf(t, speech(t))
	testkit.Contains(t, text, "RMSE against the reference", "&lt;/script&gt;",
		`value="reference"`, `"reference":"`)
	if strings.Contains(text, "onerror=alert(2)>") {
		t.Error("a name is not escaped")
	}
}

// speech returns a fill of the first 1.25 s of the speech, with a reference and a name that contains markup.
func speech(t *testing.T) *Fill {
	t.Helper()
	cut, clean := testkit.Must(audio.Open("../../../../testdata/speech_gapped.wav"))(t), testkit.Must(audio.Open("../../../../testdata/speech.wav"))(t)
	const n = 20000
	gaps := []restore.Gap{{Start: 3200, End: 3280}, {Start: 4950, End: 5110}, {Start: 8200, End: 8280}, {Start: 17700, End: 17780}}
	input, reference := audio.Samples{cut.Samples[0][:n]}, audio.Samples{clean.Samples[0][:n]}
	o := restore.Options{Forget: true, Model: vssgp.Options{Components: 12, Windows: vssgp.WindowOptions{Length: 0.032}}}
	return &Fill{
		Name: hostile, Output: "filled.wav", Samples: n, Rate: cut.Rate, Channels: 1, Gaps: gaps, Method: "vssgp",
		Result: testkit.Must(restore.FillFrom(t.Context(), input, n, cut.Rate, gaps, o))(t),
		Input:  input, Reference: reference, Settings: []Setting{{"--gaps", hostile}},
	}
}

// TestWarnings checks the number of unreliable fills on the page, and the warnings in the list and at the gaps.
func TestWarnings(t *testing.T) {
	f := made(400_000, 1000, 2)
	for i := range f.Gaps {
		f.Result.Fills[i][i%2].Warning = fmt.Sprintf("reason %d <", i+1)
	}
	counted(t, f, map[string]int{
		"in 0.0 s by mixture on cpu": 1, "400 fills may be unreliable": 1, `<a href="#gap`: maxListed, "in channel 1 reason 101 &lt;<": 1,
		"reason 100 ": 0, "Of 400 gaps, it lists 300 and plots the 40": 1, "The first 300 of 400 gaps, by decreasing expected error": 2,
		"This fill may be unreliable: in channel 1 reason 399 &lt;.": 1, "This fill may be unreliable: in channel 2 reason 400 &lt;.": 1,
	})
}

// TestFoundPage checks the counts by kind and channel and the charts of a page without a fill.
func TestFoundPage(t *testing.T) {
	counted(t, damaged(60, 2), map[string]int{
		"Found: long.wav": 2, "60 gaps found (": 1, "Nothing was filled": 1, ">Damage found<": 2, "<th scope=\"row\">clicks</th><td>20</td>": 1,
		"only in channel 2": 1, "<b>Lengths of the detections": 1, "Length of each detection over time": 3, `value="after"`: 0, "by increasing confidence": 2,
		"expected error": 0, "data:image/png;base64,": 2 * (1 + maxSpectrograms), "<b>Spectrogram<": 1 + maxSpectrograms, `"mean":"`: 0,
		"Found: zeros, confidence 100 %": 9,
	})
	chart := pictureOf(t, damaged(6000, 1).found().Charts...)
	testkit.Equal(t, strings.Count(chart, "A1.2,1.2 0 1 1 "), 2*(maxDetections+3), "arcs of the longest detections and of three kinds in the legend")
	counted(t, damaged(6000, 1), map[string]int{"Length over time of the longest 2000 of 6000": 3, "Of 6000 gaps, it lists 300 and plots the 40 with the lowest confidence": 1})
	counted(t, damaged(0, 1), map[string]int{"Nothing was found.": 1, "0 gaps found (": 1, `id="player"`: 1, "List of gaps": 0})
	f := made(30000, 1000, 1)
	for i, g := range f.Gaps {
		g.End = g.Start + 4 // part of the filled gap
		f.Found = append(f.Found, detect.Found{Gap: g, Kind: []detect.Kind{hostile, "b", "c", "d", ""}[i%5]})
	}
	page := counted(t, f, map[string]int{">Damage found<": 2, "<th scope=\"row\">other</th><td>12</td>": 1, "Found: d.": 6, ">kind<": 1})
	if strings.Contains(page, "onerror=alert(2)>") {
		t.Error("a kind is not escaped")
	}
}

// TestSpectrogram checks that the row of a tone is the brightest at all times.
func TestSpectrogram(t *testing.T) {
	s := levels(tone(8000, 0.1), 50, 200)
	if len(s) != 50 || len(s[0]) != 100 {
		t.Fatalf("%d columns of %d rows", len(s), len(s[0]))
	}
	top := s[25][20]
	for c, column := range s {
		testkit.Equal(t, slices.Index(column, slices.Max(column)), 20, "the loudest row of column ", c)
	}
	img := picture(s, top).(*image.Paletted)
	if img.Bounds().Dx() != 50 || img.Bounds().Dy() != 100 || img.ColorIndexAt(25, 79) != 31 || img.ColorIndexAt(25, 10) > 10 {
		t.Errorf("%v: the tone has color %d, silence %d", img.Bounds(), img.ColorIndexAt(25, 79), img.ColorIndexAt(25, 10))
	}
}

// An unreadable recording has values in its gaps that are not finite.
type unreadable struct {
	audio.Samples
	gaps []restore.Gap
}

func (u unreadable) Read(lo, hi int) ([][]float64, error) {
	for _, g := range u.gaps {
		if g.Start < hi && lo < g.End {
			return nil, fmt.Errorf("sample %d: %w", g.Start, audio.ErrFormat)
		}
	}
	return u.Samples.Read(lo, hi)
}

// TestUnreadableGaps checks that unreadable gaps are silent before the fill.
func TestUnreadableGaps(t *testing.T) {
	f := made(5000, 1000, 1)
	f.Input = unreadable{f.Input.(audio.Samples), f.Gaps}
	before, after := embeddedIn(t, f).mixed(0, 5000)
	for i, g := range f.Gaps {
		testkit.Equal(t, before[g.Start:g.End], make([]float64, g.Len()), "a gap before the fill")
		mean := f.Result.Fills[i][0].Mean
		if after[g.Start+3] != mean[3] || mean[3] == 0 || before[g.Start-1] == 0 || after[g.Start-1] != before[g.Start-1] {
			t.Errorf("gap %v: %v after the fill, next to it %v and %v", g, after[g.Start+3], before[g.Start-1], after[g.Start-1])
		}
	}
}

// overlapping returns a fill of a gap in the first channel and of an overlapping gap in the second channel.
func overlapping() *Fill {
	f := made(4000, 1<<40, 2)
	f.Gaps = []restore.Gap{{Start: 1000, End: 1030, Channel: 1}, {Start: 1010, End: 1020, Channel: 2}}
	f.Result.Gaps = f.Gaps
	for c, n := range []int{30, 10} {
		sign := float64(1 - 2*c)
		f.Result.Fills = append(f.Result.Fills, []restore.GapFill{{Gap: f.Gaps[c], Channel: c, Mean: slices.Repeat([]float64{0.9 * sign}, n),
			SD: slices.Repeat([]float64{0.1 * float64(c+1)}, n), Level: 0.5}})
	}
	return f
}

// TestOverlappingGaps checks that overlapping gaps of two channels have the fill, error and level of their channel.
func TestOverlappingGaps(t *testing.T) {
	f := overlapping()
	p := embeddedIn(t, f)
	for _, c := range []struct{ lo, hi, want int }{{0, 4000, 2}, {1025, 1030, 1}, {1029, 1031, 1}, {1030, 1040, 0}, {1012, 1013, 2}, {900, 1000, 0}, {900, 1001, 1}} {
		testkit.Equal(t, len(p.within(c.lo, c.hi)), c.want, "gaps within ", c)
	}
	if first, second := p.listed[0], p.listed[1]; first.number != 2 || math.Abs(first.relative-0.4) > 1e-12 || math.Abs(second.relative-0.2) > 1e-12 {
		t.Errorf("listed %+v, %+v", first, second)
	}
	sd, relative := expectedError(slices.Concat(f.Result.Fills...))
	if math.Abs(sd-0.2) > 1e-12 || math.Abs(relative-0.4) > 1e-12 {
		t.Errorf("of both channels the error is %v, %v of the level; want the larger", sd, relative)
	}
	given := f.Input.(audio.Samples)
	_, after := p.mixed(990, 1040)
	for i, got := range after {
		want := given[0][990+i] + given[1][990+i]
		if i >= 10 && i < 40 {
			want += 0.9 - given[0][990+i]
		}
		if i >= 20 && i < 30 {
			want += -0.9 - given[1][990+i]
		}
		testkit.Near(t, got, want/2, 1e-12, "sample ", 990+i)
	}
	for channel, want := range []int{30, 10} { // a waveform has the gaps of its channel only
		n := 0
		for _, v := range p.waveOf(980, 1050, channel).gaps {
			if v == 0 {
				n++
			}
		}
		testkit.Equal(t, n, want, "samples in gaps of channel ", channel+1)
	}
	counted(t, f, map[string]int{"samples 1010 to 1020, channel 2": 1, `"channel":2,`: 1, "<b>Waveform": 4, "Waveform of gap 2, channel 1": 0})
}

// TestWaveform checks that each sample is plotted once, by the recording or by the fill with its adjacent samples, and that the columns of
// a long recording show the range of their samples.
func TestWaveform(t *testing.T) {
	f := made(900, 400, 1) // gaps from 200 and from 600 on
	reference := tone(900, 0.03)
	f.Reference = audio.Samples{reference}
	given := f.Input.(audio.Samples)[0]
	w := embeddedIn(t, f).waveOf(100, 650, 0)
	for i := range w.given {
		n, none := 100+i, math.NaN()
		want := [...]float64{given[n], none, none, none, none, none}
		switch fill := f.Result.Fills[n/400][0]; n {
		case 199, 210, 599, 610:
			want = [...]float64{given[n], given[n], given[n], given[n], given[n], none}
		default:
			if at := n%400 - 200; at >= 0 && at < 10 {
				mean, half := fill.Mean[at], bayes.SD95*fill.SD[at]
				want = [...]float64{none, mean, mean - half, mean + half, reference[n], 0}
			}
		}
		got := [...]float64{w.given[i], w.mean[i], w.lower[i], w.upper[i], w.reference[i], w.gaps[i]}
		if fmt.Sprint(got) != fmt.Sprint(want) { // NaN, too
			t.Errorf("sample %d: %v, want %v", n, got, want)
		}
	}
	charts := embeddedIn(t, f).waves("wave", "", 100, 650, audio.Gap{}, true)
	testkit.Contains(t, pictureOf(t, charts...), ">gap<", ">recording<", ">95 % band<", ">reference<", ">mean<")
	lo, hi := thin([]float64{math.NaN(), 2, 1, math.NaN(), math.NaN(), math.NaN(), 5}, 3)
	testkit.Equal(t, fmt.Sprint(lo, hi), "[1 NaN 5] [2 NaN 5]", "the ranges of three values each")
}
