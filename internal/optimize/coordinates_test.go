package optimize

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/variational"
)

// everything names all tensors that a fit can optimize.
var everything = slices.Concat(hyperparameters, FeatureTensors, coefficients)

// tieable names the tensors that may be tied.
var tieable = variational.Names(func(t variational.Tensor) bool { return t.Tieable })

// paired turns p into an SSGP model: Σ = 0, and neighboring features share a frequency.
func paired(p *variational.Params) {
	clear(p.FreqVar)
	clear(p.Location)
	for k := range p.M() {
		if at := k * p.Q; k%2 == 1 {
			copy(p.FreqMean[at:at+p.Q], p.FreqMean[at-p.Q:at])
		}
		p.PhaseLower[k] = -float64(k%2) * math.Pi / 2
		p.PhaseUpper[k] = p.PhaseLower[k]
	}
}

// coordinatesOf returns the coordinates of p with a noise level.
func coordinatesOf(p *variational.Params, free []string, ties Ties, reach float64, level variational.NoiseLevel) *Coordinates {
	c := NewCoordinates(p, free, ties, reach)
	c.level = level
	return c
}

// opened returns data, in the model's units, as rows on the CPU.
func opened(t testing.TB, data *backend.Data) *variational.Rows {
	t.Helper()
	rows := testkit.Must(variational.Open(context.Background(), *data, variational.Setting{Backend: cpu.New()}))(t)
	t.Cleanup(func() { rows.Close() })
	return rows
}

// pulledGradient is the tolerance when comparing with Richardson differences of the float64
// bound.
const pulledGradient = 1e-6

// coordinateCases are models and their free tensors.
var coordinateCases = []struct {
	name  string
	kind  modeltest.Kind
	free  []string
	ties  Ties
	level variational.NoiseLevel
}{
	{"uniform phases", modeltest.Kind{Name: "c1", N: 9, L: 2, K: 3, Q: 2, D: 2}, everything, Ties{}, variational.NoiseLevel{}},
	{"fixed phases", modeltest.Kind{Name: "c2", N: 9, L: 2, K: 3, Q: 1, D: 1, Fixed: true}, everything, Ties{}, variational.NoiseLevel{}},
	{"point frequencies", modeltest.Kind{Name: "c3", N: 9, L: 2, K: 3, Q: 1, D: 1, Variance: -1}, everything, Ties{}, variational.NoiseLevel{}},
	{"pairs", modeltest.Kind{Name: "c4", N: 9, L: 2, K: 4, Q: 2, D: 1, Fixed: true}, everything, Ties{Twins: true}, variational.NoiseLevel{}},
	{"covariance alone", modeltest.Kind{Name: "c5", N: 9, L: 2, K: 2, Q: 1, D: 1}, hyperparameters, Ties{}, variational.NoiseLevel{}},
	{"windows", modeltest.Kind{Name: "c6", N: 12, L: 4, K: 2, Q: 1, D: 1, Windows: 3}, everything, Ties{}, variational.NoiseLevel{}},
	{"shared components", modeltest.Kind{Name: "c7", N: 12, L: 7, K: 2, Q: 1, D: 1, Windows: 3}, everything, Ties{Shared: true}, variational.NoiseLevel{}},
	{"tied", modeltest.Kind{Name: "c8", N: 12, L: 4, K: 2, Q: 2, D: 1}, everything, Ties{Tensors: tieable}, variational.NoiseLevel{}},
	{"shared, length-scales tied", modeltest.Kind{Name: "c9", N: 12, L: 5, K: 2, Q: 1, D: 2, Windows: 2}, hyperparameters, Ties{Shared: true, Tensors: []string{"kernel.lengthscale"}}, variational.NoiseLevel{}},
	{"the noise near its level", modeltest.Kind{Name: "c10", N: 9, L: 2, K: 3, Q: 1, D: 1, Tau: 2}, everything, Ties{}, variational.NoiseLevel{Rounding: 0.1, Condition: 0.1}},
	{"the level under windows", modeltest.Kind{Name: "c11", N: 12, L: 4, K: 2, Q: 1, D: 1, Windows: 3, Tau: 2}, hyperparameters, Ties{Shared: true}, variational.NoiseLevel{Rounding: 0.01, Condition: 0.1}},
}

