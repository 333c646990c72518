package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/variational"
)

// TestTablesMatchExactSums compares sums from tables, of waves of each class, with sums over rows with exact phases, as
// rowspectrum.TestAccuracy does.
func TestTablesMatchExactSums(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinal: ordinal, anyTables: true})
		for kind := range backendtest.Positions {
			for _, n := range slow.Pick([]int{50, 1000, 8000}, []int{50, 1000}) {
				for _, s := range []backendtest.Stretch{
					{2, 30, 0.05}, {30, 0.1 * float64(n), 0.05},
					{0.1 * float64(n), 100 * float64(n), 0.2}, {0.2 * float64(n), 10 * float64(n), 9.5},
				} {
					rng := rand.New(rand.NewPCG(uint64(n), 7))
					d := backendtest.SpectrumData(kind, n, 1, rng)
					b.tablesAreTrue(t, fmt.Sprintf("%d rows %s, reach %g to %g", n, kind, s[0], s[1]), d, backendtest.SpectrumFeatures(d, 16, s, rng))
				}
			}
		}
		for _, m := range []int{1, 2, 31, 32, 33, 36, 65, 130} {
			rng := rand.New(rand.NewPCG(uint64(m), 8))
			d := backendtest.SpectrumData("even", 300, m%6, rng)
			f := backendtest.SpectrumFeatures(d, m, backendtest.Stretch{20, 3000, 0.5}, rng)
			b.tablesAreTrue(t, fmt.Sprintf("%d features, %d outputs", m, d.D), d, f)
		}
	})
}

// TestPlanesMatchExactSums is TestTablesMatchExactSums for two inputs.
func TestPlanesMatchExactSums(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinal: ordinal, anyTables: true})
		for kind := range backendtest.Places {
			for _, n := range slow.Pick([]int{50, 500, 4000}, []int{50, 500}) {
				side := math.Sqrt(float64(n))
				for _, s := range []backendtest.Stretch{
					{0.1 * side, 0.4 * side, 0.05}, {0.3 * side, 100 * side, 0.2}, {0.2 * side, 10 * side, 9.5},
				} {
					rng := rand.New(rand.NewPCG(uint64(n), 7))
					d := backendtest.SpectrumData(kind, n, 1, rng)
					what := fmt.Sprintf("%d rows %s, reach %.3g to %.3g", n, kind, s[0], s[1])
					b.tablesAreTrue(t, what, d, backendtest.SpectrumFeatures(d, 9, s, rng))
				}
			}
		}
		for _, m := range []int{1, 2, 5, 32, 33} {
			rng := rand.New(rand.NewPCG(uint64(m), 8))
			d := backendtest.SpectrumData("grid with holes", 200, m%6, rng)
			f := backendtest.SpectrumFeatures(d, m, backendtest.Stretch{5, 3000, 0.5}, rng)
			b.tablesAreTrue(t, fmt.Sprintf("%d features, %d outputs", m, d.D), d, f)
		}
	})
}

// TestPlanesMatchPlanesOfCPU compares sums of two inputs from tables with sums from the CPU's tables. Runs of up to
// seven features differ only in phase and amplitudes, so that they share sums.
func TestPlanesMatchPlanesOfCPU(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinal: ordinal, anyTables: true})
		for _, kind := range []string{"grid with holes", "clustered"} {
			rng := rand.New(rand.NewPCG(3, 9))
			d := backendtest.SpectrumData(kind, 20_000, 2, rng)
			f := backendtest.SpectrumFeatures(d, 33, backendtest.Stretch{100, 1000, 0.5}, rng)
			for k := range f.M {
				if i := k % 11; i == 1 || i > 4 {
					copy(f.Center[2*k:], f.Center[2*k-2:2*k])
					copy(f.Decay[2*k:], f.Decay[2*k-2:2*k])
					copy(f.Freq[2*k:], f.Freq[2*k-2:2*k])
				}
			}
			host, card := rowspectrum.Over(nil, d).(*rowspectrum.Rows), testkit.Must(b.Open(*d))(t)
			want, got := momentsAndGradient(t, host, f), momentsAndGradient(t, card, f)
			if !host.Tables() || !card.(*rows).Tables() {
				t.Fatalf("%s: passes over the rows are used", kind)
			}
			testkit.OK(t, errors.Join(near(got[:2], want[:2], 1e-12), near(got[2:], want[2:], 1e-10)))
			testkit.OK(t, card.Close())
		}
	})
}

