package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
)

//go:embed assets
var assets embed.FS

var (
	style  = asset("page.css")
	script = "\"use strict\";\n" + asset("sound.js") + asset("engine.js") + asset("player.js") + asset("boot.js")
	policy = fmt.Sprintf("default-src 'none'; img-src data:; "+
		"style-src %s; script-src %s; base-uri 'none'; form-action 'none'", hash(style), hash(script))
)

// asset returns an embedded file.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// hash names a script or style for a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var templates = template.New("page")

func init() { // show uses templates
	template.Must(templates.Funcs(template.FuncMap{"show": show}).Parse(asset("page.html")))
}

// show writes a part by its template.
func show(p part) (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, fmt.Sprintf("%T", p), p)
	return template.HTML(b.String()), err
}

// A part is one thing in a section of a page: a paragraph, Table, *chart, play,
// gapList, raster or group. page.html has a template for each, by its type's name.
type part any

// section is one entry of the page's contents.
type section struct {
	ID, Title string
	Parts     []part
}

type paragraph string

// Table is rows below a head; the first cell of each row is its name.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // cells are words rather than numbers
}

// play is a button that has the page's player play a gap, or from Gap 0 the
// recording from its beginning.
type play struct {
	Gap  int
	What string
}

// gapList is a table of gaps, each with a label to click, in one order and, at the
// press of a button, in that of time.
type gapList struct {
	Caption, Text, Order string
	Head                 []string
	Rows                 []gapRow
}

// gapRow is a gap in the list. A gap that the page holds can be played; one with a
// section of its own is linked to it.
type gapRow struct {
	Gap, Start  int
	Label       string
	Held, Shown bool
	Cells       []string
	Why         string
}

// raster is a picture with the scales at its edges: Up from the top down, Along
// from left to right.
type raster struct {
	Title, Alt    string
	PNG           []byte
	Width, Height int
	Up, Along     []string
	Low           bool // a small one
}

// Source returns the picture itself as an address.
func (r raster) Source() template.URL {
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(r.PNG))
}

// group is parts below a title that opens and closes them.
type group struct {
	ID, Title string // no ID: nothing is linked to it
	Open      bool
	Parts     []part
}
