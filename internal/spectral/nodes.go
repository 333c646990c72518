package spectral

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// nodeError is the error of a covariance with Gaussian spectrum, relative to its variance, at all distances of the data. A larger one
	// acts as a wrong kernel if there is little noise.
	nodeError = 1e-6
	// Below hermiteRange length-scales, Gauss-Hermite quadrature needs fewer nodes than a regular grid.
	hermiteRange = 4
	// hermiteChecks is the number of distances at which the error of Gauss-Hermite quadrature is checked.
	hermiteChecks = 200
)

var (
	// nodeReach is the distance, in length-scales, at which the covariance is negligible, and nodeTop the frequency beyond which its spectrum
	// is.
	nodeReach = math.Sqrt(2 * math.Log(1/nodeError))
	nodeTop   = distuv.UnitNormal.Quantile(1 - nodeError/2)
)

// Nodes are a quadrature rule for a component's spectral density: Σ_j Weight_j cos(Node_j t/l) is the correlation at distance t. Nodes of
// kinds with a frequency are relative to it, and have both signs. The weights add up to 1.
type Nodes struct{ Node, Weight []float64 }

// newNodes returns the nodes for a kind that is not rough, for data that extend over span length-scales.
//
// With l = 1 the covariance is the Fourier transform of a normal density. The trapezoidal rule with step h repeats the covariance with
// period 2π/h, so it is exact up to the distance span if the covariance is negligible beyond 2π/h − span.
func newNodes(kind Kind, span float64) (n Nodes) {
	if kind == Line {
		return Nodes{[]float64{0}, []float64{1}}
	}
	step := 2 * math.Pi / (span + nodeReach)
	count := int(math.Ceil(nodeTop / step))
	if span < hermiteRange {
		if n = hermite(kind, span, 2*count); n.Node != nil {
			return n
		}
	}
	first := 0
	if kind.Centered() {
		first = -count
	}
	for j := first; j <= count; j++ {
		w := float64(j) * step
		a := distuv.UnitNormal.Prob(w)
		if j > 0 && !kind.Centered() {
			a *= 2
		}
		n.Node, n.Weight = append(n.Node, w), append(n.Weight, a)
	}
	floats.Scale(1/floats.Sum(n.Weight), n.Weight)
	return n
}

// hermite returns the Gauss-Hermite rule with the fewest nodes, at most the given number, or none.
func hermite(kind Kind, span float64, most int) (n Nodes) {
	for count := 1; count <= most; count++ {
		x, w := make([]float64, count), make([]float64, count)
		quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
		floats.Scale(math.Sqrt2, x)
		floats.Scale(1/floats.Sum(w), w)
		worst := 0.0
		for i := range hermiteChecks + 1 {
			t, sum := span*float64(i)/hermiteChecks, 0.0
			for j := range x {
				sum += w[j] * math.Cos(x[j]*t)
			}
			worst = max(worst, math.Abs(sum-math.Exp(-0.5*t*t)))
		}
		if worst > nodeError {
			continue
		}
		if kind.Centered() {
			return Nodes{Node: x, Weight: w}
		}
		return folded(x, w)
	}
	return n
}

// folded adds the weights of negative nodes to the positive ones.
func folded(x, w []float64) (n Nodes) {
	const zero = 1e-9
	for j, v := range x {
		switch {
		case v > zero:
			n.Node, n.Weight = append(n.Node, v), append(n.Weight, 2*w[j])
		case v > -zero:
			n.Node, n.Weight = append(n.Node, 0), append(n.Weight, w[j])
		}
	}
	return n
}
