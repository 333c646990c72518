package spectral

import (
	"math"

	"github.com/vssgp/vssgp/variational"
)

// With many rows, a function of two inputs has details that the nodes cannot resolve. They act as noise that is
// correlated between neighboring rows, so the rows tell less about the components than as many independent ones.
// Without a correction the lengths become too short and the standard deviations in holes too small. A sum of the
// residuals times a wave at a frequency that is too high for the nodes is κ times as variable as for white noise. So
// the likelihood has the power 1/κ, like the likelihood of N/κ independent rows: the noise variance of the posterior is
// κ times the noise variance of an observation.

const (
	// The waves' frequencies are among the next unresolvedRing times as many nodes as a model can have.
	unresolvedRing = 1.25
	// unresolvedNodes is about their number.
	unresolvedNodes = 100
	// unresolvedLength is the longer length in ranges of a component that needs all nodes.
	unresolvedLength = 0.02
	// leastInflation is the least κ that is used, and leastChange the least ratio by which a new κ differs from the
	// present one.
	leastInflation, leastChange = 1.5, 1.2
)

// inflated measures κ for the best model so far. If it has changed, it returns the model that is best with the new one,
// and drops earlier candidates, because their scores cannot be compared with later ones.
func (s *Search) inflated(best Candidate, iterations int) (Candidate, error) {
	if !s.domain.planar() || len(best.Components) == 0 {
		return best, nil
	}
	ratio, err := s.unresolved(best.Model)
	if err != nil {
		return best, s.stopped(err)
	}
	before := best.Inflated()
	after := before * ratio
	if after < leastInflation {
		after = 1
	}
	if math.Abs(math.Log(after/before)) < math.Log(leastChange) {
		return best, nil
	}
	s.inflation = after
	next, err := s.optimize(best.Model, iterations, nil)
	if err != nil || math.IsInf(next.Score, -1) {
		s.inflation = best.Inflation
		return best, err
	}
	s.pool = []Candidate{next}
	return next, nil
}

// unresolved returns the mean square of Σ_n e_n φ(x_n) over features φ beyond the nodes, relative to independent
// residuals e of the model's noise. With a feature of variance v → 0 and K = ΦᵀSΦ + τ⁻¹I,
//
//	∂L/∂v = ½ (φᵀK⁻¹y)² − ½ φᵀK⁻¹φ      φᵀK⁻¹y = τ Σ_n e_n φ(x_n)      φᵀK⁻¹φ ≈ τ Σ_n φ(x_n)²
//
// and a cosine with a sine has Σ φ² = N.
func (s *Search) unresolved(m Model) (float64, error) {
	o := s.newObjective(m)
	ring := o.beyond()
	p := o.params()
	wide := variational.NewParams(p.L+len(ring), 2, 2, p.D)
	wide.CoefMean, wide.CoefVar = nil, nil
	copy(wide.Variance, p.Variance)
	copy(wide.Frequency, p.Frequency)
	wide.NoisePrecision[0] = 1 / o.noise()
	for k := range wide.M() {
		from := k % 2 // a cosine or a sine
		wide.PhaseLower[k], wide.PhaseUpper[k] = p.PhaseLower[from], p.PhaseUpper[from]
		copy(wide.Location[2*k:2*k+2], p.Location)
	}
	for i := range wide.L {
		copy(wide.Lengthscale[2*i:2*i+2], p.Lengthscale)
	}
	tau, n := wide.NoisePrecision[0], float64(s.rows.N*s.rows.D)
	for i, node := range ring {
		at := p.L + i
		wide.Variance[at] = leastWeight
		for q, w := range node {
			wide.Frequency[2*at+q] = w / (2 * math.Pi)
		}
	}
	s.work += operations(wide.M())
	e, err := s.rows.Exact(wide, true)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, g := range e.Gradient.Variance[p.L:] {
		sum += g
	}
	return max(0, 1+2*sum/(tau*n*float64(len(ring)))), nil
}

// beyond returns frequencies that the present number of nodes cannot reach: those that follow the nodes of a component
// whose lengths have the ratio of the component with the shortest ones, and are so short that its spectrum needs all
// nodes.
func (e *expansion) beyond() (ring [][2]float64) {
	lengths, shortest := [2]float64{}, math.Inf(1)
	for _, c := range e.model.Components {
		var of [2]float64
		for q, s := range e.domain.spans {
			of[q] = c.Lengths[q] / s.length()
		}
		if longer := max(of[0], of[1]); longer < shortest {
			lengths, shortest = of, longer
		}
	}
	c := Component{Kind: RBF}
	for q, s := range e.domain.spans {
		c.Lengths = append(c.Lengths, lengths[q]/shortest*unresolvedLength*s.length())
	}
	count := max(e.pairs(), e.domain.pairs)
	all := e.domain.latticeUpTo(c, int(float64(count)*(1+unresolvedRing)), math.Inf(1)).node[count:]
	step := max(1, len(all)/unresolvedNodes)
	for i := 0; i < len(all); i += step {
		ring = append(ring, all[i])
	}
	return ring
}
