// Package report writes reports on fits, predictions, models and filled recordings, with charts, tables and audio. A Document is written as
// a page (HTML) or as an image of its charts (PNG, SVG).
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

// ErrFormat is wrapped by the error for a path with an unsupported extension.
var ErrFormat = errors.New("unsupported report format")

// Format is the format of a document's file.
type Format string

const (
	HTML Format = "html"
	PNG  Format = "png"
	SVG  Format = "svg"
)

// FormatOf returns the format of a path's extension. The error wraps ErrFormat.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".html", ".htm":
		return HTML, nil
	case ".png", ".svg":
		return Format(ext[1:]), nil
	}
	return "", fmt.Errorf("%s: the extension must be .html, .png or .svg: %w", path, ErrFormat)
}

// A Document is the content of a report. A page shows all of it, and an image shows the charts.
type Document struct {
	Title    string
	Lead     []string // paragraphs below the title
	Sections []section
	Foot     []string
	Player   *player // nil without a recording
}

// section is an entry in the page's table of contents, or collapsible details.
type section struct {
	ID, Title string
	Play      string // text of its play button; "" for no button
	Gap       int    // gap that the button plays; 0 for the recording from its beginning
	Text      []string
	Charts    []*chart
	Tables    []Table
	Details   []section
	Open      bool // for details
}

// A Table has a head and rows. The first cell of each row is its name.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool        // the last column contains words
	Gaps    map[int]int // gaps that the names of rows link to, by row
}

// A Setting is the name and value of an option.
type Setting struct{ Name, Value string }

// add adds a section, unless it is empty.
func (d *Document) add(s section) {
	if len(s.Text)+len(s.Charts)+len(s.Tables)+len(s.Details) > 0 {
		s.ID = fmt.Sprintf("section%d", len(d.Sections)+1)
		d.Sections = append(d.Sections, s)
	}
}

// addSettings adds a table of settings.
func (d *Document) addSettings(settings []Setting) {
	t := Table{Caption: "Options of the command line", Head: []string{"", "value"}, Words: true}
	for _, s := range settings {
		t.Rows = append(t.Rows, []string{s.Name, s.Value})
	}
	if len(t.Rows) > 0 {
		d.add(section{Title: "Settings", Tables: []Table{t}})
	}
}

// Write writes the document in a format.
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

// hash returns the source expression of a script or style for a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// writePage writes the document as a self-contained HTML file. A content security policy prevents the browser from loading other files. All
// text is escaped.
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
	_, err = w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\ufffd"))) // names of files and columns may be invalid UTF-8
	return err
}

// Counted formats a number of items, such as 1 gap or 3 gaps.
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// short formats a number with four digits, or as a dash if it is not finite.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}
