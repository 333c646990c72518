package rowspectrum

import (
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// moments writes G and C:
//
//	G_jk = ½A1_jA1_k Re(S_0⁺ + S_0⁻)      G_kk = A0_k·N + A2_k Re S_0      C_kd = A1_k Re S_0
func (u *sums) moments(dst *spectral.Moments, f *spectral.Features, n int) {
	m, g := f.M, dst.Gram.Diag[0]
	parallel.Blocks(m, mirrorRows, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			row := u.pairs[j*(j+1)/2:]
			for k := range j {
				g[j*m+k] = 0.5 * f.Amp[j] * f.Amp[k] * row[k].re[0]
			}
			g[j*m+j] = f.Power[j]*float64(n) + f.Ripple[j]*row[j].re[0]
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
	for k := range m {
		for o := range dst.D {
			dst.C[k*dst.D+o] = f.Amp[k] * u.singles[k*dst.D+o].re[0]
		}
	}
}

// mirrorRows is the size of the squares in which a triangle is copied.
const mirrorRows = 32

// A gradient is the sums by one feature's phase and exponent: Σθ̄, Σθ̄d, Σq̄d, Σq̄d² with d = X − Z.
type gradient struct{ theta, thetaD, quadD, quadD2 float64 }

// add adds the derivatives of weight·Re Σψ by θ and quad·weight by q, of moments with the real parts re and imaginary parts im
// about a point that is e from Z.
func (g *gradient) add(weight, quad, e float64, re *[3]float64, im0, im1 float64) {
	g.theta -= weight * im0
	g.thetaD -= weight * (im1 + e*im0)
	g.quadD -= quad * (re[1] + e*re[0])
	g.quadD2 -= quad * (re[2] + e*(2*re[1]+e*re[0]))
}

// pullback writes the gradient by the features of Σ C̄∘C + Σ Ḡ∘G (DESIGN.md, section 3). unit is the length of a step.
func (u *sums) pullback(dst, f *spectral.Features, bar *spectral.Moments, n int, unit float64) {
	m, d := f.M, bar.D
	parallel.For(m, runtime.GOMAXPROCS(0), func(j int) {
		var g gradient
		w := &u.waves[j]
		from := func(a float64) float64 { return (a - w.z) - w.zLow }
		row, amp := bar.Gram.Diag[0][j*m:][:m], 0.0
		for k, b := range row {
			var s *pairSums
			var im0, im1 float64
			switch {
			case k < j:
				s = &u.pairs[j*(j+1)/2+k]
				im0, im1 = s.plus0+s.minus0, s.plus1+s.minus1
			case k > j:
				s = &u.pairs[k*(k+1)/2+j]
				im0, im1 = s.plus0-s.minus0, s.plus1-s.minus1
			default:
				continue
			}
			weight := b * f.Amp[k]
			amp += weight * s.re[0]
			weight *= f.Amp[j]
			g.add(weight, weight, from(s.a), &s.re, im0, im1)
		}
		for o, c := range bar.C[j*d : (j+1)*d] {
			s := &u.singles[j*d+o]
			amp += c * s.re[0]
			g.add(c*f.Amp[j], c*f.Amp[j], from(s.a), &s.re, s.im[0], s.im[1])
		}
		second := &u.pairs[j*(j+1)/2+j]
		weight := row[j] * f.Ripple[j]
		g.add(2*weight, 4*weight, from(second.a), &second.re, second.plus0, second.plus1)
		dst.Amp[j], dst.Power[j], dst.Ripple[j] = amp, row[j]*float64(n), row[j]*second.re[0]
		dst.Phase[j], dst.Freq[j] = g.theta, g.thetaD*unit
		dst.Decay[j] = 0.5 * g.quadD2 * unit * unit
		dst.Center[j] = -f.Freq[j]*g.theta - f.Decay[j]*g.quadD*unit
	})
}
