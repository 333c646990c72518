package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// evenRows returns n rows from x0 with spacing delta. x0 and delta must have few digits, so that
// no row is rounded.
func evenRows(f *fence, n int, x0, delta float64) []float64 {
	x := f.floats(n, 1)
	for i := range x {
		x[i] = x0 + float64(i)*delta
	}
	return x
}

// stepped returns the steps of features.
func stepped(f *fence, b FeatureParams, delta float64) Stepped {
	s := Stepped{Delta: delta, Data: f.floats(SteppedRoom(b.Count), 0)}
	b.Step(s)
	return s
}

// An evenScene has features over even rows with the kind of each lane.
type evenScene struct {
	fence
	b       FeatureParams
	s       Stepped
	x, gate []float64
	w       []float64
}

// kinds are kinds of lanes for rows over [0, 1], with P·span² = p.
var kinds = []struct {
	name   string
	center float64 // in spans from the first row
	p      float64
}{
	{"in the middle", 0.5, 3}, {"no decay", 0.3, 0}, {"hardly any decay", -2, 1e-12}, {"before", -3, 2}, {"after", 4.5, 0.7},
	{"tail toward its center", 1.8, 99}, {"beyond far", 40, 2}, {"beyond far, before", -300, 1e3}, {"center on the first row", 0, 4},
	{"narrow", 0.5, 1e4}, {"very narrow", 0.25, 1e20}, {"far is crossed", 13.5, 2}, {"far is crossed, before", -13, 2}, {"steep", -0.2, 101},
	{"far from both sides", 0.5, 2000},
}

// Lanes get random kinds. Only the first easy kinds are stepped.
const easy = 9

func newEvenScene(t testing.TB, seed uint64, count, n, most int, delta float64) *evenScene {
	s := &evenScene{fence: fence{t: t}}
	r := rand.New(rand.NewPCG(12, seed))
	x0 := math.Round(64*r.Float64()) / 16
	s.x = evenRows(&s.fence, n, x0, delta)
	span := delta * float64(max(1, n-1))
	s.b = newParams(count, 1)
	s.b.Data = s.floats(len(s.b.Data), 0)
	for k := range count * Lanes {
		kind := kinds[r.IntN(most)]
		s.b.Set(k, []float64{x0 + kind.center*span}, []float64{kind.p / (span * span)}, []float64{8 * (r.Float64() - 0.5) / delta}, 6*r.Float64())
	}
	s.s = stepped(&s.fence, s.b, delta)
	s.gate, s.w = s.random(r, n, 1), s.random(r, count*Lanes, 1)
	return s
}

// room allocates panels with fences.
func (s *evenScene) room(seed uint64) Panels {
	return s.panels(rand.New(rand.NewPCG(13, seed)), s.b.Count, len(s.x))
}

// evenTol is the maximum error of a stepped row relative to the feature's largest value, 1. See
// TestEvenTruth.
const evenTol = 144 * 0x1p-52

// rounding returns the rounding error of the formula's phases and of the first phases of the steps.
func (s *evenScene) rounding() float64 {
	most := 0.0
	for k := range s.b.Count * Lanes {
		p := s.b.Panel(k / Lanes)[k%Lanes:]
		for _, x := range []float64{s.x[0], s.x[len(s.x)-1]} {
			if d := x - p[Lanes]; p[2*Lanes]*d*d <= far {
				most = max(most, math.Abs(p[3*Lanes]*d))
			}
		}
	}
	return 2 * math.Pi * most * 0x1p-53 * 3
}

// TestFeaturesEven checks that stepped rows agree with the formula for all kinds of lanes and all
// sizes, and that nothing else is written.
func TestFeaturesEven(t *testing.T) {
	slow.Race(t)
	for _, count := range []int{1, 2, 5} {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 10, 31, 32, 33, 63, 64, 65, 71, 72, 127, 128, 129, 200} {
			for _, delta := range []float64{1, -0.25, 1. / 65536, 1024} {
				for _, most := range []int{easy, len(kinds)} {
					eachSet(t, func(t *testing.T) {
						testFeaturesEven(t, newEvenScene(t, uint64(n), count, n, most, delta))
					})
				}
			}
		}
	}
}

