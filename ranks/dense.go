package ranks

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// Without windows: every share has all features, and its sums are of all
// entries.

// sumMoments fills dst, on rank 0, with C and G. The ranks send the lower
// triangle and C, ½M(M+1) + M·D numbers each.
func (s *set) sumMoments(dst *spectral.Moments, f *spectral.Features) error {
	s.shareFeatures(f)
	f = s.features
	size := triangle(f.M) + f.M*s.d
	if cap(s.acc) < size {
		s.acc = make([]int64, size)
	}
	acc := s.acc[:size]
	clear(acc)
	mom := s.room(dst)
	u, ok := unitsOf(f, s.n, s.square), true
	err := s.each(func(_ int, one *share) error {
		if err := one.rows.Moments(mom, one.features); err != nil {
			return err
		}
		ok = u.addMoments(acc, mom) && ok
		return nil
	})
	if err := s.agree(err); err != nil {
		return err
	}
	lost := []float64{0}
	if !ok {
		lost[0] = 1
	}
	s.communicate(1, func() { s.Max(lost) })
	s.communicate(size, func() { s.Sum(acc) })
	if s.Rank() != 0 {
		return nil
	}
	u.moments(dst, acc)
	if lost[0] > 0 { // what is no number stays none
		fill(dst.C, math.NaN())
		fill(dst.Gram.Diag[0], math.NaN())
	}
	return nil
}

func fill(a []float64, v float64) {
	for i := range a {
		a[i] = v
	}
}

// room is moments for one share at a time: dst itself, where there is one.
func (s *set) room(dst *spectral.Moments) *spectral.Moments {
	if dst != nil {
		return dst
	}
	if s.moments == nil || s.moments.Check(s.features, s.d) != nil {
		s.moments = spectral.NewMoments(s.features, s.d)
	}
	return s.moments
}

// pullback fills dst, on rank 0, with the gradient by the features. Rank 0
// sends bar's lower triangle and C, the ranks their sums of M·(3Q + 4) numbers.
func (s *set) pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	s.shareFeatures(f)
	mom := s.room(bar)
	s.broadcastMoments(mom)
	part := spectral.NewFeatures(s.features.M, s.q)
	var parts [][]float64
	err := s.each(func(_ int, one *share) error {
		if err := one.rows.Pullback(part, one.features, mom); err != nil {
			return err
		}
		parts = append(parts, join(part))
		return nil
	})
	if err := s.agree(err); err != nil {
		return err
	}
	if sum := s.sumParts(parts, countNumbers(part), s.shares); sum != nil {
		split(dst, sum)
	}
	return nil
}

// broadcastMoments gives all ranks rank 0's.
func (s *set) broadcastMoments(mom *spectral.Moments) {
	s.broadcast(mom.C)
	m, g := mom.Gram.M(), mom.Gram.Diag[0]
	lower := make([]float64, triangle(m))
	if s.Rank() == 0 {
		eachRows(m, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(lower[triangle(i):], g[i*m:][:i+1])
			}
		})
	}
	s.broadcast(lower)
	if s.Rank() == 0 {
		return
	}
	eachRows(m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range lower[triangle(i):][:i+1] {
				g[i*m+j], g[j*m+i] = v, v
			}
		}
	})
}

// factorised fills dst, on rank 0, with the expected squared error and its
// gradient over the rows at the given places, nil for all.
func (s *set) factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, places []int, all bool) error {
	s.shareFeatures(f)
	if places = s.sharePlaces(places, all); s.windows > 1 {
		return s.factorisedWindows(dst, f, w, places, all)
	}
	if s.Rank() != 0 {
		w = spectral.NewWeights(s.features.M, s.d)
	}
	s.broadcast(w.Mean)
	s.broadcast(w.Var)
	sums := spectral.NewFactorisedSums(s.features, s.d)
	var parts [][]float64
	err := s.each(func(_ int, one *share) error {
		rows, any := one.rowsAt(places, all)
		if !any {
			return nil
		}
		if err := one.rows.Factorised(sums, one.features, w, rows); err != nil {
			return err
		}
		parts = append(parts, joinSums(sums))
		return nil
	})
	if err := s.agree(err); err != nil {
		return err
	}
	size := 1 + countNumbers(s.features) + 2*s.features.M*s.d
	if sum := s.sumParts(parts, size, s.shares); sum != nil {
		splitSums(dst, sum)
	}
	return nil
}

// sharePlaces gives all ranks the places of a mini-batch's rows.
func (s *set) sharePlaces(places []int, all bool) []int {
	if all {
		return nil
	}
	count := []float64{float64(len(places))}
	s.broadcast(count)
	numbers := make([]float64, int(count[0]))
	if s.Rank() == 0 {
		numbers = floats(places)
	}
	s.broadcast(numbers)
	return ints(numbers)
}

// rowsAt are those of the share's rows that are at the given places, nil for
// all, and whether there are any.
func (o *share) rowsAt(places []int, all bool) (rows []int, any bool) {
	if all {
		return nil, o.hi > o.lo
	}
	for _, p := range places {
		if p >= o.lo && p < o.hi {
			rows = append(rows, p-o.lo)
		}
	}
	return rows, len(rows) > 0
}

func joinSums(s *spectral.FactorisedSums) []float64 {
	all := append([]float64{s.Value}, join(s.Features)...)
	return append(append(all, s.Weights.Mean...), s.Weights.Var...)
}

func splitSums(s *spectral.FactorisedSums, all []float64) {
	s.Value = all[0]
	all = split(s.Features, all[1:])
	all = all[copy(s.Weights.Mean, all):]
	copy(s.Weights.Var, all)
}

// owner is the rank that has a share.
func (s *set) owner(i int) int {
	for r := range s.Size() {
		if lo, hi := sharesOf(s.shares, r, s.Size()); i >= lo && i < hi {
			return r
		}
	}
	panic(fmt.Sprintf("ranks: no rank has share %d of %d", i, s.shares))
}
