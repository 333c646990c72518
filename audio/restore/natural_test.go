package restore

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// naturalGainsByHand evaluates the formula of naturalGains with sums over samples and frequencies.
func naturalGainsByHand(mean, deviation, before, after []float64, size int, rate float64) []float64 {
	bands := func(x []float64, windowed bool) []float64 {
		power, scale := make([]float64, size/2+1), 0.0
		for i := range x {
			w := 1.0
			if windowed {
				w = squared(math.Sin(math.Pi * (float64(i) + 0.5) / float64(len(x))))
			}
			scale += w * w
		}
		for k := range power {
			sum := 0i
			for i, v := range x {
				w := 1.0
				if windowed {
					w = squared(math.Sin(math.Pi * (float64(i) + 0.5) / float64(len(x))))
				}
				sum += complex(w*v, 0) * cmplx.Rect(1, -2*math.Pi*float64(i*k%size)/float64(size))
			}
			power[k] = squared(cmplx.Abs(sum)) / scale
		}
		out := make([]float64, len(power))
		for k := range out {
			n := 0.0
			for j, p := range power {
				if math.Abs(erb(float64(j)*rate/float64(size))-erb(float64(k)*rate/float64(size))) <= 1 {
					out[k], n = out[k]+p, n+1
				}
			}
			out[k] /= n
		}
		return out
	}
	m, d := bands(mean, false), bands(deviation, false)
	c := make([]float64, len(m))
	for k := range c {
		target := 0.0
		switch {
		case len(before) > 0 && len(after) > 0:
			target = math.Sqrt(bands(before, true)[k] * bands(after, true)[k])
		case len(before) > 0:
			target = bands(before, true)[k]
		case len(after) > 0:
			target = bands(after, true)[k]
		}
		c[k] = math.Sqrt(min(1, max(0, target-m[k])/d[k])) * max(0, (d[k]-m[k])/(d[k]+m[k]))
	}
	return c
}

func squared(x float64) float64 { return x * x }

// TestNaturalGains checks naturalGains against direct sums, also without samples on one or both sides.
func TestNaturalGains(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	noise := func(n int, level float64) []float64 {
		return testkit.Numbers(n, func(int) float64 { return level * rng.NormFloat64() })
	}
	for _, c := range []struct{ n, before, after, size int }{
		{30, 20, 20, 60}, {31, 20, 7, 64}, {64, 1, 20, 128}, {40, 0, 20, 80}, {40, 20, 0, 81}, {40, 0, 0, 80},
	} {
		mean, deviation, before, after := noise(c.n, 0.5), noise(c.n, 1), noise(c.before, 1), noise(c.after, 0.8)
		got := naturalGains(mean, deviation, before, after, c.size, rate)
		want := naturalGainsByHand(mean, deviation, before, after, c.size, rate)
		if !floats.EqualApprox(got, want, 1e-9) {
			t.Errorf("%+v: gains %v, want %v", c, got, want)
		}
		if sum := floats.Sum(want); sum == 0 != (c.before+c.after == 0) {
			t.Errorf("%+v: the sum of the gains is %v", c, sum)
		}
	}
}

// highPower returns the power at high frequencies: the mean square of the fourth differences of x.
func highPower(x []float64) (power float64) {
	for i := 4; i < len(x); i++ {
		power += squared(x[i]-4*x[i-1]+6*x[i-2]-4*x[i-3]+x[i-4]) / float64(len(x)-4)
	}
	return power
}

