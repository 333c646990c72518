// Package report shows fits, predictions, models and filled recordings: charts,
// tables and sound. A Document is written as a page (HTML) or as a picture of its
// charts (PNG, SVG); a Figure is a picture of any plots.
package report

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strings"
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
	Title     string
	Lead      []string // paragraphs below the title
	Sections  []section
	Foot      []string
	Recording *recording // that the player plays; nil if there is none
}

// Setting is one of the settings of a run.
type Setting struct{ Name, Value string }

// Write writes the document.
func (d *Document) Write(w io.Writer, as Format) error {
	if as == HTML {
		return d.writePage(w)
	}
	figure, err := figureOf(d.charts())
	if err == nil && as == PNG {
		err = figure.PNG(w)
	} else if err == nil {
		err = figure.SVG(w)
	}
	if err != nil {
		return fmt.Errorf("draw the charts: %w", err)
	}
	return nil
}

// writePage writes the document as one file that holds all it shows: a browser
// loads nothing from elsewhere, and a content security policy enforces that.
// Every text is escaped.
func (d *Document) writePage(w io.Writer) error {
	var b bytes.Buffer
	err := templates.Execute(&b, struct {
		*Document
		Policy string
		Style  template.CSS
		Script template.JS
	}{d, policy, template.CSS(style), template.JS(script)})
	if err == nil {
		_, err = w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\ufffd"))) // names of files and columns may be anything
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// charts returns the charts of all sections.
func (d *Document) charts() []*chart {
	var out []*chart
	for _, s := range d.Sections {
		for _, p := range s.Parts {
			if c, ok := p.(*chart); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// add adds a section, unless it is empty.
func (d *Document) add(title string, parts ...part) {
	if len(parts) > 0 {
		d.Sections = append(d.Sections, section{fmt.Sprintf("part%d", len(d.Sections)+1), title, parts})
	}
}

// addSettings adds the table of a run's settings.
func (d *Document) addSettings(settings []Setting) {
	t := Table{Caption: "Options as given", Head: []string{"", "value"}, Words: true}
	for _, s := range settings {
		t.Rows = append(t.Rows, []string{s.Name, s.Value})
	}
	if len(t.Rows) > 0 {
		d.add("Settings", t)
	}
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
