package backendtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// same returns an error if got differs from want by more than bound, relative to want's largest
// entry or to 1, the size of the summed terms.
func same(what string, got, want []float64, bound float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d numbers, want %d", what, len(got), len(want))
	}
	worst, scale, at := -1.0, 1.0, 0
	for i := range got {
		scale = max(scale, math.Abs(want[i]))
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			return fmt.Errorf("%s[%d] is %g, want %g", what, i, got[i], want[i])
		}
		if d > worst {
			worst, at = d, i
		}
	}
	if worst > bound*scale {
		return fmt.Errorf("%s[%d] is %.17g, want %.17g: off by %.2g relative to the array's largest entry, allowed %.1g",
			what, at, got[at], want[at], worst/scale, bound)
	}
	return nil
}

// closed returns an error if a number is not exactly 0 although want is. If a gate is zero, the
// result must not have a rounding error.
func closed(what string, got, want []float64) error {
	for i, w := range want {
		if w == 0 && got[i] != 0 {
			return fmt.Errorf("%s[%d] is %g, want exactly 0: its windows are not active in any row", what, i, got[i])
		}
	}
	return nil
}

// sameFeatures compares a gradient field by field.
func sameFeatures(what string, got *backend.Features, want *oracle.Damped, bound float64) error {
	wants := [][]float64{
		flatten(want.Center), flatten(want.Decay), flatten(want.Freq),
		want.Phase, want.Amp, want.Power, want.Ripple,
	}
	for i, field := range got.Fields() {
		if err := same(what+" by "+field.Name, field.Data, wants[i], bound); err != nil {
			return err
		}
	}
	return nil
}

// withRows opens the problem's data, calls use, closes the rows, and checks that the inputs have
// not changed and that nothing was written outside of an output.
func (p *problem) withRows(b backend.Backend, use func(r backend.Rows, out *fences) error) error {
	return p.withData(b, p.data, use)
}

func (p *problem) withData(b backend.Backend, d backend.Data, use func(r backend.Rows, out *fences) error) error {
	before, subset, window := p.inputs.bits(), slices.Clone(p.subset), slices.Clone(p.features.Window)
	r, err := b.Open(d)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	var out fences
	err = use(r, &out)
	if cerr := r.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close: %w", cerr)
	}
	if err != nil {
		return err
	}
	if !slices.Equal(before, p.inputs.bits()) || !slices.Equal(subset, p.subset) || !slices.Equal(window, p.features.Window) {
		return fmt.Errorf("an input has changed")
	}
	return out.check()
}

// A tolerance bounds an array's error: max |got − want| / max(1, max |want|). Entries are sums of
// numbers near 1, so a sum that cancels still has their rounding errors.
type tolerance struct {
	value      float64 // moments, predictions, squared errors
	gradient   float64 // gradients against the oracle's
	difference float64 // gradients against central differences of the backend's values
	adds       float64 // sums of parts against the whole
}

var (
	// near is for angles of some tens of radians. The measured values are the largest errors
	// of the cpu backend.
	//   value, adds: 257 rows of numbers near 1 summed in another order,
	//     257·2⁻⁵³ = 3e-14, and angles of 50 radians, 50·2⁻⁵³ = 6e-15.
	//     Measured 4e-14.
	//   gradient: the same times d and d², relative to the largest of them, and
	//     residuals that cancel. Measured 2e-14.
	//   difference: the error of six levels of Richardson extrapolation.
	//     Measured 1.4e-9.
	near = tolerance{value: 1e-12, gradient: 1e-12, difference: 1e-8, adds: 1e-12}

	// shifted is for rows and feature centers near 3·10⁶: x − z is exact, so no digits are
	// lost. A phase in float32, or computed as ω·x − ω·z, fails.
	//   difference: a step in z of 2⁻⁶ … 2⁻¹¹ is rounded to a multiple of 2⁻³¹,
	//     1e-6 of the smallest. Measured 6e-8.
	shifted = tolerance{value: 1e-12, gradient: 1e-12, difference: 1e-6, adds: 1e-12}

	// far is for rows near 3·10⁶ with feature centers at the origin, that is phases of 10⁶
	// turns, whose last bit is 2⁻³³ of a turn, 7e-10 radians.
	//   value, gradient: a few such errors. Measured 2e-9.
	//   difference: the same over a first step of a sixteenth. Measured 6e-8.
	far = tolerance{value: 5e-9, gradient: 5e-9, difference: 1e-6, adds: 1e-12}
)

// fence is the number of NaN on each side of an array.
const fence = 16

// fences allocates arrays with NaN on both sides and records them.
type fences struct{ all [][]float64 }

// make returns n NaN in a slice whose capacity equals its length.
func (f *fences) make(n int) []float64 {
	whole := slices.Repeat([]float64{math.NaN()}, n+2*fence)
	f.all = append(f.all, whole)
	return whole[fence : fence+n : fence+n]
}

// check returns an error if a fence was written to.
func (f *fences) check() error {
	for i, whole := range f.all {
		for j := range fence {
			for _, at := range []int{j, len(whole) - 1 - j} {
				if !math.IsNaN(whole[at]) {
					return fmt.Errorf("array %d of %d numbers: %g written at index %d", i, len(whole)-2*fence, whole[at], at-fence)
				}
			}
		}
	}
	return nil
}

// bits returns the bits of all arrays, to detect changes.
func (f *fences) bits() (b []uint64) {
	for _, whole := range f.all {
		for _, v := range whole {
			b = append(b, math.Float64bits(v))
		}
	}
	return b
}
