package spectral

import (
	"math"

	"github.com/vssgp/vssgp/variational"
)

// Fade returns how the components of two inputs fade outside of the data's ranges, nil for one input. A lattice repeats
// with a period, and half of what the period exceeds the range by is the distance at which a point is as far from the
// data as from their image. p are the parameters from Expand.
func (m *Model) Fade(p *variational.Params, ranges [][2]float64) *variational.Fade {
	if m == nil || p.Q != 2 || len(ranges) != p.Q {
		return nil
	}
	f := &variational.Fade{}
	for _, r := range ranges {
		f.Low, f.High = append(f.Low, r[0]), append(f.High, r[1])
	}
	for i := 1; i < p.L; { // component 0 is the constant
		end := i + 1
		for end < p.L && !atOrigin(p, end) {
			end++
		}
		half := make([]float64, p.Q)
		for q, r := range ranges {
			half[q] = max(0, period(p, q, i, end)-(r[1]-r[0])) / 2
		}
		f.First, f.Half = append(f.First, i*p.K), append(f.Half, half)
		i = end
	}
	return f
}

// atOrigin reports whether the frequencies of component i of p are 0, as those of a lattice's first node.
func atOrigin(p *variational.Params, i int) bool {
	return p.Frequency[i*2] == 0 && p.Frequency[i*2+1] == 0
}

// period returns the period along input q of components lo ≤ i < hi.
func period(p *variational.Params, q, lo, hi int) float64 {
	longest := 0.0
	for i := lo; i < hi; i++ {
		if f := math.Abs(p.Frequency[i*2+q]); f > 0 {
			longest = max(longest, 1/f)
		}
	}
	return longest
}
