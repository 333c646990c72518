package series

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// A variant is a trial with a subset of the trend parts and a short memory with or without a quality, and its posterior probability.
// Predictions are averaged over all variants (Bayesian model averaging). All variants are equally probable a priori, so their weights are
// proportional to the evidence, computed by the Laplace approximation at the mode.
type variant struct {
	*trial
	gaussian         *bayes.Gaussian
	evidence, weight float64
}

// optional contains the parts that a variant may omit.
var optional = []Part{Slope{}, SmoothTrend{}, DampedTrend{}, RandomWalk{}}

// absent is the log amplitude of an omitted part.
const absent = -30.0

// defaultQuality is the default prior of a quality.
var defaultQuality = Prior{Median: 0.5, SD: 1}

// averages reports whether predictions are averaged over variants.
func (s *search) averages() bool { return !s.o.certain() && s.frame.Rows <= averagedRows }

// variants fits all variants of the best trial. The first contains every part.
func (s *search) variants(best *trial) ([]*variant, error) {
	if !s.averages() {
		v, err := best.variant()
		return []*variant{v}, err
	}
	heads := []*trial{best} // variants with every optional part
	if swinging := withQuality(best.parts); swinging != nil {
		t, err := s.trial(swinging, best)
		if err != nil {
			return nil, err
		}
		heads = append([]*trial{t}, heads...)
	}
	if parts := without(best.parts, ShortMemory{}); (s.rest != nil || s.frame.Rows < memorylessRows) && len(parts) < len(best.parts) {
		t, err := s.trial(parts, s.rest)
		if err != nil {
			return nil, err
		}
		heads = append(heads, t)
	}
	var all []*variant
	for _, head := range heads {
		top, needed := 0.0, 0 // evidence with every part; bits of the parts that must not be omitted
		from := map[int]*trial{0: head}
		for subset := range 1 << len(optional) {
			if subset&needed != 0 || lacks(head.parts, subset) {
				continue
			}
			v, err := s.subset(from[subset&(subset-1)], subset)
			if err != nil {
				return nil, err
			}
			all, from[subset] = append(all, v), v.trial
			switch {
			case subset == 0:
				top = v.evidence
			case bits.OnesCount(uint(subset)) == 1 && v.evidence < top-maxLoss:
				needed |= subset
			}
			if subset == 0 && top < all[0].evidence-maxLoss {
				break
			}
		}
	}
	power, largest := s.temper(), total(all)
	sum := 0.0
	for _, v := range all {
		v.weight = math.Exp(power * (v.evidence - largest))
		sum += v.weight
	}
	for _, v := range all {
		v.weight /= sum
	}
	return all, nil
}

// temper returns the power of the evidence in the weights: few values decide less than their evidence says, because no
// variant is the process that made them (Grünwald & van Ommen 2017).
func (s *search) temper() float64 {
	n := float64(s.frame.Rows)
	return n / (n + temperedRows)
}

// total returns the log of the sum of the evidences.
func total(all []*variant) float64 {
	largest, sum := slices.MaxFunc(all, func(a, b *variant) int { return cmp.Compare(a.evidence, b.evidence) }).evidence, 0.0
	for _, v := range all {
		sum += math.Exp(v.evidence - largest)
	}
	return largest + math.Log(sum)
}

const (
	averagedRows = 5000 // above this number of observations, only one variant is used
	// memorylessRows is the number of observations below which variants without the short memory are also tried.
	memorylessRows = 200
	temperedRows   = 30 // at this number of observations, the evidence counts half
	maxLoss        = 10 // loss of evidence in nats above which further omissions are not tried
)

// withQuality returns a copy of parts with a quality added to the short memory, or nil if no short memory lacks one.
func withQuality(parts []Part) []Part {
	for i, p := range parts {
		if m, ok := p.(ShortMemory); ok && m.Quality == (Prior{}) {
			m.Quality = defaultQuality
			swinging := slices.Clone(parts)
			swinging[i] = m
			return swinging
		}
	}
	return nil
}

// lacks reports whether parts do not contain all optional parts whose bits are set.
func lacks(parts []Part, bits int) bool {
	for i, p := range optional {
		if bits>>i&1 == 1 && len(without(parts, p)) == len(parts) {
			return true
		}
	}
	return false
}

// subset returns the variant of a trial without the optional parts whose bits are set in lacking, if it has them.
func (s *search) subset(from *trial, lacking int) (*variant, error) {
	var omitted []Part
	for i, p := range optional {
		if lacking>>i&1 == 1 {
			omitted = append(omitted, p)
		}
	}
	t, err := s.trial(without(from.parts, omitted...), from)
	if err != nil {
		return nil, err
	}
	return t.variant()
}

func (t *trial) variant() (*variant, error) {
	t.o.averaged, t.o.simulated = nil, simulatedRows
	if err := t.objective()(t.at, t.mode); err != nil {
		return nil, err
	}
	t.o.forgetMoments()
	g, err := t.at.Gaussian(t.mode, t.o.layout.scale())
	if err != nil {
		return nil, err
	}
	return &variant{trial: t, gaussian: g, evidence: g.LogEvidence(), weight: 1}, nil
}

// value returns the log posterior up to a constant, or -Inf where it is not resolved.
func (v *variant) value(at []float64) (float64, error) {
	v.o.fixed = true // no derivatives
	defer func() { v.o.fixed = false }()
	var e bayes.Evaluation
	err := v.objective()(&e, at)
	if errors.Is(err, errUnresolved) {
		return math.Inf(-1), nil
	}
	return e.Value, err
}

// widen maps the variant's hyper-parameters to a layout with more parts. The other hyper-parameters are absent.
func (v *variant) widen(l *layout, own []float64) []float64 {
	wide := slices.Repeat([]float64{absent}, len(l.names))
	for i, name := range v.o.layout.names {
		wide[slices.Index(l.names, name)] = own[i]
	}
	return wide
}

// own selects the variant's hyper-parameters from values [count][n] for a layout with more parts.
func (v *variant) own(l *layout, values [][]float64) [][]float64 {
	picked := make([][]float64, len(values))
	for i, all := range values {
		for _, name := range v.o.layout.names {
			picked[i] = append(picked[i], all[slices.Index(l.names, name)])
		}
	}
	return picked
}

// embed returns the variant's Gaussian for a layout with more parts. The other hyper-parameters are fixed at absent.
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
