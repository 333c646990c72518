package ranks

import (
	"github.com/vssgp/vssgp/spectral"
)

// Under windows: a share has the features of its own windows, and its sums
// reach rank 0 as they are. A window between two shares gets two contributions,
// which add to the same in any order.

// collect sends this rank's parts, one for each of its shares, to rank 0 and
// calls take there for each share of all, in order; size is how long a share's
// part is.
func (s *set) collect(parts [][]float64, size func(i int) int, take func(i int, part []float64)) {
	if s.Rank() != 0 {
		for _, p := range parts {
			s.send(0, p)
		}
		return
	}
	for i := range s.shares {
		if i < len(parts) {
			take(i, parts[i])
			continue
		}
		part := make([]float64, size(i))
		s.recv(s.owner(i), part)
		take(i, part)
	}
}

// factorisedWindows is factorised once the features are where they belong.
func (s *set) factorisedWindows(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, places []int, all bool) error {
	var offset []int
	if f != nil {
		offset = f.Offsets()
	}
	mean, variance := s.shareWeights(w, offset, s.d)
	parts := make([][]float64, len(s.own))
	err := s.each(func(i int, one *share) error {
		m := one.features.M
		sums := spectral.NewFactorisedSums(one.features, s.d)
		rows, any := one.rowsAt(places, all)
		switch {
		case any && m == 0: // no feature reaches these rows
			sums.Value = one.square(rows, s.d)
		case any:
			at := s.firstFeature(one) * s.d
			own := &spectral.Weights{Mean: mean[at:][:m*s.d], Var: variance[at:][:m*s.d], D: s.d}
			if err := one.rows.Factorised(sums, one.features, own, rows); err != nil {
				return err
			}
		}
		parts[i] = joinSums(sums)
		return nil
	})
	if err := s.agree(err); err != nil {
		return err
	}
	if dst != nil {
		dst.Value = 0
		dst.Features.Zero()
		clear(dst.Weights.Mean)
		clear(dst.Weights.Var)
	}
	of := func(i int) (first, m int) {
		c := s.cuts[i]
		return offset[c.first], offset[c.end] - offset[c.first]
	}
	s.collect(parts, func(i int) int {
		_, m := of(i)
		return 1 + m*(3*s.q+4+2*s.d)
	}, func(i int, part []float64) {
		first, m := of(i)
		dst.Value += part[0]
		part = part[1:]
		addAt(dst.Features, part, first, m)
		part = part[m*(3*s.q+4):]
		addTo(dst.Weights.Mean[first*s.d:], part[:m*s.d])
		addTo(dst.Weights.Var[first*s.d:], part[m*s.d:])
	})
	return nil
}

func addTo(a, b []float64) {
	for i, v := range b {
		a[i] += v
	}
}

// square is Σ y² over the given rows, nil for all.
func (o *share) square(rows []int, d int) float64 {
	sum := 0.0
	if rows == nil {
		for _, y := range o.y {
			sum += y * y
		}
	}
	for _, n := range rows {
		for _, y := range o.y[n*d:][:d] {
			sum += y * y
		}
	}
	return sum
}

// firstFeature is where the share's features begin among this rank's.
func (s *set) firstFeature(one *share) int {
	return s.features.Offsets()[one.first-s.own[0].first]
}

// shareWeights gives each rank the coefficients of its own features, [M,d]
// twice; w and offset are rank 0's.
func (s *set) shareWeights(w *spectral.Weights, offset []int, d int) (mean, variance []float64) {
	if s.Rank() != 0 {
		if len(s.own) > 0 {
			n := s.features.M * d
			mean, variance = make([]float64, n), make([]float64, n)
			s.recv(0, mean)
			s.recv(0, variance)
		}
		return mean, variance
	}
	of := func(rank int, a []float64) []float64 {
		first, end, any := s.windowsOf(rank)
		if !any {
			return nil
		}
		return a[offset[first]*d : offset[end]*d]
	}
	for to := 1; to < s.Size(); to++ {
		if _, _, any := s.windowsOf(to); any {
			s.send(to, of(to, w.Mean))
			s.send(to, of(to, w.Var))
		}
	}
	return of(0, w.Mean), of(0, w.Var)
}

// localMoments sums C and G of each of this rank's shares, where they stay.
func (s *set) localMoments() error {
	return s.each(func(_ int, one *share) error {
		if m := one.moments; m == nil || m.Check(one.features, s.d) != nil {
			one.moments = spectral.NewMoments(one.features, s.d)
		}
		if one.rows == nil || one.features.M == 0 {
			clear(one.moments.C)
			one.moments.Gram.Zero()
			return nil
		}
		return one.rows.Moments(one.moments, one.features)
	})
}

