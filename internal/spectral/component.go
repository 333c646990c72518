// Package spectral fits a Gaussian process of one input whose spectral density is a sum of components: lines, bands and broad spectra. It
// represents each component by pairs of cosine and sine at fixed nodes of a quadrature rule (nodes.go), so that the bound of package
// variational is the exact log evidence, and it finds the components by a search over structures with a price for every hyper-parameter
// (start.go, search.go, score.go), as Duvenaud et al. (2013) do for exact Gaussian processes.
//
// Quantities are in the model's units: x and lengths in units of x, frequencies in cycles per unit of x, y and standard deviations in units
// of y.
package spectral

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Kind is the form of a component's spectral density.
type Kind string

// The kinds of components. l is the length, p the frequency, t the distance in x.
const (
	Line Kind = "line"     // σ² cos(2πpt)
	Band Kind = "band"     // σ² exp(−t²/2l²) cos(2πpt)
	RBF  Kind = "rbf"      // σ² exp(−t²/2l²), the squared exponential
	M32  Kind = "matern32" // σ² (1 + √3 t/l) exp(−√3 t/l)
	OU   Kind = "ou"       // σ² exp(−t/l), Ornstein–Uhlenbeck or Matérn 1/2
	// Damped is σ² exp(−t/l) cos(2πpt), a damped oscillation.
	Damped Kind = "damped"
)

// Kinds lists all kinds.
var Kinds = []Kind{Line, Band, RBF, M32, OU, Damped}

// Centered reports whether components of the kind have a frequency. The others are centered at frequency 0.
func (k Kind) Centered() bool { return k == Line || k == Band || k == Damped }

// Wide reports whether components of the kind have a length. A line's length is infinite.
func (k Kind) Wide() bool { return k != Line }

// Rough reports whether sample paths of components of the kind are so rough that a spectrum with few nodes cannot represent them.
func (k Kind) Rough() bool { return k == M32 || k == OU || k == Damped }

// order returns the order of a rough kind (markov.Term).
func (k Kind) order() int {
	if k == M32 {
		return 2
	}
	return 1
}

// A Component is a stationary part of the process.
type Component struct {
	Kind      Kind    `json:"kind"`
	SD        float64 `json:"sd"`                  // σ, > 0
	Frequency float64 `json:"frequency,omitempty"` // p, > 0; 0 for kinds that have none
	Length    float64 `json:"length,omitempty"`    // l, > 0; 0 for a line
	// Lengths are the lengths along two inputs, in place of Length: the distance is r with r² = Σ t_q²/l_q². They are
	// nil for one input.
	Lengths []float64 `json:"lengths,omitempty"`
}

// made returns a component of one input.
func made(kind Kind, sd, frequency, length float64) Component {
	return Component{Kind: kind, SD: sd, Frequency: frequency, Length: length}
}

// filtered reports whether a Kalman filter represents the component, in place of nodes.
func (c Component) filtered() bool { return c.Kind.Rough() && c.Lengths == nil }

// Check returns an error that wraps kind if the component is not valid for the number of inputs.
func (c Component) Check(inputs int, kind error) error {
	if inputs != 1 || c.Lengths != nil {
		return c.checkPlanar(inputs, kind)
	}
	ok := func(has bool, v float64) bool { return has == (v > 0) && !math.IsInf(v, 0) && !math.IsNaN(v) && v >= 0 }
	known := false
	for _, k := range Kinds {
		known = known || k == c.Kind
	}
	switch {
	case !known:
		return fault.Errorf(kind, "component kind %q, must be one of %v", c.Kind, Kinds)
	case !ok(true, c.SD), !ok(c.Kind.Centered(), c.Frequency), !ok(c.Kind.Wide(), c.Length):
		return fault.Errorf(kind, "component %v: the standard deviation, and the frequency and length of kinds that have them, must be positive", c)
	}
	return nil
}

// String describes the component with its parameters.
func (c Component) String() string {
	s := fmt.Sprintf("%s(sd %.4g", c.Kind, c.SD)
	if c.Kind.Centered() {
		s += fmt.Sprintf(", frequency %.6g", c.Frequency)
	}
	switch {
	case c.Lengths != nil:
		s += fmt.Sprintf(", lengths %.4g", c.Lengths)
	case c.Kind.Wide():
		s += fmt.Sprintf(", length %.4g", c.Length)
	}
	return s + ")"
}

// Density returns the spectral density of a rough component at frequency f ≥ 0, for both signs of f; 0 for other kinds.
func (c Component) Density(f float64) float64 {
	w := 2 * math.Pi * f * c.Length
	switch c.Kind {
	case OU, Damped:
		off := 2 * math.Pi * c.Frequency * c.Length
		return 2 * c.SD * c.SD * c.Length * (1/(1+(w-off)*(w-off)) + 1/(1+(w+off)*(w+off)))
	case M32:
		q := 3 + w*w
		return 24 * math.Sqrt(3) * c.SD * c.SD * c.Length / (q * q)
	}
	return 0
}