// momentsAndGradient returns C, G and a gradient.
func momentsAndGradient(t *testing.T, r backend.Rows, f *backend.Features) []answer {
	t.Helper()
	m, g := backend.NewMoments(f, 2), backend.NewFeatures(f.M, f.Q)
	testkit.OK(t, errors.Join(r.Moments(m, f), r.Pullback(g, f, m)))
	all := []answer{{"C", m.C}, {"G", m.Gram.Diag[0]}}
	for _, a := range g.Fields() {
		all = append(all, answer{a.Name, a.Data})
	}
	return all
}

// TestShortFeaturesOfPlanes checks that passes over the rows are used if a feature of two inputs is too short for
// tables on a GPU.
func TestShortFeaturesOfPlanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	d := backendtest.SpectrumData("scattered", 1000, 1, rng)
	f := backendtest.SpectrumFeatures(d, 5, backendtest.Stretch{50, 100, 0}, rng)
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinal: ordinal, anyTables: true})
		for _, short := range []bool{false, true} {
			if f.Decay[3] = 0.01; short {
				f.Decay[3] = 1e4
			}
			r := testkit.Must(b.Open(*d))(t)
			testkit.OK(t, r.Moments(backend.NewMoments(f, 1), f))
			testkit.Equal(t, r.(*rows).Tables(), !short)
			testkit.OK(t, r.Close())
		}
	})
}

func (b *Backend) tablesAreTrue(t *testing.T, name string, d *backend.Data, f *backend.Features) {
	t.Helper()
	rows := testkit.Must(b.Open(*d))(t)
	defer rows.Close()
	g, c, gradient := backendtest.SpectrumErrors(t, d, f, rows, rand.New(rand.NewPCG(1, 1)))
	what := fmt.Sprintf("%s: errors of G %.1e, C %.1e, gradient %.1e", name, g, c, gradient)
	if t.Log(what); !(g <= 1e-13 && c <= 1e-13 && gradient <= 1e-11) {
		t.Error(what)
	}
}

// tableShapes end within tiles of pairs, and use the host's, the chain's and the dense algebra.
var tableShapes = []shape{
	{name: "even", n: 300, m: 33, q: 1, d: 2, even: true, tables: true},
	{name: "uneven, steep", n: 300, m: 64, q: 1, d: 1, steep: true, tables: true},
	{name: "dense, shuffled", n: 200, m: 130, q: 1, d: 5, shuffled: true, tables: true},
	{name: "uneven, short", n: 600, m: 70, q: 1, d: 2, short: true, tables: true},
	{name: "two inputs", n: 200, m: 9, q: 2, d: 2, tables: true},
}

// TestTablesMatchCPU compares all methods with package cpu, twice with the same rows: the second time
// the tables and sums are reused.
func TestTablesMatchCPU(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		for _, s := range tableShapes {
			t.Run(s.name, func(t *testing.T) {
				p, b := newProblem(s), open(t, s.options(ordinal))
				p.asCPU(t, b, float64Bound)
				r := testkit.Must(b.Open(p.data))(t)
				defer r.Close()
				for round := range 2 {
					for _, m := range p.methods() {
						if err := sameBits(p.on(t, b, m), testkit.Must(m.call(r))(t)); err != nil {
							t.Errorf("round %d, %s: %v", round, m.name, err)
						}
					}
				}
				testkit.Equal(t, r.(*rows).Tables(), true)
			})
		}
	})
}

