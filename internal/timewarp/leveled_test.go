package timewarp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestMix checks the moments of a mixture by the law of total variance. The weights need not sum to 1.
func TestMix(t *testing.T) {
	mean, variance := mix([]part{{1, []float64{0, 2}, []float64{1, 0}}, {3, []float64{4, 2}, []float64{5, 2}}}, 2)
	testkit.Equal(t, mean, []float64{3, 2}, "means")
	testkit.Equal(t, variance, []float64{7, 1.5}, "variances") // 7 = (1·1 + 3·5)/4 + (1·9 + 3·1)/4
}

// TestVariances checks that a standard deviation is scaled by the same gain as the samples, and that each is that of its own time.
func TestVariances(t *testing.T) {
	const rate, n = 8000, 81
	z := gliding(4001, rate, 130, 0, 0, 3, 0)
	for _, c := range []Clock{{Level: 2e-3}, {Glide: 2e-4}, {Glide: -2e-4, Level: -1e-3}} {
		s := (&place{z, hole(z, n), 0, rate}).warped(c, 600).even(c.Level)
		g := s.gaps[s.which]
		linear := make([]float64, g[1]-g[0]) // in the signal's own time
		for i := range linear {
			linear[i] = 100 + s.t[g[0]+i]
		}
		for i, v := range s.variances(linear, n) {
			time := float64(i - n/2)
			want := math.Exp(2*c.Level*time) * (100 + time)
			testkit.Near(t, v, want, 5e-3*want, c, " at ", time)
		}
	}
}

// TestCloseGaps checks that a fill does not depend on what the signal holds in other gaps within the model's order: they are solved for
// with it.
func TestCloseGaps(t *testing.T) {
	const rate, order = 8000, 40
	z := gliding(3001, rate, 130, 0, 0, 6, 0.05)
	m := ar.Burg([]ar.Segment{{X: z}}, order)
	gaps := [][2]int{{1440, 1470}, {1500, 1540}, {1560, 1580}}
	want, ok := m.Conditional([][]float64{z}, gaps, nil)
	if !ok {
		t.Fatal("the model is not positive definite")
	}
	guessed := slices.Clone(z)
	for _, i := range []int{1445, 1460, 1565, 1579} {
		guessed[i] += 5
	}
	c, ok := conditional([]*leveled{(&place{guessed, gaps, 1, rate}).warped(Clock{}, 600)}, m, nil)
	if !ok {
		t.Fatal("the gap cannot be filled")
	}
	modeltest.Near(t, "means", c.Means[0], want.Means[0][30:70], 1e-9)
	modeltest.Near(t, "variances", c.Variance, want.Variance[30:70], 1e-9)
}

// TestQuietGuess checks that the variance of the innovations is estimated from the samples outside of the gap: a guess of zeros does not
// lower it.
func TestQuietGuess(t *testing.T) {
	const n, rate = 1000, 1000
	z := make([]float64, 4*n)
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	p := &place{z, hole(z, n), 0, rate}
	start, end := p.gap()
	clear(z[start:end])
	m := p.warped(Clock{}, n).estimate(Estimate{Hann: true, Context: 1, Order: 0.001}, rate)
	testkit.Near(t, m.E, 1, 0.15, "the variance of the innovations of white noise")
}

// TestSow checks that each clock gets draws in proportion to its weight.
func TestSow(t *testing.T) {
	families := familiesOf([]weighted{{Clock{}, 1, 0}, {Clock{Level: 1}, 2, 0}, {Clock{Glide: 1}, 5, 0}})
	const n = 800
	for i := range n {
		sow(families, rand.New(rand.NewPCG(uint64(i), 0)), i)
	}
	count := [3]int{0, 0, len(families[1].picks)}
	for _, k := range families[0].picks {
		count[k]++
	}
	for k, w := range []int{1, 2, 5} {
		testkit.Near(t, float64(count[k]), float64(n*w)/8, 60, "draws of clock ", k)
	}
}

// TestWiden checks that the factor of the variances widens draws by its root, and leaves the means.
func TestWiden(t *testing.T) {
	const rate = 8000
	z := gliding(3001, rate, 130, 0, 0, 6, 0.05)
	m := AR()
	m.Distances, m.Widen = nil, 1
	narrow := fillOf(t, m, z, hole(z, 40), rate, 1)
	m.Widen = 4
	wide := fillOf(t, m, z, hole(z, 40), rate, 1)
	for i, mean := range narrow.Mean {
		a, b := narrow.Draws[0][i]-mean, wide.Draws[0][i]-mean
		if wide.Mean[i] != mean || math.Abs(wide.Variance[i]/narrow.Variance[i]-4) > 1e-9 || math.Abs(b-2*a) > 1e-9 {
			t.Fatalf("sample %d: a draw is %v off with the variance %v, and %v off with %v", i, a, narrow.Variance[i], b, wide.Variance[i])
		}
	}
}

