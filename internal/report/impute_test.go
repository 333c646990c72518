package report

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/testkit"
)

// tone is n samples of a sine of a frequency, as a share of the sampling rate.
func tone(n int, frequency float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 * math.Sin(2*math.Pi*frequency*float64(i))
	}
	return x
}

// made is a fill of n samples with gaps of 10 every so often, each an excerpt of
// its own; the later the gap the less sure.
func made(n, every, channels int) *Fill {
	f := &Fill{Name: "long.wav", Output: "out.wav", Samples: n, Rate: 8000, Channels: channels, Method: "mixture", Result: &restore.Result{Method: restore.Mixture}}
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

// embeddedIn is what a page holds of a fill.
func embeddedIn(t *testing.T, f *Fill) *embedded {
	t.Helper()
	return testkit.Must(newEmbedded(f))(t)
}

// TestEmbedded: what the page holds is bounded, whole where it may be, and
// every gap shown lies in it; what it leaves out it says.
func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		name               string
		n, every, channels int
		whole              bool
		shown, dropped     int
	}{
		{"short", 20000, 5000, 1, true, 4, 0},
		{"many gaps", 200000, 1000, 1, true, mostGaps, 200 - mostGaps},
		{"long", 6_000_000, 100_000, 1, false, mostGaps, 60 - mostGaps},
		{"a gap soon after the first clip", 6_000_000, 759_774, 1, false, 8, 0},
		{"long, few gaps, stereo", 3_000_000, 600_000, 2, false, 5, 0},
		{"many channels", 50_000, 10_000, 6, true, 5, 0},
	} {
		f := made(c.n, c.every, c.channels)
		p := embeddedIn(t, f)
		held := 0
		for _, s := range p.recording.Clips {
			held += bytesGiven * len(s.samples[0]) * c.channels
		}
		for _, g := range p.recording.Gaps {
			held += bytesFilled * (g.End - g.Start) * c.channels
			testkit.Equal(t, p.gaps[g.Number-1].Start, g.Start, c.name, ": gap ", g.Number)
		}
		if (p.end == c.n) != c.whole || held > 2*mostSound || p.shown != c.shown || len(p.gaps)-p.shown != c.dropped {
			t.Errorf("%s: holds the first %d of %d samples, %d bytes, shows %d gaps and drops %d; want whole %v, %d and %d", c.name, p.end, c.n, held, p.shown, len(p.gaps)-p.shown, c.whole, c.shown, c.dropped)
		}
		for i, s := range p.listed {
			if i > 0 && s.expected > p.listed[i-1].expected {
				t.Errorf("%s: gap %d, expected error %v, is listed after one of %v", c.name, s.number, s.expected, p.listed[i-1].expected)
			}
			if !s.shown {
				continue
			}
			inside := false
			for _, r := range p.recording.Clips {
				inside = inside || r.start <= s.lo && s.hi <= r.start+len(r.samples[0])
			}
			if !inside {
				t.Errorf("%s: gap %v is shown and not held", c.name, s.Gap)
			}
		}
		testkit.Equal(t, p.listed[0].number, len(f.Gaps), c.name, ": the first gap listed, the least sure one")
		said := strings.Join(p.limits(), " ")
		if strings.Contains(said, "first") != (!c.whole || c.channels > mostSeries) || strings.Contains(said, "least sure") != (c.dropped > 0) {
			t.Errorf("%s: it says %q", c.name, said)
		}
	}
}

// damaged is a recording in which n finds of three kinds and of all channels in turn are to be looked at; those of different channels overlap.
func damaged(n, channels int) *Fill {
	f := made(40*n+100, 1<<40, channels)
	f.Result = nil
	for i := range n {
		g := audio.Gap{Start: 40*i + 20, End: 40*i + 65, Channel: (i + 1) % (channels + 1)}
		if g.Channel == 0 || channels == 1 {
			g.End = g.Start + 3
		}
		f.Found = append(f.Found, detect.Found{Gap: g, Kind: detect.Kinds[:3][i%3], LogOdds: float64(i * (i % 2))})
	}
	return f
}

// pageOf is a report of what was filled or found.
func pageOf(t *testing.T, f *Fill) []byte {
	t.Helper()
	d := testkit.Must(Impute(f))(t)
	return []byte(written(t, d))
}

