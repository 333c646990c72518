package cpu

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// Backend computes on the processor's cores.
type Backend struct {
	clock  *clock // nil: nothing is timed
	shared *spare // of all rows; nil: each has its own
}

// Shared has all rows of the backend work in the same room, which takes less
// memory: they are then not to be used at the same time.
func Shared() Option { return func(b *Backend) { b.shared = &spare{} } }

// New returns the backend; it holds nothing but the times that it takes.
func New(options ...Option) *Backend {
	b := &Backend{}
	for _, o := range options {
		o(b)
	}
	return b
}

// Variable is the environment variable that names the instruction set to use
// instead of the processor's best: go, avx2 or avx512.
const Variable = simd.Variable

// Instructions is the set in use, which decides the last bits of what is
// computed.
func Instructions() string {
	set, _ := simd.Chosen() // the error is Open's
	return set.String()
}

// Name is "cpu".
func (*Backend) Name() string { return "cpu" }

// Close does nothing.
func (*Backend) Close() error { return nil }

// Open sorts a copy of the rows into runs under the same windows. It fails
// where the environment asks for an instruction set that is not there.
func (b *Backend) Open(d spectral.Data) (spectral.Rows, error) {
	if _, err := simd.Chosen(); err != nil {
		return nil, fmt.Errorf("cpu: open: %w", err)
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("cpu: open: %w", err)
	}
	l := d.Windows.NewLayout(d.X, d.N, d.Q)
	r := &rows{data: d, order: l.Order, spare: b.shared}
	if r.spare == nil {
		r.spare = &spare{}
	}
	r.spare.clock = b.clock
	r.gather(l.Order, l.Runs)
	if d.Q == 1 {
		r.findSteps()
	}
	r.place = make([]int, d.N)
	for p, n := range l.Order {
		r.place[n] = p
	}
	return r, nil
}

// rows are the data in the order of their layout.
type rows struct {
	data   spectral.Data
	x, y   []float64    // [N,Q], [N,D] in layout order
	gate   [2][]float64 // [N] gates of the run's first and second window; empty where all are 1
	inv    [2][]float64 // [N] their inverse squares
	power  []float64    // [V] Σ_n g²
	even   []int32      // [N] rows from this one on that lie one step apart; nil where hardly any do
	delta  float64      // that step
	order  []int        // [N] the given row at each place
	place  []int        // [N] the place of each given row
	runs   []spectral.Run
	chunks []chunk

	picked *rows // mini-batches' room
	at     []int
	spare  *spare
}

// gather copies the given rows, which are those of the runs, one after the
// other.
func (r *rows) gather(given []int, runs []spectral.Run) {
	n, q, d := len(given), r.data.Q, r.data.D
	r.x, r.y = resize(r.x, n*q), resize(r.y, n*d)
	for p, i := range given {
		copy(r.x[p*q:(p+1)*q], r.data.X[i*q:(i+1)*q])
		copy(r.y[p*d:(p+1)*d], r.data.Y[i*d:(i+1)*d])
	}
	r.runs = runs
	r.chunks = cut(r.chunks[:0], runs, n)
	r.open(n)
}

// findSteps looks for evenly spaced rows. Mini-batches have none.
func (r *rows) findSteps() {
	delta := spectral.CommonStep(r.x, r.runs)
	if delta == 0 {
		return
	}
	even := spectral.EvenRows(r.x, r.runs, delta)
	if slices.Max(even) >= simd.EvenLeast {
		r.even, r.delta = even, delta
	}
}

// open computes the gates.
func (r *rows) open(n int) {
	w := &r.data.Windows
	r.power = resize(r.power, w.Count())
	clear(r.power)
	if w.Count() == 1 {
		r.power[0] = float64(n)
		return
	}
	for i := range r.gate {
		r.gate[i], r.inv[i] = resize(r.gate[i], n), resize(r.inv[i], n)
	}
	for _, run := range r.runs {
		for v := run.First; v < run.End; v++ {
			gate := r.gate[v-run.First][run.Lo:run.Hi]
			for i := range gate {
				gate[i] = w.Gate(v, r.x[(run.Lo+i)*r.data.Q+w.Dim])
				r.power[v] += gate[i] * gate[i]
			}
			simd.InverseSquares(r.inv[v-run.First][run.Lo:run.Hi], gate)
		}
	}
}

// resize is a with n numbers of any value, in a's room if that is enough.
func resize(a []float64, n int) []float64 {
	if cap(a) < n {
		return simd.Aligned(n)
	}
	return a[:n]
}

// stopped is the error of a pass that was stopped.
func (r *rows) stopped(pass string) error {
	if err := r.data.Stopped(); err != nil {
		return fmt.Errorf("cpu: %s: %w", pass, err)
	}
	return nil
}

// Close forgets the rows.
func (r *rows) Close() error {
	*r = rows{}
	return nil
}

// workers is how many goroutines may compute at once.
func workers() int { return runtime.GOMAXPROCS(0) }
