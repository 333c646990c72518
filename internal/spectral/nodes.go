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
	// maternError is the same for Matérn covariances, whose nodes also leave out a part of the variance.
	maternError = 1e-3
	// Below hermiteRange length-scales, Gauss-Hermite quadrature needs fewer nodes than a regular grid.
	hermiteRange = 4
	// hermiteChecks is the number of distances at which the error of Gauss-Hermite quadrature is checked.
	hermiteChecks = 200
)

// Nodes are a quadrature rule for a component's spectral density: Σ_j Weight_j cos(Node_j t/l) is the correlation at distance t. Nodes of
// kinds with a frequency are relative to it, and have both signs. The weights and Lost add up to 1.
type Nodes struct {
	Node, Weight []float64
	// Lost is the part of the variance at frequencies above the highest node.
	Lost float64
}

// newNodes returns the nodes for a kind, for data that extend over span length-scales. Frequencies above limit, in units of 1/l, are left
// out, and for Matérn kinds higher frequencies with the part lost of the variance, and all nodes after the first most.
//
// With l = 1 the covariance is the Fourier transform of a density: normal for Band and RBF, Student's t with 3 degrees of freedom for M32
// and with 1 for OU. The trapezoidal rule with step h repeats the covariance with period 2π/h, so it is exact up to the distance span if the
// covariance is negligible beyond 2π/h − span.
func newNodes(kind Kind, span, limit, lost float64, most int) Nodes {
	if kind == Line {
		return Nodes{Node: []float64{0}, Weight: []float64{1}}
	}
	d := densities[kind]
	step := 2 * math.Pi / (span + d.reach)
	exact := kind == Band || kind == RBF
	if exact {
		lost = nodeError
	}
	highest := min(d.highest(1-lost/2), limit)
	count := min(int(math.Ceil(highest/step)), most)
	if exact && span < hermiteRange && highest < limit {
		if n := hermite(kind, span, 2*count); n.Node != nil {
			return n
		}
	}
	first := 0
	if kind.Centered() {
		first = -count
	}
	var n Nodes
	for j := first; j <= count; j++ {
		w := float64(j) * step
		a := step * d.density(w)
		if j > 0 && !kind.Centered() {
			a *= 2
		}
		n.Node, n.Weight = append(n.Node, w), append(n.Weight, a)
	}
	sum := floats.Sum(n.Weight)
	if sum > 1 || exact && highest < limit {
		floats.Scale(1/sum, n.Weight)
	} else {
		n.Lost = 1 - sum
	}
	return n
}

// A density is the spectral density of a covariance with l = 1.
type density struct {
	density func(w float64) float64
	highest func(p float64) float64 // quantile function
	reach   float64                 // the distance at which the covariance is negligible
}

var densities = func() map[Kind]density {
	normal := density{distuv.UnitNormal.Prob, distuv.UnitNormal.Quantile, math.Sqrt(2 * math.Log(1/nodeError))}
	student := func(degrees, decay float64) density {
		t := distuv.StudentsT{Sigma: 1, Nu: degrees}
		return density{t.Prob, t.Quantile, decay * math.Log(1/maternError)}
	}
	return map[Kind]density{Band: normal, RBF: normal, M32: student(3, 1.8/math.Sqrt(3)), OU: student(1, 1)}
}()

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
