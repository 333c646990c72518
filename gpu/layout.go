package gpu

import (
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// newPlan is a plan for the share's own rows with room for the features.
func (s *share) newPlan(src *source, at [4]array, m int, offset []int, d int) *plan {
	p := &plan{m: m, offset: append([]int(nil), offset...), d: d, src: src, at: at}
	p.wants[arrayBank] = int64(8 * bankNumbers(m, s.q))
	if src.even != nil {
		p.wants[arrayRot] = int64(8 * kernels.Rotations * m)
	}
	return p
}

// layOut decides how much of the passes is done at a time and makes them.
// slotBytes are those of one slot of each kind, perRow those of each row besides
// the row itself, which go to the array of residuals; tables appends the
// passes' tables to the plan's.
func (p *plan) layOut(runs []run, kinds []kind, slotBytes []int64, perRow, room int64, tables func()) error {
	n := needs{rows: p.src.n, rowBytes: p.src.rowBytes() + perRow}
	whole := make([]limit, len(kinds))
	for i, k := range kinds {
		least, all := k.limits(runs)
		n.passes = append(n.passes, passNeeds{all: all, least: least, slotBytes: slotBytes[i]})
		whole[i] = limit{slots: all, rows: p.src.n}
	}
	p.cutInto(runs, kinds, whole, tables)
	n.fixed = p.wants.total() + int64(8*len(p.table))
	var err error
	if p.fit, err = n.decide(room); err != nil {
		return err
	}
	limits := make([]limit, len(kinds))
	same := true
	for i := range kinds {
		limits[i] = p.fit.limit(i)
		same = same && limits[i] == whole[i]
	}
	p.cramped = !same
	if p.cramped {
		p.cutInto(runs, kinds, limits, tables)
	}
	for i, pass := range p.passes {
		p.wants[arrayPart] = max(p.wants[arrayPart], int64(pass.slots)*slotBytes[i])
	}
	p.src.wantRows(&p.wants, p.at, p.fit.rows)
	p.wants[arrayRes] = int64(p.fit.rows) * perRow
	return nil
}

func (p *plan) cutInto(runs []run, kinds []kind, limits []limit, tables func()) {
	p.passes, p.table, p.begin = nil, nil, nil
	for i, k := range kinds {
		p.passes = append(p.passes, k.plan(runs, limits[i]))
	}
	tables()
}

// groups is how many launches of a kernel with four outputs d of them take; one
// at least, for what the kernel sums besides.
func groups(d int) int { return max(1, parts(d, outputGroup)) }

// outputGroup is how many outputs a column kernel takes at a time.
const outputGroup = 4

// tile is the tile of a pass over the runs in the share's precision.
func (s *share) tile(runs []run) int {
	if s.mixed {
		return tileFor(0)
	}
	return tileFor(widest(runs))
}

// stageGram is a Gram matrix in one array: its own memory where it has one
// block, else a copy.
func (s *share) stageGram(g *spectral.Gram) []float64 {
	if g.Blocks() == 1 {
		return g.Diag[0]
	}
	s.host.gram = s.host.gram[:0]
	for v, b := range g.Diag {
		s.host.gram = append(s.host.gram, b...)
		if v < len(g.Below) {
			s.host.gram = append(s.host.gram, g.Below[v]...)
		}
	}
	return s.host.gram
}
