package vssgp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// stopper is a backend that cancels in its n-th pass, as a signal would.
type stopper struct {
	backend.Backend
	left   int
	cancel context.CancelFunc
}

type stopperRows struct {
	backend.Rows
	b *stopper
}

func (b *stopper) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.Backend.Open(d)
	return &stopperRows{r, b}, err
}

func (b *stopper) pass() {
	if b.left--; b.left == 0 {
		b.cancel()
	}
}

func (r *stopperRows) Moments(dst *backend.Moments, f *backend.Features) error {
	r.b.pass()
	return r.Rows.Moments(dst, f)
}

func (r *stopperRows) Pullback(dst, f *backend.Features, m *backend.Moments) error {
	r.b.pass()
	return r.Rows.Pullback(dst, f, m)
}

func (r *stopperRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	r.b.pass()
	return r.Rows.Factorized(dst, f, w, rows)
}

// fitStopped runs a fit that is canceled in its n-th pass; n = 0 counts.
func fitStopped(data *Data, o Options, n int) (*Model, *Result, int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := &stopper{Backend: cpu.New(), left: n, cancel: cancel}
	o.Backend = b
	m, r, err := Fit(ctx, data, o)
	return m, r, -b.left, err
}

// resumable are fits of every form of schedule and optimizer.
func resumable() map[string]struct {
	data *Data
	o    Options
} {
	type c = struct {
		data *Data
		o    Options
	}
	two := wave(60, 0.2)
	two.D = 2
	two.Y = slices.Concat(two.Y, two.Y)
	two.XNames, two.YNames = []string{"t"}, []string{"a", "b"}
	from := mustStart(two, Options{Init: InitPaper, Features: 6, Seed: 9})
	return map[string]c{
		"spectrum":   {wave(120, 0.1), Options{Components: 3, Features: 4, Iterations: 12, Window: 5}},
		"windows":    {wave(300, 0.1), Options{Components: 2, Features: 2, Iterations: 40, Window: 4, Optimizer: OptimizerWindows}},
		"restarts":   {two, Options{Init: InitPaper, Features: 5, Iterations: 6, Restarts: 2, UniformPhases: true}},
		"from":       {two, Options{From: from, Iterations: 9, Restarts: 1}},
		"warm-up":    {wave(80, 0.2), Options{Init: InitPaper, Features: 110, Iterations: 5, Restarts: 1, Batch: 7}},
		"factorised": {wave(50, 0.2), Options{Init: InitPaper, Inference: Factorized, Features: 6, Iterations: 8}},
		"stochastic": {wave(90, 0.2), Options{Init: InitPaper, Inference: Stochastic, Features: 6, Iterations: 120, Restarts: 1, Batch: 8}},
		"contiguous": {wave(200, 0.2), Options{Components: 2, Features: 4, Inference: Stochastic, Iterations: 100, Batch: 16, Contiguous: true, Window: 4}},
		"converged":  {wave(30, 0.2), Options{Init: InitPaper, Features: 2, Iterations: 900}},
		"segments":   {wave(300, 0.1), Options{Init: InitPaper, Components: 1, Features: 6, Iterations: 8, Window: 3, Segments: 4, Restarts: 1}},
		"shared":     {wave(200, 0.1), Options{Components: 2, Features: 4, Iterations: 8, Window: 4, Shared: true, Tie: []string{"kernel.lengthscale"}}},
		"ssgp":       {wave(60, 0.2), Options{Method: SSGP, Init: InitPaper, Features: 6, Iterations: 10}},
		"rough":      {walk(60), Options{Iterations: 6}},
		"no steps":   {two, Options{Init: InitPaper, Features: 5, Iterations: NoIterations, Restarts: 2}},
	}
}

func mustStart(data *Data, o Options) *Model {
	m, err := New(context.Background(), data, o)
	if err != nil {
		panic(err)
	}
	return m
}

