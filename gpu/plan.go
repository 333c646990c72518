package gpu

import (
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// A plan says how an operation goes over rows.
type plan struct {
	op     operation
	m, d   int   // features, outputs
	offset []int // of the windows' features

	n       int           // rows
	runs    []backend.Run // of their layout
	index   []int64       // which rows they are; nil: all
	free    int64         // bytes that the plan could use
	cramped bool          // with more free bytes the plan would differ
	wants   wants
	table   []int64
	tabled  *cuda.Memory // where the card has the table; nil: nowhere
	passes  []*pass
	count   int  // frequencies of the tables that would serve instead of passes over the rows; 0: none
	tables  bool // whether they do

	chunks, rowJobs section   // jobs of a few rows each: residuals, predictions; or of digits of Ḡ
	levels          []section // of the chain
	chain           *chain
}

// fits says whether the plan was made for these shapes.
func (p *plan) fits(m int, offset []int, d int) bool {
	return p != nil && p.m == m && p.d == d && slices.Equal(p.offset, offset)
}

// A section is a part of a plan's table: rows of width numbers each.
type section struct{ begin, width, rows int }

// add appends a section to the table.
func (p *plan) add(width int, t []int64) section {
	s := section{len(p.table), width, len(t) / width}
	p.table = append(p.table, t...)
	return s
}

// layChain adds the plan's chain, with its tables and what its algebra needs on the
// card besides the Gram array.
func (p *plan) layChain(dense bool) {
	c := newChain(p.offset, p.d)
	p.chain = c
	for _, l := range c.levels {
		p.levels = append(p.levels, p.add(kernels.BlockFields, l.table))
	}
	p.wants[arrayLevels] = 8 * c.workspace
	if dense {
		p.wants[arrayLevels] = 8 * denseWorkspace(p.m, p.d)
	}
	p.wants[arraySolved] = solvedBytes(c.m, c.d)
	p.wants[arrayStats] = int64(8 * stats * c.levels[0].blocks)
}

// A span is [lo, hi).
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// A batch is summed before its reductions: all chunks of some consecutive runs. Where
// their features are stored, that is done slab by slab, in a store that has so many
// rows of each chunk.
type batch struct {
	jobs       span
	reduce     [2]span // rows of the reduction's table, of even cells and of odd ones
	store      span    // rows of the store's table
	slab, rows int     // of a slab; of the longest chunk
}

// A pass is one kernel's way over the rows.
type pass struct {
	kind
	chunks            []chunk
	jobs              []int64 // [·,width]
	reduction         []int64 // [·,reduceWidth]
	batches           []batch
	slots, least      int // of the largest batch; of the run with most
	storeJobs         []int64
	store, leastStore int64 // bytes: of the largest batch; of the run with most, a slab at a time

	chunkTable, jobTable, reduceTable, runTable, storeTable section
}

// A kind says what the blocks of a pass do: how many there are over one chunk of a
// run, the row of the job table of each, given its slot, and the row of the
// reduction's table of each block of a run, whose slots begin at slot0 and are
// count(run) apart.
type kind struct {
	cut
	storage
	tile, width, reduceWidth int
	groups, sums, sides      int   // columnKind: groups of outputs, sums of a feature for each, by so many threads
	slotBytes                int64 // of the partial sums in a slot
	count                    func(r run) int
	job                      func(chunk, block, slot int) []int64
	reduce                   func(run, block, slot0, chunks int) []int64 // nil: none
	runTable                 func(runs []run, p *pass) []int64           // nil: none
}

// gramKind has a block for each tile of the triangle. Its reduction finds a
// run's slots in the table of gramRuns.
func gramKind(tile int) kind {
	return kind{
		cut: gramCut, storage: storeFeatures, tile: tile, width: 4, reduceWidth: 2, slotBytes: int64(8 * tile * tile), runTable: gramRuns,
		count: func(r run) int { return pairs(r.m, tile) },
		job: func(chunk, block, slot int) []int64 {
			i, j := triangle(block)
			return []int64{int64(chunk), int64(i), int64(j), int64(slot)}
		},
		reduce: func(run, block, slot0, chunks int) []int64 { return []int64{int64(run), int64(block)} },
	}
}

// gramRuns is the table of runs of moments_gram_reduce: the slots of a run's
// first chunk begin at the slot of its first job.
func gramRuns(runs []run, p *pass) []int64 {
	t := make([]int64, kernels.ChunkFields*len(runs))
	job := 0
	for _, s := range p.chunks {
		r := runs[s.run]
		row := t[kernels.ChunkFields*s.run:][:kernels.ChunkFields]
		n := p.count(r)
		if row[6] == 0 {
			copy(row, []int64{int64(r.m), int64(r.split), r.diag0, r.below, r.diag1, p.jobs[p.width*job+3], 0, int64(n), int64(r.f0)})
		}
		row[6]++
		job += n
	}
	return t
}

// columnKind has a block for each size features of a run, which adds up sums numbers
// of each for every group of outputs; the reduction is sums_reduce.
func columnKind(runs []run, c cut, size, groups, sums int) kind {
	count := func(r run) int { return parts(r.m, size) }
	return kind{
		cut: c, tile: size, width: 3, reduceWidth: 5, groups: groups, sums: sums, sides: 1, slotBytes: int64(8 * size * groups * sums),
		count: count,
		job: func(chunk, block, slot int) []int64 {
			return []int64{int64(chunk), int64(block), int64(slot)}
		},
		reduce: func(run, block, slot0, chunks int) []int64 {
			r := runs[run]
			return []int64{int64(r.f0 + block*size), int64(min(size, r.m-block*size)),
				int64(slot0 + block), int64(chunks), int64(count(r))}
		},
	}
}

// twoSided has two threads for each feature, whose sums stand behind each other, and
// features from a store.
func (k kind) twoSided(s storage) kind {
	k.storage, k.sides, k.slotBytes = s, 2, 2*k.slotBytes
	return k
}

// quadKind has a block for each tile of features over a piece of rows, with a sum for
// each row; those of a row's tiles lie behind each other.
func quadKind(runs []run, tile int) kind {
	return kind{
		cut: quadCut, storage: storeFeatures, tile: tile, width: 3, reduceWidth: 5, slotBytes: 8 * kernels.QuadRows,
		count: func(r run) int { return parts(r.m, tile) },
		job:   func(chunk, block, slot int) []int64 { return []int64{int64(chunk), int64(block), int64(slot)} },
		reduce: func(run, block, slot0, chunks int) []int64 {
			if block > 0 {
				return nil
			}
			r := runs[run]
			return []int64{int64(r.lo), int64(r.hi - r.lo), int64(slot0), int64(parts(r.m, tile)), 1}
		},
	}
}

// plan makes a pass with so many slots and bytes of a store, or as many as one run
// needs.
//
// Sums do not depend on the slots: one reduction adds a run's partial sums, in
// order, and a number of the result gets the sums of two runs at most (a window
// meets two cells), and 0 + a + b is the same in either order.
func (k kind) plan(runs []run, slots int, store int64) *pass {
	p := &pass{kind: k, chunks: k.chunks(runs, k.count)}
	of, slot0 := byRun(len(runs), p.chunks), make([]int, len(runs))
	for first := 0; first < len(runs); {
		end, used, held := first, 0, int64(0)
		for ; end < len(runs); end++ {
			n, bytes := of[end].len()*k.count(runs[end]), k.storeBytes(runs[end], p.chunks[of[end].lo:of[end].hi], k.most)
			p.least = max(p.least, n)
			p.leastStore = max(p.leastStore, k.storeBytes(runs[end], p.chunks[of[end].lo:of[end].hi], slabUnit))
			if end > first && (used+n > slots || held+bytes > store) {
				break
			}
			slot0[end] = used
			used += n
			held += bytes
		}
		p.slots = max(p.slots, used)
		p.addBatch(runs, of, slot0, span{first, end})
		if k.stored() {
			p.addStore(runs, p.chunks[of[first].lo:of[end-1].hi], of[first].lo, store)
		}
		first = end
	}
	return p
}

// addBatch adds the tables' rows for some consecutive runs.
func (p *pass) addBatch(runs []run, of []span, slot0 []int, which span) {
	b := batch{jobs: span{lo: len(p.jobs) / p.width}}
	for i := which.lo; i < which.hi; i++ {
		slot := slot0[i]
		for s := of[i].lo; s < of[i].hi; s++ {
			for block := range p.count(runs[i]) {
				p.jobs = append(p.jobs, p.job(s, block, slot)...)
				slot++
			}
		}
	}
	b.jobs.hi = len(p.jobs) / p.width
	for parity := range b.reduce {
		b.reduce[parity].lo = len(p.reduction) / p.reduceWidth
		for i := which.lo; i < which.hi; i++ {
			if runs[i].cell&1 != parity {
				continue
			}
			for block := range p.count(runs[i]) {
				p.reduction = append(p.reduction, p.reduce(i, block, slot0[i], of[i].len())...)
			}
		}
		b.reduce[parity].hi = len(p.reduction) / p.reduceWidth
	}
	p.batches = append(p.batches, b)
}

// addStore gives the chunks of the last batch, the first of which is number from,
// their places in a store of so many bytes.
func (p *pass) addStore(runs []run, chunks []chunk, from int, store int64) {
	b := &p.batches[len(p.batches)-1]
	b.store.lo = len(p.storeJobs) / storeJob
	perRow, all := int64(0), int64(0)
	for i, s := range chunks {
		width := p.wide(runs[s.run].m)
		perRow += int64(p.number * width)
		all += int64(p.number) * p.numbers(runs[s.run].m, s, p.most)
		b.rows = max(b.rows, s.rows())
		for block := range parts(width, columnBlock) {
			p.storeJobs = append(p.storeJobs, int64(from+i), int64(block))
		}
	}
	b.store.hi = len(p.storeJobs) / storeJob
	b.slab = min(p.most, parts(b.rows, slabUnit)*slabUnit)
	if all > store {
		b.slab = min(b.slab, max(slabUnit, int(store/perRow)/slabUnit*slabUnit))
	}
	at := int64(0)
	for i := range chunks {
		s := &chunks[i]
		s.store = at
		at += p.numbers(runs[s.run].m, *s, b.slab)
	}
	p.store = max(p.store, int64(p.number)*at)
}

// addPass makes a pass and adds its tables to the plan's.
func (p *plan) addPass(k kind, runs []run, slots int, store int64) {
	s := k.plan(runs, slots, store)
	s.chunkTable = p.add(kernels.ChunkFields, chunkTable(runs, s.chunks))
	s.jobTable, s.reduceTable = p.add(k.width, s.jobs), p.add(k.reduceWidth, s.reduction)
	if k.runTable != nil {
		s.runTable = p.add(kernels.ChunkFields, k.runTable(runs, s))
	}
	if k.stored() {
		s.storeTable = p.add(storeJob, s.storeJobs)
	}
	p.passes = append(p.passes, s)
}

// byRun gives each run's chunks.
func byRun(runs int, all []chunk) []span {
	of := make([]span, runs)
	for i, s := range all {
		if of[s.run].hi == 0 {
			of[s.run].lo = i
		}
		of[s.run].hi = i + 1
	}
	return of
}
