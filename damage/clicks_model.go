package damage

import (
	"math"

	"github.com/vssgp/vssgp/internal/ar"
)

// longestClick is the most samples of a click that is looked for.
const longestClick = 64

// A click is what was added to the samples [lo, hi), and how many nats speak for it.
type click struct {
	lo, hi       int
	added        []float64
	nats         float64
	shape, level int     // of its kind
	strength     float64 // decibels over the sound around
}

// A clickKind is what is thought of a click beforehand: with coefficients g, g∗added are independent of variance level, in units of the errors'
// variance σ². So added has the precision GᵀG/(level·σ²), and after the errors are known (Q + GᵀG/level)/σ², both Toeplitz.
type clickKind struct {
	g         []float64
	level     float64
	posterior *ar.Toeplitz
	costs     []float64 // by length less 1: ½ log |Q + GᵀG/level| / |GᵀG/level|
}

var (
	// clickShapes are the coefficients g: of clicks that are rough, that jump and go back slowly, and that are smooth.
	clickShapes = [...][]float64{{1}, {1, -0.9}, {1, -1.8, 0.81}}
	// clickLevels are powers of ten.
	clickLevels = [...]float64{1, 10, 100, 1e3, 1e4, 1e5}
)

// clickKinds returns the kinds under a model of the sound, [shape][level].
func clickKinds(m ar.Model) (all [][]clickKind) {
	q := m.Covers(longestClick)
	for _, g := range clickShapes {
		c := ar.Model{A: g}.Covers(longestClick)
		var kinds []clickKind
		for _, level := range clickLevels {
			before, after := make([]float64, longestClick), make([]float64, longestClick)
			for i := range q {
				before[i] = c[i] / level
				after[i] = q[i] + before[i]
			}
			k := clickKind{g: g, level: level, posterior: ar.NewToeplitz(after)}
			prior, sum := ar.NewToeplitz(before), 0.0
			for i := range min(len(prior.Errors), len(k.posterior.Errors)) {
				sum += 0.5 * math.Log(k.posterior.Errors[i]/prior.Errors[i])
				k.costs = append(k.costs, sum)
			}
			kinds = append(kinds, k)
		}
		all = append(all, kinds)
	}
	return all
}

// innovations returns Σ (g∗added)², with the ends where g reaches beyond.
func (k *clickKind) innovations(added []float64) (sum float64) {
	for i := range len(added) + len(k.g) - 1 {
		v := 0.0
		for j := max(0, i-len(added)+1); j < min(len(k.g), i+1); j++ {
			v += k.g[j] * added[i-j]
		}
		sum += v * v
	}
	return sum
}

// errorsLike says how prediction errors are distributed: as Student's t with so many degrees of freedom, times a scale.
type errorsLike struct{ scale, freedom float64 }

// freedoms are the degrees of freedom that are tried, with the medians of |t| and the logarithms of the densities at 0.
var freedoms = [...]struct{ nu, median, top float64 }{
	{1.5, 0.8781, density(1.5)}, {2, 0.8165, density(2)}, {3, 0.7649, density(3)}, {5, 0.7267, density(5)}, {10, 0.6998, density(10)},
	{30, 0.6828, density(30)},
}

// density returns the logarithm of the density of t with ν degrees of freedom at 0.
func density(nu float64) float64 {
	g, _ := math.Lgamma((nu + 1) / 2)
	h, _ := math.Lgamma(nu / 2)
	return g - h - 0.5*math.Log(nu*math.Pi)
}

// newErrorsLike returns the likeliest distribution of errors whose sizes have a median.
func newErrorsLike(e []float64, median float64) (like errorsLike) {
	best := math.Inf(-1)
	for _, f := range freedoms {
		tried := errorsLike{median / f.median, f.nu}
		ll := float64(len(e))*(f.top-math.Log(tried.scale)) - tried.unlikely(e)
		if ll > best {
			best, like = ll, tried
		}
	}
	return like
}

// unlikely returns how much less likely errors are than zeros, in nats: Σ ½(ν+1) log(1 + e²/(ν·scale²)).
func (l errorsLike) unlikely(e []float64) float64 {
	w := 1 / (l.freedom * l.scale * l.scale)
	sum, product := 0.0, 1.0
	for _, v := range e {
		if product *= 1 + v*v*w; product > 1e150 { // a logarithm for many samples
			sum, product = sum+math.Log(product), 1
		}
	}
	return (l.freedom + 1) / 2 * (sum + math.Log(product))
}
