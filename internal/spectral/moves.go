package spectral

import (
	"cmp"
	"math"
	"slices"
)

// A move is a change of structure: the components to start from, with new ones at the end.
type move struct {
	name       string // moves with the same name differ only in initial values
	components []Component
	added      int // number of new components; 0 if the change concerns others
	cost       float64
}

const (
	manyTimes    = 2000 // number of times above which broad components are not tried without a sign of them
	peakLeast    = 4    // smallest gain, in nats, of a peak that is tried
	peakMost     = 2    // number of peaks that are tried as lines in one round
	mergeMost    = 10   // largest number of lines that are merged
	mergeClose   = 4    // largest number of lines that are merged into a band
	mergeNodes   = 8    // largest number of nodes of the merged component per line; lines farther apart are no spectrum
	dampedCycles = 2    // initial length of a damped oscillation, in cycles
	broadMost    = 3    // number of broad components from which no further Matérn components are tried
	minLineSD    = 0.02 // smallest initial standard deviation of a line, relative to the noise
	maxLineSD    = 2    // largest, in units of y
	initialSD    = 0.7  // of a broad component, relative to the noise
	initialRest  = 0.05 // smallest noise for it, in units of y
)

// Initial lengths of new components, in ranges of x.
var (
	rbfLengths    = []float64{1, 0.2, 0.04, 0.01}
	maternLengths = []float64{0.3, 0.05}
	bandLengths   = []float64{0.3, 0.05}
)

// rougher has the ratio of the length of a kind to the length of the next smoother kind for a similar covariance.
var rougher = map[Kind]float64{M32: 1.2, OU: 1.6}

// add returns the components with more at the end.
func add(components []Component, more ...Component) []Component {
	return append(slices.Clone(components), more...)
}

// line returns a line at a peak of the residual's periodogram.
func (d *Domain) line(p peak, noise float64) Component {
	sd := min(max(p.sd, minLineSD*noise), maxLineSD*d.Unit)
	return Component{Kind: Line, SD: sd, Frequency: p.frequency}
}

// moves returns the changes of a model that are tried.
func (s *Search) moves(m Model, r residual) (all []move) {
	all = s.additions(m, r)
	all = append(all, s.merges(m)...)
	return append(all, s.changes(m)...)
}

// additions returns the moves that add a component. If there are many rows, broad ones are added only if the residual's spectrum differs from
// the model's.
func (s *Search) additions(m Model, r residual) (all []move) {
	d := s.domain
	put := func(name string, c Component) {
		all = append(all, move{name: name, components: add(m.Components, c), added: 1})
	}
	for i, p := range r.peaks {
		if p.gain < peakLeast {
			break
		}
		put("add line", d.line(p, m.Noise))
		if i > 0 {
			continue
		}
		for _, l := range bandLengths {
			if l *= d.span(); 2*math.Pi*p.frequency*l > 0.5 {
				put("add band", made(Band, max(p.sd, initialSD*m.Noise), p.frequency, max(l, 3*d.shortest(Band))))
			}
		}
	}
	for i, p := range r.peaks {
		if p.gain < peakLeast {
			break
		}
		put("add damped", made(Damped, max(p.sd, initialSD*m.Noise), p.frequency, max(dampedCycles/p.frequency, 2*d.Spacing)))
		if i == 0 {
			put("add damped", made(Damped, max(p.sd, initialSD*m.Noise), p.frequency, bandLengths[1]*d.span()))
		}
	}
	if !r.uneven && d.Distinct > manyTimes {
		return all
	}
	sd := initialSD * max(m.Noise, initialRest*d.Unit)
	for _, l := range rbfLengths {
		if l *= d.span(); l > 1.5*d.shortest(RBF) {
			put("add rbf", Component{Kind: RBF, SD: sd, Length: l})
		}
	}
	broad := 0
	for _, c := range m.Components {
		if !c.Kind.Centered() {
			broad++
		}
	}
	if broad >= broadMost {
		return all
	}
	for _, l := range maternLengths {
		put("add matern32", Component{Kind: M32, SD: sd, Length: max(l*d.span(), 2*d.shortest(M32))})
	}
	return all
}