func testFeaturesEven(t *testing.T, s *evenScene) {
	t.Helper()
	cos, sin, cos2, sin2 := s.room(1), s.room(2), s.room(3), s.room(4)
	(&Tile{Cos: cos, Sin: sin, Params: s.b, X: s.x, Gate: s.gate}).Features()
	(&Tile{Cos: cos2, Sin: sin2, Params: s.b, Steps: s.s, X: s.x, Gate: s.gate}).Features()
	if worst := compareEven(t, s, cos, sin, cos2, sin2); !(worst <= evenTol+s.rounding()) {
		t.Errorf("%d rows, step %v: error %v, want at most %v", len(s.x), s.s.Delta, worst, evenTol+s.rounding())
	}
	testFeaturesFit(t, &s.fence, Tile{Params: s.b, Steps: s.s, X: s.x, Gate: s.gate}, s.w, use != Plain)
	s.check()
	for _, p := range []Panels{cos, sin, cos2, sin2} {
		s.between(p)
	}
}

// compareEven returns the largest difference. Stepped features must be 0 exactly where the formula
// is set to 0.
func compareEven(t *testing.T, s *evenScene, cos, sin, cos2, sin2 Panels) (worst float64) {
	t.Helper()
	for i := range s.b.Count {
		for k, c := range cos.Panel(i) {
			c2, v, v2 := cos2.Panel(i)[k], sin.Panel(i)[k], sin2.Panel(i)[k]
			if (c == 0 && v == 0) != (c2 == 0 && v2 == 0) {
				t.Errorf("%d rows, step %v, panel %d, row %d, lane %d: (%v, %v), the formula gives (%v, %v)", len(s.x), s.s.Delta, i, k/Lanes, k%Lanes, c2, v2, c, v)
			}
			worst = max(worst, math.Abs(c-c2), math.Abs(v-v2))
		}
	}
	return worst
}

// TestEvenTruth compares with 192-bit arithmetic at the rows with the largest errors.
func TestEvenTruth(t *testing.T) {
	slow.Race(t)
	const n = 64
	for i, kind := range slices.Concat(kinds[:easy], kinds[:easy]) {
		turn := 7.0
		if i >= easy { // slow enough for exact phases
			turn = 0.01
		}
		t.Run(fmt.Sprint(kind.name, ", ", turn), func(t *testing.T) {
			eachSet(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(15, 1))
				f := &fence{t: t}
				x := evenRows(f, n, 0, 1)
				b := newParams(4, 1)
				for k := range 4 * Lanes {
					b.Set(k, []float64{63 * kind.center}, []float64{kind.p / (63 * 63) * (0.5 + 0.5*r.Float64())}, []float64{turn * (r.Float64() - 0.5)}, 6*r.Float64())
				}
				cos, sin := NewPanels(4, n), NewPanels(4, n)
				gate := slices.Repeat([]float64{1}, n)
				(&Tile{Cos: cos, Sin: sin, Params: b, Steps: stepped(f, b, 1), X: x, Gate: gate}).Features()
				worst, at, most := 0.0, 0, 0.0
				for k := range 4 * Lanes {
					for _, row := range []int{0, 1, 15, 30, 31, 32, 33, 61, 62, 63} {
						wantCos, wantSin, turns := truth(b, k, x[row])
						most = max(most, turns)
						e := max(errorIn(cos.at(row, k), wantCos, 0x1p-52), errorIn(sin.at(row, k), wantSin, 0x1p-52))
						if e > worst {
							worst, at = e, row
						}
					}
				}
				t.Logf("maximum error %.1f units in the last place of 1, in row %d", worst, at)
				// The roundings of the factors may all have the same sign: ¼ unit for each of up to
				// 32 steps, times the following steps. The first phase has an error of up to π
				// units per turn.
				if want := 32*31/2/4 + 20 + math.Pi*most; !(worst <= want) {
					t.Errorf("error %.1f units in the last place of 1, want %.1f", worst, want)
				}
			})
		})
	}
}

// truth returns feature k at x, and the size of its phase in turns.
func truth(b FeatureParams, k int, x float64) (cos, sin precise.Real, size float64) {
	p := b.Panel(k / Lanes)[k%Lanes:]
	d := precise.Of(x).Minus(precise.Of(p[Lanes]))
	turns := d.Times(precise.Of(p[3*Lanes])).Plus(precise.Of(p[0]))
	quad := d.Times(d).Times(precise.Of(p[2*Lanes]))
	if quad.Float() > far {
		return precise.Of(0), precise.Of(0), 0
	}
	e, angle := quad.Times(precise.Of(-0.5)).Exp(), precise.TwoPi.Times(turns)
	return e.Times(angle.Cos()), e.Times(angle).Times(angle.Sinc()), math.Abs(turns.Float())
}

