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

// Coordinates map the free parameters of a model to a vector of unconstrained numbers and back,
// and transform gradients by the chain rule. The optimizer works on this vector. The transforms
// are:
//
//   - a positive parameter: its logarithm;
//   - a real parameter: its difference from the initial value, scaled to comparable steps
//     (variational.Tensor.Unit);
//   - a uniform phase: its center, and the logit of its width over 2π;
//   - the noise precision τ: −log(τ⁻¹ − level), so that the noise variance τ⁻¹ stays above the
//     smallest level that float64 can resolve.
//
// Tied parameters share a coordinate.
type Coordinates struct {
	groups []group
	spans  []span
	n      int
	level  variational.NoiseLevel
	priors []bayes.Prior // [n]; nil or a zero SD: no prior
}

// N returns the number of coordinates.
func (c *Coordinates) N() int { return c.n }

// A span is the coordinates [lo, hi) of a group. Coordinate lo begins at index at of the vector.
type span struct{ group, lo, hi, at int }

// A group contains the free entries of one tensor.
type group struct {
	tensor  int // index in Params.Tensors
	kind    variational.Coordinate
	entries []entry   // sorted by coordinate
	first   []int     // coordinate j moves entries[first[j]:first[j+1]] and is defined by the first of them; nil: entries[j] alone
	scale   []float64 // Shift: the unit of each coordinate
	across  bool      // whether a coordinate moves entries of several windows
}

// An entry is a number of a tensor. Entries that share a coordinate keep their initial differences,
// or for logarithms their initial ratios.
type entry struct {
	index int     // in the tensor
	ref   float64 // Shift: initial value; Log: ratio to the coordinate's first entry
}

// NewCoordinates returns the coordinates of the free entries of the named tensors. Tied entries
// share one. reach is the maximum distance along x at which a feature has an effect, in the
// model's units.
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

// newGroup sorts the free entries of tensor number t by coordinate.
func newGroup(t int, tensor variational.Tensor, p *variational.Params, ties Ties, reach float64) group {
	g, data := group{tensor: t, kind: tensor.Coordinate}, *tensor.Data
	class, across := ties.of(tensor, p)
	g.across = across
	coordinate := slices.Repeat([]int{-1}, len(data)) // of each class
	var leads, of []int                               // the first entry of each coordinate, the coordinate of each entry
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

// sort sorts the entries by coordinate; of contains the coordinate of each entry, less than n.
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

// count returns the number of coordinates, where a phase's center and width count once.
func (g *group) count() int {
	if g.first == nil {
		return len(g.entries)
	}
	return len(g.first) - 1
}

// of returns the entries that coordinate j moves.
func (g *group) of(j int) []entry {
	if g.first == nil {
		return g.entries[j : j+1]
	}
	return g.entries[g.first[j]:g.first[j+1]]
}

// width returns the number of vector elements per coordinate: two for a phase.
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

// atOnce is the number of coordinates per block of parallel work.
const atOnce = 1 << 12

// each calls do in parallel for blocks [lo, hi) of a span's coordinates; coordinate lo begins at
// v[at].
func (c *Coordinates) each(s span, do func(lo, hi, at int)) {
	width := c.groups[s.group].width()
	parallel.Blocks(s.hi-s.lo, atOnce, func(_, lo, hi int) { do(s.lo+lo, s.lo+hi, s.at+lo*width) })
}

// writeSpans is write for the coordinates of the given spans.
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

// logMost bounds the logarithms of parameters that mini-batch steps change without a check. The
// parameters and their ratios to tied ones then stay positive and finite.
const logMost = 600

// clamp limits a span's logarithms to ±logMost.
func (c *Coordinates) clamp(v []float64, s span) {
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

// pullSpans is pull for the coordinates of the given spans. grad contains the gradients of the
// components from first on.
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

// sum returns the sum of the gradient bar over the entries that coordinate j moves, each
// multiplied by its value in data if data is not nil. bar begins at entry skip.
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

// coordinates returns the range of vector elements of a span.
func (c *Coordinates) coordinates(s span) (lo, hi int) {
	return s.at, s.at + (s.hi-s.lo)*c.groups[s.group].width()
}

// Ties specify which entries of a tensor change together.
type Ties struct {
	Twins   bool     // each cosine and sine pair of SSGP has one frequency
	Shared  bool     // all windows have the same components
	Tensors []string // tensors with one value for all components
}

// of returns a function from an entry of a tensor to its class, identified by an entry's index;
// one coordinate moves all entries of a class. across reports whether a class extends over
// several windows.
func (t Ties) of(tensor variational.Tensor, p *variational.Params) (class func(i int) int, across bool) {
	each := max(1, tensor.PerComponent(p.L))
	switch {
	case t.Twins && tensor.Name == variational.FrequencyMean:
		return func(i int) int { return i/p.Q/2*p.Q + i%p.Q }, false
	case slices.Contains(t.Tensors, tensor.Name):
		return func(i int) int { return i % each }, true
	case t.Shared && p.ComponentWindow != nil && tensor.Tieable:
		index := make([]int, p.L) // index of each component in its window
		p.EachWindow(func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				index[i] = i - lo
			}
		})
		return func(i int) int { return index[i/each]*each + i%each }, true
	}
	return func(i int) int { return i }, false
}

// blocks returns the blocks of coordinates per window, preceded by a block of the shared ones, or
// nil if there are fewer windows than perWindow. A window without free parameters has no block.
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

// byWindow returns the spans that all windows share, and the spans of each window.
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
