package gpu

import (
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// How rows are cut. Only the shapes of data and features decide, never the card
// or the memory that is free, so that sums are taken in one order everywhere.
const (
	// multiprocessors is how many a card has for which the cuts are made.
	multiprocessors = 132
	// largeFrom is the number of features over a run from which the large tile pays.
	largeFrom = 193
	// chunkUnit divides the number of a chunk's rows, except in the last chunk of a run.
	chunkUnit = kernels.LargeTile
	// slabUnit divides the number of a slab's rows: a tile of rows is in one slab, and
	// a wave begins anew at the same rows in slabs of any size.
	slabUnit = kernels.LargeTile
	// longest is the most rows of a chunk. They are added one after the other, so
	// rounding grows along it.
	longest = 1 << 18
)

// outputGroup is how many outputs a column kernel takes at a time, and columnBlock how
// many features a block of it has.
const outputGroup = kernels.OutputGroup

var columnBlock = kernels.MomentsColumns{}.Block()

// A cut says how many blocks of the device a pass should have, how few rows are
// worth one, and the most rows of a chunk. Large blocks, of which a multiprocessor holds
// one, run in waves.
type cut struct {
	blocks, least, longest int
	large                  bool
}

var (
	gramCut     = cut{3 * multiprocessors, 512, longest, true}
	pullbackCut = cut{4 * multiprocessors, 256, longest, true}
	columnCut   = cut{8 * multiprocessors, 128, longest, false}
	predictCut  = cut{1, longest, longest, false} // rows there are cut into pieces anyway
	quadCut     = cut{1, kernels.QuadRows, kernels.QuadRows, false}
)

// blockRows is how many rows' worth of time a block takes to begin and to end.
const blockRows = 64

// tileFor chooses the tile for these runs.
func tileFor(runs []run) int {
	if widest(runs) >= largeFrom {
		return kernels.LargeTile
	}
	return kernels.SmallTile
}

// A run is a run of a layout, with the features over it and the places of their
// blocks in a Gram array.
type run struct {
	cell, lo, hi        int
	f0, m, split        int // first feature, features, those of the first window
	diag0, below, diag1 int64
	adjoint             int64 // where its digits of Ḡ begin
}

// gramOffsets returns the places of the diagonal blocks, and of the blocks below
// them, in an array that has the order of backend.NewGram, and the array's length.
func gramOffsets(offset []int) (diag, below []int64, size int64) {
	for v := 0; v+1 < len(offset); v++ {
		m := int64(offset[v+1] - offset[v])
		diag = append(diag, size)
		size += m * m
		below = append(below, size)
		if v+2 < len(offset) {
			size += m * int64(offset[v+2]-offset[v+1])
		}
	}
	return diag, below, size
}

// gramBytes is the size of that array.
func gramBytes(offset []int) int64 {
	_, _, size := gramOffsets(offset)
	return 8 * size
}

// runsOver lays the features over a layout's runs, and leaves out runs that meet
// none.
func runsOver(layout []backend.Run, offset []int) []run {
	return slices.DeleteFunc(allRuns(layout, offset), func(r run) bool { return r.m == 0 })
}

// allRuns lays the features over a layout's runs.
func allRuns(layout []backend.Run, offset []int) (runs []run) {
	diag, below, _ := gramOffsets(offset)
	for _, l := range layout {
		v := l.First
		r := run{
			cell: l.Cell, lo: l.Lo, hi: l.Hi,
			f0: offset[v], m: offset[l.End] - offset[v], split: offset[v+1] - offset[v], diag0: diag[v],
		}
		if l.End > v+1 {
			r.below, r.diag1 = below[v], diag[v+1]
		}
		runs = append(runs, r)
	}
	return runs
}

// widest is how many features the run with the most has.
func widest(runs []run) (m int) {
	for _, r := range runs {
		m = max(m, r.m)
	}
	return m
}

// parts is ⌈n/size⌉.
func parts(n, size int) int { return (n + size - 1) / size }

// pairs is how many tiles the lower triangle of m features has.
func pairs(m, tile int) int { t := parts(m, tile); return t * (t + 1) / 2 }

// triangle is the n'th pair (i, j), i ≥ j, counted row by row.
func triangle(n int) (i, j int) {
	for (i+1)*(i+2)/2 <= n {
		i++
	}
	return i, n - i*(i+1)/2
}

// A chunk is rows [lo, hi) of one run. Its features stand at store, counted in numbers.
type chunk struct {
	run, lo, hi int
	store       int64
}

func (c chunk) rows() int { return c.hi - c.lo }

// chunks cuts runs into chunks; count says how many blocks there are over one chunk.
func (c cut) chunks(runs []run, count func(r run) int) (all []chunk) {
	work := 0
	for _, r := range runs {
		work += (r.hi - r.lo) * count(r)
	}
	most := min(max(c.least, parts(work, c.blocks)), c.longest)
	for i, r := range runs {
		n := r.hi - r.lo
		length := chunkLength(n, parts(n, most))
		if len(runs) == 1 && c.large {
			length = c.inWaves(n, parts(n, most), count(r))
		}
		for lo := r.lo; lo < r.hi; lo += length {
			all = append(all, chunk{run: i, lo: lo, hi: min(r.hi, lo+length)})
		}
	}
	return all
}

// chunkLength is how long chunks are if n rows are cut into about so many.
func chunkLength(n, stretches int) int { return parts(parts(n, stretches), chunkUnit) * chunkUnit }

// inWaves is how long the chunks of n rows are, with count blocks over each, that take
// the least time in waves of a block for each multiprocessor: a last wave of a few
// blocks takes as long as any. There are at most so many chunks.
func (c cut) inWaves(n, most, count int) (length int) {
	least := 0
	for stretches := parts(n, c.longest); stretches <= most; stretches++ {
		l := chunkLength(n, stretches)
		if l > c.longest {
			continue
		}
		if time := parts(parts(n, l)*count, multiprocessors) * (l + blockRows); length == 0 || time < least {
			length, least = l, time
		}
	}
	return length
}

// chunkTable makes the kernels' table of chunks.
func chunkTable(runs []run, all []chunk) []int64 {
	t := make([]int64, 0, kernels.ChunkFields*len(all))
	for _, s := range all {
		r := runs[s.run]
		t = append(t, int64(s.lo), int64(s.hi), int64(r.f0), int64(r.m), int64(r.split), r.diag0, r.below, r.diag1, s.store, r.adjoint)
	}
	return t
}

// rowJobs cuts the chunks' rows into jobs of at most kernels.JobRows each.
func rowJobs(all []chunk) (jobs []int64) {
	for i, s := range all {
		for lo := s.lo; lo < s.hi; lo += kernels.JobRows {
			jobs = append(jobs, int64(i), int64(lo), int64(min(s.hi, lo+kernels.JobRows)))
		}
	}
	return jobs
}