// TestCoordinatesRoundTrip checks that read inverts write and write inverts read, and that fixed
// entries and tensors keep their bits.
func TestCoordinatesRoundTrip(t *testing.T) {
	for _, c := range coordinateCases {
		t.Run(c.name, func(t *testing.T) {
			p, _ := c.kind.Make()
			if c.ties.Twins {
				paired(p)
			}
			checkRoundTrip(t, p, c.free, c.ties, c.level, 3, 1)
		})
	}
}

// TestClampedCoordinatesAreValid checks that clamped coordinates give a valid model however far they have moved, and
// that clamp does not change coordinates within the bounds.
func TestClampedCoordinatesAreValid(t *testing.T) {
	for _, c := range coordinateCases {
		p, _ := c.kind.Make()
		if c.ties.Twins {
			paired(p)
		}
		coords := coordinatesOf(p, c.free, c.ties, 3, c.level)
		v := make([]float64, coords.n)
		coords.read(v, p)
		for _, far := range []float64{-1e5, 1e5, 0} {
			moved := slices.Clone(v)
			for _, s := range coords.spans {
				lo, hi := coords.coordinates(s)
				for i := lo; i < hi; i++ {
					moved[i] += far
				}
				coords.clamp(moved, s)
			}
			if far == 0 && !slices.Equal(moved, v) {
				t.Errorf("%s: coordinates within the bounds were changed", c.name)
			}
			at := p.Clone()
			coords.write(at, moved)
			if err := at.Check(); err != nil {
				t.Errorf("%s, %g further: %v", c.name, far, err)
			}
		}
	}
}

// checkRoundTrip moves p's coordinates by normally distributed steps of the given size.
func checkRoundTrip(t *testing.T, p *variational.Params, free []string, ties Ties, level variational.NoiseLevel, reach, size float64) {
	t.Helper()
	c := coordinatesOf(p, free, ties, reach, level)
	v := make([]float64, c.n)
	c.read(v, p)
	same := p.Clone()
	c.write(same, v)
	at, was := same.Tensors(), p.Tensors()
	for i, tensor := range at {
		modeltest.Near(t, "read, then write: "+tensor.Name, *tensor.Data, *was[i].Data, 1e-12)
	}
	rng := modeltest.NewRNG(uint64(c.n))
	for i := range v {
		v[i] += size * rng.NormFloat64()
	}
	moved := p.Clone()
	c.write(moved, v)
	if err := moved.Check(); err != nil {
		t.Fatalf("a step of size %g leaves the domain: %v", size, err)
	}
	back := make([]float64, c.n)
	c.read(back, moved)
	modeltest.Near(t, "write, then read", back, v, 1e-9)
	at = moved.Tensors()
	for i, tensor := range at {
		for j, now := range *tensor.Data {
			before := (*was[i].Data)[j]
			if (was[i].Constant(j) || !isFree(free, tensor.Name)) && now != before {
				t.Errorf("%s[%d] changed from %v to %v, want no change", tensor.Name, j, before, now)
			}
		}
	}
	for k := 1; ties.Twins && k < p.M(); k += 2 {
		for q := range p.Q {
			if a, b := moved.FreqMean[(k-1)*p.Q+q], moved.FreqMean[k*p.Q+q]; a != b {
				t.Errorf("frequencies of the pair %d, %d are %v and %v, want the same", k-1, k, a, b)
			}
		}
	}
}

// isFree reports whether a tensor is free. The two ends of the phases count as one tensor.
func isFree(free []string, name string) bool {
	if name == "phase.upper" {
		name = "phase.lower"
	}
	return slices.Contains(free, name)
}

