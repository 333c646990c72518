//go:build slow

package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// tab is a page in a headless Chromium, spoken to over a pipe by the DevTools
// protocol: messages of JSON, each ended by a zero byte.
type tab struct {
	t       *testing.T
	in      io.Writer
	out     chan message
	next    int
	session string
	faults  []string // complaints on the console, and requests to a network
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// browserPatience is how long one answer may take, on a busy machine too.
const browserPatience = 5 * time.Minute

// newTab starts Chromium. Where there is none the test is skipped, unless
// VSSGP_REQUIRE_CHROMIUM says that there is to be one.
func newTab(t *testing.T) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("VSSGP_REQUIRE_CHROMIUM") != "" {
			t.Fatal(err)
		}
		t.Skip("no chromium: install it to have pages tested in a browser")
	}
	profile := profileFolder(t)
	fromUs, in, err := os.Pipe()
	testkit.OK(t, err)
	out, toUs, err := os.Pipe()
	testkit.OK(t, err)
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	testkit.OK(t, cmd.Start())
	fromUs.Close()
	toUs.Close()
	b := &tab{t: t, in: in, out: make(chan message, 1000)}
	go b.listen(out)
	t.Cleanup(func() {
		fmt.Fprintf(in, `{"id":%d,"method":"Browser.close"}`+"\x00", b.next+1) // ends its own processes, too
		end := time.AfterFunc(browserPatience, func() { cmd.Process.Kill() })
		cmd.Wait()
		end.Stop()
		in.Close()
		out.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// profileFolder is removed after the test. Processes of Chromium's may outlive it
// for a moment and write on, which t.TempDir would fail the test for.
func profileFolder(t *testing.T) string {
	t.Helper()
	folder := testkit.Must(os.MkdirTemp("", "profile"))(t)
	t.Cleanup(func() {
		began, err := time.Now(), os.RemoveAll(folder)
		for ; err != nil && time.Since(began) < browserPatience; err = os.RemoveAll(folder) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return folder
}

func (b *tab) listen(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			close(b.out)
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) == nil {
			b.out <- m
		}
	}
}

// call sends a command and waits for its answer, noting complaints meanwhile.
func (b *tab) call(method string, params, result any) {
	b.t.Helper()
	b.next++
	if params == nil {
		params = struct{}{}
	}
	command := map[string]any{"id": b.next, "method": method, "params": params}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	testkit.OK(b.t, err)
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	late := time.After(browserPatience)
	for {
		select {
		case m, open := <-b.out:
			if !open {
				b.t.Fatalf("%s: the browser has ended", method)
			}
			b.note(m)
			if m.ID != b.next {
				continue
			}
			if m.Error != nil {
				b.t.Fatalf("%s: %s", method, m.Error.Message)
			}
			if result != nil {
				if err := json.Unmarshal(m.Result, result); err != nil {
					b.t.Fatalf("%s: %v", method, err)
				}
			}
			return
		case <-late:
			b.t.Fatalf("%s: no answer after %v", method, browserPatience)
		}
	}
}

// note keeps what the console complains of, and whatever is asked of a network.
func (b *tab) note(m message) {
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.faults = append(b.faults, fmt.Sprintf("%s %.600s", m.Method, m.Params))
	case "Runtime.consoleAPICalled":
		b.faults = append(b.faults, fmt.Sprintf("console %.600s", m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(m.Params, &p) == nil && (bytes.HasPrefix([]byte(p.Request.URL), []byte("http")) || bytes.HasPrefix([]byte(p.Request.URL), []byte("ws"))) {
			b.faults = append(b.faults, "asked for "+p.Request.URL)
		}
	}
}

// eval runs a script, which may be a promise, and returns its value.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "userGesture": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, r.ExceptionDetails.Exception.Description)
	}
	var v T
	if err := json.Unmarshal(r.Result.Value, &v); err != nil {
		b.t.Fatalf("%s: %v: %s", script, err, r.Result.Value)
	}
	return v
}

// open shows a file in a window of that width, by light or dark, and waits
// until its script is done.
func (b *tab) open(path string, width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	until := time.Now().Add(browserPatience)
	for !eval[bool](b, `document.readyState === "complete"`) {
		if time.Now().After(until) {
			b.t.Fatalf("%s is not ready after %v: %v", filepath.Base(path), browserPatience, b.faults)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// shoot returns a picture of the whole page, and leaves it in the folder that
// VSSGP_SCREENSHOTS names, for a look.
func (b *tab) shoot(name string) []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	testkit.OK(b.t, err)
	if dir := os.Getenv("VSSGP_SCREENSHOTS"); dir != "" {
		testkit.OK(b.t, os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666))
	}
	return data
}

// TestBrowser opens the pages in Chromium: they load without a complaint, fit the screen, show every chart, and follow the system's light or
// dark.
func TestBrowser(t *testing.T) {
	b := newTab(t)
	dir := t.TempDir()
	pages := map[string]string{
		"fill":  testkit.Put(t, dir, "fill.html", pageOf(t, speech(t))),
		"fit":   testkit.Put(t, dir, "fit.html", written(t, fittedDocument(t))),
		"found": testkit.Put(t, dir, "found.html", pageOf(t, damaged(500, 2))),
	}
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
				shown := eval[[2]int](b, `(() => { const all = [...document.querySelectorAll("figure:has(svg)")].filter((f) => f.offsetWidth);
					const fits = (svg) => svg.clientWidth > 200 && svg.clientWidth < innerWidth && svg.clientHeight > 150;
					return [all.length, all.filter((f) => [...f.querySelectorAll("svg")].filter(fits).length === 1).length]; })()`)
				if shown[0] == 0 || shown[1] != shown[0] {
					t.Errorf("%s at %d: %d of %d charts are shown once in their place", name, width, shown[1], shown[0])
				}
				shots = append(shots, b.shoot(fmt.Sprintf("%s-%d-%s", name, width, scheme)))
			}
			if light, dark := brightness(t, shots[0]), brightness(t, shots[1]); light < 0.6 || dark > 0.35 {
				t.Errorf("%s at %d: brightness %.2f in light, %.2f in dark", name, width, light, dark)
			}
		}
		if len(b.faults) > 0 {
			t.Errorf("%s: %q", name, b.faults)
			b.faults = nil
		}
	}
}

// brightness is the mean of a picture, from 0 to 1.
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
