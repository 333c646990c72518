package variational_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// late is a backend that takes its time to refuse rows.
type late struct{ takes time.Duration }

func (late) Name() string { return "late" }

func (late) Close() error { return nil }

var errRefused = errors.New("refused")

func (s late) Open(backend.Data) (backend.Rows, error) {
	time.Sleep(s.takes)
	return nil, errRefused
}

// TestOpenInterrupted: where the context ends, many rows are left to a backend
// that holds them in memory alone, and waited for with any other.
func TestOpenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := backend.Data{N: 1 << 20, Q: 1, D: 1}
	if _, err := variational.Open(ctx, data, variational.Setting{Backend: late{5 * time.Second}, Leave: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one that wraps context.Canceled", err)
	}
	if _, err := variational.Open(ctx, data, variational.Setting{Backend: late{20 * time.Millisecond}}); !errors.Is(err, errRefused) {
		t.Errorf("error %v, want the backend's", err)
	}
}
