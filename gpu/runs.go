package gpu

import (
	"slices"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// How rows are cut. Only the shapes of data and features decide, never the card
// or the memory that is free, so that sums are taken in one order everywhere.
const (
	// multiprocessors is how many a card has for which the cuts are made.
	multiprocessors = 132
	// largeFrom is the number of features over a run from which the large tile pays.
	largeFrom = 193
	// chunkUnit divides the number of a chunk's rows, except in the last chunk of a run.
	chunkUnit = kernels.Resync
	// longest is the most rows of a chunk. They are added one after the other, so
	// rounding grows along it.
	longest = 1 << 18
)

// A cut says how many blocks of the device a pass should have, and how few rows are
// worth one.
type cut struct{ blocks, least int }

var (
	gramCut     = cut{blocks: 3 * multiprocessors, least: 512}
	pullbackCut = cut{blocks: 4 * multiprocessors, least: 256}
	columnCut   = cut{blocks: 8 * multiprocessors, least: 128}
	predictCut  = cut{blocks: 1, least: longest} // rows there are cut into pieces anyway
)

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
}

// gramOffsets returns the places of the diagonal blocks, and of the blocks below
// them, in an array that has the order of spectral.NewGram, and the array's length.
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
func runsOver(layout []spectral.Run, offset []int) []run {
	return slices.DeleteFunc(allRuns(layout, offset), func(r run) bool { return r.m == 0 })
}

// allRuns lays the features over a layout's runs.
func allRuns(layout []spectral.Run, offset []int) (runs []run) {
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

// A chunk is rows [lo, hi) of one run.
type chunk struct{ run, lo, hi int }

// chunks cuts runs into chunks; count says how many blocks there are over one chunk.
func (c cut) chunks(runs []run, count func(r run) int) (all []chunk) {
	work := 0
	for _, r := range runs {
		work += (r.hi - r.lo) * count(r)
	}
	most := min(max(c.least, parts(work, c.blocks)), longest)
	for i, r := range runs {
		n := r.hi - r.lo
		length := parts(parts(n, parts(n, most)), chunkUnit) * chunkUnit
		for lo := r.lo; lo < r.hi; lo += length {
			all = append(all, chunk{i, lo, min(r.hi, lo+length)})
		}
	}
	return all
}

// chunkTable makes the kernels' table of chunks.
func chunkTable(runs []run, all []chunk) []int64 {
	t := make([]int64, 0, kernels.ChunkFields*len(all))
	for _, s := range all {
		r := runs[s.run]
		t = append(t, int64(s.lo), int64(s.hi), int64(r.f0), int64(r.m), int64(r.split), r.diag0, r.below, r.diag1)
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
