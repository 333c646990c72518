package rowspectrum

import (
	"runtime"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// moments writes G and C:
//
//	G_jk = ½A1_jA1_k Re(S_0⁺ + S_0⁻)      G_kk = A0_k·N + A2_k Re S_0      C_kd = A1_k Re S_0
func (u *sums) moments(dst *backend.Moments, f *backend.Features, n int) {
	m, d, g, a := f.M, dst.D, dst.Gram.Diag[0], &u.along[0]
	parallel.Blocks(m, mirrorRows, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			panels := a.pairs[panelsBefore(j)*pairSize:]
			for k := range j {
				g[j*m+k] = 0.5 * f.Amp[j] * f.Amp[k] * panels[k/simd.Lanes*pairSize+pairRe0*simd.Lanes+k%simd.Lanes]
			}
			of := a.singles[j*(1+d) : (j+1)*(1+d)]
			g[j*m+j] = f.Power[j]*float64(n) + f.Ripple[j]*of[0].re[0]
			for o := range d {
				dst.C[j*d+o] = f.Amp[j] * of[1+o].re[0]
			}
		}
	})
	parallel.Blocks(m, mirrorRows, func(_, lo, hi int) {
		for left := lo; left < m; left += mirrorRows {
			for j := left; j < min(m, left+mirrorRows); j++ {
				for k := lo; k < min(j, hi); k++ {
					g[k*m+j] = g[j*m+k]
				}
			}
		}
	})
}

// mirrorRows is the size of the squares in which a triangle is copied.
const mirrorRows = 32

// add adds the derivatives of weight·Re Σψ with respect to θ and of quad·Re Σψ with respect to q. The moments of ψ are
// about a point at distance e from Z.
func (g *slope) add(weight, quad, e, re0, re1, re2, im0, im1 float64) {
	g.theta -= weight * im0
	g.thetaD -= weight * (im1 + e*im0)
	g.quadD -= quad * (re1 + e*re0)
	g.quadD2 -= quad * (re2 + e*(2*re1+e*re0))
}

// pullback writes the gradient of Σ C̄∘C + Σ Ḡ∘G with respect to the features (DESIGN.md, section 3).
func (u *sums) pullback(dst, f *backend.Features, bar *backend.Moments, s *Spectrum) {
	for q, axis := range s.axes {
		u.pullAxis(dst, f, bar, q, axis.step.Hi)
	}
	parallel.Blocks(f.M, mirrorRows, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			g, b := &u.along[0].slopes[0][j], bar.Gram.Diag[0][j*f.M+j]
			dst.Amp[j], dst.Power[j], dst.Ripple[j] = g.amp, b*float64(s.rows), b*u.along[0].singles[j*(1+bar.D)].re[0]
			dst.Phase[j] = g.theta
		}
	})
}

// pullAxis writes the gradient with respect to the features' numbers of input q, whose step has length unit. The totals
// of the slopes are in slopes[0].
func (u *sums) pullAxis(dst, f *backend.Features, bar *backend.Moments, q int, unit float64) {
	m, of := f.M, &u.along[q].slopes
	parallel.For(parts, runtime.GOMAXPROCS(0), func(i int) {
		of[i] = resize(of[i], m)
		clear(of[i])
		for j := range m {
			if at := panelsBefore(j); at*parts/(panelsBefore(m)+1) == i {
				u.pullRow(of[i], f, bar.Gram.Diag[0][j*m:], j, q)
			}
		}
	})
	parallel.Blocks(m, mirrorRows, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			g, at := &of[0][j], j*f.Q+q
			for _, part := range of[1:] {
				g.plus(&part[j])
			}
			u.pullSingles(g, f, bar, j, q)
			dst.Freq[at] = g.thetaD * unit
			dst.Decay[at] = 0.5 * g.quadD2 * unit * unit
			dst.Center[at] = -f.Freq[at]*g.theta - f.Decay[at]*g.quadD*unit
		}
	})
}

// plus adds p to g.
func (g *slope) plus(p *slope) {
	g.theta += p.theta
	g.thetaD += p.thetaD
	g.quadD += p.quadD
	g.quadD2 += p.quadD2
	g.amp += p.amp
}

// pullRow adds the contributions of the pairs of feature j with the features before it to their slopes along input q;
// row is row j of Ḡ.
func (u *sums) pullRow(to []slope, f *backend.Features, row []float64, j, q int) {
	var own slope
	waves := u.waves[q]
	panels, w := u.along[q].pairs[panelsBefore(j)*pairSize:], &waves[j]
	for k := range j {
		p := panels[k/simd.Lanes*pairSize+k%simd.Lanes:][:pairAbout*simd.Lanes+1]
		re0, re1, re2, a := p[pairRe0*simd.Lanes], p[pairRe1*simd.Lanes], p[pairRe2*simd.Lanes], p[pairAbout*simd.Lanes]
		o, g := &waves[k], &to[k]
		own.amp += row[k] * f.Amp[k] * re0
		g.amp += row[k] * f.Amp[j] * re0
		weight := row[k] * f.Amp[j] * f.Amp[k]
		own.add(weight, weight, (a-w.z)-w.zLow, re0, re1, re2, p[pairPlus0*simd.Lanes], p[pairPlus1*simd.Lanes])
		g.add(weight, weight, (a-o.z)-o.zLow, re0, re1, re2, p[pairMinus0*simd.Lanes], p[pairMinus1*simd.Lanes])
	}
	to[j].plus(&own)
}

// pullSingles adds the contributions of the second moment and of C to feature j's slopes along input q.
func (u *sums) pullSingles(g *slope, f *backend.Features, bar *backend.Moments, j, q int) {
	d, w := bar.D, &u.waves[q][j]
	add := func(t *single, weight, quad float64) {
		g.add(weight, quad, (t.a-w.z)-w.zLow, t.re[0], t.re[1], t.re[2], t.im[0], t.im[1])
	}
	of := u.along[q].singles[j*(1+d) : (j+1)*(1+d)]
	weight := bar.Gram.Diag[0][j*f.M+j] * f.Ripple[j]
	add(&of[0], 2*weight, 4*weight)
	for o, c := range bar.C[j*d : (j+1)*d] {
		g.amp += c * of[1+o].re[0]
		add(&of[1+o], c*f.Amp[j], c*f.Amp[j])
	}
}
