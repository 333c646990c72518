package backendtest

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/vssgp/vssgp/backend"
)

// small cases are those that the plain loops get through in no time.
func small(c size) bool { return c.n*c.m <= 300 }

// TestReference: the suite passes the oracle's own loops, so that what it
// refuses is the backend's slip.
func TestReference(t *testing.T) {
	run(t, small, func(testing.TB) backend.Backend { return &reference{} })
}

// beyond is the number after the last of a: in a fenced array, NaN.
func beyond(a []float64) *float64 {
	return (*float64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(a)), len(a)*8))
}

var slips = []slip{
	{name: "phase in float32", features: func(f *backend.Features) {
		for k, c := range f.Phase {
			f.Phase[k] = float64(float32(c))
		}
	}},
	{name: "feature numbers from the next feature", features: func(f *backend.Features) {
		f.Amp[len(f.Amp)-1] = f.Amp[0]
	}},
	{name: "no ripple", features: func(f *backend.Features) { clear(f.Ripple) }},
	{name: "windows run along input 0", features: func(f *backend.Features) { f.Windows.Dim = 0 }},
	{name: "features of the next window", features: func(f *backend.Features) {
		for k, v := range f.Window {
			f.Window = slices.Clone(f.Window)
			f.Window[k] = min(v+1, f.Windows.Count()-1)
		}
	}},
	{name: "not a number taken for none", features: func(f *backend.Features) {
		for i, p := range f.Decay {
			if math.IsNaN(p) {
				f.Decay[i] = 0
			}
		}
	}},
	{name: "C adds to what was there", moments: func(m *backend.Moments) { m.C[0] = math.NaN() }},
	{name: "upper triangle left out", moments: func(m *backend.Moments) {
		for v, b := range m.Gram.Diag {
			if s := m.Gram.Size(v); s > 1 {
				b[1] = 0
			}
		}
	}},
	{name: "a write past C", moments: func(m *backend.Moments) { *beyond(m.C) = 1 }},
	{name: "a last bit that wanders", moments: func() func(m *backend.Moments) {
		calls := 0
		return func(m *backend.Moments) {
			if calls++; calls%5 == 0 {
				m.C[0] = math.Nextafter(m.C[0], 9)
			}
		}
	}()},
	{name: "gradient by Decay without ½", pullback: func(f *backend.Features) {
		for i := range f.Decay {
			f.Decay[i] *= 2
		}
	}},
	{name: "gradient by Center of the other sign", pullback: func(f *backend.Features) { f.Center[0] *= -1 }},
	{name: "gradient by Power left out", sums: func(s *backend.FactorizedSums) { clear(s.Features.Power) }},
	{name: "gradient by m left out once", sums: func(s *backend.FactorizedSums) { s.Weights.Mean[0] *= 1 + 1e-9 }},
	{name: "value of too few rows", sums: func(s *backend.FactorizedSums) { s.Value *= 1 - 1e-9 }},
	{name: "a row named twice counts once", rows: func(rows []int) []int {
		if rows == nil {
			return nil
		}
		c := append([]int{}, rows...)
		slices.Sort(c)
		return slices.Compact(c)
	}},
	{name: "no rows taken for all", rows: func(rows []int) []int {
		if len(rows) == 0 {
			return nil
		}
		return rows
	}},
	{name: "rows sorted in place", rows: func(rows []int) []int { slices.Sort(rows); return rows }},
	{name: "predictions in another order", predict: func(p *backend.Prediction) { slices.Reverse(p.Mean) }},
	{name: "covariance without what outputs share", predict: func(p *backend.Prediction) {
		for i := range p.Cov[:len(p.Cov)-1] {
			if n := len(p.Cov) / len(p.Mean); n > 1 && i%n != 0 {
				p.Cov[i] = 0
			}
		}
	}},
}

// TestSlips: each slip is refused by some check of some case.
func TestSlips(t *testing.T) {
	for _, s := range slips {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range cases {
				if !small(c) {
					continue
				}
				for _, check := range checks {
					if err := check.run(newProblem(c), &reference{s}); err != nil {
						t.Logf("%s, %s: %v", c.name, check.name, err)
						return
					}
				}
			}
			t.Error("passes the whole suite")
		})
	}
}

// FuzzReference: problems of any shape can be made and judged.
func FuzzReference(f *testing.F) {
	Fuzz(f, func(testing.TB) backend.Backend { return &reference{} })
}
