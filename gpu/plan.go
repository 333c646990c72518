package gpu

// A pass over the rows, for a run of two chunks and three blocks of features:
//
//	rows of the run      jobs: one thread block each
//
//	                     block 0   block 1   block 2
//	+---------+
//	| chunk 0 |  ---->   slot 0    slot 1    slot 2
//	+---------+
//	| chunk 1 |  ---->   slot 3    slot 4    slot 5
//	+---------+             |         |         |
//	                        v         v         v
//	reductions:           0 + 3     1 + 4     2 + 5   ---->   G, or sums of each feature
//
//	run        consecutive rows in the same windows, with the features of these windows
//	chunk      a part of a run's rows; a thread block adds over its rows in order
//	block      a tile of the run's features, or a pair of tiles for G
//	job        the work of a thread block: a block of features over a chunk
//	slot       the part of arrayPart to which a job writes its partial sums
//	reduction  the work of the thread blocks that add, in order, a block's slots over all chunks of a run
//	batch      consecutive runs whose slots and stored features fit into memory together
//	slab       rows of every chunk of a batch whose features are stored together (store.go)
//
// The batches are processed in order. A batch first runs its jobs, slab by slab, and then its
// reductions, even cells before odd ones. kernels/tables.cuh has the structs.

import (
	"cmp"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/kernels"
)

// A plan describes how an operation processes the rows.
type plan struct {
	op     operation
	m, d   int   // features, outputs
	offset []int // of the windows' features

	n           int           // rows
	runs        []backend.Run // of their layout
	index       []int64       // indices of the rows; nil: all
	free        int64         // bytes available to the plan
	limited     bool          // with more free bytes the plan would differ
	needs       arraySizes
	table       []byte       // read by its kernels: chunks, jobs, reductions, blocks of a chain
	tabled      *cuda.Memory // the device's copy of the table, or nil
	passes      []*pass
	frequencies rowspectrum.Size // in the tables, if these are faster than passes over the rows; 0: passes are faster
	tables      bool             // the sums come from tables, whose arrays fit into memory

	chunks, rowJobs section   // jobs of a few rows each (residuals, predictions); reductions of pairs
	levels          []section // of the chain
	chain           *chain
}

// fits reports whether the plan was created for these shapes.
func (p *plan) fits(m int, offset []int, d int) bool {
	return p != nil && p.m == m && p.d == d && slices.Equal(p.offset, offset)
}

// A section is a part of a plan's table: it begins at a byte offset and contains rows of one type
// of package kernels.
type section struct{ begin, rows int }

// add appends rows to a plan's table.
func add[Row any](p *plan, rows []Row) section {
	s := section{len(p.table), len(rows)}
	p.table = append(p.table, cuda.Bytes(rows)...)
	return s
}

// addChain adds the plan's chain with its tables and the workspace of its algebra.
func (p *plan) addChain(dense bool) {
	c := newChain(p.offset, p.d)
	p.chain = c
	for _, l := range c.levels {
		p.levels = append(p.levels, add(p, l))
	}
	p.needs[arrayLevels] = 8 * c.workspace
	if dense {
		p.needs[arrayLevels] = 8 * denseWorkspace(p.m, p.d)
	}
	p.needs[arraySolved] = solvedBytes(c.m, c.d)
	p.needs[arrayStats] = int64(8 * stats * c.blocks(0))
}

// A span is the half-open interval [lo, hi).
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// A batch is all chunks of some consecutive runs, which are summed before their reductions. Stored
// features are summed slab by slab; the store then has space for slab rows of each chunk.
type batch struct {
	jobs, storeJobs section
	reductions      [2]section // of even cells and of odd ones
	slab, rows      int64      // of a slab; of the longest chunk
}

// A pass is the application of one kernel to the rows, with the reductions of its partial sums.
type pass struct {
	kind
	chunks          []kernels.Chunk
	chunkTable      section
	batches         []batch
	slots, least    int64 // of the largest batch; of the largest run
	store, minStore int64 // bytes for the largest batch; for the largest run, a slab at a time
}

// whole reports whether all features of all rows are stored at a time. Their places then depend only on
// the runs, because the rows of a chunk, except the last of a run, are a multiple of storeUnit.
func (s *pass) whole() bool {
	return s.stored && len(s.batches) == 1 && s.batches[0].slab >= s.batches[0].rows
}

// A kind of pass defines how rows are cut into chunks and the features over a chunk into blocks,
// and what a block sums.
type kind struct {
	cut
	stored              bool  // the features are stored, slab by slab, before they are multiplied (store.go)
	tile                int64 // features of a block
	pairs               bool  // gramKind: a block multiplies two tiles of them
	perRow              bool  // quadKind: a sum for each row
	groups, sums, sides int   // columnKind: groups of outputs, sums of a feature for each, number of threads
	slotBytes           int64 // of the partial sums in a slot
}

// gramKind returns the kind with a block for each tile of the triangle.
func gramKind(tile int64) kind {
	return kind{cut: gramCut, stored: true, tile: tile, pairs: true, slotBytes: 8 * tile * tile}
}

