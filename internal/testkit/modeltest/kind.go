package modeltest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/variational"
)

// Kind describes a random model and data on [at, at+6)^Q.
type Kind struct {
	Name          string
	N, L, K, Q, D int
	Fixed         bool    // phases are points
	Support       float64 // width of the phases; 0: up to a turn
	Variance      float64 // approximate Σ; 0: 0.05 … 0.8, negative: 0
	At            float64 // origin of the data and z
	Origin        bool    // half of the features are at 0, far from the data
	Tau           float64 // 0: 1 … 20
	Windows       int     // V, over [At, At+2V); 0: none
	Skip          int     // with windows: every Skip-th has no component
	Twins         bool    // every second feature is nearly a copy of the previous one
	Silent        bool    // the middle third of the data is 0
	Hard          bool    // ill-conditioned in float64, whatever the algorithm
}

// NewRNG returns a random stream for tests.
func NewRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7e57)) }

// Make draws the model and its data. They depend only on the kind; the name seeds the random
// numbers.
func (c Kind) Make() (*variational.Params, *backend.Data) {
	seed := uint64(len(c.Name))
	for _, b := range []byte(c.Name) {
		seed = seed*131 + uint64(b)
	}
	rng := NewRNG(seed)
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	fill := func(a []float64, draw func() float64) {
		for i := range a {
			a[i] = draw()
		}
	}
	p := variational.NewParams(c.L, c.K, c.Q, c.D)
	fill(p.Variance, func() float64 { return uniform(0.5, 2) })
	fill(p.Lengthscale, func() float64 { return uniform(1, 3) })
	fill(p.Frequency, func() float64 { return uniform(0, 0.5) })
	fill(p.Location, func() float64 { return c.At + uniform(0, 6) })
	fill(p.FreqMean, rng.NormFloat64)
	fill(p.FreqVar, func() float64 { return uniform(0.05, 0.8) })
	fill(p.CoefMean, rng.NormFloat64)
	fill(p.CoefVar, func() float64 { return uniform(0.1, 0.9) })
	p.NoisePrecision[0] = uniform(1, 20)
	if c.Tau > 0 {
		p.NoisePrecision[0] = c.Tau
	}
	for i := range p.FreqVar {
		if c.Variance != 0 {
			p.FreqVar[i] *= max(0, c.Variance)
		}
		if c.Origin && i%2 == 0 {
			p.Location[i] -= c.At
		}
	}
	for k := range p.PhaseLower {
		p.PhaseLower[k] = uniform(0, 4)
		p.PhaseUpper[k] = uniform(p.PhaseLower[k]+0.2, 2*math.Pi)
		if c.Support > 0 {
			p.PhaseUpper[k] = p.PhaseLower[k] + c.Support*uniform(0.5, 1)
		}
		if c.Fixed {
			p.PhaseUpper[k] = p.PhaseLower[k]
		}
	}
	if c.Twins {
		makeTwins(p)
	}
	c.addWindows(p)
	data := &backend.Data{N: c.N, Q: c.Q, D: c.D, X: make([]float64, c.N*c.Q), Y: make([]float64, c.N*c.D)}
	fill(data.X, func() float64 { return c.At + uniform(0, 6) })
	fill(data.Y, rng.NormFloat64)
	for n := range data.N {
		if x := data.X[n*c.Q] - c.At; c.Silent && x > 2 && x < 4 {
			clear(data.Y[n*c.D:][:c.D])
		}
	}
	data.Windows = p.Windows
	return p, data
}

// makeTwins makes every second feature a copy of the previous one up to a relative difference of
// 1e-7.
func makeTwins(p *variational.Params) {
	for k := 1; k < p.M(); k += 2 {
		for _, a := range []struct {
			data  []float64
			width int
		}{{p.Location, p.Q}, {p.FreqMean, p.Q}, {p.FreqVar, p.Q}, {p.PhaseLower, 1}, {p.PhaseUpper, 1}} {
			for i := range a.width {
				a.data[k*a.width+i] = a.data[(k-1)*a.width+i] * (1 + 1e-7)
			}
		}
	}
}

// addWindows adds windows with centers 2 apart to p, and assigns its components to them.
func (c Kind) addWindows(p *variational.Params) {
	if c.Windows == 0 {
		return
	}
	p.Windows.Length = 4
	var owners []int
	for v := range c.Windows {
		p.Windows.Center = append(p.Windows.Center, c.At+1+2*float64(v))
		if c.Skip == 0 || (v+1)%c.Skip != 0 {
			owners = append(owners, v)
		}
	}
	for i := range c.L {
		p.ComponentWindow = append(p.ComponentWindow, owners[i*len(owners)/c.L])
	}
}