// merges returns the moves that replace neighboring lines and bands, which approximate one wider component, by that component.
func (s *Search) merges(m Model) (all []move) {
	d := s.domain
	var sharp, rest []Component
	for _, c := range m.Components {
		if c.Kind.Centered() && !c.Kind.Rough() {
			sharp = append(sharp, c)
		} else {
			rest = append(rest, c)
		}
	}
	slices.SortStableFunc(sharp, func(a, b Component) int { return cmp.Compare(a.Frequency, b.Frequency) })
	for n := 2; n <= min(len(sharp), mergeMost); n++ {
		sd, _, width := moments(sharp[:n], 0)
		broad := Component{Kind: RBF, SD: sd, Length: max(d.lengthOf(width), 1.5*d.shortest(RBF))}
		if len(d.nodes(broad).Node) <= mergeNodes*n {
			all = append(all, move{name: "merge into rbf", components: add(rest, append(slices.Clone(sharp[n:]), broad)...)})
		}
		if n > mergeClose {
			continue
		}
		at := 0 // the closest n
		for i := range len(sharp) - n + 1 {
			if sharp[i+n-1].Frequency-sharp[i].Frequency < sharp[at+n-1].Frequency-sharp[at].Frequency {
				at = i
			}
		}
		sd, center, width := moments(sharp[at:at+n], -1)
		band := Component{Kind: Band, SD: sd, Frequency: center, Length: max(d.lengthOf(width), 1.5*d.shortest(Band))}
		if len(d.nodes(band).Node) <= mergeNodes*n {
			others := slices.Concat(rest, sharp[:at], sharp[at+n:])
			all = append(all, move{name: "merge into band", components: add(others, band)})
		}
	}
	return all
}

// moments returns the standard deviation of a sum of components, their mean frequency, and the root mean square of the distance of their
// frequencies from about, or from the mean if about is negative.
func moments(components []Component, about float64) (sd, center, width float64) {
	var variance, square float64
	for _, c := range components {
		v := c.SD * c.SD
		variance += v
		center += v * c.Frequency
	}
	center /= variance
	if about < 0 {
		about = center
	}
	for _, c := range components {
		square += c.SD * c.SD * (c.Frequency - about) * (c.Frequency - about)
	}
	return math.Sqrt(variance), center, math.Sqrt(square / variance)
}

// lengthOf returns the length of a squared-exponential component whose spectrum has a standard deviation of width, which must resolve a
// fifth of the data's resolution.
func (d *Domain) lengthOf(width float64) float64 { return 1 / (2 * math.Pi * max(width, 0.2/d.span())) }

// changes returns the moves that change the kind of a component. A smoother kind has a shorter length for the same covariance.
func (s *Search) changes(m Model) (all []move) {
	for i, c := range m.Components {
		put := func(name string, kind Kind, ratio float64) {
			n := c
			n.Kind = kind
			n.Length *= ratio
			if !kind.Wide() {
				n.Length = 0
			} else if c.Length == 0 {
				n.Length = s.domain.span()
			}
			changed := slices.Clone(m.Components)
			changed[i] = n
			all = append(all, move{name: name, components: changed})
		}
		switch c.Kind {
		case RBF:
			put("rbf to matern32", M32, rougher[M32])
		case M32:
			put("matern32 to rbf", RBF, 0.5)
			put("matern32 to rbf", RBF, 0.3)
			put("matern32 to ou", OU, rougher[OU])
		case OU:
			put("ou to matern32", M32, 0.5)
		case Line:
			put("line to band", Band, 1)
		case Band:
			put("band to line", Line, 1)
			put("band to damped", Damped, 1.2)
		case Damped:
			put("damped to band", Band, 0.7)
		}
	}
	return all
}
