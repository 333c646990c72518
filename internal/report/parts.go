package report

import (
	"encoding/base64"
	"html/template"
)

// A part is one thing in a section of a page: a paragraph, Table, *chart, wave,
// players, raster or group. The template calls HTML.
type part interface{ HTML() (template.HTML, error) }

// section is a part of the page that the contents list.
type section struct {
	ID, Title string
	Parts     []part
}

type paragraph string

func (p paragraph) HTML() (template.HTML, error) { return fill("text", string(p)) }

// Table is rows below a head; the first cell of each row is its name.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // cells are words rather than numbers
}

// HTML is the table's markup.
func (t Table) HTML() (template.HTML, error) { return fill("table", t) }

// wave is the waveform of one channel's frames [From, To) of the document's
// Recording, with the fill and its band. Lo and Hi are what it shows at first,
// all where both are 0.
type wave struct {
	Title, Text       string
	From, To, Channel int
	Lo, Hi            int
}

func (v wave) HTML() (template.HTML, error) { return fill("wave", v) }

// players are players beside each other.
type players []player

// player plays the frames [From, To) of the document's Recording, its Side
// "before" or "after" the fill.
type player struct {
	Title, Side string
	From, To    int
}

func (p players) HTML() (template.HTML, error) { return fill("players", p) }

// raster is a picture with the scales at its edges: Up from the top down, Along
// from left to right.
type raster struct {
	Title, Alt    string
	PNG           []byte
	Width, Height int
	Up, Along     []string
	Low           bool // a small one
}

func (r raster) HTML() (template.HTML, error) { return fill("picture", r) }

// Source is the picture itself as an address.
func (r raster) Source() template.URL {
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(r.PNG))
}

// group is parts below a title that opens and closes them.
type group struct {
	Title string
	Open  bool
	Parts []part
}

func (g group) HTML() (template.HTML, error) { return fill("group", g) }
