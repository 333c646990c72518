package spectral

import (
	"cmp"
	"math"
	"slices"
)

// planarLengths are the initial lengths of the first component of two inputs, in ranges of the inputs.
var planarLengths = []float64{0.5, 0.2, 0.08, 0.03}

const (
	// Numbers of iterations with two inputs: of the first component with each initial length, or a new one alone; of
	// all components; of the result. The nodes are chosen again within these numbers.
	firstIterations, surfaceIterations, lastIterations = 6, 20, 5
	// planarComponents is the largest number of components of two inputs.
	planarComponents = 3
	// planarStep is the ratio of the lengths of a new component to the lengths of the longest or shortest one.
	planarStep = 4
	// planarGain ends an optimization if five steps in a row gain less, in nats.
	planarGain = 0.05
	// planarLoss is the largest loss of score with a new component that is optimized alone. Others are not optimized
	// further.
	planarLoss = 10
	// planarEvaluations is the number of evaluations of the largest model after whose cost no more components are
	// added.
	planarEvaluations = 60
)

// surface returns the best model of a function of two inputs with one component.
func (s *Search) surface() (best Candidate, err error) {
	best.Score = math.Inf(-1)
	if s.From != nil {
		s.inflation = s.From.Inflation
		if err := s.try(&best, *s.From, jointIterations); err != nil {
			return best, err
		}
	}
	none, one := failed(Model{}), failed(Model{})
	if err := s.try(&none, Model{Noise: s.domain.Unit}, firstIterations); err != nil {
		return best, err
	}
	if none.Score > best.Score {
		best = none
	}
	for _, l := range planarLengths {
		if math.Log(l) < s.domain.lengthLimit().low {
			break
		}
		c, err := s.optimize(s.domain.initialPlane(l), firstIterations, nil)
		if err != nil {
			return best, err
		}
		s.keep(c)
		if c.Score > one.Score {
			one = c
		} else if one.Score > none.Score+candidatesNats { // otherwise even shorter lengths may explain the rows
			break
		}
	}
	if one.Components == nil {
		return best, nil
	}
	if err = s.try(&best, one.Model, surfaceIterations); err != nil {
		return best, err
	}
	best, err = s.inflated(best, surfaceIterations)
	s.report(best)
	return best, err
}

// enlarge adds components at other scales while the score increases by minGain.
func (s *Search) enlarge(best Candidate) (Candidate, error) {
	for len(best.Components) > 0 && len(best.Components) < planarComponents && s.work < s.planarWork() {
		next, err := s.larger(best)
		if err != nil || !(next.Score > best.Score+minGain) {
			return best, err
		}
		best = next
		s.report(best)
	}
	return best, nil
}

// larger returns the best model with one more component, of which the most promising is optimized together with the
// others.
func (s *Search) larger(from Candidate) (best Candidate, err error) {
	best.Score = math.Inf(-1)
	var tried []Candidate
	for _, c := range s.scales(from.Model) {
		m := Model{Components: add(from.Components, c), Noise: from.Noise}
		c, err := s.optimize(m, firstIterations, s.domain.free(m, len(from.Components)))
		if err != nil {
			return best, err
		}
		tried = append(tried, c)
	}
	slices.SortStableFunc(tried, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	for _, c := range tried {
		if !(c.Score > from.Score-planarLoss) || s.work > s.planarWork() {
			break
		}
		if err := s.try(&best, c.Model, surfaceIterations); err != nil || best.Score > from.Score+minGain {
			return best, err
		}
	}
	return best, nil
}

// scales returns a component with longer lengths than all of m's, and one with shorter lengths.
func (s *Search) scales(m Model) []Component {
	least := 1.2 * math.Exp(s.domain.lengthLimit().low)
	long := Component{Kind: RBF, SD: s.domain.Unit}
	short := Component{Kind: RBF, SD: initialSD * max(m.Noise, initialRest*s.domain.Unit)}
	for q, input := range s.domain.spans {
		lo, hi := math.Inf(1), 0.0
		for _, c := range m.Components {
			lo, hi = min(lo, c.Lengths[q]), max(hi, c.Lengths[q])
		}
		long.Lengths = append(long.Lengths, min(hi*planarStep, maxLength*input.length()))
		short.Lengths = append(short.Lengths, max(lo/planarStep, least*input.length()))
	}
	return []Component{long, short}
}

// planarWork returns the number of operations after which no more components are added.
func (s *Search) planarWork() float64 {
	return planarEvaluations * operations(2*(1+s.domain.pairs))
}

// initialPlane returns a model of two inputs with one component before its optimization. The length is in ranges of the
// inputs.
func (d *Domain) initialPlane(length float64) Model {
	c := Component{Kind: RBF, SD: initialSD * d.Unit}
	for _, s := range d.spans {
		c.Lengths = append(c.Lengths, length*s.length())
	}
	return Model{Components: []Component{c}, Noise: initialNoise * d.Unit}
}
