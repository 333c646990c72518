package report

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/testkit"
)

func written(t *testing.T, d *Document) string { return writtenAs(t, d, HTML) }

func writtenAs(t *testing.T, d *Document, as Format) string {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, d.Write(&b, as))
	return b.String()
}

// everything is a page with a part of each kind, hostile text in all of them.
func everything() *Document {
	x := []float64{0, 1, 2}
	return &Document{
		Title: hostile, Lead: []string{hostile}, Foot: []string{hostile},
		Recording: &recording{Rate: 8000, Channels: 2, Clips: []clip{{5, [][]float64{{0, 0.5, 2}, {-1, -2, 0.25}}}},
			Filled: true, Total: 1, Gaps: []filledGap{{Number: 1, Start: 6, End: 7, Mean: singles([]float64{0.1, 0.2})}}},
		Sections: []section{{ID: "part1", Title: hostile, Parts: []part{
			paragraph(hostile),
			Table{Caption: hostile, Head: []string{hostile, "b"}, Rows: [][]string{{hostile, hostile}}},
			&chart{Title: hostile, Text: hostile, XLabel: hostile, YLabel: hostile, labels: []label{{X: 1, Y: 1, Text: hostile}},
				layers: []layer{{name: hostile, kind: asLine, ink: meanInk, x: x, y: []float64{1, math.NaN(), math.Inf(1)}}}},
			play{1, hostile},
			gapList{Caption: hostile, Text: hostile, Order: hostile, Head: []string{hostile}, Rows: []gapRow{
				{Gap: 1, Start: 6, Label: hostile, Held: true, Shown: true, Cells: []string{hostile}, Why: hostile}, {Gap: 2, Label: hostile, Held: true}, {Gap: 3, Label: hostile}}},
			raster{Title: hostile, Alt: hostile, PNG: []byte{1, 2, 3}, Width: 1, Height: 1, Up: []string{hostile}, Along: []string{hostile}},
			group{ID: "gap1", Title: hostile, Open: true, Parts: []part{paragraph(hostile)}},
		}}},
	}
}

var (
	element   = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*/?>`)
	attribute = regexp.MustCompile(`\s([a-zA-Z-]+)(?:="([^"]*)")?`)
	loading   = []string{"src", "href", "action", "poster", "srcset", "data", "background"}
)

// attributes calls f with every attribute of the page's elements.
func attributes(text string, f func(element, name, value string)) {
	markup := text
	for _, part := range []string{script, style} {
		markup = strings.ReplaceAll(markup, part, "")
	}
	for _, e := range element.FindAllStringSubmatch(markup, -1) {
		if len(e[2]) == 0 {
			f(e[1], "", "")
		}
		for _, a := range attribute.FindAllStringSubmatch(e[2], -1) {
			f(e[1], a[1], a[2])
		}
	}
}

// TestPageEscapes: no text of a part becomes markup or script.
func TestPageEscapes(t *testing.T) {
	text := written(t, everything())
	if !utf8.ValidString(text) {
		t.Error("the page is no UTF-8")
	}
	if strings.Contains(text, "alert(1)</script>") || strings.Contains(text, "<img src=x") {
		t.Error("a text has become markup")
	}
	scripts, images := 0, 0
	attributes(text, func(element, name, value string) {
		switch {
		case strings.HasPrefix(name, "on"):
			t.Errorf("<%s> listens by %s", element, name)
		case element == "script" && name != "id":
			scripts++
		case element == "img" && name == "src":
			images++
		}
	})
	if scripts != 2 || images != 2 {
		t.Errorf("%d scripts, %d images; want the recording, one that runs, a chart and a picture", scripts, images)
	}
}

// TestPageSelfContained: nothing on the page is fetched, and its policy would
// not let it.
func TestPageSelfContained(t *testing.T) {
	text := written(t, everything())
	found := 0
	attributes(text, func(element, name, value string) {
		if !slices.Contains(loading, name) {
			return
		}
		found++
		if !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "data:") {
			t.Errorf("<%s> asks for %.80q by %s", element, value, name)
		}
	})
	if found < 4 {
		t.Errorf("%d addresses found, want those of links, icon and picture", found)
	}
	if strings.Contains(style, "@import") || strings.Contains(style, "url(") {
		t.Error("the style asks for another file")
	}
	m := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no policy")
	}
	policy := strings.ReplaceAll(strings.ReplaceAll(m[1], "&#39;", "'"), "&#43;", "+")
	testkit.Contains(t, policy, "default-src 'none'", "img-src data:;", hash(style), hash(script))
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("policy %q lets too much in", policy)
	}
	testkit.Contains(t, text, ">"+style+"</", ">"+script+"</")
}

// TestPageReadable: what screen readers and keys go by.
func TestPageReadable(t *testing.T) {
	text := written(t, everything())
	testkit.Contains(t, text, `<html lang="en">`, `name="viewport"`, "<header>", `<nav aria-label="Contents">`,
		`<main id="content">`, "<footer>", `href="#content"`,
		`<section id="part1" aria-labelledby="part1-title">`, `<th scope="col">`, `<th scope="row">`, " alt=\"",
		`<canvas class="seek" role="slider" tabindex="0" aria-label="Position"`, `<output class="said" aria-live="polite">`, `href="#player"`, "<noscript>")
}

// TestRecordingJSON: samples and fills come out as they went in, clipped.
func TestRecordingJSON(t *testing.T) {
	text := testkit.Must(json.Marshal(everything().Recording))(t)
	var r struct {
		Rate, Channels int
		Stretches      []struct {
			Start, Frames int
			PCM           []byte
		}
		Gaps []struct {
			Start, End int
			Mean       string
		}
	}
	testkit.OK(t, json.Unmarshal(text, &r))
	if r.Rate != 8000 || r.Channels != 2 || len(r.Stretches) != 1 || r.Stretches[0].Start != 5 || r.Stretches[0].Frames != 3 || len(r.Gaps) != 1 || r.Gaps[0].Start != 6 || r.Gaps[0].End != 7 {
		t.Fatalf("%+v", r)
	}
	var samples [6]int16
	testkit.Must(binary.Decode(r.Stretches[0].PCM, binary.LittleEndian, &samples))(t)
	testkit.Equal(t, samples, [6]int16{0, -32768, 16384, -32768, 32767, 8192}, "samples")
	var mean [2]float32
	testkit.Must(binary.Decode(testkit.Must(base64.StdEncoding.DecodeString(r.Gaps[0].Mean))(t), binary.LittleEndian, &mean))(t)
	testkit.Equal(t, mean, [2]float32{0.1, 0.2}, "means")
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestPageWriteFails: the writer's error comes back.
func TestPageWriteFails(t *testing.T) {
	testkit.Fails(t, everything().Write(full{}, HTML), errFull, "")
}
