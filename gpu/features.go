package gpu

import (
	"math"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// bankNumbers is how many numbers a bank of m features of q inputs has.
func bankNumbers(m, q int) int { return m * (3*q + 4) }

// uploadBank brings the features to the card, with their rotations if rows
// are evenly spaced, and has the arguments point to them. The kernels count angles in
// turns.
func (r *rows) uploadBank(a *kernels.RowsBank, f *spectral.Features) {
	bank := r.room(arrayBank, bankNumbers(f.M, f.Q))[:0]
	for _, field := range f.Fields() {
		bank = append(bank, field.Data...)
	}
	angles := bank[2*f.M*f.Q:][:f.M*(f.Q+1)] // Freq and Phase
	for i := range angles {
		angles[i] /= 2 * math.Pi
	}
	r.push(arrayBank)
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
		return
	}
	a.Rot = r.address(arrayRot)
	k := &kernels.FeaturesPrepare{Decay: a.Decay, Turn: a.Turn, Rot: a.Rot, M: int64(f.M), Delta: a.Delta}
	r.launch(k, parts(f.M, k.Block()), 0)
}

// adjoint turns the sums of each feature, width numbers a row, into the adjoint of
// the features. A row begins with the sums of contract.cuh:
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
