package damage

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

// An edge is where sound meets a run of samples that lie about zero.
type edge struct {
	sd   float64   // of the innovations, robustly
	e    []float64 // prediction errors of the sound, in time
	stop []float64 // and of the run's first samples
	jump []float64 // the mean squares of stop if the run began anywhere in the sound
	q    float64   // the least variance that a prediction error has: the quantiser's
	dim  []float64 // the same of stop: the run's samples are not known better than that they lie in it
}

const (
	mostOrder = 32
	stopAhead = 8 // samples of the run that are predicted from the sound
)

// newEdge models the sound y that ends where the run begins, by an autoregressive model. Values are only known to ± half. It is nil
// where there is too little sound.
func newEdge(y, run []float64, step, half float64, holds bool) *edge {
	order := min(mostOrder, len(y)/8)
	if order < 2 {
		return nil
	}
	m := ar.Burg([]ar.Segment{{X: y}}, order)
	g := &edge{e: make([]float64, len(y)-order)}
	sum := 0.0
	for _, a := range m.A {
		sum += a * a
	}
	g.q = step * step / 12 * sum
	ahead := min(stopAhead, order, len(run))
	g.stop, g.jump, g.dim = make([]float64, ahead), make([]float64, ahead), make([]float64, ahead)
	for n := range g.e {
		e, sum := 0.0, 0.0
		for j, a := range m.A {
			e += a * y[n+order-j]
		}
		g.e[n] = e
		for i := range ahead { // as if the run began at n+order−i
			e -= m.A[i] * y[n+order-i]
			held := e
			if holds {
				sum += m.A[i]
				held += sum * y[n+order-i-1]
			}
			g.jump[i] += held * held / float64(len(g.e))
		}
	}
	for i := range g.stop {
		g.dim[i] = g.q
		for j := 0; j <= order; j++ {
			if j <= i {
				g.dim[i] += m.A[j] * m.A[j] * (half*half/3 - step*step/12)
				g.stop[i] += m.A[j] * run[i-j]
			} else {
				g.stop[i] += m.A[j] * y[len(y)+i-j]
			}
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

// abrupt returns how much likelier it is, in nats, that the sound goes on at one level to the run than that it fades out before it.
func (g *edge) abrupt() float64 {
	goesOn, fades := math.Inf(-1), math.Inf(-1)
	for d := 16; ; d = min(2*d, len(g.e)) {
		far, near := g.e[:len(g.e)-d], g.e[len(g.e)-d:]
		level := 0.0
		if len(far) > 0 {
			v := max(meanSquare(far), g.q)
			level = -0.5 * float64(len(far)) * (math.Log(v) + 1)
		}
		v := max(meanSquare(near), g.q)
		l := level
		for _, e := range near {
			l += logNormal(e, v)
		}
		for i, e := range g.stop {
			l += logNormal(e, g.jump[i]+g.dim[i])
		}
		goesOn = max(goesOn, l)
		for _, power := range []float64{1, 2, 4} {
			fades = max(fades, level+g.fade(near, power))
		}
		if d == len(g.e) {
			return goesOn - fades
		}
	}
}

// fade returns the log-likelihood of errors whose standard deviation falls as (samples to the run)^power, and of the run's first
// samples then, with the level that is likeliest.
func (g *edge) fade(near []float64, power float64) float64 {
	d := float64(len(near))
	gain := make([]float64, len(near)) // squares
	for i := range gain {
		gain[i] = math.Pow((d-float64(i))/d, 2*power)
	}
	level := meanSquare(near)
	for range 4 { // of Fisher's scoring
		above, below := 0.0, 0.0
		for i, e := range near {
			v := level*gain[i] + g.q
			above += gain[i] / (v * v) * (e*e - g.q)
			below += gain[i] * gain[i] / (v * v)
		}
		level = max(0, above/below)
	}
	l := 0.0
	for i, e := range near {
		l += logNormal(e, level*gain[i]+g.q)
	}
	for i, e := range g.stop {
		l += logNormal(e, level*gain[len(gain)-1]+g.dim[i])
	}
	return l
}

func logNormal(e, v float64) float64 { return -0.5 * (math.Log(v) + e*e/v) }

func meanSquare(e []float64) float64 {
	s := 0.0
	for _, v := range e {
		s += v * v
	}
	return s / float64(len(e))
}