// counted writes a fill's page and sees that texts are in it so many times.
func counted(t *testing.T, f *Fill, want map[string]int) (page string) {
	t.Helper()
	page = string(pageOf(t, f))
	for text, times := range want {
		testkit.Equal(t, strings.Count(page, text), times, "times of ", text)
	}
	return page
}

// TestImputePage: the page has each of its sections, and none without content.
func TestImputePage(t *testing.T) {
	f := made(30000, 1000, 2)
	text := counted(t, f, map[string]int{
		`" open>`: openGaps, `<details id="gap`: 30, `class="play"`: 31, `id="player"`: 1, `data-do="difference"`: 1, "<audio": 0, "data:image/svg&#43;xml;base64,": 62, "data:image/png;base64,": 2 * (1 + mostGapPictures),
		"▶ Play the whole recording": 1, "▶ Play gap 30<": 1, `<a href="#gap30" data-select="30">Gap 30</a>`: 1, `data-rank="0"`: 1, `data-number="30" data-start="29500" data-rank="0"`: 1, "Gap 30: 1.25 ms at 3.688 s, samples 29500 to 29510": 1, "Waveform of gap 2, channel 2": 3, "30 gaps filled (300 of 30000 samples": 1,
		"The first 16 have spectrograms": 1, ">Scores<": 0, ">Learnt spectrum<": 0, ">Settings<": 0, "should not be trusted": 0, "What was found": 0,
	})
	if len(text) > 3<<20 {
		t.Errorf("the page takes %d bytes", len(text))
	}
}

// TestDoubts: the page says how many fills not to trust, and in the list and at the gaps why.
func TestDoubts(t *testing.T) {
	f := made(400_000, 1000, 2)
	for i := range f.Gaps {
		f.Result.Fills[i][i%2].Warning = fmt.Sprintf("reason %d <", i+1)
	}
	counted(t, f, map[string]int{
		"in 0.0 s by mixture on cpu": 1, "400 fills should not be trusted": 1, `data-rank="`: mostListed, "in channel 1 reason 101 &lt;<": 1, "reason 100 ": 0,
		"Of 400 gaps it lists 300 and draws 40": 1, "Do not trust it: in channel 1 reason 399 &lt;.": 1, "Do not trust it: in channel 2 reason 400 &lt;.": 1,
	})
}

// TestFilledPage: with a reference and densities, and a name to be wary of.
func TestFilledPage(t *testing.T) {
	text := string(filledPage(t))
	testkit.Contains(t, text, "RMSE against the reference", "Learnt power spectrum, mean over the excerpts", "the most at", "&lt;/script&gt;")
	if strings.Contains(text, "onerror=alert(2)>") {
		t.Error("a name has become markup")
	}
}

// TestSpectrogram: a tone is loudest in its own row, at every time, and gaps
// are marked.
func TestSpectrogram(t *testing.T) {
	s := spectrogram(tone(8000, 0.1), 50, 200)
	if len(s) != 50 || len(s[0]) != 100 {
		t.Fatalf("%d columns of %d rows", len(s), len(s[0]))
	}
	for c, column := range s {
		most := 0
		for r, v := range column {
			if v > column[most] {
				most = r
			}
		}
		testkit.Equal(t, most, 20, "the loudest row of column ", c)
	}
	data := testkit.Must(s.encode(s.loudest(), func(c int) bool { return c == 7 }))(t)
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Dx() != 50 || img.Bounds().Dy() != 100 {
		t.Fatalf("%v, %v", err, img)
	}
	for c, want := range map[int]bool{6: false, 7: true, 8: false} {
		testkit.Equal(t, img.At(c, 99) == spectrogramPalette[gapInk], want, "marked column ", c)
	}
	if r, g, _, _ := img.At(25, 79).RGBA(); r < 0xe000 || g < 0xd000 {
		t.Errorf("the tone is drawn %v, want the brightest", img.At(25, 79))
	}
}

// holed is a recording whose gaps hold what is no number.
type holed struct {
	audio.Samples
	gaps []restore.Gap
}