// TestNaturalLevel checks that natural fills of tones in noise have the high frequencies of the surrounding sound, which their means lack,
// and that they equal the means if the sound is predictable.
func TestNaturalLevel(t *testing.T) {
	var gaps []Gap
	for start := 3000; start < 12_000; start += 3000 {
		gaps = append(gaps, Gap{Start: start, End: start + 240})
	}
	x := tones(15_000, 1, 0.02)
	for f := range mustFill(t, x, gaps, Options{Method: Natural}).All() {
		decibels := func(fill []float64) float64 {
			return 10 * math.Log10(highPower(fill[16:224])/highPower(x[0][f.Gap.Start-1000:f.Gap.Start]))
		}
		if mean, natural := decibels(f.Mean), decibels(f.Natural); mean > -7 || math.Abs(natural) > 4 {
			t.Errorf("gap %v: the high frequencies of mean and natural fill have levels of %v and %v dB relative to the sound around them, "+
				"must be below -7 dB and within 4 dB", f.Gap, mean, natural)
		}
	}
	x = tones(15_000, 1, 1e-5)
	for f := range mustFill(t, x, gaps, Options{Method: Natural}).All() {
		if e := floats.Distance(f.Natural, f.Mean, math.Inf(1)); e > 1e-4 {
			t.Errorf("gap %v of tones: the natural fill differs from the mean by %v", f.Gap, e)
		}
	}
}

// TestNatural checks that mean, standard deviation and draws of Natural are the same as of Mixture, that the fill depends on the seed but
// not on the number of draws and of processors, that it begins and ends like the mean, and that short gaps and clicks have no natural fill.
func TestNatural(t *testing.T) {
	slow.Race(t)
	x := tones(20_000, 1, 0.02)
	gaps := []Gap{{Start: 2000, End: 2063}, {Start: 6000, End: 6064}, {Start: 9000, End: 9320},
		{Start: 13_000, End: 13_000 + 21*rate/100}, {Start: 18_000, End: 18_012, Click: true}, {Start: 19_920, End: 20_000}}
	with := func(m Method, draws int, seed uint64) filled {
		return mustFill(t, x, gaps, Options{Method: m, Draws: draws, Model: vssgp.Options{Seed: seed}})
	}
	mixture, r := with(Mixture, 2, 1), with(Natural, 2, 1)
	cores := runtime.GOMAXPROCS(1)
	one := with(Natural, 0, 1)
	runtime.GOMAXPROCS(cores)
	if r.Method != Natural || !sameBits(r.Filled, one.Filled) {
		t.Errorf("method %s: different fills on one core without draws", r.Method)
	}
	if sameBits(r.Filled, with(Natural, 0, 2).Filled) {
		t.Error("the fill does not depend on the seed")
	}
	for i, fills := range r.Fills {
		for k, f := range fills {
			was, alone := mixture.Fills[i][k], one.Fills[i][k]
			at := fmt.Sprintf("gap %v", f.Gap)
			if !sameBits([][]float64{f.Mean, f.SD}, [][]float64{was.Mean, was.SD}) || !sameBits(f.Draws, was.Draws) || len(alone.Draws) != 0 {
				t.Errorf("%s: mean, standard deviation or draws differ from the mixture, or there are %d draws, not 0", at, len(alone.Draws))
			}
			if brief := f.Gap.Len() < 64; brief != (f.Natural == nil) {
				t.Errorf("%s: %d samples of a natural fill", at, len(f.Natural))
				continue
			} else if brief {
				continue
			}
			n := len(f.Mean)
			if d := floats.Distance(f.Natural, f.Mean, 2); d < 0.01 {
				t.Errorf("%s: the natural fill is the mean", at)
			}
			for _, j := range []int{0, n - 1} {
				if d := math.Abs(f.Natural[j] - f.Mean[j]); d > 0.001 {
					t.Errorf("%s: the natural fill differs from the mean by %v at sample %d, must begin and end like the mean", at, d, j)
				}
			}
		}
	}
	clean := tones(20_000, 1, 0.01)
	a := testkit.Must(mixture.Score(t.Context(), whole(x), whole(clean), nil))(t)
	b := testkit.Must(r.Score(t.Context(), whole(x), whole(clean), nil))(t)
	if a.Coverage95 != b.Coverage95 || !(b.Fill.TestRMSE > a.Fill.TestRMSE) {
		t.Errorf("coverage %v and error %v of the natural fill, %v and %v of the mixture; must have the same coverage and a larger error",
			b.Coverage95, b.Fill.TestRMSE, a.Coverage95, a.Fill.TestRMSE)
	}
}
