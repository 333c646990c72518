package blocktri

// innerCost is the cost of a block of an inner segment relative to one of an outer
// segment, for factor and inverse. By operations it is 19/3 + 50/3 of M_v³ to
// 7/3 + 20/3, or 2.6; measured (BenchmarkShares) 1.9 to 2.2, because the products
// that fill-in adds are the faster part.
const innerCost = 2.1

// separators splits the blocks that begin at offset into the given number of
// segments: two at the middle block, more such that Σ M_v³, weighted by the cost of
// each block in its segment, is about even. It returns the numbers of the blocks
// between the segments, rising, with at least one block between any two and at both
// ends. With too few blocks there are fewer segments.
func separators(offset []int, segments int) []int {
	blocks := len(offset) - 1
	switch segments = min(segments, (blocks+1)/2); {
	case segments < 2:
		return nil
	case segments == 2:
		return []int{blocks / 2}
	}
	cost := make([]float64, blocks+1) // of the blocks before v
	for v := range blocks {
		m := float64(offset[v+1] - offset[v])
		cost[v+1] = cost[v] + m*m*m
	}
	all := 2*innerCost + float64(segments-2)
	at := make([]int, segments-1)
	v := 0
	for i := range at {
		until := cost[blocks] * (innerCost + float64(i)) / all
		least, most := 1, blocks-2*(segments-1-i) // leaves enough blocks for the remaining segments
		if i > 0 {
			least = at[i-1] + 2
		}
		for v = max(v, least); v < most && cost[v+1] <= until; v++ {
		}
		at[i] = v
	}
	return at
}
