package lbfgs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// valleys are Rosenbrock functions of four coordinates with different steepness, coupled to their
// neighbors and to the last coordinate, which all share.
type valleys struct {
	count int
	calls int
}

const valleySize = 4

func (v *valleys) n() int { return v.count*valleySize + 1 }

// f has its maximum 0 where the last coordinate is 0 and all others are 1.
func (v *valleys) f(x, g []float64) (float64, error) {
	v.calls++
	clear(g)
	s, last := 0.0, v.n()-1
	for b := range v.count {
		at, part := b*valleySize, make([]float64, valleySize)
		steep := 1 + 10*float64(b%7)
		value, _ := rosenbrock(x[at:at+valleySize], part)
		s += steep * value
		for i, p := range part {
			g[at+i] += steep * p
		}
		if b > 0 {
			d := x[at] - x[at-1]
			s -= d * d
			g[at] -= 2 * d
			g[at-1] += 2 * d
		}
		d := x[last] - 0.1*(x[at]-1)
		s -= d * d
		g[last] -= 2 * d
		g[at] += 0.2 * d
	}
	return s, nil
}

func (v *valleys) start(t *testing.T) *State {
	t.Helper()
	x := testkit.Numbers(v.n(), func(i int) float64 { return -1.2 + 0.3*math.Sin(float64(i)) })
	return testkit.Must(Start(v.f, x))(t)
}

// blocks returns a block of two ranges for each valley, and one for the shared coordinate.
func (v *valleys) blocks() []Block {
	all := []Block{{Own: Ranges{{v.n() - 1, v.n()}}, Shared: true}}
	for b := range v.count {
		at := b * valleySize
		all = append(all, Block{Own: Ranges{{at, at + 1}, {at + 1, at + valleySize}}})
	}
	return all
}

// TestBlocksReachTheMaximum checks that blocks reach the same maximum, with fewer evaluations if
// there are many blocks.
func TestBlocksReachTheMaximum(t *testing.T) {
	for _, count := range []int{1, 2, 8, 64} {
		calls := map[bool]int{}
		for _, perBlock := range []bool{false, true} {
			v := &valleys{count: count}
			s := v.start(t)
			set := Settings{Iterations: 5000, Gain: 1e-12, PerBlockGain: 1e-2}
			if perBlock {
				set.Blocks = v.blocks()
			}
			why, err := Maximize(v.f, s, set)
			if err != nil || s.F < -1e-8 {
				t.Errorf("%d blocks, per block %v: %v after %d iterations (%s, %v), want 0", count, perBlock, s.F, s.Iterations, why, err)
			}
			calls[perBlock] = v.calls
		}
		t.Logf("%d blocks: %d evaluations together, %d with blocks", count, calls[false], calls[true])
		if count >= 64 && calls[true] >= calls[false] {
			t.Errorf("%d blocks: %d evaluations, together %d: want fewer", count, calls[true], calls[false])
		}
	}
}

// TestOneBlock checks that no block, or one block of all coordinates, gives the bits of plain
// L-BFGS.
func TestOneBlock(t *testing.T) {
	v := &valleys{count: 3}
	plain, one := v.start(t), v.start(t)
	for s, blocks := range map[*State][]Block{plain: nil, one: {{Own: Ranges{{0, v.n()}}}}} {
		testkit.Must(Maximize(v.f, s, Settings{Iterations: 40, Blocks: blocks}))(t)
	}
	if plain.F != one.F || !slices.Equal(plain.X, one.X) {
		t.Errorf("one block ends at %v, none at %v", one.F, plain.F)
	}
}

// TestBlocksResume checks that a resumed maximization with blocks ends at the same bits, wherever
// it was stopped.
func TestBlocksResume(t *testing.T) {
	const most = 120
	set := Settings{PerBlockGain: 0.5}
	v := &valleys{count: 9}
	set.Blocks = v.blocks()
	whole := v.start(t)
	together := 0 // iterations until blocks join
	set.Iterations, set.Each = most, func(s *State) error {
		if !s.PerBlock.Over {
			together = s.Iterations + 1
		}
		return nil
	}
	testkit.Must(Maximize(v.f, whole, set))(t)
	if together < 5 || together > most-20 {
		t.Fatalf("blocks join after %d of %d iterations: the test needs both", together, most)
	}
	for _, cut := range []int{1, together - 2, together, together + 7} {
		part := v.start(t)
		set.Each, set.Iterations = nil, cut
		testkit.Must(Maximize(v.f, part, set))(t)
		restored := save(t, part).restore(t)
		set.Iterations = most
		testkit.Must(Maximize(v.f, restored, set))(t)
		if whole.F != restored.F || !slices.Equal(whole.X, restored.X) {
			t.Errorf("stopped after %d: resumed to %v, uninterrupted %v", cut, restored.F, whole.F)
		}
	}
}

