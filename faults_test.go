package vssgp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// planter is a backend that puts values that are no numbers into what every
// n-th pass computes, from the given pass on.
type planter struct {
	backend.Backend
	what        string
	value       float64
	every, from int
	calls       int
}

type planterRows struct {
	backend.Rows
	b *planter
}

func (b *planter) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.Backend.Open(d)
	return &planterRows{r, b}, err
}

func (b *planter) plant(what string, a []float64) {
	if what != b.what {
		return
	}
	if b.calls++; b.calls > b.from && b.calls%b.every == 0 {
		a[0] = b.value
	}
}

func (r *planterRows) Moments(dst *backend.Moments, f *backend.Features) error {
	err := r.Rows.Moments(dst, f)
	r.b.plant("C", dst.C)
	r.b.plant("G", dst.Gram.Diag[0])
	return err
}

func (r *planterRows) Pullback(dst, f *backend.Features, m *backend.Moments) error {
	err := r.Rows.Pullback(dst, f, m)
	r.b.plant("gradient", dst.Fields()[0].Data)
	return err
}

func (r *planterRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	err := r.Rows.Factorized(dst, f, w, rows)
	r.b.plant("factorised gradient", dst.Features.Fields()[0].Data)
	return err
}

// TestPlanted: now and then a number that is none in a sum or a gradient does
// not end a fit, nor get into its model or its checkpoint.
func TestPlanted(t *testing.T) {
	data := wave(60, 0.2)
	for _, what := range []string{"C", "G", "gradient", "factorised gradient"} {
		for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			b := &planter{Backend: cpu.New(), what: what, value: value, every: 3, from: 4}
			o := Options{Init: InitPaper, Features: 6, Iterations: 40, Backend: b, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "part"), Every: 1, Resume: true}}
			if what == "factorised gradient" {
				o.Inference = Stochastic
				o.Iterations = 120
			}
			for range 2 { // the second from the last checkpoint of the first
				m, r, err := Fit(context.Background(), data, o)
				if err != nil && errors.Is(err, ErrBound) && b.calls%b.every == 0 {
					b.calls++ // the very last evaluation met it: said, and no model
					m, r, err = Fit(context.Background(), data, o)
				}
				if err != nil {
					t.Fatalf("%v in %s: %v", value, what, err)
				}
				if err := m.Params.Check(); err != nil || math.IsNaN(r.Bound) || math.IsInf(r.Bound, 0) {
					t.Errorf("%v in %s: bound %v, %v", value, what, r.Bound, err)
				}
			}
			if b.calls < 20 {
				t.Errorf("%s: %d passes", what, b.calls)
			}
		}
	}
}

// TestPlantedFromTheStart: where no evaluation has a value, that is said.
func TestPlantedFromTheStart(t *testing.T) {
	for _, what := range []string{"C", "G"} {
		b := &planter{Backend: cpu.New(), what: what, value: math.NaN(), every: 1}
		m, _, err := Fit(context.Background(), wave(40, 0.2), Options{Init: InitPaper, Features: 4, Iterations: 5, Backend: b})
		if !errors.Is(err, ErrBound) || m != nil {
			t.Errorf("%s: model %v, error %v; want ErrBound", what, m, err)
		}
	}
}

// breaker is a backend whose n-th pass fails, and with lost all after it.
type breaker struct {
	backend.Backend
	left int
	lost bool
}

type breakerRows struct {
	backend.Rows
	b *breaker
}

var errBroken = errors.New("the card has no memory left")

func (b *breaker) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.Backend.Open(d)
	return &breakerRows{r, b}, err
}

func (b *breaker) pass() error {
	if b.left--; b.left == 0 || b.left < 0 && b.lost {
		return errBroken
	}
	return nil
}

func (r *breakerRows) Moments(dst *backend.Moments, f *backend.Features) error {
	return cmp.Or(r.b.pass(), r.Rows.Moments(dst, f))
}

func (r *breakerRows) Pullback(dst, f *backend.Features, m *backend.Moments) error {
	return cmp.Or(r.b.pass(), r.Rows.Pullback(dst, f, m))
}

func (r *breakerRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	return cmp.Or(r.b.pass(), r.Rows.Factorized(dst, f, w, rows))
}

// TestBrokenDevice: a pass that a device refuses is no step too long: the fit
// ends and says so, and its checkpoint is gone on from to the same bits.
func TestBrokenDevice(t *testing.T) {
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"exact":      {wave(60, 0.2), Options{Init: InitPaper, Features: 6, Iterations: 20}},
		"windows":    {wave(300, 0.1), Options{Components: 2, Features: 2, Iterations: 20, Windows: WindowOptions{Length: 4}, Optimizer: OptimizerWindows}},
		"stochastic": {wave(60, 0.2), Options{Init: InitPaper, Features: 6, Iterations: 60, Inference: Stochastic}},
	} {
		m, _ := mustFit(t, c.data, c.o)
		want := encoded(t, m)
		for _, at := range slow.Pick([]int{1, -1, 2, -2, 21, -21}, []int{1, -2, 21}) {
			lost := at < 0
			o := c.o
			o.Checkpoint.Path, o.Checkpoint.Every, o.Checkpoint.Resume = filepath.Join(t.TempDir(), "part"), 1, true
			o.Backend = &breaker{Backend: cpu.New(), left: max(at, -at), lost: lost}
			if m, _, err := Fit(context.Background(), c.data, o); !errors.Is(err, errBroken) || lost && m != nil {
				t.Errorf("%s, pass %d: model %v, error %v; want the device's", name, at, m, err)
			}
			o.Backend = cpu.New()
			m, r := mustFit(t, c.data, o)
			if !bytes.Equal(encoded(t, m), want) || r.Resumed < 1 && at*at > 4 {
				t.Errorf("%s, pass %d: resumed at %d to another model, or not at all", name, at, r.Resumed)
			}
		}
	}
}
