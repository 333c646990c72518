package detect

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"gonum.org/v1/gonum/floats"
)

// An edge is the border between sound and a run of samples near zero.
type edge struct {
	least int       // samples of a fade
	a     []float64 // prediction errors are e_n = Σ_j a_j y_{n−j}
	y     []float64 // the sound, in time: the run comes after it
	e     []float64 // prediction errors of all but the first samples
	sd    float64   // their standard deviation, robustly
	noise float64   // variance of the quantizer's error
	half  float64   // the run's samples are within
	away  float64   // how much likelier, in nats, the sound is to be about its own mean than about the run's value
}

// newEdge models the sound y that ends where the run begins, at zero. If the run repeats a sample's value it counts that silence has
// no reason to be there unless the sound is about that value: its mean over N samples has variance E/(N(Σ_j a_j)²). It is nil where there
// is too little sound.
func newEdge(y []float64, fade int, step, half float64, held bool) *edge {
	order := min(dropoutOrder, len(y)/8)
	if len(y)-order < fade {
		return nil
	}
	g := &edge{y: y, least: fade, e: make([]float64, len(y)-order), noise: step * step / 12, half: half}
	mean, sound := 0.0, slices.Clone(y)
	if held {
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

// abrupt returns how much likelier it is, in nats, that the sound goes on at one level up to the run than that it fades out there: with
// a level b before the last d samples in both cases, its errors e then have another level c up to the run, or else y_n = g_n f_n with
// f_n at one level and g_n falling as (n_0 − n)^k to what the run has, n_0 where it begins. b, c, d and k maximize the likelihood. Errors
// are Laplacian: a voice has large ones at its pulses.
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

// fade returns the log-likelihood of the last d samples if they fade out: with errors Σ_j a_j f_{n−j} of mean size v, the errors of y are
// Σ_j a_j y_{n−j} g_n / g_{n−j} of mean size v·g_n, and the quantizer's, of variance noise·Σ_j (a_j g_n / g_{n−j})², come on top.
func (g *edge) fade(d int, power float64) float64 {
	gain := make([]float64, d+len(g.a)-1) // in time; before the fade it is the gain at its beginning
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
	for range 4 { // of Fisher's scoring
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

// logLaplace is the log-density of Laplacian errors of mean size v, but for a constant.
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
