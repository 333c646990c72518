package oracle

import (
	"math"
	"testing"
)

// tiny is a model small enough for quadrature; full phases.
func tiny(seed uint64, k, n int) (p *Params, xs, ys [][]float64, y []float64) {
	p, xs, ys = random(shape{l: 1, k: k, q: 1, d: 1, n: n}, newRNG(seed))
	p.NoisePrecision = 1 + float64(seed%4)
	for j := range p.PhaseLower {
		p.PhaseLower[j], p.PhaseUpper[j] = 0, 2*math.Pi
	}
	return p, xs, ys, flatten(ys)
}

func evidence(p *Params, xs [][]float64, y []float64, k int) float64 {
	if k == 1 {
		return LogEvidence(p, xs, y, 97, 48)
	}
	return LogEvidence(p, xs, y, 25, 24)
}

func TestEvidenceConverges(t *testing.T) {
	for _, c := range []struct{ k, n int }{{1, 2}, {1, 3}, {2, 2}} {
		p, xs, _, y := tiny(11, c.k, c.n)
		coarse := evidence(p, xs, y, c.k)
		fine := LogEvidence(p, xs, y, 37, 32)
		if c.k == 1 {
			fine = LogEvidence(p, xs, y, 301, 150)
		}
		if math.Abs(coarse-fine) > 1e-4 {
			t.Errorf("K=%d N=%d: %g on the coarse grid, %g on the fine", c.k, c.n, coarse, fine)
		}
	}
}

// TestBoundTight: where the data say next to nothing (τ → 0) the prior is the
// posterior and the bound meets the evidence: their distance falls as τ².
func TestBoundTight(t *testing.T) {
	p, xs, ys, y := tiny(3, 1, 3)
	p.FreqMean[0][0], p.FreqVar[0][0] = 0, 1
	gap := func(tau float64) float64 {
		p.NoisePrecision = tau
		return evidence(p, xs, y, 1) - Exact(p, xs, ys)
	}
	wide, narrow := gap(1e-2), gap(1e-3)
	if narrow < 0 || wide < 0 || narrow > 1e-5 || wide/narrow < 80 || wide/narrow > 120 {
		t.Errorf("the evidence is above the bound by %g at τ=0.01, %g at τ=0.001, want a hundredth", wide, narrow)
	}
}