// TestEvenNotFinite checks that NaN and infinities in any lane give NaN and do not affect other
// lanes.
func TestEvenNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name                    string
		z, p, w, phase, gate, x float64
	}{
		{"all finite", 1, 1e-3, 1, 1, 1, 0},
		{"center NaN", nan, 1e-3, 1, 1, 1, 0},
		{"center infinite", inf, 1e-3, 1, 1, 1, 0},
		{"center infinite, no decay", -inf, 0, 1, 1, 1, 0},
		{"decay NaN", 1, nan, 1, 1, 1, 0},
		{"decay infinite", 1, inf, 1, 1, 1, 0},
		{"decay huge, far away", 1e14, 1e300, 0, 0, 1, 0},
		{"frequency NaN", 1, 1e-3, nan, 1, 1, 0},
		{"frequency infinite", 1, 1e-3, inf, 1, 1, 0},
		{"frequency infinite, far away", 1e9, 1, inf, 1, 1, 0},
		{"phase NaN", 1, 1e-3, 1, nan, 1, 0},
		{"phase NaN, far away", 1e9, 1, 1, nan, 1, 0},
		{"gate NaN", 1, 1e-3, 1, 1, nan, 0},
		{"gate infinite", 1, 1e-3, 1, 1, inf, 0},
		{"gate 0", 1, 1e-3, 1, 1, 0, 0},
		{"x NaN", 1, 1e-3, 1, 1, 1, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSet(t, func(t *testing.T) {
				const n = 9
				f := &fence{t: t}
				b := newParams(1, 1)
				for l := range Lanes {
					b.Set(l, []float64{4}, []float64{1e-2}, []float64{0.3}, 0.1)
				}
				b.Set(5, []float64{c.z}, []float64{c.p}, []float64{c.w}, c.phase)
				x, gate := evenRows(f, n, c.x, 1), []float64{1, 1, 1, 1, 1, 1, 1, 1, c.gate}
				cos, sin, cos2, sin2 := NewPanels(1, n), NewPanels(1, n), NewPanels(1, n), NewPanels(1, n)
				(&Tile{Cos: cos, Sin: sin, Params: b, X: x, Gate: gate}).Features()
				(&Tile{Cos: cos2, Sin: sin2, Params: b, Steps: stepped(f, b, 1), X: x, Gate: gate}).Features()
				for i, v := range cos.Data {
					if got := cos2.Data[i]; !(math.Abs(got-v) <= 1e-14) && !(math.IsNaN(got) && math.IsNaN(v)) && got != v {
						t.Errorf("row %d, lane %d: cos is %v, the formula gives %v", i/Lanes, i%Lanes, got, v)
					}
				}
			})
		})
	}
}

// TestStepIsAccurateToTheLastPlace checks the rotation and the damping to the last place.
func TestStepIsAccurateToTheLastPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	eachSet(t, func(t *testing.T) {
		b := newParams(40, 1)
		for k := range b.Count * Lanes {
			b.Set(k, []float64{r.Float64()}, []float64{math.Pow(10, 40*r.Float64()-30)}, []float64{math.Pow(10, 9*r.Float64()-4)}, 1)
		}
		s := stepped(&fence{t: t}, b, 0.75)
		for k := range b.Count * Lanes {
			at := func(row int) float64 { return s.Data[(k/Lanes*stepRows+row)*Lanes+k%Lanes] }
			p := b.Panel(k / Lanes)[k%Lanes:]
			decay, freq := p[2*Lanes], p[3*Lanes]
			angle := precise.TwoPi.Times(precise.Of(freq)).Times(precise.Of(1.5))
			c, sn := angle.Cos(), angle.Sinc().Times(angle)
			if e := max(errorIn(at(stepCos), c, 0x1p-52), errorIn(at(stepSin), sn, 0x1p-52)); !(e <= circleULP[use]+1) {
				t.Errorf("%v turns: error of %v units", freq*1.5, e)
			}
			for row, factor := range map[int]float64{stepBend: 4, stepHalf: 2} {
				arg := -factor * decay * 0.75 * 0.75
				want := precise.Of(max(arg, -1e3)).Exp().Minus(precise.Of(1))
				if e := errorIn(at(row), want, ulp(at(row))); e > 2+4*math.Abs(arg) && at(row) != -1 {
					t.Errorf("exp(%v) − 1: %v, error of %v units", arg, at(row), e)
				}
			}
		}
	})
}

