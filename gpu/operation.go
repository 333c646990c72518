package gpu

import (
	"errors"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// addPasses adds passes of these kinds, with as many slots as fit into memory. All other sizes and
// sections of the plan must be final.
func (r *rows) addPasses(p *plan, runs []run, kinds ...kind) error {
	others := len(p.table)
	cutInto := func(part, store int64) {
		p.passes, p.table = nil, p.table[:others]
		for _, k := range kinds {
			p.addPass(k, runs, part/k.slotBytes, store)
		}
	}
	cutInto(math.MaxInt64, max(minStore, p.free/storeShare))
	var least, all, leastStore, store int64
	for _, s := range p.passes {
		least, all = max(least, s.least*s.slotBytes), max(all, s.slots*s.slotBytes)
		leastStore, store = max(leastStore, s.minStore), max(store, s.store)
	}
	fixed := p.needs.total() + int64(len(p.table))
	room := p.free - fixed
	if room < least+leastStore {
		ofRows := r.own.total()
		for _, a := range []array{arrayRes, arrayOut, arrayQuad, arrayPart} {
			ofRows += p.needs[a]
		}
		return r.refused(fixed+least+leastStore, p.free, ofRows/int64(r.data.N))
	}
	if room < all+store {
		p.limited = true
		store = max(leastStore, min(store, room-all))
		cutInto(room-store, store)
	}
	for _, s := range p.passes {
		p.needs[arrayPart] = max(p.needs[arrayPart], s.slots*s.slotBytes)
		p.needs[arrayStore] = max(p.needs[arrayStore], s.store)
	}
	return nil
}

// The features stored at a time may use minStore bytes, which makes the launch overhead negligible, or
// 1/storeShare of the free memory: a store of all rows serves both passes of an evaluation.
const (
	minStore   = 512 << 20
	storeShare = 8
)

// prepare returns the arguments of an operation over all rows or over the given rows. It reuses or
// creates the plan, allocates its arrays and uploads tables and features. fill completes a new
// plan. The returned arguments do not yet contain the addresses of the tables.
func (r *rows) prepare(
	op operation, f *backend.Features, d int, given []int, fill func(*plan) error,
) (*plan, kernels.PassArgs, error) {
	r.solved = nil
	if op != opPullbackSolved { // whose features are those of the last Solve
		r.current = current{}
	}
	p, err := r.reserve(op, f, d, given, fill)
	if err != nil {
		return nil, kernels.PassArgs{}, err
	}
	if at := r.mem[arrayTable+array(op)]; p.tabled != at {
		r.send(arrayTable+array(op), p.table)
		if r.err == nil {
			p.tabled = at
		}
	}
	a := kernels.PassArgs{
		X: r.address(arrayX), Y: r.address(arrayY), Gate: r.address(arrayGate), Even: r.address(arrayEven),
		Delta: r.layout.Delta, Q: int64(r.data.Q), D: int64(d),
	}
	if p.index != nil {
		r.gather(p, &a)
	}
	r.uploadFeatures(&a, f)
	if p.tables {
		r.uploadTables(p)
	}
	return p, a, nil
}

// reserve creates the plan and allocates its arrays.
func (r *rows) reserve(
	op operation, f *backend.Features, d int, given []int, fill func(*plan) error,
) (p *plan, err error) {
	offset, frequencies := f.Offsets(), r.frequencies(op, f)
	err = r.allocate(func(free int64) (*arraySizes, error) {
		p = r.plans[op]
		other := op == opPick || !p.fits(f.M, offset, d) || p.frequencies != frequencies
		if other || p.needs.total() > free || p.limited && p.free < free {
			p = &plan{
				op: op, m: f.M, offset: offset, d: d, n: r.data.N, runs: r.layout.Runs, free: free, needs: r.own,
				frequencies: frequencies,
			}
			if err := r.complete(p, given, fill); err != nil {
				return nil, err
			}
			r.plans[op] = p
		}
		if op == opSolve { // allocating its arrays must not free the data that PullbackSolved needs
			for _, a := range []array{arrayGram, arraySolved} {
				if r.size[a] > p.needs[a] {
					err = errors.Join(err, r.release(a))
				}
			}
		}
		return &p.needs, err
	})
	return p, err
}

// complete plans the operation.
func (r *rows) complete(p *plan, given []int, fill func(*plan) error) error {
	p.needs[arrayFeatures] = int64(8 * featureNumbers(p.m, r.data.Q))
	if p.op == opPick {
		r.pick(p, given)
	} else if r.own[arrayEven] > 0 {
		p.needs[arrayRot] = int64(8 * kernels.Rotations * p.m)
	}
	err := fill(p)
	p.needs[arrayTable+array(p.op)] = int64(len(p.table))
	return err
}

// pick restricts a plan to the given rows.
func (r *rows) pick(p *plan, given []int) {
	positions, runs := r.layout.Pick(nil, nil, given)
	p.n, p.runs = len(positions), runs
	for _, position := range positions {
		p.index = append(p.index, int64(position))
	}
	p.needs[arrayIndex] = int64(8 * p.n)
	p.needs[arrayPickX], p.needs[arrayPickY] = int64(8*p.n*r.data.Q), int64(8*p.n*r.data.D)
	if r.own[arrayGate] > 0 {
		p.needs[arrayPickGate] = int64(16 * p.n)
	}
}

// gather copies the plan's rows on the device and sets the arguments to the copies.
func (r *rows) gather(p *plan, a *kernels.PassArgs) {
	r.send(arrayIndex, cuda.Bytes(p.index))
	k := &kernels.RowsGather{
		Index: r.address(arrayIndex), N: int64(p.n), Q: a.Q, D: a.D, X: a.X, Y: a.Y, Gate: a.Gate,
		Xs: r.address(arrayPickX), Ys: r.address(arrayPickY), Gates: r.address(arrayPickGate),
	}
	a.X, a.Y, a.Gate, a.Even = k.Xs, k.Ys, k.Gates, 0
	r.launch(k, parts(p.n, k.Block()), 0)
}

// at returns the address of a section of the operation's table.
func (r *rows) at(p *plan, s section) uint64 {
	return r.address(arrayTable+array(p.op)) + uint64(s.begin)
}

// sweep runs a pass over the rows: it launches each batch, slab by slab if features are stored,
// with the addresses of its chunks and jobs, and then reduces its even runs and its odd runs.
func (r *rows) sweep(p *plan, pass *pass, a kernels.PassArgs, launch func(a kernels.PassArgs, s slab, blocks int),
	reduce func(chunks, reductions uint64, blocks int)) {
	a.Chunks = r.at(p, pass.chunkTable)
	kept := pass.whole() && r.current.store == r.mem[arrayStore]
	for _, b := range pass.batches {
		for first := int64(0); first == 0 || first < b.rows; first += max(b.slab, 1) {
			s := slab{first, b.slab}
			if pass.stored && !kept {
				a.Jobs = r.at(p, b.storeJobs)
				down := int(parts(min(b.slab, b.rows-first), kernels.Resync))
				k := &kernels.FeaturesStore{PassArgs: a, Slab: s.first, Most: s.rows, Store: r.address(arrayStore)}
				r.launchGrid(k, b.storeJobs.rows, down, 0)
			}
			a.Jobs = r.at(p, b.jobs)
			launch(a, s, b.jobs.rows)
		}
		for _, s := range b.reductions {
			reduce(a.Chunks, r.at(p, s), s.rows)
		}
	}
	switch {
	case pass.whole():
		r.current.store = r.mem[arrayStore]
	case pass.stored:
		r.current.store = nil
	}
}

// columns writes the sums of a pass of columnKind to arraySums, [groups,M,sums]. It launches once
// for each group of outputs, whose first output is d0.
func (r *rows) columns(p *plan, pass *pass, a kernels.PassArgs,
	launch func(a kernels.PassArgs, s slab, d0 int64, part uint64, blocks int)) {
	r.zero(p, arraySums)
	part := func(group int) uint64 {
		return r.address(arrayPart) + uint64(8*group*pass.sums)*uint64(pass.slots*pass.tile)
	}
	r.sweep(p, pass, a, func(a kernels.PassArgs, s slab, blocks int) {
		for g := range pass.groups {
			launch(a, s, int64(outputGroup*g), part(g), blocks)
		}
	}, func(chunks, reductions uint64, blocks int) {
		for g := range pass.groups {
			r.launchReduction(&kernels.SumsReduce{
				Chunks: chunks, Reductions: reductions, Part: part(g), Out: r.address(arraySums) + uint64(8*g*p.m*pass.sums),
				Tile: pass.tile, Width: int64(pass.sums), Sides: int64(pass.sides),
			}, blocks, pass.tile*int64(pass.sums))
		}
	})
}
