package backend

import "slices"

// Prepared are rows in the order in which the backends sum them, with the gates of
// the windows over them and the step between neighbors.
type Prepared struct {
	Order []int        // [N] the given row at each place
	Place []int        // [N] the place of each given row
	Runs  []Run        // of places, rising in Cell
	X, Y  []float64    // [N,Q], [N,D] by place
	Gate  [2][]float64 // [N] gates of the first and the second window of a row's run, 0 if there is no second; nil without windows
	Delta float64      // the most frequent exact step between neighbors; 0: none, or several inputs
	Even  []int32      // [N] rows of the run from each on, itself included, that lie Delta apart; nil if Delta is 0
}

// Prepare returns a copy of the rows in the order in which backends sum them.
func (d *Data) Prepare() *Prepared {
	l := d.Windows.NewLayout(d.X, d.N, d.Q)
	p := &Prepared{Order: l.Order, Place: make([]int, d.N)}
	for place, n := range l.Order {
		p.Place[n] = place
	}
	p.Gather(d, l.Order, l.Runs)
	if d.Q == 1 {
		if p.Delta = commonStep(p.X, p.Runs); p.Delta != 0 {
			p.Even = evenRows(p.X, p.Runs, p.Delta)
		}
	}
	return p
}

// Gather copies the given rows of d, which the runs count one after the other, and
// their gates into p, whose memory it uses again.
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

// Pick appends the places of some given rows to places, rising, and the runs that
// they are in, counted among these rows alone, to runs.
func (p *Prepared) Pick(places []int, runs []Run, given []int) ([]int, []Run) {
	for _, n := range given {
		places = append(places, p.Place[n])
	}
	slices.Sort(places)
	run := 0
	for i, place := range places {
		for place >= p.Runs[run].Hi {
			run++
		}
		if k := len(runs); k == 0 || runs[k-1].Cell != p.Runs[run].Cell {
			r := p.Runs[run]
			r.Lo = i
			runs = append(runs, r)
		}
		runs[len(runs)-1].Hi = i + 1
	}
	return places, runs
}
