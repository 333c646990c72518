package gpu

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// rows is a data set on the GPU, in the order of its layout, with all arrays that evaluations
// reuse.
type rows struct {
	data     backend.Data
	layout   *backend.Prepared // X, Y, Gate and Even are only on the device
	*queue                     // nil: closed
	own      arraySizes        // of the data
	plans    [operations]*plan // last plan of each operation
	solved   *plan             // the plan whose solution and inverse are on the device, or nil
	current  current
	spectrum spectrum
}

// current are the arrays with the features of the last operation, nil if they have others: their
// parameters, their rotations, and their values at all rows.
type current struct{ features, rotations, store *cuda.Memory }

// Open checks the data, sorts the rows into runs covered by the same windows and uploads them. If
// they do not fit, the error is a BudgetError.
func (b *Backend) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.openRows(d)
	if err != nil {
		return nil, fmt.Errorf("gpu: open: %w", err)
	}
	return r, nil
}

func (b *Backend) openRows(d backend.Data) (*rows, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.Q > kernels.MaxInputs {
		return nil, fmt.Errorf("%d inputs exceed the maximum of %d on a GPU (the CPU has no limit): %w", d.Q, kernels.MaxInputs,
			backend.ErrShape)
	}
	if b.closed {
		return nil, fmt.Errorf("the backend: %w", errClosed)
	}
	q, err := b.newQueue()
	if err != nil {
		return nil, err
	}
	r := &rows{data: d, layout: d.Prepare(), queue: q, spectrum: spectrum{passCost: b.passCost}}
	if err := r.finish(r.uploadRows()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// uploadRows copies the rows to the device and drops the host copies.
func (r *rows) uploadRows() error {
	sorted := r.layout
	var gate []float64
	for n := range sorted.Gate[0] {
		gate = append(gate, sorted.Gate[0][n], sorted.Gate[1][n])
	}
	all := [...][]byte{
		arrayX: cuda.Bytes(sorted.X), arrayY: cuda.Bytes(sorted.Y), arrayGate: cuda.Bytes(gate), arrayEven: cuda.Bytes(sorted.Even),
	}
	for a, bytes := range all {
		r.own[a] = int64(len(bytes))
	}
	if err := r.allocate(func(free int64) (*arraySizes, error) {
		if needed := r.own.total(); needed > free {
			return nil, r.refused(needed, free, needed/int64(r.data.N))
		}
		return &r.own, nil
	}); err != nil {
		return err
	}
	for a, bytes := range all {
		r.send(array(a), bytes)
	}
	sorted.X, sorted.Y, sorted.Gate, sorted.Even = nil, nil, [2][]float64{}, nil
	return nil
}

// allocate computes the needed sizes from the free bytes and allocates the arrays. No other rows of
// the GPU allocate at the same time.
func (r *rows) allocate(need func(free int64) (*arraySizes, error)) error {
	c := r.card
	c.mu.Lock()
	defer c.mu.Unlock()
	allocated, _ := c.context.Allocated()
	free := c.context.Budget() - allocated + r.size.total()
	w, err := need(free)
	if err != nil {
		return err
	}
	err = r.allocations.fit(c.context, w, free)
	allocated, _ = c.context.Allocated()
	c.peak = max(c.peak, allocated)
	return err
}

// refused returns the error if the given bytes are needed, perRow of them for each row.
func (r *rows) refused(needed, free, perRow int64) error {
	n := int64(r.data.N)
	return &BudgetError{Needed: needed, Free: free, Rows: r.data.N, Fit: int(max(0, min(n-1, (free-(needed-n*perRow))/perRow)))}
}

// errClosed is wrapped if a closed backend or closed rows are used.
var errClosed = errors.New("closed")

// Close frees all device memory of the rows.
func (r *rows) Close() error {
	if r.queue == nil {
		return nil
	}
	err := r.queue.close()
	*r = rows{data: r.data}
	return err
}

// call runs a method of open rows, unless its arguments are invalid, and waits for the device, so
// that the caller may change the arguments afterwards.
func (r *rows) call(name string, invalid error, run func() error) (err error) {
	switch {
	case r.queue == nil:
		err = fmt.Errorf("the rows: %w", errClosed)
	case invalid != nil:
		err = invalid
	default:
		err = r.finish(run())
	}
	if err != nil {
		return fmt.Errorf("gpu: %s: %w", name, err)
	}
	return nil
}