func (h holed) Read(lo, hi int) ([][]float64, error) {
	for _, g := range h.gaps {
		if g.Start < hi && lo < g.End {
			return nil, fmt.Errorf("sample %d: %w", g.Start, audio.ErrFormat)
		}
	}
	return h.Samples.Read(lo, hi)
}

// TestEmbeddedHoles: gaps that cannot be read are silent before the fill.
func TestEmbeddedHoles(t *testing.T) {
	f := made(5000, 1000, 1)
	f.Input = holed{f.Input.(audio.Samples), f.Gaps}
	p := embeddedIn(t, f)
	before, after := p.mixed(0, 5000)
	for _, g := range f.Gaps {
		testkit.Equal(t, before[g.Start:g.End], make([]float64, g.Len()), "a gap before the fill")
		mean := p.fillings(g)[0].Mean
		if after[g.Start+3] != mean[3] || mean[3] == 0 || before[g.Start-1] == 0 || after[g.Start-1] != before[g.Start-1] {
			t.Errorf("gap %v: %v after the fill, beside it %v and %v", g, after[g.Start+3], before[g.Start-1], after[g.Start-1])
		}
	}
}

// overlapping is a fill of a gap of the first channel, and within its time of one of the second.
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

// TestOverlappingGaps: gaps of two channels at the same time are found by where they
// lie, and each has its own channel's fill, error and level.
func TestOverlappingGaps(t *testing.T) {
	f := overlapping()
	p := embeddedIn(t, f)
	for _, c := range []struct{ lo, hi, want int }{{0, 4000, 2}, {1025, 1030, 1}, {1029, 1031, 1}, {1030, 1040, 0}, {1012, 1013, 2}, {900, 1000, 0}, {900, 1001, 1}} {
		testkit.Equal(t, len(p.within(c.lo, c.hi)), c.want, "gaps within ", c)
	}
	if len(p.recording.Gaps) != 2 || p.listed[0].number != 2 || math.Abs(p.listed[0].expected-0.4) > 1e-12 || math.Abs(p.listed[1].expected-0.2) > 1e-12 {
		t.Errorf("listed %+v, held %d", p.listed, len(p.recording.Gaps))
	}
	both := overlapping()
	both.Gaps = []restore.Gap{{Start: 1000, End: 1030}}
	both.Result.Gaps, both.Result.Fills = both.Gaps, [][]restore.GapFill{slices.Concat(both.Result.Fills...)}
	q := embeddedIn(t, both)
	if sd, relative := q.errorOf(both.Gaps[0]); math.Abs(sd-0.2) > 1e-12 || math.Abs(relative-0.4) > 1e-12 {
		t.Errorf("of both channels the error is %v, %v of the level; want the larger", sd, relative)
	}
	if fills := p.fillings(f.Gaps[1]); len(fills) != 1 || len(fills[0].Mean) != 10 || fills[0].Mean[0] != -0.9 || fills[0].SD[9] != 0.2 {
		t.Errorf("the second channel's fill is %v", fills)
	}
	before, after := p.mixed(990, 1040)
	for i := range before {
		given := f.Input.(audio.Samples)
		want := given[0][990+i] + given[1][990+i]
		if i >= 10 && i < 40 {
			want += 0.9 - given[0][990+i]
		}
		if i >= 20 && i < 30 {
			want += -0.9 - given[1][990+i]
		}
		testkit.Near(t, after[i], want/2, 1e-12, "sample ", 990+i)
	}
	for c, want := range []float64{30, 10} { // a waveform has the gaps of its channel only
		w := testkit.Must(p.waveOf(980, 1050, c))(t)
		if len(w.gaps) != 1 || math.Abs((w.gaps[0].x[1]-w.gaps[0].x[0])*8000-want) > 1e-6 {
			t.Errorf("channel %d: gaps %v; want one of %v samples", c+1, w.gaps, want)
		}
	}
	counted(t, f, map[string]int{"samples 1010 to 1020, channel 2": 1, `"channel":2,`: 1, "data:image/svg&#43;xml;base64,": 4, "Waveform of gap 2, channel 1": 0})
}

