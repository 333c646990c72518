package lbfgs

import "math"

const (
	// firstStep is the length of the very first step in its largest coordinate.
	firstStep = 0.1
	// scaleClamp is how far a block's initial scale may differ from the scale of all
	// coordinates.
	scaleClamp = 10
	smallest   = math.SmallestNonzeroFloat64
)

// Memory is how many pairs of steps and gradient differences are kept.
const Memory = 20

// tooFlat is the relative curvature below which a pair is not kept.
const tooFlat = 1e-16

// products are a pair's s·y and y·y over some ranges.
type products struct{ curve, square float64 }

// real reports whether the pair's curvature is.
func (p products) real() bool { return p.curve > tooFlat*p.square }

func (r Ranges) products(s, y []float64) products { return products{r.dot(s, y), r.dot(y, y)} }

// pairs are a State's steps and gradient differences, oldest first, and their numbers,
// which rise: a pair of another number is another pair.
type pairs struct {
	s, y [][]float64
	ids  []int
}

// known are the products of pairs over some ranges, kept from one step to the next, which
// has one more pair.
type known struct {
	count int
	id    [Memory]int
	all   [Memory]products
}

// of are the products of the pairs.
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

// apply replaces the ranges' entries of q, a gradient, by H·q, an ascent
// direction: the two-loop recursion with every inner product over the ranges, and
// only with those pairs whose curvature is real there. of are the pairs' products.
// Each pass over q makes the inner product that the next one begins with.
func (r Ranges) apply(q []float64, p pairs, of []products) {
	var alpha [Memory]float64
	var use [Memory]int // pairs with a real curvature
	n := 0
	for i, product := range of {
		if product.real() {
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
