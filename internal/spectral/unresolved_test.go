package spectral

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// roughGrid returns n × n rows of an even grid of [0, 1]², with a function of the given length plus white noise: a
// smooth function if the nodes can resolve the length, otherwise noise that is correlated between neighbors.
func roughGrid(n int, length, noise float64, rng *rand.Rand) (x, y []float64) {
	const waves = 400
	var w [waves][3]float64
	for i := range w {
		w[i] = [3]float64{rng.NormFloat64() / length, rng.NormFloat64() / length, 2 * math.Pi * rng.Float64()}
	}
	for i := range n {
		for j := range n {
			u, v := float64(i)/float64(n), float64(j)/float64(n)
			sum := noise * rng.NormFloat64()
			for _, w := range w {
				sum += math.Sqrt(2./waves) * math.Cos(w[0]*u+w[1]*v+w[2])
			}
			x, y = append(x, u, v), append(y, sum)
		}
	}
	return x, y
}

// TestUnresolved checks that residuals count as independent if the nodes resolve the function, and that otherwise their
// inflation is the number of rows within the area of their correlation, 2πl² for a squared exponential of length l,
// times exp(−½(2πfl)²) at the frequency f beyond the nodes, which is about 9 cycles with 100 nodes.
func TestUnresolved(t *testing.T) {
	const n = 80
	for _, c := range []struct {
		name          string
		length, noise float64
		model         Model
		pairs         int
		low, high     float64
	}{
		{"resolved", 0.2, 0.3, Model{Components: []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.2, 0.2}}}, Noise: 0.3}, 300, 0.7, 1.3},
		{"white", 0.2, 3, Model{Components: []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.5, 0.5}}}, Noise: 3}, 300, 0.7, 1.4},
		{"not resolved", 0.03, 0.1, Model{Components: []Component{{Kind: RBF, SD: 0.3, Lengths: []float64{0.5, 0.5}}}, Noise: 1}, 100, 6.5, 10.5},
	} {
		x, y := roughGrid(n, c.length, c.noise, rand.New(rand.NewPCG(1, 30)))
		s := openPlane(t, x, y)
		s.domain.pairs = c.pairs
		ratio, err := s.unresolved(c.model)
		testkit.OK(t, err)
		if t.Logf("%s: %.3g", c.name, ratio); !(ratio >= c.low && ratio <= c.high) {
			t.Errorf("%s: the ratio is %.3g, want %g to %g", c.name, ratio, c.low, c.high)
		}
		if c.low < 1 {
			continue
		}
		m := c.model // with the inflated noise the ratio is 1
		m.Inflation = ratio
		testkit.Near(t, testkit.Must(s.unresolved(m))(t), 1, 0.3, c.name, ": ratio with inflation")
	}
}

// TestInflationOfResult checks that the inflation of a search's result is relative to the noise of the result, although
// the last optimization has changed the noise: measured again, the ratio is about 1.
func TestInflationOfResult(t *testing.T) {
	x, y := roughGrid(60, 0.03, 0.1, rand.New(rand.NewPCG(3, 32)))
	s := openPlane(t, x, y)
	s.domain.pairs, s.domain.last = 60, 240
	all := testkit.Must(s.Run())(t)
	if all[0].Inflation < leastInflation {
		t.Fatalf("the inflation is %g", all[0].Inflation)
	}
	testkit.Near(t, testkit.Must(s.unresolved(all[0].Model))(t), 1, 0.2, "ratio")
}

// TestInflation checks the evidence of N/κ rows against the evidence of independent rows, and its slopes by finite
// differences.
func TestInflation(t *testing.T) {
	x, y := roughGrid(20, 0.2, 0.3, rand.New(rand.NewPCG(2, 31)))
	s := openPlane(t, x, y)
	m := Model{Components: []Component{{Kind: RBF, SD: 0.9, Lengths: []float64{0.25, 0.2}}}, Noise: 0.4}
	one := testkit.Must(s.evaluate(Model{Components: m.Components, Noise: 0.4 * math.Sqrt(7)}))(t)
	s.inflation = 7
	got := testkit.Must(s.evaluate(m))(t)
	n, square := 400.0, 0.4*0.4
	want := one.LogEvidence + 0.5*n*(math.Log(2*math.Pi*7*square)-math.Log(2*math.Pi*square)/7)
	testkit.Near(t, got.LogEvidence, want, 1e-6, "log evidence")

	m.Inflation = 7
	o := s.newObjective(m)
	v := s.domain.read(m)
	slope, rest := make([]float64, len(v)), make([]float64, len(v))
	at := func(i int, d float64) float64 {
		w := append([]float64(nil), v...)
		w[i] += d
		return testkit.Must(o.at(w, rest))(t)
	}
	testkit.Must(o.at(v, slope))(t)
	const step = 1e-4
	for i := range v {
		testkit.Near(t, slope[i], (at(i, step)-at(i, -step))/(2*step), 1e-4*(1+math.Abs(slope[i])), "slope of coordinate ", i)
	}
}
