package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// layOut decides how many slots the passes have and makes them; tables appends
// their tables to the plan's. All else that the plan wants stands in it.
func (r *rows) layOut(p *plan, runs []run, kinds []kind, free int64, tables func()) error {
	slots := make([]int, len(kinds))
	var least, all int64
	for i, k := range kinds {
		few, most := k.limits(runs)
		slots[i] = most
		least, all = max(least, int64(few)*k.slotBytes), max(all, int64(most)*k.slotBytes)
	}
	p.cutInto(runs, kinds, slots, tables)
	fixed := p.wants.total() + int64(8*len(p.table))
	if free-fixed < least {
		return r.refused(fixed+least, free, (r.own.total()+p.wants[arrayRes])/int64(r.data.N))
	}
	if p.cramped = free-fixed < all; p.cramped {
		for i, k := range kinds {
			slots[i] = int(min(int64(slots[i]), (free-fixed)/k.slotBytes))
		}
		p.cutInto(runs, kinds, slots, tables)
	}
	for _, pass := range p.passes {
		p.wants[arrayPart] = max(p.wants[arrayPart], int64(pass.slots)*pass.slotBytes)
	}
	return nil
}

// prepare finds or makes the operation's plan, allocates what it wants and brings
// tables and features to the card. Only the tables' addresses are still missing from
// the arguments that it returns.
func (r *rows) prepare(op operation, f *spectral.Features, d int, cov bool, lay planner) (*plan, kernels.RowsBank, error) {
	r.solved = nil
	p, err := r.reserve(op, f, d, cov, lay)
	if err != nil {
		return nil, kernels.RowsBank{}, err
	}
	if r.tabled[op] != p {
		if err := r.send(arrayTable+array(op), cuda.Bytes(p.table)); err != nil {
			return nil, kernels.RowsBank{}, err
		}
		r.tabled[op] = p
	}
	a := kernels.RowsBank{
		X: r.address(arrayX), Y: r.address(arrayY), Gate: r.address(arrayGate), Even: r.address(arrayEven),
		Delta: r.layout.Delta, Q: int64(r.data.Q), D: int64(d),
	}
	if p.index != nil {
		if err := r.gather(p, &a); err != nil {
			return nil, a, fmt.Errorf("rows: %w", err)
		}
	}
	if err := r.uploadBank(&a, f); err != nil {
		return nil, a, fmt.Errorf("features: %w", err)
	}
	return p, a, nil
}

// reserve plans and allocates.
func (r *rows) reserve(op operation, f *spectral.Features, d int, cov bool, lay planner) (p *plan, err error) {
	offset := f.Offsets()
	err = r.allocate(func(free int64) (*wants, error) {
		p = r.plans[op]
		if op != opPick && p.shapes(f.M, offset, d, cov) && p.wants.total() <= free && (!p.cramped || free <= p.free) {
			return &p.wants, nil
		}
		p = &plan{op: op, m: f.M, offset: offset, d: d, cov: cov, n: r.data.N, runs: r.layout.Runs, free: free, wants: r.own}
		p.wants[arrayBank] = int64(8 * bankNumbers(f.M, f.Q))
		if r.own[arrayEven] > 0 && op != opPick {
			p.wants[arrayRot] = int64(8 * kernels.Rotations * f.M)
		}
		if err := lay(p, free); err != nil {
			return nil, err
		}
		p.wants[arrayTable+array(op)] = int64(8 * len(p.table))
		r.plans[op] = p
		return &p.wants, nil
	})
	return p, err
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
func (r *rows) gather(p *plan, a *kernels.RowsBank) error {
	if err := r.send(arrayIndex, cuda.Bytes(p.index)); err != nil {
		return err
	}
	k := &kernels.RowsGather{
		Index: r.address(arrayIndex), N: int64(p.n), Q: a.Q, D: a.D, X: a.X, Y: a.Y, Gate: a.Gate,
		Xs: r.address(arrayPickX), Ys: r.address(arrayPickY), Gates: r.address(arrayPickGate),
	}
	a.X, a.Y, a.Gate, a.Even = k.Xs, k.Ys, k.Gates, 0
	return r.launch(k, parts(p.n, k.Block()), 0)
}

// section is the address of row i, width numbers wide, of a section of the
// operation's table.
func (r *rows) section(p *plan, section, width, i int) uint64 {
	return r.address(arrayTable+array(p.op)) + uint64(8*(p.begin[section]+width*i))
}

// sweep goes over the rows by a pass: launch for each batch, then reduce for its
// even runs and for its odd ones.
func (r *rows) sweep(p *pass, launch, reduce func(jobs span) error) error {
	for _, b := range p.batches {
		if err := launch(b.jobs); err != nil {
			return err
		}
		for _, jobs := range b.reduce {
			if jobs.len() == 0 {
				continue
			}
			if err := reduce(jobs); err != nil {
				return err
			}
		}
	}
	return nil
}

// reduceSums adds the chunks' sums of each feature, the jobs standing at jobs.
func (r *rows) reduceSums(jobs uint64, blocks int, part, out uint64, tile, width int) error {
	return r.launch(&kernels.SumsReduce{Jobs: jobs, Part: part, Out: out, Tile: int64(tile), Width: int64(width)}, blocks, 0)
}
