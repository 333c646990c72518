package damage

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/ar"
)

const (
	clickOrder    = 32    // of the model
	evenReach     = 20    // samples on either side that say how much a sample weighs in the model
	beside        = 32    // samples right beside a click that have to be as usual
	leastAround   = 96    // samples on either side, some way off, that say what is usual, or aroundClicks
	aroundClicks  = 0.012 // seconds: the pulses of a voice are usual
	seedApart     = 12    // samples from one place that is looked into to the next
	seedLevel     = 3.0   // standard deviations of what a sample is off at such a place
	recurring     = 0.6   // correlation of errors that come again, and recurringGain of what size at least
	recurringGain = 0.3
	strengthReach = 160 // samples on either side that the strength of a click is compared with
)

// A block is some sound, its model and its prediction errors e_n = Σ_j a_j z_{n−j}.
type block struct {
	z        []float64 // without the clicks that have been taken out
	around   int       // samples
	step     float64   // of the quantiser
	model    ar.Model
	reversed []float64 // the model's coefficients
	gain     float64   // √Σ a²
	kinds    [][]clickKind
	e        []float64 // 0 at the first samples, which nothing predicts
	h        []float64 // Σ_j a_j e_{n+j}: Σ a² times what sample n is off all others
	left     []float64 // the errors' size right before each sample, as standard deviations; negative: not known yet
	sorted   []float64 // for medians
}

func newBlock(x []float64, around int, step float64) *block {
	n := len(x)
	return &block{z: slices.Clone(x), around: around, step: step,
		e: make([]float64, n), h: make([]float64, n), left: make([]float64, n), sorted: make([]float64, n)}
}

// fit models z.
func (b *block) fit() {
	b.model = ar.Burg([]ar.Segment{{X: b.z, Weights: b.weights()}}, clickOrder)
	b.reversed = slices.Clone(b.model.A)
	slices.Reverse(b.reversed)
	b.gain = math.Sqrt(simd.Dot(b.reversed, b.reversed))
	b.kinds = nil
	b.update(0, len(b.z))
}

// weights are inverse to the power around a sample, so that a loud click does not make the model its own.
func (b *block) weights() []float64 {
	w := make([]float64, len(b.z))
	least := 1e-4*simd.Dot(b.z, b.z)/float64(len(b.z)) + b.step*b.step + math.SmallestNonzeroFloat32
	sum, lo, hi := 0.0, 0, 0
	for n := range w {
		for ; hi < min(len(b.z), n+evenReach+1); hi++ {
			sum += b.z[hi] * b.z[hi]
		}
		for ; lo < n-evenReach; lo++ {
			sum -= b.z[lo] * b.z[lo]
		}
		w[n] = math.Pow(max(0, sum)/float64(hi-lo)+least, -1.5)
	}
	return w
}

// update computes what depends on the samples [lo, hi).
func (b *block) update(lo, hi int) {
	end := min(hi+clickOrder, len(b.z))
	for n := max(lo, clickOrder); n < end; n++ {
		b.e[n] = simd.Dot(b.reversed, b.z[n-clickOrder:n+1])
	}
	for n := max(lo-clickOrder, clickOrder); n < min(end, len(b.z)-clickOrder); n++ {
		b.h[n] = simd.Dot(b.model.A, b.e[n:n+clickOrder+1])
	}
	for n := lo; n < min(end+beside, len(b.z)); n++ {
		b.left[n] = -1
	}
}

// add adds so many times a click to the sound.
func (b *block) add(c *click, times float64) {
	for i, v := range c.added {
		b.z[c.lo+i] += times * v
	}
	b.update(c.lo, c.hi)
}

// seeds are the places whose samples are least like what the others say, the worst first.
func (b *block) seeds() (seeds []int) {
	var cells []float64 // sizes of the errors in each beside samples
	for n := clickOrder; n+beside <= len(b.e); n += beside {
		cells = append(cells, b.deviation(b.e[n:n+beside]))
	}
	reach := b.around / beside
	for c := range cells {
		size := b.floor()
		for _, some := range [][]float64{cells[max(0, c-reach):max(0, c-1)], cells[min(len(cells), c+3):min(len(cells), c+3+reach)]} {
			if len(some) > 0 {
				size = max(size, b.median(some))
			}
		}
		from := clickOrder + c*beside
		for n := from; n < min(from+beside, len(b.z)-clickOrder); n++ {
			if math.Abs(b.h[n]) > seedLevel*size*b.gain && b.foremost(n) {
				seeds = append(seeds, n)
			}
		}
	}
	slices.SortStableFunc(seeds, func(m, n int) int { return cmp.Compare(math.Abs(b.h[n]), math.Abs(b.h[m])) })
	return seeds
}

// foremost reports whether no sample nearby is off by more.
func (b *block) foremost(n int) bool {
	for _, v := range b.h[max(0, n-seedApart/2):min(len(b.h), n+seedApart/2)] {
		if math.Abs(v) > math.Abs(b.h[n]) {
			return false
		}
	}
	return true
}

// median returns the median size of some numbers.
func (b *block) median(v []float64) float64 {
	s := b.sorted[:len(v)]
	for i, v := range v {
		s[i] = math.Abs(v)
	}
	slices.Sort(s)
	return s[len(s)/2]
}

// deviation returns the standard deviation of Gaussian errors with the median of these.
func (b *block) deviation(e []float64) float64 { return b.median(e) / 0.6745 }

// floor is the standard deviation of the errors that the quantiser makes.
func (b *block) floor() float64 { return b.step * b.gain / math.Sqrt(12) }

// usual returns how errors are distributed on either side of a place, some way off. There is none where all is zero.
func (b *block) usual(lo, hi int) (all []errorsLike) {
	const off = beside + longestClick/2
	left, right := max(clickOrder, lo-off), min(len(b.e), hi+clickOrder+off)
	for _, e := range [][]float64{b.e[max(clickOrder, left-b.around):left], b.e[right:min(len(b.e), right+b.around)]} {
		if len(e) < beside {
			continue
		}
		if size := max(b.median(e), 0.6745*b.floor()); size > 0 {
			all = append(all, newErrorsLike(e, size))
		}
	}
	return all
}

// recurs reports whether the errors [lo, hi) come again nearby, much the same and not much smaller, once on either side or twice on one, in
// equal steps: then they are a pulse of a voice or of a string.
func (b *block) recurs(lo, hi int) bool {
	e := b.e[lo:hi]
	power := simd.Dot(e, e)
	var lags []int
	for at := clickOrder; at+len(e) <= len(b.e); at++ {
		other := b.e[at : at+len(e)]
		c := simd.Dot(e, other)
		if (at < lo-len(e)/2 || at > lo+len(e)/2) && c > recurring*math.Sqrt(power*simd.Dot(other, other)) && c > recurringGain*power {
			lags = append(lags, at-lo)
		}
	}
	for _, one := range lags {
		for _, two := range lags {
			if off := min(max(one+two, -one-two), max(2*one-two, two-2*one)); 10*off <= max(one, -one) {
				return true
			}
		}
	}
	return false
}

// strength returns the level of a click over that of the sound around, in decibels.
func (b *block) strength(c *click) float64 {
	before, after := b.z[max(0, c.lo-strengthReach):c.lo], b.z[c.hi:min(len(b.z), c.hi+strengthReach)]
	sound := (simd.Dot(before, before) + simd.Dot(after, after)) / float64(len(before)+len(after))
	return 10 * math.Log10(simd.Dot(c.added, c.added)/float64(c.hi-c.lo)/max(sound, b.step*b.step/12))
}
