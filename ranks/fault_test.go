package ranks_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/ranks"
)

// TestRankFails checks that rank 0 returns an error of any rank at any point, that it names the
// rank, and that the other ranks continue to serve.
func TestRankFails(t *testing.T) {
	broken := errors.New("out of memory on GPU 3")
	fails := func(at string) *backendtest.Spy {
		return &backendtest.Spy{Backend: cpu.New(), Before: func(method string, _ *backend.Features) error {
			if method == at {
				return broken
			}
			return nil
		}}
	}
	for _, at := range []string{"", "Open", "Moments", "Pullback"} { // "": opening the backend
		for _, o := range []vssgp.Options{{Components: 4}, {Components: 4, Windows: vssgp.WindowOptions{Length: 60}}} {
			for _, bad := range []int{0, 2} {
				if at == "" && bad == 0 {
					continue
				}
				all := ranks.Group(3)
				over := make(chan error, 2)
				for _, r := range all[1:] {
					go func() {
						over <- ranks.Serve(r, func(string) (backend.Backend, error) {
							switch {
							case r.Rank() != bad:
								return cpu.New(), nil
							case at == "":
								return nil, broken
							}
							return fails(at), nil
						})
					}()
				}
				inner := map[bool]*backendtest.Spy{true: fails(at), false: fails("")}[bad == 0]
				b, err := ranks.New(all[0], inner, "")
				if err == nil {
					o.Backend, o.Iterations = b, 5
					_, _, err = vssgp.Fit(context.Background(), chirp(500), o) // too few rows for tables, which would use only rank 0
					if e := b.Close(); e != nil {
						t.Errorf("%s: close: %v", at, e)
					}
				}
				if err == nil || !strings.Contains(err.Error(), broken.Error()) || bad > 0 && !strings.Contains(err.Error(), "rank 2 of 3") {
					t.Errorf("%s, rank %d: error %v, want one that names the rank and the reason", at, bad, err)
				}
				ranks.Quit(all[0])
				for range 2 {
					if err := receive(t, over); err != nil {
						t.Errorf("%s: another rank: %v", at, err)
					}
				}
			}
		}
	}
}

// TestNaNOfOneRankMakesBoundNaN checks that a rank's NaN makes the bound NaN, as in one process.
func TestNaNOfOneRankMakesBoundNaN(t *testing.T) {
	spoilt := &backendtest.Spy{Backend: cpu.New(), Moments: func(m *backend.Moments) { m.Gram.Diag[0][0] = math.NaN() }}
	for _, o := range []vssgp.Options{{Components: 4}, {Components: 4, Windows: vssgp.WindowOptions{Length: 60}}} {
		data := chirp(300)
		m := testkit.Must(vssgp.New(t.Context(), data, o))(t)
		all := ranks.Group(2)
		over := make(chan error)
		go func() {
			over <- ranks.Serve(all[1], func(string) (backend.Backend, error) { return spoilt, nil })
		}()
		b := testkit.Must(ranks.New(all[0], cpu.New(), ""))(t)
		m.Backend = b
		for _, gradient := range []bool{false, true} {
			if _, err := m.Evaluate(t.Context(), data, vssgp.Exact, nil, gradient); !errors.Is(err, vssgp.ErrBound) {
				t.Errorf("window %v, gradient %v: error %v, want %v", o.Windows.Length, gradient, err, vssgp.ErrBound)
			}
		}
		testkit.OK(t, b.Close())
		ranks.Quit(all[0])
		testkit.OK(t, <-over)
	}
}

// TestJitter checks that the ranks use the same jitter as one process if A has no factor.
func TestJitter(t *testing.T) {
	data := chirp(3000)
	m := testkit.Must(vssgp.New(t.Context(), data, vssgp.Options{Components: 3, Windows: vssgp.WindowOptions{Length: 100}}))(t)
	p := m.Params
	for k := 1; k < p.M(); k++ { // all features of a component are equal: G is singular
		if k/p.K == (k-1)/p.K {
			p.Location[k], p.PhaseLower[k], p.PhaseUpper[k] = p.Location[k-1], p.PhaseLower[k-1], p.PhaseUpper[k-1]
		}
	}
	clear(p.FreqVar)
	p.NoisePrecision[0] = 1e17
	want := testkit.Must(m.Evaluate(t.Context(), data, vssgp.Exact, nil, true))(t)
	if want.Jitter == 0 {
		t.Fatal("no jitter; the test is not sensitive")
	}
	g := group(t, 3)
	defer g.Close()
	m.Backend = g
	got := testkit.Must(m.Evaluate(t.Context(), data, vssgp.Exact, nil, true))(t)
	modeltest.Near(t, "jitter", []float64{got.Jitter}, []float64{want.Jitter}, 1e-9)
}

// TestGroupAborts checks that Abort unblocks waiting ranks.
func TestGroupAborts(t *testing.T) {
	const aborted = "ranks: the job was aborted"
	all := ranks.Group(3)
	over := make(chan any)
	for _, c := range all[1:] {
		go func() {
			defer func() { over <- recover() }()
			c.Broadcast(make([]float64, 4), 0)
		}()
	}
	all[0].Abort(1)
	for range 2 {
		if err, ok := receive(t, over).(error); !ok || err.Error() != aborted {
			t.Errorf("ended by %v, want %v", err, aborted)
		}
	}
}

// receive returns the next value from a rank.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		t.Fatal("a rank hangs")
	}
	return v
}
