package variational

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/parallel"
)

// MaxNumbers is the maximum number of parameters of a model, 8 GiB.
const MaxNumbers = 1 << 30

// NewParams returns zero parameters of the given shape, including the coefficients, or nil if a
// number is negative or there would be more than 2³⁰ parameters. Windows and ComponentWindow are
// empty.
func NewParams(l, k, q, d int) *Params {
	components, features := float64(l)*float64(1+2*q), float64(l)*float64(k)*(2+3*float64(q)+2*float64(d))
	if min(l, k, q, d) < 0 || max(l, k, q, d) > MaxNumbers || components+features > MaxNumbers {
		return nil
	}
	p := &Params{L: l, K: k, Q: q, D: d}
	for _, t := range p.Tensors() {
		*t.Data = make([]float64, t.Size())
	}
	return p
}

// Clone returns a deep copy.
func (p *Params) Clone() *Params {
	if p == nil {
		return nil
	}
	c := *p
	for _, t := range c.Tensors() {
		*t.Data = append([]float64(nil), *t.Data...)
	}
	c.Windows.Center = append([]float64(nil), p.Windows.Center...)
	c.ComponentWindow = append([]int(nil), p.ComponentWindow...)
	return &c
}

// Check returns an error that wraps ErrParams if an array has the wrong length or a value
// is outside its domain. The error names the tensor and the entry. The coefficients may be
// absent.
func (p *Params) Check() error {
	if p == nil {
		return fmt.Errorf("the parameters are nil: %w", ErrParams)
	}
	if p.L < 1 || p.K < 1 || p.Q < 1 || p.D < 1 {
		return fmt.Errorf("%d components of %d features, %d inputs, %d outputs: each number must be at least 1: %w", p.L, p.K, p.Q, p.D,
			ErrParams)
	}
	for _, t := range p.Tensors() {
		a := *t.Data
		if len(a) == 0 && t.Optional() {
			continue
		}
		if len(a) != t.Size() {
			return fmt.Errorf("%s has %d numbers, must have shape %v: %w", t.Name, len(a), t.Shape, ErrParams)
		}
		if i := firstOf(len(a), func(lo, hi int) int { return lo + t.Domain.firstOutside(a[lo:hi]) }); i < len(a) {
			return fmt.Errorf("%s[%d] is %v, must be %s: %w", t.Name, i, a[i], t.Domain.allowed(a[i]), ErrParams)
		}
	}
	if k := firstOf(p.M(), p.wrongPhase); k < p.M() {
		return fmt.Errorf("phase.upper[%d] is %v, must be between phase.lower[%d] = %v and 2π more: %w", k, p.PhaseUpper[k], k,
			p.PhaseLower[k], ErrParams)
	}
	return p.checkWindows()
}

// wrongPhase returns the first feature of [lo, hi) whose phase interval has an invalid width, or hi.
func (p *Params) wrongPhase(lo, hi int) int {
	for k := lo; k < hi; k++ {
		if a, b := p.PhaseLower[k], p.PhaseUpper[k]; b < a || b-a > 2*math.Pi*(1+1e-12) {
			return k
		}
	}
	return hi
}

// firstOf returns the smallest index below n that search finds, or n. search returns the
// first match in [lo, hi), or hi.
func firstOf(n int, search func(lo, hi int) int) int {
	found := make([]int, (n+blockNumbers-1)/blockNumbers)
	parallel.Blocks(n, blockNumbers, func(block, lo, hi int) { found[block] = search(lo, hi) })
	for block, i := range found {
		if i < min(n, (block+1)*blockNumbers) {
			return i
		}
	}
	return n
}

func (p *Params) checkWindows() error {
	if err := p.Windows.Check(p.Q); err != nil {
		return fmt.Errorf("%w: %w", err, ErrParams)
	}
	if len(p.Windows.Center) == 0 {
		if len(p.ComponentWindow) != 0 {
			return fmt.Errorf("component.window is given but there are no windows: %w", ErrParams)
		}
		return nil
	}
	if len(p.ComponentWindow) != p.L {
		return fmt.Errorf("component.window has %d entries, must have one for each of the %d components: %w", len(p.ComponentWindow), p.L,
			ErrParams)
	}
	if i := firstOf(p.L, p.wrongWindow); i < p.L {
		return fmt.Errorf("component.window[%d] is %d, must be from 0 to %d and not decreasing: %w", i, p.ComponentWindow[i],
			len(p.Windows.Center)-1, ErrParams)
	}
	return nil
}

// wrongWindow returns the first component of [lo, hi) with an invalid window, or hi.
func (p *Params) wrongWindow(lo, hi int) int {
	for i := lo; i < hi; i++ {
		if v := p.ComponentWindow[i]; v < 0 || v >= len(p.Windows.Center) || (i > 0 && v < p.ComponentWindow[i-1]) {
			return i
		}
	}
	return hi
}

// Alike reports whether two sets of parameters have the same sizes and windows.
func (p *Params) Alike(q *Params) bool {
	return p.L == q.L && p.K == q.K && p.Q == q.Q && p.D == q.D && len(p.CoefMean) == len(q.CoefMean) && len(p.CoefVar) == len(q.CoefVar) &&
		p.Windows.Equal(&q.Windows) && slices.Equal(p.ComponentWindow, q.ComponentWindow)
}

// Components returns the components [lo, hi) of p. The result shares p's memory.
func (p *Params) Components(lo, hi int) *Params {
	if lo == 0 && hi == p.L {
		return p
	}
	part := &Params{L: hi - lo, K: p.K, Q: p.Q, D: p.D, Windows: p.Windows}
	from := p.Tensors()
	for t, to := range part.Tensors() {
		data := *from[t].Data
		if each := from[t].PerComponent(p.L); each > 0 && len(data) > 0 {
			data = data[lo*each : hi*each]
		}
		*to.Data = data
	}
	if p.ComponentWindow != nil {
		part.ComponentWindow = p.ComponentWindow[lo:hi]
	}
	return part
}
