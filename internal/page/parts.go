package page

import (
	"encoding/base64"
	"html/template"

	"github.com/vssgp/vssgp/internal/figure"
)

// Text is a paragraph.
type Text string

func (t Text) render() (template.HTML, error) { return fill("text", string(t)) }

// Table is rows below a head, the first cell of each being its name.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // cells are words rather than numbers
}

func (t Table) render() (template.HTML, error) { return fill("table", t) }

// Chart is a figure to zoom into.
type Chart struct{ *figure.Figure }

func (c Chart) render() (template.HTML, error) {
	text, err := figureJSON(c.Figure)
	if err != nil {
		return "", err
	}
	return fill("chart", struct {
		*figure.Figure
		Data template.JS
	}{c.Figure, text})
}

// Wave is the waveform of one channel's frames [From, To) of the page's
// Recording, with the fill and its band; Lo and Hi are what it shows at first,
// all where both are 0.
type Wave struct {
	Title, Text       string
	From, To, Channel int
	Lo, Hi            int
}

func (v Wave) render() (template.HTML, error) { return fill("wave", v) }

// Players are players beside each other.
type Players []Player

// Player plays the frames [From, To) of the page's Recording, its Side "before"
// or "after" the fill.
type Player struct {
	Title, Side string
	From, To    int
}

func (p Players) render() (template.HTML, error) { return fill("players", p) }

// Picture is an image with what its edges stand for: Up from the top down,
// Along from left to right.
type Picture struct {
	Title, Alt    string
	PNG           []byte
	Width, Height int
	Up, Along     []string
	Low           bool // a small one
}

func (p Picture) render() (template.HTML, error) {
	return fill("picture", struct {
		Picture
		Source template.URL
	}{p, template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(p.PNG))})
}

// Group is parts below a title that opens and closes them.
type Group struct {
	Title string
	Open  bool
	Parts []Part
}

func (g Group) render() (template.HTML, error) {
	parts, err := renderAll(g.Parts)
	if err != nil {
		return "", err
	}
	return fill("group", struct {
		Title string
		Open  bool
		Parts []template.HTML
	}{g.Title, g.Open, parts})
}
