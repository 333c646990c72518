package variational

import "math"

// A Fade ends the influence of the data on groups of features outside of the range of the data. Pairs of cosine and
// sine at equispaced frequencies represent a spectrum, but repeat with a period. Group i adds to the function
//
//	Σ_k (g_i(x) a_k + √(1 − g_i(x)²) b_k) φ_k(x)      g_i(x) = Π_q cos²(½π(u_iq − ½)) for ½ ≤ u_iq ≤ 1½
//
// with the coefficients a_k of the posterior and others, b_k, of the prior N(0, 1). The factor of an input is 1 for
// lower u_iq and 0 for higher ones. u_iq is the distance of x_q from the range, in units of Half.
type Fade struct {
	Low, High []float64   // range of the data [Q]
	First     []int       // first feature of each group, increasing; earlier features do not fade
	Half      [][]float64 // [groups,Q] distance from the range at which the factor of an input is ½
}

// factor returns g_i(x).
func (f *Fade) factor(group int, x []float64) float64 {
	g := 1.0
	for q, v := range x {
		distance := max(f.Low[q]-v, v-f.High[q], 0)
		if distance == 0 {
			continue
		}
		u := min(max(distance/f.Half[group][q], 0.5), 1.5)
		c := math.Cos(math.Pi / 2 * (u - 0.5))
		g *= c * c
	}
	return g
}

// reaches reports whether features fade at x. f may be nil.
func (f *Fade) reaches(x []float64) bool {
	if f == nil {
		return false
	}
	for i := range f.First {
		if f.factor(i, x) < 1 {
			return true
		}
	}
	return false
}

// A gain has the factors of a_k and b_k for the features before end, from the end of the previous gain on.
type gain struct {
	end       int
	own, rest float64
}

// gains returns the factors of m features at x. f may be nil.
func (f *Fade) gains(x []float64, m int) []gain {
	all := []gain{{m, 1, 0}}
	if f == nil {
		return all
	}
	for i, first := range f.First {
		all[i].end = first
		g := f.factor(i, x)
		all = append(all, gain{m, g, math.Sqrt(1 - g*g)})
	}
	return all
}
