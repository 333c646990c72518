package gpu

import "github.com/vssgp/vssgp/kernels"

// The algebra of windows on the GPU uses a chain of levels. Each level is cut into segments of fan
// blocks, and the first block of each segment is a separator. The separators are the blocks of the
// next level (docs/algorithms.md). The cuts depend on the shapes alone, so that the order of all
// sums is the same on every GPU.
//
// A chain with few blocks is cut into short segments: this keeps every multiprocessor busy and
// needs fewer sequential steps. A chain with many blocks is cut into long segments, which leave
// fewer separators and need less workspace.
const (
	fewBlocks  = 8 * multiprocessors
	someBlocks = 16 * multiprocessors
	stats      = 3 // statistics of each window
)

// fanFor returns the segment length for a chain with the given number of blocks.
func fanFor(blocks int) int {
	switch {
	case blocks < fewBlocks:
		return 4
	case blocks < someBlocks:
		return 8
	}
	return 16
}

// chainStride returns the distance between rows of a front whose blocks have at most m features. It
// is 4 more than a multiple of 8, which distributes the fragments over the memory banks.
func chainStride(m int) int { return parts(m, 8)*8 + 4 }

// chainShared returns the shared memory, in bytes, of a thread block that processes a front: three
// blocks of at most m features, d right-hand sides and a row of reciprocals, and at least a panel's rows.
func chainShared(m, d int) int { return 8 * max(3*m+d+1, 8) * chainStride(m) }

// chainFits reports whether a GPU with the given shared memory per thread block can solve a chain
// with these windows and d right-hand sides.
func chainFits(offset []int, d, shared int) bool {
	return d > 0 && chainShared(maxFeatures(offset), d) <= shared
}

// denseBlock is the number of columns eliminated at a time.
const denseBlock = kernels.DenseBlock

// denseCorners returns the size of U's diagonal blocks.
func denseCorners(m int) int64 { return int64(parts(m, denseBlock)) * denseBlock * denseBlock }

// denseWorkspace returns the size of the workspace in addition to A.
func denseWorkspace(m, d int) int64 { return denseCorners(m) + int64(m)*int64(d) }

// goesDense reports whether many thread blocks work on a single window (dense.go) instead of one
// thread block on each segment of windows.
func goesDense(offset []int, d, shared int) bool {
	return len(offset) == 2 && (offset[1] > denseBlock || !chainFits(offset, d, shared))
}

// maxFeatures returns the size of the largest window.
func maxFeatures(offset []int) (most int) {
	for v := 1; v < len(offset); v++ {
		most = max(most, offset[v]-offset[v-1])
	}
	return most
}

// A chain lists the levels of the elimination. The first level is A itself.
type chain struct {
	levels          [][]kernels.ChainBlock // with an extra block at the end
	m, d, most, fan int
	workspace       int64 // size of all levels except the first
}

// newChain returns the chain of windows whose features begin at offset, with d right-hand sides.
func newChain(offset []int, d int) *chain {
	windows := len(offset) - 1
	c := &chain{m: offset[windows], d: d, most: maxFeatures(offset), fan: fanFor(windows)}
	diag, below, size := gramOffsets(offset)
	level := []kernels.ChainBlock{}
	for v := range windows {
		level = append(level, kernels.ChainBlock{
			M: int64(offset[v+1] - offset[v]), Diag: diag[v], Below: below[v], Prior: -1, Rhs: int64(offset[v] * d), PriorRhs: -1,
		})
	}
	level = append(level, kernels.ChainBlock{Diag: size, Below: size, Prior: -1, Rhs: int64(c.m * d), PriorRhs: -1})
	c.levels = append(c.levels, level)
	for len(level)-1 > c.fan {
		level = c.over(level[:len(level)-1])
		c.levels = append(c.levels, level)
	}
	return c
}

// blocks returns the number of blocks of a level.
func (c *chain) blocks(i int) int { return len(c.levels[i]) - 1 }

// over returns the level of the separators of some blocks. Each has workspace for the largest
// block, which it may have to store temporarily.
func (c *chain) over(blocks []kernels.ChainBlock) (level []kernels.ChainBlock) {
	square, column := int64(c.most)*int64(c.most), int64(c.most)*int64(c.d)
	take := func(n int64) int64 {
		at := c.workspace
		c.workspace += n
		return at
	}
	add := func(m int64) {
		level = append(level, kernels.ChainBlock{
			M: m, Diag: take(square), Below: take(square), Prior: take(square), Rhs: take(column), PriorRhs: take(column),
		})
	}
	for v := 0; v < len(blocks); v += c.fan {
		add(blocks[v].M)
	}
	add(0)
	return level
}

// solvedBytes returns the size of the solutions for m features, and of C.
func solvedBytes(m, d int) int64 { return int64(2 * 8 * m * d) }

// segments returns the number and the length of the segments of a level. The last level is one
// segment.
func (c *chain) segments(i int) (n, length int) {
	if i == len(c.levels)-1 {
		return 1, c.blocks(i)
	}
	return parts(c.blocks(i), c.fan), c.fan
}
