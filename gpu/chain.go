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

// A level is a table of blocks: a row of kernels.BlockFields numbers for each, and one
// row more (Block in kernels/chain.cuh).
type level struct {
	blocks int
	table  []int64
}

// A chain lists the levels by which A is eliminated; the first is A itself.
type chain struct {
	levels          []level
	m, d, most, fan int
	workspace       int64 // numbers of the levels but the first
}

// newChain makes the chain of windows whose features begin at offset, with d
// right-hand sides.
func newChain(offset []int, d int) *chain {
	windows := len(offset) - 1
	c := &chain{m: offset[windows], d: d, most: mostFeatures(offset), fan: fanFor(windows)}
	diag, below, size := gramOffsets(offset)
	first := level{blocks: windows}
	sizes := make([]int64, windows)
	for v := range windows {
		sizes[v] = int64(offset[v+1] - offset[v])
		first.add(sizes[v], diag[v], below[v], -1, int64(offset[v]*d), -1)
	}
	first.add(0, size, size, -1, int64(c.m*d), -1)
	c.levels = []level{first}
	for len(sizes) > c.fan {
		next := sizes[:0:0]
		for v := 0; v < len(sizes); v += c.fan {
			next = append(next, sizes[v])
		}
		sizes = next
		c.levels = append(c.levels, c.over(sizes))
	}
	return c
}

func (l *level) add(row ...int64) { l.table = append(l.table, row...) }

// over makes a level of separators. Each block has workspace for the largest block
// there is, which may have to wait there on its way.
func (c *chain) over(sizes []int64) level {
	l := level{blocks: len(sizes)}
	square, column := int64(c.most)*int64(c.most), int64(c.most)*int64(c.d)
	take := func(n int64) int64 {
		at := c.workspace
		c.workspace += n
		return at
	}
	for _, m := range append(sizes[:len(sizes):len(sizes)], 0) {
		l.add(m, take(square), take(square), take(square), take(column), take(column))
	}
	return l
}

// solvedBytes is the size of solutions for m features, and of C.
func solvedBytes(m, d int) int64 { return int64(2 * 8 * m * d) }

// segments returns how many segments a level is cut into, and how long they are. The
// last level is one segment.
func (c *chain) segments(i int) (n, length int) {
	if i == len(c.levels)-1 {
		return 1, c.levels[i].blocks
	}
	return parts(c.levels[i].blocks, c.fan), c.fan
}
