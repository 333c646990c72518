package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// shiftsOf returns the times of a model's level shifts.
func shiftsOf(m *Model) (at []float64) {
	for _, p := range m.Parts() {
		if s, ok := p.(LevelShift); ok {
			at = append(at, s.At)
		}
	}
	return at
}

// TestShifts checks that level shifts are found, that none is found in a random walk, heavy-tailed innovations, noise, a spike or
// temporary changes, and that none is added to fixed parts.
func TestShifts(t *testing.T) {
	slow.Race(t)
	wander := func(seed uint64, jump func(i int) float64, innovation func(r *rand.Rand) float64) Series {
		random, level := rand.New(rand.NewPCG(seed, 1)), 0.0
		return seriesOf(300, func(i float64) float64 {
			level += innovation(random) + jump(int(i))
			return level + 0.3*random.NormFloat64()
		})
	}
	at := func(jumps map[int]float64) func(int) float64 { return func(i int) float64 { return jumps[i] } }
	normal := func(r *rand.Rand) float64 { return 0.1 * r.NormFloat64() }
	wide := func(r *rand.Rand) float64 { return 0.1 * math.Copysign(r.ExpFloat64(), r.Float64()-0.5) }
	for name, c := range map[string]struct {
		s    Series
		want []float64
	}{
		"one":         {wander(1, at(map[int]float64{120: 3}), normal), []float64{120}},
		"down and up": {wander(2, at(map[int]float64{90: -3, 200: 4}), normal), []float64{90, 200}},
		"none":        {wander(3, at(nil), normal), nil},
		"recent":      {wander(1, at(map[int]float64{292: 3}), normal), nil},
		"early":       {wander(1, at(map[int]float64{5: 3}), normal), nil},
		"spike":       {wander(4, at(map[int]float64{150: 6, 151: -6}), normal), nil},
		"wide tails":  {wander(5, at(nil), wide), nil},
		"temporary":   {air(3), nil},
		"changes":     {weather(6), nil},
		"noise":       {seriesOf(300, func(i float64) float64 { return math.Sin(i * i) }), nil},
	} {
		if !slow.Tests && slices.Contains([]string{"down and up", "none", "early", "noise"}, name) {
			continue
		}
		m := fit(t, c.s, Options{Known: true})
		got := shiftsOf(m)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: level shifts at %v, want %v", name, got, c.want)
		}
		if len(got) > 0 {
			reloaded(t, m, m.Next(3))
		}
	}
	s := wander(1, at(map[int]float64{120: 3}), normal)
	given := Options{Parts: []Part{Constant{}, RandomWalk{}}, Known: true}
	if at := shiftsOf(fit(t, s, given)); at != nil {
		t.Errorf("given parts: level shifts at %v", at)
	}
	given.Parts = append(given.Parts, LevelShift{At: 120})
	with, without := fit(t, s, given), fit(t, s, Options{Parts: given.Parts[:2], Known: true})
	p, q := predict(t, with, with.Next(1)), predict(t, without, without.Next(1))
	if !(with.Bound() > without.Bound()+5 && p.SD[0][0] < q.SD[0][0]) {
		t.Errorf("bound %v ± %v with the shift, %v ± %v without", with.Bound(), p.SD[0][0], without.Bound(), q.SD[0][0])
	}
	if e := testkit.Must(with.Effects(t.Context()))(t)[0]; e.Name != "level shift 120" || math.Abs(e.Mean[0]-3) > 3*e.SD[0] || e.SD[0] > 1 {
		t.Errorf("effect %+v, true value 3", e)
	}
	trend := testkit.Must(with.Components(t.Context(), []float64{119, 120}))(t)[0].Mean[0]
	if step := trend[1] - trend[0]; step < 2 || step > 4 {
		t.Errorf("the trend jumps by %v, true value 3", step)
	}
}

// air returns a first-order autoregression with heavy-tailed innovations and another level for 60 values, as the logarithm of hourly air
// pollution has it.
func air(seed uint64) Series {
	random, state := rand.New(rand.NewPCG(seed, 2)), 0.0
	return seriesOf(400, func(i float64) float64 {
		state = 0.9*state + 0.1*math.Copysign(random.ExpFloat64(), random.Float64()-0.5)
		if i >= 200 && i < 260 {
			return state + 1.5
		}
		return state
	})
}

