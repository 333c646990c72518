package ranks

import (
	"fmt"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// separators are the windows between shares, on rank 0: A's Schur complement
// once all others are eliminated.
type separators struct {
	at     []int // [S−1] their windows
	gram   *spectral.Gram
	factor *blocktri.Factor
}

// reduce collects what the shares leave, factors the separators' matrix on rank
// 0 and solves for their rows, [Σ M_v,D].
func (s *set) reduce(logDet *float64, parts [][]float64, offset []int, lambda float64) (b []float64, err error) {
	var small *separators
	if s.Rank() == 0 {
		small = s.separators(offset)
		b = make([]float64, small.gram.M()*s.d)
	}
	s.collect(parts, func(i int) int {
		size := 1
		for _, v := range s.separatorsOf(i) {
			m := offset[v+1] - offset[v]
			size += m*m + m*s.d
		}
		if at := s.separatorsOf(i); len(at) == 2 {
			size += (offset[at[0]+1] - offset[at[0]]) * (offset[at[1]+1] - offset[at[1]])
		}
		return size
	}, func(i int, part []float64) {
		*logDet += part[0]
		part = part[1:]
		for _, block := range small.of(s, i) {
			addTo(block, part[:len(block)])
			part = part[len(block):]
		}
		addTo(b[small.gram.Offset[max(i-1, 0)]*s.d:], part)
	})
	if s.Rank() != 0 {
		return nil, nil
	}
	s.small = small
	if len(small.at) == 0 {
		return b, nil
	}
	if small.factor, err = blocktri.Factorise(small.gram, lambda); err != nil {
		return nil, fmt.Errorf("%w: windows between shares: %w", errNotPositive, err)
	}
	*logDet += small.factor.LogDet()
	small.factor.Solve(b, s.d)
	return b, nil
}

// separatorsOf are the separators of share i, by their windows.
func (s *set) separatorsOf(i int) (at []int) {
	c := s.cuts[i]
	if i > 0 {
		at = append(at, c.first)
	}
	if i+1 < s.shares {
		at = append(at, c.end-1)
	}
	return at
}

// separators is a zero matrix of the windows between shares.
func (s *set) separators(offset []int) *separators {
	p := &separators{}
	sizes := []int{0}
	for i := 1; i < s.shares; i++ {
		v := s.cuts[i].first
		p.at = append(p.at, v)
		sizes = append(sizes, sizes[i-1]+offset[v+1]-offset[v])
	}
	p.gram = spectral.NewGram(sizes)
	return p
}

// each calls f for each separator with its window and its rows of b [Σ M_v,n].
func (p *separators) each(b []float64, n int, f func(v int, part []float64)) {
	for i, v := range p.at {
		f(v, b[p.gram.Offset[i]*n:p.gram.Offset[i+1]*n])
	}
}

// of is what belongs to share i: the diagonal blocks of its separators and the
// one between them.
func (p *separators) of(s *set, i int) [][]float64 {
	lo := max(i-1, 0)
	return blocksOf(p.gram, lo, lo+len(s.separatorsOf(i)))
}

// returnRows gives the shares the separators' rows of the solution, b on rank 0.
func (s *set) returnRows(b []float64) {
	s.scatter(func(i int) (from [][]float64) {
		lo, g := max(i-1, 0), s.small.gram
		for v := lo; v < lo+len(s.separatorsOf(i)); v++ {
			from = append(from, b[g.Offset[v]*s.d:g.Offset[v+1]*s.d])
		}
		return from
	}, func(one *share) (to [][]float64) {
		left, right := one.ends(s.d)
		if one.left() > 0 {
			to = append(to, left)
		}
		if one.hasRight {
			to = append(to, right)
		}
		return to
	})
}

// returnInverse gives the shares the separators' blocks of Z, where their own
// stood, and that between them.
func (s *set) returnInverse() {
	s.scatter(func(i int) [][]float64 { return s.small.of(s, i) }, func(one *share) (to [][]float64) {
		g := one.moments.Gram
		var at []int
		one.eachSeparator(func(v int) { at = append(at, v) })
		for i, v := range at {
			to = append(to, g.Diag[v])
			if i == 0 && len(at) == 2 {
				one.cross = resize(one.cross, g.Size(at[1])*g.Size(at[0]))
				to = append(to, one.cross)
			}
		}
		return to
	})
}

// scatter gives each share what rank 0 has for it: from says what, to where it
// goes, block by block.
func (s *set) scatter(from func(i int) [][]float64, to func(one *share) [][]float64) {
	if s.Rank() != 0 {
		for _, one := range s.own {
			for _, a := range to(one) {
				s.recv(0, a)
			}
		}
		return
	}
	for i := range s.cuts {
		if i < len(s.own) {
			blocks := from(i)
			for j, a := range to(s.own[i]) {
				copy(a, blocks[j])
			}
			continue
		}
		for _, a := range from(i) {
			s.send(s.owner(i), a)
		}
	}
}

func resize(a []float64, n int) []float64 {
	if cap(a) < n {
		return make([]float64, n)
	}
	return a[:n]
}
