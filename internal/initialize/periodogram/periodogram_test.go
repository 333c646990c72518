package periodogram

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// slow computes the power by its definition in O(N·F), from sums and two normal equations at each
// frequency.
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
		values := testkit.Numbers(c.n, func(i int) float64 { return rng.NormFloat64() + 5*math.Sin(times[i]) })
		got, want := powerOf(times, values, weights, c.step, c.freqs), slow(times, values, weights, c.step, c.freqs)
		for k := range want {
			if !(math.Abs(got[k]-want[k]) <= 1e-6*want[k]+1e-7) {
				t.Fatalf("%+v: power %d is %.12g, by least squares %.12g", c, k, got[k], want[k])
			}
		}
	}
}

// TestPowerAtTimesOfOneColumn checks that the power is computed from one column if the times do
// not distinguish cosine and sine at a frequency, here cos(πt) and sin(πt) at times with integer
// differences.
func TestPowerAtTimesOfOneColumn(t *testing.T) {
	values, weights := []float64{1, -1, 1, -1}, []float64{1, 1, 1, 1}
	for _, first := range []float64{0, 0.1, 0.25, 0.4, 0.5} {
		times := []float64{first, first + 1, first + 2, first + 3}
		if got := powerOf(times, values, weights, 1, 1); !(math.Abs(got[0]-1) <= 1e-6) {
			t.Errorf("from %v on: power %v, want all of the mean square, 1", first, got)
		}
	}
}

