package series

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// A variant is a trial with some of the trend's parts and one of two short memories, and its probability. Of a series that nothing is known
// of, none of these is certain: what returns to a level has no trend, and it may return at once or swing. So predictions are averaged over
// all subsets of slope, smooth trend and random walk, and over memories with and without a quality. All are equally probable before the
// data are seen, and weigh in proportion to their evidence (the integral over the hyper-parameters, by the Gaussian at the mode).
type variant struct {
	*trial
	gaussian         *bayes.Gaussian
	evidence, weight float64
}

// optional are the parts that a variant may lack, if Options has no Parts or Average.
var optional = []Part{Slope{}, SmoothTrend{}, RandomWalk{}}

// absent is the logarithm of an amplitude of which nothing is left.
const absent = -30.0

// usualQuality is the prior of a quality that nothing is known of.
var usualQuality = Prior{Median: 0.5, SD: 1}

// variants fits all subsets. The first has every part.
func (s *search) variants(best *trial) ([]*variant, error) {
	if s.o.certain() || s.frame.Rows > averagedRows {
		v, err := best.variant()
		return []*variant{v}, err
	}
	heads := []*trial{best} // the variants with every part
	if swinging := withQuality(best.parts); swinging != nil {
		t, err := s.trial(swinging, best)
		if err != nil {
			return nil, err
		}
		heads = append([]*trial{t}, heads...)
	}
	var all []*variant
	for _, head := range heads {
		top, needed := 0.0, 0 // the evidence with every part, and the bits of parts that all others have to have
		for subset := range 1 << len(optional) {
			if subset&needed != 0 {
				continue
			}
			v, err := s.subset(head, subset)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
			switch {
			case subset == 0:
				top = v.evidence
			case bits.OnesCount(uint(subset)) == 1 && v.evidence < top-hopeless:
				needed |= subset
			}
			if subset == 0 && top < all[0].evidence-hopeless {
				break
			}
		}
	}
	largest, sum := slices.MaxFunc(all, func(a, b *variant) int { return cmp.Compare(a.evidence, b.evidence) }).evidence, 0.0
	for _, v := range all {
		v.weight = math.Exp(v.evidence - largest)
		sum += v.weight
	}
	for _, v := range all {
		v.weight /= sum
	}
	return all, nil
}

const (
	averagedRows = 5000 // up to which the data leave more than one variant
	hopeless     = 10   // nats: a memory that has so much less evidence is not tried with fewer parts, nor any without a part that gains so much
)

// withQuality gives the short memory among parts a quality; nil if there is none without.
func withQuality(parts []Part) []Part {
	for i, p := range parts {
		if m, ok := p.(ShortMemory); ok && m.Quality == (Prior{}) {
			m.Quality = usualQuality
			swinging := slices.Clone(parts)
			swinging[i] = m
			return swinging
		}
	}
	return nil
}

// subset is the variant of a head's parts without those optional ones that have a bit.
func (s *search) subset(head *trial, lacking int) (*variant, error) {
	parts := slices.DeleteFunc(slices.Clone(head.parts), func(p Part) bool {
		i := slices.IndexFunc(optional, func(q Part) bool { return q.name() == p.name() })
		return i >= 0 && lacking>>i&1 == 1
	})
	t, err := s.trial(parts, head)
	if err != nil {
		return nil, err
	}
	return t.variant()
}

func (t *trial) variant() (*variant, error) {
	g, err := t.at.Gaussian(t.mode, t.o.layout.scale())
	if err != nil {
		return nil, err
	}
	return &variant{trial: t, gaussian: g, evidence: g.LogEvidence(), weight: 1}, nil
}

// widen gives the variant's hyper-parameters to a layout with more parts, whose amplitudes are none.
func (v *variant) widen(l *layout, own []float64) []float64 {
	wide := slices.Repeat([]float64{absent}, len(l.names))
	for i, name := range v.o.layout.names {
		wide[slices.Index(l.names, name)] = own[i]
	}
	return wide
}

// own picks the variant's hyper-parameters from values [count][n] for all hyper-parameters of a layout with more parts.
func (v *variant) own(l *layout, values [][]float64) [][]float64 {
	picked := make([][]float64, len(values))
	for i, all := range values {
		for _, name := range v.o.layout.names {
			picked[i] = append(picked[i], all[slices.Index(l.names, name)])
		}
	}
	return picked
}

// embed is the variant's Gaussian over a layout with more parts, whose amplitudes are certain to be none.
func (v *variant) embed(l *layout) (*bayes.Gaussian, error) {
	const certain = 1e12
	n, own := len(l.names), v.o.layout.names
	h := make([]float64, n*n)
	for i := range n {
		h[i*n+i] = certain
	}
	information := v.gaussian.Information()
	for i, a := range own {
		for j, b := range own {
			h[slices.Index(l.names, a)*n+slices.Index(l.names, b)] = information[i*len(own)+j]
		}
	}
	return bayes.NewGaussian(v.widen(l, v.mode), l.scale(), v.gaussian.Value, h)
}