// TestLanesHaveSimilarSums counts the terms of the sums of all pairs of 640 features, of which a tenth reach over a
// twentieth of the rows. A warp of spectrum_gram takes as long as its longest sum. Sorted, that is at most one and a half
// times the mean, in the given order more than four times.
func TestLanesHaveSimilarSums(t *testing.T) {
	const m, tile, tables = 640, kernels.SpectrumTile, 40
	p := newProblem(shape{n: 20000, m: m, q: 1, d: 1})
	for k, rng := 0, rand.New(rand.NewPCG(1, 1)); k < m; k++ {
		if p.features.Decay[k] = math.Pow(5000, -2); rng.IntN(10) == 0 {
			p.features.Decay[k] = math.Pow(5000./20/16, -2)
		}
	}
	source := rowspectrum.New(&p.data)
	waves, size := source.Choose(p.features, math.Inf(1))
	if size == (rowspectrum.Size{}) {
		t.Fatal("passes over the rows are used")
	}
	g := source.Grid()
	axis := g.Axes[0]
	terms := func(a, b []float64) float64 {
		decay, apart := a[simd.PairDecay]+b[simd.PairDecay], a[simd.PairCenter]-b[simd.PairCenter]
		width := g.Digits*g.Digits - a[simd.PairDecay]*b[simd.PairDecay]/decay*apart*apart
		half := math.Floor(g.Digits*math.Sqrt(decay+axis.P0)/axis.Angle+0.5) + 1
		n := 2 * min(half+1, tables) * math.Floor(half/tables+1)
		if decay*axis.Span*axis.Span > width {
			n = min(n, 5*float64(g.Rows)*2*math.Sqrt(max(0, width)/decay)/axis.Span)
		}
		return n
	}
	ratio := func(waves []float64, size int) float64 {
		longest, all := 0.0, 0.0
		for j := range m {
			for k0 := 0; k0 < j; k0 += tile {
				most := 0.0
				for k := k0; k < min(j, k0+tile); k++ {
					n := terms(waves[size*j:], waves[size*k:])
					most, all = max(most, n), all+n
				}
				longest += most * float64(min(j-k0, tile))
			}
		}
		return longest / all
	}
	given, sorted := ratio(waves.Along[0], simd.PairRows), ratio(byReach(waves, g), simd.PairRows+1)
	if t.Logf("longest to mean sum: %.2f in the given order, %.2f sorted", given, sorted); given < 4 || sorted > 1.5 {
		t.Error("expected more than 4 and at most 1.5")
	}
}

// TestTablesInBudget checks that passes over the rows are used if the tables do not fit into
// memory.
func TestTablesInBudget(t *testing.T) {
	for _, p := range []*problem{
		newProblem(shape{n: 600, m: 70, q: 1, d: 1, even: true, tables: true}),
		newProblem(shape{n: 300, m: 9, q: 2, d: 1, tables: true}),
	} {
		onEach(t, func(t *testing.T, ordinal int) {
			for _, m := range p.methods() {
				o := p.options(ordinal)
				needed := p.needed(t, m, o)
				o.Budget = needed
				want, got := testkit.Must(p.run(open(t, shape{}.options(ordinal)), m))(t), testkit.Must(p.run(open(t, o), m))(t)
				testkit.OK(t, near(got, want, 1e-10))
			}
		})
	}
}

// TestTablesInTightMemory checks that sums whose memory was reused for other arrays are not used
// again.
func TestTablesInTightMemory(t *testing.T) {
	big, small := newProblem(shape{n: 300, m: 70, q: 1, d: 1, even: true, tables: true}), newProblem(shape{n: 300, m: 69, q: 1, d: 1, even: true})
	pull := func(r backend.Rows) []answer { return testkit.Must(small.methods()[1].call(r))(t) }
	onEach(t, func(t *testing.T, ordinal int) {
		o := big.options(ordinal)
		r := testkit.Must(open(t, o).Open(big.data))(t)
		want := pull(r)
		for _, less := range []int64{0, 1, 100, 200} {
			o.Budget = r.(*rows).plans[opPullback].needs.total() - less
			tight := testkit.Must(open(t, o).Open(big.data))(t)
			for _, f := range []*backend.Features{big.features, small.features} {
				if err := tight.Moments(backend.NewMoments(f, 1), f); err != nil && !errors.Is(err, cuda.ErrBudget) {
					t.Error(err)
				}
			}
			var refused *BudgetError
			g := backend.NewFeatures(small.m, 1)
			if err := tight.Pullback(g, small.features, small.bar); err != nil && !errors.As(err, &refused) {
				t.Errorf("%d bytes less: %v", less, err)
			} else if err == nil {
				testkit.OK(t, near(pull(tight), want, 1e-10))
			}
			testkit.OK(t, tight.Close())
		}
		testkit.OK(t, r.Close())
	})
}

// TestTablesAreReported checks that an evaluation of a device's solution reports that its sums came
// from tables.
func TestTablesAreReported(t *testing.T) {
	p, d := recording(1, 2, 20, 1, 4)
	for _, tables := range []bool{false, true} {
		onEach(t, func(t *testing.T, ordinal int) {
			setting := variational.Setting{Backend: open(t, Options{Ordinal: ordinal, Direct: !tables, anyTables: tables})}
			r := testkit.Must(variational.Open(context.Background(), backend.Data{N: d.N, Q: 1, D: 1, X: d.X, Y: d.Y}, setting))(t)
			defer r.Close()
			e := testkit.Must(r.Exact(p, true))(t)
			testkit.Equal(t, e.Sums, map[bool]string{false: "rows", true: "tables"}[tables])
		})
	}
}
