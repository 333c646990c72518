package initialize

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

const (
	// paperFeatures is the default of K, and paperVariance the default of the initial Σ, with
	// which a feature extends over thirty length-scales (DESIGN.md, section 11).
	paperFeatures = 50
	paperVariance = 0.001
	// paperNoise is the initial τ in units of 1/var(y).
	paperNoise = 100
	// paperSalt distinguishes this random stream from the others.
	paperSalt = 0x9a9e6
)

// paperShape returns the shape of the paper's initialization for the settings.
func paperShape(data *backend.Data, s Settings) variational.Shape {
	lo, hi := data.Extent(s.Dim)
	w := newWindows(lo, hi, s.Window, 0.5, s.Dim)
	return s.shape(w, slices.Repeat([]int{len(s.Lengthscales)}, w.Count()), cmp.Or(s.Features, paperFeatures), data)
}

// Paper draws the paper's initial parameters around the given length-scales and frequencies: μ ~
// N(0, 1), z from the rows' inputs, fixed phases uniform over a turn, and a small Σ. In SSGP,
// pairs of cosine and sine share μ. In SSGP and RP, z and Σ are 0. Errors are errors of the
// evaluator.
func Paper(data *backend.Data, s Settings, evaluator Evaluator) (*variational.Params, error) {
	shape := paperShape(data, s)
	if err := evaluator.Fits(shape); err != nil {
		return nil, err
	}
	p := shape.Params()
	variance := cmp.Or(sumSquares(data.Y)/float64(data.N*data.D), 1) // 1 if all outputs are zero
	per := len(s.Lengthscales)
	for i := range p.L {
		p.Variance[i] = variance / float64(per)
		copy(p.Lengthscale[i*p.Q:], s.Lengthscales[i%per])
		copy(p.Frequency[i*p.Q:], s.Frequencies[i%per])
	}
	p.NoisePrecision[0] = cmp.Or(s.Noise, paperNoise/variance)
	drawFeatures(p, data.X, s)
	return p, nil
}

// drawFeatures draws z, μ, Σ and the phases for the method.
func drawFeatures(p *variational.Params, x []float64, s Settings) {
	rng := rand.New(rand.NewPCG(s.Seed, paperSalt))
	n := len(x) / p.Q
	for k := range p.M() {
		row := rng.IntN(n)
		for q := range p.Q {
			at := k*p.Q + q
			p.FreqMean[at] = rng.NormFloat64()
			p.Location[at] = x[row*p.Q+q]
			p.FreqVar[at] = cmp.Or(s.FrequencyVariance, paperVariance)
		}
		a := 2 * math.Pi * rng.Float64()
		p.PhaseLower[k], p.PhaseUpper[k] = a, a
		if s.UniformPhases {
			p.PhaseUpper[k] = a + math.Pi/2
		}
		if s.points() {
			pointFeature(p, k, s.Method)
		}
	}
	if len(p.Windows.Center) > 0 {
		centerFeatures(p)
	}
}

// pointFeature makes feature k a feature of SSGP or RP, with Σ = 0 and z = 0. In SSGP it is a
// cosine if k is even and the sine of the same frequency if k is odd.
func pointFeature(p *variational.Params, k int, method variational.Method) {
	for q := range p.Q {
		at := k*p.Q + q
		p.FreqVar[at] = 0
		p.Location[at] = 0
		if method == variational.SSGP && k%2 == 1 {
			p.FreqMean[at] = p.FreqMean[at-p.Q]
		}
	}
	if method == variational.SSGP {
		phase := -float64(k%2) * math.Pi / 2
		p.PhaseLower[k], p.PhaseUpper[k] = phase, phase
	}
}

// centerFeatures moves the z of every feature to its window, because most rows from which z are
// drawn are outside it.
func centerFeatures(p *variational.Params) {
	w, q := &p.Windows, p.Windows.Dim
	for k := range p.M() {
		c := w.Center[p.ComponentWindow[k/p.K]]
		z := &p.Location[k*p.Q+q]
		*z = c + math.Remainder(*z-c, w.Length)
	}
}
