package clicks

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestHighPass checks the gain of the filter below and above its cutoff.
func TestHighPass(t *testing.T) {
	const cutoff = 0.1
	for _, c := range []struct{ frequency, gain float64 }{{0, 0}, {0.03, 0}, {0.2, 1}, {0.45, 1}} {
		y := highPass(testkit.Numbers(1000, func(n int) float64 { return math.Cos(2 * math.Pi * c.frequency * float64(n)) }), cutoff)
		most := 0.0
		for _, v := range y[200:800] {
			most = max(most, math.Abs(v))
		}
		testkit.Near(t, most, c.gain, 0.01, "gain at ", c.frequency)
	}
}

// TestGroove compares the evidence of pieces with its definition.
func TestGroove(t *testing.T) {
	s := New(rate, 1, 5)
	rng := rand.New(rand.NewPCG(2, 9))
	const seconds, perSecond = 20, 25
	var pieces []Piece
	for range seconds { // with a floor of 10 in the first half of each second, 10 to 12 in a part of it, and 30 in the other half
		var p Piece
		for i := range int(1 / frameSeconds) {
			floor := 10 + 2*float64(i%100)/100
			if i >= 250 {
				floor = 30
			}
			p.Frames = append(p.Frames, floor)
			if rng.Float64() < perSecond*frameSeconds {
				p.Ticks, p.At = append(p.Ticks, Candidate{Size: 6 + 2*float64(rng.IntN(2))}), append(p.At, i)
			}
		}
		pieces = append(pieces, p)
	}
	silent := Piece{Frames: make([]float64, 1000)}
	g := s.NewGroove(append(pieces, silent))
	const low, limit = 10.16, 11.14 // the floor has values of 10 to 11 three times and others twice in each first half
	testkit.Near(t, g.limit, limit, 1e-9, "largest floor of the quietest third")
	testkit.Near(t, g.Spread, 20*math.Log10(limit/low), 1e-9, "spread")
	testkit.Near(t, g.Quiet, perSecond, 4, "ticks per second in the quietest third")
	testkit.Near(t, g.Dispersion, 1, 0.4, "dispersion of independent ticks")
	testkit.Near(t, g.size, 0.5*(math.Log(6)+math.Log(8)), 0.02, "mean logarithm of the sizes")
	testkit.Near(t, g.sizes, 0.5*math.Log(8.0/6), 0.01, "standard deviation")
	testkit.Equal(t, g.Doubt(), "", "a groove")
	for _, c := range []struct {
		change func(g *Groove)
		want   string
	}{
		{func(g *Groove) { g.ticks = minTicks - 1 }, "they are too few"},
		{func(g *Groove) { g.Quiet = 0.99 * minQuiet }, "they are too few"},
		{func(g *Groove) { g.Spread = 1.01 * maxSpread }, "the noise there is not steady"},
		{func(g *Groove) { g.Dispersion = 1.01 * maxDispersion }, "they come in groups"},
	} {
		other := g
		c.change(&other)
		testkit.Equal(t, other.Doubt(), c.want, other)
	}

	for i := range pieces { // all ticks of two seconds in consecutive frames
		for k := range pieces[i].At {
			pieces[i].At[k] = k
		}
		if i%2 == 1 {
			pieces[i].Ticks, pieces[i].At = nil, nil
		}
	}
	if g = s.NewGroove(pieces); g.Dispersion < 2*maxDispersion || g.Doubt() == "" {
		t.Errorf("bursts are a groove: %+v", g)
	}
	if g = s.NewGroove([]Piece{silent}); g.Doubt() == "" || g != (Groove{}) {
		t.Errorf("silence: %+v", g)
	}
	mean := MeanGroove([]Groove{{Quiet: 3, limit: 1}, {}, {Quiet: 5, limit: 2}})
	testkit.Equal(t, mean.Quiet, 4, "mean of channels without the silent one")
}

// TestAttacks checks that candidates in loud sound lose the log-odds of their size among the ticks, and others do not.
func TestAttacks(t *testing.T) {
	s := New(rate, 1, 5)
	rng := rand.New(rand.NewPCG(3, 1))
	x := testkit.Numbers(8000, func(n int) float64 {
		if n < 4000 {
			return 10 * rng.NormFloat64()
		}
		return 100 * rng.NormFloat64()
	})
	const size, sizes = 4, 0.5
	for _, c := range []struct {
		lo        int
		deviation float64 // of the logarithm of the size
		want      float64
	}{{2000, 3, 0}, {6100, -1, 0}, {6100, 0, 0}, {6100, 1, 0.5242}, {6100, 3, 3.5302}} {
		g := Groove{limit: 10, size: size, sizes: sizes}
		all := []Candidate{{Lo: c.lo, Hi: c.lo + 5, Size: math.Exp(size + sizes*c.deviation), LogOdds: 7}}
		g.Attacks(s, x, 0, all)
		testkit.Near(t, all[0].LogOdds, 7-c.want, 1e-4, c)
		g.sizes, all[0].LogOdds = 0, 7
		g.Attacks(s, x, 0, all)
		testkit.Equal(t, all[0].LogOdds, 7, "with ticks of unknown size")
	}
}
