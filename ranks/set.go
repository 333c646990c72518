package ranks

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// A set is open rows as one rank knows them. All ranks call its methods alike;
// arguments that only rank 0 has are nil on the others.
type set struct {
	*node
	n, q, d int
	square  []float64 // [D] Σ y²
	windows int       // V; 1 without windows
	count   int       // shards on all ranks
	shards  []*shard  // this rank's
	domains []*domain // this rank's: with windows one for each shard, without windows one for all

	// Only on rank 0:
	extents []extent // of all shards
	order   []int    // the row at each place; nil if rows are in order
	place   []int    // the place of each row, likewise

	sums []int64 // C and G of all shards, kept from one pass to the next; without windows
}

// A shard is some of the rows, all on one rank.
type shard struct {
	extent
	*domain
	y    []float64
	rows spectral.Rows // nil if the shard has none
}

// A domain is the windows [from, to) that a shard's rows meet, with what its rank
// holds of them from one pass to the next.
type domain struct {
	from, to int
	windows  spectral.Windows
	counts   []float64 // of features in each window
	features *spectral.Features
	weights  *spectral.Weights
	moments  *spectral.Moments // without windows, on rank 0 the caller's own; after solve G is Z

	// Only with windows (see solve):
	left, right int // how many windows, 0 or 1, it has in common with the shards on either side
	segment     *blocktri.Segment
	separators  *spectral.Gram // of those windows, as blocks of moments.Gram and the segment
	mean        []float64
}

// newSet is rows that a header describes.
func newSet(n *node, h header) *set {
	s := &set{node: n, n: int(h[2]), q: int(h[3]), d: int(h[4]), windows: int(h[5]), count: int(h[6])}
	s.square = make([]float64, s.d)
	if s.dense() {
		s.domains = []*domain{{to: 1, counts: make([]float64, 1)}}
	}
	return s
}

// dense is whether there is one window at most: then all shards meet the same
// features, and every rank has all of them.
func (s *set) dense() bool { return s.windows == 1 }

// divide decides which rows belong to which shard. order is nil if they are in order.
func divide(data *spectral.Data, each int) (all []extent, order []int) {
	if data.Windows.Count() == 1 {
		return divideRows(data.N, countShards(data.N, each)), nil
	}
	l := data.Windows.NewLayout(data.X, data.N, data.Q)
	return divideCells(&data.Windows, l, data.N, countShards(data.N, max(each, windowShardRows))), l.Order
}

// onRank0 fills in the part of a new set that only rank 0 knows.
func (s *set) onRank0(data *spectral.Data, extents []extent, order []int) {
	s.extents, s.order = extents, order
	for i, y := range data.Y {
		s.square[i%s.d] += y * y
	}
	if order != nil {
		s.place = make([]int, data.N)
		for p, row := range order {
			s.place[row] = p
		}
	}
}

// places are where the given rows are, nil for all.
func (s *set) places(rows []int) []int {
	if rows == nil || s.place == nil {
		return rows
	}
	places := make([]int, len(rows))
	for i, row := range rows {
		places[i] = s.place[row]
	}
	return places
}

// open gives each rank its shards' rows, and opens them.
func (s *set) open(inner spectral.Backend, data *spectral.Data) error {
	s.broadcast(s.square)
	if s.Rank() == 0 {
		for i, e := range s.extents {
			if to := s.owner(i); to != 0 {
				s.sendShard(to, e, s.rowsOf(data, e))
			}
		}
	}
	lo, hi := shardsOf(s.count, s.Rank(), s.Size())
	var failed error
	for i := lo; i < hi; i++ {
		var err error
		if s.Rank() == 0 {
			err = s.add(inner, s.extents[i], s.rowsOf(data, s.extents[i]))
		} else {
			e, d := s.recvShard()
			err = s.add(inner, e, d)
		}
		if failed == nil {
			failed = err
		}
	}
	err := s.agree(failed)
	if err != nil {
		s.close()
	}
	return err
}

// add opens one of this rank's shards.
func (s *set) add(inner spectral.Backend, e extent, d spectral.Data) (err error) {
	if s.dense() {
		s.domains[0].windows = d.Windows
	} else {
		s.domains = append(s.domains, &domain{
			from: e.first, to: e.end, windows: d.Windows, counts: make([]float64, e.end-e.first),
			left: min(1, e.first), right: min(1, s.windows-e.end),
		})
	}
	one := &shard{extent: e, domain: s.domains[len(s.domains)-1], y: d.Y}
	s.shards = append(s.shards, one)
	if d.N > 0 {
		one.rows, err = inner.Open(d)
	}
	return err
}

// rowsOf is a shard's rows, in the order of the layout.
func (s *set) rowsOf(data *spectral.Data, e extent) spectral.Data {
	d := spectral.Data{N: e.hi - e.lo, Q: s.q, D: s.d, Windows: subWindows(&data.Windows, e.first, e.end)}
	if s.order == nil {
		d.X, d.Y = data.X[e.lo*s.q:e.hi*s.q], data.Y[e.lo*s.d:e.hi*s.d]
		return d
	}
	for _, row := range s.order[e.lo:e.hi] {
		d.X = append(d.X, data.X[row*s.q:(row+1)*s.q]...)
		d.Y = append(d.Y, data.Y[row*s.d:(row+1)*s.d]...)
	}
	return d
}

func (s *set) sendShard(to int, e extent, d spectral.Data) {
	w := d.Windows
	s.send(to, append(floats([]int{e.lo, e.hi, e.first, e.end, len(w.Center), w.Dim}), w.Length))
	s.send(to, w.Center)
	s.send(to, d.X)
	s.send(to, d.Y)
}

func (s *set) recvShard() (extent, spectral.Data) {
	sizes := make([]float64, 7)
	s.recv(0, sizes)
	n := ints(sizes[:6])
	e := extent{n[0], n[1], n[2], n[3]}
	d := spectral.Data{N: e.hi - e.lo, Q: s.q, D: s.d, Windows: spectral.Windows{Dim: n[5], Length: sizes[6]}}
	if n[4] > 0 {
		d.Windows.Center = make([]float64, n[4])
	}
	d.X, d.Y = make([]float64, d.N*d.Q), make([]float64, d.N*d.D)
	s.recv(0, d.Windows.Center)
	s.recv(0, d.X)
	s.recv(0, d.Y)
	return e, d
}

// owner is the rank that has a shard.
func (s *set) owner(i int) int {
	for r := range s.Size() {
		if lo, hi := shardsOf(s.count, r, s.Size()); i >= lo && i < hi {
			return r
		}
	}
	panic(fmt.Sprintf("ranks: no rank has shard %d of %d", i, s.count))
}

// close closes this rank's rows.
func (s *set) close() error {
	var err error
	for _, one := range s.shards {
		if one.rows == nil {
			continue
		}
		if e := one.rows.Close(); err == nil {
			err = e
		}
	}
	s.shards = nil
	return err
}

// each calls f for this rank's shards, one after the other, until one fails.
func (s *set) each(f func(i int, one *shard) error) error {
	for i, one := range s.shards {
		if err := f(i, one); err != nil {
			return fmt.Errorf("rows %d to %d: %w", one.lo, one.hi-1, err)
		}
	}
	return nil
}