// TestEvenFallsBack checks that panels of easy lanes are stepped and others are not, and that a
// panel that cannot be stepped does not affect its neighbors.
func TestEvenFallsBack(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for i, kind := range kinds {
			s := newEvenScene(t, 1, 3, 64, 1, 1)
			s.b.Set(Lanes+3, []float64{s.x[0] + 63*kind.center}, []float64{kind.p / (63 * 63)}, []float64{1}, 1)
			s.s = stepped(&s.fence, s.b, 1)
			p := Tile{Cos: s.room(1), Sin: s.room(2), Params: s.b, Steps: s.s, X: s.x, Gate: s.gate}
			want := 3
			if i >= easy {
				want = 1
			}
			if got := p.step(); got != want {
				t.Errorf("%s: %d panels were stepped, want %d", kind.name, got, want)
			}
			last := p.Slice(2, 3)
			if got := last.step(); got != 1 {
				t.Errorf("%s: the last panel was not stepped", kind.name)
			}
			var starts Starts
			p.Acc, p.W, p.Starts = s.floats(64*Lanes, 0), s.w, &starts
			p.Features()
			if want := []bool{EvenFused(), EvenFused() && want == 3, EvenFused()}; !slices.Equal(starts.stepped, want) {
				t.Errorf("%s: stepped %v, want %v", kind.name, starts.stepped, want)
			}
		}
	})
}

// TestFactorizedEven checks that features that are recomputed by stepping give the same sums as
// stored features, including panels that cannot be stepped.
func TestFactorizedEven(t *testing.T) {
	for _, count := range []int{1, 2, 5} {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 10, 31, 32, 33, 63, 64, 65, 100} {
			for _, delta := range []float64{1, -0.25, 1024} {
				for _, most := range []int{easy, len(kinds)} {
					eachSet(t, func(t *testing.T) { testFactorizedEven(t, newEvenScene(t, uint64(n), count, n, most, delta)) })
				}
			}
		}
	}
}

func testFactorizedEven(t *testing.T, s *evenScene) {
	r := rand.New(rand.NewPCG(17, 1))
	n := len(s.x)
	lanes := make([]Lane, s.b.Count)
	for i := range lanes {
		for k := range Lanes {
			lanes[i].Ripple[k], lanes[i].Square[k], lanes[i].Weight[k] = r.Float64()-0.5, r.Float64()-0.5, r.Float64()
		}
	}
	s.gate[0] = 0
	inv := s.floats(n, 1)
	InverseSquares(inv, s.gate)
	res := s.random(r, n, 1)
	for _, c := range [][2][]float64{{s.gate, inv}, {nil, nil}} {
		gate, inv := c[0], c[1]
		cos, sin, acc := s.room(1), s.room(2), s.floats(n*Lanes, 0)
		(&Tile{Cos: cos, Sin: sin, Params: s.b, Steps: s.s, X: s.x, Gate: gate, Acc: acc, W: s.w}).Features()
		want := s.floats(s.b.Count*FactorizedRows*Lanes, 0)
		for i := range s.b.Count {
			factorizedPlain(want[i*FactorizedRows*Lanes:], cos.Panel(i), sin.Panel(i), res, s.x, inv, centered(&lanes[i], s.b.Panel(i)))
		}
		cos2, sin2, acc2, got := s.room(3), s.room(4), s.floats(n*Lanes, 0), s.floats(len(want), 0)
		for i := range got {
			got[i] = 1
		}
		var starts Starts
		(&Tile{Cos: cos2, Sin: sin2, Params: s.b, Steps: s.s, X: s.x, Gate: gate, Acc: acc2, W: s.w, Starts: &starts}).Features()
		testkit.Within(t, "the fit, without and with stored features", acc2, acc, 0)
		(&Tile{Cos: cos2, Sin: sin2, Params: s.b, Steps: s.s, X: s.x, Gate: gate, Inv: inv, Starts: &starts}).Factorized(got, res, lanes)
		for i, v := range want {
			row, panel, lane := i/Lanes%FactorizedRows, i/Lanes/FactorizedRows, i%Lanes
			scale := s.reach(panel, lane)
			near(t, fmt.Sprintf("%d rows, step %v, panel %d, lane %d, sum %d", n, s.s.Delta, panel, lane, row), got[i]-1, v, 1+float64(n)*scale[row], 3e-14)
		}
		s.check()
		s.between(cos2)
		s.between(sin2)
	}
}

// reach returns the approximate maximum contribution of a row to each sum.
func (s *evenScene) reach(panel, lane int) [FactorizedRows]float64 {
	p := s.b.Panel(panel)[lane:]
	d := 0.0
	for _, x := range s.x { // within the feature's support
		if dx := x - p[Lanes]; p[2*Lanes]*dx*dx < 40 {
			d = max(d, dx, -dx)
		}
	}
	return [FactorizedRows]float64{1, 1, 1, 1, d, d, d * d}
}

// centered sets a lane's centers to the centers of its features.
func centered(l *Lane, par []float64) *Lane {
	copy(l.Center[:], par[Lanes:2*Lanes])
	return l
}