// TestPeaksExceedNoiseAndAreSeparated checks that lines exceed the noise, have at least half of the strongest line's power,
// are separated, and are at most four.
func TestPeaksExceedNoiseAndAreSeparated(t *testing.T) {
	powers := slices.Repeat([]float64{1}, 200)
	for k, v := range map[int]float64{20: 100, 21: 90, 22: 70, 50: 60, 80: 45, 110: 2} {
		powers[k] = v
	}
	many := slices.Repeat([]float64{1}, 200)
	for i := range 6 {
		many[30*i] = 100 - float64(i)
	}
	for _, c := range []struct {
		name   string
		powers []float64
		apart  int
		want   []int
	}{
		{"a broad one", powers, 1, []int{20, 22, 50}}, {"further apart", powers, 2, []int{20, 50}}, {"many", many, 1, []int{0, 30, 60, 90}},
		{"noise", slices.Repeat([]float64{1, 3, 2, 5}, 50), 1, nil}, {"nothing", make([]float64, 50), 1, nil},
	} {
		if got := peaks(c.powers, c.apart); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRemove checks that no power remains at the frequency of a subtracted line, even if an
// adjacent line, which leaked into it, was subtracted before.
func TestRemove(t *testing.T) {
	times, weights := uneven(60, 20, 3)
	const step = 0.02
	values := make([]float64, len(times))
	for i, x := range times {
		values[i] = math.Sin(2*math.Pi*20.5*step*x) + 0.8*math.Cos(2*math.Pi*23.5*step*x)
	}
	p := New(times, weights, step, 50)
	p.Power(values)
	for _, k := range []int{20, 23} {
		before := p.meanSquare(values)
		if gone := p.remove(values, k); !(gone > 0) || !(math.Abs(before-gone-p.meanSquare(values)) <= 1e-12) {
			t.Errorf("line %d: %v of %v subtracted, %v left", k, gone, before, p.meanSquare(values))
		}
		if left := powerOf(times, values, weights, step, 50)[k]; left > 1e-6 {
			t.Errorf("line %d: a power of %v is left", k, left)
		}
	}
}

// TestMassesOfNoise checks that without lines each bin contains the power of its frequencies.
func TestMassesOfNoise(t *testing.T) {
	times, weights := uneven(300, 40, 6)
	values := make([]float64, len(times))
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	const band, count, steps = 2.0, 40, 8
	got := testkit.Must(Masses(context.Background(), times, values, weights, band, count, steps))(t)
	powers := powerOf(times, values, weights, band/(count*steps), count*steps)
	if peaks(powers, 1) != nil {
		t.Fatal("the noise has lines; use another seed")
	}
	sum := 0.0
	for _, v := range powers {
		sum += v
	}
	left := New(times, weights, 1, 1).meanSquare(values)
	for i, m := range got {
		want := 0.0
		for _, v := range powers[i*steps : (i+1)*steps] {
			want += v / sum * left
		}
		if !(math.Abs(m-want) <= 1e-12) {
			t.Errorf("bin %d contains %v, want %v", i, m, want)
		}
	}
}

// TestMasses checks that the masses add up to the mean square and are at the frequencies of the
// tones, including a weak tone whose power is below the leakage of a strong one.
func TestMasses(t *testing.T) {
	times, weights := uneven(400, 60, 5)
	values, square, total := make([]float64, len(times)), 0.0, 0.0
	for i, x := range times {
		values[i] = 10*math.Sin(2*math.Pi*0.15*x) + 0.3*math.Sin(2*math.Pi*2.11*x+1)
		square += weights[i] * values[i] * values[i]
		total += weights[i]
	}
	const band, count = 4.0, 320
	m := testkit.Must(Masses(context.Background(), times, values, weights, band, count, 8))(t)
	sum, weak := 0.0, 0.0
	for i, v := range m {
		sum += v
		if f := (float64(i) + 0.5) * band / count; math.Abs(f-2.11) < 0.03 {
			weak += v
		}
	}
	if !(math.Abs(sum*total/square-1) <= 1e-9) {
		t.Errorf("the masses add up to %v, the mean square is %v", sum, square/total)
	}
	if !(math.Abs(weak/0.045-1) <= 0.3) {
		t.Errorf("%.4g at the weak tone, want its mean square, 0.045", weak)
	}
}

// TestAliased checks which times have aliases below a band.
func TestAliased(t *testing.T) {
	even := testkit.Numbers(100, func(i int) float64 { return float64(i) })
	random, _ := uneven(100, 100, 4)
	for _, c := range []struct {
		name  string
		times []float64
		band  float64
		want  bool
	}{
		{"even", even, 0.5, false},
		{"even with a close pair", append(even[:50:50], append([]float64{49 + 1e-8}, even[50:]...)...), 0.5, false},
		{"even, a higher band", even, 0.6, true}, {"random", random, 5, false},
	} {
		span := c.times[len(c.times)-1] - c.times[0]
		step := 0.1 / span
		p := New(c.times, slices.Repeat([]float64{1}, len(c.times)), step, int(c.band/step))
		testkit.Equal(t, p.aliased(10), c.want, c.name)
	}
}

// TestPeakHeightIsInterpolated checks that the height of a local maximum is interpolated.
func TestPeakHeightIsInterpolated(t *testing.T) {
	powers := []float64{3, 4 - 1.69, 4 - 0.09, 4 - 0.49, 0, 2, 2, 0, 5}
	for k, want := range []float64{3, 0, 4, 0, 0, 2.25, 2.25, 0, 5} {
		testkit.Near(t, peak(powers, k), want, 1e-12, k)
	}
}

// TestLowestAlias checks that lines are at the lowest frequency that explains the values as well as
// any other, and at a high frequency if the times within a burst support it.
func TestLowestAlias(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	repeated := func(jitter float64) (x []float64) {
		for i := range 300 {
			x = append(x, float64(i/3)+jitter*rng.Float64())
		}
		slices.Sort(x)
		return x
	}
	bursts := func(spacing float64) (x []float64) {
		for i := range 300 {
			x = append(x, 10*float64(i/10)+spacing*float64(i%10))
		}
		return x
	}
	for _, c := range []struct {
		name  string
		times []float64
		lines []float64 // frequencies
		noise float64
	}{
		{"repeated measurements", repeated(1e-3), []float64{0.0161}, 0.05},
		{"two lines", repeated(1e-3), []float64{0.0161, 0.207}, 0.05},
		{"much jitter", repeated(0.1), []float64{0.0161, 0.207}, 0.05},
		{"much jitter, above the repeats' rate", repeated(0.1), []float64{3.207, 1.3}, 0.05},
		{"bursts", bursts(0.02), []float64{0.0131}, 0.01},
		{"bursts that support a high frequency", bursts(0.1), []float64{3.3731}, 0.05},
	} {
		values, weights := make([]float64, len(c.times)), slices.Repeat([]float64{1}, len(c.times))
		for i, x := range c.times {
			values[i] = c.noise * rng.NormFloat64()
			for _, f := range c.lines {
				values[i] += math.Sin(2*math.Pi*f*x + 1)
			}
		}
		const band = 4.0
		span := c.times[len(c.times)-1] - c.times[0]
		count := int(band * span / 0.75)
		m := testkit.Must(Masses(context.Background(), c.times, values, weights, band, count, 8))(t)
		for _, f := range c.lines {
			at, near := int(f/band*float64(count)), 0.0
			for i := max(0, at-1); i <= at+1; i++ {
				near += m[i]
			}
			if !(math.Abs(near/0.5-1) <= 0.15) {
				most := slices.Index(m, slices.Max(m))
				t.Errorf("%s: %.3g at frequency %v, want 0.5; most, %.3g, at %.4f", c.name, near, f, m[most],
					(float64(most)+0.5)*band/float64(count))
			}
		}
	}
}

func TestMassesEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	times, weights := uneven(50, 10, 1)
	if _, err := Masses(ctx, times, times, weights, 2, 20, 8); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the error of the context", err)
	}
}

// powerOf returns the power of one series.
func powerOf(times, values, weights []float64, step float64, n int) []float64 {
	return New(times, weights, step, n).Power(values)
}
