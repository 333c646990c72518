package variational_test

import (
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestWorkspace: what evaluations leave behind does not show in the next one,
// whatever its shape.
func TestWorkspace(t *testing.T) {
	var shared variational.Workspace
	for _, c := range []kind{
		{Name: "large", N: 20, L: 3, K: 5, Q: 2, D: 2}, {Name: "small", N: 20, L: 2, K: 2, Q: 1, D: 1},
		{Name: "windows", N: 40, L: 6, K: 3, Q: 1, D: 1, Windows: 6}, {Name: "as many, no windows", N: 20, L: 6, K: 3, Q: 1, D: 1},
	} {
		p, data := c.Make()
		rows := open(t, data)
		for _, inference := range []variational.Inference{variational.Exact, variational.Factorized} {
			want := evaluated(t, rows, p, inference, nil, true)
			fresh := want.Gradient
			rows.SwapWorkspace(shared)
			got := evaluated(t, rows, p, inference, nil, true)
			shared = rows.SwapWorkspace(variational.Workspace{})
			if got.Bound != want.Bound {
				t.Errorf("%s, %s: bound %v in a used workspace, %v in a new one", c.Name, inference, got.Bound, want.Bound)
			}
			for i, tensor := range got.Gradient.Tensors() {
				modeltest.Near(t, c.Name+", "+string(inference)+": "+tensor.Name, *tensor.Data, *fresh.Tensors()[i].Data, 0)
			}
		}
	}
}
