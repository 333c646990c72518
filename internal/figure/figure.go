// Package figure describes charts of fits and of spectra: what is drawn, not
// how. A picture of one is made here, by gonum/plot; package page makes a chart
// to zoom into of the same description.
package figure

// A Figure is one chart.
type Figure struct {
	Title          string
	Text           string // what is to be seen, for who cannot see it
	XLabel, YLabel string
	LogY           bool // all y are positive
	Layers         []Layer
	Labels         []Label // the most important first
}

// Kind is how a layer is drawn.
type Kind string

const (
	// Line joins the points (X, Y). X does not fall; a NaN in Y interrupts it.
	Line Kind = "line"
	// Points are dots at (X, Y). X does not fall.
	Points Kind = "points"
	// Band lies between Lo and Hi over X, which does not fall.
	Band Kind = "band"
	// Stems are dots at (X, Y) on a line from below, each with an interval
	// [Lo, Hi] along x. X does not fall.
	Stems Kind = "stems"
)

// Ink is what a layer is about, which decides its colour.
type Ink string

const (
	Data      Ink = "data"
	Mean      Ink = "mean"
	Reference Ink = "reference"
	Draw      Ink = "draw"
)

// A Layer is one series of a figure; its slices are equally long, those that
// its kind does not use nil.
type Layer struct {
	Name         string
	Kind         Kind
	Ink          Ink
	X, Y, Lo, Hi []float64
}

// A Label is a text above a point.
type Label struct {
	X, Y float64
	Text string
}
