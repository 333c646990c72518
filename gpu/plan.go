package gpu

import (
	"slices"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// How rows are cut. Only the shapes of data and features decide, never the card
// or the memory that is free, so that sums are taken in one order everywhere.
const (
	// largeFrom is from how many features over a run on the large tile pays.
	largeFrom = 193
	// stretchUnit divides a stretch's rows, but the last's of a run: the kernels
	// begin their rotations anew so often.
	stretchUnit = 64
	// longest is how many rows a stretch has at most, so that rows that are
	// streamed need room for no more at a time.
	longest = 1 << 18
)

// A cut says into how many blocks of the device a pass is to be divided and how
// few rows are worth one.
type cut struct{ blocks, least int }

var (
	gramCut     = cut{blocks: 3 * 132, least: 512}
	pullbackCut = cut{blocks: 4 * 132, least: 256}
	columnCut   = cut{blocks: 8 * 132, least: 128}
	predictCut  = cut{blocks: 1, least: longest} // rows there are cut into pieces anyway
)

// tileFor is the tile for runs of at most m features.
func tileFor(m int) int {
	if m >= largeFrom {
		return kernels.LargeTile
	}
	return kernels.SmallTile
}

// A run is a run of a layout with the features over it and the places of their
// blocks in a Gram array.
type run struct {
	cell, lo, hi        int
	f0, m, split        int // first feature, features, those of the first window
	diag0, below, diag1 int64
}

// gramOffsets are the places of the diagonal blocks and of those below them in
// an array that has the order of spectral.NewGram, and the array's length.
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

// runsOver lays the features over a layout's runs and leaves out those that
// meet none.
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

// parts is how many parts of the given size n has.
func parts(n, size int) int { return (n + size - 1) / size }

// pairs is how many tiles the lower triangle of m features has.
func pairs(m, tile int) int { t := parts(m, tile); return t * (t + 1) / 2 }

// A stretch is rows [lo, hi) of one run.
type stretch struct{ run, lo, hi int }

// stretches cuts runs, whose blocks over one stretch count tells.
func (c cut) stretches(runs []run, count func(r run) int) (all []stretch) {
	work := 0
	for _, r := range runs {
		work += (r.hi - r.lo) * count(r)
	}
	most := min(max(c.least, parts(work, c.blocks)), longest)
	for i, r := range runs {
		n := r.hi - r.lo
		length := parts(parts(n, parts(n, most)), stretchUnit) * stretchUnit
		for lo := r.lo; lo < r.hi; lo += length {
			all = append(all, stretch{i, lo, min(r.hi, lo+length)})
		}
	}
	return all
}

// stretchTable is the kernels' table of stretches.
func stretchTable(runs []run, all []stretch) []int64 {
	t := make([]int64, 0, 8*len(all))
	for _, s := range all {
		r := runs[s.run]
		t = append(t, int64(s.lo), int64(s.hi), int64(r.f0), int64(r.m), int64(r.split), r.diag0, r.below, r.diag1)
	}
	return t
}

// A span is [lo, hi).
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// A chunk is what one launch covers: jobs over consecutive stretches, and the
// rows that they need.
type chunk struct{ jobs, rows span }

// A batch is what is summed before the reductions: all stretches of some
// consecutive runs.
type batch struct {
	chunks []chunk
	reduce [2]span // rows of the reduction's table, of even cells and of odd ones
}

// A pass is one kernel's way over the rows.
type pass struct {
	tile      int
	stretches []stretch
	jobs      []int64 // [·,width]
	width     int
	reduce    []int64 // jobs of the reduction
	batches   []batch
	slots     int // of the largest batch
}

// A limit is what there is room for: slots of partial sums and rows.
type limit struct{ slots, rows int }

// A kind is what a pass's blocks are: how many there are over one stretch of a
// run, the row of the job table of each, given its slot, and the row of the
// reduction's table of each block of a run, whose slots begin at slot0 and are
// count(run) apart.
type kind struct {
	cut
	tile, width, reduceWidth int
	count                    func(r run) int
	job                      func(stretch, block, slot int) []int64
	reduce                   func(run, block, slot0, slots int) []int64
}

// plan makes a pass within a limit.
//
// Sums do not depend on the limit: a run's partial sums are added by one
// reduction, in order, and a number of the result gets the sums of two runs at
// most (a window meets two cells), so that 0 + a + b is what it is in either
// order.
func (k kind) plan(runs []run, l limit) *pass {
	p := &pass{tile: k.tile, width: k.width, stretches: k.stretches(runs, k.count)}
	of := byRun(len(runs), p.stretches)
	for first := 0; first < len(runs); {
		end, slots := first, 0
		for end < len(runs) && (end == first || slots+of[end].len()*k.count(runs[end]) <= l.slots) {
			slots += of[end].len() * k.count(runs[end])
			end++
		}
		p.slots = max(p.slots, slots)
		p.addBatch(k, runs, of, span{first, end}, l.rows)
		first = end
	}
	return p
}

// addBatch adds the tables' rows for some consecutive runs.
func (p *pass) addBatch(k kind, runs []run, of []span, which span, rows int) {
	var b batch
	slot0 := make([]int, which.len())
	slot := 0
	for i := which.lo; i < which.hi; i++ {
		slot0[i-which.lo] = slot
		for s := of[i].lo; s < of[i].hi; s++ {
			at := len(p.jobs) / k.width
			for block := range k.count(runs[i]) {
				p.jobs = append(p.jobs, k.job(s, block, slot)...)
				slot++
			}
			b.add(p.stretches[s], span{at, len(p.jobs) / k.width}, rows)
		}
	}
	for parity := range 2 {
		from := len(p.reduce) / k.reduceWidth
		for i := which.lo; i < which.hi; i++ {
			if runs[i].cell&1 != parity {
				continue
			}
			for block := range k.count(runs[i]) {
				p.reduce = append(p.reduce, k.reduce(i, block, slot0[i-which.lo], of[i].len())...)
			}
		}
		b.reduce[parity] = span{from, len(p.reduce) / k.reduceWidth}
	}
	p.batches = append(p.batches, b)
}

// limits are the least that a pass can do with (the partial sums of the run that
// has most, and the longest stretch) and the slots of all runs at once.
func (k kind) limits(runs []run) (least limit, all int) {
	slots := make([]int, len(runs))
	for _, s := range k.stretches(runs, k.count) {
		n := k.count(runs[s.run])
		slots[s.run] += n
		all += n
		least.slots = max(least.slots, slots[s.run])
		least.rows = max(least.rows, s.hi-s.lo)
	}
	return least, all
}

// add puts a stretch's jobs into the last chunk where its rows fit, else into a
// new one.
func (b *batch) add(s stretch, jobs span, rows int) {
	if n := len(b.chunks); n > 0 {
		c := &b.chunks[n-1]
		if s.hi-c.rows.lo <= rows {
			c.jobs.hi, c.rows.hi = jobs.hi, s.hi
			return
		}
	}
	b.chunks = append(b.chunks, chunk{jobs, span{s.lo, s.hi}})
}

// byRun are each run's stretches.
func byRun(runs int, all []stretch) []span {
	of := make([]span, runs)
	for i, s := range all {
		if of[s.run].hi == 0 {
			of[s.run].lo = i
		}
		of[s.run].hi = i + 1
	}
	return of
}
