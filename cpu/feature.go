package cpu

import (
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// A tile is a few rows and what the features over them (features [lo, lo+m))
// are there: for each feature a contiguous stretch of tileRows numbers.
//
//	cos = g·e·cos θ,  sin = g·e·sin θ,  e2 = e²,  e = exp(−q)
//
// from which E[φ] = A1·cos and E[φ²] = A0·g² + A2·e2·(cos² − sin²).
type tile struct {
	n, m, lo     int         // rows, features, first feature
	x, y         []float64   // [n,Q], [n,D]
	gate         [][]float64 // one [n] a window over the run
	gate2        []float64   // Σ_n g², one a window
	cos, sin, e2 []float64   // [m,tileRows]
	mean         []float64   // [n,m] E[φ], row by row, for products over features
	bar          []float64   // [m,tileRows] ∂/∂E[φ]
	local        []float64   // scratch that a pass may size as it likes
}

// newTile makes room for the tiles of a run.
func newTile(r spectral.Run, offset []int) *tile {
	m := offset[r.End] - offset[r.First]
	t := &tile{m: m, lo: offset[r.First]}
	t.gate = make([][]float64, r.End-r.First)
	for v := range t.gate {
		t.gate[v] = make([]float64, tileRows)
	}
	t.gate2 = make([]float64, len(t.gate))
	t.cos, t.sin, t.e2 = make([]float64, m*tileRows), make([]float64, m*tileRows), make([]float64, m*tileRows)
	return t
}

// load points the tile at rows [lo, hi) of the data and computes the gates.
func (t *tile) load(d *rows, f *spectral.Features, r spectral.Run, lo, hi int) {
	q, dd := d.data.Q, d.data.D
	t.n = hi - lo
	t.x, t.y = d.x[lo*q:hi*q], d.y[lo*dd:hi*dd]
	for i := range t.gate {
		g := t.gate[i]
		s := 0.0
		for n := range t.n {
			g[n] = f.Windows.Gate(r.First+i, t.x[n*q+d.data.Windows.Dim])
			s += g[n] * g[n]
		}
		t.gate2[i] = s
	}
}

// window is the place of feature k's window among those over the run.
func (t *tile) window(f *spectral.Features, r spectral.Run, k int) int {
	if f.Window == nil {
		return 0
	}
	return f.Window[k] - r.First
}

// fill computes cos, sin and e2 of the tile's features [lo, hi) (counted
// within the tile).
func (t *tile) fill(f *spectral.Features, r spectral.Run, lo, hi int) {
	q := f.Q
	for j := lo; j < hi; j++ {
		k := t.lo + j
		g := t.gate[t.window(f, r, k)]
		cos, sin, e2 := t.cos[j*tileRows:][:t.n], t.sin[j*tileRows:][:t.n], t.e2[j*tileRows:][:t.n]
		z, p, w := f.Center[k*q:][:q], f.Decay[k*q:][:q], f.Freq[k*q:][:q]
		c := f.Phase[k] / (2 * math.Pi)
		if q == 1 {
			fillOne(cos, sin, e2, t.x, g, z[0], p[0], w[0]/(2*math.Pi), c)
			continue
		}
		for n := range cos {
			turns, quad := c, 0.0
			for i, xi := range t.x[n*q:][:q] {
				d := xi - z[i]
				turns += w[i] / (2 * math.Pi) * d
				quad += p[i] * d * d
			}
			cos[n], sin[n], e2[n] = dampedCosine(g[n], turns, quad)
		}
	}
}

// fillOne is fill for one feature of one input.
func fillOne(cos, sin, e2, x, g []float64, z, p, freq, c float64) {
	for n := range cos {
		d := x[n] - z
		cos[n], sin[n], e2[n] = dampedCosine(g[n], c+freq*d, p*d*d)
	}
}

// dampedCosine returns g·e·cos θ, g·e·sin θ and e² for a phase in turns and
// quad = Σ_q P_q d_q² = 2q, so that e = exp(−quad/2).
func dampedCosine(g, turns, quad float64) (cos, sin, e2 float64) {
	s, c := math.Sincos(2 * math.Pi * spectral.Turns(turns))
	e := 1.0
	if quad != 0 { // NaN must not pass for no decay
		e = math.Exp(-0.5 * quad)
	}
	return g * e * c, g * e * s, e * e
}

// means writes E[φ] = A1·cos of features [lo, hi) of the tile, row by row.
func (t *tile) means(f *spectral.Features, lo, hi int) {
	for j := lo; j < hi; j++ {
		a := f.Amp[t.lo+j]
		for n, c := range t.cos[j*tileRows:][:t.n] {
			t.mean[n*t.m+j] = a * c
		}
	}
}

// ripple is Σ_n g²·e⁴·cos 2θ of the tile's feature j.
func (t *tile) ripple(j int) float64 {
	cos, sin, e2 := t.cos[j*tileRows:][:t.n], t.sin[j*tileRows:][:t.n], t.e2[j*tileRows:][:t.n]
	s := 0.0
	for n, c := range cos {
		s += e2[n] * (c*c - sin[n]*sin[n])
	}
	return s
}

// A sums is what contract adds up over the rows, for each feature of the
// model: 4+3Q numbers, the adjoints of θ and q times powers of d.
type sums struct {
	theta, amp, power, ripple []float64 // [M] Σ θ̄, Ā1, Ā0, Ā2
	thetaD, quadD, quadD2     []float64 // [M,Q] Σ θ̄·d, Σ q̄·d, Σ q̄·d²
}

func newSums(f *spectral.Features) *sums {
	m, mq := f.M, f.M*f.Q
	all := make([]float64, 4*m+3*mq)
	take := func(n int) []float64 { b := all[:n:n]; all = all[n:]; return b }
	return &sums{take(m), take(m), take(m), take(m), take(mq), take(mq), take(mq)}
}

// contract adds the tile's share for its feature j, given bar[n] = ∂/∂E[φ_n]
// and barSecond = ∂/∂E[φ_n²], the same for every row:
//
//	θ̄ = −A1·bar·sin − 4·A2·barSecond·e2·cos·sin
//	q̄ = −A1·bar·cos − 4·A2·barSecond·e2·(cos² − sin²)
func (s *sums) contract(t *tile, f *spectral.Features, r spectral.Run, j int, bar []float64, barSecond float64) {
	k, q := t.lo+j, f.Q
	cos, sin, e2 := t.cos[j*tileRows:][:t.n], t.sin[j*tileRows:][:t.n], t.e2[j*tileRows:][:t.n]
	a1, a2 := f.Amp[k], 4*f.Ripple[k]*barSecond
	z := f.Center[k*q:][:q]
	var amp, ripple, theta float64
	thetaD, quadD, quadD2 := s.thetaD[k*q:][:q], s.quadD[k*q:][:q], s.quadD2[k*q:][:q]
	for n, c := range cos {
		u, sn := bar[n], sin[n]
		amp += u * c
		double := e2[n] * (c*c - sn*sn)
		ripple += double
		th := -a1*u*sn - a2*e2[n]*c*sn
		qu := -a1*u*c - a2*double
		theta += th
		for i, zi := range z {
			d := t.x[n*q+i] - zi
			thetaD[i] += th * d
			quadD[i] += qu * d
			quadD2[i] += qu * d * d
		}
	}
	s.theta[k] += theta
	s.amp[k] += amp
	s.ripple[k] += barSecond * ripple
	s.power[k] += barSecond * t.gate2[t.window(f, r, k)]
}

// features turns the sums into the adjoint of the features:
//
//	z̄ = −ω·Σθ̄ − P·Σq̄d,  P̄ = ½Σq̄d²,  ω̄ = Σθ̄d,  c̄ = Σθ̄
func (s *sums) features(dst, f *spectral.Features) {
	q := f.Q
	for k := range f.M {
		dst.Phase[k], dst.Amp[k], dst.Power[k], dst.Ripple[k] = s.theta[k], s.amp[k], s.power[k], s.ripple[k]
		for i := k * q; i < (k+1)*q; i++ {
			dst.Center[i] = -f.Freq[i]*s.theta[k] - f.Decay[i]*s.quadD[i]
			dst.Decay[i] = 0.5 * s.quadD2[i]
			dst.Freq[i] = s.thetaD[i]
		}
	}
}
