// Package report shows fits, predictions, models and filled recordings: charts, tables and sound. A Document is written as a page (HTML)
// or as a picture of its charts (PNG, SVG); a Figure is a picture of any plots.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
)

// ErrFormat is wrapped if the extension of a path does not name a format.
var ErrFormat = errors.New("not a format of a report")

// Format is the format of a document's file.
type Format string

const (
	HTML Format = "html"
	PNG  Format = "png"
	SVG  Format = "svg"
)

// FormatOf returns the format that a path's extension asks for.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".html", ".htm":
		return HTML, nil
	case ".png", ".svg":
		return Format(ext[1:]), nil
	}
	return "", fmt.Errorf("%s: the extension does not name a format; want .html, .png or .svg: %w", path, ErrFormat)
}

// Document is what a report shows. A page shows all of it, a picture the charts.
type Document struct {
	Title    string
	Lead     []string // paragraphs below the title
	Sections []section
	Foot     []string
	Player   *player // of the recording; nil if there is none
}

// section is an entry of the page's contents, or details that open and close.
type section struct {
	ID, Title string
	Play      string // what its button plays; empty: it has none
	Gap       int    // that the button plays; 0: the recording from its beginning
	Text      []string
	Charts    []*chart
	Tables    []Table
	Details   []section
	Open      bool // for details
}

// Table is rows below a head; the first cell of each row is its name.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool        // the last column has words rather than numbers
	Gaps    map[int]int // the gap that a row's name links to, by row
}

// Setting is one of the settings of a run.
type Setting struct{ Name, Value string }

// add adds a section, unless it is empty.
func (d *Document) add(s section) {
	if len(s.Text)+len(s.Charts)+len(s.Tables)+len(s.Details) > 0 {
		s.ID = fmt.Sprintf("section%d", len(d.Sections)+1)
		d.Sections = append(d.Sections, s)
	}
}

// addSettings adds the table of a run's settings.
func (d *Document) addSettings(settings []Setting) {
	t := Table{Caption: "Options as given", Head: []string{"", "value"}, Words: true}
	for _, s := range settings {
		t.Rows = append(t.Rows, []string{s.Name, s.Value})
	}
	if len(t.Rows) > 0 {
		d.add(section{Title: "Settings", Tables: []Table{t}})
	}
}

// Write writes the document.
func (d *Document) Write(w io.Writer, as Format) (err error) {
	var charts []*chart
	for _, s := range d.Sections {
		charts = append(charts, s.Charts...)
	}
	figure := figureOf(charts, 22*vg.Centimeter, 8*vg.Centimeter)
	switch as {
	case HTML:
		err = d.writePage(w)
	case PNG:
		err = figure.PNG(w)
	default:
		err = figure.SVG(w)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

var (
	//go:embed assets/page.css
	style string
	//go:embed assets/player.js
	script string
	//go:embed assets/page.html
	page string

	pageTemplate = template.Must(template.New("page").Parse(page))
	policy       = fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		hash(style), hash(script))
)

// hash names a script or style for a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// writePage writes the document as one file that contains all it shows: a browser loads nothing from elsewhere, and a content security policy
// enforces that. Every text is escaped.
func (d *Document) writePage(w io.Writer) error {
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, struct {
		*Document
		Policy string
		Style  template.CSS
		Script template.JS
	}{d, policy, template.CSS(style), template.JS(script)})
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\ufffd"))) // names of files and columns may be anything
	return err
}

// Counted writes a number of things for people: 1 gap, 3 gaps.
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// short writes a number for people, a dash if it is not finite.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}
