package gpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/kernels"
)

// TestChain: each level's blocks are the separators of the one before, their
// rooms hold the largest block and do not meet, and the last level is one segment.
func TestChain(t *testing.T) {
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
			want := []int64{int64(offset[v+1] - offset[v]), diag[v], below[v], -1, int64(offset[v] * d), -1}
			if got := c.levels[0].row(v); !slices.Equal(got, want) {
				t.Fatalf("window %d of %d is %v, want %v", v, windows, got, want)
			}
		}
		next := int64(0)
		for i, l := range c.levels[1:] {
			before := c.levels[i]
			if n, length := c.segments(i); n != l.blocks || length != c.fan {
				t.Errorf("%d windows: level %d has %d segments of %d, level %d %d blocks", windows, i, n, length, i+1, l.blocks)
			}
			for v := range l.blocks + 1 {
				row := l.row(v)
				if v < l.blocks && row[0] != before.row(v * c.fan)[0] {
					t.Errorf("%d windows: block %d of level %d has %d features, its separator %d", windows, v, i+1, row[0], before.row(v * c.fan)[0])
				}
				most := int64(c.most)
				for f, size := range []int64{0, most * most, most * most, most * most, most * d, most * d} {
					if f == 0 {
						continue
					}
					if row[f] != next {
						t.Fatalf("%d windows: level %d, block %d, field %d stands at %d, want %d", windows, i+1, v, f, row[f], next)
					}
					next += size
				}
			}
		}
		last := len(c.levels) - 1
		if n, length := c.segments(last); n != 1 || length != c.levels[last].blocks || length > c.fan {
			t.Errorf("%d windows: the last level has %d segments of %d", windows, n, length)
		}
		if c.workspace != next {
			t.Errorf("%d windows: workspace of %d numbers, want %d", windows, c.workspace, next)
		}
		if windows >= someBlocks && 8*next > int64(8*1.2*float64(windows)*float64(c.most*c.most)) {
			t.Errorf("%d windows: %d numbers besides the matrix", windows, next)
		}
	}
}

func (l *level) row(v int) []int64 { return l.table[kernels.BlockFields*v:][:kernels.BlockFields] }

// TestChainFits: the rule counts the front that the kernels lay out, and has no
// place for models without outputs.
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
