package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
)

// A chart is drawn by gonum/plot (draw.go), in a page as SVG.
type chart struct {
	Title          string
	Text           string // describes the chart for readers who cannot see it
	XLabel, YLabel string
	logY           bool // all y are positive
	dates          bool // x is in seconds since 1970, on a clock of its own
	layers         []layer
	labels         []label // the most important first
}

// kind is how a layer is drawn.
type kind string

const (
	// asLine joins the points (X, Y). X does not fall; a NaN in Y interrupts it.
	asLine kind = "line"
	// asPoints are dots at (X, Y). X does not fall.
	asPoints kind = "points"
	// asBand lies between Lo and Hi over X, which does not fall.
	asBand kind = "band"
	// asStems are dots at (X, Y) on a line from below, each with an interval
	// [Lo, Hi] along x. X does not fall.
	asStems kind = "stems"
)

// ink is the subject of a layer, which decides its color.
type ink string

const (
	dataInk      ink = "data"
	meanInk      ink = "mean"
	referenceInk ink = "reference"
	drawInk      ink = "draw"
	gapsInk      ink = "gap"
)

// A layer is one series of a chart. Its slices are equally long; those that its
// kind does not use are nil.
type layer struct {
	name         string
	kind         kind
	ink          ink
	x, y, lo, hi []float64
}

// A label is a text above a point.
type label struct {
	X, Y float64
	Text string
}

// Source returns the chart without its title, which the page has, as the address of an SVG picture.
func (c *chart) Source() (template.URL, error) {
	plain := *c
	plain.Title = ""
	f, err := figureOf([]*chart{&plain})
	if err != nil {
		return "", fmt.Errorf("draw %q: %w", c.Title, err)
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		return "", fmt.Errorf("draw %q: %w", c.Title, err)
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}
