package cpu

import (
	"fmt"
	"runtime"

	"github.com/vssgp/vssgp/spectral"
)

// Backend computes on the processor's cores.
type Backend struct{}

// New returns the backend; it holds nothing.
func New() *Backend { return &Backend{} }

// Name is "cpu".
func (*Backend) Name() string { return "cpu" }

// Close does nothing.
func (*Backend) Close() error { return nil }

// Open sorts a copy of the rows into runs under the same windows.
func (*Backend) Open(d spectral.Data) (spectral.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("cpu: open: %w", err)
	}
	l := d.Windows.NewLayout(d.X, d.N, d.Q)
	r := &rows{data: d, x: make([]float64, d.N*d.Q), y: make([]float64, d.N*d.D), order: l.Order, runs: l.Runs}
	r.gather(l.Order)
	r.place = make([]int, d.N)
	for p, n := range l.Order {
		r.place[n] = p
	}
	return r, nil
}

// rows are the data in the order of their layout.
type rows struct {
	data  spectral.Data
	x, y  []float64 // [N,Q], [N,D] in layout order
	order []int     // [N] the given row at each place
	place []int     // [N] the place of each given row
	runs  []spectral.Run
}

func (r *rows) gather(order []int) {
	q, d := r.data.Q, r.data.D
	for p, n := range order {
		copy(r.x[p*q:(p+1)*q], r.data.X[n*q:(n+1)*q])
		copy(r.y[p*d:(p+1)*d], r.data.Y[n*d:(n+1)*d])
	}
}

// Close forgets the rows.
func (r *rows) Close() error {
	*r = rows{}
	return nil
}

// workers is how many goroutines may compute at once.
func workers() int { return runtime.GOMAXPROCS(0) }