// Kinds are the models for which bounds and gradients are compared with the oracle.
var Kinds = []Kind{
	{Name: "one feature", N: 5, L: 1, K: 1, Q: 1, D: 1},
	{Name: "one feature, fixed phase, point frequency", N: 5, L: 1, K: 1, Q: 1, D: 2, Fixed: true, Variance: -1},
	{Name: "two components", N: 9, L: 2, K: 3, Q: 1, D: 2},
	{Name: "fixed phases", N: 9, L: 2, K: 3, Q: 1, D: 1, Fixed: true},
	{Name: "two inputs, three outputs", N: 8, L: 1, K: 5, Q: 2, D: 3},
	{Name: "four inputs", N: 8, L: 2, K: 2, Q: 4, D: 1},
	{Name: "ten components", N: 7, L: 10, K: 1, Q: 2, D: 1},
	{Name: "more features than rows", N: 3, L: 3, K: 3, Q: 1, D: 2},
	{Name: "narrow phases", N: 8, L: 2, K: 3, Q: 1, D: 1, Support: 1e-6},
	{Name: "sure frequencies", N: 8, L: 2, K: 3, Q: 1, D: 1, Variance: 1e-8, Hard: true},
	{Name: "point frequencies, uniform phases", N: 8, L: 2, K: 3, Q: 2, D: 1, Variance: -1},
	{Name: "far from the origin", N: 8, L: 2, K: 3, Q: 1, D: 1, At: 3e6, Hard: true},
	{Name: "far from half of the features", N: 8, L: 2, K: 3, Q: 1, D: 1, At: 3e6, Origin: true, Variance: 1e-13, Hard: true},
	{Name: "little noise", N: 12, L: 2, K: 3, Q: 1, D: 1, Tau: 1e8},
	{Name: "little noise, more features than rows", N: 4, L: 2, K: 4, Q: 1, D: 1, Tau: 1e8, Fixed: true, Variance: 1e-4, Hard: true},
	{Name: "windows", N: 14, L: 4, K: 2, Q: 1, D: 2, Windows: 3},
	{Name: "windows over two inputs", N: 12, L: 4, K: 2, Q: 2, D: 1, Windows: 3, Fixed: true},
	{Name: "windows without rows", N: 8, L: 6, K: 1, Q: 1, D: 1, Windows: 6},
	{Name: "windows without components", N: 12, L: 4, K: 2, Q: 1, D: 1, Windows: 6, Skip: 2},
	{Name: "one window", N: 8, L: 2, K: 2, Q: 1, D: 1, Windows: 1},
	{Name: "windows and little noise", N: 20, L: 6, K: 2, Q: 1, D: 1, Windows: 3, Tau: 1e8},
	{Name: "windows with nearly the same feature twice", N: 16, L: 6, K: 2, Q: 1, D: 1, Windows: 3, Tau: 1e4, Twins: true},
	{Name: "windows, nearly the same feature twice, little noise", N: 16, L: 6, K: 2, Q: 1, D: 1, Windows: 3, Tau: 1e8, Twins: true,
		Hard: true},
	{Name: "a window of silence", N: 16, L: 6, K: 2, Q: 1, D: 1, Windows: 3, Tau: 1e6, Silent: true},
	{Name: "windows far from the origin", N: 10, L: 3, K: 2, Q: 1, D: 1, Windows: 3, At: 3e6, Hard: true},
}

// FindKind returns the kind with the given name.
func FindKind(t testing.TB, name string) Kind {
	t.Helper()
	for _, c := range Kinds {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no kind %q", name)
	return Kind{}
}

// Nest divides a row-major array into rows.
func Nest(a []float64, rows int) [][]float64 {
	if len(a) == 0 {
		return nil
	}
	out := make([][]float64, rows)
	for i := range out {
		out[i] = slices.Clone(a[i*len(a)/rows : (i+1)*len(a)/rows])
	}
	return out
}

// ToOracle converts p to the oracle's parameters (windows along input 0 only).
func ToOracle(p *variational.Params) *oracle.Params {
	c := p.Clone()
	l, m := p.L, p.M()
	return &oracle.Params{
		Variance: c.Variance, Lengthscale: Nest(c.Lengthscale, l), Frequency: Nest(c.Frequency, l),
		Location: Nest(c.Location, m), FreqMean: Nest(c.FreqMean, m), FreqVar: Nest(c.FreqVar, m),
		PhaseLower: c.PhaseLower, PhaseUpper: c.PhaseUpper, NoisePrecision: c.NoisePrecision[0],
		CoefMean: Nest(c.CoefMean, m), CoefVar: Nest(c.CoefVar, m),
		WindowCenter: c.Windows.Center, WindowLength: c.Windows.Length, ComponentWindow: c.ComponentWindow,
	}
}

// FromOracle converts the parameters of a golden file, or a gradient with respect to them. Fields
// that are missing in a gradient are empty.
func FromOracle(o *oracle.Params, g *oracle.Golden) *variational.Params {
	return &variational.Params{
		L: g.L, K: g.K, Q: g.Q, D: g.D,
		Variance: o.Variance, Lengthscale: slices.Concat(o.Lengthscale...), Frequency: slices.Concat(o.Frequency...),
		Location: slices.Concat(o.Location...), FreqMean: slices.Concat(o.FreqMean...), FreqVar: slices.Concat(o.FreqVar...),
		PhaseLower: o.PhaseLower, PhaseUpper: o.PhaseUpper, NoisePrecision: []float64{o.NoisePrecision},
		CoefMean: slices.Concat(o.CoefMean...), CoefVar: slices.Concat(o.CoefVar...),
		Windows: backend.Windows{Center: o.WindowCenter, Length: o.WindowLength}, ComponentWindow: o.ComponentWindow,
	}
}

// Rounding is the tolerance for results that differ only in the order of operations.
const Rounding = 1e-9

// Near fails if got differs from want by more than tol times the largest entry of want.
func Near(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	if e := Worst(got, want); !(e <= tol) {
		t.Errorf("%s: error %.2g of the largest entry, want at most %.0g\n got %.8g\nwant %.8g", what, e, tol, head(got), head(want))
	}
}

func head(a []float64) []float64 { return a[:min(len(a), 8)] }

// Worst returns the largest difference relative to the largest entry of want.
func Worst(got, want []float64) float64 {
	scale, diff := 0.0, 0.0
	for i, w := range want {
		scale = max(scale, math.Abs(w))
		d := math.Abs(got[i] - w)
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		diff = max(diff, d)
	}
	if scale == 0 {
		return diff
	}
	return diff / scale
}