// columnKind returns the kind with a block for every size features of a run. For every group of
// outputs it computes sums numbers per feature; the reduction is sums_reduce.
func columnKind(c cut, size int64, groups, sums int) kind {
	return kind{cut: c, tile: size, groups: groups, sums: sums, sides: 1, slotBytes: 8 * size * int64(groups*sums)}
}

// twoSided returns the kind with two threads per feature, whose sums are adjacent, and with stored
// features.
func (k kind) twoSided() kind {
	k.stored, k.sides, k.slotBytes = true, 2, 2*k.slotBytes
	return k
}

// quadKind returns the kind with a block for each tile of features over a run of one chunk, with a
// sum for each row; predict_quad_reduce adds the sums of a row's tiles. A block multiplies its
// features by all features before them.
func quadKind(tile int64) kind {
	return kind{cut: uncut, stored: true, tile: tile, perRow: true, slotBytes: 8 * kernels.QuadRows}
}

// count returns the number of blocks over a chunk of m features.
func (k kind) count(m int64) int64 {
	if k.pairs {
		return pairs(m, k.tile)
	}
	return parts(m, k.tile)
}

// addPass adds a pass with the given number of slots and bytes of a store, or with as many as one
// run needs.
//
// The results do not depend on the slots: one reduction adds a run's partial sums in order, and
// each entry of the result is the sum of at most two runs (a window overlaps two cells), where 0
// + a + b is the same in either order.
func (p *plan) addPass(k kind, runs []run, slots, store int64) *pass {
	chunks, of := k.chunks(runs, k.count)
	s := &pass{kind: k, chunks: chunks}
	for first := 0; first < len(runs); {
		end, used, stored := first, int64(0), int64(0)
		for ; end < len(runs); end++ {
			own := chunks[of[end].lo:of[end].hi]
			n, bytes := int64(len(own))*k.count(runs[end].M), k.storeBytes(own, longest)
			s.least = max(s.least, n)
			s.minStore = max(s.minStore, k.storeBytes(own, slabUnit))
			if end > first && (used+n > slots || stored+bytes > store) {
				break
			}
			used += n
			stored += bytes
		}
		s.slots = max(s.slots, used)
		b := p.batch(k, runs[first:end], of[first:end])
		if k.stored {
			p.fillStore(&b, s, span{of[first].lo, of[end-1].hi}, store)
		}
		s.batches = append(s.batches, b)
		first = end
	}
	s.chunkTable = add(p, chunks)
	p.passes = append(p.passes, s)
	return s
}

// batch adds the jobs and reductions of some consecutive runs; of[i] are the chunks of run i.
func (p *plan) batch(k kind, runs []run, of []span) (b batch) {
	var jobs []kernels.Job
	var reductions [2][]kernels.Reduction
	for i, r := range runs {
		to, slot := &reductions[r.cell&1], int64(len(jobs))
		*to = append(*to, k.reductions(of[i], r.M, slot)...)
		for chunk := of[i].lo; chunk < of[i].hi; chunk++ {
			for block := range k.count(r.M) {
				j := kernels.Job{Chunk: int64(chunk), Block: block, Slot: int64(len(jobs))}
				if k.pairs {
					j.Block, j.Other = triangle(block)
				}
				jobs = append(jobs, j)
			}
		}
	}
	if k.perRow { // start the longest first, so that all multiprocessors finish at about the same time
		slices.SortStableFunc(jobs, func(a, b kernels.Job) int { return cmp.Compare(b.Block, a.Block) })
	}
	b.jobs = add(p, jobs)
	for parity, all := range reductions {
		b.reductions[parity] = add(p, all)
	}
	return b
}

// reductions returns the reductions of a run of m features that begins at the given slot.
func (k kind) reductions(chunks span, m, slot int64) (all []kernels.Reduction) {
	blocks := k.count(m)
	if k.perRow {
		return []kernels.Reduction{{Chunk: int64(chunks.lo), Slot: slot, Slots: blocks, Apart: 1}}
	}
	for block := range blocks {
		all = append(all, kernels.Reduction{
			Chunk: int64(chunks.lo), Block: block, Slot: slot + block, Slots: int64(chunks.len()), Apart: blocks,
		})
	}
	return all
}

// fillStore assigns a batch's chunks their positions in a store of the given size in bytes.
func (p *plan) fillStore(b *batch, s *pass, which span, store int64) {
	var jobs []kernels.Job
	chunks := s.chunks[which.lo:which.hi]
	row := int64(0) // bytes of one row of each chunk
	for i, c := range chunks {
		width := storeWidth(c.M)
		row += 8 * width
		b.rows = max(b.rows, c.Rows())
		for block := range parts(width, columnBlock) {
			jobs = append(jobs, kernels.Job{Chunk: int64(which.lo + i), Block: block})
		}
	}
	b.storeJobs = add(p, jobs)
	b.slab = parts(b.rows, slabUnit) * slabUnit
	if s.storeBytes(chunks, longest) > store {
		b.slab = min(b.slab, max(slabUnit, store/row/slabUnit*slabUnit))
	}
	at := int64(0)
	for i := range chunks {
		chunks[i].Store = at
		at += storeNumbers(chunks[i], b.slab)
	}
	s.store = max(s.store, 8*at)
}
