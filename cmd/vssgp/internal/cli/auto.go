package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/rowspectrum"
)

const (
	// cardFlops is the minimum number of operations of a computation for which auto uses a GPU. A core takes ten seconds or less for them.
	// Opening a GPU and compiling its kernels take up to three seconds, and a few tenths when the driver has cached them.
	cardFlops = 1e11

	// coreFlops is the number of operations per second of a core, for messages.
	coreFlops = 1e10

	// rowFlops is the number of operations of the factorized bound for a row and a feature.
	rowFlops = 40
)

// An auto is the backend of --device auto on a machine with a usable GPU. Each of its Rows is computed on the GPU if that takes enough
// operations, else on the CPU. The choice depends only on counts, so repeated runs choose the same device.
type auto struct {
	host     backend.Backend
	openCard func() (backend.Backend, error)
	cardName string // such as cuda:0
	repeats  int    // number of evaluations of a bound: 1, or about as many as in a fit
	note     func(format string, a ...any)

	mu   sync.Mutex
	card backend.Backend // nil until it is used; host if it cannot be opened
	last backend.Backend // the last choice, initially nil
}

// Name returns the name of the last chosen device.
func (b *auto) Name() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		return b.host.Name()
	}
	return b.last.Name()
}

// Open checks the data. The first computation opens them on a device.
func (b *auto) Open(d backend.Data) (backend.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return &autoRows{data: d, on: b}, nil
}

// Close closes the devices.
func (b *auto) Close() error {
	err := b.host.Close()
	if b.card != nil && b.card != b.host {
		err = errors.Join(err, b.card.Close())
	}
	return err
}

// choose returns the backend for a computation. It prints the first choice and each change.
func (b *auto) choose(flops float64) backend.Backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	seconds := flops / coreFlops
	chosen, why := b.host, fmt.Sprintf("about %.3g s on one core, which is not worth starting %s", seconds, b.cardName)
	if flops >= cardFlops {
		why = fmt.Sprintf("about %.3g s on one core of the CPU", seconds)
		if err := b.start(); err != nil {
			why = fmt.Sprintf("%s: %s", b.cardName, reason(err))
		}
		chosen = b.card
	}
	if chosen != b.last {
		b.last = chosen
		b.note("computing on %s: %s", strings.Replace(chosen.Name(), "cpu", "the CPU", 1), why)
	}
	return chosen
}

// start opens the GPU if it is not open.
func (b *auto) start() (err error) {
	if b.card != nil {
		return nil
	}
	if b.card, err = b.openCard(); err != nil {
		b.card = b.host
	}
	return err
}

// autoRows are opened by the first computation.
type autoRows struct {
	backend.Rows // nil until then
	data         backend.Data
	on           *auto
}

// open opens the rows for a computation that takes flops operations.
func (r *autoRows) open(flops float64) (err error) {
	if r.Rows == nil {
		r.Rows, err = r.on.choose(flops).Open(r.data)
	}
	return err
}

// exact opens the rows for the exact bound.
func (r *autoRows) exact(f *backend.Features) error {
	if err := r.data.CheckFeatures(f); err != nil {
		return err
	}
	return r.open(float64(r.on.repeats) * exactFlops(&r.data, f))
}

// exactFlops returns the operations of the exact bound with gradient: the algebra, and 3·n·m² for n rows with the same m features, or
// the operations of tables.
func exactFlops(d *backend.Data, f *backend.Features) float64 {
	offset := f.Offsets()
	algebra, windows := blocktri.Flops(offset), float64(len(offset)-1)
	if windows > 1 { // most rows are in two of them
		return algebra + 6*float64(d.N)/windows*blocktri.Size(offset)
	}
	if cheaper, flops, _ := rowspectrum.Expect(d.N, d.Q, f.M, d.D, 0, rowspectrum.CPU); cheaper {
		return algebra + flops
	}
	return algebra + 3*float64(d.N)*blocktri.Size(offset)
}

func (r *autoRows) Moments(dst *backend.Moments, f *backend.Features) error {
	if err := r.exact(f); err != nil {
		return err
	}
	return r.Rows.Moments(dst, f)
}

func (r *autoRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	if err := r.exact(f); err != nil {
		return err
	}
	return r.Rows.Pullback(dst, f, bar)
}

func (r *autoRows) CanSolve(f *backend.Features) bool { return r.exact(f) == nil && r.Rows.CanSolve(f) }

func (r *autoRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	n := r.data.N
	if rows != nil {
		n = len(rows)
	}
	if err := r.open(float64(r.on.repeats) * rowFlops * float64(n) * float64(f.M)); err != nil {
		return err
	}
	return r.Rows.Factorized(dst, f, w, rows)
}

func (r *autoRows) Predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior) error {
	m := float64(f.M) / float64(f.Windows.Count())
	if err := r.open(2 * float64(r.data.N) * m * m); err != nil {
		return err
	}
	return r.Rows.Predict(dst, f, p)
}

// Solve follows CanSolve, which opens the rows.
func (r *autoRows) Solve(dst *backend.Solution, f *backend.Features, lambda float64) error {
	if err := r.exact(f); err != nil {
		return err
	}
	return r.Rows.Solve(dst, f, lambda)
}

// Close closes the rows if they are open.
func (r *autoRows) Close() error {
	if r.Rows == nil {
		return nil
	}
	return r.Rows.Close()
}
