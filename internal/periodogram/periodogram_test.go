package periodogram

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slow is Power by its definition: sums, and two normal equations at each
// frequency, in O(N·F).
func slow(times, values, weights []float64, step float64, n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		var cc, ss, cs, c, s, w float64
		for i, t := range times {
			sin, cos := math.Sincos(2 * math.Pi * (float64(k) + 0.5) * step * t)
			cc += weights[i] * cos * cos
			ss += weights[i] * sin * sin
			cs += weights[i] * cos * sin
			c += weights[i] * values[i] * cos
			s += weights[i] * values[i] * sin
			w += weights[i]
		}
		det := cc*ss - cs*cs
		out[k] = (ss*c*c + cc*s*s - 2*cs*c*s) / det / w
	}
	return out
}

func uneven(n int, span float64, seed uint64) (times, weights []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		times = append(times, 3+span*rng.Float64())
		weights = append(weights, 0.1+rng.Float64())
	}
	slices.Sort(times)
	return times, weights
}

func TestPowerIsLeastSquares(t *testing.T) {
	for _, c := range []struct {
		n, freqs int
		step     float64
	}{{30, 40, 0.02}, {200, 333, 0.011}, {200, 1, 0.3}, {57, 1000, 0.004}} {
		times, weights := uneven(c.n, 20, uint64(c.n))
		rng := rand.New(rand.NewPCG(2, 2))
		values := make([]float64, c.n)
		for i := range values {
			values[i] = rng.NormFloat64() + 5*math.Sin(times[i])
		}
		got, want := Power(times, values, weights, c.step, c.freqs), slow(times, values, weights, c.step, c.freqs)
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-6*want[k]+1e-7 {
				t.Fatalf("%+v: power %d is %.12g, by least squares %.12g", c, k, got[k], want[k])
			}
		}
	}
}

// TestPowerAtTimesOfOneColumn: where a frequency cannot tell cosine and sine
// apart there is one column, and the power is its own.
func TestPowerAtTimesOfOneColumn(t *testing.T) {
	times, values, weights := []float64{0, 1, 2, 3}, []float64{1, -1, 1, -1}, []float64{1, 1, 1, 1}
	if got := Power(times, values, weights, 1, 1); math.Abs(got[0]-1) > 1e-6 { // cos(πt), sin(πt) = 0
		t.Errorf("power %v, want all of the mean square, 1", got)
	}
}

// TestMasses: they add up to the mean square, and lie where the tones are, a
// weak one beside a strong one whose leakage is greater than it.
func TestMasses(t *testing.T) {
	times, weights := uneven(400, 60, 5)
	values, square, total := make([]float64, len(times)), 0.0, 0.0
	for i, x := range times {
		values[i] = 10*math.Sin(2*math.Pi*0.15*x) + 0.3*math.Sin(2*math.Pi*2.11*x+1)
		square += weights[i] * values[i] * values[i]
		total += weights[i]
	}
	const band, count = 4.0, 320
	m, err := Masses(context.Background(), times, values, weights, band, count, 8)
	if err != nil {
		t.Fatal(err)
	}
	sum, weak := 0.0, 0.0
	for i, v := range m {
		sum += v
		if f := (float64(i) + 0.5) * band / count; math.Abs(f-2.11) < 0.03 {
			weak += v
		}
	}
	if math.Abs(sum*total/square-1) > 1e-9 {
		t.Errorf("the masses add up to %v, the mean square is %v", sum, square/total)
	}
	if math.Abs(weak/0.045-1) > 0.3 {
		t.Errorf("%.4g about the weak tone, want its mean square, 0.045", weak)
	}
}

func TestMassesEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	times, weights := uneven(50, 10, 1)
	if _, err := Masses(ctx, times, times, weights, 2, 20, 8); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}
