package spectral

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Candidate is an optimized model with its score.
type Candidate struct {
	Model
	// LogEvidence is the log density of y given the components, in nats.
	LogEvidence float64
	// Score is LogEvidence minus ½ log n for each estimate, with n the number of distinct times times the number of outputs (Schwarz 1978).
	// A line or a band counts as three estimates and another component as two. A line has only two, but the precision of its frequency
	// grows as n^1.5.
	Score float64

	value float64 // of the objective
	pairs int
}

// LogPrior returns the log density of the numbers under the weak priors of the optimization, up to a constant.
func (c Candidate) LogPrior() float64 { return c.value - c.LogEvidence }

// price returns the penalty of a model in nats.
func (d *Domain) price(components []Component) float64 {
	estimates := 1.0 // the noise
	for _, c := range components {
		estimates += 2
		if c.Kind.Centered() {
			estimates++
		}
	}
	return 0.5 * estimates * math.Log(float64(d.Distinct*d.Outputs))
}

// minGain is the smallest difference of scores, in nats, that justifies a change of structure.
const minGain = 1

const (
	// Predictions average over up to averageMost structures whose scores are within averageNats of the best.
	averageMost = 4
	averageNats = 5
)

// structure returns the kinds of a model's components in a fixed order.
func (m Model) structure() string {
	var kinds []string
	for _, c := range m.Components {
		kinds = append(kinds, string(c.Kind))
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " ")
}

// alternatives returns the best candidate, its largest component first, and the other structures of the pool with similar scores, in
// decreasing order.
func alternatives(best Candidate, pool []Candidate) []Candidate {
	best.Model = best.clone()
	slices.SortStableFunc(best.Components, func(a, b Component) int { return cmp.Compare(b.SD, a.SD) })
	all := []Candidate{best}
	slices.SortStableFunc(pool, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	seen := map[string]bool{best.structure(): true}
	for _, c := range pool {
		if len(all) == averageMost || !(c.Score > best.Score-averageNats) {
			break
		}
		if k := c.structure(); !seen[k] {
			seen[k] = true
			all = append(all, c)
		}
	}
	return all
}
