package gpu

import (
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/kernels"
)

// TestLevelsAreChainsOfSeparators checks that the blocks of each level are the separators of the level before, that their
// workspaces fit the largest block and do not overlap, and that the last level is one segment.
func TestLevelsAreChainsOfSeparators(t *testing.T) {
	for _, windows := range []int{1, 3, 4, 5, 16, 17, 1055, 1056, 2111, 2112, 40_000} {
		rng := rand.New(rand.NewPCG(uint64(windows), 1))
		offset := []int{0}
		for range windows {
			offset = append(offset, offset[len(offset)-1]+rng.IntN(9))
		}
		const d = 3
		c := newChain(offset, d)
		diag, below, _ := gramOffsets(offset)
		for v := range windows {
			want := kernels.ChainBlock{
				M: int64(offset[v+1] - offset[v]), Diag: diag[v], Below: below[v], Prior: -1, Rhs: int64(offset[v] * d), PriorRhs: -1,
			}
			if got := c.levels[0][v]; got != want {
				t.Fatalf("window %d of %d is %+v, want %+v", v, windows, got, want)
			}
		}
		next := int64(0)
		for i, level := range c.levels[1:] {
			before, blocks := c.levels[i], c.blocks(i+1)
			if n, length := c.segments(i); n != blocks || length != c.fan {
				t.Errorf("%d windows: level %d has %d segments of %d, level %d %d blocks", windows, i, n, length, i+1, blocks)
			}
			square, column := int64(c.most*c.most), int64(c.most*d)
			for v, got := range level {
				want := kernels.ChainBlock{
					Diag: next, Below: next + square, Prior: next + 2*square, Rhs: next + 3*square, PriorRhs: next + 3*square + column,
				}
				if v < blocks {
					want.M = before[v*c.fan].M
				}
				if got != want {
					t.Fatalf("%d windows: block %d of level %d is %+v, want %+v", windows, v, i+1, got, want)
				}
				next += 3*square + 2*column
			}
		}
		last := len(c.levels) - 1
		if n, length := c.segments(last); n != 1 || length != c.blocks(last) || length > c.fan {
			t.Errorf("%d windows: the last level has %d segments of %d", windows, n, length)
		}
		if c.workspace != next {
			t.Errorf("%d windows: workspace of %d numbers, want %d", windows, c.workspace, next)
		}
		if windows >= someBlocks && 8*next > int64(8*1.2*float64(windows)*float64(c.most*c.most)) {
			t.Errorf("%d windows: workspace of %d numbers", windows, next)
		}
	}
}

// TestChainFits checks that the rule counts the front of the kernels and rejects models without
// outputs.
func TestChainFits(t *testing.T) {
	for _, c := range []struct{ m, d, bytes int }{
		{8, 1, 8 * (26 * 12)}, {9, 1, 8 * (29 * 20)}, {40, 2, 8 * (123 * 44)}, {96, 1, 232_000},
	} {
		offset := []int{0, 1, 1 + c.m, 1 + c.m}
		if chainShared(c.m, c.d) != c.bytes || !chainFits(offset, c.d, c.bytes) || chainFits(offset, c.d, c.bytes-1) {
			t.Errorf("%d features, %d outputs: %d bytes, want %d", c.m, c.d, chainShared(c.m, c.d), c.bytes)
		}
		if chainFits(offset, 0, 1<<20) {
			t.Error("a chain without right-hand sides")
		}
	}
}
