package report

import (
	"encoding/json"
	"html/template"
	"math"
	"strconv"
)

// A chart is described once and drawn twice: as a plot (draw.go), and in a page
// by its script (assets/chart.js).
type chart struct {
	Title          string
	Text           string // describes the chart for readers who cannot see it
	XLabel, YLabel string
	logY           bool // all y are positive
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

// ink is the subject of a layer, which decides its colour.
type ink string

const (
	dataInk      ink = "data"
	meanInk      ink = "mean"
	referenceInk ink = "reference"
	drawInk      ink = "draw"
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
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Text string  `json:"text"`
}

// Digits of the numbers in a page; x may be a date or a time, of which the differences matter.
const digitsX, digitsY = 12, 7

// floats are numbers in JSON, rounded to the given digits, and null where they
// are not finite.
type floats struct {
	values []float64
	digits int
}

// MarshalJSON writes an array.
func (f floats) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range f.values {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', f.digits, 64)
	}
	return append(out, ']'), nil
}

// MarshalJSON writes the layer without the slices that it does not use.
func (l layer) MarshalJSON() ([]byte, error) {
	some := func(values []float64, digits int) *floats {
		if values == nil {
			return nil
		}
		return &floats{values, digits}
	}
	interval := digitsY
	if l.kind == asStems { // whose intervals are along x
		interval = digitsX
	}
	return json.Marshal(struct {
		Name string  `json:"name"`
		Kind kind    `json:"kind"`
		Ink  ink     `json:"ink"`
		X    floats  `json:"x"`
		Y    *floats `json:"y,omitempty"`
		Lo   *floats `json:"lo,omitempty"`
		Hi   *floats `json:"hi,omitempty"`
	}{l.name, l.kind, l.ink, floats{l.x, digitsX}, some(l.y, digitsY), some(l.lo, interval), some(l.hi, interval)})
}

// JSON is the chart as chart.js takes it. The encoder escapes what could end a
// script.
func (c *chart) JSON() (template.JS, error) {
	text, err := json.Marshal(map[string]any{
		"layers": c.layers, "labels": append([]label{}, c.labels...), "xLabel": c.XLabel, "yLabel": c.YLabel, "logY": c.logY,
	})
	return template.JS(text), err
}

// HTML makes the chart one to zoom into.
func (c *chart) HTML() (template.HTML, error) { return fill("chart", c) }
