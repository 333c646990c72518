package report

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"html"
	"image"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/plot/plotter"

	"github.com/vssgp/vssgp/internal/testkit"
)

func written(t *testing.T, d *Document) string { return writtenAs(t, d, HTML) }

func writtenAs(t *testing.T, d *Document, as Format) string {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, d.Write(&b, as))
	return b.String()
}

// hostile is a text that must be escaped everywhere in a page.
const hostile = `</script></style><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\xff\u2028&amp;.wav"

// everything returns a document with all kinds of content and hostile text in each.
func everything() *Document {
	x := []float64{0, 1, 2}
	c := newChart(hostile, hostile, hostile, hostile)
	c.line(hostile, Blue, x, []float64{1, math.NaN(), math.Inf(1)})
	c.band(hostile+"2", Blue, x, x, x)
	c.label(1, 1, hostile)
	c.panel.Add(rule{1, hostile, 0}, plotter.NewImage(image.NewGray(image.Rect(0, 0, 2, 2)), 0, 0, 1, 1))
	return &Document{
		Title: hostile, Lead: []string{hostile}, Foot: []string{hostile},
		Player: &player{Rate: 8000, Channels: 2, Clips: []clip{newClip(5, [][]float64{{0, 0.5, 2}, {-1, -2, 0.25}})}, Filled: true, Reference: true,
			Gaps: []playerGap{{Number: 1, Start: 6, End: 7, Mean: singles([][]float64{{0.1}, {0.2}}), Reference: singles([][]float64{{0.3}, {0.4}})}}},
		Sections: []section{{ID: "section1", Title: hostile, Play: hostile, Text: []string{hostile}, Charts: []*chart{c},
			Tables:  []Table{{Caption: hostile, Head: []string{hostile, "b"}, Rows: [][]string{{hostile, hostile}, {hostile, "2"}}, Gaps: map[int]int{0: 1}, Words: true}},
			Details: []section{{ID: "gap1", Title: hostile, Open: true, Play: hostile, Gap: 1, Text: []string{hostile}}},
		}},
	}
}

var (
	element   = regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"]*")?)*)\s*/?>`)
	attribute = regexp.MustCompile(`\s([a-zA-Z:-]+)(?:="([^"]*)")?`)
	loading   = []string{"src", "href", "xlink:href", "action", "poster", "srcset", "data", "background"}
)

// TestPageEscapesTextAndLoadsNothing checks that text is escaped, that the page loads no other files, that its policy forbids it, and that it is accessible.
func TestPageEscapesTextAndLoadsNothing(t *testing.T) {
	text := written(t, everything())
	if !utf8.ValidString(text) || strings.Contains(text, "alert(1)</script>") || strings.Contains(text, "<img") {
		t.Error("a text is not escaped, or the page is not UTF-8")
	}
	markup := strings.ReplaceAll(strings.ReplaceAll(text, script, ""), style, "")
	elements, addresses := map[string]int{}, 0
	for _, e := range element.FindAllStringSubmatch(markup, -1) {
		elements[e[1]]++
		for _, a := range attribute.FindAllStringSubmatch(e[2], -1) {
			name, value := a[1], a[2]
			if strings.HasPrefix(name, "on") || name == "style" {
				t.Errorf("<%s> has %s=%q", e[1], name, value)
			}
			if slices.Contains(loading, name) {
				addresses++
				if !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "data:") {
					t.Errorf("<%s> loads %.80q by %s", e[1], value, name)
				}
			}
		}
	}
	if elements["script"] != 2 || elements["image"] != 2 || addresses != 6 { // icon, skip, contents, a gap, two pictures
		t.Errorf("%d addresses in %v; want the recording, a script that runs, and a picture in both elements of a chart", addresses, elements)
	}
	m := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no policy")
	}
	policy := html.UnescapeString(m[1])
	testkit.Contains(t, policy, "default-src 'none'", "img-src data:;", hash(style), hash(script))
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(style, "@import") || strings.Contains(style, "url(") {
		t.Errorf("policy %q or the style allows too much", policy)
	}
	testkit.Contains(t, text, ">"+style+"</", ">"+script+"</", `<html lang="en">`, `name="viewport"`, "<header>", `<nav aria-label="Contents">`,
		`<main id="content">`, "<footer>", `<section id="section1" aria-labelledby="section1-title">`, `<th scope="col">`, `<th scope="row">`,
		`role="img" aria-label="`, `name="position" aria-label="Position"`, "<noscript>")
	testkit.Fails(t, everything().Write(full{}, HTML), errFull, "")
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestPlayerJSON checks that samples are clipped and that fills and references are unchanged.
func TestPlayerJSON(t *testing.T) {
	text := string(testkit.Must(json.Marshal(everything().Player))(t))
	samples, _ := binary.Append(nil, binary.LittleEndian, []int16{0, -32768, 16384, -32768, 32767, 8192})
	values := func(v ...float32) string {
		b, _ := binary.Append(nil, binary.LittleEndian, v)
		return base64.StdEncoding.EncodeToString(b)
	}
	testkit.Equal(t, text, `{"rate":8000,"channels":2,"clips":[{"start":5,"end":8,"pcm":"`+base64.StdEncoding.EncodeToString(samples)+`"}],`+
		`"gaps":[{"number":1,"start":6,"end":7,"channel":0,"mean":"`+values(0.1, 0.2)+`","reference":"`+values(0.3, 0.4)+`"}]}`, "the player's sound")
}
