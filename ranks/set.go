package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A set is one rank's view of open rows. All ranks call its methods in the same order; arguments
// that only rank 0 has are nil on the others.
type set struct {
	*node
	n, q, d int
	windows backend.Windows
	square  []float64 // [D] Σ y²
	extents []extent  // extents of all shards
	shards  []*shard  // shards of this rank
	domains []*domain // of this rank: with windows one per shard, without windows one for all

	// Only on rank 0:
	order    []int // row at each position; nil if rows are in order
	position []int // position of each row, or nil

	sums []int64 // C and G of all shards, reused by later passes; without windows
}

// A shard is some of the rows, all on one rank.
type shard struct {
	extent
	*domain
	y    []float64
	rows backend.Rows // nil if the shard has none
}

// A domain is the windows [from, to) of a shard's rows, with the arrays that its rank reuses
// between passes.
type domain struct {
	from, to int
	windows  backend.Windows
	counts   []float64 // number of features per window
	features *backend.Features
	weights  *backend.Weights
	moments  *backend.Moments // without windows, on rank 0 the caller's; after solve G is Z

	// Only with windows (see solve):
	left, right int // number of windows, 0 or 1, shared with the shard on either side
	segment     *blocktri.Segment
	separators  *backend.Gram // of these windows, as blocks of moments.Gram and the segment
	mean        []float64
}

// newSet returns a set of the sizes in a header.
func newSet(n *node, h header) *set {
	s := &set{node: n, n: int(h[2]), q: int(h[3]), d: int(h[4]), extents: make([]extent, int(h[6]))}
	s.square = make([]float64, s.d)
	if centers := int(h[5]); centers > 0 {
		s.windows.Center = make([]float64, centers)
	}
	return s
}

// dense reports whether there is at most one window. Then all shards use the same features, and
// every rank has all of them.
func (s *set) dense() bool { return s.windows.Count() == 1 }

// divide assigns the rows to shards. order is nil if they are in order.
func divide(data *backend.Data, each int) (all []extent, order []int) {
	if data.Windows.Count() == 1 {
		return divideRows(data.N, countShards(data.N, each)), nil
	}
	l := data.Windows.NewLayout(data.X, data.N, data.Q)
	return divideCells(&data.Windows, l, data.N, countShards(data.N, max(each, windowShardRows))), l.Order
}

// onRank0 sets the fields of a new set that exist only on rank 0.
func (s *set) onRank0(data *backend.Data, extents []extent, order []int) {
	s.windows, s.extents, s.order = data.Windows, extents, order
	for i, y := range data.Y {
		s.square[i%s.d] += y * y
	}
	if order != nil {
		s.position = make([]int, data.N)
		for p, row := range order {
			s.position[row] = p
		}
	}
}

// positions returns the positions of the given rows, or nil for nil.
func (s *set) positions(rows []int) []int {
	if rows == nil || s.position == nil {
		return rows
	}
	positions := make([]int, len(rows))
	for i, row := range rows {
		positions[i] = s.position[row]
	}
	return positions
}

// open sends each rank its shards' rows, and opens them.
func (s *set) open(inner backend.Backend, data *backend.Data) error {
	s.sharePlan()
	if s.dense() {
		s.domains = []*domain{{to: 1, counts: make([]float64, 1), windows: s.windows}}
	}
	lo, hi := shardsOf(len(s.extents), s.Rank(), s.Size())
	if s.Rank() == 0 {
		for i, e := range s.extents[hi:] {
			d := s.rowsOf(data, e)
			s.send(s.owner(hi+i), d.X)
			s.send(s.owner(hi+i), d.Y)
		}
	}
	var failed error
	for _, e := range s.extents[lo:hi] {
		d := s.rowsOf(data, e)
		if s.Rank() != 0 {
			s.recv(0, d.X)
			s.recv(0, d.Y)
		}
		failed = cmp.Or(failed, s.add(inner, e, d))
	}
	err := s.agree(failed)
	if err != nil {
		s.close()
	}
	return err
}

// sharePlan sends all ranks the shards and the windows.
func (s *set) sharePlan() {
	plan := append(slices.Clone(s.square), s.windows.Center...)
	for _, e := range s.extents {
		plan = append(plan, floats([]int{e.lo, e.hi, e.first, e.end})...)
	}
	plan = append(plan, s.windows.Length, float64(s.windows.Dim))
	s.broadcast(plan)
	if s.Rank() == 0 {
		return
	}
	plan = plan[copy(s.square, plan):]
	plan = plan[copy(s.windows.Center, plan):]
	for i := range s.extents {
		e := integers[int](plan[4*i:][:4])
		s.extents[i] = extent{e[0], e[1], e[2], e[3]}
	}
	last := plan[4*len(s.extents):]
	s.windows.Length, s.windows.Dim = last[0], int(last[1])
}

// add opens one of this rank's shards.
func (s *set) add(inner backend.Backend, e extent, d backend.Data) (err error) {
	if !s.dense() {
		s.domains = append(s.domains, &domain{
			from: e.first, to: e.end, windows: d.Windows, counts: make([]float64, e.end-e.first),
			left: min(1, e.first), right: min(1, s.windows.Count()-e.end),
		})
	}
	one := &shard{extent: e, domain: s.domains[len(s.domains)-1], y: d.Y}
	s.shards = append(s.shards, one)
	if d.N > 0 {
		one.rows, err = inner.Open(d)
	}
	return err
}

// rowsOf returns a shard's rows, in the order of the layout; zeros on ranks without data.
func (s *set) rowsOf(data *backend.Data, e extent) backend.Data {
	d := backend.Data{N: e.hi - e.lo, Q: s.q, D: s.d, Windows: subWindows(&s.windows, e.first, e.end)}
	switch {
	case data == nil:
		d.X, d.Y = make([]float64, d.N*d.Q), make([]float64, d.N*d.D)
	case s.order == nil:
		d.X, d.Y = data.X[e.lo*s.q:e.hi*s.q], data.Y[e.lo*s.d:e.hi*s.d]
	default:
		some := data.Some(s.order[e.lo:e.hi])
		d.X, d.Y = some.X, some.Y
	}
	return d
}

// owner returns the rank of a shard.
func (s *set) owner(i int) int {
	for r := range s.Size() {
		if _, hi := shardsOf(len(s.extents), r, s.Size()); i < hi {
			return r
		}
	}
	panic(fmt.Sprintf("ranks: no rank has shard %d of %d", i, len(s.extents)))
}

// close closes this rank's rows and returns the first error.
func (s *set) close() (err error) {
	for _, one := range s.shards {
		if one.rows != nil {
			err = cmp.Or(err, one.rows.Close())
		}
	}
	s.shards = nil
	return err
}

// each calls f for this rank's shards on up to workers goroutines, and returns their results. The
// error is the error of the first failed shard.
func (s *set) each(workers int, f func(one *shard) ([]float64, error)) ([][]float64, error) {
	vectors := make([][]float64, len(s.shards))
	err := parallel.Try(len(s.shards), workers, func(i int) (err error) {
		one := s.shards[i]
		if vectors[i], err = f(one); err != nil {
			return fmt.Errorf("rows %d to %d: %w", one.lo, one.hi-1, err)
		}
		return nil
	})
	return vectors, err
}
