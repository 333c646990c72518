package variational_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestShapeMatchesParameters checks that a shape has the same sizes and tensors as its parameters, and that it
// creates parameters of this shape.
func TestShapeMatchesParameters(t *testing.T) {
	for _, c := range modeltest.Kinds {
		t.Run(c.Name, func(t *testing.T) {
			p, _ := c.Make()
			s := variational.ShapeOf(p)
			if s.L() != p.L || s.M() != p.M() || s.K != p.K || s.Q != p.Q || s.D != p.D || !slices.Equal(s.Offsets(), p.Features().Offsets()) {
				t.Errorf("%+v of %d components of %d features, %d inputs, %d outputs; features begin at %v, want %v", s, p.L, p.K, p.Q, p.D, s.Offsets(), p.Features().Offsets())
			}
			most, numbers := 0, 0
			p.EachWindow(func(_, lo, hi int) { most = max(most, hi-lo) })
			tensors := p.Tensors()
			for i, tensor := range s.Tensors() {
				own, constant := tensors[i], true
				for j := range *own.Data {
					constant = constant && own.Constant(j)
				}
				if tensor.Name != own.Name || tensor.Size() != len(*own.Data) || s.Constant(tensor) != constant {
					t.Errorf("%s of %d numbers, constant: %v; want %s of %d, %v", tensor.Name, tensor.Size(), s.Constant(tensor), own.Name, len(*own.Data), constant)
				}
				numbers += len(*own.Data)
			}
			if s.Most() != most || s.Numbers() != numbers {
				t.Errorf("%d components in a window at most and %d numbers, want %d and %d", s.Most(), s.Numbers(), most, numbers)
			}

			p.CoefMean, p.CoefVar = nil, nil
			made := s.Params()
			if !made.Alike(p) {
				t.Errorf("the shape creates parameters of other sizes: %+v", variational.ShapeOf(made))
			}
			s.PointFrequencies, s.FixedPhases = true, true // as in parameters that are 0
			if again := variational.ShapeOf(made); !reflect.DeepEqual(again, s) {
				t.Errorf("parameters of shape %+v have shape %+v", s, again)
			}
		})
	}
}
