package spectral

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/variational"
)

// A function of two inputs has components with a length along each input, whose spectra are represented by nodes on a
// lattice of frequencies. The frequencies of a lattice remain the same during an optimization, and the variances of its
// nodes follow the lengths. So there is no gradient with respect to frequencies, and a component that is too rough for
// the nodes is a valid Gaussian process with a truncated spectrum.

// A span is the range of an input.
type span struct{ low, high float64 }

func (s span) length() float64 { return s.high - s.low }

// checkPlanar returns an error that wraps kind if c is not a valid component of two inputs.
func (c Component) checkPlanar(inputs int, kind error) error {
	valid := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	switch {
	case c.Kind != RBF:
		return fault.Errorf(kind, "component kind %q of %d inputs, must be %q", c.Kind, inputs, RBF)
	case inputs != 2 || len(c.Lengths) != inputs:
		return fault.Errorf(kind, "component %v of %d inputs, must have a length for each of two inputs", c, inputs)
	case !valid(c.SD), !valid(c.Lengths[0]), !valid(c.Lengths[1]), c.Frequency != 0, c.Length != 0:
		return fault.Errorf(kind, "component %v: the standard deviation and the lengths must be positive, "+
			"and there is no frequency", c)
	}
	return nil
}

// planar reports whether there are two inputs.
func (d *Domain) planar() bool { return d.spans != nil }

// newPlane describes rows of two inputs, each of which must vary.
func newPlane(data *backend.Data) *Domain {
	d := &Domain{Outputs: data.D}
	for q := range data.Q {
		low, high := data.Extent(q)
		d.spans = append(d.spans, span{low, high})
	}
	d.Distinct = d.cells(data)
	d.pairs = min(planarMost, max(planarFewest, d.Distinct))
	d.last = max(d.pairs, min(planarMore, d.Distinct/planarShare), min(planarLast, d.Distinct/planarRows))
	d.scale(data.Y)
	return d
}

// cellRows is the number of rows from which on only some are counted, which bounds the memory.
const cellRows = 100_000

// cells returns the number of cells with rows, for cells of nearTimes mean distances.
func (d *Domain) cells(data *backend.Data) int {
	side := math.Sqrt(float64(data.N)) / nearTimes
	seen := map[[2]int]bool{}
	for n := 0; n < data.N; n += max(1, data.N/cellRows) {
		var at [2]int
		for q, s := range d.spans {
			at[q] = int((data.X[n*data.Q+q] - s.low) / s.length() * side)
		}
		seen[at] = true
	}
	return len(seen)
}

const (
	// tailError is the share of the variance of a component that its nodes leave out, unless there would be too many
	// nodes.
	tailError = 1e-5
	// imageError is the largest error of a correlation at the distances of the data that is due to the distance of the
	// nodes.
	imageError = 1e-3
	// planarMargin is the ratio by which a length may change before the nodes are chosen again.
	planarMargin = 1.15
	// The number of nodes of a model of two inputs is at most the number of distinct rows, but at least planarFewest,
	// and at most planarMost. The result of a search of many rows has at most a planarShare-th of their number up to
	// planarMore, and a planarRows-th up to planarLast. With more nodes for fewer rows than that, the intervals in holes
	// of a rough field are too narrow: one length explains details and shape, and hardly any detail is left for κ.
	planarFewest, planarMost, planarMore, planarLast = 60, 500, 750, 1250

	planarShare, planarRows = 4, 20
	// leastWeight is the smallest weight of a node, which must not be 0.
	leastWeight = 1e-200
)

// reach is the distance, in lengths, at which the correlation is imageError, and tail the frequency, in radians per
// length, beyond which the spectrum has the share tailError of the variance.
var reach, tail = math.Sqrt(-2 * math.Log(imageError)), math.Sqrt(-2 * math.Log(tailError))

// A lattice has the nodes of a component of two inputs, which are frequencies in one half of the plane.
type lattice struct {
	node [][2]float64 // radians per unit of x; the first is 0
	cell float64      // area of the lattice's cell
}

// lattice returns the nodes for a component, at most the given number.
//
// The trapezoidal rule with steps h_q repeats the covariance with periods 2π/h_q, so its error at the distances of the
// data is small if the correlation is small beyond 2π/h_q minus the range.
func (d *Domain) lattice(c Component, most int) lattice {
	return d.latticeUpTo(c, most, tail*planarMargin)
}

