// Package report says of fits, predictions and models what people want to see:
// charts, tables and, of filled recordings, sound. A Document is written as a
// page (HTML) or as a picture of its charts (PNG, SVG).
package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/internal/figure"
	"github.com/vssgp/vssgp/internal/page"
)

// ErrFormat is wrapped where a path's extension names none of the formats.
var ErrFormat = errors.New("no format of a report")

// Format is what a document is written as.
type Format string

const (
	HTML Format = "html"
	PNG  Format = "png"
	SVG  Format = "svg"
)

// FormatOf is the format that a path's extension asks for.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".html", ".htm":
		return HTML, nil
	case ".png", ".svg":
		return Format(ext[1:]), nil
	}
	return "", fmt.Errorf("%s: the extension names no format; want .html, .png or .svg: %w", path, ErrFormat)
}

// Document is a page, and its charts once more for pictures.
type Document struct {
	Page    page.Page
	figures []*figure.Figure
}

// Setting is one of the settings of a run.
type Setting struct{ Name, Value string }

// Write writes the document.
func (d *Document) Write(w io.Writer, as Format) error {
	if as == HTML {
		return d.Page.Write(w)
	}
	picture, err := figure.Picture(d.figures)
	if err == nil && as == PNG {
		err = picture.PNG(w)
	} else if err == nil {
		err = picture.SVG(w)
	}
	if err != nil {
		return fmt.Errorf("draw the charts: %w", err)
	}
	return nil
}

// section adds a section; its charts are what a picture shows.
func (d *Document) section(title string, parts ...page.Part) {
	if len(parts) == 0 {
		return
	}
	d.Page.Sections = append(d.Page.Sections, page.Section{Title: title, Parts: parts})
	for _, p := range parts {
		if c, ok := p.(page.Chart); ok {
			d.figures = append(d.figures, c.Figure)
		}
	}
}

// settings adds the table of a run's settings.
func (d *Document) settings(settings []Setting) {
	t := page.Table{Caption: "Options as given", Head: []string{"", "value"}, Words: true}
	for _, s := range settings {
		t.Rows = append(t.Rows, []string{s.Name, s.Value})
	}
	if len(t.Rows) > 0 {
		d.section("Settings", t)
	}
}

// Counted is a number of things for people: 1 gap, 3 gaps.
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// short is a number for people, a dash where it is none.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

func charts(figures []*figure.Figure) []page.Part {
	var out []page.Part
	for _, f := range figures {
		out = append(out, page.Chart{Figure: f})
	}
	return out
}
