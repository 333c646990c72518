package lbfgs

import "math"

const (
	// firstStep is the length of the very first step in its largest coordinate.
	firstStep = 0.1
	// scaleClamp is how far a block's initial scale may lie from that of all
	// coordinates.
	scaleClamp = 10
	smallest   = math.SmallestNonzeroFloat64
)

// products are a pair's s·y and y·y over some ranges.
type products struct{ curve, square float64 }

// real reports whether the pair's curvature is.
func (p products) real() bool { return p.curve > tooFlat*p.square }

func (r Ranges) products(s, y []float64) products { return products{r.dot(s, y), r.dot(y, y)} }

// known are the products of a State's pairs over some ranges, kept from one step to the
// next, which has one more pair.
type known struct {
	count int
	id    [Memory]int
	all   [Memory]products
}

// of are the products of the pairs of s, which have been identified.
func (k *known) of(r Ranges, s *State) []products {
	at := 0 // never before i: both rise, and new pairs are behind all others
	for i, id := range s.ids {
		for at < k.count && k.id[at] < id {
			at++
		}
		if at < k.count && k.id[at] == id {
			k.all[i] = k.all[at]
		} else {
			k.all[i] = r.products(s.S[i], s.Y[i])
		}
	}
	k.count = copy(k.id[:], s.ids)
	return k.all[:k.count]
}

// apply replaces the ranges' entries of q, a gradient, by those of H·q, an ascent
// direction: the two-loop recursion with every inner product over the ranges, and
// only with those pairs of s whose curvature is real there. of are the pairs'
// products. Each pass over q makes the inner product that the next one begins with.
func (r Ranges) apply(q []float64, s *State, of []products) {
	var alpha [Memory]float64
	var pairs [Memory]int // those with a real curvature
	n := 0
	for i, p := range of {
		if p.real() {
			pairs[n] = i
			n++
		}
	}
	if n == 0 {
		r.scale(q, firstStep/max(r.largest(q), smallest))
		return
	}
	last := pairs[n-1]
	along := r.dot(s.S[last], q)
	for j := n - 1; j >= 0; j-- {
		i := pairs[j]
		alpha[j] = along / of[i].curve
		var next []float64
		if j > 0 {
			next = s.S[pairs[j-1]]
		}
		along = r.addDot(q, -alpha[j], s.Y[i], next)
	}
	r.scale(q, of[last].curve/of[last].square) // the initial inverse curvature
	along = r.dot(s.Y[pairs[0]], q)
	for j, i := range pairs[:n] {
		var next []float64
		if j+1 < n {
			next = s.Y[pairs[j+1]]
		}
		along = r.addDot(q, alpha[j]-along/of[i].curve, s.S[i], next)
	}
}
