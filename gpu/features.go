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

// place puts the addresses of a bank that stands at base into the arguments.
func (a *arguments) place(base uint64, m, q int) {
	for i, to := range []*uint64{&a.center, &a.decay, &a.turn} {
		*to = base + uint64(8*i*m*q)
	}
	for i, to := range []*uint64{&a.phase, &a.amp, &a.power, &a.ripple} {
		*to = base + uint64(8*(3*m*q+i*m))
	}
}

// uploadBank brings the features to the card, with their rotations where rows
// are evenly spaced, and has the arguments point to them.
func (s *share) uploadBank(a *arguments, f *spectral.Features) error {
	s.host.bank = bankOf(s.host.bank, f)
	if err := s.upload(arrayBank, s.host.bank); err != nil {
		return err
	}
	a.place(s.address(arrayBank), f.M, f.Q)
	if a.even == 0 {
		return nil
	}
	a.rot = s.address(arrayRot)
	words := []uint64{a.decay, a.turn, a.rot, uint64(f.M), math.Float64bits(a.delta)}
	return s.queue.launch(kernelOf(kernels.FeaturesPrepare{}, 0), parts(f.M, 128), words)
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
