package backend

import (
	"fmt"
	"slices"
)

// Features are M damped cosines over Q inputs (see the package comment). A gradient with respect
// to Features also has type Features. Each of its fields contains the derivative with respect to
// the same field.
type Features struct {
	M, Q    int
	Center  []float64 // z [M,Q], units of x
	Decay   []float64 // P [M,Q], units of x⁻², ≥ 0
	Freq    []float64 // ω [M,Q], radians per unit of x
	Phase   []float64 // c [M], radians
	Amp     []float64 // A1 [M], of the mean
	Power   []float64 // A0 [M], of the second moment's constant part
	Ripple  []float64 // A2 [M], of the second moment's cosine
	Window  []int     // [M] index of each feature's window, not decreasing; nil without windows
	Windows Windows   // the windows that Window indexes; the zero value means no windows
}

// NewFeatures returns m zero features of q inputs. Window and Windows are empty.
func NewFeatures(m, q int) *Features { return FeaturesIn(make([]float64, m*FeatureNumbers(q)), m, q) }

// FeatureNumbers returns the number of values per feature of q inputs.
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

// Field is one of the arrays of Features with its name, for code that treats all arrays
// alike, such as tests and reductions over ranks.
type Field struct {
	Name string    // name of the struct field, such as "Center"
	Data []float64 // shared with the struct field
}

// Fields returns the real-valued arrays in a fixed order.
func (f *Features) Fields() []Field {
	return []Field{
		{"Center", f.Center}, {"Decay", f.Decay}, {"Freq", f.Freq}, {"Phase", f.Phase},
		{"Amp", f.Amp}, {"Power", f.Power}, {"Ripple", f.Ripple},
	}
}

// Offsets returns the indices at which the windows' features begin: window v has
// features [o[v], o[v+1]). It has V+1 entries.
func (f *Features) Offsets() []int {
	o := make([]int, f.Windows.Count()+1)
	at, step := 0, 1
	for v := range o {
		// Search near the length of the previous window. A binary search of all features for
		// each of many windows would miss the cache at each step.
		end := at
		for ; end < len(f.Window) && f.Window[end] < v; step *= 2 {
			end = min(len(f.Window), end+step)
		}
		n, _ := slices.BinarySearch(f.Window[at:end], v)
		step, at = max(1, n/2), at+n
		o[v] = at
	}
	o[len(o)-1] = f.M // also without windows
	return o
}

// checkShape returns an error if the arrays' lengths do not match M and Q, or if window
// indices decrease or are out of range.
func (f *Features) checkShape() error {
	if f == nil {
		return errNil
	}
	if f.M < 1 || f.Q < 1 {
		return fmt.Errorf("%d features of %d inputs, must be at least one of each: %w", f.M, f.Q, ErrShape)
	}
	if err := f.checkLengths(); err != nil {
		return err
	}
	if len(f.Windows.Center) > 1 && f.Window == nil {
		return fmt.Errorf("%d windows, but the features have no window indices: %w", len(f.Windows.Center), ErrShape)
	}
	if f.Window != nil && len(f.Window) != f.M {
		return checkLength("feature Window", len(f.Window), f.M, "M")
	}
	for k, v := range f.Window {
		if v < 0 || v >= f.Windows.Count() || (k > 0 && v < f.Window[k-1]) {
			return fmt.Errorf("feature %d belongs to window %d, must be one of %d windows and not decreasing: %w", k, v, f.Windows.Count(),
				ErrShape)
		}
	}
	return nil
}

// checkLengths returns an error if the arrays' lengths do not match M and Q.
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

// CheckRoom returns an error if f, which receives a gradient with respect to of, does not have of's shape.
func (f *Features) CheckRoom(of *Features) error {
	if f == nil || of == nil {
		return errNil
	}
	if f.M != of.M || f.Q != of.Q {
		return fmt.Errorf("a gradient for %d features of %d inputs, must be for %d of %d: %w", f.M, f.Q, of.M, of.Q, ErrShape)
	}
	return f.checkLengths()
}
