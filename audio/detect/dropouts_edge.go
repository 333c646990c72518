package detect

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// An edge is the border between sound and a run of samples near zero.
type edge struct {
	least int       // minimum length of a fade in samples
	a     []float64 // prediction errors are e_n = Σ_j a_j y_{n−j}
	y     []float64 // sound minus the value of the run, in time order toward the run
	e     []float64 // prediction errors of all but the first samples
	sd    float64   // robust standard deviation of e
	noise float64   // variance of quantization errors
	half  float64   // maximum magnitude of the samples of the run
	away  float64   // log-likelihood ratio, in nats, of the mean of the sound to the value of the run as its mean
}

// newEdge models the sound y before a run at zero. A run of a repeated value is undamaged silence only if the mean of the sound is near
// this value. The mean of N samples has variance E/(N(Σ_j a_j)²). newEdge returns nil if there is too little sound.
func newEdge(y []float64, fade int, step, half float64, repeated bool) *edge {
	order := min(dropoutOrder, len(y)/8)
	if len(y)-order < fade {
		return nil
	}
	g := &edge{y: y, least: fade, e: make([]float64, len(y)-order), noise: step * step / 12, half: half}
	mean, sound := 0.0, slices.Clone(y)
	if repeated {
		mean = floats.Sum(y) / float64(len(y))
		floats.AddConst(-mean, sound)
	}
	m := ar.Burg([]ar.Segment{{X: sound}}, order)
	g.a = m.A
	g.away = 0.5 * mean * mean * float64(len(y)) * math.Pow(floats.Sum(g.a), 2) / (m.E + g.noise)
	for i := range g.e {
		for j, a := range g.a {
			g.e[i] += a * sound[i+order-j]
		}
	}
	size := make([]float64, len(g.e))
	for i, e := range g.e {
		size[i] = math.Abs(e)
	}
	slices.Sort(size)
	g.sd = size[len(size)/2] / 0.6745
	return g
}

// abrupt returns the log-likelihood ratio, in nats, of sound that continues up to the run to sound that fades out. In both models, the
// errors before the last d samples have mean size b. If the sound continues, the last d errors have mean size c. If it fades out, the sound
// is the product of a signal of constant level and a gain that falls as (n_0 − n)^k to the level of the run, which begins at n_0. b, c, d
// and k maximize the likelihoods. Errors are Laplacian because pulses of a voice cause large errors.
func (g *edge) abrupt() float64 {
	least := g.noise
	for _, a := range g.a[1:] {
		least += g.noise * a * a
	}
	goesOn, fades := math.Inf(-1), math.Inf(-1)
	for d := g.least; ; d = min(2*d, len(g.e)) {
		far, near := g.e[:len(g.e)-d], g.e[len(g.e)-d:]
		before := logLaplace(far, max(meanSize(far), math.Sqrt(least)))
		goesOn = max(goesOn, before+logLaplace(near, max(meanSize(near), math.Sqrt(least))))
		for _, power := range fadePowers {
			fades = max(fades, before+g.fade(d, power))
		}
		if d == len(g.e) {
			return goesOn - fades + g.away
		}
	}
}

// fade returns the log-likelihood of the last d samples if they fade out. If the errors Σ_j a_j f_{n−j} have mean size v, the errors of y
// are Σ_j a_j y_{n−j} g_n / g_{n−j} with mean size v·g_n, plus quantization errors of variance noise·Σ_j (a_j g_n / g_{n−j})².
func (g *edge) fade(d int, power float64) float64 {
	gain := make([]float64, d+len(g.a)-1) // in time order; before the fade it is 1
	e, size, least := make([]float64, d), make([]float64, d), make([]float64, d)
	y, order := g.y[len(g.y)-len(gain):], len(g.a)-1
	end := min(1, g.half/math.Sqrt(meanSquare(y)))
	for i := range gain {
		gain[i] = end + (1-end)*math.Pow(float64(min(d, len(gain)-i))/float64(d), power)
	}
	for i := range e {
		now := gain[i+order]
		for j, a := range g.a {
			a *= now / gain[i+order-j]
			e[i] += a * y[i+order-j]
			least[i] += a * a * g.noise
		}
		size[i] = now
		least[i] = math.Sqrt(least[i])
	}
	v := meanSize(e)
	for range 4 { // Fisher scoring
		above, below := 0.0, 0.0
		for i, e := range e {
			at := v*size[i] + least[i]
			above, below = above+size[i]*(math.Abs(e)-least[i])/(at*at), below+size[i]*size[i]/(at*at)
		}
		v = max(0, above/below)
	}
	l := 0.0
	for i, e := range e {
		at := v*size[i] + least[i]
		l -= math.Log(at) + math.Abs(e)/at
	}
	return l
}

// logLaplace returns the log density of Laplacian errors with mean size v, up to a constant.
func logLaplace(e []float64, v float64) float64 {
	return -float64(len(e)) * (math.Log(v) + meanSize(e)/v)
}

func meanSize(e []float64) float64 {
	s := 0.0
	for _, v := range e {
		s += math.Abs(v)
	}
	return s / float64(max(1, len(e)))
}

func meanSquare(e []float64) float64 {
	s := 0.0
	for _, v := range e {
		s += v * v
	}
	return s / float64(max(1, len(e)))
}
