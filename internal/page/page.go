// Package page makes pages that hold all they show: one file, nothing loaded
// from elsewhere, which a content security policy in it holds browsers to.
// Charts can be zoomed into by mouse, touch and keys; they are drawn by uPlot,
// which comes with the page (assets/uplot, MIT licence).
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

// Page is a page; its parts are escaped as they are put in, whatever their
// text says.
type Page struct {
	Title     string
	Lead      []string // paragraphs below the title
	Sections  []Section
	Foot      []string
	Recording *Recording // what Players and Waves play and show; nil: they are none
}

// Section is a part of the page that the contents list.
type Section struct {
	Title string
	Parts []Part
}

// A Part is one thing in a section: Text, Table, Chart, Wave, Players, Picture
// or Group.
type Part interface{ render() (template.HTML, error) }

//go:embed assets
var assets embed.FS

var (
	style     = asset("uplot/uPlot.min.css") + asset("page.css")
	library   = "/*\n" + asset("uplot/LICENSE") + "*/\n" + asset("uplot/uPlot.iife.min.js") // a page is a copy, which is to have the licence
	script    = "\"use strict\";\n" + asset("zoom.js") + asset("chart.js") + asset("sound.js") + asset("boot.js")
	templates = template.Must(template.New("page").Parse(asset("page.html")))
	policy    = fmt.Sprintf("default-src 'none'; img-src data:; media-src data: blob:; style-src %s; script-src %s %s; base-uri 'none'; form-action 'none'",
		hash(style), hash(library), hash(script))
)

// asset is an embedded file.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// hash names a script or style in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// view is a page as the template takes it.
type view struct {
	*Page
	Policy, Title   string
	Style           template.CSS
	Library, Script template.JS
	Recording       template.JS
	Sections        []sectionView
}

type sectionView struct {
	ID, Title string
	Parts     []template.HTML
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	v := view{Page: p, Policy: policy, Title: p.Title, Style: template.CSS(style), Library: template.JS(library), Script: template.JS(script)}
	for i, s := range p.Sections {
		section := sectionView{ID: fmt.Sprintf("part%d", i+1), Title: s.Title}
		parts, err := renderAll(s.Parts)
		if err != nil {
			return err
		}
		section.Parts = parts
		v.Sections = append(v.Sections, section)
	}
	if p.Recording != nil {
		text, err := p.Recording.json()
		if err != nil {
			return err
		}
		v.Recording = text
	}
	var b bytes.Buffer
	err := templates.Execute(&b, v)
	if err == nil {
		_, err = w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\ufffd"))) // names of files and columns may be anything
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func renderAll(parts []Part) ([]template.HTML, error) {
	var out []template.HTML
	for _, p := range parts {
		text, err := p.render()
		if err != nil {
			return nil, fmt.Errorf("write the page: %w", err)
		}
		out = append(out, text)
	}
	return out, nil
}

// fill executes one of the page's templates.
func fill(name string, v any) (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, v)
	return template.HTML(b.String()), err
}
