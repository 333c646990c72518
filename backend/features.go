package backend

import (
	"fmt"
	"slices"
)

// Features are M damped cosines over Q inputs (see the package comment). The
// gradient of a number with respect to Features is again a Features: each
// field of the cotangent holds the derivative by the same field.
type Features struct {
	M, Q    int
	Center  []float64 // z [M,Q], units of x
	Decay   []float64 // P [M,Q], units of x⁻², ≥ 0
	Freq    []float64 // ω [M,Q], radians per unit of x
	Phase   []float64 // c [M], radians
	Amp     []float64 // A1 [M], of the mean
	Power   []float64 // A0 [M], of the second moment's constant part
	Ripple  []float64 // A2 [M], of the second moment's cosine
	Window  []int     // [M] index of each feature's window, not falling; nil without windows
	Windows Windows   // that Window counts in; the zero value: none
}

// NewFeatures makes m features of q inputs, all zero; Window and Windows are left
// empty.
func NewFeatures(m, q int) *Features { return FeaturesIn(make([]float64, m*FeatureNumbers(q)), m, q) }

// FeatureNumbers returns the number of values that a feature of q inputs has.
func FeatureNumbers(q int) int { return 3*q + 4 }

// FeaturesIn returns m features of q inputs whose fields share the memory of
// m·FeatureNumbers(q) numbers, field after field.
func FeaturesIn(numbers []float64, m, q int) *Features {
	take := func(n int) (field []float64) {
		field, numbers = numbers[:n:n], numbers[n:]
		return field
	}
	return &Features{
		M: m, Q: q, Center: take(m * q), Decay: take(m * q), Freq: take(m * q),
		Phase: take(m), Amp: take(m), Power: take(m), Ripple: take(m),
	}
}

// Field is one of a Features' arrays with its name, for code that treats all of
// them alike (tests, reductions over ranks).
type Field struct {
	Name string    // the field's own: "Center", …
	Data []float64 // not a copy
}

// Fields lists the real-valued arrays in a fixed order.
func (f *Features) Fields() []Field {
	return []Field{
		{"Center", f.Center}, {"Decay", f.Decay}, {"Freq", f.Freq}, {"Phase", f.Phase},
		{"Amp", f.Amp}, {"Power", f.Power}, {"Ripple", f.Ripple},
	}
}

// Zero sets every real-valued array to 0.
func (f *Features) Zero() {
	for _, a := range f.Fields() {
		clear(a.Data)
	}
}

// Offsets returns the indices at which the windows' features begin: window v has
// features [o[v], o[v+1]). It has V+1 entries.
func (f *Features) Offsets() []int {
	o := make([]int, f.Windows.Count()+1)
	at, step := 0, 1
	for v := range o {
		// The next window begins about as far away as the last one did: a search of
		// all features for each of many windows would miss the cache at each step.
		end := at
		for ; end < len(f.Window) && f.Window[end] < v; step *= 2 {
			end = min(len(f.Window), end+step)
		}
		n, _ := slices.BinarySearch(f.Window[at:end], v)
		step, at = max(1, n/2), at+n
		o[v] = at
	}
	o[len(o)-1] = f.M // without windows, too
	return o
}

// checkShape reports arrays whose lengths do not fit M and Q, and window
// indices that fall or lie outside.
func (f *Features) checkShape() error {
	if f.M < 1 || f.Q < 1 {
		return fmt.Errorf("backend: %d features of %d inputs, want at least one of each: %w", f.M, f.Q, ErrShape)
	}
	if err := f.checkLengths(); err != nil {
		return err
	}
	if len(f.Windows.Center) > 1 && f.Window == nil {
		return fmt.Errorf("backend: %d windows but no feature says which is its own: %w", len(f.Windows.Center), ErrShape)
	}
	if f.Window != nil && len(f.Window) != f.M {
		return checkLength("feature Window", len(f.Window), f.M, "M")
	}
	for k, v := range f.Window {
		if v < 0 || v >= f.Windows.Count() || (k > 0 && v < f.Window[k-1]) {
			return fmt.Errorf("backend: feature %d belongs to window %d, want one of %d, not falling: %w", k, v, f.Windows.Count(),
				ErrShape)
		}
	}
	return nil
}

// checkLengths reports arrays whose lengths do not fit M and Q.
func (f *Features) checkLengths() error {
	for i, a := range f.Fields() {
		want, shape := f.M*f.Q, "M·Q"
		if i >= 3 {
			want, shape = f.M, "M"
		}
		if err := checkLength("feature "+a.Name, len(a.Data), want, shape); err != nil {
			return err
		}
	}
	return nil
}

// CheckRoom reports a cotangent that is not of the features' shape.
func (f *Features) CheckRoom(of *Features) error {
	if f.M != of.M || f.Q != of.Q {
		return fmt.Errorf("backend: room for %d features of %d inputs, want %d of %d: %w", f.M, f.Q, of.M, of.Q, ErrShape)
	}
	return f.checkLengths()
}
