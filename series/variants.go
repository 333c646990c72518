package series

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/posterior"
)

// A variant is a trial with some of the trend's parts, and its probability. Of a series that nothing is known of, none of them is certain:
// what returns to a level has none. So predictions are averaged over all subsets of slope, smooth trend and random walk, which are equally
// probable before the data are seen, in proportion to the evidence (the integral over the hyper-parameters, by the Gaussian at the mode).
// Where the data are many, one subset has all of it, and only the whole is fitted.
type variant struct {
	*trial
	gaussian *posterior.Gaussian
	weight   float64
}

// optional are the parts that a variant may lack, if Options has no Parts or Average.
var optional = []Part{Slope{}, SmoothTrend{}, RandomWalk{}}

// absent is the logarithm of an amplitude of which nothing is left.
const absent = -30.0

// variants fits all subsets.
func (s *search) variants(best *trial) ([]*variant, error) {
	subsets := 1
	if (s.o.Parts == nil || s.o.Average) && s.frame.Rows < longRows {
		subsets = 1 << len(optional)
	}
	var all []*variant
	largest := math.Inf(-1)
	for subset := range subsets {
		t := best
		if subset > 0 {
			parts := slices.DeleteFunc(slices.Clone(best.parts), func(p Part) bool {
				i := slices.IndexFunc(optional, func(q Part) bool { return q.name() == p.name() })
				return i >= 0 && subset>>i&1 == 1
			})
			var err error
			if t, err = s.trial(parts, best.memory, best); err != nil {
				return nil, err
			}
		}
		g, err := t.at.Gaussian(t.mode, t.o.layout.scale())
		if err != nil {
			return nil, err
		}
		v := &variant{t, g, g.LogEvidence()}
		all, largest = append(all, v), max(largest, v.weight)
	}
	sum := 0.0
	for _, v := range all {
		v.weight = math.Exp(v.weight - largest)
		sum += v.weight
	}
	for _, v := range all {
		v.weight /= sum
	}
	return all, nil
}

// widen gives the variant's hyper-parameters to a layout with more parts, whose amplitudes are none.
func (v *variant) widen(l *layout, own []float64) []float64 {
	wide := slices.Repeat([]float64{absent}, len(l.names))
	for i, name := range v.o.layout.names {
		wide[slices.Index(l.names, name)] = own[i]
	}
	return wide
}

// embed is the variant's Gaussian over a layout with more parts, whose amplitudes are certain to be none.
func (v *variant) embed(l *layout) (*posterior.Gaussian, error) {
	const certain = 1e12
	n, own := len(l.names), v.o.layout.names
	h := mat.NewSymDense(n, nil)
	for i := range n {
		h.SetSym(i, i, certain)
	}
	information := v.gaussian.Information()
	for i, a := range own {
		for j, b := range own[:i+1] {
			h.SetSym(slices.Index(l.names, a), slices.Index(l.names, b), information[i*len(own)+j])
		}
	}
	return posterior.NewGaussian(v.widen(l, v.mode), l.scale(), v.gaussian.Value, h)
}
