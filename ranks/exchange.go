package ranks

// scatter sends each domain its windows' part of rank 0's numbers. With windows a part is sent to
// the rank of the shard; without, all ranks get everything.
func (s *set) scatter(from byWindow, to func(of *domain) byWindow) {
	whole := func(of *domain) []block { return to(of)(0, of.to-of.from) }
	if !s.dense() {
		s.scatterShards(func(i int) []block { return s.part(from, i) }, whole)
		return
	}
	var packed []float64
	mine := whole(s.domains[0])
	if s.Rank() == 0 {
		packed = pack(from(0, 1))
	} else {
		packed = make([]float64, sizeOf(mine))
	}
	s.broadcast(packed)
	unpack(mine, packed, false)
}

// part returns the blocks of shard i's windows on rank 0.
func (s *set) part(of byWindow, i int) []block { return of(s.extents[i].first, s.extents[i].end) }

// scatterShards sends each shard's domain its blocks from rank 0, with windows.
func (s *set) scatterShards(from func(i int) []block, to func(of *domain) []block) {
	if s.Rank() != 0 {
		for _, of := range s.domains {
			blocks := to(of)
			packed := make([]float64, sizeOf(blocks))
			s.recv(0, packed)
			unpack(blocks, packed, false)
		}
		return
	}
	for i := range s.extents {
		packed := pack(from(i))
		if i < len(s.domains) {
			unpack(to(s.domains[i]), packed, false)
		} else {
			s.send(s.owner(i), packed)
		}
	}
}

// collect sends the vectors of this rank's shards to rank 0, which calls take for all shards in
// order. size returns the length of a shard's vector.
func (s *set) collect(vectors [][]float64, size func(i int) int, take func(i int, vector []float64)) {
	if s.Rank() != 0 {
		for _, v := range vectors {
			s.send(0, v)
		}
		return
	}
	for i := range s.extents {
		if i < len(vectors) {
			take(i, vectors[i])
			continue
		}
		vector := make([]float64, size(i))
		s.recv(s.owner(i), vector)
		take(i, vector)
	}
}

// sum fills dst on rank 0 with the sum of all shards' vectors. A vector has fixed numbers and
// perFeature numbers per feature, which fill computes. Without windows the result must not depend
// on the order of addition (sumExactly). With windows it cannot: a window between two shards has
// two terms, any other has one.
func (s *set) sum(dst byWindow, fixed, perFeature int, fill func(one *shard, vector []float64) error) error {
	vectors, err := s.each(1, func(one *shard) ([]float64, error) {
		vector := make([]float64, fixed+perFeature*one.features.M)
		return vector, fill(one, vector)
	})
	if err := s.agree(err); err != nil {
		return err
	}
	if !s.dense() {
		s.sumWindows(dst, vectors)
	} else if sum := s.sumExactly(vectors, fixed+perFeature*s.domains[0].features.M, len(s.extents)); sum != nil {
		unpack(dst(0, 1), sum, false)
	}
	return nil
}

// sumWindows fills dst on rank 0 with the sum of all shards' vectors, with windows.
func (s *set) sumWindows(dst byWindow, vectors [][]float64) {
	if s.Rank() == 0 {
		for _, b := range dst(0, s.windows.Count()) {
			clear(b.a)
		}
	}
	s.collect(vectors, func(i int) int { return sizeOf(s.part(dst, i)) }, func(i int, v []float64) { unpack(s.part(dst, i), v, true) })
}
