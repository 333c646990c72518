//go:build slow

package report

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// press presses and releases a key.
func (b *tab) press(key string) {
	b.t.Helper()
	do(b, chromedp.KeyEvent(key))
}

// click clicks the center of the element that a CSS selector matches.
func (b *tab) click(selector chromedp.CSS) {
	b.t.Helper()
	do(b, chromedp.Click(selector))
}

// choose sets the value of a control of the player.
func (b *tab) choose(name, value string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { const e = controls[%q]; e.value = %q;
		return e.dispatchEvent(new Event("input", { bubbles: true })); })()`, name, value))
}

// playing is the player's state.
type playing struct {
	Playing, Looped bool
	Side            string
	Gap             int // 0: none
	From, To        int // range of the loop
	At              float64
}

func (b *tab) playing() playing {
	b.t.Helper()
	return eval[playing](b, `({ Playing: !!run, Looped: controls.loop.checked, Side: controls.side.value, Gap: gap ? gap.number : 0,
		From: region()[0], To: region()[1], At: now() })`)
}

// opened opens a page in a browser. The test fails at its end if the page has faults.
func opened(t *testing.T, page string, width int64) *tab {
	t.Helper()
	b := newTab(t)
	b.open(testkit.Put(t, t.TempDir(), "page.html", page), width, "light")
	t.Cleanup(func() { b.check("page.html") })
	return b
}

// until waits until is returns true for the state of the player.
func until(b *tab, what string, is func(playing) bool) {
	b.t.Helper()
	for late := time.Now().Add(browserTimeout); !is(b.playing()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			b.t.Fatalf("%s: not after %v: %+v", what, browserTimeout, b.playing())
		}
	}
}

// TestPlayerSound checks that the player's output is the recording before or after the fill, their difference, or the reference, at the
// same position, and that a loop repeats.
func TestPlayerSound(t *testing.T) {
	f := made(8000, 2000, 1)
	f.Reference = audio.Samples{tone(8000, 0.03)}
	b := opened(t, pageOf(t, f), 1280)
	given, _ := f.Input.Read(0, f.Samples)
	filled, reference := slices.Clone(given[0]), slices.Clone(given[0])
	for i, g := range f.Gaps {
		copy(filled[g.Start:g.End], f.Result.Fills[i][0].Mean)
		copy(reference[g.Start:g.End], f.Reference.(audio.Samples)[0][g.Start:g.End])
	}
	const from, lead, frames = 1000, 400, 700 // the fade-in is shorter than lead
	for _, c := range []struct {
		side, raised string
		loop         bool
		want         func(i int) float64
	}{
		{"before", "0", false, func(i int) float64 { return given[0][i] }},
		{"after", "0", false, func(i int) float64 { return filled[i] }},
		{"reference", "0", false, func(i int) float64 { return reference[i] }},
		{"difference", "0", false, func(i int) float64 { return filled[i] - given[0][i] }},
		{"difference", "20", false, func(i int) float64 { return 10 * (filled[i] - given[0][i]) }},
		{"after", "0", true, func(i int) float64 { return filled[600+(i-600)%810] }},
	} {
		got := eval[[]float64](b, fmt.Sprintf(`(async () => { pause(); select(%d); controls.around.value = "0.05"; controls.loop.checked = %v;
			controls.side.value = %q; controls.raised.value = %q; at = %d - 80; // a fade before it begins
			const offline = context = new OfflineAudioContext(1, %d, rate);
			offline.resume = () => {};
			play();
			const out = [...(await offline.startRendering()).getChannelData(0)];
			run = null; context = undefined;
			return out; })()`, map[bool]int{true: 1}[c.loop], c.loop, c.side, c.raised, from+160-lead, lead+frames))
		worst, loudest := 0.0, 0.0
		for i := lead; i < len(got); i++ {
			worst, loudest = max(worst, math.Abs(got[i]-c.want(from-lead+i))), max(loudest, math.Abs(got[i]))
		}
		if len(got) != lead+frames || worst > 10.1/32768 || !(loudest > 0.05) {
			t.Errorf("%s + %s dB, loop %v: %d samples up to %v, %v off", c.side, c.raised, c.loop, len(got), loudest, worst)
		}
	}
}

// TestPlayerSwitch checks that switching between before, after and difference does not interrupt or shift the playback.
func TestPlayerSwitch(t *testing.T) {
	b := opened(t, pageOf(t, made(400_000, 100_000, 1)), 1280) // much longer than the switches take
	b.press(" ")
	until(b, "it plays", func(p playing) bool { return p.Playing && p.At > 0 })
	const late = `1e3 * (context.currentTime - now() / rate)`
	before := eval[float64](b, `window.first = run, `+late)
	b.choose("raised", "20")
	for _, c := range []struct {
		key, side string
		gains     []float64
	}{{"b", "before", []float64{1, 0, 0}}, {"D", "difference", []float64{-10, 10, 0}}, {"a", "after", []float64{0, 1, 0}}} {
		b.press(c.key)
		testkit.Equal(t, b.playing().Side, c.side, c.key)
		testkit.Equal(t, eval[[]float64](b, `gains()`), c.gains, c.key)
	}
	b.click("[name=side][value=difference]")
	if after := eval[float64](b, late); b.playing().Side != "difference" || !eval[bool](b, `run === first`) || math.Abs(after-before) > 100 {
		t.Errorf("after the switches the sound is %v ms late: %+v", after-before, b.playing())
	}
	eval[bool](b, `(go(399_000), true)`)
	until(b, "it ends", func(p playing) bool { return !p.Playing && p.At == 0 })
}

// TestPlayerLoop checks that a gap's loop begins before the gap and repeats, and that choosing a position outside ends it.
func TestPlayerLoop(t *testing.T) {
	b := opened(t, pageOf(t, made(200_000, 50_000, 1)), 1280)
	b.choose("around", "0.05")
	b.click(`button.play[value="3"]`)
	if p := b.playing(); !p.Playing || !p.Looped || p.Gap != 3 || p.From != 124600 || p.To != 125410 {
		t.Fatalf("gap 3: %+v", p)
	}
	wraps := eval[int](b, `new Promise((done) => { let was = 0, wraps = 0; const began = performance.now(), see = () => {
		const at = now();
		if (at < 124600 || at >= 125410) return done(-at);
		if (at < was) wraps++;
		was = at;
		if (wraps > 2 || performance.now() - began > 200000) done(wraps); else requestAnimationFrame(see);
	}; see(); })`)
	if wraps < 3 {
		t.Errorf("the loop wrapped %d times", wraps)
	}
	b.press("l")
	until(b, "on after the loop", func(p playing) bool { return !p.Looped && p.At > 125410 })
	b.press(" ")
	b.press("l")
	b.choose("position", "20000")
	if p := b.playing(); p.Looped || p.Playing || p.At != 20_000 {
		t.Errorf("after a step to 2.5 s: %+v", p)
	}
}

// TestPlayerGaps checks that gaps are selected by the list, the menu, the bar and keys, in the order of the list, but not by keys in
// controls.
func TestPlayerGaps(t *testing.T) {
	b := opened(t, pageOf(t, made(200_000, 1000, 2)), 360)
	at := func(what string, gap int) {
		t.Helper()
		if p := b.playing(); p.Gap != gap || p.Playing || p.At != float64(max(0, (gap-1)*1000+500-2400)) {
			t.Errorf("%s: %+v, want gap %d", what, p, gap)
		}
	}
	b.press("n")
	b.press("n")
	at("the second gap", 199)
	b.click(`a[href="#gap180"]`)
	at("a label", 180)
	if !eval[bool](b, `document.querySelector("[aria-current]").hash === "#gap180" && document.getElementById("gap180").open`) {
		t.Error("the gap is not shown")
	}
	b.press("p")
	at("the gap before in the list", 181)
	box := do(b, chromedp.Dimensions(chromedp.CSS("#player svg"))).Content // x and y of each corner
	do(b, chromedp.MouseClickXY(box[0]+0.5025*(box[2]-box[0]), (box[1]+box[5])/2))
	if p := b.playing(); p.Gap != 101 && p.Gap != 100 {
		t.Errorf("a click on the bar: %+v", p)
	}
	b.choose("gap", "3")
	eval[bool](b, `(form.querySelector("details").open = true, controls.around.focus(), true)`)
	b.press("n")
	eval[bool](b, `(controls.keys.click(), controls.play.focus(), true)`)
	b.press("n")
	at("the menu, and then keys that are not the player's", 3)
}

// TestPlayerChannels checks that overlapping gaps of two channels are each filled only in their channel.
func TestPlayerChannels(t *testing.T) {
	b := opened(t, pageOf(t, overlapping()), 1280)
	got := eval[[2]int](b, `(() => { const a = sound("given"), b = sound("mean");
		const differ = (c) => b.getChannelData(c).reduce((n, v, i) => n + (Math.abs(v - a.getChannelData(c)[i]) > 1e-3), 0);
		return [differ(0), differ(1)]; })()`)
	if want := [2]int{30, 10}; got != want {
		t.Errorf("samples changed in either channel: %v, want %v", got, want)
	}
}

// TestPlayerClips checks that the player of a long recording contains clips around gaps and jumps from one to another.
func TestPlayerClips(t *testing.T) {
	b := opened(t, pageOf(t, made(6_000_000, 100_000, 1)), 1280)
	b.choose("around", "1")
	b.press("l")
	for gap := 60; gap > 58; gap-- {
		b.press("n")
		middle := (gap-1)*100_000 + 50_000
		if p := b.playing(); p.Gap != gap || !p.Looped || p.From != middle-2400 || p.To != middle+2410 || p.At != float64(p.From) {
			t.Errorf("gap %d: %+v", gap, p)
		}
	}
}
