package gpu

import (
	"errors"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// A planner completes a plan that has rows and features.
type planner func(p *plan) error

// layOut makes passes of these kinds, with as many slots as there is memory for.
// The plan holds everything else that it wants, and its other sections.
func (r *rows) layOut(p *plan, runs []run, kinds ...kind) error {
	others := len(p.table)
	cutInto := func(part, store int64) {
		p.passes, p.table = nil, p.table[:others]
		for _, k := range kinds {
			p.addPass(k, runs, int(part/k.slotBytes), store)
		}
	}
	cutInto(math.MaxInt64, mostStore)
	var least, all, leastStore, store int64
	for _, k := range p.passes {
		least, all = max(least, int64(k.least)*k.slotBytes), max(all, int64(k.slots)*k.slotBytes)
		leastStore, store = max(leastStore, k.leastStore), max(store, k.store)
	}
	fixed := p.wants.total() + int64(8*len(p.table))
	room := p.free - fixed
	if room < least+leastStore {
		ofRows := r.own.total()
		for _, a := range []array{arrayRes, arrayOut, arrayQuad, arrayPart} {
			ofRows += p.wants[a]
		}
		return r.refused(fixed+least+leastStore, p.free, ofRows/int64(r.data.N))
	}
	if room < all+store {
		p.cramped = true
		store = max(leastStore, min(store, room-all))
		cutInto(room-store, store)
	}
	for _, k := range p.passes {
		p.wants[arrayPart] = max(p.wants[arrayPart], int64(k.slots)*k.slotBytes)
		p.wants[arrayStore] = max(p.wants[arrayStore], k.store)
	}
	return nil
}

// mostStore is how many bytes of features are stored at a time: enough rows that the
// launches for them do not count.
const mostStore = 512 << 20

// prepare finds or makes the operation's plan over all rows, or over the given ones,
// allocates what it wants and brings tables and features to the card. The arguments
// that it returns still lack the tables' addresses.
func (r *rows) prepare(op operation, f *backend.Features, d int, given []int, lay planner) (*plan, kernels.RowsBank, error) {
	r.solved = nil
	p, err := r.reserve(op, f, d, given, lay)
	if err != nil {
		return nil, kernels.RowsBank{}, err
	}
	if at := r.mem[arrayTable+array(op)]; p.tabled != at {
		r.send(arrayTable+array(op), cuda.Bytes(p.table))
		if r.err == nil {
			p.tabled = at
		}
	}
	a := kernels.RowsBank{
		X: r.address(arrayX), Y: r.address(arrayY), Gate: r.address(arrayGate), Even: r.address(arrayEven),
		Delta: r.layout.Delta, Q: int64(r.data.Q), D: int64(d),
	}
	if p.index != nil {
		r.gather(p, &a)
	}
	r.uploadBank(&a, f)
	if p.tables {
		r.uploadTables(p)
	}
	return p, a, nil
}

// reserve plans and allocates.
func (r *rows) reserve(op operation, f *backend.Features, d int, given []int, lay planner) (p *plan, err error) {
	offset, count := f.Offsets(), r.frequencies(op, f)
	err = r.allocate(func(free int64) (*wants, error) {
		p = r.plans[op]
		if op == opPick || !p.fits(f.M, offset, d) || p.count != count || p.wants.total() > free || p.cramped && p.free < free {
			p = &plan{op: op, m: f.M, offset: offset, d: d, n: r.data.N, runs: r.layout.Runs, free: free, wants: r.own, count: count}
			if err := r.complete(p, given, lay); err != nil {
				return nil, err
			}
			r.plans[op] = p
		}
		if op == opSolve { // what PullbackSolved needs must not be in the way of its own arrays, which could free it
			for _, a := range []array{arrayGram, arraySolved} {
				if r.size[a] > p.wants[a] {
					err = errors.Join(err, r.release(a))
				}
			}
		}
		return &p.wants, err
	})
	return p, err
}

// complete plans the operation.
func (r *rows) complete(p *plan, given []int, lay planner) error {
	p.wants[arrayBank] = int64(8 * bankNumbers(p.m, r.data.Q))
	if p.op == opPick {
		r.pick(p, given)
	} else if r.own[arrayEven] > 0 {
		p.wants[arrayRot] = int64(8 * kernels.Rotations * p.m)
	}
	err := lay(p)
	p.wants[arrayTable+array(p.op)] = int64(8 * len(p.table))
	return err
}

// pick has a plan go over the given rows alone.
func (r *rows) pick(p *plan, given []int) {
	places, runs := r.layout.Pick(nil, nil, given)
	p.n, p.runs = len(places), runs
	for _, place := range places {
		p.index = append(p.index, int64(place))
	}
	p.wants[arrayIndex] = int64(8 * p.n)
	p.wants[arrayPickX], p.wants[arrayPickY] = int64(8*p.n*r.data.Q), int64(8*p.n*r.data.D)
	if r.own[arrayGate] > 0 {
		p.wants[arrayPickGate] = int64(16 * p.n)
	}
}

// gather picks the plan's rows on the card, and has the arguments point to them.
func (r *rows) gather(p *plan, a *kernels.RowsBank) {
	r.send(arrayIndex, cuda.Bytes(p.index))
	k := &kernels.RowsGather{
		Index: r.address(arrayIndex), N: int64(p.n), Q: a.Q, D: a.D, X: a.X, Y: a.Y, Gate: a.Gate,
		Xs: r.address(arrayPickX), Ys: r.address(arrayPickY), Gates: r.address(arrayPickGate),
	}
	a.X, a.Y, a.Gate, a.Even = k.Xs, k.Ys, k.Gates, 0
	r.launch(k, parts(p.n, k.Block()), 0)
}

// at is the address of row i of a section of the operation's table.
func (r *rows) at(p *plan, s section, i int) uint64 {
	return r.address(arrayTable+array(p.op)) + uint64(8*(s.begin+s.width*i))
}

// sweep goes over the rows by a pass: it launches each batch, slab by slab if features
// are stored, given the arguments with the addresses of its chunks and jobs, and then
// reduces its even runs and its odd ones.
func (r *rows) sweep(p *plan, k *pass, a kernels.RowsBank, launch func(a kernels.RowsBank, s slab, blocks int),
	reduce func(jobs uint64, blocks int)) {
	a.Chunks = r.at(p, k.chunkTable, 0)
	for _, b := range k.batches {
		jobs := r.at(p, k.jobTable, b.jobs.lo)
		for first := 0; first == 0 || first < b.rows; first += max(b.slab, 1) {
			s := slab{int64(first), int64(b.slab)}
			if k.stored() {
				a.Jobs = r.at(p, k.storeTable, b.store.lo)
				r.launchGrid(k.kernel(a, s, r.address(arrayStore)), b.store.len(), parts(min(b.slab, b.rows-first), kernels.Resync), 0)
			}
			a.Jobs = jobs
			launch(a, s, b.jobs.len())
		}
		for _, jobs := range b.reduce {
			reduce(r.at(p, k.reduceTable, jobs.lo), jobs.len())
		}
	}
}

// columns leaves the sums of a pass of columnKind in arraySums, [groups,M,sums]. It
// launches once for each group of outputs, the first of them being d0.
func (r *rows) columns(p *plan, k *pass, a kernels.RowsBank, launch func(a kernels.RowsBank, s slab, d0 int64, part uint64, blocks int)) {
	r.zero(p, arraySums)
	part := func(group int) uint64 { return r.address(arrayPart) + uint64(8*group*k.slots*k.tile*k.sums) }
	r.sweep(p, k, a, func(a kernels.RowsBank, s slab, blocks int) {
		for g := range k.groups {
			launch(a, s, int64(outputGroup*g), part(g), blocks)
		}
	}, func(jobs uint64, blocks int) {
		for g := range k.groups {
			r.reduceSums(jobs, blocks, part(g), r.address(arraySums)+uint64(8*g*p.m*k.sums), k.tile, k.sums, k.sides)
		}
	})
}

// reduceSums adds the chunks' sums of each feature, for the jobs at this address.
func (r *rows) reduceSums(jobs uint64, blocks int, part, out uint64, tile, width, sides int) {
	r.launch(&kernels.SumsReduce{Jobs: jobs, Part: part, Out: out, Tile: int64(tile), Width: int64(width), Sides: int64(sides)}, blocks, 0)
}
