package ranks

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// A set is rows that are open, as one rank knows them. Its methods are called
// on all ranks alike; what only rank 0 has is nil on the others.
type set struct {
	*node
	n, q, d int
	square  []float64 // [D] Σ y²
	windows int       // V; 1 where there are none
	shares  int       // of all ranks
	lo      int       // the first of this rank's
	own     []*share

	// Rank 0 alone:
	cuts   []cut
	center []float64 // of all windows
	order  []int     // the row at each place
	place  []int     // the place of each row, nil where rows are in order

	// From one pass to the next:
	features *spectral.Features // this rank's part
	moments  *spectral.Moments  // of one share at a time, without windows
	acc      []int64
	small    *separators // rank 0, from solve to pullSolved
}

// A share is a part of the rows that one rank has.
type share struct {
	cut
	windows spectral.Windows
	y       []float64
	rows    spectral.Rows // nil where the share has none

	// Under windows, from solve to pullSolved:
	features *spectral.Features
	moments  *spectral.Moments // of its windows; G becomes the factor, then Z
	segment  *blocktri.Segment
	room     []float64
	mean     []float64 // of its windows' features
	cross    []float64 // between its separators
	hasRight bool      // a separator to its right
}

// open opens rows on all ranks. The others are told sizes by the header.
func (n *node) open(inner spectral.Backend, h header, data *spectral.Data) (*set, error) {
	s := &set{node: n, n: int(h[2]), q: int(h[3]), d: int(h[4]), windows: int(h[5]), shares: int(h[6]), square: make([]float64, int(h[4]))}
	if data != nil {
		s.cutUp(data, int(h[7]))
		s.shares = len(s.cuts)
	}
	sizes := []float64{float64(s.shares)}
	s.broadcast(sizes)
	s.shares = int(sizes[0])
	s.broadcast(s.square)
	err := s.distribute(data, func(c cut, d spectral.Data) error {
		one := &share{cut: c, windows: d.Windows, y: d.Y, hasRight: c.end < s.windows}
		s.own = append(s.own, one)
		if d.N == 0 {
			return nil
		}
		var err error
		one.rows, err = inner.Open(d)
		return err
	})
	if err := s.agree(err); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// cutUp decides on rank 0 which rows go where.
func (s *set) cutUp(data *spectral.Data, shares int) {
	for i, y := range data.Y {
		s.square[i%s.d] += y * y
	}
	if s.windows == 1 {
		s.cuts = cutRows(data.N, shares)
		return
	}
	l := data.Windows.NewLayout(data.X, data.N, data.Q)
	s.cuts, s.order, s.center = cutCells(&data.Windows, l, data.N, shares), l.Order, data.Windows.Center
	s.place = make([]int, data.N)
	for p, row := range l.Order {
		s.place[row] = p
	}
}

// distribute gives each rank its shares of the data, and calls open for each of
// this one's.
func (s *set) distribute(data *spectral.Data, open func(c cut, d spectral.Data) error) (err error) {
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	if s.Rank() == 0 {
		for to := 1; to < s.Size(); to++ {
			lo, hi := sharesOf(s.shares, to, s.Size())
			for i := lo; i < hi; i++ {
				s.sendShare(to, s.cuts[i], s.part(data, s.cuts[i]))
			}
		}
	}
	var hi int
	s.lo, hi = sharesOf(s.shares, s.Rank(), s.Size())
	for i := s.lo; i < hi; i++ {
		if s.Rank() == 0 {
			keep(open(s.cuts[i], s.part(data, s.cuts[i])))
		} else {
			keep(open(s.recvShare()))
		}
	}
	return err
}

// part is a cut's rows, in the order of the layout.
func (s *set) part(data *spectral.Data, c cut) spectral.Data {
	d := spectral.Data{N: c.hi - c.lo, Q: s.q, D: s.d, Windows: subWindows(&data.Windows, c.first, c.end)}
	if s.order == nil {
		d.X, d.Y = data.X[c.lo*s.q:c.hi*s.q], data.Y[c.lo*s.d:c.hi*s.d]
		return d
	}
	for _, row := range s.order[c.lo:c.hi] {
		d.X = append(d.X, data.X[row*s.q:(row+1)*s.q]...)
		d.Y = append(d.Y, data.Y[row*s.d:(row+1)*s.d]...)
	}
	return d
}

func (s *set) sendShare(to int, c cut, d spectral.Data) {
	s.send(to, []float64{float64(c.lo), float64(c.hi), float64(c.first), float64(c.end), float64(len(d.Windows.Center)), d.Windows.Length, float64(d.Windows.Dim)})
	s.send(to, d.Windows.Center)
	s.send(to, d.X)
	s.send(to, d.Y)
}

func (s *set) recvShare() (cut, spectral.Data) {
	sizes := make([]float64, 7)
	s.recv(0, sizes)
	c := cut{int(sizes[0]), int(sizes[1]), int(sizes[2]), int(sizes[3])}
	d := spectral.Data{N: c.hi - c.lo, Q: s.q, D: s.d, Windows: spectral.Windows{Length: sizes[5], Dim: int(sizes[6])}}
	if n := int(sizes[4]); n > 0 {
		d.Windows.Center = make([]float64, n)
	}
	d.X, d.Y = make([]float64, d.N*d.Q), make([]float64, d.N*d.D)
	s.recv(0, d.Windows.Center)
	s.recv(0, d.X)
	s.recv(0, d.Y)
	return c, d
}

// close gives this rank's rows back.
func (s *set) close() error {
	var err error
	for _, one := range s.own {
		if one.rows == nil {
			continue
		}
		if e := one.rows.Close(); err == nil {
			err = e
		}
	}
	s.own = nil
	return err
}

// each calls f for this rank's shares, one after the other, as long as none
// fails.
func (s *set) each(f func(i int, one *share) error) error {
	for i, one := range s.own {
		if err := f(i, one); err != nil {
			return fmt.Errorf("rows %d to %d: %w", one.lo, one.hi-1, err)
		}
	}
	return nil
}