// TestWaveform: each sample is drawn once, by the recording or by the fill, which begins and ends at the samples next to its gap; in a long
// recording a column has the range of its samples.
func TestWaveform(t *testing.T) {
	f := made(900, 400, 1) // gaps from 200 and from 600 on
	f.Reference = audio.Samples{tone(900, 0.03)}
	p := embeddedIn(t, f)
	given := f.Input.(audio.Samples)[0]
	parts := testkit.Must(p.waves("title", "text", 100, 700, []int{0}, true))(t)
	count := map[string]int{}
	for _, l := range parts[0].(*chart).layers {
		count[l.name]++
		inGap := func(x float64, more int) bool {
			i := int(math.Round(x * 8000))
			return i >= 200-more && i < 210+more || i >= 600-more && i < 610+more
		}
		for i, x := range l.x {
			n := int(math.Round(x * 8000))
			switch {
			case l.name == "gap":
			case l.kind == asLine && math.IsNaN(l.y[i]):
			case l.name == "recording" && inGap(x, 0) || l.name != "recording" && !inGap(x, 1):
				t.Errorf("%s has sample %d", l.name, n)
			case !inGap(x, 0) && (l.kind == asLine && l.y[i] != given[n] || l.kind == asBand && (l.lo[i] != given[n] || l.hi[i] != given[n])):
				t.Errorf("%s does not have the recording's value at sample %d", l.name, n)
			case inGap(x, 0) && l.name == "reference" && l.y[i] != f.Reference.(audio.Samples)[0][n]:
				t.Errorf("the reference is %v at sample %d", l.y[i], n)
			case inGap(x, 0) && l.kind == asBand && math.Abs(l.hi[i]-l.lo[i]-2*interval*f.Result.Fills[n/400][0].SD[0]) > 1e-12:
				t.Errorf("the band at sample %d is from %v to %v", n, l.lo[i], l.hi[i])
			}
		}
	}
	if want := map[string]int{"gap": 2, "recording": 1, "95 % band": 2, "reference": 1, "mean": 1}; !maps.Equal(count, want) {
		t.Errorf("layers %v, want %v", count, want)
	}
	long := embeddedIn(t, made(10*waveColumns-5, 5000, 1))
	w, err := long.waveOf(0, 10*waveColumns-5, 0)
	if err != nil || len(w.given) != waveColumns {
		t.Fatalf("%d columns, %v", len(w.given), err)
	}
	x := long.Input.(audio.Samples)[0][90:100]
	if w.given[9] != (span{slices.Min(x), slices.Max(x)}) || len(w.gaps) != 2 || w.gaps[0].x[1]-w.gaps[0].x[0] < 9.99/8000 {
		t.Errorf("column 9 has %v of %v; gaps %v", w.given[9], x, w.gaps)
	}
	if l := w.line("recording", dataInk, w.given[:10]); len(l.x) != 20 || l.x[18] != 90./8000 || l.y[18] != w.given[9].lo || l.y[19] != w.given[9].hi {
		t.Errorf("ten columns are drawn as %v, %v", l.x, l.y)
	}
}

// TestClipEnd: the first clip ends before gaps that overlap one another where it would end.
func TestClipEnd(t *testing.T) {
	f := made(6_000_000, 1<<40, 2)
	f.Result = nil
	p := embeddedIn(t, f)
	end := p.end
	for _, g := range []audio.Gap{{Start: end - 200, End: end - 100, Channel: 1}, {Start: end - 150, End: end + 100, Channel: 2}} {
		f.Found = append(f.Found, detect.Found{Gap: g})
	}
	if p = embeddedIn(t, f); p.end != end-200 {
		t.Errorf("the clip ends at %d; want %d", p.end, end-200)
	}
}

