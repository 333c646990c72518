package optimize

import (
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/variational"
)

// Coordinates transform the free parameters of a model to a vector of
// unconstrained numbers, on which the optimizer works, and back. They also
// transform gradients, by the chain rule. The transforms are:
//
//   - a positive parameter: its logarithm;
//   - a parameter of any sign: its difference from the initial value, in a unit
//     (variational.Tensor.Unit) that makes steps of one comparable;
//   - a uniform phase: its center, and the logit of its width over 2π;
//   - the noise precision τ: −log(τ⁻¹ − level), so that the noise variance τ⁻¹
//     stays above the least level that float64 can resolve.
//
// Parameters that are tied share a coordinate.
type Coordinates struct {
	groups []group
	spans  []span // all of them
	n      int
	level  variational.NoiseLevel
	priors []bayes.Prior // [n] of the coordinates; without an SD, or nil: none
}

// N returns the number of coordinates.
func (c *Coordinates) N() int { return c.n }

// span is some neighboring coordinates of a group, from number lo to hi, of which
// the first is at at.
type span struct{ group, lo, hi, at int }

// group is the free entries of one tensor.
type group struct {
	tensor  int // place in Params.Tensors
	kind    variational.Coordinate
	entries []entry   // by their coordinates
	first   []int     // coordinate j (of a phase two) moves entries[first[j]:first[j+1]], of which the first leads; nil: entries[j] alone
	scale   []float64 // Shift: a coordinate's unit
	across  bool      // whether coordinates move entries of several windows
}

// entry is a number of a tensor. Entries of one coordinate change together: they keep
// their differences, or for logarithms their ratios, as they began.
type entry struct {
	index int     // its place in the tensor
	ref   float64 // Shift: where it began; Log: its ratio to the entry that leads
}

// NewCoordinates returns the coordinates of the free entries of the named tensors,
// one for all entries that are tied. reach is the greatest distance along x at which
// a feature has an effect, in the model's units.
func NewCoordinates(p *variational.Params, free []string, ties Ties, reach float64) *Coordinates {
	c := &Coordinates{}
	for t, tensor := range p.Tensors() {
		if !slices.Contains(free, tensor.Name) || tensor.Coordinate == variational.PhaseEnd {
			continue
		}
		if g := newGroup(t, tensor, p, ties, reach); g.count() > 0 {
			c.spans = append(c.spans, span{len(c.groups), 0, g.count(), c.n})
			c.groups = append(c.groups, g)
			c.n += g.width() * g.count()
		}
	}
	return c
}

// newGroup sorts the free entries of tensor number t by their coordinates.
func newGroup(t int, tensor variational.Tensor, p *variational.Params, ties Ties, reach float64) group {
	g, data := group{tensor: t, kind: tensor.Coordinate}, *tensor.Data
	class, across := ties.of(tensor, p)
	g.across = across
	coordinate := slices.Repeat([]int{-1}, len(data)) // of each class
	var leads, of []int                               // the entry that leads each coordinate, the coordinate of each entry
	for i, value := range data {
		if tensor.Constant(i) {
			continue
		}
		j := &coordinate[class(i)]
		if *j < 0 {
			*j, leads = len(leads), append(leads, i)
			if g.kind == variational.Shift {
				g.scale = append(g.scale, tensor.Unit(i, reach))
			}
		}
		if g.kind == variational.Log {
			value /= data[leads[*j]]
		}
		g.entries, of = append(g.entries, entry{i, value}), append(of, *j)
	}
	if len(leads) < len(g.entries) {
		g.sort(of, len(leads))
	}
	return g
}

// sort puts the entries in the order of their coordinates, of which there are n.
func (g *group) sort(of []int, n int) {
	g.first = make([]int, n+1)
	for _, j := range of {
		g.first[j+1]++
	}
	for j := range n {
		g.first[j+1] += g.first[j]
	}
	next, sorted := slices.Clone(g.first), make([]entry, len(of))
	for i, j := range of {
		sorted[next[j]] = g.entries[i]
		next[j]++
	}
	g.entries = sorted
}

// count is the number of coordinates. The two of a phase count once.
func (g *group) count() int {
	if g.first == nil {
		return len(g.entries)
	}
	return len(g.first) - 1
}

// of is the entries that coordinate j moves.
func (g *group) of(j int) []entry {
	if g.first == nil {
		return g.entries[j : j+1]
	}
	return g.entries[g.first[j]:g.first[j+1]]
}