// TestLogPrior checks that the values of an uneven grid have the moments of the normal prior.
func TestLogPrior(t *testing.T) {
	g := voice().Glide
	total, square := 0.0, 0.0
	for i, v := range g.Values {
		w := math.Exp(g.logPrior(i))
		total, square = total+w, square+w*v*v
	}
	testkit.Near(t, math.Sqrt(square/total), g.SD, 0.05*g.SD, "the standard deviation on the grid")
}

// TestLikeliest checks that the clocks that are kept have their probabilities among all.
func TestLikeliest(t *testing.T) {
	of := func() (all []weighted) {
		for _, p := range []float64{0.1, 0.5, 0.15, 0.25} {
			all = append(all, weighted{weight: 7 + math.Log(p)})
		}
		return all
	}
	for _, c := range []struct {
		most  int
		least float64
		want  []float64
	}{{1, 0, []float64{0.5}}, {3, 0, []float64{0.5, 0.25, 0.15}}, {9, 0.2, []float64{0.5, 0.25}}, {9, 0.9, []float64{0.5}}} {
		got := likeliest(of(), c.most, c.least)
		if !slices.EqualFunc(got, c.want, func(w weighted, p float64) bool { return math.Abs(w.weight-p) < 1e-12 }) {
			t.Errorf("at most %d of at least %v: %+v, want %v", c.most, c.least, got, c.want)
		}
	}
}

// TestClocksAtTheEnd checks that time runs evenly if too little sound follows the gap to show that a glide goes on.
func TestClocksAtTheEnd(t *testing.T) {
	const rate = 16000
	r, z := bentVoice(), gliding(6000, rate, 140, 2, 20, 12, 0.002)
	for behind, one := range map[int]bool{100: true, 700: false} {
		gap := [2]int{len(z) - behind - 160, len(z) - behind}
		found := r.clocks((&place{z, [][2]int{gap}, 0, rate}).prefilled(r.Prefill))
		if even := len(found) == 1 && found[0].Clock == (Clock{}) && found[0].weight == 1; even != one {
			t.Errorf("%d samples behind the gap: %+v", behind, found)
		}
	}
}

// TestShortEstimate checks that a model has fewer coefficients than there are samples on the longer side.
func TestShortEstimate(t *testing.T) {
	p := &place{gliding(60, 16000, 120, 0, 0, 3, 0.01), [][2]int{{20, 30}}, 0, 16000}
	for _, e := range voice().Estimates {
		if m := p.warped(Clock{}, 1000).estimate(e, 16000); len(m.A)-1 > 24 || len(m.A) < 2 {
			t.Errorf("%+v: %d coefficients of 30 samples, want at most 24", e, len(m.A)-1)
		}
	}
}

// TestLeastWeight checks that a recipe that is hardly likely takes no part.
func TestLeastWeight(t *testing.T) {
	z := gliding(12_001, 8000, 120, 1.5, 5, 20, 0.001)
	q := fillOf(t, Mixture(), z, hole(z, 160), 8000, 0)
	if q.Weights[0] < 0.99 || q.Weights[1] != 0 {
		t.Errorf("weights %v; want almost 1 and 0", q.Weights)
	}
}

// TestCompare: half the amplitude is a quarter of the error; without space for trials nothing is said. An ended context stops trials and
// a fill.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a, half := make([]float64, 16_000), make([]float64, 16_000)
	for i := range a {
		a[i] = rng.NormFloat64()
		half[i] = a[i] / 2
	}
	f := NewFiller(Mixture(), 16_000)
	for _, c := range []struct {
		name   string
		b      []float64
		gap    [2]int
		gain   float64
		trials int
	}{
		{"half", half, [2]int{8000, 8160}, math.Log(4), 2}, // two are enough
		{"the same", a, [2]int{8000, 8160}, 0, 6},
		{"one side", a, [2]int{15_840, 16_000}, 0, 3},
		{"no space", half, [2]int{100, 15_900}, 0, 0},
	} {
		gain, trials, err := f.Compare(t.Context(), a, c.b, [][2]int{c.gap}, 0)
		if err != nil || math.Abs(gain-c.gain) > 1e-6 || trials != c.trials {
			t.Errorf("%s: gain %v by %d trials, %v; want %v by %d", c.name, gain, trials, err, c.gain, c.trials)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := f.Compare(ctx, a, half, [][2]int{{8000, 8160}}, 0)
	testkit.Fails(t, err, context.Canceled, "", "Compare")
	testkit.Fails(t, testkit.Error(f.Fill(ctx, a, [][2]int{{8000, 8160}}, 0, 0, 1)), context.Canceled, "", "Fill")
}
