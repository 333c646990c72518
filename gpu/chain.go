package gpu

import "github.com/vssgp/vssgp/kernels"

// The algebra of windows on a card: a level is a chain of blocks that is cut into
// segments of fan blocks, the first block of each a separator; the separators are
// the next level's blocks (docs/algorithms.md). Shapes alone decide, so that sums
// are taken in one order everywhere.
//
// Few blocks are cut into short segments: then every multiprocessor of a card has
// one, and fewer steps follow each other. Many are cut into long segments, which
// leave less work and workspace to the separators.
const (
	fewBlocks  = 8 * multiprocessors
	someBlocks = 16 * multiprocessors
	stats      = 3 // numbers kept of each window
)

// fanFor returns the length of the segments of a chain of so many blocks.
func fanFor(blocks int) int {
	switch {
	case blocks < fewBlocks:
		return 4
	case blocks < someBlocks:
		return 8
	}
	return 16
}

// chainStride is how many numbers lie from one row of a front to the next, for blocks
// of at most m features: 4 more than a multiple of 8, which spreads fragments over
// the banks.
func chainStride(m int) int { return parts(m, 8)*8 + 4 }

// chainShared is the shared memory, in bytes, of a block of threads that works on a
// front: three blocks of at most m features, d right-hand sides and a row of
// reciprocals.
func chainShared(m, d int) int { return 8 * (3*m + d + 1) * chainStride(m) }

// chainFits says whether a card whose blocks have so much shared memory can solve a
// chain with these windows and d right-hand sides. Nothing else decides that.
func chainFits(offset []int, d, shared int) bool {
	return d > 0 && chainShared(mostFeatures(offset), d) <= shared
}

// denseBlock is how many columns are divided out at a time.
const denseBlock = kernels.DenseBlock

// denseCorners is how many numbers U's diagonal blocks have.
func denseCorners(m int) int64 { return int64(parts(m, denseBlock)) * denseBlock * denseBlock }

// denseWorkspace is how many numbers the algebra needs besides A.
func denseWorkspace(m, d int) int64 { return denseCorners(m) + int64(m)*int64(d) }

// goesDense says whether many blocks of threads work on one window (dense.go), and not
// one on each segment of windows.
func goesDense(offset []int, d, shared int) bool {
	return len(offset) == 2 && (offset[1] > denseBlock || !chainFits(offset, d, shared))
}

// mostFeatures is the size of the largest window.
func mostFeatures(offset []int) (most int) {
	for v := 1; v < len(offset); v++ {
		most = max(most, offset[v]-offset[v-1])
	}
	return most
}

// A chain lists the levels by which A is eliminated; the first is A itself.
type chain struct {
	levels          [][]kernels.ChainBlock // and one block more at the end
	m, d, most, fan int
	workspace       int64 // numbers of the levels but the first
}

// newChain makes the chain of windows whose features begin at offset, with d
// right-hand sides.
func newChain(offset []int, d int) *chain {
	windows := len(offset) - 1
	c := &chain{m: offset[windows], d: d, most: mostFeatures(offset), fan: fanFor(windows)}
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

// blocks is how many blocks a level has.
func (c *chain) blocks(i int) int { return len(c.levels[i]) - 1 }

// over makes the level of some blocks' separators. Each has workspace for the largest
// block there is, which may have to wait there on its way.
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

// solvedBytes is the size of solutions for m features, and of C.
func solvedBytes(m, d int) int64 { return int64(2 * 8 * m * d) }

// segments returns how many segments a level is cut into, and how long they are. The
// last level is one segment.
func (c *chain) segments(i int) (n, length int) {
	if i == len(c.levels)-1 {
		return 1, c.blocks(i)
	}
	return parts(c.blocks(i), c.fan), c.fan
}
