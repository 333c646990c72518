package report

import (
	"encoding/json"
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

// Digits of the numbers in a page; x may be a date or a time, whose differences matter.
const digitsX, digitsY = 12, 7

// rounded are numbers in JSON, rounded to the given digits, and null where they
// are not finite.
type rounded struct {
	values []float64
	digits int
}

// IsZero is for omitzero.
func (r rounded) IsZero() bool { return r.values == nil }

// MarshalJSON writes an array.
func (r rounded) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range r.values {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', r.digits, 64)
	}
	return append(out, ']'), nil
}

// MarshalJSON writes the layer without the slices that it does not use.
func (l layer) MarshalJSON() ([]byte, error) {
	interval := digitsY
	if l.kind == asStems { // whose intervals are along x
		interval = digitsX
	}
	return json.Marshal(struct {
		Name string  `json:"name"`
		Kind kind    `json:"kind"`
		Ink  ink     `json:"ink"`
		X    rounded `json:"x"`
		Y    rounded `json:"y,omitzero"`
		Lo   rounded `json:"lo,omitzero"`
		Hi   rounded `json:"hi,omitzero"`
	}{l.name, l.kind, l.ink, rounded{l.x, digitsX}, rounded{l.y, digitsY}, rounded{l.lo, interval}, rounded{l.hi, interval}})
}

// MarshalJSON writes the chart as chart.js takes it.
func (c *chart) MarshalJSON() ([]byte, error) {
	said := map[string]any{
		"layers": c.layers, "labels": append([]label{}, c.labels...), "xLabel": c.XLabel, "yLabel": c.YLabel, "logY": c.logY,
	}
	if c.dates {
		said["dates"] = true
	}
	return json.Marshal(said)
}
