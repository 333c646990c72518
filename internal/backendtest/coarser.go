package backendtest

import (
	"testing"

	"github.com/vssgp/vssgp/spectral"
)

// A Tolerance is how far a backend of less than float64 precision may be from
// the oracle. Each is of an array's largest number, or of 1 where that is less.
// A backend that uses one says where its figures come from.
type Tolerance struct {
	Value      float64 // moments, predictions, squared errors
	Gradient   float64 // gradients against the oracle's
	Difference float64 // gradients against central differences of the backend's own values
	Adds       float64 // parts against the whole
}

// RunWith is Run for a backend of less than float64 precision: a case's
// tolerances are as wide as t's where float64's are narrower. All else that Run
// asks for, it asks for too: repeats of the same bits, exact zeros, untouched
// inputs, errors.
func RunWith(t *testing.T, open func(testing.TB) spectral.Backend, tol Tolerance) {
	judge(t, func(c size) bool { return !c.long || !testing.Short() }, open, func(c size) *problem {
		p := newProblem(c)
		p.tol = p.tol.atLeast(tol)
		return p
	})
}

func (t tolerance) atLeast(o Tolerance) tolerance {
	return tolerance{
		value: max(t.value, o.Value), gradient: max(t.gradient, o.Gradient),
		difference: max(t.difference, o.Difference), adds: max(t.adds, o.Adds),
	}
}
