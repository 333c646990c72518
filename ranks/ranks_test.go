package ranks_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/backendtest"
	"github.com/vssgp/vssgp/internal/slow"
	"github.com/vssgp/vssgp/ranks"
	"github.com/vssgp/vssgp/spectral"
)

// onCPU is a rank's backend.
func onCPU(string) (spectral.Backend, error) { return cpu.New(cpu.Shared()), nil }

// group is a backend over n ranks that are goroutines; its Close ends them.
func group(t testing.TB, n int) *grouped {
	t.Helper()
	all := ranks.Group(n)
	g := &grouped{comm: all[0]}
	for _, c := range all[1:] {
		g.others.Go(func() {
			if err := ranks.Serve(c, onCPU); err != nil {
				t.Error(err)
			}
		})
	}
	inner, err := onCPU("")
	if err != nil {
		t.Fatal(err)
	}
	if g.Backend, err = ranks.New(all[0], inner, ""); err != nil {
		t.Fatal(err)
	}
	return g
}

type grouped struct {
	*ranks.Backend
	comm   ranks.Comm
	others sync.WaitGroup
}

func (g *grouped) Close() error {
	err := g.Backend.Close()
	ranks.Quit(g.comm)
	g.others.Wait()
	return err
}

// TestBackend: ranks are a backend like any other.
func TestBackend(t *testing.T) {
	for _, n := range slow.Pick([]int{1, 3, 5}, []int{3}) {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			backendtest.Run(t, func(t testing.TB) spectral.Backend { return group(t, n) })
		})
	}
}
