package report

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/slow"
	"github.com/vssgp/vssgp/internal/table"
)

// TestBrowser opens the pages in Chromium: they load without a complaint, fit
// the screen, and zoom in every way.
func TestBrowser(t *testing.T) {
	if !slow.Tests {
		t.Skip("a browser takes long")
	}
	b := newTab(t)
	dir := t.TempDir()
	pages := map[string]string{"fill": write(t, dir, "fill.html", filledPage(t)), "fit": write(t, dir, "fit.html", fittedPage(t)), "found": write(t, dir, "found.html", pageOf(t, damaged(500, 2)))}
	if more := os.Getenv("VSSGP_PAGE"); more != "" { // any other page, to look at
		pages["given"] = more
	}
	for name, path := range pages {
		for _, width := range []int{360, 1280} {
			var shots [][]byte
			for _, scheme := range []string{"light", "dark"} {
				b.open(path, width, scheme)
				if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s at %d: %d wide", name, width, wide)
				}
				shots = append(shots, b.shoot(fmt.Sprintf("%s-%d-%s", name, width, scheme)))
			}
			if light, dark := brightness(t, shots[0]), brightness(t, shots[1]); light < 0.8 || dark > 0.35 {
				t.Errorf("%s at %d: brightness %.2f in light, %.2f in dark", name, width, light, dark)
			}
		}
		b.zooms(name)
		if len(b.faults) > 0 {
			t.Errorf("%s: %q", name, b.faults)
			b.faults = nil
		}
	}
}

// rangeOf is the range of x that the first chart shows.
const rangeOf = `(() => { const d = document.querySelector("figure.chart").dataset; return [+d.min, +d.max]; })()`

