package variational_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// late is a backend that returns an error from Open after a delay.
type late struct{ takes time.Duration }

func (late) Name() string { return "late" }

func (late) Close() error { return nil }

var errRefused = errors.New("refused")

func (s late) Open(backend.Data) (backend.Rows, error) {
	time.Sleep(s.takes)
	return nil, errRefused
}

// TestOpenInterrupted checks that Open returns early if the context ends and Leave is set, and
// otherwise waits for the backend.
func TestOpenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := backend.Data{N: 1 << 20, Q: 1, D: 1}
	if _, err := variational.Open(ctx, data, variational.Setting{Backend: late{5 * time.Second}, Leave: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one that wraps context.Canceled", err)
	}
	if _, err := variational.Open(ctx, data, variational.Setting{Backend: late{20 * time.Millisecond}}); !errors.Is(err, errRefused) {
		t.Errorf("error %v, want the backend's error", err)
	}
}

// TestWorkspace checks that an evaluation does not depend on earlier evaluations of any shape.
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
