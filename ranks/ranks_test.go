package ranks_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/ranks"
)

// onCPU returns a rank's backend.
func onCPU(string) (backend.Backend, error) { return cpu.New(cpu.Shared()), nil }

// group returns a backend over n ranks that are goroutines; its Close ends them.
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
	testkit.OK(t, err)
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

// TestTables checks that without windows rank 0 computes the sums of many rows of one or two inputs
// from tables, as one process does and for any number of ranks, and that no rank runs a pass.
func TestTables(t *testing.T) {
	for q := 1; q <= 2; q++ {
		const n, m = 3000, 30
		d := backend.Data{N: n, Q: q, D: 1, X: make([]float64, n*q), Y: make([]float64, n)}
		f := backend.NewFeatures(m, q)
		for i := range n {
			d.X[i*q], d.Y[i] = float64(i), math.Sin(0.1*float64(i))
			if q == 2 {
				d.X[i*q+1] = float64(i * i % n)
			}
		}
		for k := range m {
			for at := k * q; at < (k+1)*q; at++ {
				f.Center[at], f.Decay[at], f.Freq[at] = 100*float64(k/2), 1e-8*float64(k/2), 0.002*float64(k/2)
			}
			f.Amp[k], f.Power[k], f.Ripple[k], f.Phase[k] = 1, 0.5, 0.5, float64(k)
		}
		checkTables(t, d, f)
	}
}

// checkTables compares sums on various numbers of ranks with one process.
func checkTables(t *testing.T, d backend.Data, f *backend.Features) {
	t.Helper()
	sums := func(b backend.Backend) (*backend.Moments, *backend.Features) {
		rows := testkit.Must(b.Open(d))(t)
		mom, grad := backend.NewMoments(f, 1), backend.NewFeatures(f.M, f.Q)
		testkit.OK(t, cmp.Or(rows.Moments(mom, f), rows.Pullback(grad, f, mom), rows.Close()))
		return mom, grad
	}
	want, wantGrad := sums(cpu.New())
	for n := 1; n <= 4; n++ {
		g := group(t, n)
		mom, grad := sums(g)
		passes := g.Times().Passes
		g.Close()
		if mom.Terms == 0 || passes != 1 { // Close
			t.Errorf("%d inputs, %d ranks: %d passes, want the sums from tables", f.Q, n, passes)
		}
		if !slices.Equal(mom.C, want.C) || !slices.Equal(mom.Gram.Diag[0], want.Gram.Diag[0]) {
			t.Errorf("%d inputs, %d ranks: the moments differ from one process", f.Q, n)
		}
		for i, field := range grad.Fields() {
			if !slices.Equal(field.Data, wantGrad.Fields()[i].Data) {
				t.Errorf("%d inputs, %d ranks: the gradient with respect to the %s differs from one process", f.Q, n, field.Name)
			}
		}
	}
}

// TestBackend runs the conformance suite.
func TestBackend(t *testing.T) {
	slow.Race(t)
	for _, n := range slow.Pick([]int{1, 3, 5}, []int{3}) {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			backendtest.Run(t, func(t testing.TB) backend.Backend { return group(t, n) })
		})
	}
}
