package vssgp

import (
	"math"
	"slices"
)

// A chart maps the free parameters of a model to the vector that an optimiser
// sees and back; it is the one place where they are transformed. Positive
// numbers go as logarithms; the others as differences from where they started,
// in units in which a step of one is about as large for each:
//
//	z: 1/√(ω² + P)        a radian of the feature's own phase
//	μ: min(1, l/reach)    a radian at the feature's reach
//	p: 1/(2π·reach)       the same
//	m: √s                 a posterior standard deviation
//
// A uniform phase goes as its centre and the logit of its width over 2π, the
// noise as −log(τ⁻¹ − floor).
type chart struct {
	groups []chartGroup
	spans  []span // all of them
	n      int
	floor  noiseFloor
}

// span is some neighbouring entries of a group, index[lo:hi], whose
// coordinates begin at at.
type span struct{ group, lo, hi, at int }

type chartKind int

const (
	asLog chartKind = iota
	asShift
	asPhase // lower and upper end together
	asNoise // after the variances, of which its floor is made
)

// chartGroup is the free entries of one tensor.
type chartGroup struct {
	tensor int // place in Params.Tensors
	kind   chartKind
	index  []int        // entries, one coordinate each (two for a phase)
	ref    []float64    // asShift: where each started
	scale  []float64    // asShift: its unit
	tied   [][]follower // entries that move with index's, or nil
	across bool         // tied over windows
}

// follower is an entry that moves with another: it keeps its difference from
// it, or for logarithms its ratio to it, as both started.
type follower struct {
	index int
	ref   float64 // asShift: where it started; asLog: its ratio to the one it follows
}