// gatherMoments fills dst, on rank 0, with all of C and G: as many numbers as G
// has, for who has no use of condition.
func (s *set) gatherMoments(dst *spectral.Moments, f *spectral.Features) error {
	s.shareFeatures(f)
	if err := s.agree(s.localMoments()); err != nil {
		return err
	}
	parts := make([][]float64, len(s.own))
	for i, one := range s.own {
		parts[i] = append([]float64(nil), one.moments.C...)
		for _, b := range blocksOf(one.moments.Gram, 0, one.end-one.first) {
			parts[i] = append(parts[i], b...)
		}
	}
	if dst != nil {
		clear(dst.C)
		dst.Gram.Zero()
	}
	s.collect(parts, func(i int) int {
		c, g := s.cuts[i], dst.Gram
		size := (g.Offset[c.end] - g.Offset[c.first]) * s.d
		for _, b := range blocksOf(g, c.first, c.end) {
			size += len(b)
		}
		return size
	}, func(i int, part []float64) {
		c, g := s.cuts[i], dst.Gram
		m := (g.Offset[c.end] - g.Offset[c.first]) * s.d
		addTo(dst.C[g.Offset[c.first]*s.d:], part[:m])
		part = part[m:]
		for _, b := range blocksOf(g, c.first, c.end) {
			addTo(b, part[:len(b)])
			part = part[len(b):]
		}
	})
	return nil
}

// blocksOf are the stored blocks of windows [first, end) and between them.
func blocksOf(g *spectral.Gram, first, end int) (blocks [][]float64) {
	for v := first; v < end; v++ {
		blocks = append(blocks, g.Diag[v])
		if v+1 < end {
			blocks = append(blocks, g.Below[v])
		}
	}
	return blocks
}

// pullbackWindows is pullback under windows: each share has its own blocks of
// bar.
func (s *set) pullbackWindows(dst, f *spectral.Features, bar *spectral.Moments) error {
	s.shareFeatures(f)
	var whole *spectral.Gram
	var c []float64
	if bar != nil {
		whole, c = bar.Gram, bar.C
	}
	s.distributeBlocks(whole, c, s.d)
	return s.pullShares(dst, f)
}

// distributeBlocks gives each share its windows' blocks of a matrix and rows of
// a, [M,d], in its moments.
func (s *set) distributeBlocks(g *spectral.Gram, a []float64, d int) {
	for _, one := range s.own {
		if m := one.moments; m == nil || m.Check(one.features, d) != nil {
			one.moments = spectral.NewMoments(one.features, d)
		}
	}
	if s.Rank() != 0 {
		for _, one := range s.own {
			s.recv(0, one.moments.C)
			for _, b := range blocksOf(one.moments.Gram, 0, one.end-one.first) {
				s.recv(0, b)
			}
		}
		return
	}
	for i, c := range s.cuts {
		rows, blocks := a[g.Offset[c.first]*d:g.Offset[c.end]*d], blocksOf(g, c.first, c.end)
		if i < len(s.own) {
			m := s.own[i].moments
			copy(m.C, rows)
			for j, b := range blocksOf(m.Gram, 0, c.end-c.first) {
				copy(b, blocks[j])
			}
			continue
		}
		to := s.owner(i)
		s.send(to, rows)
		for _, b := range blocks {
			s.send(to, b)
		}
	}
}

// pullShares fills dst, on rank 0, with the gradient by the features, each
// share's moments being the adjoint of its own.
func (s *set) pullShares(dst, f *spectral.Features) error {
	parts := make([][]float64, len(s.own))
	err := s.each(func(i int, one *share) error {
		part := spectral.NewFeatures(one.features.M, s.q)
		if one.rows != nil && part.M > 0 {
			if err := one.rows.Pullback(part, one.features, one.moments); err != nil {
				return err
			}
		}
		parts[i] = join(part)
		return nil
	})
	if err := s.agree(err); err != nil {
		return err
	}
	var offset []int
	if dst != nil {
		dst.Zero()
		offset = f.Offsets()
	}
	of := func(i int) (first, m int) {
		c := s.cuts[i]
		return offset[c.first], offset[c.end] - offset[c.first]
	}
	s.collect(parts, func(i int) int {
		_, m := of(i)
		return m * (3*s.q + 4)
	}, func(i int, part []float64) {
		first, m := of(i)
		addAt(dst, part, first, m)
	})
	return nil
}