// TestFoundPage: what was found is counted by kind and channel and drawn, without a fill; many are drawn by their number.
func TestFoundPage(t *testing.T) {
	counted(t, damaged(60, 2), map[string]int{
		"Found: long.wav": 2, "60 gaps found (": 1, "Nothing was filled": 1, ">What was found<": 2, `<th scope="row">clicks</th><td>20</td>`: 1,
		"in channel 2 alone": 1, "Lengths of the finds": 3, "Log-odds of the finds": 3, "Finds along": 0, `data-do="after"`: 0, "Surest first": 1, "expected error": 0,
		"data:image/png;base64,": 1 + mostGapPictures, `data-number="60" data-start="2380" data-rank="0"`: 1, "Spectrogram after": 0, `"mean":"`: 0, "Found: zeros, confidence 100 %": 9,
	})
	counted(t, damaged(3000, 2), map[string]int{"Lengths of the finds": 0, "Finds along the recording": 3, `data-rank="`: mostListed, "Of 3000 gaps it lists 300 and draws 40, those that are surest": 1})
	parts := damaged(6000, 1).found() // of which 3000 have strengths: 1, 3, … 5999
	count, least := 0.0, math.Inf(1)
	for _, l := range parts[1].(*chart).layers {
		count += floats.Sum(l.y) * 6000 * 40 / 8000 / foundBins
		if least, most := floats.Min(l.y), floats.Max(l.y); !(least > 0.8*most) {
			t.Errorf("finds at equal distances are drawn as %v to %v a second", least, most)
		}
	}
	for _, l := range parts[2].(*chart).layers {
		least = min(least, floats.Min(l.y))
	}
	if math.Abs(count-6000) > 6 || least != 2001 {
		t.Errorf("%v of 6000 finds are in the histogram, and the strongest 2000 from %v on, want 2001", count, least)
	}
	none := damaged(0, 1)
	counted(t, none, map[string]int{"Nothing was found.": 1, "0 gaps found (": 1, `id="player"`: 1, "List of gaps": 0})
	f := made(30000, 1000, 1)
	for i, g := range f.Gaps {
		g.End = g.Start + 4 // part of what was filled
		f.Found = append(f.Found, detect.Found{Gap: g, Kind: []detect.Kind{hostile, "b", "c", "d", ""}[i%5]})
	}
	page := counted(t, f, map[string]int{">What was found<": 2, `<th scope="row">other</th><td>12</td>`: 1, "Found: d.": 6, "Log-odds of the finds": 0})
	if strings.Contains(page, "onerror=alert(2)>") {
		t.Error("a kind has become markup")
	}
}

// hostile is a text that must come to nothing wherever a page has it.
const hostile = `</script></style><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\xff\u2028&amp;.wav"

// filledPage is the report of the first second and a quarter of the speech.
func filledPage(t *testing.T) []byte {
	t.Helper()
	cut, clean := testkit.Must(audio.Open("../../testdata/speech_gapped.wav"))(t), testkit.Must(audio.Open("../../testdata/speech.wav"))(t)
	const n = 20000
	gaps := []restore.Gap{{Start: 3200, End: 3280}, {Start: 4950, End: 5110}, {Start: 8200, End: 8280}, {Start: 17700, End: 17780}}
	density := NewDensities(cut.Rate)
	input, reference := audio.Samples{cut.Samples[0][:n]}, audio.Samples{clean.Samples[0][:n]}
	o := restore.Options{Forget: true, Fitted: density.Add, Model: vssgp.Options{Components: 12, Windows: vssgp.WindowOptions{Length: 0.032}}}
	return pageOf(t, &Fill{
		Name: hostile, Output: "filled.wav", Samples: n, Rate: cut.Rate, Channels: 1, Gaps: gaps, Method: "vssgp",
		Result: testkit.Must(restore.FillFrom(t.Context(), input, n, cut.Rate, gaps, o))(t),
		Input:  input, Reference: reference, Density: density, Settings: []Setting{{"--gaps", hostile}},
	})
}

// fittedDocument is the report of a fit of the carbon dioxide of Mauna Loa.
func fittedDocument(t *testing.T) *Document {
	t.Helper()
	c := testkit.Must(table.Open("../../testdata/co2_monthly.csv"))(t)
	data := &vssgp.Data{N: c.Rows, Q: 1, D: 1, XNames: c.Names[:1], YNames: c.Names[1:]}
	for n := range c.Rows {
		data.X, data.Y = append(data.X, c.Data[2*n]), append(data.Y, c.Data[2*n+1])
	}
	trace := &Trace{}
	m, r, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 10, Features: 2, Iterations: 30, Progress: trace.Add})
	testkit.OK(t, err)
	return testkit.Must(Fit("co2_monthly.csv", m, r, data, trace, []Setting{{"--seed", "0"}}))(t)
}