// newChart covers the entries of the named tensors that are parameters, one
// coordinate for those that are tied. reach is how far along x a feature can be
// seen at most.
func newChart(p *Params, free []string, ties ties, reach float64) *chart {
	c := &chart{}
	for t, tensor := range p.Tensors() {
		if !slices.Contains(free, tensor.Name) || tensor.Name == "phase.upper" {
			continue
		}
		g := chartGroup{tensor: t, kind: kindOf(tensor.Name)}
		class, across := ties.of(tensor.Name, p)
		g.across = across
		leaders := map[int]int{}
		for i, value := range *tensor.Data {
			if p.Fixed(tensor.Name, i) {
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
			if g.kind == asShift {
				g.ref = append(g.ref, value)
				g.scale = append(g.scale, p.unit(tensor.Name, i, reach))
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
func (g *chartGroup) follow(j, i int, data []float64) {
	f := follower{index: i, ref: data[i]}
	if g.kind == asLog {
		f.ref /= data[g.index[j]]
	}
	g.tied[j] = append(g.tied[j], f)
}

func kindOf(name string) chartKind {
	switch name {
	case "inducing.location", "frequency.mean", "kernel.frequency", "coefficient.mean":
		return asShift
	case "phase.lower":
		return asPhase
	case "noise.precision":
		return asNoise
	}
	return asLog
}

// width is the coordinates an entry takes.
func (g *chartGroup) width() int {
	if g.kind == asPhase {
		return 2
	}
	return 1
}

// unit is the natural step of entry i of a tensor that goes as a shift.
func (p *Params) unit(name string, i int, reach float64) float64 {
	q := i % p.Q
	switch name {
	case "kernel.frequency":
		return 1 / (2 * math.Pi * reach)
	case "frequency.mean":
		return min(1, p.Lengthscale[(i/p.Q/p.K)*p.Q+q]/reach)
	case "inducing.location":
		of := (i/p.Q/p.K)*p.Q + q
		l := p.Lengthscale[of]
		omega := p.FreqMean[i]/l + 2*math.Pi*p.Frequency[of]
		return 1 / math.Sqrt(omega*omega+p.FreqVar[i]/(l*l)+1/(reach*reach))
	case "coefficient.mean":
		return math.Sqrt(p.CoefVar[i])
	}
	return 1
}

// read writes p's free parameters into v [n].
func (c *chart) read(v []float64, p *Params) {
	tensors := p.Tensors()
	at := 0
	for _, g := range c.groups {
		data := *tensors[g.tensor].Data
		for j, i := range g.index {
			switch g.kind {
			case asLog:
				v[at] = math.Log(data[i])
			case asShift:
				v[at] = (data[i] - g.ref[j]) / g.scale[j]
			case asPhase:
				share := (p.PhaseUpper[i] - p.PhaseLower[i]) / (2 * math.Pi)
				v[at] = (p.PhaseUpper[i] + p.PhaseLower[i]) / 2
				v[at+1] = math.Log(share / max(1-share, 1e-16))
			case asNoise:
				v[at] = math.Log(data[i] / max(1-c.floor.at(p)*data[i], belowFloor))
			}
			at += g.width()
		}
	}
}

// belowFloor is how far above its floor a noise begins that was set below, in
// parts of the floor.
const belowFloor = 1e-3

// write sets p's free parameters from v.
func (c *chart) write(p *Params, v []float64) { c.writeSpans(c.spans, p, v) }

// writeSpans is write for some coordinates alone.
func (c *chart) writeSpans(spans []span, p *Params, v []float64) {
	tensors := p.Tensors()
	for _, s := range spans {
		g, at := &c.groups[s.group], s.at
		data := *tensors[g.tensor].Data
		for j := s.lo; j < s.hi; j++ {
			i := g.index[j]
			switch g.kind {
			case asLog:
				data[i] = math.Exp(v[at])
			case asShift:
				data[i] = g.ref[j] + g.scale[j]*v[at]
			case asPhase:
				half := math.Pi / (1 + math.Exp(-v[at+1]))
				p.PhaseLower[i], p.PhaseUpper[i] = v[at]-half, v[at]+half
			case asNoise:
				data[i] = 1 / (math.Exp(-v[at]) + c.floor.at(p))
			}
			for _, f := range g.followers(j) {
				if g.kind == asLog {
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
func (c *chart) hold(v []float64, s span) {
	if kind := c.groups[s.group].kind; kind != asLog && kind != asNoise {
		return
	}
	lo, hi := c.coordinates(s)
	for i := lo; i < hi; i++ {
		v[i] = max(-logMost, min(logMost, v[i]))
	}
}

// pull writes into v the gradient by the vector of a number whose gradient by
// the parameters, at p, is g. It adds to grad what moves the noise's floor.
func (c *chart) pull(v []float64, p, grad *Params) {
	if slices.ContainsFunc(c.groups, func(g chartGroup) bool { return g.kind == asNoise }) {
		c.floor.through(p, grad)
	}
	c.pullSpans(c.spans, v, p, grad, 0)
}

// pullSpans is pull for some coordinates alone, grad being by the components
// from first on.
func (c *chart) pullSpans(spans []span, v []float64, p, grad *Params, first int) {
	tensors, bars := p.Tensors(), grad.Tensors()
	for _, s := range spans {
		g, at := &c.groups[s.group], s.at
		data, bar := *tensors[g.tensor].Data, *bars[g.tensor].Data
		skip := first * entries(tensors[g.tensor], p.L) // of data, before bar
		for j := s.lo; j < s.hi; j++ {
			i := g.index[j]
			switch g.kind {
			case asLog:
				v[at] = g.sum(j, skip, bar, data)
			case asShift:
				v[at] = g.sum(j, skip, bar, nil) * g.scale[j]
			case asPhase:
				half := (p.PhaseUpper[i] - p.PhaseLower[i]) / 2
				lower, upper := grad.PhaseLower[i-skip], grad.PhaseUpper[i-skip]
				v[at] = lower + upper
				v[at+1] = (upper - lower) * half * (1 - half/math.Pi)
			case asNoise:
				v[at] = bar[0] * data[0] * (1 - c.floor.at(p)*data[0])
			}
			at += g.width()
		}
	}
}

// sum is the gradient by coordinate j's entries, summed, each times its value
// where times is given; bar begins at entry skip and may end before the last.
func (g *chartGroup) sum(j, skip int, bar, times []float64) float64 {
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
func (g *chartGroup) followers(j int) []follower {
	if g.tied == nil {
		return nil
	}
	return g.tied[j]
}

// entries is how many of a tensor's belong to each of l components; 0 where
// they share it.
func entries(t Tensor, l int) int {
	if isNoise(t.Name) {
		return 0
	}
	return size(t.Shape) / l
}

// wrapPhases shifts uniform phases by whole turns so that 0 ≤ α < 2π.
func (p *Params) wrapPhases() {
	for k, a := range p.PhaseLower {
		if turns := math.Floor(a / (2 * math.Pi)); turns != 0 && p.PhaseUpper[k] > a {
			p.PhaseLower[k] -= 2 * math.Pi * turns
			p.PhaseUpper[k] -= 2 * math.Pi * turns
		}
	}
}

// chart is the optimiser's view of the free tensors, around origin; exact says
// whether it is the exact bound that is optimised.
func (f *fitting) chart(origin *Params, free []string, exact bool) *chart {
	c := newChart(origin, free, f.o.ties(), f.reach())
	c.floor = f.noiseFloor(exact)
	return c
}

func (f *fitting) noiseFloor(exact bool) noiseFloor {
	return f.held.noiseFloor(f.model.Params.Features().Offsets(), f.model.Y, exact)
}