// width is the coordinates an entry takes.
func (g *group) width() int {
	if g.kind == variational.Phase {
		return 2
	}
	return 1
}

// read writes p's free parameters into v [n].
func (c *Coordinates) read(v []float64, p *variational.Params) {
	tensors := p.Tensors()
	at := 0
	for _, g := range c.groups {
		data := *tensors[g.tensor].Data
		for j := range g.count() {
			lead := g.of(j)[0]
			switch i := lead.index; g.kind {
			case variational.Log:
				v[at] = math.Log(data[i])
			case variational.Shift:
				v[at] = (data[i] - lead.ref) / g.scale[j]
			case variational.Phase:
				share := (p.PhaseUpper[i] - p.PhaseLower[i]) / (2 * math.Pi)
				v[at] = (p.PhaseUpper[i] + p.PhaseLower[i]) / 2
				v[at+1] = math.Log(share / max(1-share, 1e-16))
			case variational.Level:
				v[at] = math.Log(data[i] / max(1-c.level.At(p)*data[i], belowLevel))
			}
			at += g.width()
		}
	}
}

// belowLevel is the initial excess of the noise over the noise level, relative to the level,
// if the given noise is below it.
const belowLevel = 1e-3

// write sets p's free parameters from v.
func (c *Coordinates) write(p *variational.Params, v []float64) { c.writeSpans(c.spans, p, v) }

// atOnce is how many coordinates a core takes at a time.
const atOnce = 1 << 12

// each calls do for parts [lo, hi) of a span's coordinates, the first of which is v[at],
// on all cores.
func (c *Coordinates) each(s span, do func(lo, hi, at int)) {
	width := c.groups[s.group].width()
	parallel.Blocks(s.hi-s.lo, atOnce, func(_, lo, hi int) { do(s.lo+lo, s.lo+hi, s.at+lo*width) })
}

// writeSpans is write for some coordinates alone.
func (c *Coordinates) writeSpans(spans []span, p *variational.Params, v []float64) {
	tensors := p.Tensors()
	for _, s := range spans {
		g := &c.groups[s.group]
		data := *tensors[g.tensor].Data
		c.each(s, func(lo, hi, at int) {
			switch g.kind {
			case variational.Log:
				for j := lo; j < hi; j++ {
					value := math.Exp(v[at+j-lo])
					for _, e := range g.of(j) {
						data[e.index] = e.ref * value
					}
				}
			case variational.Shift:
				for j := lo; j < hi; j++ {
					shift := g.scale[j] * v[at+j-lo]
					for _, e := range g.of(j) {
						data[e.index] = e.ref + shift
					}
				}
			case variational.Phase:
				for j := lo; j < hi; j++ {
					center, half := v[at+2*(j-lo)], math.Pi/(1+math.Exp(-v[at+2*(j-lo)+1]))
					for _, e := range g.of(j) {
						p.PhaseLower[e.index], p.PhaseUpper[e.index] = center-half, center+half
					}
				}
			case variational.Level:
				data[0] = 1 / (math.Exp(-v[at]) + c.level.At(p))
			}
		})
	}
}

// logMost bounds the logarithms of parameters that change without a check: the numbers
// and their ratios to others that are tied to them stay positive and finite.
const logMost = 600

// hold limits a span's logarithms to logMost.
func (c *Coordinates) hold(v []float64, s span) {
	if kind := c.groups[s.group].kind; kind != variational.Log && kind != variational.Level {
		return
	}
	lo, hi := c.coordinates(s)
	for i := lo; i < hi; i++ {
		v[i] = max(-logMost, min(logMost, v[i]))
	}
}

// pull writes into v the gradient with respect to the coordinates, given the gradient grad
// with respect to the parameters p. It adds the gradient through the noise level to grad.
func (c *Coordinates) pull(v []float64, p, grad *variational.Params) {
	if slices.ContainsFunc(c.groups, func(g group) bool { return g.kind == variational.Level }) {
		c.level.Pull(p, grad)
	}
	c.pullSpans(c.spans, v, p, grad, 0)
}

