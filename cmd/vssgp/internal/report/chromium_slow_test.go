//go:build slow

package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/vssgp/vssgp/internal/testkit"
)

// tab is a page in a headless Chromium.
type tab struct {
	t      *testing.T
	ctx    context.Context
	mu     sync.Mutex
	faults []string // console messages, exceptions and network requests
}

// browserTimeout is the maximum time of one step, also on a busy machine.
const browserTimeout = 5 * time.Minute

// newTab starts Chromium. If it is not installed, newTab skips the test, or fails it if VSSGP_REQUIRE_CHROMIUM is set.
func newTab(t *testing.T) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("VSSGP_REQUIRE_CHROMIUM") != "" {
			t.Fatal(err)
		}
		t.Skip("chromium is not installed; VSSGP_REQUIRE_CHROMIUM=1 makes this a failure")
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)...)
	t.Cleanup(end)
	b := &tab{t: t}
	b.ctx, _ = chromedp.NewContext(allocator)
	t.Cleanup(func() { testkit.OK(t, chromedp.Cancel(b.ctx)) })
	testkit.OK(t, chromedp.Listen(b.ctx, b.note)) // starts the browser
	_, err = chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	testkit.OK(t, err)
	return b
}

// do performs an action in the page and returns its result.
func do[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserTimeout)
	defer cancel()
	return testkit.Must(chromedp.Run(ctx, action))(b.t)
}

// note records exceptions, console messages and network requests.
func (b *tab) note(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = fmt.Sprintf("%+v", *e.ExceptionDetails)
	case *log.EventEntryAdded:
		fault = e.Entry.Text
	case *runtime.EventConsoleAPICalled:
		text, _ := json.Marshal(e.Args)
		fault = fmt.Sprintf("console %s: %s", e.Type, text)
	case *network.EventRequestWillBeSent:
		if strings.HasPrefix(e.Request.URL, "http") || strings.HasPrefix(e.Request.URL, "ws") {
			fault = "request of " + e.Request.URL
		}
	}
	if fault != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faults = append(b.faults, fmt.Sprintf("%.600s", fault))
	}
}

// check fails the test if the page has faults, and resets them.
func (b *tab) check(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		b.t.Errorf("%s: %q", what, b.faults)
	}
	b.faults = nil
}

// eval runs a script and returns its value. It awaits promises.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.UserGesture = new(true) }))
}

// open loads a file in a window of the given width and a light or dark color scheme, and waits until it is loaded.
func (b *tab) open(path string, width int64, scheme string) {
	b.t.Helper()
	do(b, chromedp.EmulateViewport(width, 900, func(p *emulation.SetDeviceMetricsOverrideParams, _ *emulation.SetTouchEmulationEnabledParams) {
		p.Mobile = width < 600
	}))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	testkit.OK(b.t, err)
	do(b, chromedp.Navigate("file://"+path))
}

// shoot returns a PNG of the whole page. If VSSGP_SCREENSHOTS is a folder, it also writes the image to this folder.
func (b *tab) shoot(name string) []byte {
	b.t.Helper()
	data := do(b, chromedp.FullScreenshot(100))
	if dir := os.Getenv("VSSGP_SCREENSHOTS"); dir != "" {
		testkit.OK(b.t, os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666))
	}
	return data
}

// TestBrowser checks in Chromium that pages load without faults, fit the width of the screen, show every chart, and follow the color scheme
// of the system.
func TestBrowser(t *testing.T) {
	b := newTab(t)
	dir := t.TempDir()
	pages := map[string]string{
		"fill":  testkit.Put(t, dir, "fill.html", pageOf(t, speech(t))),
		"fit":   testkit.Put(t, dir, "fit.html", written(t, fittedDocument(t))),
		"found": testkit.Put(t, dir, "found.html", pageOf(t, damaged(500, 2))),
	}
	if more := os.Getenv("VSSGP_PAGE"); more != "" { // another page to view
		pages["given"] = more
	}
	for name, path := range pages {
		for _, width := range []int64{360, 1280} {
			var shots [][]byte
			for _, scheme := range []string{"light", "dark"} {
				b.open(path, width, scheme)
				if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s at %d: %d wide", name, width, wide)
				}
				shown := eval[[2]int](b, `(() => { const all = [...document.querySelectorAll("figure:has(svg)")].filter((f) => f.offsetWidth);
					const fits = (svg) => svg.clientWidth > 200 && svg.clientWidth < innerWidth && svg.clientHeight > 150;
					return [all.length, all.filter((f) => [...f.querySelectorAll("svg")].filter(fits).length === 1).length]; })()`)
				if shown[0] == 0 || shown[1] != shown[0] {
					t.Errorf("%s at %d: %d of %d charts are shown once and fit", name, width, shown[1], shown[0])
				}
				shots = append(shots, b.shoot(fmt.Sprintf("%s-%d-%s", name, width, scheme)))
			}
			if light, dark := brightness(t, shots[0]), brightness(t, shots[1]); light < 0.6 || dark > 0.35 {
				t.Errorf("%s at %d: brightness %.2f in light, %.2f in dark", name, width, light, dark)
			}
		}
		b.check(name)
	}
}

// brightness returns the mean brightness of a PNG, from 0 to 1.
func brightness(t *testing.T, data []byte) float64 {
	img := testkit.Must(png.Decode(bytes.NewReader(data)))(t)
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
