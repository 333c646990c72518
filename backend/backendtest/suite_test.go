package backendtest

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
)

// A slip spoils a backend's inputs before, or its outputs after, a method.
type slip struct {
	name     string
	features func(f *backend.Features) // what every method sees instead of f
	moments  func(m *backend.Moments)
	pullback func(bar *backend.Features)
	sums     func(s *backend.FactorizedSums)
	predict  func(p *backend.Prediction)
	rows     func(rows []int) []int
}

// slipping is the CPU backend, which the suite must refuse with a slip.
type slipping struct {
	backend.Backend
	slip slip
}

func (b *slipping) Open(d backend.Data) (backend.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	seen := backend.NewFeatures(1, d.Q)
	seen.Windows, seen.Window = d.Windows, []int{0}
	b.slip.see(seen)
	there := d
	there.Windows = seen.Windows
	r, err := b.Backend.Open(there)
	return &slippingRows{Rows: r, data: d, slip: b.slip}, err
}

type slippingRows struct {
	backend.Rows
	data backend.Data
	slip slip
}

// see changes f.
func (s *slip) see(f *backend.Features) {
	if s.features != nil {
		s.features(f)
	}
}

// see checks f and returns what the slip leaves of it.
func (r *slippingRows) see(f *backend.Features) (*backend.Features, error) {
	if err := r.data.CheckFeatures(f); err != nil {
		return nil, err
	}
	c := *f
	for i, field := range f.Fields() {
		*[]*[]float64{&c.Center, &c.Decay, &c.Freq, &c.Phase, &c.Amp, &c.Power, &c.Ripple}[i] = slices.Clone(field.Data)
	}
	r.slip.see(&c)
	return &c, nil
}

// spoil calls do with what the slip leaves of f, and change on what came of it.
func spoil[T any](r *slippingRows, f *backend.Features, dst *T, change func(*T), do func(f *backend.Features) error) error {
	f, err := r.see(f)
	if err == nil {
		err = do(f)
	}
	if err == nil && change != nil {
		change(dst)
	}
	return err
}

func (r *slippingRows) Moments(dst *backend.Moments, f *backend.Features) error {
	return spoil(r, f, dst, r.slip.moments, func(f *backend.Features) error { return r.Rows.Moments(dst, f) })
}

func (r *slippingRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	return spoil(r, f, dst, r.slip.pullback, func(f *backend.Features) error { return r.Rows.Pullback(dst, f, bar) })
}

func (r *slippingRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	return spoil(r, f, dst, r.slip.sums, func(f *backend.Features) error {
		if r.slip.rows != nil {
			rows = r.slip.rows(rows)
		}
		return r.Rows.Factorized(dst, f, w, rows)
	})
}

func (r *slippingRows) Predict(dst *backend.Prediction, f *backend.Features, post *backend.Posterior) error {
	return spoil(r, f, dst, r.slip.predict, func(f *backend.Features) error { return r.Rows.Predict(dst, f, post) })
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

// TestSlips: each slip is refused by some check of some case; the CPU backend alone passes them all (its own test).
func TestSlips(t *testing.T) {
	for _, s := range slips {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range cases {
				if c.n*c.m > 300 {
					continue
				}
				for _, check := range checks {
					if err := check.run(newProblem(c), &slipping{cpu.New(), s}); err != nil {
						t.Logf("%s, %s: %v", c.name, check.name, err)
						return
					}
				}
			}
			t.Error("passes the whole suite")
		})
	}
}