// TestResume: a fit that is interrupted, wherever that may be, and gone on with,
// again and again, ends at the same model and the same results to the bit.
func TestResume(t *testing.T) {
	for name, c := range resumable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, want, passes, err := fitStopped(c.data, c.o, 0)
			if err != nil {
				t.Fatal(err)
			}
			if name == "rough" && len(want.Starts) != 2 {
				t.Errorf("%d starts, want a second, rough one", len(want.Starts))
			}
			whole := encoded(t, m)
			stops := []int{passes / 3, passes - 1}
			if slow.Tests {
				stops = append(stops, 1, 2, 3, passes-2, passes/2, passes-3)
				for n := 4; n < passes; n += 1 + passes/30 {
					stops = append(stops, n)
				}
			}
			for _, n := range stops {
				o := c.o
				o.Checkpoint, o.Resume = filepath.Join(t.TempDir(), "part"), true
				m, r, cut, err := fitUntilDone(t, c.data, o, n)
				if err != nil {
					t.Fatalf("stopped every %d passes: %v", n, err)
				}
				if !bytes.Equal(encoded(t, m), whole) {
					t.Errorf("stopped %d times, every %d of %d passes: another model, bound %v, without a break %v", cut, n, passes, r.Bound, want.Bound)
				}
				r.Elapsed, r.Resumed, want.Elapsed, want.Resumed = 0, 0, 0, 0
				if a, b := fmt.Sprint(*r), fmt.Sprint(*want); a != b {
					t.Errorf("stopped every %d passes: results %s, without a break %s", n, a, b)
				}
				left, err := os.ReadDir(filepath.Dir(o.Checkpoint))
				if err != nil || len(left) > 1 || cut > 0 && len(left) == 1 && left[0].Name() != "part" {
					t.Errorf("left %v, %v", left, err)
				}
			}
		})
	}
}

// fitUntilDone runs a fit that is canceled in its n-th pass, then in its 2n-th,
// 3n-th and so on, each time going on from the checkpoint.
func fitUntilDone(t *testing.T, data *Data, o Options, n int) (m *Model, r *Result, cut int, err error) {
	t.Helper()
	for at := n; ; at += n {
		m, r, _, err = fitStopped(data, o, at)
		if err == nil || !errors.Is(err, context.Canceled) {
			return m, r, cut, err
		}
		cut++
		if m != nil && r.Unsaved != nil {
			return m, r, cut, r.Unsaved
		}
	}
}

// TestCheckpointsOnTheWay: the checkpoints that a fit writes by time, with a
// process that then dies, are gone on from to the same bits.
func TestCheckpointsOnTheWay(t *testing.T) {
	for name, c := range resumable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "part")
			seen := map[[sha256.Size]byte][]byte{}
			o := c.o
			o.Checkpoint, o.CheckpointEvery = path, 1
			o.Progress = func(Progress) {
				if b, err := os.ReadFile(path); err == nil {
					seen[sha256.Sum256(b)] = b
				}
			}
			m, _, _, err := fitStopped(c.data, o, 0)
			if err != nil {
				t.Fatal(err)
			}
			whole := encoded(t, m)
			if name != "no steps" && len(seen) == 0 {
				t.Error("no checkpoint was written")
			}
			o.Progress, o.Resume, o.CheckpointEvery = nil, true, 0
			tried := 0
			for _, b := range seen {
				if err := os.WriteFile(path, b, 0o666); err != nil {
					t.Fatal(err)
				}
				m, r, _, err := fitStopped(c.data, o, 0)
				if err != nil {
					t.Fatal(err)
				}
				if r.Resumed < 0 {
					t.Error("a checkpoint that was there was not gone on from")
				}
				if !bytes.Equal(encoded(t, m), whole) {
					t.Errorf("after %d iterations: another model", r.Resumed)
				}
				if tried++; tried == 12 {
					break
				}
			}
		})
	}
}
