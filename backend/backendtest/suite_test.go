package backendtest

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
)

// A fault changes a backend's inputs before a method or its outputs after it.
type fault struct {
	name     string
	features func(f *backend.Features) // changes the features that every method receives
	moments  func(m *backend.Moments)
	pullback func(bar *backend.Features)
	sums     func(s *backend.FactorizedSums)
	predict  func(p *backend.Prediction)
	rows     func(rows []int) []int
}

// faulty is the CPU backend with a fault, which the suite must detect.
type faulty struct {
	backend.Backend
	fault fault
}

func (b *faulty) Open(d backend.Data) (backend.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	seen := backend.NewFeatures(1, d.Q)
	seen.Windows, seen.Window = d.Windows, []int{0}
	b.fault.apply(seen)
	there := d
	there.Windows = seen.Windows
	r, err := b.Backend.Open(there)
	return &faultyRows{Rows: r, data: d, fault: b.fault}, err
}

type faultyRows struct {
	backend.Rows
	data  backend.Data
	fault fault
}

// apply changes f.
func (s *fault) apply(f *backend.Features) {
	if s.features != nil {
		s.features(f)
	}
}

// apply checks f and returns it with the fault.
func (r *faultyRows) apply(f *backend.Features) (*backend.Features, error) {
	if err := r.data.CheckFeatures(f); err != nil {
		return nil, err
	}
	c := *f
	for i, field := range f.Fields() {
		*[]*[]float64{&c.Center, &c.Decay, &c.Freq, &c.Phase, &c.Amp, &c.Power, &c.Ripple}[i] = slices.Clone(field.Data)
	}
	r.fault.apply(&c)
	return &c, nil
}

// withFault calls do with the faulty f, and change with the result.
func withFault[T any](r *faultyRows, f *backend.Features, dst *T, change func(*T), do func(f *backend.Features) error) error {
	f, err := r.apply(f)
	if err == nil {
		err = do(f)
	}
	if err == nil && change != nil {
		change(dst)
	}
	return err
}

func (r *faultyRows) Moments(dst *backend.Moments, f *backend.Features) error {
	return withFault(r, f, dst, r.fault.moments, func(f *backend.Features) error { return r.Rows.Moments(dst, f) })
}

func (r *faultyRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	return withFault(r, f, dst, r.fault.pullback, func(f *backend.Features) error { return r.Rows.Pullback(dst, f, bar) })
}

func (r *faultyRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	return withFault(r, f, dst, r.fault.sums, func(f *backend.Features) error {
		if r.fault.rows != nil {
			rows = r.fault.rows(rows)
		}
		return r.Rows.Factorized(dst, f, w, rows)
	})
}

func (r *faultyRows) Predict(dst *backend.Prediction, f *backend.Features, post *backend.Posterior) error {
	return withFault(r, f, dst, r.fault.predict, func(f *backend.Features) error { return r.Rows.Predict(dst, f, post) })
}

// beyond returns the address of the number after the last one of a, which is NaN in a fenced array.
func beyond(a []float64) *float64 {
	return (*float64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(a)), len(a)*8))
}

var faults = []fault{
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
	{name: "NaN taken for 0", features: func(f *backend.Features) {
		for i, p := range f.Decay {
			if math.IsNaN(p) {
				f.Decay[i] = 0
			}
		}
	}},
	{name: "C added to old values", moments: func(m *backend.Moments) { m.C[0] = math.NaN() }},
	{name: "upper triangle left out", moments: func(m *backend.Moments) {
		for v, b := range m.Gram.Diag {
			if s := m.Gram.Size(v); s > 1 {
				b[1] = 0
			}
		}
	}},
	{name: "a write past C", moments: func(m *backend.Moments) { *beyond(m.C) = 1 }},
	{name: "a last bit that changes", moments: func() func(m *backend.Moments) {
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
	{name: "covariance without cross terms", predict: func(p *backend.Prediction) {
		for i := range p.Cov[:len(p.Cov)-1] {
			if n := len(p.Cov) / len(p.Mean); n > 1 && i%n != 0 {
				p.Cov[i] = 0
			}
		}
	}},
}

// TestFaults checks that at least one check of one case detects each fault. (The test of package cpu checks that the CPU backend without
// faults passes.)
func TestFaults(t *testing.T) {
	for _, s := range faults {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range cases {
				if c.n*c.m > 300 {
					continue
				}
				for _, check := range checks {
					if err := check.run(newProblem(c), &faulty{cpu.New(), s}); err != nil {
						t.Logf("%s, %s: %v", c.name, check.name, err)
						return
					}
				}
			}
			t.Error("the fault passes the whole suite")
		})
	}
}
