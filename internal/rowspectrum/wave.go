package rowspectrum

import (
	"math"
	"sync/atomic"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A wave is a damped wave over one input of the rows, in steps from their middle:
//
//	ψ(X) = exp(log − ½P(X − Z)²) · exp(2πi((cycles + part)·X/T + phase))
//
// Features are products of one wave per input, and so are the products of two features.
type wave struct {
	envelope
	carrier
}

// An envelope is the amplitude of a wave. Both products of two waves have the same envelope.
type envelope struct {
	p       float64 // P ≥ 0
	z, zLow float64 // Z = z + zLow; 0 if P is 0
	log     float64
}

// A carrier is the phase of a wave: ωT/2π = cycles + part, |part| ≤ ½, and the phase at X = 0 in turns.
type carrier struct {
	cycles int64
	part   float64
	phase  float64 // in [−½, ½]
}

// maxCycles is the largest |ωT/2π| that float64 represents accurately.
const maxCycles = 1 << 45

// blockFeatures is the number of features whose waves a core computes at a time, in about 30 µs.
const blockFeatures = 256

// waves writes the features' waves over each input to dst [Q][M]. It returns false if a number is not finite or too
// large.
func (s *Spectrum) waves(dst [][]wave, f *backend.Features) bool {
	var failed atomic.Bool
	parallel.Blocks(f.M, blockFeatures, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			size := math.Abs(f.Amp[k]) + math.Abs(f.Power[k]) + math.Abs(f.Ripple[k])
			ok := size < math.MaxFloat64
			for q, a := range s.axes {
				ok = a.wave(&dst[q][k], f, k, q) && ok
			}
			if !ok {
				failed.Store(true)
				return
			}
		}
	})
	return !failed.Load()
}

// wave writes the wave of feature k over input q to w; the first one has the feature's phase. It returns false if a
// number is not finite or |ωT/2π| is too large.
func (a *axis) wave(w *wave, f *backend.Features, k, q int) bool {
	most := float64(maxCycles)
	if a.rounded { // the error grows with the frequency
		most = maxPerRow * a.period
	}
	unit, at := a.step.Hi, k*f.Q+q
	turns := double.Of(f.Freq[at]).Times(double.PerTurn)
	offset := double.Sum(f.Center[at], -a.center.Hi).Plus(double.Of(-a.center.Lo))
	cycles, part := turns.Times(a.periodX).Split()
	if !(math.Abs(cycles) < most) {
		return false
	}
	if a.length > 0 {
		cycles = math.Remainder(cycles, float64(a.length))
	}
	_, away := turns.Times(offset).Split()
	z, phase := offset.Over(a.step), 0.0
	if q == 0 {
		phase = f.Phase[k] * double.PerTurn.Hi
	}
	w.p, w.log = f.Decay[at]*unit*unit, 0
	w.z, w.zLow = z.Hi, z.Lo
	w.cycles, w.part, w.phase = int64(cycles), part, fraction(phase-away)
	return w.p >= 0 && w.p+w.z*w.z+math.Abs(w.phase) < math.MaxFloat64
}

// fraction returns the fractional part of a phase in turns.
func fraction(turns float64) float64 { return turns - math.RoundToEven(turns) }

// product returns the envelope of ψ_aψ_b and of ψ_aψ_b*:
//
//	P = P_a + P_b      Z = (P_aZ_a + P_bZ_b)/P      log = −½ P_aP_b(Z_a − Z_b)²/P
func product(a, b *wave) envelope {
	if a.p < b.p {
		a, b = b, a
	}
	if a.p == 0 {
		return envelope{}
	}
	apart := (b.z - a.z) + (b.zLow - a.zLow)
	share := b.p / (a.p + b.p)
	z := double.Sum(a.z, share*apart)
	return envelope{p: a.p + b.p, z: z.Hi, zLow: z.Lo + a.zLow, log: -0.5 * a.p * share * apart * apart}
}

// plus returns the carrier of ψ_aψ_b, and minus the carrier of ψ_aψ_b*.
func (a carrier) plus(b carrier) carrier {
	return carrier{a.cycles + b.cycles, a.part + b.part, fraction(a.phase + b.phase)}
}

func (a carrier) minus(b carrier) carrier {
	return carrier{a.cycles - b.cycles, a.part - b.part, fraction(a.phase - b.phase)}
}

// twice returns ψ⁴ at half its phase, exp(−4q + 2iθ): the damped part of a second moment.
func (w *wave) twice() wave {
	t := *w
	t.p *= 4
	t.carrier = w.carrier.plus(w.carrier)
	return t
}
