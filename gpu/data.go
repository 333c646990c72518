package gpu

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// Rows are data in the order of their layout, shared out over the cards in
// stretches of consecutive places.
type rows struct {
	data   spectral.Data
	order  []int // [N] the given row at each place
	place  []int // [N] the place of each given row
	shares []*share
}

// Open checks the data, sorts a copy of the rows into runs under the same
// windows and shares them out. They go to the cards with the first pass.
func (b *Backend) Open(d spectral.Data) (spectral.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("gpu: open: %w", err)
	}
	if d.Q > kernels.MaxInputs {
		return nil, fmt.Errorf("gpu: open: %d inputs, the kernels hold %d at most, package cpu any number: %w", d.Q, kernels.MaxInputs, spectral.ErrShape)
	}
	if len(b.cards) == 0 {
		return nil, fmt.Errorf("gpu: open: %w", errClosed)
	}
	l := d.Windows.NewLayout(d.X, d.N, d.Q)
	whole := newSource(&d, l)
	r := &rows{data: d, order: l.Order, place: make([]int, d.N)}
	for p, n := range l.Order {
		r.place[n] = p
	}
	each := parts(d.N, len(b.cards))
	for i, c := range b.cards {
		lo, hi := min(d.N, i*each), min(d.N, (i+1)*each)
		if lo == hi {
			break
		}
		q, err := c.newQueue()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("gpu: open: %w", err), r.Close())
		}
		r.shares = append(r.shares, &share{
			queue: q, mixed: b.precision == Mixed, source: whole.slice(lo, hi), first: lo,
		})
	}
	return r, nil
}

// errClosed is wrapped where a closed backend or closed rows are used.
var errClosed = errors.New("closed")

// open reports rows that are closed.
func (d *rows) open() error {
	if len(d.shares) == 0 {
		return fmt.Errorf("the rows: %w", errClosed)
	}
	return nil
}

// Close frees all that the rows hold on the cards.
func (d *rows) Close() error {
	var errs []error
	for _, s := range d.shares {
		errs = append(errs, s.close())
	}
	*d = rows{}
	return errors.Join(errs...)
}

// each calls f for every share, side by side, and returns the first share's
// error that there is.
func (d *rows) each(f func(s *share) error) error {
	if len(d.shares) == 1 {
		return f(d.shares[0])
	}
	errs := make([]error, len(d.shares))
	done := make(chan int)
	for i, s := range d.shares {
		go func() {
			errs[i] = f(s)
			done <- i
		}()
	}
	for range d.shares {
		<-done
	}
	return errors.Join(errs...)
}

// A source is rows on the host, in layout order, counted from its own first.
type source struct {
	n, q, d int
	x, y    []float64 // [n,q], [n,d]
	gate    []float64 // [n,2] gates of the run's first window and its second; nil without windows
	even    []int32   // [n] rows from this one on that lie delta apart; nil where none do
	delta   float64
	runs    []spectral.Run
}

func newSource(d *spectral.Data, l *spectral.Layout) *source {
	s := &source{n: d.N, q: d.Q, d: d.D, runs: l.Runs}
	s.x, s.y = make([]float64, 0, d.N*d.Q), make([]float64, 0, d.N*d.D)
	for _, n := range l.Order {
		s.x = append(s.x, d.X[n*d.Q:(n+1)*d.Q]...)
		s.y = append(s.y, d.Y[n*d.D:(n+1)*d.D]...)
	}
	if len(d.Windows.Center) > 1 {
		s.gate = make([]float64, 2*d.N)
		for _, r := range l.Runs {
			for n := r.Lo; n < r.Hi; n++ {
				for v := r.First; v < r.End; v++ {
					s.gate[2*n+v-r.First] = d.Windows.Gate(v, s.x[n*d.Q+d.Windows.Dim])
				}
			}
		}
	}
	if d.Q == 1 {
		s.delta = spectral.CommonStep(s.x, s.runs)
	}
	return s
}

// slice is rows [lo, hi), counted from lo. A step into the next share is none.
func (s *source) slice(lo, hi int) source {
	part := source{n: hi - lo, q: s.q, d: s.d, delta: s.delta, x: s.x[lo*s.q : hi*s.q], y: s.y[lo*s.d : hi*s.d]}
	if s.gate != nil {
		part.gate = s.gate[2*lo : 2*hi]
	}
	for _, r := range s.runs {
		r.Lo, r.Hi = max(r.Lo, lo)-lo, min(r.Hi, hi)-lo
		if r.Lo < r.Hi {
			part.runs = append(part.runs, r)
		}
	}
	if s.delta != 0 {
		part.even = spectral.EvenRows(part.x, part.runs, s.delta)
	}
	return part
}

// rowBytes is what a row takes on a card.
func (s *source) rowBytes() int64 {
	bytes := int64(8 * (s.q + s.d))
	if s.gate != nil {
		bytes += 16
	}
	if s.even != nil {
		bytes += 4
	}
	return bytes
}

// bytes are rows [lo, hi) as they go to the card: x, y, gate, even.
func (s *source) bytes(lo, hi int) (b [4][]byte) {
	b[0] = cuda.Bytes(s.x[lo*s.q : hi*s.q])
	b[1] = cuda.Bytes(s.y[lo*s.d : hi*s.d])
	if s.gate != nil {
		b[2] = cuda.Bytes(s.gate[2*lo : 2*hi])
	}
	if s.even != nil {
		b[3] = cuda.Bytes(s.even[lo:hi])
	}
	return b
}

// rowArrays are where rows stand, and pickArrays where those of a mini-batch do.
var (
	rowArrays  = [4]array{arrayX, arrayY, arrayGate, arrayEven}
	pickArrays = [4]array{arrayPickX, arrayPickY, arrayPickGate, arrayPickGate}
)

// wantRows adds room for n rows.
func (s *source) wantRows(w *wants, at [4]array, n int) {
	w[at[0]] = int64(8 * n * s.q)
	w[at[1]] = int64(8 * n * s.d)
	if s.gate != nil {
		w[at[2]] = int64(16 * n)
	}
	if s.even != nil {
		w[at[3]] = int64(4 * n)
	}
}