// weather returns the same autoregression with another level every 48 to 144 values.
func weather(seed uint64) Series {
	random, state, level, left := rand.New(rand.NewPCG(seed, 5)), 0.0, 0.0, 0
	return seriesOf(600, func(i float64) float64 {
		if left == 0 {
			left = 48 + random.IntN(97)
			level = random.NormFloat64() / math.Sqrt(random.ExpFloat64())
		}
		left--
		state = 0.9*state + 0.1*math.Copysign(random.ExpFloat64(), random.Float64()-0.5)
		return level + state
	})
}

// spoiled returns a series with a weekly season, a level shift at 180 and outliers after it.
func spoiled(seed uint64, outliers int) Series {
	random := rand.New(rand.NewPCG(seed, 3))
	s := seriesOf(300, func(i float64) float64 {
		return 3*math.Sqrt2*math.Sin(2*math.Pi*i/7) + 15*math.Floor(i/180) + 2.3*random.NormFloat64()
	})
	for range outliers {
		s.Y[0][180+random.IntN(120)] += math.Copysign(60+40*random.Float64(), random.Float64()-0.5)
	}
	return s
}

// TestShiftWithOutliers checks that a level shift and outliers are found together, also if the outliers are 2 % of the values.
func TestShiftWithOutliers(t *testing.T) {
	slow.Race(t)
	for _, c := range []struct {
		seed  uint64
		count int
	}{{1, 3}, {2, 6}, {4, 6}} {
		m := fit(t, spoiled(c.seed, c.count), Options{Try: [][]Part{{Season{Period: 7}}}, Known: true, Draws: AtMode})
		at, found := shiftsOf(m), len(m.Outliers(0))
		if !slices.Equal(at, []float64{180}) || found < c.count || found > c.count+2 || m.NoiseSD(0) > 2.6 {
			t.Errorf("seed %d: shifts at %v, want 180; %d outliers, want %d; noise %v, true value 2.3",
				c.seed, at, found, c.count, m.NoiseSD(0))
		}
	}
}

// TestShiftOfShortSeries checks that a shift 15 months before the end of 48 months is found, but none in the last year.
func TestShiftOfShortSeries(t *testing.T) {
	for at, want := range map[int][]float64{33: {33}, 37: nil} {
		random := rand.New(rand.NewPCG(1, 4))
		s := seriesOf(48, func(i float64) float64 {
			return 2*math.Sin(2*math.Pi*i/12) + 7*math.Floor(i/float64(at)) + random.NormFloat64()
		})
		m := fit(t, s, Options{Try: [][]Part{{Season{Period: 12}}}, Known: true, Draws: AtMode})
		if got := shiftsOf(m); !slices.Equal(got, want) {
			t.Errorf("level shifts at %v, want %v", got, want)
		}
	}
}

// TestShiftGain compares the gain of the best level shift that exceeds its alternatives with its definition by the dense covariance.
func TestShiftGain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	s := seriesOf(100, func(i float64) float64 { return 0.02*i + 2*math.Floor(i/60) + 0.5*random.NormFloat64() })
	memory := ShortMemory{Length: Prior{Median: 4, SD: 0.1}}
	search := searchOf(t, s, Options{Parts: []Part{Constant{}, Slope{}, memory}, Known: true})
	best := testkit.Must(search.run())(t)
	l, track := best.o.layout, search.tracks[0]
	features, process := l.weighted(best.mode), l.stateSpaceAt(best.mode)
	lambda, _ := l.variance(best.mode)
	g := newGaussian(t, track.y[0], func(i, j int) float64 {
		k := lambda * process.covariance(track.u[i], track.u[j])
		if i == j {
			k += lambda
		}
		return k + dot(features(track.u[i]), features(track.u[j]))
	})
	jump := func(row int, length float64) float64 { // gain of a jump that decays with a length
		score, information := g.given(t, func(j int) float64 {
			if j < row {
				return 0
			}
			return math.Exp(float64(row-j) / length)
		})
		ratio := max(1, score*score/information)
		return 0.5 * (ratio - 1 - math.Log(ratio))
	}
	most, at := 0.0, 0
	for row := shiftRows; row <= len(track.u)-shiftRows; row++ {
		v := jump(row, math.Inf(1))
		if v > most && v > shiftGain+max(math.Log(100), jump(row, process.Length)) {
			most, at = v, row
		}
	}
	if most == 0 {
		t.Fatal("no level shift is more probable than the alternatives")
	}
	u, gain, _, err := search.shift(best, search.tracks)
	testkit.OK(t, err)
	testkit.Near(t, gain, most, 1e-6*most, "gain")
	testkit.Equal(t, u, track.u[at], "time")
}