// pullSpans is pull for some coordinates alone, grad being by the components
// from first on.
func (c *Coordinates) pullSpans(spans []span, v []float64, p, grad *variational.Params, first int) {
	tensors, bars := p.Tensors(), grad.Tensors()
	for _, s := range spans {
		g := &c.groups[s.group]
		data, bar := *tensors[g.tensor].Data, *bars[g.tensor].Data
		skip := first * tensors[g.tensor].PerComponent(p.L) // of data, before bar
		c.each(s, func(lo, hi, at int) {
			for j := lo; j < hi; j++ {
				switch i := g.of(j)[0].index; g.kind {
				case variational.Log:
					v[at] = g.sum(j, bar, data, skip)
				case variational.Shift:
					v[at] = g.sum(j, bar, nil, skip) * g.scale[j]
				case variational.Phase:
					half := (p.PhaseUpper[i] - p.PhaseLower[i]) / 2
					lower, upper := grad.PhaseLower[i-skip], grad.PhaseUpper[i-skip]
					v[at] = lower + upper
					v[at+1] = (upper - lower) * half * (1 - half/math.Pi)
				case variational.Level:
					v[at] = bar[0] * data[0] * (1 - c.level.At(p)*data[0])
				}
				at += g.width()
			}
		})
	}
}

// sum adds up the gradient bar by the entries that coordinate j moves, each times its
// value in data unless that is nil. bar begins at entry skip.
func (g *group) sum(j int, bar, data []float64, skip int) (sum float64) {
	for _, e := range g.of(j) {
		k := e.index - skip
		if k < 0 || k >= len(bar) {
			continue
		}
		if data == nil {
			sum += bar[k]
		} else {
			sum += bar[k] * data[e.index]
		}
	}
	return sum
}

// coordinates is the range of a span's.
func (c *Coordinates) coordinates(s span) (lo, hi int) {
	return s.at, s.at + (s.hi-s.lo)*c.groups[s.group].width()
}

// Ties specify which entries of a tensor change together.
type Ties struct {
	Twins   bool     // SSGP's cosine and sine have one frequency
	Shared  bool     // the windows' components are one set
	Tensors []string // moving as one over all components
}

// of is the class of each entry of a tensor, of which one coordinate moves all
// entries, and whether it reaches over windows. Classes are numbers of entries.
func (t Ties) of(tensor variational.Tensor, p *variational.Params) (class func(i int) int, across bool) {
	each := max(1, tensor.PerComponent(p.L))
	switch {
	case t.Twins && tensor.Name == variational.FrequencyMean:
		return func(i int) int { return i/p.Q/2*p.Q + i%p.Q }, false
	case slices.Contains(t.Tensors, tensor.Name):
		return func(i int) int { return i % each }, true
	case t.Shared && p.ComponentWindow != nil && tensor.Tieable:
		place := make([]int, p.L) // index of each component in its window
		p.EachWindow(func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				place[i] = i - lo
			}
		})
		return func(i int) int { return place[i/each]*each + i%each }, true
	}
	return func(i int) int { return i }, false
}

// blocks are the coordinates by window, shared ones first; none if there are
// fewer windows than step each by itself. A window without free parameters has no
// block.
func (c *Coordinates) blocks(p *variational.Params, perWindow int) []lbfgs.Block {
	if p.Windows.Count() < max(2, perWindow) {
		return nil
	}
	shared, own := c.byWindow(p)
	blocks := []lbfgs.Block{{Own: c.ranges(shared), Shared: true}}
	for _, spans := range own {
		blocks = append(blocks, lbfgs.Block{Own: c.ranges(spans)})
	}
	return slices.DeleteFunc(blocks, func(b lbfgs.Block) bool { return len(b.Own) == 0 })
}

// byWindow returns the spans that all windows share, and each window's own.
func (c *Coordinates) byWindow(p *variational.Params) (shared []span, own [][]span) {
	own = make([][]span, p.Windows.Count())
	tensors := p.Tensors()
	for _, s := range c.spans {
		g := &c.groups[s.group]
		each := tensors[g.tensor].PerComponent(p.L)
		if each == 0 || g.across {
			shared = append(shared, s)
			continue
		}
		lo := 0
		for v := range own {
			hi := s.hi
			if p.ComponentWindow != nil {
				hi = sort.Search(s.hi, func(j int) bool { return p.ComponentWindow[g.of(j)[0].index/each] > v })
			}
			if lo < hi {
				own[v] = append(own[v], span{s.group, lo, hi, s.at + lo*g.width()})
			}
			lo = hi
		}
	}
	return shared, own
}

func (c *Coordinates) ranges(spans []span) (r lbfgs.Ranges) {
	for _, s := range spans {
		lo, hi := c.coordinates(s)
		r = append(r, lbfgs.Range{Lo: lo, Hi: hi})
	}
	return r
}
