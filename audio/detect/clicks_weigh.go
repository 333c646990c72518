package detect

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// A claim is that something was added to the sound at some places.
type claim struct {
	at   []int     // the places, rising
	d    []float64 // what was added there
	sure []float64 // its variance, for errors of size 1
	nats float64   // what speaks for it
}

const (
	clickSample = 0.2  // nats that each sample of a click costs, beside what the accuracy of its value does
	clickAgain  = 8.0  // nats that it costs to say which part of the sound comes again
	clickMost   = 30.0 // nats that this may speak against a click: clicks of a sample are alike too
	clickPulse  = 24   // samples from which a claim may be a voice's pulse,
	clickAlike  = 2.0  // of less than so many times the power of another
)

// price returns what a claim's samples cost in nats: each takes a number, of an accuracy that grows with what it explains. t is the sum of
// squares that the errors lose.
func price(t float64, samples int) float64 {
	l := float64(samples)
	return l*clickSample + l/2*math.Log(1+t/l)
}

// left returns the errors from the first place on of z without what was added, as far as they differ.
func (w *clickWindow) left(c claim) []float64 {
	lo, p := c.at[0], len(w.a)-1
	left := slices.Clone(w.e[lo:min(len(w.e), c.at[len(c.at)-1]+p+1)])
	for i, n := range c.at {
		for j, a := range w.a[:min(p+1, len(left)-(n-lo))] {
			left[n-lo+j] -= c.d[i] * a
		}
	}
	return left
}

// against returns how many nats more the errors cost than those that are left, be they usual ones or, in a run, louder: sound that sets
// in. Such sound drives the model, which then rings, where what was added does not.
func (w *clickWindow) against(c claim) float64 {
	lo, left := c.at[0], w.left(c)
	z, usual := make([]float64, len(left)), make([]float64, len(left))
	nats, square := 0.0, 0.0
	for i, v := range left {
		s := w.size[lo+i]
		z[i] = w.e[lo+i] / s
		usual[i] = w.tail.cost(z[i])
		square += z[i] * z[i]
		nats += usual[i] - w.tail.cost(v/s)
	}
	most := 0.0
	for gain := 2.0; gain*gain < square; gain *= 2 {
		sum := 0.0 // of the best run that ends here
		for i, v := range z {
			sum = max(0, sum+usual[i]-w.tail.cost(v/gain)-math.Log(gain))
			most = max(most, sum)
		}
	}
	return nats - most
}

// again returns how many nats less the errors cost if those of another time come again, up to twice as loud: a voice's pulses do.
func (w *clickWindow) again(c claim) float64 {
	lo, hi := c.at[0], min(len(w.whole), c.at[len(c.at)-1]+len(w.a))
	own := w.whole[lo:hi]
	most, gain, from := 0.0, 0.0, 0
	for at := len(w.a); at+len(own) <= len(w.whole); at++ {
		if 2*max(at-lo, lo-at) < len(own) {
			continue
		}
		other := w.whole[at : at+len(own)]
		product, square := simd.Dot(own, other), simd.Dot(other, other)
		if g := min(2, product/square); g > 0.5 {
			if less := g * (2*product - g*square); less > most {
				most, gain, from = less, g, at
			}
		}
	}
	nats := -clickAgain
	for i, v := range own {
		s := w.size[lo+i]
		nats += w.tail.cost(v/s) - w.tail.cost((v-gain*w.whole[from+i])/s)
	}
	return min(clickMost, max(0, nats))
}

// level returns how loud what was added is, in decibels over the sound on the louder side. A long claim that is not louder than sound on
// both sides, a voice's pulses for one, is compared with that.
func (w *clickWindow) level(c claim) float64 {
	lo, hi := c.at[0], c.at[len(c.at)-1]+1
	before, after, added := w.sound[:lo], w.sound[hi:], meanSquare(c.d)
	around := max(meanSquare(before[max(0, lo-clickNear):]), meanSquare(after[:min(len(after), clickNear)]))
	if length := hi - lo; length >= clickPulse {
		if pulse := min(loudest(before, length), loudest(after, length)); added < clickAlike*pulse {
			around = max(around, pulse)
		}
	}
	return 10 * math.Log10(added/(around+w.step*w.step+math.SmallestNonzeroFloat64))
}

// loudest returns the largest mean square of so many samples in a row.
func loudest(x []float64, length int) float64 {
	most, sum := 0.0, 0.0
	for i, v := range x {
		sum += v * v
		if i >= length {
			sum -= x[i-length] * x[i-length]
		}
		most = max(most, sum)
	}
	return most / float64(length)
}

// take removes what was added from z.
func (w *clickWindow) take(c claim) {
	for i, n := range c.at {
		w.z[n] -= c.d[i]
	}
	p, lo, hi := len(w.a)-1, c.at[0], c.at[len(c.at)-1]+1
	w.predict(lo, min(hi+p, len(w.z)))
	w.correlate(lo-p, hi+p)
}

// give removes what was found from the sound.
func (w *clickWindow) give(c claim) {
	for i, n := range c.at {
		w.sound[n] -= c.d[i]
	}
	for n := c.at[0]; n < min(c.at[len(c.at)-1]+len(w.a), len(w.x)); n++ {
		w.whole[n] = simd.Dot(w.reversed, w.sound[n+1-len(w.a):n+1])
	}
}
