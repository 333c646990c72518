package blocktri

// innerCost is the cost of factor and inverse of a block in an inner segment relative to a block in an
// outer segment. The ratio of operations is (19/3 + 50/3)/(7/3 + 20/3), or 2.6. The measured ratio
// (BenchmarkShares) is 1.9 to 2.2, because fill-in adds mainly fast products.
const innerCost = 2.1

// separators divides the blocks that begin at offset into the given number of segments. Two segments are
// divided at the middle block. More segments have about equal Σ M_v³, weighted by the cost of a block in
// its segment. It returns the numbers of the blocks between the segments in increasing order. There is
// at least one block between two separators and at both ends. With too few blocks there are fewer
// segments.
func separators(offset []int, segments int) []int {
	blocks := len(offset) - 1
	switch segments = min(segments, (blocks+1)/2); {
	case segments < 2:
		return nil
	case segments == 2:
		return []int{blocks / 2}
	}
	cost := make([]float64, blocks+1) // total cost of the blocks before v
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