// latticeUpTo returns at most the given number of nodes below the frequency top, in radians per length.
func (d *Domain) latticeUpTo(c Component, most int, top float64) lattice {
	var step, unit [2]float64
	for q, s := range d.spans {
		step[q] = 2 * math.Pi / (s.length() + reach*planarMargin*c.Lengths[q])
		unit[q] = step[q] * c.Lengths[q]
	}
	radius := 1.1 * math.Sqrt(2/math.Pi*float64(most)*unit[0]*unit[1])
	type point struct {
		at     [2]float64
		square float64
	}
	var all []point
	for {
		radius = min(radius, top)
		all = all[:0]
		for i := 0; float64(i)*unit[0] <= radius; i++ {
			u := float64(i) * unit[0]
			last := int(math.Sqrt(radius*radius-u*u) / unit[1])
			first := -last
			if i == 0 {
				first = 0
			}
			for j := first; j <= last; j++ {
				v := float64(j) * unit[1]
				all = append(all, point{[2]float64{float64(i) * step[0], float64(j) * step[1]}, u*u + v*v})
			}
		}
		if len(all) >= most || radius == top {
			break
		}
		radius *= 1.2
	}
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Compare(a.square, b.square) })
	l := lattice{cell: step[0] * step[1]}
	for _, p := range all[:min(most, len(all))] {
		l.node = append(l.node, p.at)
	}
	return l
}

// weight returns the share of a component's variance of node j, and its logarithmic slopes by the logarithms of the
// lengths.
func (l *lattice) weight(c Component, j int) (weight float64, slope [2]float64) {
	var own [2]float64
	for q, w := range l.node[j] {
		own[q] = w * w * c.Lengths[q] * c.Lengths[q]
	}
	weight = math.Exp(-0.5*(own[0]+own[1])) * l.cell * c.Lengths[0] * c.Lengths[1] / (2 * math.Pi)
	if j > 0 {
		weight *= 2
	}
	for q, s := range own {
		slope[q] = 1 - s
	}
	return max(weight, leastWeight), slope
}

// lattices returns the nodes of all components. Those with the most nodes share the nodes that the others leave.
func (d *Domain) lattices(components []Component) []lattice {
	all := make([]lattice, len(components))
	left := d.pairs
	order := make([]int, len(components))
	for i, c := range components {
		order[i] = i
		all[i] = d.lattice(c, left)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(all[a].node), len(all[b].node)) })
	for n, i := range order {
		share := left / (len(order) - n)
		all[i].node = all[i].node[:min(share, len(all[i].node))]
		left -= len(all[i].node)
	}
	return all
}

// writeLattices sets the variances and frequencies of p to the present numbers.
func (e *expansion) writeLattices(p *variational.Params) {
	i := 1
	for c, component := range e.model.Components {
		v := component.SD * component.SD
		l := &e.lattices[c]
		for j, node := range l.node {
			share, _ := l.weight(component, j)
			p.Variance[i] = max(v*share, leastWeight)
			for q, w := range node {
				p.Frequency[i*2+q] = w / (2 * math.Pi)
			}
			i++
		}
	}
}

// latticeSlopes implements slopes for two inputs.
func (e *expansion) latticeSlopes(variance []float64) [][3]float64 {
	all := make([][3]float64, len(e.lattices))
	i := 1
	for c, component := range e.model.Components {
		l := &e.lattices[c]
		for j := range l.node {
			_, slope := l.weight(component, j)
			all[c][0] += 2 * variance[i]
			all[c][1] += variance[i] * slope[0]
			all[c][2] += variance[i] * slope[1]
			i++
		}
	}
	return all
}

// latticeSpreads implements Posterior.Spreads for two inputs.
func (e *expansion) latticeSpreads(spread []Component) (variance, frequency []float64) {
	variance = []float64{0}
	for c, component := range e.model.Components {
		l := &e.lattices[c]
		for j := range l.node {
			_, slope := l.weight(component, j)
			v := 4 * spread[c].SD * spread[c].SD
			for q, s := range slope {
				v += s * s * spread[c].Lengths[q] * spread[c].Lengths[q]
			}
			variance = append(variance, math.Sqrt(v))
		}
	}
	return variance, make([]float64, 2*len(variance))
}

// lengthLimit returns the limit of the logarithm of a length in ranges of its input. The shortest is half of the mean
// distance of rows.
func (d *Domain) lengthLimit() limit {
	return limit{math.Log(broadMean), logSD, math.Log(0.5 / math.Sqrt(float64(d.Distinct))), math.Log(maxLength)}
}

// planarMoved reports whether the lengths have changed so much that the nodes must be chosen again.
func planarMoved(a, b Model) bool {
	for i, c := range a.Components {
		for q, l := range c.Lengths {
			if math.Abs(math.Log(l/b.Components[i].Lengths[q])) > math.Log(planarMargin) {
				return true
			}
		}
	}
	return false
}
