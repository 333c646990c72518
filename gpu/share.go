package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// An operation is a method of Rows; each has its tables on the card. A
// mini-batch is one of its own: its tables change from call to call.
type operation int

const (
	opMoments operation = iota
	opPullback
	opSolve
	opPullbackSolved
	opFactorised
	opPick
	opPredict
	operations
)

// A share is the rows that one card has, and all that it holds for them there
// from one evaluation to the next.
type share struct {
	source
	first int // place of the first row in the whole layout
	mixed bool
	queue *queue
	holdings
	resident bool              // all rows are on the card
	plans    [operations]*plan // the last of each
	tabled   [operations]*plan // whose tables are on the card
	solved   *plan             // whose solution and inverse are on the card; nil: none
	host     struct {          // what goes up and comes down
		bank, gram, sums, coef, value, out, quad, stats []float64
	}
}

// A plan is how an operation goes over a share's rows.
type plan struct {
	m      int   // features
	offset []int // of their windows
	d      int   // outputs
	cov    bool  // predict: with a shared covariance

	src     *source
	at      [4]array // where its rows stand
	gather  bool     // they are picked on the card from rows that are there
	index   []int64  // which they are
	fit     fit
	room    int64 // in which it was made
	cramped bool  // more room would have made another
	wants   wants
	passes  []*pass
	table   []int64
	begin   []int // of each section of the table

	residuals map[span]span // factorised: the jobs of each chunk's residuals
	predict   *predictPlan
	chain     *chain // solve
}

// shapes says whether the plan was made for these.
func (p *plan) shapes(m int, offset []int, d int, cov bool) bool {
	return p != nil && p.m == m && p.d == d && p.cov == cov && slices.Equal(p.offset, offset)
}

// add appends sections to the table.
func (p *plan) add(sections ...[]int64) {
	for _, t := range sections {
		p.begin = append(p.begin, len(p.table))
		p.table = append(p.table, t...)
	}
}

// prepare finds or makes the operation's plan, has room made for it and brings
// tables, rows and features to the card. The arguments are ready but for the
// tables' and, where rows are streamed, the rows' addresses.
func (s *share) prepare(op operation, f *spectral.Features, old func(*plan) bool, make func(room int64) (*plan, error)) (*plan, arguments, error) {
	s.solved = nil
	p, err := s.reserve(op, old, make)
	if err != nil {
		return nil, arguments{}, err
	}
	if s.tabled[op] != p {
		if err := s.send(arrayTable+array(op), cuda.Bytes(p.table)); err != nil {
			return nil, arguments{}, err
		}
		s.tabled[op] = p
	}
	a := arguments{delta: s.delta, q: s.q, d: p.d}
	if err := s.bringRows(p); err != nil {
		return nil, a, fmt.Errorf("rows: %w", err)
	}
	s.point(&a, p, 0)
	if err := s.uploadBank(&a, f); err != nil {
		return nil, a, fmt.Errorf("features: %w", err)
	}
	return p, a, nil
}

// reserve plans and allocates, while no other rows of the card do.
func (s *share) reserve(op operation, old func(*plan) bool, make func(room int64) (*plan, error)) (*plan, error) {
	c := s.queue.card
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.room(s.size.total())
	p := s.plans[op]
	if p == nil || !old(p) || p.wants.total() > room || p.cramped && room > p.room {
		var err error
		if p, err = make(room); err != nil {
			return nil, err
		}
		p.wants[arrayTable+array(op)] = int64(8 * len(p.table))
		p.room = room
		s.plans[op] = p
	}
	lost, err := s.holdings.fit(c.context, &p.wants, room)
	c.note()
	for _, a := range rowArrays {
		s.resident = s.resident && !lost[a]
	}
	for i := range s.tabled {
		if lost[arrayTable+array(i)] {
			s.tabled[i] = nil
		}
	}
	return p, err
}

