package rowspectrum

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// planeCost is the cost of a term of a plane's sum, in units of a term of a line's sum. It includes the computation of
// the weights.
const planeCost = 0.6

// terms implements table.
func (p *plane) terms(waves [][]wave, k int) float64 {
	table, rows := planeCost, float64(len(p.values[0]))
	for q, a := range p.axes {
		decay := 2 * waves[q][k].p
		table *= 2 * float64(pointsFor(a, decay))
		if decay*a.span*a.span > digits*digits {
			rows *= min(1, 2*digits/math.Sqrt(decay)/a.span)
		}
	}
	return min(table, rows*rowCost) / p.share(waves, k)
}

// cardTerms implements table. A GPU never sums over rows.
func (p *plane) cardTerms(waves [][]wave, k int) float64 {
	table := planeCost
	for q, a := range p.axes {
		if pointsFor(a, 4*waves[q][k].p) > p.reach {
			return math.Inf(1)
		}
		table *= 2 * float64(pointsFor(a, 2*waves[q][k].p))
	}
	return table / p.share(waves, k)
}

// share returns the square of the number of features that differ from feature k only in phase and amplitudes: the pairs
// of their twins share sums.
func (p *plane) share(waves [][]wave, k int) float64 {
	from, to := k, k+1
	for from > 0 && areTwins(waves, from-1, k) {
		from--
	}
	for to < len(waves[0]) && areTwins(waves, k, to) {
		to++
	}
	return float64((to - from) * (to - from))
}

// prepare implements table. A block contains the pairs of a run of twins with all features before.
func (p *plane) prepare(u *sums, f *backend.Features) (blocks int) {
	p.turns = resize(p.turns, f.M)
	for k := range f.M {
		turns := 0.0
		for _, waves := range u.waves {
			turns += waves[k].phase
		}
		sin, cos := math.Sincos(2 * math.Pi * fraction(turns))
		p.turns[k] = complex(cos, sin)
	}
	p.twins = runs(u.waves)
	return len(p.twins) - 1
}

// runs returns the first feature of each run of twins, and M.
func runs(waves [][]wave) (first []int) {
	for k := range waves[0] {
		if k == 0 || !areTwins(waves, k-1, k) {
			first = append(first, k)
		}
	}
	return append(first, len(waves[0]))
}

// areTwins reports whether two features differ at most in phase and amplitudes, as a cosine and a sine do.
func areTwins(waves [][]wave, j, k int) bool {
	for _, waves := range waves {
		a, b := waves[j], waves[k]
		a.phase, b.phase = 0, 0
		if a != b {
			return false
		}
	}
	return true
}

// A planeWork is the workspace of one goroutine.
type planeWork struct {
	weights [2]weights
	work    []float64 // of simd.SumPatch
}

// takePairs implements table.
func (p *plane) takePairs(u *sums, block int) {
	w, put := borrow[planeWork](u)
	defer put()
	i := len(p.twins) - 2 - block // longest first
	var m patch
	for o := range i + 1 {
		j, k := p.twins[i], p.twins[o]
		var e [2]envelope
		var plus, minus [2]carrier
		for q, waves := range u.waves {
			e[q] = product(&waves[j], &waves[k])
			plus[q], minus[q] = waves[j].plus(waves[k].carrier), waves[j].minus(waves[k].carrier)
		}
		m.set(p, e)
		sum, difference := w.sum(p, 0, &m, plus), w.sum(p, 0, &m, minus)
		for j := j; j < p.twins[i+1]; j++ {
			for k := k; k < min(j, p.twins[o+1]); k++ {
				p.put(u, j, k, &m, &sum, &difference)
			}
		}
	}
}

// put writes the sums of a pair of features from the moments of their products at phase 0.
func (p *plane) put(u *sums, j, k int, m *patch, sum, difference *planeMoments) {
	a, b := p.turns[j], p.turns[k]
	for q := range u.along {
		to := u.along[q].pairs[(panelsBefore(j)+k/simd.Lanes)*pairSize+k%simd.Lanes:]
		plus, minus := sum.turned(a*b, q), difference.turned(a*conj(b), q)
		for r := range plus.re {
			to[(pairRe0+r)*simd.Lanes] = plus.re[r] + minus.re[r]
		}
		for r := range plus.im {
			to[(pairPlus0+2*r)*simd.Lanes] = plus.im[r] + minus.im[r]
			to[(pairMinus0+2*r)*simd.Lanes] = plus.im[r] - minus.im[r]
		}
		to[pairAbout*simd.Lanes] = m.axes[q].a
	}
}

// takeSingles implements table.
func (p *plane) takeSingles(u *sums, v, lo, hi int) {
	w, put := borrow[planeWork](u)
	defer put()
	var m patch
	for k := lo; k < hi; k++ {
		var e [2]envelope
		var c [2]carrier
		turn := p.turns[k]
		if v == 0 {
			turn *= turn
		}
		for q, waves := range u.waves {
			one := waves[k]
			if v == 0 {
				one = one.twice()
			}
			e[q], c[q] = one.envelope, one.carrier
		}
		m.set(p, e)
		sum := w.sum(p, v, &m, c)
		for q := range u.along {
			u.along[q].singles[k*(1+u.outputs)+v] = single{sum.turned(turn, q), m.axes[q].a}
		}
	}
}
