package optimize

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// batchSalt distinguishes this random stream from the others.
const batchSalt = 0xba7c

// A batch is a mini-batch of rows. With windows and contiguous rows it also specifies the windows
// that the rows overlap.
type batch struct {
	rows []int
	// weight is 1/π_v for each window v that the rows overlap, where π_v is the probability that
	// a batch overlaps it, and 0 for the other windows. The expected weighted KL is then the KL
	// of all windows. If weight is nil, all windows have weight 1.
	weight []float64
	met    []int // windows with nonzero weight, in increasing order
}

// batches draws mini-batches in which all rows are equally likely, so that the estimate is
// unbiased.
type batches struct {
	source     *rand.PCG
	rng        *rand.Rand // draws from source
	size       int
	contiguous bool
	order      []int // rows sorted along x (contiguous), or the current permutation
	out        batch

	// These are set for contiguous batches with windows.
	over   [][2]int32 // windows [first, end) of each position in order
	inside []float64  // π_v
}

func (r *Run) newBatches() *batches {
	source := rand.NewPCG(r.Seed, batchSalt)
	b := &batches{source: source, rng: rand.New(source), size: r.batchSize(r.data.N), contiguous: r.Contiguous,
		order: make([]int, r.data.N)}
	b.out.rows = make([]int, b.size)
	for i := range b.order {
		b.order[i] = i
	}
	if !b.contiguous {
		return b
	}
	w, along := &r.Params.Windows, r.Along
	if w.Count() > 1 {
		along = w.Dim
	}
	x := func(row int) float64 { return r.data.X[row*r.data.Q+along] }
	slices.SortStableFunc(b.order, func(i, j int) int { return cmp.Compare(x(i), x(j)) })
	if w.Count() > 1 {
		b.overWindows(w, x)
	}
	return b
}

// stream returns the state of the generator that draws the mini-batches.
func (b *batches) stream() []byte {
	state, _ := b.source.MarshalBinary() // never fails
	return state
}

// overWindows determines the windows that each row overlaps. Windows between two rows that
// neither overlaps belong to the first row, so every window is in some batch.
func (b *batches) overWindows(w *backend.Windows, x func(row int) float64) {
	n := len(b.order)
	b.over = make([][2]int32, n)
	for i, row := range b.order {
		first, end := w.Over(w.Cell(x(row)))
		b.over[i] = [2]int32{int32(first), int32(end)}
		if i > 0 {
			b.over[i-1][1] = max(b.over[i-1][1], int32(first))
		}
	}
	b.over[0][0], b.over[n-1][1] = 0, int32(w.Count())
	b.inside = make([]float64, w.Count())
	for _, o := range b.over {
		for v := o[0]; v < o[1]; v++ {
			b.inside[v]++ // rows that overlap it, which are consecutive
		}
	}
	for v, rows := range b.inside {
		b.inside[v] = min(1, (rows+float64(b.size-1))/float64(n))
	}
	b.out.weight = make([]float64, w.Count())
}

// next returns the next mini-batch: consecutive rows from a uniformly distributed row, or rows
// drawn without replacement. It is valid until the next call.
func (b *batches) next() *batch {
	n := len(b.order)
	if b.contiguous {
		return b.from(b.rng.IntN(n))
	}
	for i := range b.out.rows {
		j := i + b.rng.IntN(n-i)
		b.order[i], b.order[j] = b.order[j], b.order[i]
	}
	copy(b.out.rows, b.order)
	return &b.out
}

// from returns the contiguous mini-batch that begins at position at and continues at the first
// row after the last.
func (b *batches) from(at int) *batch {
	n, o := len(b.order), &b.out
	for i := range o.rows {
		o.rows[i] = b.order[(at+i)%n]
	}
	if b.over == nil {
		return o
	}
	for _, v := range o.met {
		o.weight[v] = 0
	}
	o.met = o.met[:0]
	for i := range o.rows {
		for v := b.over[(at+i)%n][0]; v < b.over[(at+i)%n][1]; v++ {
			if o.weight[v] == 0 {
				o.weight[v] = 1 / b.inside[v]
				o.met = append(o.met, int(v))
			}
		}
	}
	slices.Sort(o.met)
	return o
}

// components returns the range [lo, hi) of components that covers the batch's
// windows, or all components.
func (m *batch) components(p *variational.Params) (lo, hi int) {
	if m.weight == nil {
		return 0, p.L
	}
	at := func(v int) int { return sort.SearchInts(p.ComponentWindow, v) }
	lo, hi = at(m.met[0]), at(m.met[len(m.met)-1]+1)
	if lo == hi { // the windows have no components; some component must be passed
		lo = min(lo, p.L-1)
		hi = lo + 1
	}
	return lo, hi
}

// pullPrior adds the gradient of the log prior to g. A window's prior has the weight of its KL
// terms, so that each prior counts once in expectation.
func (m *batch) pullPrior(c *Coordinates, v, g []float64, shared []span, own [][]span) {
	if m.weight == nil {
		c.logPrior(c.spans, v, g, 1)
		return
	}
	c.logPrior(shared, v, g, 1)
	for _, w := range m.met {
		c.logPrior(own[w], v, g, m.weight[w])
	}
}

// spans returns the spans of the parameters that the batch updates.
func (m *batch) spans(all, shared []span, own [][]span) []span {
	if m.weight == nil {
		return all
	}
	spans := slices.Clone(shared)
	for _, v := range m.met {
		spans = append(spans, own[v]...)
	}
	return spans
}
