package gpu

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/kernels"
)

// featureNumbers returns the number of parameters of m features of q inputs.
func featureNumbers(m, q int) int { return m * (3*q + 4) }

// featuresAtOnce is the number of features that a CPU core packs at a time.
const featuresAtOnce = 1024

// uploadFeatures uploads the features, with their rotations if rows are evenly spaced, unless they are on
// the device, and sets the arguments to their addresses. The kernels measure angles in turns.
func (r *rows) uploadFeatures(a *kernels.PassArgs, f *backend.Features) {
	at := r.address(arrayFeatures)
	for _, to := range []*uint64{&a.Center, &a.Decay, &a.Turn} {
		*to = at
		at += uint64(8 * f.M * f.Q)
	}
	for _, to := range []*uint64{&a.Phase, &a.Amp, &a.Power, &a.Ripple} {
		*to = at
		at += uint64(8 * f.M)
	}
	if a.Even != 0 {
		a.Rot = r.address(arrayRot)
	}
	if r.current.features == r.mem[arrayFeatures] && (a.Rot == 0 || r.current.rotations == r.mem[arrayRot]) {
		return
	}

	packFeatures(r.room(arrayFeatures, featureNumbers(f.M, f.Q)), f)
	r.push(arrayFeatures)
	if a.Rot != 0 {
		k := &kernels.FeaturesPrepare{Decay: a.Decay, Turn: a.Turn, Rot: a.Rot, M: int64(f.M), Delta: a.Delta}
		r.launch(k, parts(f.M, k.Block()), 0)
	}
	r.current.features, r.current.rotations = r.mem[arrayFeatures], r.mem[arrayRot]
}

// packFeatures writes the features' parameters to an array, on all cores.
func packFeatures(array []float64, f *backend.Features) {
	to := backend.FeaturesIn(array, f.M, f.Q)
	from := f.Fields()
	parallel.Blocks(f.M, featuresAtOnce, func(_, lo, hi int) {
		for i, field := range to.Fields() {
			each := len(field.Data) / f.M
			dst, src := field.Data[lo*each:hi*each], from[i].Data[lo*each:hi*each]
			if field.Name != "Freq" && field.Name != "Phase" {
				copy(dst, src)
				continue
			}
			for k, angle := range src {
				dst[k] = angle / (2 * math.Pi)
			}
		}
	})
}

// adjoint computes the adjoint of the features from the sums of each feature, width numbers per
// row. A row begins with the sums of contract.cuh:
//
//	z̄ = −ω·Σθ̄ − P·Σq̄d,  P̄ = ½Σq̄d²,  ω̄ = Σθ̄d,  c̄ = Σθ̄
func adjoint(dst, f *backend.Features, sums []float64, width int) {
	parallel.Blocks(f.M, featuresAtOnce, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			adjointOf(dst, f, k, sums[k*width:][:width])
		}
	})
}

// adjointOf computes the adjoint of feature k from its sums s.
func adjointOf(dst, f *backend.Features, k int, s []float64) {
	q := f.Q
	theta, thetaD, quadD, quadD2 := s[0], s[4:4+q], s[4+q:4+2*q], s[4+2*q:4+3*q]
	dst.Phase[k], dst.Amp[k], dst.Power[k], dst.Ripple[k] = theta, s[1], s[2], s[3]
	for i := range q {
		at := k*q + i
		dst.Center[at] = -f.Freq[at]*theta - f.Decay[at]*quadD[i]
		dst.Decay[at] = 0.5 * quadD2[i]
		dst.Freq[at] = thetaD[i]
	}
}
