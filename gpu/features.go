package gpu

import (
	"math"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// bankNumbers is how many numbers a bank of m features of q inputs has.
func bankNumbers(m, q int) int { return m * (3*q + 4) }

// bankOf writes the features' arrays behind each other, as the kernels take
// them: angles are counted in turns.
func bankOf(dst []float64, f *spectral.Features) []float64 {
	dst = append(dst[:0], f.Center...)
	dst = append(dst, f.Decay...)
	for _, w := range f.Freq {
		dst = append(dst, w/(2*math.Pi))
	}
	for _, c := range f.Phase {
		dst = append(dst, c/(2*math.Pi))
	}
	dst = append(dst, f.Amp...)
	dst = append(dst, f.Power...)
	return append(dst, f.Ripple...)
}

// uploadBank brings the features to the card, with their rotations where rows
// are evenly spaced, and has the arguments point to them.
func (r *rows) uploadBank(a *kernels.RowsBank, f *spectral.Features) error {
	r.host.bank = bankOf(r.host.bank, f)
	if err := r.upload(arrayBank, r.host.bank); err != nil {
		return err
	}
	at := r.address(arrayBank)
	for _, to := range []*uint64{&a.Center, &a.Decay, &a.Turn} {
		*to = at
		at += uint64(8 * f.M * f.Q)
	}
	for _, to := range []*uint64{&a.Phase, &a.Amp, &a.Power, &a.Ripple} {
		*to = at
		at += uint64(8 * f.M)
	}
	if a.Even == 0 {
		return nil
	}
	a.Rot = r.address(arrayRot)
	k := &kernels.FeaturesPrepare{Decay: a.Decay, Turn: a.Turn, Rot: a.Rot, M: int64(f.M), Delta: a.Delta}
	return r.launch(k, parts(f.M, k.Block()), 0)
}

// adjoint turns the sums of each feature, width of them a row and the first as
// package kernels has them for pullback, into the adjoint of the features:
//
//	z̄ = −ω·Σθ̄ − P·Σq̄d,  P̄ = ½Σq̄d²,  ω̄ = Σθ̄d,  c̄ = Σθ̄
func adjoint(dst, f *spectral.Features, sums []float64, width int) {
	q := f.Q
	for k := range f.M {
		s := sums[k*width:][:width]
		theta, thetaD, quadD, quadD2 := s[0], s[4:4+q], s[4+q:4+2*q], s[4+2*q:4+3*q]
		dst.Phase[k], dst.Amp[k], dst.Power[k], dst.Ripple[k] = theta, s[1], s[2], s[3]
		for i := range q {
			at := k*q + i
			dst.Center[at] = -f.Freq[at]*theta - f.Decay[at]*quadD[i]
			dst.Decay[at] = 0.5 * quadD2[i]
			dst.Freq[at] = thetaD[i]
		}
	}
}
