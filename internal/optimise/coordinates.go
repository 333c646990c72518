package optimise

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// Coordinates map the free parameters of a model to the vector that an optimiser
// moves, and back. This is the one place where they are transformed. Positive
// numbers become logarithms; the others become differences from where they
// began, in units in which a step of one is about as large for each
// (variational.Tensor.Unit). A uniform phase becomes its centre and the logit of
// its width over 2π, the noise −log(τ⁻¹ − level).
type Coordinates struct {
	groups []group
	spans  []span // all of them
	n      int
	level  variational.NoiseLevel
}

// N is the number of coordinates.
func (c *Coordinates) N() int { return c.n }

// span is some neighbouring entries of a group, index[lo:hi], whose
// coordinates begin at at.
type span struct{ group, lo, hi, at int }

// group is the free entries of one tensor.
type group struct {
	tensor int // place in Params.Tensors
	kind   variational.Coordinate
	index  []int        // entries, one coordinate each (two for a phase)
	ref    []float64    // Shift: where each began
	scale  []float64    // Shift: its unit
	tied   [][]follower // entries that move with index's, or nil
	across bool         // tied over windows
}

// follower is an entry that moves with another: it keeps its difference from
// it, or for logarithms its ratio to it, as both began.
type follower struct {
	index int
	ref   float64 // Shift: where it began; Log: its ratio to the one it follows
}

// NewCoordinates covers the entries of the named tensors that are parameters,
// one coordinate for those that are tied. reach is how far along x a feature can
// be seen at most.
func NewCoordinates(p *variational.Params, free []string, ties Ties, reach float64) *Coordinates {
	c := &Coordinates{}
	for t, tensor := range p.Tensors() {
		if !slices.Contains(free, tensor.Name) || tensor.Coordinate == variational.PhaseEnd {
			continue
		}
		g := group{tensor: t, kind: tensor.Coordinate}
		class, across := ties.of(tensor, p)
		g.across = across
		leaders := map[int]int{}
		for i, value := range *tensor.Data {
			if tensor.Constant(i) {
				continue
			}
			if class != nil {
				if j, ok := leaders[class(i)]; ok {
					g.follow(j, i, *tensor.Data)
					continue
				}
				leaders[class(i)] = len(g.index)
				g.tied = append(g.tied, nil)
			}
			g.index = append(g.index, i)
			if g.kind == variational.Shift {
				g.ref = append(g.ref, value)
				g.scale = append(g.scale, tensor.Unit(i, reach))
			}
		}
		if len(g.index) > 0 {
			c.spans = append(c.spans, span{len(c.groups), 0, len(g.index), c.n})
			c.groups = append(c.groups, g)
			c.n += g.width() * len(g.index)
		}
	}
	return c
}

// follow ties entry i to that of coordinate j.
func (g *group) follow(j, i int, data []float64) {
	f := follower{index: i, ref: data[i]}
	if g.kind == variational.Log {
		f.ref /= data[g.index[j]]
	}
	g.tied[j] = append(g.tied[j], f)
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
		for j, i := range g.index {
			switch g.kind {
			case variational.Log:
				v[at] = math.Log(data[i])
			case variational.Shift:
				v[at] = (data[i] - g.ref[j]) / g.scale[j]
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

// belowLevel is how far above the noise level a noise begins that was set below,
// as a share of the level.
const belowLevel = 1e-3

// write sets p's free parameters from v.
func (c *Coordinates) write(p *variational.Params, v []float64) { c.writeSpans(c.spans, p, v) }

// writeSpans is write for some coordinates alone.
func (c *Coordinates) writeSpans(spans []span, p *variational.Params, v []float64) {
	tensors := p.Tensors()
	for _, s := range spans {
		g, at := &c.groups[s.group], s.at
		data := *tensors[g.tensor].Data
		for j := s.lo; j < s.hi; j++ {
			i := g.index[j]
			switch g.kind {
			case variational.Log:
				data[i] = math.Exp(v[at])
			case variational.Shift:
				data[i] = g.ref[j] + g.scale[j]*v[at]
			case variational.Phase:
				half := math.Pi / (1 + math.Exp(-v[at+1]))
				p.PhaseLower[i], p.PhaseUpper[i] = v[at]-half, v[at]+half
			case variational.Level:
				data[i] = 1 / (math.Exp(-v[at]) + c.level.At(p))
			}
			for _, f := range g.followers(j) {
				if g.kind == variational.Log {
					data[f.index] = f.ref * data[i]
				} else {
					data[f.index] = f.ref + g.scale[j]*v[at]
				}
			}
			at += g.width()
		}
	}
}

// logMost is how far the logarithms of what steps unwatched may go: the numbers
// and their ratios to others that are tied to them stay positive and finite.
const logMost = 600

// hold keeps a span's logarithms within logMost.
func (c *Coordinates) hold(v []float64, s span) {
	if kind := c.groups[s.group].kind; kind != variational.Log && kind != variational.Level {
		return
	}
	lo, hi := c.coordinates(s)
	for i := lo; i < hi; i++ {
		v[i] = max(-logMost, min(logMost, v[i]))
	}
}

// pull writes into v the gradient by the vector of a number whose gradient by
// the parameters, at p, is g. It adds to grad what comes by way of the noise level.
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
		g, at := &c.groups[s.group], s.at
		data, bar := *tensors[g.tensor].Data, *bars[g.tensor].Data
		skip := first * tensors[g.tensor].PerComponent(p.L) // of data, before bar
		for j := s.lo; j < s.hi; j++ {
			i := g.index[j]
			switch g.kind {
			case variational.Log:
				v[at] = g.sum(j, skip, bar, data)
			case variational.Shift:
				v[at] = g.sum(j, skip, bar, nil) * g.scale[j]
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
	}
}

// sum is the gradient by coordinate j's entries, summed, each times its value
// where times is given; bar begins at entry skip and may end before the last.
func (g *group) sum(j, skip int, bar, times []float64) float64 {
	s := 0.0
	add := func(i int) {
		if at := i - skip; at >= 0 && at < len(bar) {
			if b := bar[at]; times != nil {
				s += b * times[i]
			} else {
				s += b
			}
		}
	}
	add(g.index[j])
	for _, f := range g.followers(j) {
		add(f.index)
	}
	return s
}

// followers are the entries that move with coordinate j's.
func (g *group) followers(j int) []follower {
	if g.tied == nil {
		return nil
	}
	return g.tied[j]
}

// coordinates is the range of a span's.
func (c *Coordinates) coordinates(s span) (lo, hi int) {
	return s.at, s.at + (s.hi-s.lo)*c.groups[s.group].width()
}