// bringRows sees to it that the rows are on the card, if all are to be.
func (s *share) bringRows(p *plan) error {
	own := p.src == &s.source
	if (own || p.gather) && p.fit.resident && !s.resident {
		if err := s.sendRows(&s.source, rowArrays, 0, s.n); err != nil {
			return err
		}
		s.resident = true
	}
	switch {
	case !p.fit.resident:
		s.resident = s.resident && !own
	case p.gather:
		return s.gatherRows(p)
	case !own:
		return s.sendRows(p.src, pickArrays, 0, p.src.n)
	}
	return nil
}

// sendRows brings rows [lo, hi) to the beginning of the arrays.
func (s *share) sendRows(src *source, at [4]array, lo, hi int) error {
	for i, b := range src.bytes(lo, hi) {
		if err := s.send(at[i], b); err != nil {
			return err
		}
	}
	return nil
}

// point has the arguments point to rows of which the first on the card is lo.
func (s *share) point(a *arguments, p *plan, lo int) {
	src := p.src
	a.x = s.address(p.at[0]) - uint64(8*lo*src.q)
	a.y, a.gate, a.even = 0, 0, 0
	if src.d > 0 {
		a.y = s.address(p.at[1]) - uint64(8*lo*src.d)
	}
	if src.gate != nil {
		a.gate = s.address(p.at[2]) - uint64(16*lo)
	}
	if src.even != nil {
		a.even = s.address(p.at[3]) - uint64(4*lo)
	}
}

// gatherRows picks the mini-batch's rows on the card.
func (s *share) gatherRows(p *plan) error {
	n := p.src.n
	words := []uint64{
		s.address(arrayIndex), uint64(n), uint64(s.q), uint64(s.d),
		s.address(arrayX), s.address(arrayY), s.address(arrayGate),
		s.address(arrayPickX), s.address(arrayPickY), s.address(arrayPickGate),
	}
	if s.gate == nil {
		words[6], words[9] = 0, 0
	}
	if err := s.send(arrayIndex, cuda.Bytes(p.index)); err != nil {
		return err
	}
	return s.queue.launch(kernelOf(kernels.RowsGather{}, 0), parts(n, 128), words)
}

// section is the address of row i, width numbers wide, of a section of the
// operation's table.
func (s *share) section(op operation, p *plan, section, width, i int) uint64 {
	return s.address(arrayTable+array(op)) + uint64(8*(p.begin[section]+width*i))
}

// sweep goes over the rows by a pass: launch for each chunk, with the arguments'
// rows in place, then reduce for the even runs of a batch and for the odd ones.
func (s *share) sweep(p *plan, i int, a arguments, launch func(c chunk, a arguments) error, reduce func(jobs span) error) error {
	for _, b := range p.passes[i].batches {
		for _, c := range b.chunks {
			if !p.fit.resident {
				if err := s.sendRows(p.src, p.at, c.rows.lo, c.rows.hi); err != nil {
					return err
				}
				s.point(&a, p, c.rows.lo)
			}
			if err := launch(c, a); err != nil {
				return err
			}
		}
		for _, jobs := range b.reduce {
			if jobs.len() == 0 {
				continue
			}
			if err := reduce(jobs); err != nil {
				return err
			}
		}
	}
	return nil
}

// send brings bytes to the beginning of an array; none are none.
func (s *share) send(a array, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return s.mem[a].Upload(s.queue.stream, 0, b)
}

func (s *share) upload(a array, v []float64) error { return s.send(a, cuda.Bytes(v)) }

// zero clears the first n numbers of an array.
func (s *share) zero(a array, n int) error {
	if n == 0 {
		return nil
	}
	return s.mem[a].Zero(s.queue.stream, 0, int64(8*n))
}

// download fetches the first n numbers of an array into room that is kept.
func (s *share) download(room *[]float64, a array, n int) error {
	*room = slices.Grow((*room)[:0], n)[:n]
	if n == 0 {
		return nil
	}
	return s.mem[a].Download(s.queue.stream, cuda.Bytes(*room), 0)
}

// finish ends an operation: nothing that it has begun goes on after it, so that
// what the caller has given may change.
func (s *share) finish(err error) error {
	if other := s.queue.finish(); err == nil {
		return other
	}
	return err
}

func (s *share) close() error {
	return errors.Join(s.queue.stream.Synchronize(), s.releaseAll(), s.queue.close())
}