// TestBlocksMeetWalls checks that points without a value only shorten steps, that the best point
// is an evaluated one and never gets worse, and that the blocks' failures are saved with the
// state.
func TestBlocksMeetWalls(t *testing.T) {
	v := &valleys{count: 6}
	walled := func(x, g []float64) (float64, error) {
		f, _ := v.f(x, g)
		switch {
		case slices.Max(x) > 1.3:
			return 0, errors.New("no value")
		case slices.Min(x) < -1.6:
			return math.NaN(), nil
		}
		return f, nil
	}
	s := v.start(t)
	best := s.F
	_, err := Maximize(walled, s, Settings{Iterations: 3000, Gain: 1e-12, PerBlockGain: 1e-2, Blocks: v.blocks(), Each: func(s *State) error {
		g := make([]float64, len(s.X))
		if f, _ := v.f(s.X, g); f != s.F || f < best || !slices.Equal(g, s.G) {
			t.Fatalf("iteration %d: the state's value is %v, but its point has %v, the best so far %v", s.Iterations, s.F, f, best)
		}
		best = s.F
		if a := s.PerBlock; a.Failed > 0 && !(slices.Equal(a.X, s.X) && slices.Equal(a.G, s.G)) {
			t.Fatalf("iteration %d fell below the best point: the next step does not begin there", s.Iterations)
		}
		if kept := save(t, s).restore(t); fmt.Sprint(*kept.PerBlock) != fmt.Sprint(*s.PerBlock) {
			t.Fatalf("iteration %d: restored as %+v, was %+v", s.Iterations, *kept.PerBlock, *s.PerBlock)
		}
		return nil
	}})
	if err != nil || s.F < -1e-6 {
		t.Errorf("value %v, error %v, want 0", s.F, err)
	}
}

// TestBlockKeepsItsOwn checks that if one block overshoots but the value rises, only this block
// returns to its previous point and shortens its step.
func TestBlockKeepsItsOwn(t *testing.T) {
	wide, narrow := Ranges{{0, 1}}, Ranges{{1, 2}}
	f := func(x, g []float64) (float64, error) { // narrow contributes much less
		g[0], g[1] = -2*(x[0]-100), -200*x[1]
		return -(x[0]-100)*(x[0]-100) - 100*x[1]*x[1], nil
	}
	s := testkit.Must(Start(f, []float64{0, 0.01}))(t)
	testkit.Must(Maximize(f, s, Settings{Iterations: 1, Blocks: []Block{{Own: wide}, {Own: narrow}}}))(t)
	a := s.PerBlock
	if s.X[0] != 0.1 || math.Abs(s.X[1]+0.09) > 1e-12 || a.X[0] != s.X[0] || a.X[1] != 0.01 || a.G[1] != -2 {
		t.Errorf("the best point is %v, the blocks step from %v with slope %v: want the second block's previous point", s.X, a.X, a.G)
	}
	if a.Radius[0] != firstRadius || !(a.Radius[1] < 0.1) {
		t.Errorf("radii %v: want the first unchanged and the second below its step of 0.1", a.Radius)
	}
}

// TestScaleOfBlocks checks that each block has a separate initial curvature, within a factor of
// ten of the common one.
func TestScaleOfBlocks(t *testing.T) {
	blocks := []Block{{Own: Ranges{{0, 2}}}, {Own: Ranges{{2, 4}}}}
	for _, c := range []struct {
		y    float64 // of the second block
		want []float64
	}{
		{4, []float64{0, 2.0 / 4, 0, 4.0 / 16}},
		{400, []float64{0, 10 * 402.0 / 160004, 0, 1.0 / 400}},
	} {
		s := &State{X: make([]float64, 4), S: [][]float64{{1, 0, 1, 0}}, Y: [][]float64{{2, 0, c.y, 0}}}
		q := make([]float64, 4)
		s.direction(q, []float64{0, 1, 0, 1}, blocks) // a gradient orthogonal to the pair
		testkit.Within(t, fmt.Sprintf("y %v: direction", c.y), q, c.want, 1e-15)
	}
}

// TestDirectionMatchesTwoLoopRecursion checks that the direction computed from inner products equals the direction of the two-loop recursion, with pairs without
// positive curvature, without pairs, and as pairs are added and removed.
func TestDirectionMatchesTwoLoopRecursion(t *testing.T) {
	const n = chunk + 7
	number := func(i, k int) float64 { return math.Sin(float64(7*i + i*k + k)) }
	s := &State{X: make([]float64, n)}
	all := Ranges{{0, n}}
	for round := range 2*Memory + 3 {
		g, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range g {
			g[i] = number(i, round+100)
		}
		copy(want, g)
		var of known
		all.apply(want, s.pairs(), of.of(all, s.pairs()))
		s.direction(got, g, nil)
		testkit.Within(t, fmt.Sprintf("round %d", round), got, want, 1e-11*all.largest(want))
		step, y := make([]float64, n), make([]float64, n)
		for i := range step {
			step[i] = number(i, round)
			y[i] = (2 + math.Cos(float64(i))) * step[i]
			if round%5 == 0 {
				y[i] = -y[i]
			}
		}
		s.push(step, y)
		if round == Memory+5 { // remove a pair in the middle
			s.S, s.Y = slices.Delete(s.S, 4, 5), slices.Delete(s.Y, 4, 5)
			s.ids = slices.Delete(s.ids, 4, 5)
		}
	}
}

// TestSameBitsOnAnyCores checks that the bits do not depend on the number of cores, with more coordinates than
// one chunk and with reused vectors.
func TestSameBitsOnAnyCores(t *testing.T) {
	v := &valleys{count: 3 * chunk / valleySize}
	for name, blocks := range map[string][]Block{"together": nil, "per block": v.blocks()} {
		testkit.SameOnCores(t, name, func() []float64 {
			s := v.start(t)
			// Blocks join after the twentieth iteration.
			testkit.Must(Maximize(v.f, s, Settings{Iterations: 45, Blocks: blocks, PerBlockGain: 20_000}))(t)
			if blocks != nil && !s.PerBlock.Over {
				t.Error("no iteration of all blocks together")
			}
			return slices.Concat([]float64{s.F}, s.X, s.G)
		})
	}
}
