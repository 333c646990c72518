//go:build slow

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// press presses and releases a key.
func (b *tab) press(key string) {
	b.t.Helper()
	text := map[bool]string{true: key}[len(key) == 1]
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text}, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// click clicks into the middle of what a selector finds, or at shares of its width and height.
func (b *tab) click(selector string, at ...float64) {
	b.t.Helper()
	box := eval[[4]float64](b, `(async () => { const e = document.querySelector('`+selector+`'); let was = NaN; for (;;) {
		e.scrollIntoView({ block: "center", behavior: "instant" });
		await new Promise((done) => setTimeout(done, 100));
		const r = e.getBoundingClientRect();
		if (r.top === was) return [r.left, r.top, r.width, r.height]; // what appears above moves it
		was = r.top;
	} })()`)
	at = append(at, 0.5, 0.5)[:2]
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		event := map[string]any{"type": kind, "x": box[0] + at[0]*box[2], "y": box[1] + at[1]*box[3], "button": "left", "clickCount": 1}
		b.call("Input.dispatchMouseEvent", event, nil)
	}
}

// choose sets one of the player's choices.
func (b *tab) choose(what, value string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { const e = document.querySelector("[data-set=%s]"); e.value = %q;
		return e.dispatchEvent(new Event("input")); })()`, what, value))
}

// playing is what the player's attributes say.
type playing struct {
	State, Side, Gap, Loop, Said string
	At                           float64
}

func (b *tab) playing() playing {
	b.t.Helper()
	return eval[playing](b, `(() => { const p = document.getElementById("player"), d = p.dataset;
		return { State: d.state, Side: d.side, Gap: d.gap, Loop: d.loop, Said: p.querySelector(".said").textContent, At: +d.at }; })()`)
}

// opened is a page in a browser, whose complaints fail the test at its end.
func opened(t *testing.T, page []byte, width int) *tab {
	t.Helper()
	b := newTab(t)
	b.open(testkit.Put(t, t.TempDir(), "page.html", string(page)), width, "light")
	t.Cleanup(func() {
		if len(b.faults) > 0 {
			t.Errorf("%q", b.faults)
		}
	})
	return b
}

// rendered has the player's own graph play a stretch of a second into memory, in
// one channel, from a frame on.
func (b *tab) rendered(side string, raised float64, from, frames int, loop string) []float64 {
	b.t.Helper()
	return eval[[]float64](b, fmt.Sprintf(`(async () => { const r = recording, s = r.stretches[0], ctx = new OfflineAudioContext(1, %d, r.rate);
		const buffers = [false, true].map((f) => soundBuffer(r, s, f));
		voices(ctx, buffers, 0, %d / r.rate, %s, 1, mixOf(%q, %v)).out.connect(ctx.destination);
		return [...(await ctx.startRendering()).getChannelData(0)]; })()`, frames, from, loop, side, raised))
}

// TestPlayerSound: what the audio graph gives out are the samples before and after
// the fill at the same place, their difference, and a loop's again and again.
func TestPlayerSound(t *testing.T) {
	f := made(8000, 2000, 1)
	b := opened(t, pageOf(t, f), 1280)
	given, _ := f.Input.Read(0, f.Samples)
	filled := slices.Clone(given[0])
	for i, g := range f.Gaps {
		copy(filled[g.Start:g.End], f.Result.Fills[i][0].Mean)
	}
	const from, frames = 900, 300
	for _, c := range []struct {
		side   string
		raised float64
		loop   string
		want   func(i int) float64
	}{
		{"before", 1, "null", func(i int) float64 { return given[0][from+i] }},
		{"after", 1, "null", func(i int) float64 { return filled[from+i] }},
		{"difference", 1, "null", func(i int) float64 { return filled[from+i] - given[0][from+i] }},
		{"difference", 4, "null", func(i int) float64 { return 4 * (filled[from+i] - given[0][from+i]) }},
		{"after", 1, "[900 / 8000, 1020 / 8000]", func(i int) float64 { return filled[from+i%120] }},
	} {
		got := b.rendered(c.side, c.raised, from, frames, c.loop)
		worst, loudest := 0.0, 0.0
		for i, v := range got {
			worst, loudest = max(worst, math.Abs(v-c.want(i))), max(loudest, math.Abs(v))
		}
		if len(got) != frames || worst > 4.1/32768 || !(loudest > 0.05) {
			t.Errorf("%s × %v, loop %s: %d samples up to %v, %v off", c.side, c.raised, c.loop, len(got), loudest, worst)
		}
	}
}

// TestPlayerSwitch: the switch between before, after and difference neither stops
// nor moves what plays.
func TestPlayerSwitch(t *testing.T) {
	b := opened(t, pageOf(t, made(400_000, 100_000, 1)), 1280) // much longer than the switches take
	eval[bool](b, `(() => { window.gains = []; const [start, ramp] = [AudioBufferSourceNode.prototype.start, AudioParam.prototype.linearRampToValueAtTime];
		AudioBufferSourceNode.prototype.start = function (...a) { window.starts++; window.context = this.context; return start.apply(this, a); };
		AudioParam.prototype.linearRampToValueAtTime = function (v, t) { gains.push(v); return ramp.call(this, v, t); };
		window.began = () => 1e3 * (context.currentTime - sounding.engine.now() / recording.rate); return true; })()`)
	b.press(" ")
	until(b, "it plays", func(p playing) bool { return p.State == "playing" && p.At > 0 })
	began := eval[float64](b, `(window.starts = 0, gains.splice(0), began())`)
	for _, c := range []struct {
		key, side string
		gains     []float64
	}{
		{"b", "before", []float64{1, 0, 1}}, {"D", "difference", []float64{-1, 1, 1}}, {"a", "after", []float64{0, 1, 1}},
		{"1", "before", []float64{1, 0, 1}}, {"3", "difference", []float64{-1, 1, 1}}, {"2", "after", []float64{0, 1, 1}},
	} {
		b.press(c.key)
		if p := b.playing(); p.Side != c.side || p.State != "playing" {
			t.Errorf("%s: %+v, want %s", c.key, p, c.side)
		}
		testkit.Equal(t, eval[[]float64](b, `gains.splice(0)`), c.gains, c.key)
	}
	b.choose("raised", "20")
	b.press("d")
	testkit.Equal(t, eval[[]float64](b, `gains.splice(0)`), []float64{0, 1, 1, -10, 10, 1}, "raised by 20 dB, and then the difference")
	b.press("a")
	now := eval[float64](b, `began()`)
	if starts := eval[int](b, `starts`); starts != 0 || math.Abs(now-began) > 100 {
		t.Errorf("after the switches the sound is %v ms late, and %d sources began anew", now-began, starts)
	}
	if pressed := eval[string](b, `[...document.querySelectorAll("#player [aria-pressed=true]")].map((b) => b.dataset.do).join()`); pressed != "after" {
		t.Errorf("%s is pressed, want after", pressed)
	}
	eval[bool](b, `(sounding.engine.seek(399_000), true)`)
	until(b, "it ends", func(p playing) bool { return p.State == "paused" && p.At == 0 })
	if said := b.playing().Said; said != "Paused: After, 0:00.000" {
		t.Errorf("at the end it says %q", said)
	}
}

// until waits for the player to be so.
func until(b *tab, what string, is func(playing) bool) {
	b.t.Helper()
	for late := time.Now().Add(browserPatience); !is(b.playing()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			b.t.Fatalf("%s: not after %v: %+v", what, browserPatience, b.playing())
		}
	}
}

// TestPlayerLoop: a gap's loop begins around it, wraps and stays there, and a place
// outside ends it.
func TestPlayerLoop(t *testing.T) {
	b := opened(t, pageOf(t, made(200_000, 50_000, 1)), 1280)
	b.choose("around", "0.05")
	b.click(`[data-gap="3"].play`)
	p := b.playing()
	if p.State != "playing" || p.Gap != "3" || p.Loop != "124600 125410" || !strings.Contains(p.Said, "After, gap 3 of 4, 0:15.") || !strings.HasSuffix(p.Said, ", looped") {
		t.Fatalf("gap 3: %+v", p)
	}
	wraps := eval[int](b, `new Promise((done) => { let was = 0, wraps = 0; const began = performance.now(), see = () => {
		const at = +document.getElementById("player").dataset.at;
		if (at < 124600 || at >= 125410) return done(-at);
		if (at < was) wraps++;
		was = at;
		if (wraps > 2 || performance.now() - began > 200000) done(wraps); else requestAnimationFrame(see);
	}; see(); })`)
	if wraps < 3 {
		t.Errorf("the loop wrapped %d times", wraps)
	}
	b.press("l")
	until(b, "on after the loop", func(p playing) bool { return p.Loop == "" && p.At > 125410 })
	b.press(" ")
	b.press("l")
	b.click("#player .seek", 0.1, 0.8)
	if p := b.playing(); p.Loop != "" || p.State != "paused" || math.Abs(p.At-20_000) > 200 {
		t.Errorf("after a click at 2.5 s: %+v", p)
	}
}

// TestPlayerGaps: gaps are chosen from the list, the bar and by keys, in the order
// of the list, which may be that of time; keys of choices stay theirs.
func TestPlayerGaps(t *testing.T) {
	b := opened(t, pageOf(t, made(200_000, 1000, 2)), 360)
	rows := func() string {
		return eval[string](b, `[...document.querySelectorAll("tr[data-number]")].slice(0, 3).map((r) => r.dataset.number).join()`)
	}
	testkit.Equal(t, rows(), "200,199,198", "the list begins with gaps")
	b.press("n")
	b.press("n")
	if p := b.playing(); p.Gap != "199" || p.At != 198500-2400 || p.Said != "Paused: After, gap 199 of 200, 0:24.512" {
		t.Errorf("the second gap: %+v", p)
	}
	b.click(`a[data-select="180"]`)
	if p := b.playing(); p.Gap != "180" || !eval[bool](b, `document.querySelector("tr[aria-current]").dataset.number === "180" && document.getElementById("gap180").open && location.hash === "#gap180"`) {
		t.Errorf("a label: %+v", p)
	}
	b.click(`[data-order="start"]`)
	testkit.Equal(t, rows(), "1,2,3", "by time the list begins with gaps")
	b.press("p")
	if p := b.playing(); p.Gap != "179" {
		t.Errorf("the gap before in time: %+v", p)
	}
	b.click("#player .seek", 0.5025, 0.2)
	if p := b.playing(); p.Gap != "101" && p.Gap != "100" {
		t.Errorf("a click on the bar: %+v", p)
	}
	b.press("p")
	eval[bool](b, `(document.querySelector("a[href='#player']").click(), document.querySelector("#player .seek").focus(), true)`)
	from := b.playing().At
	for _, c := range []struct {
		key  string
		want float64
	}{{"ArrowRight", from + 800}, {"ArrowLeft", from}, {"Home", 0}, {"PageUp", 40_000}, {"End", 199_999}} {
		b.press(c.key)
		if at := b.playing().At; math.Abs(at-c.want) > 1 || eval[float64](b, `+document.querySelector("#player .seek").ariaValueNow`) != at/8000 {
			t.Errorf("%s on the bar: frame %v, want %v", c.key, at, c.want)
		}
	}
	was := b.playing()
	eval[bool](b, `(document.querySelector(".more").open = true, document.querySelector("[data-set=around]").focus(), true)`)
	b.press("n")
	eval[bool](b, `(document.querySelector("[data-set=keys]").click(), true)`)
	b.press("n")
	if p := b.playing(); p != was {
		t.Errorf("keys that are not the player's: %+v, was %+v", p, was)
	}
}

// TestPlayerFound: where nothing was filled there is the recording only.
func TestPlayerFound(t *testing.T) {
	b := opened(t, pageOf(t, damaged(6000, 2)), 1280)
	b.press("n")
	b.press("a")
	if p := b.playing(); p.Side != "before" || p.Gap != "6000" || eval[int](b, `document.querySelectorAll("[data-do=after], [data-do=difference]").length`) != 0 {
		t.Errorf("%+v", p)
	}
	b.press(" ")
	until(b, "it plays", func(p playing) bool { return p.State == "playing" })
}

// TestPlayerChannels: a gap of one channel is filled in that one only, beside another's at the same time.
func TestPlayerChannels(t *testing.T) {
	b := opened(t, pageOf(t, overlapping()), 1280)
	got := eval[[2]int](b, `(() => { const s = recording.stretches[0], a = sound(recording, s, false), b = sound(recording, s, true);
		const differ = (c, lo, hi) => b[c].slice(lo, hi).reduce((n, v, i) => n + (Math.abs(v - a[c][lo + i]) > 1e-3), 0);
		return [differ(0, 0, 4000), differ(1, 0, 4000)]; })()`)
	if want := [2]int{30, 10}; got != want {
		t.Errorf("samples changed in either channel: %v, want %v", got, want)
	}
}

// TestPlayerClips: of a long recording the player has its beginning and the parts
// around gaps, and goes from one to another.
func TestPlayerClips(t *testing.T) {
	b := opened(t, pageOf(t, made(6_000_000, 100_000, 1)), 1280)
	stretch := func() [2]int {
		return eval[[2]int](b, `[sounding.engine.stretch.start, sounding.engine.stretch.end]`)
	}
	first := stretch()
	b.press("n")
	if p := b.playing(); p.Gap != "60" || p.At != 5_950_000-2400 || stretch() != [2]int{5_947_600, 5_952_410} {
		t.Errorf("the least sure gap: %+v in %v", p, stretch())
	}
	near := `stretchOf({ stretches: [{ start: 0, end: 100 }, { start: 50, end: 150 }, { start: 80, end: 180 }] }, 90, 95).start`
	if at := eval[int](b, near); at != 50 {
		t.Errorf("a gap in three parts is played in that from %d on, want the one with the most around it", at)
	}
	b.choose("around", "3")
	b.press("l")
	if p := b.playing(); p.Loop != "5947600 5952410" {
		t.Errorf("a loop longer than the page holds: %+v", p)
	}
	b.press("p")
	b.click(`[data-gap="0"].play`)
	if p := b.playing(); p.State != "playing" || p.Gap != "" || stretch() != first || p.At > 8000 {
		t.Errorf("the recording from its beginning: %+v in %v", p, stretch())
	}
}
