package declip

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

const soundRate = 4000.0

// sound returns tones with varying amplitudes and noise 40 dB below.
func sound(n int) []float64 {
	rng := rand.New(rand.NewPCG(2, 2))
	x := make([]float64, n)
	for i := range x {
		t := float64(i) / soundRate
		for k, f := range []float64{110, 220, 331, 563} {
			x[i] += math.Sin(2*math.Pi*f*t+float64(k)) / float64(1+k) * (1 + 0.5*math.Sin(2*math.Pi*float64(1+k)*t))
		}
		x[i] += 0.01 * rng.NormFloat64()
	}
	return x
}

// cut returns x clipped at ±level, and the clipped runs.
func cut(x []float64, level float64) (y []float64, runs [][2]int) {
	y = slices.Clone(x)
	for i, v := range x {
		if math.Abs(v) < level {
			continue
		}
		y[i] = math.Copysign(level, v)
		if k := len(runs) - 1; k >= 0 && runs[k][1] == i {
			runs[k][1]++
		} else {
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	return y, runs
}

// gain returns the improvement of a over b as approximations of x, in dB.
func gain(x, a, b []float64) float64 {
	p, q := 0.0, 0.0
	for i := range x {
		p += (a[i] - x[i]) * (a[i] - x[i])
		q += (b[i] - x[i]) * (b[i] - x[i])
	}
	return 10 * math.Log10(q/p)
}

// mustFill runs Fill and fails the test on an error.
func mustFill(t *testing.T, z []float64, clipped, missing [][2]int, rate float64, draws int, seed uint64) Result {
	t.Helper()
	return testkit.Must(Fill(t.Context(), z, clipped, missing, rate, draws, seed))(t)
}

// TestClippedPeaksAreRestored checks the restoration of clipped audio, with and without gaps: the gain, the limits of means and draws, the coverage of
// the intervals, and that known samples are unchanged.
func TestClippedPeaksAreRestored(t *testing.T) {
	x := sound(slow.Pick(12_000, 5_000))
	for _, c := range []struct {
		name    string
		level   float64
		missing [][2]int
		least   float64 // decibels
	}{
		{"light", 1.5, nil, 20},
		{"dense", 0.7, nil, 20},
		{"most of it", 0.3, nil, 6},
		{"with a gap", 1, [][2]int{{2000, 2040}}, 15},
	} {
		y, runs := cut(x, c.level)
		for _, g := range c.missing {
			clear(y[g[0]:g[1]])
			runs = slices.DeleteFunc(runs, func(r [2]int) bool { return r[0] < g[1] && g[0] < r[1] })
		}
		r := mustFill(t, y, runs, c.missing, soundRate, 2, 1)
		if g := gain(x, r.Mean, y); !(g > c.least) {
			t.Errorf("%s: %.1f dB better than clipped, want more than %v", c.name, g, c.least)
		}
		in, all := 0.0, 0.0
		for _, g := range runs {
			for i := g[0]; i < g[1]; i++ {
				for _, v := range [][]float64{r.Mean, r.Draws[0], r.Draws[1]} {
					if v[i]*y[i] < y[i]*y[i] {
						t.Fatalf("%s: sample %d is %v, limit %v", c.name, i, v[i], y[i])
					}
				}
				if all++; math.Abs(x[i]-r.Mean[i]) <= 1.96*r.SD[i] {
					in++
				}
			}
		}
		if share := in / all; share < 0.9 {
			t.Errorf("%s: %.3f of the samples are inside their 95 %% intervals", c.name, share)
		}
		if slices.Equal(r.Draws[0], r.Draws[1]) {
			t.Errorf("%s: both draws are equal", c.name)
		}
		for _, g := range slices.Concat(runs, c.missing) {
			for i := g[0]; i < g[1]; i++ {
				if !(r.SD[i] > 0) {
					t.Fatalf("%s: sample %d is certain", c.name, i)
				}
				r.Mean[i], r.SD[i], r.Draws[0][i] = y[i], 0, y[i]
			}
		}
		if !slices.Equal(r.Mean, y) || !slices.Equal(r.Draws[0], y) || slices.Max(r.SD) != 0 {
			t.Errorf("%s: known samples changed", c.name)
		}
	}
}

// TestSameBits checks that results do not depend on the number of processors.
func TestSameBits(t *testing.T) {
	y, runs := cut(sound(5000), 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := mustFill(t, y, runs, nil, soundRate, 1, 4)
	runtime.GOMAXPROCS(4)
	if four := mustFill(t, y, runs, nil, soundRate, 1, 4); !reflect.DeepEqual(one, four) {
		t.Error("one core and four differ")
	}
	if other := mustFill(t, y, runs, nil, soundRate, 1, 5); !slices.Equal(one.Mean, other.Mean) || slices.Equal(one.Draws[0], other.Draws[0]) {
		t.Error("another seed: the means change, or the draws do not")
	}
}

// TestUnreliable checks that an implausible limit is satisfied and its run is marked as unreliable.
func TestUnreliable(t *testing.T) {
	x := sound(4000)
	x[1990] = 50
	r := mustFill(t, x, [][2]int{{500, 501}, {1990, 1991}}, nil, soundRate, 0, 0)
	if !slices.Equal(r.Unreliable, []bool{false, true}) || r.Mean[1990] < 50 {
		t.Errorf("unreliable %v, mean %v; want only the second unreliable, mean 50 or more", r.Unreliable, r.Mean[1990])
	}
}

// TestDegenerateData checks that means and draws satisfy the limits for degenerate input.
func TestDegenerateData(t *testing.T) {
	constant := slices.Repeat([]float64{1}, 300)
	huge := slices.Repeat([]float64{1e300, -1e300, 0}, 100)
	notANumber := slices.Clone(constant)
	notANumber[7] = math.NaN()
	for _, c := range []struct {
		name             string
		z                []float64
		clipped, missing [][2]int
		rate             float64
		unreliable       bool
	}{
		{"empty", nil, nil, nil, 1, false},
		{"nothing missing", constant, nil, nil, 8000, false},
		{"one sample", []float64{1}, [][2]int{{0, 1}}, nil, 8000, true},
		{"all of it", constant, [][2]int{{0, 300}}, nil, 8000, true},
		{"all missing", constant, nil, [][2]int{{0, 300}}, 8000, false},
		{"silence", make([]float64, 300), [][2]int{{10, 20}}, [][2]int{{20, 30}}, 8000, false},
		{"both ends", constant, [][2]int{{0, 3}, {297, 300}}, nil, 8000, false},
		{"slow", constant, [][2]int{{100, 110}}, nil, 1e-3, false},
		{"squares overflow", huge, [][2]int{{99, 100}}, nil, 8000, true},
		{"no number", notANumber, [][2]int{{9, 10}}, nil, 8000, true},
	} {
		r := mustFill(t, c.z, c.clipped, c.missing, c.rate, 1, 0)
		testkit.Equal(t, slices.Contains(r.Unreliable, true), c.unreliable, c.name)
		for _, g := range c.clipped {
			for n := g[0]; n < g[1]; n++ {
				for _, v := range []float64{r.Mean[n], r.Draws[0][n]} {
					if math.Abs(v) < math.Abs(c.z[n]) || v*c.z[n] < 0 || math.IsNaN(v) || math.IsNaN(r.SD[n]) {
						t.Errorf("%s: sample %d is %v ± %v, limit %v", c.name, n, v, r.SD[n], c.z[n])
					}
				}
			}
		}
	}
}

// TestCanceled checks that a canceled context stops a fill.
func TestCanceled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	testkit.Fails(t, testkit.Error(Fill(ctx, make([]float64, 100), [][2]int{{1, 2}}, nil, 8000, 0, 0)), context.Canceled, "", "canceled")
}

// TestMemoryGrowsWithMissingShare checks that the memory of a section grows with the fraction of missing samples but not with the recording.
func TestMemoryGrowsWithMissingShare(t *testing.T) {
	one, ten, more := Bytes(88_200, 8_820, 44_100), Bytes(882_000, 88_200, 44_100), Bytes(88_200, 26_460, 44_100)
	if one != ten || !(more > one) {
		t.Errorf("two seconds take %v bytes, twenty %v; with three times as much missing %v", one, ten, more)
	}
}

// TestMirrored checks that inverted audio is restored to the inverted samples with the same standard deviations.
func TestMirrored(t *testing.T) {
	y, runs := cut(sound(1500), 0.5)
	a := mustFill(t, y, runs, nil, soundRate, 0, 0)
	floats.Scale(-1, y)
	b := mustFill(t, y, runs, nil, soundRate, 0, 0)
	floats.Scale(-1, b.Mean)
	modeltest.Near(t, "means upside down", b.Mean, a.Mean, 1e-9)
	modeltest.Near(t, "deviations upside down", b.SD, a.SD, 1e-9)
}
