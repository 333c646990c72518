package backendtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// same reports an array further from want than the bound, relative to want's
// largest entry or to 1, the size of what the entries are sums of.
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
		return fmt.Errorf("%s[%d] is %.17g, want %.17g: off by %.2g of the array's largest entry, allowed %.1g",
			what, at, got[at], want[at], worst/scale, bound)
	}
	return nil
}

// closed reports a number that is not exactly 0 where want is: closed gates
// leave nothing, not even rounding.
func closed(what string, got, want []float64) error {
	for i, w := range want {
		if w == 0 && got[i] != 0 {
			return fmt.Errorf("%s[%d] is %g, want exactly 0: no row meets its windows", what, i, got[i])
		}
	}
	return nil
}

// firstOf is the first error of several comparisons.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
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

// withRows opens the problem's data, calls use, closes, and sees to it that
// the inputs came back untouched and no output left its place.
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
