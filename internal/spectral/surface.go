package spectral

import (
	"math"
	"os"
	"strings"
)

var expKinds = os.Getenv("EXP_KINDS")
var expMax = os.Getenv("EXP_MAX")

// planarLengths are the initial lengths of a component of two inputs, in ranges of the inputs.
var planarLengths = []float64{0.5, 0.2, 0.08}

const (
	// Numbers of iterations of the first component alone, of its best start, and of changed structures.
	firstIterations, surfaceIterations = 8, 25
	// planarComponents is the largest number of components of two inputs.
	planarComponents = 3
	// planarStep is the ratio of the lengths of a new component to those of the longest or shortest one.
	planarStep = 4
)

// planarRougher has the ratio of the lengths of a kind to the lengths of the next smoother kind for a similar covariance.
var planarRougher = map[Kind]float64{M32: 1.5, OU: 2}

// surface returns the best model of a function of two inputs: one component, and more at other scales while the score increases.
func (s *Search) surface() (best Candidate, err error) {
	d := s.domain
	best.Score = math.Inf(-1)
	if s.From != nil {
		if err := s.try(&best, *s.From, jointIterations); err != nil {
			return best, err
		}
	}
	if err := s.try(&best, Model{Noise: d.Unit}, firstIterations); err != nil {
		return best, err
	}
	smooth := failed(Model{})
	for _, l := range planarLengths {
		c, err := s.optimize(d.initialPlane(RBF, l), firstIterations, nil)
		if err != nil {
			return best, err
		}
		s.keep(c)
		if !(c.Score > smooth.Score+minGain) {
			break
		}
		smooth = c
	}
	if err := s.try(&best, smooth.Model, surfaceIterations); err != nil {
		return best, err
	}
	s.report(best)
	for _, kind := range []Kind{M32, OU} {
		if len(best.Components) == 0 || !strings.Contains(expKinds, string(kind)) {
			break
		}
		m := best.clone()
		c := &m.Components[0]
		c.Kind = kind
		c.Lengths = []float64{c.Lengths[0] * planarRougher[kind], c.Lengths[1] * planarRougher[kind]}
		before := best.Score
		if err := s.try(&best, m, surfaceIterations); err != nil || best.Score == before {
			break
		}
		s.report(best)
	}
	return best, nil
}

// enlarge adds components at other scales while the score increases by minGain.
func (s *Search) enlarge(best Candidate) (Candidate, error) {
	most := planarComponents
	if expMax != "" {
		most = int(expMax[0] - '0')
	}
	for len(best.Components) > 0 && len(best.Components) < most && s.work < s.maxWork() {
		next := failed(Model{})
		for _, c := range s.scales(best.Model) {
			m := Model{add(best.Components, c), best.Noise}
			fixed := len(best.Components)
			first, err := s.optimize(m, newIterations, s.domain.free(m, fixed))
			if err != nil {
				return best, err
			}
			if first.Score < best.Score-candidatesNats {
				continue
			}
			if err := s.try(&next, first.Model, surfaceIterations); err != nil {
				return best, err
			}
		}
		if !(next.Score > best.Score+minGain) {
			break
		}
		best = next
		s.report(best)
	}
	return best, nil
}

// scales returns rbf components with longer lengths than all of m's, and with shorter ones.
func (s *Search) scales(m Model) (all []Component) {
	short, long := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{}
	for _, c := range m.Components {
		for q, l := range c.Lengths {
			short[q], long[q] = min(short[q], l), max(long[q], l)
		}
	}
	sd := initialSD * max(m.Noise, initialRest*s.domain.Unit)
	least := math.Exp(s.domain.lengthLimit().low)
	put := func(sd float64, l [2]float64, ratio float64) {
		c := Component{Kind: RBF, SD: sd, Lengths: []float64{l[0] * ratio, l[1] * ratio}}
		for q, s := range s.domain.spans {
			r := s.length()
			c.Lengths[q] = min(max(c.Lengths[q], 1.2*least*r), 3*r)
		}
		all = append(all, c)
	}
	put(s.domain.Unit, long, planarStep)
	put(sd, short, 1./planarStep)
	return all
}

// initialPlane returns a model of two inputs with one component before its optimization. The lengths are in ranges of the inputs.
func (d *Domain) initialPlane(kind Kind, length float64) Model {
	c := Component{Kind: kind, SD: initialSD * d.Unit}
	for _, s := range d.spans {
		c.Lengths = append(c.Lengths, length*s.length())
	}
	return Model{[]Component{c}, initialNoise * d.Unit}
}

// maxWork returns the approximate number of operations after which the search ends with the best model so far.
func (s *Search) maxWork() float64 {
	if s.domain.planar() {
		return 60 * 2.2e9
	}
	return maxWork
}

// maxEvaluation returns the largest number of operations of an evaluation.
func (s *Search) maxEvaluation() float64 {
	if s.domain.planar() {
		return math.Inf(1) // lattices have a largest number of nodes
	}
	return maxEvaluation
}
