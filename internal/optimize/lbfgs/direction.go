package lbfgs

import "math"

const (
	// firstStep is the length of the first step in its largest coordinate.
	firstStep = 0.1
	// scaleClamp is the maximum ratio between the initial scales of a block and of all
	// coordinates.
	scaleClamp = 10
	smallest   = math.SmallestNonzeroFloat64
)

// Memory is the maximum number of stored pairs of steps and gradient differences.
const Memory = 20

// tooFlat is the relative curvature up to which a pair is not used.
const tooFlat = 1e-16

// products are s·y and y·y of a pair over some ranges.
type products struct{ curve, square float64 }

// positive reports whether the curvature is positive.
func (p products) positive() bool { return p.curve > tooFlat*p.square }

func (r Ranges) products(s, y []float64) products { return products{r.dot(s, y), r.dot(y, y)} }

// pairs are the steps and gradient differences of a State, oldest first, and their increasing ids.
// A new pair gets a new id.
type pairs struct {
	s, y [][]float64
	ids  []int
}

// known contains the products of pairs over some ranges. It is kept for the next step, which has
// one more pair.
type known struct {
	count int
	id    [Memory]int
	all   [Memory]products
}

// of returns the products of the pairs.
func (k *known) of(r Ranges, p pairs) []products {
	at := 0 // never before i: both increase, and new pairs are the last
	for i, id := range p.ids {
		for at < k.count && k.id[at] < id {
			at++
		}
		if at < k.count && k.id[at] == id {
			k.all[i] = k.all[at]
		} else {
			k.all[i] = r.products(p.s[i], p.y[i])
		}
	}
	k.count = copy(k.id[:], p.ids)
	return k.all[:k.count]
}

// apply replaces the ranges' entries of q, a gradient, by an ascent direction H·q. It uses the
// two-loop recursion with all inner products over the ranges and with the pairs that have positive
// curvature there. of contains the products of the pairs. Each pass over q also computes the inner
// product for the next pass.
func (r Ranges) apply(q []float64, p pairs, of []products) {
	var alpha [Memory]float64
	var use [Memory]int // pairs with positive curvature
	n := 0
	for i, product := range of {
		if product.positive() {
			use[n] = i
			n++
		}
	}
	if n == 0 {
		r.scale(q, firstStep/max(r.largest(q), smallest))
		return
	}
	last := use[n-1]
	along := r.dot(p.s[last], q)
	for j := n - 1; j >= 0; j-- {
		i := use[j]
		alpha[j] = along / of[i].curve
		var next []float64
		if j > 0 {
			next = p.s[use[j-1]]
		}
		along = r.addDot(q, -alpha[j], p.y[i], next)
	}
	r.scale(q, of[last].curve/of[last].square) // the initial inverse curvature
	along = r.dot(p.y[use[0]], q)
	for j, i := range use[:n] {
		var next []float64
		if j+1 < n {
			next = p.y[use[j+1]]
		}
		along = r.addDot(q, alpha[j]-along/of[i].curve, p.s[i], next)
	}
}