// zooms tries wheel, keys, buttons and touch on the first chart.
func (b *tab) zooms(name string) {
	b.t.Helper()
	eval[bool](b, `(document.querySelector("figure.chart .plot").scrollIntoView({ block: "center", behavior: "instant" }), true)`)
	box := eval[[4]float64](b, `(() => { const r = document.querySelector("figure.chart .u-over").getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
	x, y := box[0]+box[2]/2, box[1]+box[3]/2
	full := eval[[2]float64](b, rangeOf)
	width := func(r [2]float64) float64 { return r[1] - r[0] }
	for _, step := range []struct {
		way  string
		act  func()
		want func(was, is [2]float64) bool
	}{
		{"wheel", func() {
			b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -120}, nil)
		}, func(was, is [2]float64) bool { return width(is) < 0.9*width(was) }},
		{"button", func() {
			eval[bool](b, `(document.querySelector("figure.chart .tools button:nth-child(2)").click(), true)`)
		}, func(was, is [2]float64) bool { return width(is) < 0.6*width(was) }},
		{"key +", func() {
			eval[bool](b, `(document.querySelector("figure.chart .plot").focus(), true)`)
			b.press("+")
		}, func(was, is [2]float64) bool { return width(is) < 0.6*width(was) }},
		{"key right", func() { b.press("ArrowRight") }, func(was, is [2]float64) bool {
			return is[0] > was[0] && math.Abs(width(is)-width(was)) < 1e-6*width(full)
		}},
		{"drag", func() {
			for _, e := range []map[string]any{{"type": "mouseMoved", "x": x - 30}, {"type": "mousePressed", "x": x - 30, "button": "left", "clickCount": 1}, {"type": "mouseMoved", "x": x + 30, "button": "left", "buttons": 1}, {"type": "mouseReleased", "x": x + 30, "button": "left", "clickCount": 1}} {
				e["y"] = y
				b.call("Input.dispatchMouseEvent", e, nil)
			}
		}, func(was, is [2]float64) bool { return width(is) < 0.9*width(was) }},
		{"touch", func() {
			for _, e := range []map[string]any{{"type": "touchStart", "touchPoints": []map[string]any{{"x": x, "y": y}}}, {"type": "touchMove", "touchPoints": []map[string]any{{"x": x - 20, "y": y}}}, {"type": "touchMove", "touchPoints": []map[string]any{{"x": x - 60, "y": y}}}, {"type": "touchEnd", "touchPoints": []any{}}} {
				b.call("Input.dispatchTouchEvent", e, nil)
			}
		}, func(was, is [2]float64) bool { return is[0] > was[0] }},
		{"key 0", func() { b.press("0") }, func(_, is [2]float64) bool { return is == full }},
	} {
		was := eval[[2]float64](b, rangeOf)
		step.act()
		is := eval[[2]float64](b, `new Promise((done) => setTimeout(() => done(`+rangeOf+`), 150))`)
		if !step.want(was, is) {
			b.t.Errorf("%s: %s took %v to %v, of %v", name, step.way, was, is, full)
		}
	}
	said := eval[string](b, `document.querySelector("figure.chart output").textContent`)
	if said == "" {
		b.t.Errorf("%s: nothing is said of the range", name)
	}
}

// brightness is the mean of a picture, from 0 to 1.
func brightness(t *testing.T, data []byte) float64 {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0.0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 7 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 7 {
			r, g, b, _ := img.At(x, y).RGBA()
			sum += float64(r+g+b) / 3 / 0xffff
			n++
		}
	}
	return sum / n
}

func write(t *testing.T, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// filled is the report of the first second and a quarter of the speech.
var filled = sync.OnceValues(func() ([]byte, error) {
	cut, err := audio.Open("../../testdata/speech_gapped.wav")
	if err != nil {
		return nil, err
	}
	clean, err := audio.Open("../../testdata/speech.wav")
	if err != nil {
		return nil, err
	}
	const n = 20000
	gaps := []impute.Gap{{Start: 3200, End: 3280}, {Start: 4950, End: 5110}, {Start: 8200, End: 8280}, {Start: 17700, End: 17780}}
	r, density := (*impute.Result)(nil), NewDensities(cut.Rate)
	input, reference := source{cut.Samples[0][:n]}, source{clean.Samples[0][:n]}
	o := impute.Options{Forget: true, Fitted: density.Add, Model: vssgp.Options{Components: 12, Window: 0.032}}
	if r, err = impute.FillFrom(context.Background(), input, n, cut.Rate, gaps, o); err != nil {
		return nil, err
	}
	d, err := Impute(&Fill{
		Name: hostile, Output: "filled.wav", Samples: n, Rate: cut.Rate, Channels: 1, Gaps: gaps, Result: r, Method: "vssgp",
		Input: input, Reference: reference, Density: density, Settings: []Setting{{"--gaps", hostile}},
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = d.Write(&b, HTML)
	return b.Bytes(), err
})

// hostile is a text that must come to nothing wherever a page has it.
const hostile = `</script></style><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\xff\u2028&amp;.wav"

type source [][]float64

func (s source) Read(lo, hi int) ([][]float64, error) {
	var out [][]float64
	for _, c := range s {
		out = append(out, append([]float64(nil), c[lo:hi]...))
	}
	return out, nil
}

func filledPage(t *testing.T) []byte {
	t.Helper()
	page, err := filled()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// fittedPage is the report of a fit of the carbon dioxide of Mauna Loa.
func fittedPage(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := fittedDocument(t).Write(&b, HTML); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fittedDocument(t *testing.T) *Document {
	t.Helper()
	c, err := table.Open("../../testdata/co2_monthly.csv")
	if err != nil {
		t.Fatal(err)
	}
	data := &vssgp.Data{N: c.Rows, Q: 1, D: 1, XNames: c.Names[:1], YNames: c.Names[1:]}
	for n := range c.Rows {
		data.X, data.Y = append(data.X, c.Data[2*n]), append(data.Y, c.Data[2*n+1])
	}
	trace := &Trace{}
	m, r, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 10, Features: 2, Iterations: 30, Progress: trace.Add})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Fit("co2_monthly.csv", m, r, data, trace, []Setting{{"--seed", "0"}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