// TestCoordinatesPull compares the gradient with respect to the coordinates with differences of
// the bound.
func TestCoordinatesPull(t *testing.T) {
	for _, c := range coordinateCases {
		t.Run(c.name, func(t *testing.T) {
			p, data := c.kind.Make()
			if c.ties.Twins {
				paired(p)
			}
			rows := opened(t, data)
			coords := coordinatesOf(p, c.free, c.ties, 3, c.level)
			v, got, want := make([]float64, coords.n), make([]float64, coords.n), make([]float64, coords.n)
			coords.read(v, p)
			e := testkit.Must(rows.Factorized(p, nil, nil, true))(t)
			coords.pull(got, p, e.Gradient)
			trial := p.Clone()
			for i := range v {
				want[i], _ = oracle.Derivative(func(step float64) float64 {
					w := slices.Clone(v)
					w[i] += step
					coords.write(trial, w)
					e := testkit.Must(rows.Factorized(trial, nil, nil, false))(t)
					return e.Bound
				}, 0.125)
			}
			for i := range v {
				if d := math.Abs(got[i] - want[i]); !(d <= pulledGradient*max(1, math.Abs(want[i]))) {
					t.Errorf("coordinate %d (%s): %.10g, differences give %.10g", i, coords.nameOf(i, p), got[i], want[i])
				}
			}
		})
	}
}

// nameOf returns the name of the tensor of coordinate i.
func (c *Coordinates) nameOf(i int, p *variational.Params) string {
	for _, g := range c.groups {
		n := g.width() * g.count()
		if i < n {
			return p.Tensors()[g.tensor].Name
		}
		i -= n
	}
	return "?"
}

// TestBlocksOwnTheirWindows checks that every coordinate belongs to exactly one block, and that
// the block of a window moves only the parameters of the window's components.
func TestBlocksOwnTheirWindows(t *testing.T) {
	for _, c := range []struct {
		kind modeltest.Kind
		free []string
		ties Ties
	}{
		{modeltest.Kind{Name: "b1", N: 9, L: 7, K: 2, Q: 1, D: 2, Windows: 3}, everything, Ties{}},
		{modeltest.Kind{Name: "b2", N: 9, L: 7, K: 4, Q: 2, D: 1, Windows: 4, Fixed: true, Variance: -1}, everything, Ties{Twins: true}},
		{modeltest.Kind{Name: "b3", N: 9, L: 5, K: 3, Q: 1, D: 1, Windows: 6, Skip: 2}, FeatureTensors, Ties{}},
		{modeltest.Kind{Name: "b4", N: 9, L: 5, K: 3, Q: 1, D: 1, Windows: 6}, []string{"noise.precision"}, Ties{}},
		{modeltest.Kind{Name: "b5", N: 9, L: 9, K: 2, Q: 1, D: 1, Windows: 3}, everything, Ties{Shared: true}},
		{modeltest.Kind{Name: "b6", N: 9, L: 9, K: 2, Q: 1, D: 1, Windows: 3}, hyperparameters, Ties{Tensors: tieable}},
	} {
		p, _ := c.kind.Make()
		if c.ties.Twins {
			paired(p)
		}
		coords := NewCoordinates(p, c.free, c.ties, 2)
		v := make([]float64, coords.n)
		coords.read(v, p)
		owned := make([]int, coords.n)
		for _, b := range coords.blocks(p, 0) {
			moved := slices.Clone(v)
			for _, r := range b.Own {
				for i := r.Lo; i < r.Hi; i++ {
					owned[i]++
					moved[i] += 0.1
				}
			}
			to := p.Clone()
			coords.write(to, moved)
			w := windowsMoved(p, to)
			one := len(w) == 1 && w[0] >= 0
			if tied := c.ties.Shared || c.ties.Tensors != nil; one == b.Shared || (!tied && len(w) != 1) {
				t.Errorf("%s: a block (shared: %v) moves windows %v, want one alone", c.kind.Name, b.Shared, w)
			}
		}
		for i, n := range owned {
			if n != 1 {
				t.Errorf("%s: coordinate %d is in %d blocks, want one", c.kind.Name, i, n)
			}
		}
	}
}

// windowsMoved returns the windows whose parameters differ by more than rounding; −1 represents
// parameters without a window.
func windowsMoved(a, b *variational.Params) []int {
	var moved []int
	other := b.Tensors()
	for t, tensor := range a.Tensors() {
		for i, x := range *tensor.Data {
			if math.Abs((*other[t].Data)[i]-x) <= 1e-12*math.Abs(x) {
				continue
			}
			w := -1
			if tensor.Name != "noise.precision" {
				w = a.ComponentWindow[i*a.L/len(*tensor.Data)]
			}
			if !slices.Contains(moved, w) {
				moved = append(moved, w)
			}
		}
	}
	return moved
}
