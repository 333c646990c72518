package gpu

import (
	"slices"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// A plan is how an operation goes over rows.
type plan struct {
	op     operation
	m      int   // features
	offset []int // of their windows
	d      int   // outputs
	cov    bool  // predict: with a shared covariance

	n       int            // rows
	runs    []spectral.Run // of their layout
	index   []int64        // which they are; nil: all
	free    int64          // bytes that there were for it
	cramped bool           // with more free bytes the plan would differ
	wants   wants
	passes  []*pass
	table   []int64
	begin   []int // of each section of the table

	rowJobs   int // how many jobs have a part of the rows each: of residuals, of predictions
	tile      int // predict
	quad, sum int // predict: jobs, and jobs of their reduction
	chain     *chain
}

// A planner completes a plan that has rows and features, given the bytes that are
// free.
type planner func(p *plan, free int64) error

// shapes says whether the plan was made for these.
func (p *plan) shapes(m int, offset []int, d int, cov bool) bool {
	return p != nil && p.m == m && p.d == d && p.cov == cov && slices.Equal(p.offset, offset)
}

// add appends sections to the table.
func (p *plan) add(sections ...[]int64) {
	for _, t := range sections {
		p.begin = append(p.begin, len(p.table))
		p.table = append(p.table, t...)
	}
}

func (p *plan) cutInto(runs []run, kinds []kind, slots []int, tables func()) {
	p.passes, p.table, p.begin = nil, nil, nil
	for i, k := range kinds {
		p.passes = append(p.passes, k.plan(runs, slots[i]))
	}
	tables()
}

// A span is [lo, hi).
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// A batch is what is summed before the reductions: all chunks of some
// consecutive runs.
type batch struct {
	jobs   span
	reduce [2]span // rows of the reduction's table, of even cells and of odd ones
}

// A pass is one kernel's way over the rows.
type pass struct {
	kind
	chunks    []chunk
	jobs      []int64 // [·,width]
	reduction []int64 // [·,reduceWidth]
	batches   []batch
	slots     int // of the largest batch
}

// A kind is what a pass's blocks are: how many there are over one chunk of a
// run, the row of the job table of each, given its slot, and the row of the
// reduction's table of each block of a run, whose slots begin at slot0 and are
// count(run) apart.
type kind struct {
	cut
	tile, width, reduceWidth int
	slotBytes                int64 // of the partial sums in a slot
	count                    func(r run) int
	job                      func(chunk, block, slot int) []int64
	reduce                   func(run, block, slot0, slots int) []int64
}

// gramKind has a block for each tile of the triangle. Its reduction finds a
// run's slots in the table of gramRuns.
func gramKind(tile int) kind {
	return kind{
		cut: gramCut, tile: tile, width: 4, reduceWidth: 2, slotBytes: int64(8 * tile * tile),
		count: func(r run) int { return pairs(r.m, tile) },
		job: func(chunk, block, slot int) []int64 {
			i, j := triangle(block)
			return []int64{int64(chunk), int64(i), int64(j), int64(slot)}
		},
		reduce: func(run, block, slot0, slots int) []int64 { return []int64{int64(run), int64(block)} },
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
			copy(row, []int64{int64(r.m), int64(r.split), r.diag0, r.below, r.diag1, p.jobs[p.width*job+3], 0, int64(n)})
		}
		row[6]++
		job += n
	}
	return t
}

// columnKind has a block for each size features of a run, which sums numbers of
// each; the reduction is sums_reduce.
func columnKind(runs []run, c cut, size, numbers int) kind {
	count := func(r run) int { return parts(r.m, size) }
	return kind{
		cut: c, tile: size, width: 3, reduceWidth: 5, slotBytes: int64(8 * size * numbers),
		count: count,
		job: func(chunk, block, slot int) []int64 {
			return []int64{int64(chunk), int64(block), int64(slot)}
		},
		reduce: func(run, block, slot0, slots int) []int64 {
			r := runs[run]
			return []int64{int64(r.f0 + block*size), int64(min(size, r.m-block*size)),
				int64(slot0 + block), int64(slots), int64(count(r))}
		},
	}
}

// plan makes a pass with so many slots, those of one run at least.
//
// Sums do not depend on the slots: a run's partial sums are added by one
// reduction, in order, and a number of the result gets the sums of two runs at
// most (a window meets two cells), so that 0 + a + b is what it is in either
// order.
func (k kind) plan(runs []run, slots int) *pass {
	p := &pass{kind: k, chunks: k.chunks(runs, k.count)}
	of := byRun(len(runs), p.chunks)
	for first := 0; first < len(runs); {
		end, used := first, 0
		for end < len(runs) && (end == first || used+of[end].len()*k.count(runs[end]) <= slots) {
			used += of[end].len() * k.count(runs[end])
			end++
		}
		p.slots = max(p.slots, used)
		p.addBatch(runs, of, span{first, end})
		first = end
	}
	return p
}

// addBatch adds the tables' rows for some consecutive runs.
func (p *pass) addBatch(runs []run, of []span, which span) {
	var b batch
	slot0 := make([]int, which.len())
	slot := 0
	b.jobs.lo = len(p.jobs) / p.width
	for i := which.lo; i < which.hi; i++ {
		slot0[i-which.lo] = slot
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
				p.reduction = append(p.reduction, p.reduce(i, block, slot0[i-which.lo], of[i].len())...)
			}
		}
		b.reduce[parity].hi = len(p.reduction) / p.reduceWidth
	}
	p.batches = append(p.batches, b)
}

// limits are the least slots that a pass can do with, those of the run that has
// most, and the slots of all runs at once.
func (k kind) limits(runs []run) (least, all int) {
	slots := make([]int, len(runs))
	for _, s := range k.chunks(runs, k.count) {
		n := k.count(runs[s.run])
		slots[s.run] += n
		all += n
		least = max(least, slots[s.run])
	}
	return least, all
}

// byRun are each run's chunks.
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
