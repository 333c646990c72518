package backend

import "slices"

// Prepared contains rows in the order in which backends sum them, with the gates of their
// windows and the step between neighbors.
type Prepared struct {
	Order []int        // [N] original row at each position
	Runs  []Run        // of positions, in order of increasing Cell
	X, Y  []float64    // [N,Q], [N,D] by position
	Gate  [2][]float64 // [N] gates of the first and the second window of a row's run, 0 if there is no second; nil without windows
	Delta float64      // most frequent exact step between neighbors; 0 if there is none or there are several inputs
	Even  []int32      // [N] number of consecutive rows of the run, starting with each, that are Delta apart; nil if Delta is 0

	position []int // [N] position of each original row
}

// Prepare returns a copy of the rows in the order in which backends sum them.
func (d *Data) Prepare() *Prepared {
	l := d.Windows.NewLayout(d.X, d.N, d.Q)
	p := &Prepared{Order: l.Order, position: make([]int, d.N)}
	for i, n := range l.Order {
		p.position[n] = i
	}
	p.Gather(d, l.Order, l.Runs)
	if d.Q == 1 {
		if p.Delta = commonStep(p.X, p.Runs); p.Delta != 0 {
			p.Even = evenRows(p.X, p.Runs, p.Delta)
		}
	}
	return p
}

// Gather copies the given rows of d and their gates into p and reuses p's memory. runs index
// the given rows.
func (p *Prepared) Gather(d *Data, given []int, runs []Run) {
	p.Runs, p.X, p.Y = runs, p.X[:0], p.Y[:0]
	p.X, p.Y = slices.Grow(p.X, len(given)*d.Q), slices.Grow(p.Y, len(given)*d.D)
	for _, n := range given {
		p.X = append(p.X, d.X[n*d.Q:(n+1)*d.Q]...)
		p.Y = append(p.Y, d.Y[n*d.D:(n+1)*d.D]...)
	}
	w := &d.Windows
	if w.Count() == 1 {
		return
	}
	for i := range p.Gate {
		p.Gate[i] = slices.Grow(p.Gate[i][:0], len(given))[:len(given)]
	}
	for _, r := range runs {
		for i := range p.Gate {
			gate, v := p.Gate[i][r.Lo:r.Hi], r.First+i
			if v >= r.End {
				clear(gate)
				continue
			}
			for n := range gate {
				gate[n] = w.Gate(v, p.X[(r.Lo+n)*d.Q+w.Dim])
			}
		}
	}
}

// Pick appends the sorted positions of the given rows to positions, and their runs to runs. The
// runs index the sorted positions.
func (p *Prepared) Pick(positions []int, runs []Run, given []int) ([]int, []Run) {
	for _, n := range given {
		positions = append(positions, p.position[n])
	}
	slices.Sort(positions)
	run := 0
	for i, position := range positions {
		for position >= p.Runs[run].Hi {
			run++
		}
		if k := len(runs); k == 0 || runs[k-1].Cell != p.Runs[run].Cell {
			r := p.Runs[run]
			r.Lo = i
			runs = append(runs, r)
		}
		runs[len(runs)-1].Hi = i + 1
	}
	return positions, runs
}
