package report

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
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
	f := &Fill{Name: "long.wav", Output: "out.wav", Samples: n, Rate: 8000, Channels: channels, Method: "mixture", Result: &impute.Result{Method: impute.Mixture}}
	input := make(source, channels)
	for c := range input {
		input[c] = tone(n, 0.02)
	}
	f.Input = input
	for at := every / 2; at+20 < n; at += every {
		g := impute.Gap{Start: at, End: at + 10}
		f.Gaps = append(f.Gaps, g)
		e := impute.Excerpt{Start: at - 5, End: at + 15, Gaps: []impute.Gap{g}}
		for range channels {
			sd := make([]float64, 20)
			for i := range sd {
				sd[i] = float64(at) / float64(n)
			}
			e.Fit, e.SD = append(e.Fit, tone(20, 0.1)), append(e.SD, sd)
		}
		f.Result.Excerpts = append(f.Result.Excerpts, e)
	}
	return f
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
		p, err := newEmbedded(f)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, s := range p.recording.Clips {
			held += bytesGiven * len(s.samples[0]) * c.channels
		}
		for _, g := range p.recording.Gaps {
			held += bytesFilled * (g.End - g.Start) * c.channels
		}
		if (p.end == c.n) != c.whole || held > 2*mostSound || len(p.shown) != c.shown || len(p.Gaps)-len(p.shown) != c.dropped {
			t.Errorf("%s: holds the first %d of %d samples, %d bytes, shows %d gaps and drops %d; want whole %v, %d and %d", c.name, p.end, c.n, held, len(p.shown), len(p.Gaps)-len(p.shown), c.whole, c.shown, c.dropped)
		}
		for _, s := range p.shown {
			inside := false
			for _, r := range p.recording.Clips {
				inside = inside || r.start <= s.lo && s.hi <= r.start+len(r.samples[0])
			}
			if !inside {
				t.Errorf("%s: gap %v is shown and not held", c.name, s.Gap)
			}
		}
		if c.dropped > 0 && p.shown[0].Start < f.Gaps[c.dropped].Start {
			t.Errorf("%s: the gap at %d is shown, surer than others that are not", c.name, p.shown[0].Start)
		}
		said := strings.Join(p.limits(), " ")
		if strings.Contains(said, "first") != (!c.whole || c.channels > mostSeries) || strings.Contains(said, "least sure") != (c.dropped > 0) {
			t.Errorf("%s: it says %q", c.name, said)
		}
	}
}

// counted writes a fill's page and sees that texts are in it so many times.
func counted(t *testing.T, f *Fill, want map[string]int) (page string) {
	t.Helper()
	d, err := Impute(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.Write(&b, HTML); err != nil {
		t.Fatal(err)
	}
	for text, times := range want {
		if got := strings.Count(b.String(), text); got != times {
			t.Errorf("%q is there %d times, want %d", text, got, times)
		}
	}
	return b.String()
}

// TestImputePage: the page has each of its sections, and none without content.
func TestImputePage(t *testing.T) {
	f := made(30000, 1000, 2)
	text := counted(t, f, map[string]int{
		"<details open>": openGaps, "<details": 30, `data-side="before"></audio>`: 31, `data-side="after"></audio>`: 31, "<audio controls": 62, `class="chart wave"`: 62, "data:image/png;base64,": 2 * (1 + mostGapPictures),
		"Before: the whole recording": 2, "Gap 30: 1.25 ms at 3.688 s, samples 29500 to 29510": 1, "Waveform of gap 2, channel 2": 2, "30 gaps filled (300 of 30000 samples": 1,
		"The first 16 have spectrograms": 1, ">Scores<": 0, ">Learnt spectrum<": 0, ">Settings<": 0, "Fills in doubt": 0,
	})
	if len(text) > 3<<20 {
		t.Errorf("the page takes %d bytes", len(text))
	}
}

// TestDoubts: the page names the fills not to trust in a table and at their gaps, as many as it bears.
func TestDoubts(t *testing.T) {
	f := made(400_000, 1000, 2)
	for i, g := range f.Gaps {
		f.Result.Doubts = append(f.Result.Doubts, impute.Doubt{Gap: g, Channel: i % 2, Reason: fmt.Sprintf("reason %d <", i+1)})
	}
	counted(t, f, map[string]int{
		">Fills in doubt<": 2, "in 0.0 s by mixture on cpu": 1, "Gap 200 at 24.938 s": 1, "Gap 201 at": 0, "reason 7 &lt;": 1,
		"These are the first 200 of 400.": 1, "Do not trust it in channel 1: reason 399 &lt;.": 1, "Do not trust it in channel 2: reason 400 &lt;.": 1,
	})
}

// TestFilledPage: with a reference and densities, and a name to be wary of.
func TestFilledPage(t *testing.T) {
	text := string(filledPage(t))
	for _, want := range []string{"RMSE against the reference", "Learnt power spectrum, mean over the excerpts", "the most at", "&lt;/script&gt;", `"reference":"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
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
		if most != 20 {
			t.Errorf("column %d is loudest in row %d, want 20", c, most)
		}
	}
	data, err := s.encode(s.loudest(), func(c int) bool { return c == 7 })
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Dx() != 50 || img.Bounds().Dy() != 100 {
		t.Fatalf("%v, %v", err, img)
	}
	for c, want := range map[int]bool{6: false, 7: true, 8: false} {
		if marked := img.At(c, 99) == spectrogramPalette[gapInk]; marked != want {
			t.Errorf("column %d: marked %v", c, marked)
		}
	}
	if r, g, _, _ := img.At(25, 79).RGBA(); r < 0xe000 || g < 0xd000 {
		t.Errorf("the tone is drawn %v, want the brightest", img.At(25, 79))
	}
}

// holed is a recording whose gaps hold what is no number.
type holed struct {
	source
	gaps []impute.Gap
}

func (h holed) Read(lo, hi int) ([][]float64, error) {
	for _, g := range h.gaps {
		if g.Start < hi && lo < g.End {
			return nil, fmt.Errorf("sample %d: %w", g.Start, audio.ErrFormat)
		}
	}
	return h.source.Read(lo, hi)
}

// TestEmbeddedHoles: gaps that cannot be read are silent before the fill.
func TestEmbeddedHoles(t *testing.T) {
	f := made(5000, 1000, 1)
	f.Input = holed{f.Input.(source), f.Gaps}
	p, err := newEmbedded(f)
	if err != nil {
		t.Fatal(err)
	}
	before, after := p.mixed(0, 5000)
	for _, g := range f.Gaps {
		for i := g.Start; i < g.End; i++ {
			if before[i] != 0 {
				t.Fatalf("sample %d is %v before the fill", i, before[i])
			}
		}
		if mean, _ := p.fill(g); after[g.Start+3] != mean[0][3] || mean[0][3] == 0 || before[g.Start-1] == 0 || after[g.Start-1] != before[g.Start-1] {
			t.Errorf("gap %v: %v after the fill, beside it %v and %v", g, after[g.Start+3], before[g.Start-1], after[g.Start-1])
		}
	}
}
